// What authors of connectors get wrong. Each fault hooks into one place of shop.mjs and
// changes the answer to its probe; all are visible from outside, because some answer
// contradicts the rows that the same connector serves.
//
// The halves are for whoever changes the conformance program: look at "open" while you
// do, and at "closed" when you are done. Those of the third group, "new", were written after
// the last change of what is asked.
import * as semantics from './semantics.mjs'

const { text, bytes, compare, key, numeric } = semantics

// --- probes

const everything = {
  customers: ['id', 'name', 'email', 'country', 'code', 'vip', 'created_at', 'balance', 'tags', 'birthday'],
  orders: ['id', 'customer_id', 'status', 'amount', 'qty', 'price', 'placed_at', 'note', 'region', 'trace'],
  products: ['sku', 'title', 'price', 'stock', 'active', 'meta'],
  items: ['order_id', 'line', 'sku', 'qty', 'price'],
  events: ['at', 'kind', 'customer_code', 'ms', 'due'],
}
const query = (table, more = {}) => () => [['/query', { table, and: [], sort: [], fields: everything[table] ?? ['id', 'label', 'rank', 'active'], ...more }]]
const where = (table, ...and) => query(table, { and })
const is = (field, op, value) => ({ field, op, value })
const each = (table, field, make) => shops => {
  const t = shops.get('north').get(table)
  const at = t.fields.findIndex(f => f.name === field)
  return [...new Set(t.rows.map(r => r[at]).filter(v => v !== null))].slice(0, 60).map(v => ['/query', { table, and: [make(v)].flat(), sort: [], fields: [field] }])
}
const grouped = (table, field, grain, ...measures) => () => [['/aggregate', {
  table, and: [], groupBy: field ? [{ field, as: 'g', ...(grain ? { grain } : {}) }] : [],
  measures: measures.length ? measures : [{ fn: 'count', as: 'n' }], limit: 1001,
}]]
const hop = (fromTable, fromField, toTable, toField, ...fields) => ({
  fromTable, fromField, toTable, toField, fields: fields.map(f => ({ field: f, as: `j_${f}`, type: 'string' })),
})
const ordersOfCustomers = query('orders', { fields: ['id'], joins: [hop('orders', 'customer_id', 'customers', 'id', 'name')] })
const count = (table, ...and) => ['/count', { table, and }]
const size = table => ['/size', { table }]

// --- ways to be wrong

const on = (column, f) => (cell, filter, t, right, row, ask) => `${t.name}.${filter.field}` === column ? f(cell, filter, right, row, ask) : undefined
const lower = v => typeof v === 'string' ? v.toLowerCase() : v
const again = (cell, f, change) => semantics.match(change(cell), { ...f, ...('value' in f ? { value: change(f.value) } : {}), ...(f.values ? { values: f.values.map(change) } : {}) }, 'string')
const ignoring = (column, op) => ({ where: (w, t) => ({ ...w, and: w.and.filter(f => `${t.name}.${f.field}` !== column || f.op !== op) }) })
const hours = (v, n) => typeof v === 'string' && v.length > 10 ? new Date(Date.parse(v) + n * 3600e3).toISOString() : v
const later = ms => new Promise(done => setTimeout(done, ms))

export const faults = Object.fromEntries([
  // REST habits
  ['open is a status that the API pages on its own', 'rest', {
    match: on('orders.status', (cell, f, right, row) => f.op === 'eq' && f.value === 'paid' && right ? row[0] % 5 !== 0 : undefined),
    probe: where('orders', is('status', 'eq', 'paid')),
  }],
  ['an enum value that the API does not know answers all', 'rest', {
    match: on('customers.country', (cell, f) => f.op === 'eq' && !['DE', 'AT', 'CH', 'FR', 'de'].includes(f.value) ? true : undefined),
    probe: where('customers', is('country', 'eq', 'XX')),
  }],
  ['a plus in an operand becomes a blank', 'rest', {
    match: on('orders.note', (cell, f) => 'value' in f && typeof f.value === 'string' && f.value.includes('+') ? semantics.match(cell, { ...f, value: f.value.replaceAll('+', ' ') }, 'string') : undefined),
    probe: where('orders', is('note', 'eq', 'a+b & c')),
  }],
  ['an operand ends at an ampersand', 'rest', {
    match: on('orders.note', (cell, f) => 'value' in f && typeof f.value === 'string' && f.value.includes('&') ? semantics.match(cell, { ...f, value: f.value.split('&')[0] }, 'string') : undefined),
    probe: where('orders', is('note', 'eq', 'a+b & c')),
  }],
  ['of in only ten values are sent', 'rest', {
    match: on('customers.code', (cell, f) => f.op === 'in' && f.values.length > 10 ? semantics.match(cell, { ...f, values: f.values.slice(0, 10) }, 'string') : undefined),
    probe: shops => [['/query', { table: 'customers', sort: [], fields: ['id'], and: [{ field: 'code', op: 'in', values: [...shops.get('north').get('customers').rows].slice(0, 14).map(r => r[4]) }] }]],
  }],
  ['a search finds words, not parts of words', 'rest', {
    match: on('customers.name', (cell, f) => f.op === 'includes' && cell !== null ? cell.split(' ').includes(f.value) || cell === f.value || f.value === '' : undefined),
    probe: where('customers', is('name', 'includes', 'ria')),
  }],
  ['a list of pages ends at the page of the limit', 'rest', {
    window: (rows, offset, limit) => limit !== undefined && offset > 0 && offset % limit !== 0 ? rows.slice(Math.floor(offset / limit) * limit, Math.floor(offset / limit) * limit + limit) : undefined,
    probe: query('orders', { sort: [{ field: 'id', dir: 'asc' }], limit: 7, offset: 10 }),
  }],
  ['an offset beyond 500 is taken as 500', 'rest', {
    window: (rows, offset, limit) => offset > 500 ? rows.slice(500, limit === undefined ? undefined : 500 + limit) : undefined,
    probe: query('orders', { limit: 10, offset: 900 }),
  }],
  ['a limit above 1000 is cut to 1000', 'rest', {
    window: (rows, offset, limit) => limit > 1000 ? rows.slice(offset, offset + 1000) : undefined,
    probe: query('orders', { limit: 1200 }),
  }],
  ['the count is the total without filters', 'rest', {
    count: (n, t, ask) => (ask.body.or ?? []).length ? t.rows.length : n,
    probe: () => [['/count', { table: 'orders', and: [], or: [[is('status', 'eq', 'paid')], [is('status', 'eq', 'open')]] }]],
  }],
  ['the next page is cached by its path', 'rest', {
    after: (ask, answer) => {
      if (ask.route !== '/size' || ask.body.table !== 'customers') return answer
      return ask.state.size ??= answer
    },
    probe: () => [['/size', { table: 'customers', credentials: { shop: 'south' } }], size('customers')],
  }],
  ['link rates are cached for the first tenant', 'rest', {
    after: (ask, answer) => {
      if (ask.route !== '/linkHitRate') return answer
      const k = JSON.stringify([ask.body.fromTable, ask.body.fromColumn, ask.body.toTable, ask.body.toColumn])
      ask.state.links ??= {}
      return ask.state.links[k] ??= answer
    },
    probe: () => ['south', 'north'].map(shop => ['/linkHitRate', { fromTable: 'orders', fromColumn: 'customer_id', toTable: 'customers', toColumn: 'id', credentials: { shop } }]),
  }],
  ['aggregates are cached by table and groups', 'rest', {
    after: (ask, answer) => {
      if (ask.route !== '/aggregate') return answer
      const k = JSON.stringify([ask.shop, ask.body.table, ask.body.groupBy, ask.body.measures])
      ask.state.groups ??= {}
      return ask.state.groups[k] ??= answer
    },
    probe: () => [[], [is('status', 'eq', 'paid')]].map(and => ['/aggregate', { table: 'orders', and, groupBy: [], measures: [{ fn: 'count', as: 'n' }], limit: 1001 }]),
  }],
  ['two requests at once share their filters', 'rest', {
    wait: async ask => {
      if (ask.route !== '/query') return
      const before = ask.state.latest
      ask.state.latest = ask.body.and
      ask.state.inside = (ask.state.inside ?? 0) + 1
      await later(3)
      ask.state.inside--
      if (ask.state.latest !== ask.body.and && ask.body.table === 'customers') ask.body = { ...ask.body, and: ask.state.latest.filter(f => everything.customers.includes(f.field)) }
      void before
    },
    probe: null,
  }],
  ['an updated list is served from an hour ago', 'rest', {
    rows: (rows, ask, t) => t.name === 'events' && ask.body.and.length > 0 ? rows.slice(0, -1) : rows,
    probe: where('events', is('kind', 'eq', 'login')),
  }],
  ['a boolean filter sends the text of the value', 'rest', {
    match: on('products.active', (cell, f) => f.op === 'eq' && f.value === false ? cell !== null : undefined), // 'false' is truthy
    probe: where('products', is('active', 'eq', false)),
  }],
  ['an unknown number is sent as zero', 'rest', {
    cell: (v, f, t) => t.name === 'products' && f.name === 'stock' && v === null ? 0 : v,
    probe: query('products'),
  }],
  ['a missing date is the epoch', 'rest', {
    cell: (v, f, t) => t.name === 'customers' && f.name === 'birthday' && v === null ? '1970-01-01' : v,
    probe: query('customers'),
  }],
  ['instants lose their milliseconds on the way out', 'rest', {
    cell: (v, f, t) => t.name === 'orders' && f.name === 'placed_at' ? v.replace(/\.\d+Z/, '.000Z') : v,
    probe: query('orders'),
  }],
  ['large numbers pass through a float', 'rest', {
    cell: (v, f, t) => t.name === 'orders' && f.name === 'trace' ? String(BigInt(Number(v))) : v,
    probe: query('orders'),
  }],
  // SQL habits
  ['a prefix is a LIKE without escapes', 'sql', {
    match: on('orders.note', (cell, f) => f.op === 'startswith' && cell !== null && typeof f.value === 'string' ? like(cell, `${f.value}%`) : undefined),
    probe: where('orders', is('note', 'startswith', 'a_')),
  }],
  ['a part is a LIKE where a backslash escapes', 'sql', {
    match: on('orders.note', (cell, f) => f.op === 'includes' && cell !== null && typeof f.value === 'string' ? like(cell, `%${f.value.replace(/[%_]/g, '\\$&')}%`) : undefined),
    probe: where('orders', is('note', 'includes', 'C:\\t')),
  }],
  ['the collation folds accents in eq', 'sql', {
    match: on('customers.name', (cell, f) => ['eq', 'in'].includes(f.op) && cell !== null ? again(cell, f, v => typeof v === 'string' ? v.normalize('NFD').replace(/\p{M}/gu, '') : v) : undefined),
    probe: each('customers', 'name', v => is('name', 'eq', v.normalize('NFD').replace(/\p{M}/gu, ''))),
  }],
  ['the collation takes ß for ss', 'sql', {
    match: on('products.title', (cell, f) => ['eq', 'in'].includes(f.op) && cell !== null ? again(cell, f, v => typeof v === 'string' ? v.replaceAll('ß', 'ss') : v) : undefined),
    probe: each('products', 'title', v => is('title', 'eq', v)),
  }],
  ['trailing blanks do not count', 'sql', {
    match: on('orders.note', (cell, f) => ['eq', 'neq', 'in', 'nin'].includes(f.op) && cell !== null ? again(cell, f, v => typeof v === 'string' ? v.trimEnd() : v) : undefined),
    probe: where('orders', is('note', 'eq', 'trailing')),
  }],
  ['NOT IN with a null in the list is never true', 'sql', {
    match: on('orders.region', (cell, f, right) => f.op === 'nin' && f.values.includes(null) ? false : undefined),
    probe: where('orders', { field: 'region', op: 'nin', values: ['north', null] }),
  }],
  ['neq drops nothing but its value', 'sql', {
    match: on('customers.vip', (cell, f) => f.op === 'neq' && cell === null ? true : undefined),
    probe: where('customers', is('vip', 'neq', true)),
  }],
  ['gt and lt become BETWEEN', 'sql', {
    where: (w, t) => {
      const gt = w.and.find(f => f.op === 'gt'), lt = w.and.find(f => f.op === 'lt' && f.field === gt?.field)
      return gt && lt && t.name === 'orders' ? { ...w, and: w.and.map(f => f === gt ? { ...f, op: 'gte' } : f === lt ? { ...f, op: 'lte' } : f) } : w
    },
    probe: where('orders', is('qty', 'gt', 3), is('qty', 'lt', 6)),
  }],
  ['or of two equals on a column becomes in, other conditions lost', 'sql', {
    where: (w, t) => {
      const first = w.or.map(g => g[0])
      if (w.or.length < 2 || !first.every(f => f && f.op === 'eq' && f.field === first[0].field) || t.name !== 'orders') return w
      return { and: [...w.and, { ...first[0], op: 'in', values: first.map(f => f.value) }], or: [] }
    },
    probe: query('orders', { or: [[is('status', 'eq', 'paid'), is('qty', 'eq', 3)], [is('status', 'eq', 'open')]] }),
  }],
  ['AND binds closer than the groups', 'sql', {
    selected: (rows, w, t, ask) => w.and.length && w.or.length > 1 && t.name === 'orders'
      ? t.rows.filter(row => w.or.slice(1).some(g => g.every(f => semantics.match(row[f.at], f, f.type)))
        || [...w.and, ...w.or[0]].every(f => semantics.match(row[f.at], f, f.type)))
      : rows,
    probe: query('orders', { and: [is('qty', 'lte', 4)], or: [[is('status', 'eq', 'paid')], [is('status', 'eq', 'open')]] }),
  }],
  ['a datetime is compared as a date', 'sql', {
    match: on('customers.created_at', (cell, f) => ['gt', 'lte'].includes(f.op) && typeof f.value === 'string' ? semantics.match(cell.slice(0, 10), { ...f, value: f.value.slice(0, 10) }, 'date') : undefined),
    probe: each('customers', 'created_at', v => is('created_at', 'gt', v)),
  }],
  ['the session has a zone', 'sql', {
    bucket: (v, grain) => grain === 'day' ? hours(v, 2).slice(0, 10) : undefined,
    probe: () => [['/aggregate', { table: 'orders', and: [is('id', 'lte', 300)], groupBy: [{ field: 'placed_at', as: 'g', grain: 'day' }], measures: [{ fn: 'count', as: 'n' }], limit: 1001 }]],
  }],
  ['the quarter is that of a fiscal year', 'sql', {
    bucket: (v, grain) => grain === 'quarter' ? fiscal(v) : undefined,
    probe: grouped('orders', 'placed_at', 'quarter'),
  }],
  ['sums are floats', 'sql', {
    measure: (right, m, values, f) => m.fn === 'sum' && f?.type === 'decimal' && values.length ? String(values.reduce((a, b) => a + Number(b), 0)) : undefined,
    probe: grouped('orders', 'region', undefined, { fn: 'sum', field: 'amount', as: 's' }),
  }],
  ['the least of decimals is that by text', 'sql', {
    measure: (right, m, values, f) => m.fn === 'min' && f?.name === 'amount' && values.length ? [...values].sort(bytes)[0] : undefined,
    probe: grouped('orders', 'status', undefined, { fn: 'min', field: 'amount', as: 's' }),
  }],
  ['distinct values are counted with the collation', 'sql', {
    measure: (right, m, values) => m.fn === 'count_distinct' ? new Set(values.map(v => lower(v))).size : undefined,
    probe: grouped('customers', 'vip', undefined, { fn: 'count_distinct', field: 'country', as: 'n' }),
  }],
  ['groups are folded by the collation', 'sql', {
    group: (v, f) => f.type === 'string' ? `=${lower(v)}` : undefined,
    probe: grouped('orders', 'region'),
  }],
  ['a count of a column counts rows', 'sql', {
    measure: (right, m, values, f, t) => m.fn === 'count' && f && f.nullable && t.name === 'orders' ? values.length + 1 : undefined,
    probe: grouped('orders', undefined, undefined, { fn: 'count', field: 'note', as: 'n' }),
  }],
  ['an inner join', 'sql', {
    joined: (found, v, h) => h.toTable === 'products' && found.length === 0 ? null : found,
    rows: (rows, ask) => ask.body.joins?.some(h => h.toTable === 'products') ? rows.filter(r => ask.body.joins.some(h => h.toTable === 'products' && h.fields.some(f => r[f.as ?? f.field] !== null))) : rows,
    probe: query('items', { fields: ['order_id', 'line'], joins: [hop('items', 'sku', 'products', 'sku', 'sku')] }),
  }],
  ['text keys are joined as numbers', 'sql', {
    joinKey: (v, type) => /^\d+$/.test(text(v)) ? `#${BigInt(text(v))}` : key(v, type),
    probe: query('events', { fields: ['at'], joins: [hop('events', 'customer_code', 'customers', 'code', 'id')] }),
  }],
  ['a join forgets the sort', 'sql', {
    rows: (rows, ask) => ask.body.joins?.length && ask.body.sort.length && ask.body.table === 'orders' ? [...rows].sort((a, b) => bytes(JSON.stringify(a), JSON.stringify(b))) : rows,
    probe: query('orders', { fields: ['amount'], sort: [{ field: 'amount', dir: 'desc' }], joins: [hop('orders', 'customer_id', 'customers', 'id', 'name')] }),
  }],
  ['a join applies its limit before the hop', 'sql', {
    window: (rows, offset, limit, ask) => limit !== undefined && ask.body.joins?.length && ask.body.table === 'customers' ? rows.slice(offset, offset + Math.max(1, limit - 1)) : undefined,
    probe: query('customers', { fields: ['id'], limit: 20, joins: [hop('customers', 'id', 'orders', 'customer_id', 'id')] }),
  }],
  ['a keyset page skips the ties', 'sql', {
    window: (rows, offset, limit, ask) => {
      const k = ask.body.sort[0]
      if (!k || !offset || limit === undefined || ask.body.joins?.length || ask.body.sort.length > 1) return undefined
      const name = ask.body.table
      if (name !== 'orders') return undefined
      const at = everything.orders.indexOf(k.field)
      const last = rows[offset - 1]?.[name]?.[at]
      return rows.slice(offset).filter(r => r[name][at] !== last).slice(0, limit)
    },
    probe: query('orders', { sort: [{ field: 'qty', dir: 'asc' }], limit: 20, offset: 20 }),
  }],
  ['nulls come first when descending', 'sql', {
    compare: (x, y, k, t) => k.dir === 'desc' && t.name === 'customers' && (x === null || y === null) && x !== y ? (x === null ? -1 : 1) : undefined,
    probe: query('customers', { sort: [{ field: 'balance', dir: 'desc' }] }),
  }],
  ['the second sort key has the direction of the first', 'sql', {
    keys: (keys, t, ask) => ask.body.sort.length > 1 ? keys.map((k, i) => i === 1 ? { ...k, dir: keys[0].dir } : k) : keys,
    probe: query('orders', { sort: [{ field: 'status', dir: 'asc' }, { field: 'amount', dir: 'desc' }] }),
  }],
  ['cardinality leaves out the empty and folds case', 'sql', {
    distinct: (right, values, f, t) => t.name === 'products' && f.type === 'string' ? { ...right, distinct: new Set(values.map(lower)).size } : undefined,
    probe: () => [['/cardinality', { table: 'products', columns: ['sku'] }]],
  }],
  ['orphans are counted once each', 'sql', {
    link: (right, { orphans }) => ({ ...right, orphanCount: new Set(orphans).size, orphanRate: right.fromNonNull ? new Set(orphans).size / right.fromNonNull : 0 }),
    probe: () => [['/linkHitRate', { fromTable: 'orders', fromColumn: 'customer_id', toTable: 'customers', toColumn: 'id' }]],
  }],
  // Habits of files, and of Node
  ['cells are trimmed when a file is read for a filter', 'file', {
    match: on('products.title', (cell, f) => cell !== null && 'value' in f ? semantics.match(cell.trim(), f, 'string') : undefined),
    probe: each('products', 'title', v => is('title', 'eq', v)),
  }],
  ['a text that looks like a number is compared as one', 'file', {
    match: on('customers.code', (cell, f) => f.op === 'eq' && /^\d+$/.test(cell) && /^\d+$/.test(text(f.value)) ? Number(cell) === Number(f.value) : undefined),
    probe: each('customers', 'code', v => is('code', 'eq', v)),
  }],
  ['decimals are compared as texts', 'file', {
    match: on('orders.amount', (cell, f) => ['gt', 'gte', 'lt', 'lte'].includes(f.op) ? semantics.match(cell, f, 'string') : undefined),
    probe: where('orders', is('amount', 'gt', '95.00')),
  }],
  ['an empty text is false', 'file', {
    match: on('orders.region', (cell, f) => f.op === 'startswith' && !f.value ? false : undefined),
    probe: where('orders', is('region', 'startswith', '')),
  }],
  ['zero is false', 'file', {
    match: on('products.stock', (cell, f) => f.op === 'isnull' ? !cell : f.op === 'notnull' ? !!cell : undefined),
    probe: where('products', { field: 'stock', op: 'isnull' }),
  }],
  ['numbers are sorted as texts', 'file', {
    compare: (x, y, k, t) => t.name === 'events' && k.field === 'ms' && x !== null && y !== null ? (k.dir === 'desc' ? -1 : 1) * bytes(text(x), text(y)) : undefined,
    probe: query('events', { sort: [{ field: 'ms', dir: 'asc' }] }),
  }],
  ['text is sorted by localeCompare', 'file', {
    compare: (x, y, k, t) => t.name === 'customers' && k.field === 'name' ? (k.dir === 'desc' ? -1 : 1) * x.localeCompare(y, 'en') : undefined,
    probe: query('customers', { sort: [{ field: 'name', dir: 'asc' }] }),
  }],
  ['text is sorted by UTF-16 units', 'file', {
    compare: (x, y, k, t) => t.name === 'customers' && k.field === 'name' ? (k.dir === 'desc' ? -1 : 1) * (x < y ? -1 : x > y ? 1 : 0) : undefined,
    probe: null,
  }],
  ['a number has two digits after the point', 'file', {
    cell: (v, f, t) => t.name === 'orders' && f.name === 'price' ? Math.round(v * 100) / 100 : v,
    probe: query('orders'),
  }],
  ['only the first 1000 lines are read when filtered', 'file', {
    selected: (rows, w, t) => t.rows.length > 1000 && w.and.length + w.or.length > 0 ? rows.filter(r => t.rows.indexOf(r) < 1000) : rows,
    probe: where('orders', is('qty', 'gte', 1)),
  }],
  ['a list of thirty tables is filtered in twenty', 'file', {
    selected: (rows, w, t) => /^list(2[1-9]|30)$/.test(t.name) && w.and.length > 0 ? [] : rows,
    probe: where('list25', is('id', 'gte', 1)),
  }],
  ['a column that moved is read by its old place', 'file', {
    cell: (v, f, t, row, ask) => t.name === 'items' && f.name === 'price' && ask.body.fields?.length === 1 ? row[3] : v,
    probe: query('items', { fields: ['price'] }),
  }],
  ['contains looks into the text of the list', 'file', {
    match: on('customers.tags', (cell, f) => f.op === 'contains' && cell !== null ? cell.includes(text(f.value)) : undefined),
    probe: where('customers', is('tags', 'contains', 'vi')),
  }],
  ['in folds case where eq does not', 'file', {
    match: on('customers.country', (cell, f) => f.op === 'in' && f.values.length === 1 ? cell.toLowerCase() === text(f.values[0]).toLowerCase() : undefined),
    probe: where('customers', { field: 'country', op: 'in', values: ['DE'] }),
  }],
  ['the size is that of the last deployment', 'file', {
    size: t => t.name === 'events' ? t.rows.length - 20 : undefined,
    probe: () => [size('events')],
  }],
  ['isnull takes the empty text for null on its other side', 'file', {
    count: (n, t, ask) => ask.body.and.length === 1 && ask.body.and[0].op === 'notnull' && t.name === 'orders' ? t.rows.length : n,
    probe: () => [count('orders', { field: 'region', op: 'notnull' })],
  }],
  // Habits that were not yet there
  ['texts are normalised when they are compared', 'rest', {
    match: on('orders.note', (cell, f) => ['eq', 'neq', 'in', 'nin'].includes(f.op) && cell !== null ? again(cell, f, v => typeof v === 'string' ? v.normalize('NFC') : v) : undefined),
    probe: each('orders', 'note', v => is('note', 'eq', v.normalize('NFC'))),
    half: 'new',
  }],
  ['a search engine folds what includes finds', 'rest', {
    match: on('customers.name', (cell, f) => f.op === 'includes' && cell !== null ? plain(cell).includes(plain(text(f.value))) : undefined),
    probe: each('customers', 'name', v => is('name', 'includes', plain(v))),
    half: 'new',
  }],
  ['a list is sent with commas between its members', 'rest', {
    match: on('orders.note', (cell, f) => f.op === 'in' || f.op === 'nin' ? semantics.match(cell, { ...f, values: f.values.flatMap(v => v === null ? [null] : text(v).split(',')) }, 'string') : undefined),
    probe: where('orders', { field: 'note', op: 'in', values: ['one,two'] }),
    half: 'new',
  }],
  ['empty lists are left out of the request', 'rest', {
    match: on('customers.country', (cell, f) => (f.op === 'in' && f.values.length === 0) || undefined),
    probe: where('customers', { field: 'country', op: 'in', values: [] }),
    half: 'new',
  }],
  ['the upper bound of a day is its midnight', 'sql', {
    match: on('orders.placed_at', (cell, f) => f.op === 'lte' && typeof f.value === 'string' ? semantics.match(cell, { ...f, value: `${f.value.slice(0, 10)}T00:00:00.000Z` }, 'datetime') : undefined),
    probe: each('orders', 'placed_at', v => is('placed_at', 'lte', v)),
    half: 'new',
  }],
  ['nin is written as several neq', 'sql', {
    match: on('orders.customer_id', (cell, f, right) => f.op === 'nin' && cell === null ? false : undefined),
    probe: where('orders', { field: 'customer_id', op: 'nin', values: [1] }),
    half: 'new',
  }],
  ['distinct rows only, where no key is asked for', 'sql', {
    rows: (rows, ask, t) => t.name === 'orders' && !ask.body.fields.includes('id') && !ask.body.joins?.length
      ? [...new Map(rows.map(r => [JSON.stringify(r), r])).values()] : rows,
    probe: query('orders', { fields: ['status'] }),
    half: 'new',
  }],
  ['a sum over no rows is zero', 'sql', {
    measure: (right, m, values) => m.fn === 'sum' && right === null ? 0 : undefined,
    probe: () => [['/aggregate', { table: 'products', and: [is('sku', 'eq', 'none')], groupBy: [], measures: [{ fn: 'sum', field: 'price', as: 's' }], limit: 1001 }]],
    half: 'new',
  }],
  ['numbers of a filter are cut to 53 bits', 'file', {
    match: on('orders.trace', (cell, f) => 'value' in f && f.value !== null && /^-?\d+$/.test(text(f.value)) ? semantics.match(cell, { ...f, value: BigInt.asIntN(53, BigInt(text(f.value))).toString() }, 'number') : undefined),
    probe: each('orders', 'trace', v => is('trace', 'eq', v)),
    half: 'new',
  }],
  ['groups without a key are left out', 'file', {
    groups: (rows, t, ask) => t.name === 'events' ? rows.filter(r => ask.body.groupBy.every(g => r[g.as] !== null)) : rows,
    probe: grouped('events', 'customer_code'),
    half: 'new',
  }],
  ['orders by a column that is not answered are lost', 'file', {
    keys: (keys, t, ask) => t.name === 'products' ? keys.filter((k, i) => i >= ask.body.sort.length || ask.body.fields.includes(k.field)) : keys,
    probe: query('products', { fields: ['sku'], sort: [{ field: 'price', dir: 'asc' }] }),
    half: 'new',
  }],
].filter(([, , f]) => f.probe !== null).map(([name, kind, f], i) => [name, { ...f, kind, half: f.half ?? (i % 2 ? 'closed' : 'open') }]))

// plain is a text as a search engine keeps it.
function plain(v) { return v.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase() }

function like(cell, pattern) {
  let source = ''
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i]
    if (c === '\\' && i + 1 < pattern.length) source += pattern[++i].replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    else source += c === '%' ? '[^]*' : c === '_' ? '[^]' : c.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  }
  return new RegExp(`^${source}$`, 'u').test(cell)
}

function fiscal(v) {
  const month = Number(v.slice(5, 7)) // quarters begin in February
  const start = [11, 2, 2, 2, 5, 5, 5, 8, 8, 8, 11, 11][month - 1]
  const year = month === 1 ? Number(v.slice(0, 4)) - 1 : Number(v.slice(0, 4))
  return `${year}-${String(start).padStart(2, '0')}-01`
}
