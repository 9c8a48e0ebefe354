// Faults over the tables of a utility: each is the shop with one thing wrong in it.
import * as semantics from './semantics.mjs'

const { key, numeric, text } = semantics

const sleep = ms => new Promise(done => setTimeout(done, ms))
const at = (t, name) => t.fields.findIndex(f => f.name === name)
const chunks = (list, n) => Array.from({ length: Math.ceil(list.length / n) }, (_, i) => list.slice(i * n, i * n + n))
const slice = (rows, from, limit) => rows.slice(from, limit === undefined ? undefined : from + limit)
const column = (shops, table, name, shop = 'north') => {
  const t = shops.get(shop).get(table)
  return t.rows.map(r => r[at(t, name)])
}

// What probes ask.
const query = (table, fields, more = {}) => ['/query', { table, and: [], sort: [], fields, ...more }]
const count = (table, and, more = {}) => ['/count', { table, and, ...more }]
const aggregate = (table, groupBy, measures, more = {}) => ['/aggregate', {
  table, and: [], limit: 1001, groupBy: groupBy.map(g => typeof g === 'string' ? { field: g, as: g } : g), measures, ...more,
}]
const rows = { fn: 'count', as: 'n' }
const hop = (fromTable, fromField, toTable, toField, fields) =>
  ({ fromTable, fromField, toTable, toField, fields: fields.map(field => ({ field, as: `${toTable}_${field}`, type: 'string' })) })
const f = (field, op, value) => op === 'in' || op === 'nin' ? { field, op, values: value } : value === undefined ? { field, op } : { field, op, value }

const berlin = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Berlin', year: 'numeric', month: '2-digit', day: '2-digit' })
const period = (date, grain) => {
  const [y, m] = date.split('-')
  if (grain === 'year') return `${y}-01-01`
  if (grain === 'quarter') return `${y}-${String(Number(m) - (m - 1) % 3).padStart(2, '0')}-01`
  return grain === 'month' ? `${y}-${m}-01` : date
}

// sketched counts distinct values: exactly up to a thousand, beyond by a bitmap of their hashes.
function sketched(values, type) {
  const seen = new Set(values.map(v => key(v, type)))
  if (seen.size <= 1000) return seen.size
  const size = 1 << 14
  const bits = new Set()
  for (const k of seen) {
    let h = 0x811c9dc5
    for (const b of Buffer.from(k)) h = Math.imul(h ^ b, 0x01000193) >>> 0
    bits.add(h >>> 18)
  }
  return Math.round(-size * Math.log((size - bits.size) / size))
}

// looksNumeric is how a CSV reader guesses that a cell is a number.
const looksNumeric = s => /^\s*-?(\d*\.?\d+|\d+\.?\d*)(e[-+]?\d+)?\s*$/i.test(s) && Math.abs(Number(s)) < 2 ** 53

const cents = v => typeof v === 'number' || typeof v === 'string' && /^[+-]?\d+(\.\d+)?$/.test(v) ? Number(v).toFixed(2) : v

export const faults = {
  // --- rest
  'nin is sent in chunks of fifty and the answers are put together': {
    kind: 'rest',
    match(cell, filter) {
      if (filter.op !== 'nin' || filter.values.length <= 50) return undefined
      return chunks(filter.values, 50).some(values => semantics.match(cell, { ...filter, values }, filter.type))
    },
    probe: shops => [count('accounts', [f('id', 'nin', column(shops, 'accounts', 'id').slice(0, 120))])],
  },
  'two filters with one field and operator become one query parameter': {
    kind: 'rest',
    where: ({ and, or }) => ({ and: [...new Map(and.map(x => [`${x.field}__${x.op}`, x])).values()], or }),
    probe: () => [count('invoices', [f('status', 'neq', 'paid'), f('status', 'neq', 'void')])],
  },
  'a filter for zero, false or the empty text is left out': {
    kind: 'rest',
    where({ and, or }) {
      const given = list => list.filter(x => !('value' in x) || x.value)
      return { and: given(and), or: or.map(given) }
    },
    probe: () => [count('invoices', [f('reminders', 'eq', 0)]), count('accounts', [f('paperless', 'eq', false)])],
  },
  'all sort keys take the direction of the first': {
    kind: 'rest',
    keys: (keys, t, ask) => keys.map((k, i) => i < ask.body.sort.length ? { ...k, dir: keys[0].dir } : k),
    probe: () => [query('meters', ['serial'], { sort: [{ field: 'medium', dir: 'asc' }, { field: 'installed', dir: 'desc' }] })],
  },

  // --- sql
  'a lower and an upper bound become BETWEEN': {
    kind: 'sql',
    where({ and, or }) {
      const below = op => op === 'lt' || op === 'lte', above = op => op === 'gt' || op === 'gte'
      const merge = list => list.map(x => {
        if (below(x.op) && list.some(y => y.field === x.field && above(y.op))) return { ...x, op: 'lte' }
        if (above(x.op) && list.some(y => y.field === x.field && below(y.op))) return { ...x, op: 'gte' }
        return x
      })
      return { and: merge(and), or: or.map(merge) }
    },
    probe: () => [count('invoices', [f('reminders', 'gt', 0), f('reminders', 'lt', 3)])],
  },
  'values for decimals are bound as DECIMAL(12,2)': {
    kind: 'sql',
    where({ and, or }) {
      const bind = list => list.map(x => {
        if (x.type !== 'decimal') return x
        return 'values' in x ? { ...x, values: x.values.map(cents) } : 'value' in x ? { ...x, value: cents(x.value) } : x
      })
      return { and: bind(and), or: or.map(bind) }
    },
    probe: shops => [count('invoices', [f('tax', 'gte', column(shops, 'invoices', 'tax')[0])]), ...column(shops, 'tariffs', 'unit_price').slice(0, 5).map(v => count('tariffs', [f('unit_price', 'eq', v)]))],
  },
  'or groups that begin with one field become an in list': {
    kind: 'sql',
    where({ and, or }) {
      const same = or.length > 1 && or.every(g => g[0]?.op === 'eq' && g[0].field === or[0][0].field)
      return { and, or: same ? or.map(g => [g[0]]) : or }
    },
    probe: () => [count('invoices', [], { or: [[f('status', 'eq', 'paid'), f('reminders', 'gt', 1)], [f('status', 'eq', 'draft'), f('note', 'notnull')]] })],
  },
  'link rates are measured over SELECT DISTINCT': {
    kind: 'sql',
    link(right, { values, orphans }) {
      const spelled = new Set(values.map(text)).size, lost = new Set(orphans.map(text)).size
      return { ...right, fromNonNull: spelled, orphanCount: lost, orphanRate: spelled ? lost / spelled : 0 }
    },
    probe: () => [['/linkHitRate', { fromTable: 'visits', fromColumn: 'meter', toTable: 'meters', toColumn: 'serial' }]],
  },

  // --- search
  'texts above 256 characters are not indexed': {
    kind: 'search',
    match(cell, filter) {
      if (filter.type !== 'string' || cell === null || cell.length <= 256) return undefined
      return semantics.match(null, filter, filter.type)
    },
    probe: () => [count('invoices', [f('note', 'isnull')]), count('visits', [f('note', 'startswith', 'Customer')])],
  },
  'counts stop at the thousand hits of the search engine': {
    kind: 'search',
    count: n => Math.min(n, 1000),
    probe: () => [count('readings', [f('kind', 'neq', 'estimated')]), count('invoices', [])],
  },
  'distinct values are counted with a sketch': {
    kind: 'search',
    distinct: (right, values, field) => ({ ...right, distinct: sketched(values, field.type) }),
    measure: (right, m, values, field) => m.fn === 'count_distinct' ? sketched(values, field.type) : undefined,
    probe: () => [['/cardinality', { table: 'readings', columns: ['value', 'consumption', 'received_at'] }]],
  },

  // --- document
  'contains looks for the JSON of the value in the text of the array': {
    kind: 'document',
    match: (cell, filter) => filter.op === 'contains' && typeof cell === 'string' && filter.value !== null ? cell.includes(JSON.stringify(filter.value)) : undefined,
    probe: () => [count('accounts', [f('labels', 'contains', 12)]), count('accounts', [f('labels', 'contains', '12')])],
  },
  'decimals are grouped by their spelling': {
    kind: 'document',
    group: (v, field) => field.type === 'decimal' && v !== null ? `=${v}` : undefined,
    probe: () => [aggregate('meters', ['factor'], [rows])],
  },

  // --- files
  'keys that look like numbers are joined as numbers': {
    kind: 'files',
    joinKey: (v, type) => key(v, typeof v === 'string' && looksNumeric(v) ? 'number' : type),
    probe: () => [query('contracts', ['number', 'meter'], { joins: [hop('contracts', 'meter', 'meters', 'serial', ['serial', 'medium'])] })],
  },
  'the partition of the last month is pruned': {
    kind: 'files',
    match(cell, filter, t, right) {
      if (t.name !== 'readings' || filter.field !== 'day' || !['lt', 'lte'].includes(filter.op)) return undefined
      return right && cell.slice(0, 7) < text(filter.value).slice(0, 7)
    },
    probe: () => [count('readings', [f('day', 'gte', '2024-01-10'), f('day', 'lte', '2024-03-15')])],
  },
  'the size is the number of lines in the file': {
    kind: 'files',
    size: t => t.rows.length + t.rows.flat().reduce((n, v) => n + (typeof v === 'string' ? v.split('\n').length - 1 : 0), 0),
    probe: () => [['/size', { table: 'visits' }], ['/size', { table: 'invoices' }]],
  },

  // --- orm
  'a default scope hides the rows that were removed': {
    kind: 'orm',
    selected(rows, where, t) {
      const removed = at(t, 'removed')
      return removed < 0 ? undefined : rows.filter(r => r[removed] === null)
    },
    probe: () => [count('meters', []), query('meters', ['serial', 'removed'])],
  },
  'the limit of a query with joins counts rows of the first table': {
    kind: 'orm',
    window(wide, from, limit, ask) {
      const { table, joins } = ask.body
      if (!joins?.length) return undefined
      const kept = new Set(slice([...new Set(wide.map(parts => parts[table]))], from, limit))
      return wide.filter(parts => kept.has(parts[table]))
    },
    probe: () => [query('accounts', ['id'], { limit: 40, offset: 10, sort: [{ field: 'id', dir: 'asc' }], joins: [hop('accounts', 'id', 'contracts', 'account_id', ['number'])] })],
  },

  // --- paging
  'a cursor over the first sort key loses ties between pages': {
    kind: 'paging',
    window(wide, from, limit, ask) {
      const { table, sort } = ask.body
      if (sort.length === 0) return undefined
      const t = ask.tables.get(table)
      const first = at(t, sort[0].field)
      const spell = parts => key(parts[table][first], t.fields[first].type)
      const read = []
      for (let i = 0; i < wide.length;) {
        read.push(...wide.slice(i, i + 500))
        const last = spell(read.at(-1))
        i += 500
        while (i < wide.length && spell(wide[i]) === last) i++
      }
      return slice(read, from, limit)
    },
    probe: () => [query('invoices', ['id'], { sort: [{ field: 'due', dir: 'asc' }] }), query('readings', ['meter', 'day'], { sort: [{ field: 'day', dir: 'desc' }], offset: 900 })],
  },
  'each page of a thousand rows is sorted by itself': {
    kind: 'paging',
    window(wide, from, limit, ask) {
      const { table, sort } = ask.body
      if (sort.length === 0) return undefined
      const page = new Map(ask.tables.get(table).rows.map((row, i) => [row, Math.floor(i / 1000)]))
      return slice([...wide].sort((a, b) => page.get(a[table]) - page.get(b[table])), from, limit)
    },
    probe: () => [query('payments', ['ref', 'amount'], { sort: [{ field: 'amount', dir: 'desc' }] })],
  },

  // --- caching
  'the key of a kept count has the values and not the operators': {
    kind: 'caching',
    before(ask) {
      const { table, and, or = [] } = ask.body
      if (ask.route !== '/count' || !Array.isArray(and) || !and.every(semantics.isObject)) return undefined
      ask.kept = JSON.stringify([ask.shop, table, and.map(x => `${x.field}=${x.value ?? x.values ?? ''}`), or])
      const { until, answer } = ask.state.counts?.get(ask.kept) ?? { until: 0 }
      return until > Date.now() ? answer : undefined
    },
    after(ask, answer) {
      if (ask.kept === undefined) return
      ask.state.counts ??= new Map()
      ask.state.counts.set(ask.kept, { until: Date.now() + 60_000, answer })
    },
    probe: () => [count('payments', [f('amount', 'lt', '350.00')]), count('payments', [f('amount', 'gte', '350.00')])],
  },
  'measured columns are kept by their name alone': {
    kind: 'caching',
    distinct(right, values, field, t, ask) {
      ask.state.columns ??= new Map()
      const name = `${ask.shop}/${field.name}`
      if (!ask.state.columns.has(name)) ask.state.columns.set(name, right)
      return ask.state.columns.get(name)
    },
    probe: () => [['/cardinality', { table: 'invoices', columns: ['id', 'note'] }], ['/cardinality', { table: 'visits', columns: ['meter', 'note'] }]],
  },

  // --- joins
  'a joined table is read up to the default limit of a thousand rows': {
    kind: 'joins',
    target: own => ({ ...own, rows: own.rows.slice(0, 1000) }),
    probe: () => [query('payments', ['ref', 'invoice_id'], { joins: [hop('payments', 'invoice_id', 'invoices', 'id', ['id', 'net'])] })],
  },
  'a later hop takes the field of the same name from the first table': {
    kind: 'joins',
    joined(found, v, step, ask, row) {
      const base = ask.tables.get(ask.body.table)
      const place = at(base, step.fromField)
      if (step.fromTable === base.name || place < 0) return undefined
      const value = row[base.name][place]
      if (value === null) return []
      const to = ask.tables.get(step.toTable)
      const other = at(to, step.toField)
      const type = numeric(base.fields[place].type) && numeric(to.fields[other].type) ? 'number' : 'string'
      const wanted = key(value, type)
      return to.rows.filter(r => r[other] !== null && key(r[other], type) === wanted)
    },
    probe: () => [query('contracts', ['number', 'account_id'], {
      joins: [hop('contracts', 'meter', 'meters', 'serial', ['premise']), hop('meters', 'premise', 'premises', 'code', ['account_id']), hop('premises', 'account_id', 'accounts', 'id', ['id', 'name'])],
    })],
  },

  // --- aggregates
  'sums of decimals are rounded to cents': {
    kind: 'aggregates',
    measure: (right, m, values, field) => m.fn === 'sum' && field.type === 'decimal' && right !== null ? Number(right).toFixed(2) : undefined,
    probe: () => [aggregate('invoices', ['status'], [{ fn: 'sum', field: 'tax', as: 'tax' }])],
  },
  'groups of several fields leave out those with a null': {
    kind: 'aggregates',
    groups: (answer, t, ask) => ask.body.groupBy.length > 1 ? answer.filter(row => ask.body.groupBy.every(g => row[g.as] !== null)) : undefined,
    probe: () => [aggregate('contracts', ['tariff', 'auto_renew'], [rows])],
  },
  'distinct counts of parts are added up': {
    kind: 'aggregates',
    measure: (right, m, values, field) => m.fn === 'count_distinct'
      ? chunks(values, 1000).reduce((n, part) => n + new Set(part.map(v => key(v, field.type))).size, 0) : undefined,
    probe: () => [aggregate('readings', [], [{ fn: 'count_distinct', field: 'kind', as: 'kinds' }, { fn: 'count_distinct', field: 'day', as: 'days' }])],
  },
  'instants fall into the days of Berlin': {
    kind: 'aggregates',
    bucket: (v, grain) => v.length > 10 ? period(berlin.format(new Date(v)), grain) : undefined,
    probe: () => [aggregate('payments', [{ field: 'booked_at', as: 'month', grain: 'month' }], [rows])],
  },

  // --- discovery
  'a field is unique if the first hundred rows say so': {
    kind: 'discovery',
    tables: (tables, ask) => tables.map(t => {
      const first = ask.tables.get(t.name).rows.slice(0, 100)
      return {
        ...t, fields: t.fields.map((field, i) => {
          const values = first.map(r => r[i]).filter(v => v !== null)
          return { ...field, unique: field.unique || values.length > 0 && new Set(values.map(text)).size === values.length }
        }),
      }
    }),
    probe: () => [['/discovery', {}]],
  },
  'a primary key is told by its first column': {
    kind: 'discovery',
    tables: tables => tables.map(t => ({ ...t, primaryKey: t.primaryKey.slice(0, 1) })),
    probe: () => [['/discovery', {}]],
  },

  // --- tenants
  'the tenant of a request is kept in a shared field while it waits': {
    kind: 'tenants',
    async wait(ask) {
      ask.state.tenant = ask.shop
      await sleep(5)
      ask.tables = ask.all.get(ask.state.tenant)
    },
    probe: () => [[
      ['/size', { table: 'invoices', credentials: { shop: 'north' } }], ['/size', { table: 'invoices', credentials: { shop: 'south' } }],
      ['/count', { table: 'payments', and: [], credentials: { shop: 'north' } }], ['/count', { table: 'payments', and: [], credentials: { shop: 'south' } }],
    ]],
  },
  'small tables are kept for joins whoever asks': {
    kind: 'tenants',
    target(own, ask) {
      if (own.rows.length > 500) return undefined
      ask.state.lookups ??= new Map()
      if (!ask.state.lookups.has(own.name)) ask.state.lookups.set(own.name, own)
      return ask.state.lookups.get(own.name)
    },
    probe: () => ['north', 'south'].map(shop => query('contracts', ['number', 'account_id'], {
      credentials: { shop }, joins: [hop('contracts', 'account_id', 'accounts', 'id', ['id', 'name'])],
    })),
  },
}
