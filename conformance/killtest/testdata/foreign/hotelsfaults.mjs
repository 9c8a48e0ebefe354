// Faults over the tables of a chain of hotels: each is the shop with one thing wrong in it.
import * as semantics from './semantics.mjs'

const query = (table, fields, more = {}) => ['/query', { table, and: [], sort: [], fields, ...more }]
const count = (table, and, more = {}) => ['/count', { table, and, ...more }]
const aggregate = (table, groupBy, measures, more = {}) => ['/aggregate', { table, and: [], groupBy, measures, limit: 1001, ...more }]
const filter = (field, op, value) => ({ field, op, value })
const column = (shops, table, field, shop = 'north') => {
  const t = shops.get(shop).get(table)
  return t.rows.map(r => r[t.fields.findIndex(f => f.name === field)])
}
const hop = (fromTable, fromField, toTable, toField, fields) => ({ fromTable, fromField, toTable, toField, fields: fields.map(([field, type, as]) => ({ field, type, as })) })
const sleep = ms => new Promise(done => setTimeout(done, ms))

// codes tells whether a column of text holds nothing but digits.
const seen = new WeakMap()
const codes = (t, name) => {
  if (!seen.has(t)) {
    seen.set(t, new Set(t.fields.filter((f, at) => f.type === 'string' && t.rows.every(r => r[at] === null || /^\d+$/.test(r[at]))).map(f => f.name)))
  }
  return seen.get(t).has(name)
}

export const faults = {
  // --- filters

  'nin becomes NOT IN': {
    kind: 'sql',
    match(cell, f) { if (f.op === 'nin' && cell === null && f.values.some(v => v !== null)) return false },
    probe: () => [count('bookings', [{ field: 'channel', op: 'nin', values: ['expedia', 'phone'] }])],
  },

  'in sends the first fifty ids only': {
    kind: 'rest',
    match(cell, f, t, right) {
      if (f.op !== 'in' || f.values.length <= 50) return
      return right && f.values.slice(0, 50).some(v => v !== null && semantics.compare(cell, v, t.fields[f.at].type) === 0)
    },
    probe: shops => [query('guests', ['guest_id'], { and: [{ field: 'guest_id', op: 'in', values: column(shops, 'guests', 'guest_id').slice(0, 90) }] })],
  },

  'startswith and includes leave _ and % to LIKE': {
    kind: 'sql',
    match(cell, f) {
      if (!['startswith', 'includes'].includes(f.op) || cell === null || f.value === null) return
      const pattern = semantics.text(f.value).replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/_/g, '[^]').replace(/%/g, '[^]*')
      return new RegExp((f.op === 'startswith' ? '^' : '') + pattern, 'u').test(semantics.text(cell))
    },
    probe: () => [count('charges', [filter('kind', 'startswith', 'mini_')]), count('bookings', [filter('remark', 'includes', 'non_s')])],
  },

  'contains searches the JSON text of the array': {
    kind: 'orm',
    match(cell, f, t) { if (f.op === 'contains' && cell !== null && f.value !== null && t.fields[f.at].type === 'array') return cell.includes(semantics.text(f.value)) },
    probe: () => [count('properties', [filter('amenities', 'contains', 'bar')]), count('rooms', [filter('features', 'contains', 'view')])],
  },

  'a day compared with a timestamp casts the column to a day': {
    kind: 'warehouse',
    match(cell, f, t) {
      if (cell === null || t.fields[f.at].type !== 'datetime' || !/^\d{4}-\d\d-\d\d$/.test(String(f.value))) return
      const c = semantics.compare(cell.slice(0, 10), f.value, 'date')
      return { eq: c === 0, neq: c !== 0, gt: c > 0, gte: c >= 0, lt: c < 0, lte: c <= 0 }[f.op]
    },
    probe: shops => {
      const some = column(shops, 'payments', 'paid_at')[7].slice(0, 10)
      return [count('payments', [filter('paid_at', 'lte', some)]), count('payments', [filter('paid_at', 'gt', some)])]
    },
  },

  'conditions are kept in an object by field': {
    kind: 'rest',
    where(where) { return { ...where, and: [...new Map(where.and.map(f => [f.field, f])).values()] } },
    probe: () => [count('bookings', [filter('arrival', 'gte', '2023-06-01'), filter('arrival', 'lt', '2023-09-01')])],
  },

  'the groups of or are flattened': {
    kind: 'graphql',
    where(where) { return where.or.some(g => g.length === 0) ? where : { ...where, or: where.or.flat().map(f => [f]) } },
    probe: () => [count('bookings', [], { or: [[filter('status', 'eq', 'cancelled'), filter('adults', 'gte', 3)], [filter('status', 'eq', 'no_show')]] })],
  },

  'ranges of decimals go to a keyword field': {
    kind: 'search',
    match(cell, f, t) {
      if (cell === null || f.value === null || t.fields[f.at].type !== 'decimal') return
      const c = semantics.bytes(cell, semantics.text(f.value))
      return { gt: c > 0, gte: c >= 0, lt: c < 0, lte: c <= 0 }[f.op]
    },
    probe: () => [count('bookings', [filter('total', 'gte', '500')]), count('rates', [filter('amount', 'lt', 1000)])],
  },

  'a filter on a field that is not in the mapping is skipped': {
    kind: 'rest',
    before({ body, tables }) {
      const fields = tables.get(body.table)?.fields
      if (!fields || !Array.isArray(body.and)) return
      body.and = body.and.filter(f => typeof f?.field !== 'string' || fields.some(x => x.name === f.field))
    },
    probe: () => [query('guests', ['guest_id'], { and: [filter('segment', 'eq', 'corporate')] }), count('guests', [filter('segment', 'eq', 'corporate')])],
  },

  'the count endpoint of the vendor is not given the or': {
    kind: 'rest',
    where(where, t, { route }) { if (route === '/count') return { ...where, or: [] } },
    probe: () => [count('charges', [], { or: [[filter('kind', 'eq', 'spa')], [filter('kind', 'eq', 'parking')]] })],
  },

  // --- values

  'big ids pass through a double': {
    kind: 'numbers',
    cell(v, field) { return field.type === 'number' && typeof v === 'string' ? String(BigInt(Number(v))) : v },
    probe: () => [query('bookings', ['channel_msg_id'])],
  },

  'a date is made at local midnight and printed in UTC': {
    kind: 'time',
    cell(v, field) { return field.type === 'date' && v !== null ? new Date(Date.parse(v) - 36e5).toISOString().slice(0, 10) : v },
    probe: () => [query('bookings', ['booking_id', 'arrival'])],
  },

  'the reader of CSV takes codes of digits for numbers': {
    kind: 'files',
    cell(v, field, t) { return v !== null && codes(t, field.name) ? Number(v) : v },
    tables(tables, { tables: all }) {
      return tables.map(t => ({ ...t, fields: t.fields.map(f => codes(all.get(t.name), f.name) ? { ...f, type: 'number', samples: f.samples.map(Number) } : f) }))
    },
    probe: () => [['/discovery', {}], query('properties', ['code', 'name']), query('payments', ['auth_code'])],
  },

  'a flag that was never set reads false': {
    kind: 'grpc',
    cell(v, field) { return field.type === 'boolean' ? v ?? false : v },
    probe: () => [query('guests', ['guest_id', 'marketing_consent'])],
  },

  // --- order and window

  'nulls first when descending': {
    kind: 'orm',
    compare(a, b, k) { if (k.dir === 'desc' && (a === null) !== (b === null)) return a === null ? -1 : 1 },
    probe: () => [query('bookings', ['booking_id', 'total'], { sort: [{ field: 'total', dir: 'desc' }], limit: 20 })],
  },

  'an enum sorts in the order of its declaration': {
    kind: 'sql',
    compare(a, b, k) {
      const list = { status: ['inquiry', 'confirmed', 'checked_in', 'checked_out', 'no_show', 'cancelled'], tier: ['bronze', 'silver', 'gold', 'platinum'],
        task: ['stayover', 'departure', 'turndown', 'deep_clean', 'inspection'] }[k.field]
      if (list && a !== null && b !== null) return (k.dir === 'desc' ? -1 : 1) * (list.indexOf(a) - list.indexOf(b))
    },
    probe: () => [query('guests', ['guest_id', 'tier'], { sort: [{ field: 'tier', dir: 'asc' }] })],
  },

  'offset becomes a page number': {
    kind: 'paging',
    window(rows, from, limit) {
      if (limit === undefined) return
      const page = Math.floor(from / limit)
      return rows.slice(page * limit, (page + 1) * limit)
    },
    probe: () => [query('charges', ['charge_id'], { sort: [{ field: 'charge_id', dir: 'asc' }], limit: 50, offset: 75 })],
  },

  'only one page of the upstream is read': {
    kind: 'limits',
    window(rows, from, limit) { return rows.slice(from, from + Math.min(limit ?? 500, 500)) },
    probe: () => [query('charges', ['charge_id'])],
  },

  'the limit goes upstream, the filters stay here': {
    kind: 'paging',
    window(rows, from, limit, { body, tables }) {
      if (limit === undefined || body.and.length + (body.or?.length ?? 0) === 0) return
      const page = new Set(tables.get(body.table).rows.slice(from, from + limit))
      return rows.filter(r => page.has(r[body.table]))
    },
    probe: () => [query('housekeeping', ['room_no', 'task'], { and: [filter('task', 'eq', 'inspection')], limit: 30 })],
  },

  // --- joins

  'hops are inner joins': {
    kind: 'orm',
    window(rows, from, limit, { body }) {
      if (!body.joins?.length) return
      return rows.filter(r => Object.values(r).every(part => part !== null)).slice(from, limit === undefined ? undefined : from + limit)
    },
    probe: () => [query('bookings', ['booking_id'], { joins: [hop('bookings', 'guest_id', 'guests', 'guest_id', [['full_name', 'string', 'guest']])] })],
  },

  'a data loader keeps one row for a key': {
    kind: 'graphql',
    joined(found) { return found.slice(-1) },
    probe: () => [query('properties', ['code'], { joins: [hop('properties', 'code', 'rates', 'property_code', [['rate_code', 'string', 'rate'], ['amount', 'decimal', 'amount']])] })],
  },

  // --- aggregates

  'min and max of instants are milliseconds': {
    kind: 'search',
    measure(right, m, values, field) { if (['min', 'max'].includes(m.fn) && field.type === 'datetime' && right !== null) return Date.parse(right) },
    probe: () => [aggregate('bookings', [], [{ fn: 'max', field: 'booked_at', as: 'last' }])],
  },

  'sum adds doubles': {
    kind: 'numbers',
    measure(right, m, values) { if (m.fn === 'sum' && values.length) return String(values.reduce((n, v) => n + Number(v), 0)) },
    probe: () => [aggregate('charges', [{ field: 'kind', as: 'kind' }], [{ fn: 'sum', field: 'net_amount', as: 'net' }])],
  },

  'the ten largest buckets': {
    kind: 'limits',
    groups(rows, t, { body }) {
      if (body.groupBy.length === 0 || rows.length <= 10) return
      const n = body.measures.find(m => m.fn === 'count')?.as
      return (n === undefined ? rows : [...rows].sort((a, b) => b[n] - a[n])).slice(0, 10)
    },
    probe: () => [aggregate('bookings', [{ field: 'property_code', as: 'house' }], [{ fn: 'count', as: 'n' }])],
  },

  'group-by of data frames drops missing keys': {
    kind: 'parquet',
    groups(rows, t, { body }) { return rows.filter(r => body.groupBy.every(g => r[g.as] !== null)) },
    probe: () => [aggregate('bookings', [{ field: 'channel', as: 'channel' }], [{ fn: 'count', as: 'n' }])],
  },

  'periods begin in the time zone of head office': {
    kind: 'time',
    bucket(v, grain) {
      if (v.length === 10) return
      const local = new Date(v).toLocaleDateString('sv-SE', { timeZone: 'Europe/Berlin' })
      const [y, m] = local.split('-')
      return { year: `${y}-01-01`, quarter: `${y}-${String(3 * Math.floor((m - 1) / 3) + 1).padStart(2, '0')}-01`, month: `${y}-${m}-01`, day: local }[grain]
    },
    probe: () => ['month', 'day'].map(grain => aggregate('bookings', [{ field: 'booked_at', as: 'p', grain }], [{ fn: 'count', as: 'n' }], { and: [filter('booked_at', 'gte', '2023-06-01'), filter('booked_at', 'lt', '2024-06-01')] })),
  },

  // --- measurements

  'missing counts as one distinct value': {
    kind: 'parquet',
    distinct(right, values, field, t) { return { nonNull: right.nonNull, distinct: right.distinct + (values.length < t.rows.length ? 1 : 0) } },
    probe: () => [['/cardinality', { table: 'guests', columns: ['tier', 'loyalty_no', 'guest_id'] }]],
  },

  'orphans are counted by value': {
    kind: 'warehouse',
    link(right, { orphans }) {
      const orphanCount = new Set(orphans.map(semantics.text)).size
      return { ...right, orphanCount, orphanRate: right.fromNonNull ? orphanCount / right.fromNonNull : 0 }
    },
    probe: () => [['/linkHitRate', { fromTable: 'housekeeping', fromColumn: 'booking_ref', toTable: 'bookings', toColumn: 'ref' }],
      ['/linkHitRate', { fromTable: 'bookings', fromColumn: 'guest_id', toTable: 'payments', toColumn: 'booking_id' }]],
  },

  'the size is a statistic of the last ANALYZE': {
    kind: 'sql',
    size(t) { return Math.floor(t.rows.length * 0.97) },
    probe: () => [['/size', { table: 'bookings' }]],
  },

  // --- state

  'measurements are cached by what was asked, not by who asked': {
    kind: 'cache',
    before({ route, body, state }) {
      if (!['/size', '/cardinality', '/linkHitRate'].includes(route)) return
      const { credentials, timeoutMs, ...asked } = body
      return state.measured?.get(route + JSON.stringify(asked))
    },
    after({ route, body, state }, answer) {
      if (!['/size', '/cardinality', '/linkHitRate'].includes(route)) return
      const { credentials, timeoutMs, ...asked } = body
      state.measured ??= new Map()
      state.measured.set(route + JSON.stringify(asked), answer)
    },
    probe: () => ['north', 'south'].map(shop => ['/cardinality', { table: 'guests', columns: ['full_name', 'email', 'loyalty_no'], credentials: { shop } }]),
  },

  'the shared client is told the tenant, then awaits': {
    kind: 'state',
    async wait(ask) {
      if (!['/query', '/count'].includes(ask.route)) return
      ask.state.tenant = ask.shop
      await sleep(15) // the upstream's session is opened
      ask.tables = ask.all.get(ask.state.tenant)
    },
    probe: () => [['north', 'south'].map(shop => query('guests', ['guest_id', 'full_name'], { limit: 20, credentials: { shop } }))],
  },

  // --- discovery

  'unique is guessed from the first rows': {
    kind: 'files',
    tables(tables, { tables: all }) {
      return tables.map(t => ({
        ...t, fields: t.fields.map((f, at) => {
          const head = all.get(t.name).rows.slice(0, 20).map(r => r[at])
          return { ...f, unique: f.unique || !f.nullable && new Set(head).size === head.length }
        }),
      }))
    },
    probe: () => [['/discovery', {}]],
  },
}
