// What goes wrong in connectors that are written by hand, over the tables of data.mjs.
import { match, numeric, text, key } from './semantics.mjs'

const sleep = ms => new Promise(done => setTimeout(done, ms))
const place = (t, name) => t.fields.findIndex(f => f.name === name)
const cut = (rows, from, limit) => rows.slice(from, limit === undefined ? undefined : from + limit)
const keeps = (row, list) => list.every(f => match(row[f.at], f, f.type))
const each = (where, change) => ({ and: change(where.and), or: where.or.map(change) })

// requests of the probes
const query = (table, fields, more = {}) => ['/query', { table, and: [], sort: [{ field: 'id', dir: 'asc' }], fields, ...more }]
const count = (table, and, more = {}) => ['/count', { table, and, ...more }]
const aggregate = (table, groupBy, measures, more = {}) => ['/aggregate', { table, and: [], groupBy, measures, limit: 1001, ...more }]
const hop = (fromTable, fromField, toTable, toField, field) =>
  ({ fromTable, fromField, toTable, toField, fields: [{ field, as: `${toTable}_${field}`, type: 'string' }] })
const south = ([route, body]) => [route, { ...body, credentials: { shop: 'south' } }]
const rows = [{ fn: 'count', as: 'n' }]

// like is the pattern of SQL with its wildcards and the backslash before one.
function like(pattern) {
  let source = ''
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i]
    if (c === '%') source += '.*'
    else if (c === '_') source += '.'
    else source += (c === '\\' && i + 1 < pattern.length ? pattern[++i] : c).replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
  }
  return new RegExp(`^${source}$`, 's')
}

const plain = s => s.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().trimEnd()
const vienna = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Vienna', year: 'numeric', month: '2-digit', day: '2-digit' })

export const faults = {
  'a falsy filter value is left out of the query string': {
    kind: 'rest',
    where: where => {
      const { and, or } = each(where, list => list.filter(f => !('value' in f) || f.value))
      return { and, or: or.filter(g => g.length > 0) }
    },
    probe: () => [count('customers', [{ field: 'vip', op: 'eq', value: false }]), count('products', [{ field: 'stock', op: 'gt', value: 0 }])],
  },

  'the values of a list are joined by commas and split again': {
    kind: 'rest',
    where: where => each(where, list => list.map(f => f.values
      ? { ...f, values: f.values.flatMap(v => typeof v === 'string' ? v.split(',') : [v]) } : f)),
    probe: () => [count('orders', [{ field: 'note', op: 'in', values: ['one,two', 'a_b'] }])],
  },

  'ranges that include their end overlap by a row': {
    kind: 'rest',
    window: (all, from, limit) => {
      const wanted = cut(all, from, limit), out = []
      for (let at = 0; at < wanted.length; at += 500) out.push(...wanted.slice(at, at + 501))
      return out.slice(0, limit)
    },
    probe: () => [query('orders', ['id'])],
  },

  'a page that the source refuses under load is taken as the end': {
    kind: 'rest',
    wait: async ask => {
      ask.state.flying = (ask.state.flying ?? 0) + 1
      ask.refused = ask.state.flying > 2
      await sleep(10)
      ask.state.flying--
    },
    window: (all, from, limit, ask) => ask.refused ? cut(all, from, limit).slice(0, 100) : undefined,
    probe: () => [[query('orders', ['id']), query('customers', ['id']), query('orders', ['id', 'note']), query('customers', ['id', 'name'])]],
  },

  'every sort key takes the direction of the first': {
    kind: 'rest',
    keys: (keys, t, ask) => keys.map((k, i) => i < ask.body.sort.length ? { ...k, dir: ask.body.sort[0].dir } : k),
    probe: () => [query('orders', ['id'], { sort: [{ field: 'status', dir: 'asc' }, { field: 'amount', dir: 'desc' }], limit: 20 })],
  },

  'the wildcards of LIKE are not escaped': {
    kind: 'sql',
    match: (v, f) => {
      if (typeof v !== 'string' || f.value === null || !['includes', 'startswith'].includes(f.op)) return undefined
      f.like ??= like(`${f.op === 'includes' ? '%' : ''}${text(f.value)}%`)
      return f.like.test(v)
    },
    probe: () => [count('orders', [{ field: 'note', op: 'includes', value: 'a_b' }]), count('orders', [{ field: 'note', op: 'startswith', value: 'C:\\' }])],
  },

  'the OR groups have no brackets around them': {
    kind: 'sql',
    selected: (kept, { and, or }, t) => or.length < 2 ? undefined
      : t.rows.filter(row => or.some((g, i) => i === 0 ? keeps(row, and) && keeps(row, g) : keeps(row, g))),
    probe: () => [count('orders', [{ field: 'qty', op: 'gt', value: 6 }],
      { or: [[{ field: 'status', op: 'eq', value: 'open' }], [{ field: 'region', op: 'eq', value: 'east' }]] })],
  },

  'nulls come first when the order descends': {
    kind: 'sql',
    compare: (x, y, k) => k.dir === 'desc' && (x === null) !== (y === null) ? (x === null ? -1 : 1) : undefined,
    probe: () => [query('customers', ['id', 'balance'], { sort: [{ field: 'balance', dir: 'desc' }], limit: 10 })],
  },

  'distinct texts are counted under a collation without case and accents': {
    kind: 'sql',
    distinct: (right, values, field) => field.type === 'string' ? { ...right, distinct: new Set(values.map(plain)).size } : undefined,
    group: (v, field) => field.type === 'string' && v !== null ? `=${plain(v)}` : undefined,
    measure: (right, m, values, field) => m.fn === 'count_distinct' && field.type === 'string' ? new Set(values.map(plain)).size : undefined,
    probe: () => [['/cardinality', { table: 'products', columns: ['title', 'sku'] }], aggregate('orders', [{ field: 'region', as: 'r' }], rows)],
  },

  'a left join counts null keys among the orphans': {
    kind: 'sql',
    link: (right, { values, from }) => {
      const orphanCount = right.orphanCount + from.rows.length - values.length
      return { ...right, orphanCount, orphanRate: values.length ? orphanCount / values.length : 0 }
    },
    probe: () => [['/linkHitRate', { fromTable: 'orders', fromColumn: 'customer_id', toTable: 'customers', toColumn: 'id' }]],
  },

  'texts above 256 characters are not in the index': {
    kind: 'search',
    match: (v, f) => typeof v === 'string' && v.length > 256 ? match(null, f, f.type) : undefined,
    probe: () => [count('orders', [{ field: 'note', op: 'notnull' }])],
  },

  'a terms aggregation returns its default of ten groups': {
    kind: 'search',
    selected: (kept, where, t, ask) => { ask.kept = kept },
    groups: (answer, t, ask) => {
      const [g, second] = ask.body.groupBy
      if (!g || second || g.grain) return undefined
      const at = place(t, g.field), { type } = t.fields[at]
      const size = new Map()
      for (const row of ask.kept) size.set(key(row[at], type), (size.get(key(row[at], type)) ?? 0) + 1)
      const of = out => size.get(key(out[g.as], type))
      return [...answer].sort((a, b) => of(b) - of(a)).slice(0, 10)
    },
    probe: () => [aggregate('orders', [{ field: 'qty', as: 'q' }], rows)],
  },

  'the second filter on a field overwrites the first': {
    kind: 'document',
    where: where => each(where, list => [...new Map(list.map(f => [f.field, f])).values()]),
    probe: () => [count('orders', [{ field: 'qty', op: 'gte', value: 4 }, { field: 'qty', op: 'lt', value: 9 }])],
  },

  'min and max of decimals that are stored as text': {
    kind: 'document',
    measure: (right, m, values, field) => {
      if (!['min', 'max'].includes(m.fn) || field.type !== 'decimal' || values.length === 0) return undefined
      const sorted = [...values].sort()
      return m.fn === 'min' ? sorted[0] : sorted.at(-1)
    },
    probe: () => [aggregate('orders', [{ field: 'status', as: 's' }], [{ fn: 'min', field: 'amount', as: 'least' }, { fn: 'max', field: 'amount', as: 'most' }])],
  },

  'the size is the number of lines of the file': {
    kind: 'files',
    size: t => t.rows.length + t.rows.flat().reduce((n, v) => n + (typeof v === 'string' ? v.split('\n').length - 1 : 0), 0),
    probe: () => [['/size', { table: 'orders' }]],
  },

  'groups whose key is null are dropped as a data frame does': {
    kind: 'files',
    groups: (answer, t, ask) => answer.filter(out => ask.body.groupBy.every(g => out[g.as] !== null)),
    probe: () => [aggregate('orders', [{ field: 'region', as: 'r' }], rows)],
  },

  'a date is read as local midnight and spelt in UTC': {
    kind: 'orm',
    cell: (v, field) => field.type === 'date' && v !== null ? new Date(Date.parse(v) - 3600e3).toISOString().slice(0, 10) : v,
    probe: () => [query('customers', ['id', 'birthday'], { limit: 20 })],
  },

  'a nested include is an inner join': {
    kind: 'orm',
    window: (all, from, limit, ask) => {
      const nested = (ask.body.joins ?? []).filter(h => h.fromTable !== ask.body.table)
      return nested.length ? cut(all.filter(parts => nested.every(h => parts[h.toTable] !== null)), from, limit) : undefined
    },
    probe: () => [query('items', ['order_id', 'line'], {
      sort: [{ field: 'order_id', dir: 'asc' }],
      joins: [hop('items', 'order_id', 'orders', 'id', 'status'), hop('orders', 'customer_id', 'customers', 'id', 'name')],
    })],
  },

  'an offset is turned into the number of a page': {
    kind: 'paging',
    window: (all, from, limit) => limit === undefined ? undefined : cut(all, Math.floor(from / limit) * limit, limit),
    probe: () => [query('orders', ['id'], { offset: 15, limit: 10 })],
  },

  'the cursor is the sort value alone and skips its ties': {
    kind: 'paging',
    window: (all, from, limit, ask) => {
      const { table, sort, joins } = ask.body
      if (sort.length === 0 || joins?.length) return undefined
      const at = place(ask.tables.get(table), sort[0].field)
      const value = i => all[i][table][at]
      const out = []
      for (let i = 0; i < all.length;) {
        out.push(...all.slice(i, i + 200))
        i = Math.min(i + 200, all.length)
        const last = value(i - 1)
        if (last === null) break
        while (i < all.length && value(i) === last) i++
      }
      return cut(out, from, limit)
    },
    probe: () => [query('orders', ['id', 'qty'], { sort: [{ field: 'qty', dir: 'asc' }] })],
  },

  'the limit is taken before the filter that the connector does itself': {
    kind: 'paging',
    where: (where, t, ask) => {
      if (ask.route !== '/query' || ask.body.limit === undefined) return undefined
      ask.late = where.and.filter(f => f.op === 'includes')
      return { ...where, and: where.and.filter(f => f.op !== 'includes') }
    },
    window: (all, from, limit, ask) => ask.late?.length ? cut(all, from, limit).filter(parts => keeps(parts[ask.body.table], ask.late)) : undefined,
    probe: () => [query('orders', ['id', 'note'], { and: [{ field: 'note', op: 'includes', value: 'wrap' }], limit: 10 })],
  },

  'counts are cached without the or part of the question': {
    kind: 'caching',
    count: (n, t, ask) => {
      const counts = ask.state.counts ??= new Map()
      const k = JSON.stringify([ask.shop, t.name, ask.body.and])
      if (!counts.has(k)) counts.set(k, n)
      return counts.get(k)
    },
    probe: () => [count('orders', []), count('orders', [], { or: [[{ field: 'status', op: 'eq', value: 'open' }]] })],
  },

  'the cardinality of a column is cached by its name without the table': {
    kind: 'caching',
    distinct: (right, values, field, t, ask) => {
      const known = ask.state.known ??= new Map()
      const k = `${ask.shop}.${field.name}`
      if (!known.has(k)) known.set(k, right)
      return known.get(k)
    },
    probe: () => [['/cardinality', { table: 'orders', columns: ['qty'] }], ['/cardinality', { table: 'items', columns: ['qty'] }]],
  },

  'the limit counts the parents and not the joined rows': {
    kind: 'joins',
    window: (all, from, limit, ask) => {
      if (!ask.body.joins?.length) return undefined
      const parents = new Set(cut([...new Set(all.map(parts => parts[ask.body.table]))], from, limit))
      return all.filter(parts => parents.has(parts[ask.body.table]))
    },
    probe: () => [query('orders', ['id'], { joins: [hop('orders', 'id', 'items', 'order_id', 'line')], limit: 20 })],
  },

  'the lookup map of a join keeps the last row of a key': {
    kind: 'joins',
    joined: found => found.slice(-1),
    probe: () => [query('orders', ['id'], { joins: [hop('orders', 'id', 'items', 'order_id', 'line')], limit: 20 })],
  },

  'the link rate is measured over a join that repeats its rows': {
    kind: 'joins',
    link: (right, { values, from, to }, ask) => {
      const fromField = from.fields[place(from, ask.body.fromColumn)], at = place(to, ask.body.toColumn)
      const type = numeric(fromField.type) && numeric(to.fields[at].type) ? 'number' : 'string'
      const times = new Map()
      for (const row of to.rows) times.set(key(row[at], type), (times.get(key(row[at], type)) ?? 0) + 1)
      const fromNonNull = values.reduce((n, v) => n + (times.get(key(v, type)) ?? 1), 0)
      return { ...right, fromNonNull, orphanRate: fromNonNull ? right.orphanCount / fromNonNull : 0 }
    },
    probe: () => [['/linkHitRate', { fromTable: 'orders', fromColumn: 'id', toTable: 'items', toColumn: 'order_id' }]],
  },

  'a sum is made of doubles and rounded to its digits': {
    kind: 'aggregates',
    measure: (right, m, values) => {
      if (m.fn !== 'sum' || values.length === 0) return undefined
      const scale = Math.max(...values.map(v => (text(v).split('.')[1] ?? '').length))
      return values.reduce((total, v) => total + Number(v), 0).toFixed(scale)
    },
    probe: () => [aggregate('orders', [{ field: 'status', as: 's' }], [{ fn: 'sum', field: 'trace', as: 'total' }])],
  },

  'dates are bucketed in the time zone of the server': {
    kind: 'aggregates',
    bucket: (v, grain) => {
      if (v.length === 10) return undefined
      const [y, m, d] = vienna.format(new Date(v)).split('-')
      if (grain === 'year') return `${y}-01-01`
      if (grain === 'quarter') return `${y}-${String(m - (m - 1) % 3).padStart(2, '0')}-01`
      return `${y}-${m}-${grain === 'month' ? '01' : d}`
    },
    probe: () => [aggregate('customers', [{ field: 'created_at', as: 'y', grain: 'year' }], rows)],
  },

  'each column of a composite key is declared unique': {
    kind: 'discovery',
    tables: tables => tables.map(t => ({ ...t, fields: t.fields.map(f => ({ ...f, unique: f.unique || t.primaryKey.includes(f.name) })) })),
    probe: () => [['/discovery', {}]],
  },

  'whether a field is nullable is read from the first ten rows': {
    kind: 'discovery',
    tables: (tables, ask) => tables.map(t => ({
      ...t, fields: t.fields.map((f, at) => ({ ...f, nullable: ask.tables.get(t.name).rows.slice(0, 10).some(row => row[at] === null) })),
    })),
    probe: () => [['/discovery', {}]],
  },

  'the current tenant is a variable of the module': {
    kind: 'tenants',
    before: ask => { ask.state.current = ask.shop },
    wait: async ask => {
      await sleep(5)
      ask.tables = ask.all.get(ask.state.current)
    },
    probe: () => [[query('customers', ['id', 'name'], { limit: 5 }), south(query('customers', ['id', 'name'], { limit: 5 }))]],
  },

  'the catalogue is cached without its tenant': {
    kind: 'tenants',
    tables: (tables, ask) => ask.state.catalogue ??= tables,
    probe: () => [south(['/discovery', {}]), ['/discovery', {}]],
  },
}
