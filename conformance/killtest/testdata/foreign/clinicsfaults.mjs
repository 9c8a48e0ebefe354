// Faults over the tables of a group of clinics: each is the shop with one thing wrong in it.
import { createHash } from 'node:crypto'
import * as semantics from './semantics.mjs'

const query = (table, fields, more = {}) => ['/query', { table, and: [], sort: [], fields, ...more }]
const count = (table, and, more = {}) => ['/count', { table, and, ...more }]
const aggregate = (table, groupBy, measures, more = {}) => ['/aggregate', { table, and: [], groupBy, measures, limit: 1001, ...more }]
const n = [{ fn: 'count', as: 'n' }]
const south = ([route, body]) => [route, { ...body, credentials: { shop: 'south' } }]
const hop = (fromTable, fromField, toTable, toField, ...fields) => ({ fromTable, toTable, fromField, toField, fields })
const asc = (...fields) => fields.map(field => ({ field, dir: 'asc' }))

const ranges = ['gt', 'gte', 'lt', 'lte'], comparators = ['eq', 'neq', ...ranges], textual = ['contains', 'includes', 'startswith']
const place = (t, name) => t.fields.findIndex(f => f.name === name)
const until = (from, limit) => limit === undefined ? undefined : from + limit

const berlin = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Berlin' })
const folded = s => s.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().trimEnd()

// estimate is a HyperLogLog with 1024 registers.
function estimate(values, type) {
  const m = 1024, registers = new Uint8Array(m)
  for (const v of values) {
    const hash = createHash('md5').update(semantics.key(v, type)).digest()
    const at = hash.readUInt16BE(0) % m
    registers[at] = Math.max(registers[at], Math.clz32(hash.readUInt32BE(4)) + 1)
  }
  let sum = 0, empty = 0
  for (const r of registers) {
    sum += 2 ** -r
    if (r === 0) empty++
  }
  const raw = 0.7213 / (1 + 1.079 / m) * m * m / sum
  return Math.round(raw <= 2.5 * m && empty ? m * Math.log(m / empty) : raw)
}

export const faults = {
  // ---- filters

  'a plus sign in a filter value reaches the API as a space': {
    kind: 'rest',
    match(cell, f, t, right) {
      if (typeof f.value === 'string' && f.value.includes('+') && f.type !== 'number' && f.type !== 'decimal') return semantics.match(cell, { ...f, value: f.value.replaceAll('+', ' ') }, f.type)
    },
    probe: () => [query('patients', ['id'], { and: [{ field: 'blood_group', op: 'eq', value: 'A+' }] }), count('patients', [{ field: 'phone', op: 'startswith', value: '+49' }])],
  },

  'isnull asks the search index for exists, which an empty array does not': {
    kind: 'search',
    match(cell, f) {
      if (cell === '[]' && (f.op === 'isnull' || f.op === 'notnull')) return f.op === 'isnull'
    },
    probe: () => [query('patients', ['id', 'allergies'], { and: [{ field: 'allergies', op: 'isnull' }] }), count('rooms', [{ field: 'equipment', op: 'notnull' }])],
  },

  // WHERE ${and} AND ${groups.join(' OR ')}: the disjunction has no parentheses around it, so AND binds tighter and from the second group on nothing else applies.
  'the or block is put behind and without parentheses': {
    kind: 'sql',
    where({ and, or }) {
      if (or.length > 1) return { and: [], or: [[...and, ...or[0]], ...or.slice(1)] }
    },
    probe: () => [query('appointments', ['id'], {
      and: [{ field: 'telehealth', op: 'eq', value: true }],
      or: [[{ field: 'status', op: 'eq', value: 'done' }], [{ field: 'status', op: 'eq', value: 'booked' }]],
    })],
  },

  // where = Object.fromEntries(and.map(f => [f.field, { [op[f.op]]: f.value }])): two filters of one field, such as a range from and to, are one property, and the last one stays.
  'the where object of the ORM keeps one condition for each field': {
    kind: 'orm',
    where({ and, or }) {
      const last = list => [...new Map(list.map(f => [f.field, f])).values()]
      return { and: last(and), or: or.map(last) }
    },
    probe: () => [query('payments', ['id'], { and: [{ field: 'received_at', op: 'gte', value: '2024-01-01T00:00:00.000Z' }, { field: 'received_at', op: 'lt', value: '2024-07-01T00:00:00.000Z' }] })],
  },

  'eq false also matches where the flag is missing': {
    kind: 'rest',
    match(cell, f) {
      if (f.type === 'boolean' && f.op === 'eq' && String(f.value) === 'false' && cell === null) return true
    },
    probe: () => [query('patients', ['id', 'deceased'], { and: [{ field: 'deceased', op: 'eq', value: false }] }), count('prescriptions', [{ field: 'substitution', op: 'eq', value: false }])],
  },

  // The driver binds the parameter as a double (JSON number or Number(value)); the database then casts the bigint column to double as well.
  'a parameter beyond 2^53 is bound as a double': {
    kind: 'numbers',
    match(cell, f, t, right) {
      if (f.type !== 'number' || cell === null || Number.isSafeInteger(Number(cell)) || typeof cell === 'number') return
      const a = Number(cell), equal = v => v !== null && typeof v !== 'boolean' && Number(v) === a
      if (f.op === 'in') return f.values.some(equal)
      if (f.op === 'nin') return !f.values.some(equal)
      const b = Number(f.value)
      if (f.value === null || typeof f.value === 'boolean' || Number.isNaN(b)) return
      switch (f.op) {
        case 'eq': return a === b
        case 'neq': return a !== b
        case 'gt': return a > b
        case 'gte': return a >= b
        case 'lt': return a < b
        case 'lte': return a <= b
      }
    },
    probe: shops => [shops.get('north').get('invoices').rows[10][9], shops.get('north').get('invoices').rows[11][9]].map(value =>
      query('invoices', ['invoice_no', 'claim_id'], { and: [{ field: 'claim_id', op: 'eq', value }] })),
  },

  'a bare date as the end of a range of instants includes its whole day': {
    kind: 'time',
    match(cell, f) {
      if (f.type === 'datetime' && (f.op === 'lte' || f.op === 'gt') && /^\d{4}-\d\d-\d\d$/.test(f.value)) return semantics.match(cell, { ...f, value: `${f.value}T23:59:59.999Z` }, f.type)
    },
    probe: shops => ['lte', 'gt'].map(op => count('lab_results', [{ field: 'taken_at', op, value: shops.get('north').get('lab_results').rows[3][6].slice(0, 10) }])),
  },

  // Comparisons are pushed into the Parquet reader; what it cannot do (text search) is done behind it, over the columns that were read, which are those of `fields`. A column that was not read is undefined.
  'text search is done after projection, over columns that were not read': {
    kind: 'files',
    match(cell, f, t, right, row, ask) {
      if (ask.route === '/query' && textual.includes(f.op) && !ask.body.fields.includes(f.field)) return false
    },
    probe: () => [query('patients', ['id'], { and: [{ field: 'last_name', op: 'startswith', value: 'M' }] })],
  },

  // /query maps the names to columns and refuses one that it does not know; /count and /aggregate hand the filter to the vendor's statistics resource, which ignores parameters that it does not know.
  'count and aggregate leave a filter out whose field is not known': {
    kind: 'rest',
    before(ask) {
      const t = ask.tables.get(ask.body.table)
      if ((ask.route !== '/count' && ask.route !== '/aggregate') || !t || !Array.isArray(ask.body.and)) return
      ask.body = { ...ask.body, and: ask.body.and.filter(f => place(t, f?.field) >= 0) }
    },
    probe: () => [count('patients', [{ field: 'insurer', op: 'eq', value: 'AOK' }])],
  },

  // ---- pages and order

  // Text search is not among the vendor's filters: each page of 250 is filtered as it comes, and the loop ends at a page that is shorter than 250 — which a filtered page always is.
  'the loop over pages ends at a page that its own filter made short': {
    kind: 'paging',
    selected(rows, where, t, ask) {
      if (ask.route !== '/query' || !where.and.some(f => textual.includes(f.op))) return
      const pushed = where.and.filter(f => !textual.includes(f.op))
      const upstream = t.rows.filter(row => pushed.every(f => semantics.match(row[f.at], f, f.type)))
      const kept = new Set(rows), out = []
      for (let at = 0; at < upstream.length; at += 250) {
        const page = upstream.slice(at, at + 250).filter(row => kept.has(row))
        out.push(...page)
        if (page.length < 250) break
      }
      return out
    },
    probe: () => [query('appointments', ['id', 'reason'], { and: [{ field: 'reason', op: 'includes', value: 'pain' }] })],
  },

  // The upstream has pages, not rows, to skip: page = Math.floor(offset / limit).
  'offset becomes the number of a page and loses its remainder': {
    kind: 'paging',
    window: (wide, from, limit) => limit === undefined ? undefined : wide.slice(Math.floor(from / limit) * limit, (Math.floor(from / limit) + 1) * limit),
    probe: () => [query('patients', ['id'], { limit: 20, offset: 50 })],
  },

  // Keyset paging, 200 rows a page: WHERE sortColumn > :last, without the primary key as a second part; rows that share the last value of a page are never read.
  'keyset paging by the first sort column skips ties at the end of a page': {
    kind: 'paging',
    window(wide, from, limit, ask) {
      const t = ask.tables.get(ask.body.table), first = ask.body.sort[0]?.field ?? t.primaryKey[0]
      if (!first || ask.body.joins?.length) return
      const at = place(t, first), { type } = t.fields[at]
      const out = []
      for (let rest = wide; rest.length > 0;) {
        const page = rest.slice(0, 200)
        out.push(...page)
        const last = page.at(-1)[t.name][at]
        rest = rest.slice(200)
        if (last !== null) rest = rest.filter(parts => parts[t.name][at] === null || semantics.compare(parts[t.name][at], last, type) !== 0)
      }
      return out.slice(from, until(from, limit))
    },
    probe: () => [query('appointments', ['id', 'status'], { sort: asc('status') }), query('prescriptions', ['rx_no', 'item'])],
  },

  // ORDER BY has only the requested columns. With a small LIMIT the engine keeps a heap, behind an offset it sorts: ties come in another order, so that two pages overlap.
  'ties have another order behind an offset': {
    kind: 'sql',
    keys: (keys, t, ask) => ask.body.offset > 0 && ask.body.sort.length > 0
      ? keys.map((k, i) => i < ask.body.sort.length ? k : { ...k, dir: 'desc' }) : undefined,
    probe: () => [0, 40].map(offset => query('appointments', ['id', 'status'], { sort: asc('status'), limit: 40, offset })),
  },

  // A long list of values does not fit into an URL: 50 values a request, each with the same sort, limit and offset, and the answers behind each other.
  'a long in list is asked for in parts whose answers are strung together': {
    kind: 'rest',
    window(wide, from, limit, ask) {
      const f = ask.body.and.find(f => f.op === 'in' && f.values.length > 50)
      if (!f || ask.body.joins?.length) return
      const t = ask.tables.get(ask.body.table), at = place(t, f.field), { type } = t.fields[at]
      const values = [...new Set(f.values)], out = [], seen = new Set()
      for (let i = 0; i < values.length; i += 50) {
        const part = { op: 'in', values: values.slice(i, i + 50) }
        const rows = wide.filter(parts => !seen.has(parts) && semantics.match(parts[t.name][at], part, type))
        for (const r of rows) seen.add(r)
        out.push(...rows.slice(from, until(from, limit)))
      }
      return out
    },
    probe: shops => [query('appointments', ['id', 'patient_id', 'booked_at'], {
      and: [{ field: 'patient_id', op: 'in', values: shops.get('north').get('patients').rows.slice(0, 120).map(r => r[0]) }], sort: asc('booked_at'),
    })],
  },

  // ---- joins

  // A batch loader, new Map(children.map(c => [c[key], c])), made for lookups by a unique key, also serves hops from parent to child: the last child wins.
  'the batch loader of a hop keeps one child for each key': {
    kind: 'graphql',
    joined: found => found.slice(-1),
    probe: () => [query('patients', ['id'], { joins: [hop('patients', 'id', 'appointments', 'patient_id', { field: 'id', as: 'appointment', type: 'number' })] })],
  },

  'text keys that look like numbers are joined as numbers': {
    kind: 'joins',
    joinKey: (v, type) => type === 'string' && /^\d+(\.\d+)?$/.test(v) ? `=${Number(v)}` : semantics.key(v, type),
    probe: () => [query('appointments', ['id', 'room'], { joins: [hop('appointments', 'room', 'rooms', 'code', { field: 'code', as: 'c', type: 'string' }, { field: 'site', as: 's', type: 'string' })] }),
      query('patients', ['id', 'licence'], { joins: [hop('patients', 'licence', 'practitioners', 'licence', { field: 'licence', as: 'l', type: 'string' })] })],
  },

  // SELECT a.licence, p.licence … without aliases; the driver returns rows as objects, where the later of two columns of one name overwrites the earlier, and only then they get the names of `as`.
  'a joined column overwrites the base column of the same name': {
    kind: 'sql',
    rows(rows, ask) {
      const fields = (ask.body.joins ?? []).flatMap(h => h.fields)
      if (fields.length === 0) return
      return rows.map(row => {
        const object = {}, out = {}
        for (const name of ask.body.fields) object[name] = row[name]
        for (const f of fields) object[f.field] = row[f.as ?? f.field]
        for (const name of ask.body.fields) out[name] = object[name]
        for (const f of fields) out[f.as ?? f.field] = object[f.field]
        return out
      })
    },
    probe: () => [query('appointments', ['id', 'licence'], { joins: [hop('appointments', 'patient_id', 'patients', 'id', { field: 'licence', as: 'gp', type: 'string' })] })],
  },

  // take and skip of the ORM page over the entities of the base table (it reads their ids first), not over the joined rows.
  'with a join, limit and offset count the rows of the base table': {
    kind: 'orm',
    window(wide, from, limit, ask) {
      if (!ask.body.joins?.length) return
      const base = [...new Set(wide.map(parts => parts[ask.body.table]))]
      const page = new Set(base.slice(from, until(from, limit)))
      return wide.filter(parts => page.has(parts[ask.body.table]))
    },
    probe: () => [query('patients', ['id'], { limit: 25, joins: [hop('patients', 'id', 'appointments', 'patient_id', { field: 'id', as: 'appointment', type: 'number' })] })],
  },

  // ---- aggregates

  // Groups are made by a data frame: groupby drops rows whose key is missing unless told dropna=False.
  'groupby of the data frame drops the group of null': {
    kind: 'files',
    groups: (answer, t, ask) => answer.filter(row => ask.body.groupBy.every(g => row[g.as] !== null)),
    probe: () => [aggregate('payments', [{ field: 'method', as: 'method' }], n)],
  },

  // date_trunc over timestamptz works in the zone of the session, which the pool sets to the clinic's.
  'a grain cuts at midnight of the clinic, not of UTC': {
    kind: 'time',
    bucket(v, grain) {
      if (v.length === 10) return
      const [y, m, d] = berlin.format(new Date(v)).split('-')
      switch (grain) {
        case 'year': return `${y}-01-01`
        case 'quarter': return `${y}-${String(3 * Math.floor((m - 1) / 3) + 1).padStart(2, '0')}-01`
        case 'month': return `${y}-${m}-01`
        default: return `${y}-${m}-${d}`
      }
    },
    probe: () => [aggregate('payments', [{ field: 'received_at', as: 'month', grain: 'month' }], n), aggregate('lab_results', [{ field: 'taken_at', as: 'day', grain: 'day' }], n)],
  },

  // Aggregates with a filter on time are answered from a rollup by month, made for dashboards that ask for whole months; the filter is cast to the month: month >= date_trunc('month', :from).
  'aggregates read a rollup by month, and cut filters on time to the month': {
    kind: 'warehouse',
    match(cell, f, t, right, row, ask) {
      if (ask.route !== '/aggregate' || (f.type !== 'datetime' && f.type !== 'date') || !ranges.includes(f.op) || cell === null || typeof f.value !== 'string') return
      const at = Date.parse(f.value)
      if (Number.isNaN(at)) return
      return semantics.match(cell.slice(0, 7), { ...f, value: new Date(at).toISOString().slice(0, 7) }, 'string')
    },
    probe: () => [aggregate('appointments', [], n, { and: [{ field: 'booked_at', op: 'gte', value: '2024-02-15T00:00:00Z' }] }),
      aggregate('invoices', [{ field: 'status', as: 's' }], n, { and: [{ field: 'issued_on', op: 'lt', value: '2024-03-10' }] })],
  },

  // The export comes as files of 250 rows; each file is folded by itself and the partial results are added — right for counts and sums, not for distinct values.
  'count_distinct adds what the files of an export count each': {
    kind: 'files',
    measure(right, m, values, field, t, ask, rows) {
      if (m.fn !== 'count_distinct') return
      const at = new Map(t.rows.map((row, i) => [row, Math.floor(i / 250)])), seen = new Set()
      for (const row of rows) if (row[m.at] !== null) seen.add(`${at.get(row)} ${semantics.key(row[m.at], field.type)}`)
      return seen.size
    },
    probe: () => [aggregate('lab_results', [], [{ fn: 'count_distinct', field: 'analyte', as: 'd' }])],
  },

  'GROUP BY uses the collation of the database': {
    kind: 'sql',
    group: (v, field) => typeof v === 'string' && field.type === 'string' ? `=${folded(v)}` : undefined,
    probe: () => [aggregate('patients', [{ field: 'last_name', as: 'name' }], n), aggregate('appointments', [{ field: 'status', as: 'status' }], n, { stringFields: ['status'] })],
  },

  // The vendor has no sums: they are folded here, total += Number(row[field]).
  'sum adds floats': {
    kind: 'numbers',
    measure(right, m, values) {
      if (m.fn !== 'sum' || values.length === 0) return
      return semantics.text(values.reduce((total, v) => total + Number(v), 0))
    },
    probe: () => [aggregate('invoices', [], [{ fn: 'sum', field: 'net', as: 's' }]), aggregate('payments', [{ field: 'method', as: 'm' }], [{ fn: 'sum', field: 'amount', as: 's' }]),
      aggregate('invoices', [], [{ fn: 'sum', field: 'claim_id', as: 's' }])],
  },

  // ---- measurements

  // The warehouse counts distinct values with APPROX_COUNT_DISTINCT because it is a fraction of the price.
  'cardinality asks for an approximate count of distinct values': {
    kind: 'warehouse',
    distinct: (right, values, field) => ({ nonNull: right.nonNull, distinct: Math.min(right.nonNull, estimate(values, field.type)) }),
    probe: () => [['/cardinality', { table: 'patients', columns: ['id', 'patient_no', 'email', 'registered_at'] }], ['/cardinality', { table: 'invoices', columns: ['invoice_no', 'net'] }]],
  },

  // SELECT count(*) … LEFT JOIN target ON … WHERE target.key IS NULL: rows that refer to nothing have no partner either.
  'orphans are the rows without a partner, also those whose key is null': {
    kind: 'sql',
    link(right, { values, from }) {
      const orphanCount = right.orphanCount + from.rows.length - values.length
      return { ...right, orphanCount, orphanRate: right.fromNonNull ? Math.min(1, orphanCount / right.fromNonNull) : 0 }
    },
    probe: () => [['/linkHitRate', { fromTable: 'patients', fromColumn: 'licence', toTable: 'practitioners', toColumn: 'licence' }]],
  },

  // reltuples of the catalogue: what the last ANALYZE saw. The literal `exact: true` was there before.
  'size is the estimate of the catalogue, and says that it is exact': {
    kind: 'sql',
    size: t => Math.round(t.rows.length * 0.96),
    probe: () => [['/size', { table: 'patients' }]],
  },

  // ---- values, discovery

  // One formatter for every decimal: toFixed(2), written with amounts in mind.
  'every decimal is written with two digits': {
    kind: 'numbers',
    cell: (v, field) => v !== null && field.type === 'decimal' ? Number(v).toFixed(2) : v,
    probe: () => [query('invoices', ['invoice_no', 'tax_rate']), query('lab_results', ['value'])],
  },

  // The driver reads DATE as midnight of the server's zone (Europe/Berlin); toISOString().slice(0, 10) is the day before.
  'a date comes out one day early': {
    kind: 'time',
    cell: (v, field) => v !== null && field.type === 'date' ? new Date(Date.parse(v) - 36e5).toISOString().slice(0, 10) : v,
    probe: () => [query('invoices', ['invoice_no', 'issued_on'], { and: [{ field: 'issued_on', op: 'gte', value: '2024-01-01' }] })],
  },

  // unique is read from the columns that take part in a PRIMARY or UNIQUE constraint, without a look at how many take part in it.
  'each column of a composite primary key is declared unique': {
    kind: 'discovery',
    tables: tables => tables.map(t => ({ ...t, fields: t.fields.map(f => t.primaryKey.includes(f.name) ? { ...f, unique: true } : f) })),
    probe: () => [['/discovery', {}]],
  },

  // ---- state

  // Counts are dear, so they are kept for the life of the process under tenant, table and `and`; `or` came later and is not part of the key.
  'counts are kept under a key without the or block': {
    kind: 'cache',
    before(ask) {
      if (ask.route !== '/count') return
      ask.state.counts ??= new Map()
      ask.key = JSON.stringify([ask.shop, ask.body.table, ask.body.and])
      if (ask.state.counts.has(ask.key)) return { body: { count: ask.state.counts.get(ask.key) } }
    },
    after(ask, answer) {
      if (ask.route === '/count') ask.state.counts.set(ask.key, answer.body.count)
    },
    probe: () => ['done', 'booked'].map(value => count('appointments', [], { or: [[{ field: 'status', op: 'eq', value }]] })),
  },

  // One client object for the process: `client.tenant = credentials.shop; await client.login(); …`. While one request waits for its login, the next one sets the tenant.
  'two requests at once share the tenant of the client': {
    kind: 'state',
    before(ask) { ask.state.tenant = ask.shop },
    async wait(ask) {
      await new Promise(done => setTimeout(done, 5))
      ask.shop = ask.state.tenant
      ask.tables = ask.all.get(ask.shop)
    },
    probe: () => [[['/size', { table: 'invoices' }], south(['/size', { table: 'invoices' }])],
      [query('invoices', ['invoice_no', 'net']), south(query('invoices', ['invoice_no', 'net'])), query('patients', ['id', 'last_name'])]],
  },
}
