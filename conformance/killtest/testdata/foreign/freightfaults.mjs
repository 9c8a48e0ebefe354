// Faults over the tables of a freight forwarder: each is the shop with one thing wrong in it.
import * as semantics from './semantics.mjs'
const { key, text, bytes, match } = semantics

const query = (table, fields, more = {}) => ['/query', { table, and: [], sort: [], fields, ...more }]
const count = (table, and = [], or) => ['/count', { table, and, ...(or ? { or } : {}) }]
const aggregate = (table, groupBy, measures, more = {}) => ['/aggregate', { table, and: [], groupBy, measures, limit: 1001, ...more }]
const cardinality = (table, ...columns) => ['/cardinality', { table, columns }]
const link = (fromTable, fromColumn, toTable, toColumn) => ['/linkHitRate', { fromTable, fromColumn, toTable, toColumn }]
const is = (field, op, value) => op === 'in' || op === 'nin' ? { field, op, values: value } : value === undefined ? { field, op } : { field, op, value }
const by = (field, dir = 'asc') => ({ field, dir })
const n = { fn: 'count', as: 'n' }
const timed = type => type === 'date' || type === 'datetime'

// values of a column of a table of a probe.
const column = (shops, table, name) => {
  const t = shops.get('north').get(table), at = t.fields.findIndex(f => f.name === name)
  return t.rows.map(r => r[at]).filter(v => v !== null)
}

const collator = new Intl.Collator('de')
const berlin = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Berlin' })

// like is what a database makes of LIKE with this pattern.
const like = (pattern, cell) => new RegExp(`^${pattern.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/%/g, '.*').replace(/_/g, '.')}$`, 'su').test(cell)

export const faults = {
  // ---- filters

  'SQL: the text of startswith and includes goes into LIKE without escaping % and _': {
    kind: 'sql',
    match(cell, f) {
      if (cell === null || f.value === null || f.op !== 'includes' && f.op !== 'startswith') return
      return like(`${f.op === 'includes' ? '%' : ''}${text(f.value)}%`, text(cell))
    },
    probe: () => [query('shipments', ['id', 'house_bill'], { and: [is('house_bill', 'startswith', 'HBL_2')] }), count('invoices', [is('memo', 'includes', '100%')]),
      count('shipments', [is('status', 'includes', 'in_tran')])],
  },

  'ORM: contains is the ORM\'s "contains", a substring of the stored JSON text': {
    kind: 'orm',
    match(cell, f) {
      if (f.op === 'contains' && cell !== null && f.value !== null) return text(cell).includes(text(f.value))
    },
    probe: () => [query('containers', ['container_no', 'un_numbers'], { and: [is('un_numbers', 'contains', '126')] }), count('customers', [is('tags', 'contains', 'key')]),
      count('ports', [is('services', 'contains', 'ref')])],
  },

  'SQL: the groups of or are appended without brackets, so AND binds the first one only': {
    kind: 'sql',
    where: where => where.or.length === 0 ? where : { and: [], or: [[...where.and, ...where.or[0]], ...where.or.slice(1)] },
    probe: () => [query('shipments', ['id', 'mode', 'status'], { and: [is('mode', 'eq', 'FCL')], or: [[is('status', 'eq', 'booked')], [is('incoterm', 'isnull')]] }),
      count('invoices', [is('currency', 'eq', 'USD')], [[is('status', 'eq', 'open')], [is('status', 'eq', 'dunned')]])],
  },

  'Mongo-like API: the query object is keyed by field, so the second bound of a range replaces the first': {
    kind: 'rest',
    where(where) {
      const keyed = list => [...new Map(list.map(f => [f.field, f])).values()]
      return { and: keyed(where.and), or: where.or.map(keyed) }
    },
    probe: () => [query('legs', ['shipment_id', 'leg_no', 'etd'], { and: [is('etd', 'gte', '2024-01-01T00:00:00Z'), is('etd', 'lt', '2024-07-01T00:00:00Z')] }),
      count('containers', [is('tare_kg', 'gt', 2300), is('tare_kg', 'lte', 4000)])],
  },

  'REST: "if (!filter.value) skip", so filters with 0, false, an empty text or null are not sent': {
    kind: 'rest',
    where(where) {
      const sent = list => list.filter(f => !('value' in f) || f.value)
      return { and: sent(where.and), or: where.or.map(sent) }
    },
    probe: () => [query('legs', ['shipment_id', 'leg_no'], { and: [is('transshipment', 'eq', false)] }), count('containers', [is('set_temp_c', 'lt', 0)]), count('invoices', [is('memo', 'eq', '')]),
      count('declarations', [is('duty_rate', 'eq', 0)])],
  },

  'REST: gt and lt on dates and instants become from and to of the API, which are both inclusive': {
    kind: 'time',
    match(cell, f, t, right) {
      if (!timed(f.type) || f.op !== 'gt' && f.op !== 'lt') return
      return match(cell, { ...f, op: `${f.op}e` }, f.type)
    },
    probe: shops => [query('invoices', ['id', 'issued_on'], { and: [is('issued_on', 'gt', column(shops, 'invoices', 'issued_on')[3])] }),
      count('tracking_events', [is('at', 'lt', column(shops, 'tracking_events', 'at')[5])])],
  },

  'merged: one request upstream for each group of or, and the answers are concatenated without removing doubles': {
    kind: 'merge',
    selected(rows, where, t) {
      if (where.or.length < 2) return
      return where.or.flatMap(group => t.rows.filter(row => [...where.and, ...group].every(f => match(row[f.at], f, f.type))))
    },
    probe: () => [query('declarations', ['mrn'], { or: [[is('currency', 'eq', 'USD')], [is('inspected', 'eq', true)]], sort: [by('mrn')] }),
      count('declarations', [], [[is('currency', 'eq', 'USD')], [is('inspected', 'eq', true)]]),
      aggregate('declarations', [{ field: 'kind', as: 'kind' }], [n], { or: [[is('currency', 'eq', 'USD')], [is('inspected', 'eq', true)]] })],
  },

  'merged: a long in list is asked for in portions of 50 values, and the sorted portions are put one behind the other': {
    kind: 'limits',
    window(wide, from, limit, { body, tables }) {
      const long = body.and.find(f => f.op === 'in' && f.values.length > 50)
      if (!long) return
      const t = tables.get(body.table), { name, type } = t.fields.find(f => f.name === long.field), at = t.fields.findIndex(f => f.name === name)
      const portions = []
      for (let i = 0; i < long.values.length; i += 50) {
        const some = new Set(long.values.slice(i, i + 50).filter(v => v !== null).map(v => key(v, type)))
        portions.push(...wide.filter(row => some.has(key(row[t.name][at], type)) && !portions.includes(row)))
      }
      return portions.slice(from, limit === undefined ? undefined : from + limit)
    },
    probe: shops => [query('containers', ['container_no', 'shipment_id'], {
      and: [is('shipment_id', 'in', [...new Set(column(shops, 'containers', 'shipment_id'))].slice(0, 120))], sort: [by('container_no', 'desc')], limit: 200,
    })],
  },

  // ---- order and pages

  'SQL: ORDER BY ... DESC as Postgres means it, with nulls first': {
    kind: 'sql',
    compare(x, y, k) {
      if (k.dir === 'desc' && (x === null) !== (y === null)) return x === null ? -1 : 1
    },
    probe: () => [query('shipments', ['id', 'eta'], { sort: [by('eta', 'desc')], limit: 30 }), query('customers', ['id', 'credit_limit'], { sort: [by('credit_limit', 'desc'), by('id')] })],
  },

  'SQL: text is sorted by the collation of the database (de_DE), not by bytes': {
    kind: 'sql',
    compare(x, y, k) {
      if (k.type === 'string' && x !== null && y !== null) return (k.dir === 'desc' ? -1 : 1) * collator.compare(x, y) || undefined
    },
    probe: () => [query('ports', ['locode', 'name'], { sort: [by('name')] }), query('customers', ['id', 'name'], { sort: [by('name', 'desc')], limit: 40 })],
  },

  'paging: offset and limit become page = floor(offset / limit) + 1 of an API that pages by number': {
    kind: 'paging',
    window(wide, from, limit) {
      if (limit === undefined) return
      const page = Math.floor(from / limit)
      return wide.slice(page * limit, (page + 1) * limit)
    },
    probe: () => [query('shipments', ['id'], { sort: [by('id')], offset: 30, limit: 20 }), query('invoices', ['id', 'amount'], { sort: [by('issued_on')], offset: 25, limit: 100 })],
  },

  'paging: pages of 100 go on behind the last value of the first sort key, without its ties': {
    kind: 'paging',
    window(wide, from, limit, { body, tables }) {
      const t = tables.get(body.table)
      const name = body.sort[0]?.field ?? t.primaryKey[0], at = t.fields.findIndex(f => f.name === name), { type } = t.fields[at]
      const spell = row => key(row[t.name][at], type)
      const read = []
      for (let i = 0; i < wide.length;) {
        read.push(...wide.slice(i, i + 100))
        i += 100
        const last = spell(read.at(-1))
        while (i < wide.length && spell(wide[i]) === last) i++
      }
      return read.slice(from, limit === undefined ? undefined : from + limit)
    },
    probe: () => [query('tracking_events', ['event_id', 'code'], { sort: [by('code')] }), query('legs', ['shipment_id', 'leg_no']), query('shipments', ['id', 'mode'], { sort: [by('mode'), by('id')], limit: 150 })],
  },

  'REST: a request without a limit takes the one page of 500 rows that the API gives by default': {
    kind: 'limits',
    window: (wide, from, limit) => limit === undefined ? wide.slice(from, from + 500) : undefined,
    probe: () => [query('invoices', ['id']), query('tracking_events', ['event_id'], { sort: [by('at')] })],
  },

  // ---- values

  'driver: a DATE is read as local midnight (Europe/Berlin) and written with toISOString().slice(0, 10), a day early': {
    kind: 'time',
    cell: (v, f) => f.type === 'date' && v !== null ? new Date(Date.parse(v) - 36e5).toISOString().slice(0, 10) : v,
    probe: () => [query('declarations', ['mrn', 'lodged_on'], { and: [is('lodged_on', 'gte', '2024-01-01')], sort: [by('lodged_on')], limit: 20 })],
  },

  'JSON: JSON.parse of the upstream answer turns integers beyond 2^53 into rounded numbers': {
    kind: 'types',
    cell: (v, f) => f.type === 'number' && typeof v === 'string' ? Number(v) : v,
    probe: () => [query('tracking_events', ['event_id'], { limit: 50 }), query('invoices', ['id', 'ledger_ref'], { sort: [by('ledger_ref')], limit: 50 })],
  },

  'REST: the list route of the API abridges long text to 80 characters; only its detail route has all of it': {
    kind: 'rest',
    cell: (v, f) => f.type === 'string' && v !== null && v.length > 80 ? `${v.slice(0, 77)}...` : v,
    probe: () => [query('shipments', ['id', 'remarks'], { and: [is('remarks', 'includes', 'dispatcher')] }), query('invoices', ['id', 'memo'])],
  },

  // ---- joins

  'dataframe: merge() of pandas pairs missing keys with missing keys': {
    kind: 'files',
    joined(found, v, hop, { tables }) {
      if (v !== null) return
      const to = tables.get(hop.toTable), at = to.fields.findIndex(f => f.name === hop.toField)
      return to.rows.filter(row => row[at] === null)
    },
    probe: () => [query('tracking_events', ['event_id', 'booking_no'], {
      sort: [by('event_id')], limit: 100,
      joins: [{ fromTable: 'tracking_events', toTable: 'shipments', fromField: 'booking_no', toField: 'booking_no', fields: [{ field: 'id', as: 'shipment', type: 'number' }] }],
    })],
  },

  'SQL: rows come from the driver as objects keyed by column name, so a joined column overwrites the column of the base table with its name': {
    kind: 'joins',
    rows(rows, { body }) {
      for (const f of (body.joins ?? []).flatMap(hop => hop.fields)) {
        if (f.as !== undefined && f.as !== f.field && body.fields.includes(f.field)) for (const row of rows) row[f.field] = row[f.as]
      }
      return rows
    },
    probe: () => [query('invoices', ['id', 'status', 'amount'], {
      sort: [by('id')], limit: 50,
      joins: [{ fromTable: 'invoices', toTable: 'shipments', fromField: 'shipment_id', toField: 'id', fields: [{ field: 'status', as: 'shipment_status', type: 'string' }] }],
    }), query('shipments', ['id', 'mode'], {
      joins: [{ fromTable: 'shipments', toTable: 'customers', fromField: 'customer_id', toField: 'id', fields: [{ field: 'id', as: 'customer__id', type: 'number' }, { field: 'name', as: 'customer__name', type: 'string' }] }],
    })],
  },

  // ---- aggregates

  'search index: a terms aggregation leaves out documents without the field, so the group of null is missing': {
    kind: 'search',
    groups: (answer, t, { body }) => answer.filter(row => body.groupBy.every(g => row[g.as] !== null)),
    probe: () => [aggregate('shipments', [{ field: 'incoterm', as: 'incoterm' }], [n]), aggregate('invoices', [{ field: 'paid_at', as: 'month', grain: 'month' }], [n])],
  },

  'warehouse: amounts are loaded as DOUBLE, and sums are sums of floats': {
    kind: 'numbers',
    measure: (right, m, values) => m.fn === 'sum' && values.length > 0 ? semantics.text(values.reduce((sum, v) => sum + Number(v), 0)) : undefined,
    probe: () => [aggregate('invoices', [{ field: 'currency', as: 'currency' }], [{ fn: 'sum', field: 'amount', as: 'total' }]), aggregate('shipments', [], [{ fn: 'sum', field: 'weight_kg', as: 'kg' }])],
  },

  'search index: a composite aggregation of size 100 is read once, without after_key for its further pages': {
    kind: 'search',
    groups(answer, t, { body }) {
      const spell = row => JSON.stringify(body.groupBy.map(g => row[g.as]))
      if (body.groupBy.length && answer.length > 100) return answer.sort((a, b) => bytes(spell(a), spell(b))).slice(0, 100)
    },
    probe: () => [aggregate('invoices', [{ field: 'account_no', as: 'account' }], [n]), aggregate('legs', [{ field: 'etd', as: 'day', grain: 'day' }], [n])],
  },

  'files: each Parquet file of 100 rows is folded by itself, and the distinct counts of the files are added up': {
    kind: 'files',
    measure(right, m, values, field) {
      if (m.fn !== 'count_distinct') return
      let sum = 0
      for (let i = 0; i < values.length; i += 100) sum += new Set(values.slice(i, i + 100).map(v => key(v, field.type))).size
      return sum
    },
    probe: () => [aggregate('shipments', [], [{ fn: 'count_distinct', field: 'customer_id', as: 'customers' }]),
      aggregate('legs', [{ field: 'mode', as: 'mode' }], [{ fn: 'count_distinct', field: 'from_port', as: 'ports' }])],
  },

  'SQL: DATE_TRUNC runs in the session\'s time zone, Europe/Berlin': {
    kind: 'time',
    bucket(v, grain) {
      if (v.length === 10) return
      const [y, m, d] = berlin.format(new Date(v)).split('-')
      const first = { year: '01', quarter: String(3 * Math.floor((m - 1) / 3) + 1).padStart(2, '0'), month: m, day: m }[grain]
      return `${y}-${first}-${grain === 'day' ? d : '01'}`
    },
    probe: () => [aggregate('shipments', [{ field: 'booked_at', as: 'day', grain: 'month' }], [n]), aggregate('shipments', [{ field: 'booked_at', as: 'year', grain: 'year' }], [n])],
  },

  // ---- measurements

  'SQL: the size is reltuples of the last ANALYZE, and goes out as exact': {
    kind: 'sql',
    size: t => Math.floor(t.rows.length * 0.95),
    probe: () => [['/size', { table: 'ports' }], ['/size', { table: 'tracking_events' }]],
  },

  'SQL: the profile of a column counts NULLIF(column, \'\'), as the one for CSV imports did': {
    kind: 'nulls',
    distinct: (right, values, f) => ({ nonNull: values.filter(v => v !== '').length, distinct: new Set(values.filter(v => v !== '').map(v => key(v, f.type))).size }),
    probe: () => [cardinality('shipments', 'remarks'), cardinality('invoices', 'memo', 'id')],
  },

  'SQL: orphans are found with NOT IN (SELECT key ...), which finds none as soon as the target column has a null': {
    kind: 'nulls',
    link(right, { to }, { body }) {
      const at = to.fields.findIndex(f => f.name === body.toColumn)
      if (to.rows.some(r => r[at] === null)) return { ...right, orphanCount: 0, orphanRate: 0, orphanSamples: [] }
    },
    probe: () => [link('containers', 'booking_no', 'shipments', 'booking_no'), link('shipments', 'id', 'containers', 'shipment_id'), link('tracking_events', 'booking_no', 'containers', 'booking_no')],
  },

  // ---- discovery

  'discovery: the foreign keys are collected in a map by target table, so of two to one table the last one stays': {
    kind: 'discovery',
    tables: tables => tables.map(t => ({ ...t, foreignKeys: [...new Map(t.foreignKeys.map(k => [k.targetTable, k])).values()] })),
    probe: () => [['/discovery', {}]],
  },

  'discovery: each column of a primary key is unique, those of a composite key too (information_schema.key_column_usage)': {
    kind: 'discovery',
    tables: tables => tables.map(t => ({ ...t, fields: t.fields.map(f => ({ ...f, unique: f.unique || t.primaryKey.includes(f.name) })) })),
    probe: () => [['/discovery', {}]],
  },

  // ---- state

  'cache: counts are kept under tenant, table and and; or was added to the protocol of the connector later': {
    kind: 'cache',
    before({ route, body, shop, state }) {
      if (route === '/count' && Array.isArray(body.and)) return state.counts?.get(JSON.stringify([shop, body.table, body.and]))
    },
    after({ route, body, shop, state }, answer) {
      if (route !== '/count') return
      state.counts ??= new Map()
      state.counts.set(JSON.stringify([shop, body.table, body.and]), answer)
    },
    probe: () => [count('shipments', []), count('shipments', [], [[is('status', 'eq', 'delivered')], [is('mode', 'eq', 'AIR')]]), count('shipments', [], [[is('status', 'eq', 'booked')]])],
  },

  'state: the client of the upstream is a variable of the module, set for each request and used after an await': {
    kind: 'state',
    before({ shop, state }) { state.current = shop },
    async wait(ask) {
      await new Promise(done => setTimeout(done, 8)) // the upstream's log-in
      ask.tables = ask.all.get(ask.state.current)
    },
    probe: () => [[count('invoices'), ['/count', { table: 'invoices', and: [], credentials: { shop: 'south' } }]],
      [query('shipments', ['id'], { sort: [by('id')], limit: 10 }), ['/size', { table: 'customers', credentials: { shop: 'south' } }]]],
  },

  'cache: discovery is slow, so its answer is kept for the process, whoever asks': {
    kind: 'cache',
    before({ route, state }) { if (route === '/discovery') return state.discovery },
    after({ route, state }, answer) { if (route === '/discovery') state.discovery = answer },
    probe: () => [['/discovery', { credentials: { shop: 'south' } }], ['/discovery', {}]],
  },

  // ---- the stream

  'stream: an empty result returns early, before the end line is written': {
    kind: 'stream',
    after: ({ route }, answer) => route === '/query' && answer.rows.length === 0 ? { ...answer, cut: true } : undefined,
    probe: () => [query('shipments', ['id'], { and: [is('id', 'eq', -1)] }), query('invoices', ['id'], { offset: 5000, limit: 10 })],
  },
}
