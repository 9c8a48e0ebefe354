// What authors of connectors get wrong. Each fault hooks into one place of shop.mjs and
// changes the answer to its probe; all are visible from outside, because some answer
// contradicts the rows that the same connector serves.
//
// The halves are for whoever changes the conformance program: look at "open" while you
// do, and at "closed" when you are done. Those of the third group, "new", were written after
// the last change of what is asked, and those of the fourth and fifth, "forty" and "last", by
// two who had not read the conformance program.
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
  // Habits written by somebody who had not seen what is asked. They are not changed for being missed.
  ['of two conditions with one operator on a column the last is sent', 'rest', {
    where: w => ({ ...w, and: [...new Map(w.and.map(f => [`${f.field} ${f.op}`, f])).values()] }),
    probe: where('orders', is('status', 'neq', 'paid'), is('status', 'neq', 'open')),
    half: 'forty',
  }],
  ['a long nin is asked in parts of fifty', 'rest', {
    match: (cell, f) => f.op === 'nin' && f.values.length > 50
      ? chunks(f.values, 50).some(values => semantics.match(cell, { ...f, values }, f.type)) : undefined,
    probe: where('orders', { field: 'customer_id', op: 'nin', values: Array.from({ length: 60 }, (_, i) => i + 1) }),
    half: 'forty',
  }],
  ['groups of an or come one after another, each sorted', 'rest', {
    selected: (rows, w, t, ask) => {
      if (ask.route === '/query' && w.or.length > 1 && ask.body.sort.length > 0) {
        ask.rank = new Map(rows.map(row => [row, w.or.findIndex(g => g.every(f => semantics.match(row[f.at], f, f.type)))]))
      }
    },
    window: (rows, offset, limit, ask) => ask.rank && [...rows]
      .sort((a, b) => ask.rank.get(a[ask.body.table]) - ask.rank.get(b[ask.body.table])).slice(offset, limit && offset + limit),
    probe: query('orders', { or: [[is('status', 'eq', 'paid')], [is('status', 'eq', 'open')]], sort: [{ field: 'amount', dir: 'asc' }] }),
    half: 'forty',
  }],
  ['a limit above 100 is read in whole pages', 'rest', {
    window: (rows, offset, limit) => limit > 100 ? rows.slice(offset, offset + Math.ceil(limit / 100) * 100) : undefined,
    probe: query('orders', { limit: 150 }),
    half: 'forty',
  }],
  ['an offset beyond the end is the last page', 'rest', {
    window: (rows, offset, limit) => limit !== undefined && rows.length > 0 && offset >= rows.length
      ? rows.slice(Math.floor((rows.length - 1) / limit) * limit) : undefined,
    probe: query('customers', { limit: 50, offset: 400 }),
    half: 'forty',
  }],
  ['the window is sent along where includes is done here', 'rest', {
    selected: (rows, w, t, ask) => {
      const here = f => f.op === 'includes'
      if (ask.route !== '/query' || ask.body.limit === undefined || ask.body.joins?.length || w.or.length > 0 || !w.and.some(here)) return
      const sent = t.rows.filter(row => w.and.every(f => here(f) || semantics.match(row[f.at], f, f.type)))
      const from = ask.body.offset ?? 0
      const page = new Set(inOrder(sent, t, ask.body.sort).slice(from, from + ask.body.limit))
      ask.page = true
      return rows.filter(row => page.has(row))
    },
    window: (rows, offset, limit, ask) => ask.page ? rows : undefined,
    probe: query('customers', { and: [is('name', 'includes', 'Baker')], sort: [{ field: 'name', dir: 'asc' }], limit: 20 }),
    half: 'forty',
  }],
  ['only two sort keys are sent', 'rest', {
    keys: (keys, t, ask) => keys.filter((k, i) => i < 2 || i >= ask.body.sort.length),
    probe: query('orders', { sort: ['status', 'region', 'amount'].map(field => ({ field, dir: 'asc' })) }),
    half: 'forty',
  }],
  ['ties come in another order on every page', 'sql', {
    keys: (keys, t, ask) => {
      const { sort, limit, offset = 0 } = ask.body
      if (!sort.length || limit === undefined || Math.floor(offset / limit) % 2 === 0) return
      return keys.map((k, i) => i < sort.length ? k : { ...k, dir: 'desc' })
    },
    probe: query('orders', { sort: [{ field: 'qty', dir: 'asc' }], limit: 20, offset: 20 }),
    half: 'forty',
  }],
  ['characters beyond three bytes are sent as question marks', 'sql', {
    match: (cell, f) => {
      const sent = v => typeof v === 'string' ? v.replace(/[\u{10000}-\u{10ffff}]/gu, '?') : v
      if (f.type !== 'string' || sent(f.value) === f.value && !f.values?.some(v => sent(v) !== v)) return
      return semantics.match(cell, { ...f, ...(f.values ? { values: f.values.map(sent) } : { value: sent(f.value) }) }, f.type)
    },
    probe: where('customers', is('name', 'startswith', '😀')),
    half: 'forty',
  }],
  ['a datetime as text has a blank for its T', 'sql', {
    match: (cell, f) => f.type === 'datetime' && ['includes', 'startswith'].includes(f.op) && cell !== null
      ? semantics.match(cell.replace('T', ' ').replace('Z', ''), f, 'string') : undefined,
    probe: each('orders', 'placed_at', v => is('placed_at', 'startswith', v.slice(0, 13))),
    half: 'forty',
  }],
  ['in looks for dates as objects', 'file', {
    match: (cell, f) => /^date/.test(f.type) && (f.op === 'in' || f.op === 'nin') ? f.op === 'nin' : undefined,
    probe: each('customers', 'birthday', v => ({ field: 'birthday', op: 'in', values: [v] })),
    half: 'forty',
  }],
  ['a moment before 1970 is within no range', 'file', {
    match: (cell, f) => /^date/.test(f.type) && ['gt', 'gte', 'lt', 'lte'].includes(f.op) && !(Date.parse(cell) > 0 && Date.parse(f.value) > 0)
      ? false : undefined,
    probe: where('customers', is('birthday', 'lt', '1980-01-01')),
    half: 'forty',
  }],
  ['includes calls a method that numbers lack', 'file', {
    match: (cell, f) => {
      if (!['includes', 'startswith'].includes(f.op) || cell === null || f.value === null) return
      return f.op === 'includes' ? cell.includes(f.value) : cell.startsWith(f.value)
    },
    probe: where('orders', is('qty', 'startswith', '1')),
    half: 'forty',
  }],
  ['conditions without a value are left out of groups', 'rest', {
    where: w => ({ ...w, or: w.or.map(g => g.filter(f => f.value !== undefined || f.values)) }),
    probe: query('orders', { or: [[{ field: 'region', op: 'isnull' }, is('status', 'eq', 'paid')], [is('qty', 'eq', 3)]] }),
    half: 'forty',
  }],
  ['days are sorted by seconds in 32 bits', 'file', {
    compare: (x, y, k) => {
      if (k.type !== 'date' || x === null || y === null) return
      const seconds = v => Date.parse(v) / 1000 | 0
      return (k.dir === 'desc' ? -1 : 1) * (seconds(x) - seconds(y))
    },
    probe: query('events', { sort: [{ field: 'due', dir: 'asc' }] }),
    half: 'forty',
  }],
  ['numbers are padded to be sorted, whatever their sign', 'file', {
    compare: (x, y, k) => {
      if (k.type !== 'decimal' && k.field !== 'stock' || x === null || y === null) return
      return (k.dir === 'desc' ? -1 : 1) * bytes(text(x).padStart(12, '0'), text(y).padStart(12, '0'))
    },
    probe: query('customers', { sort: [{ field: 'balance', dir: 'asc' }] }),
    half: 'forty',
  }],
  ['empty texts are sorted among the nulls', 'file', {
    compare: (x, y, k) => {
      if (k.type !== 'string' || (x === '') === (y === '')) return
      if (!x && !y) return 0
      return x ? -1 : 1
    },
    probe: query('orders', { sort: [{ field: 'note', dir: 'asc' }] }),
    half: 'forty',
  }],
  ['columns of a joined table cover those of the same name', 'sql', {
    window: (rows, offset, limit, ask) => {
      const { table, joins } = ask.body
      if (!joins?.length) return
      const base = ask.tables.get(table)
      return rows.slice(offset, limit && offset + limit).map(parts => {
        const row = [...parts[table]]
        for (const { toTable } of joins) {
          ask.tables.get(toTable).fields.forEach((f, at) => {
            const covered = base.fields.findIndex(g => g.name === f.name)
            if (covered >= 0) row[covered] = parts[toTable]?.[at] ?? null
          })
        }
        return { ...parts, [table]: row }
      })
    },
    probe: query('items', { fields: ['line', 'price'], joins: [hop('items', 'order_id', 'orders', 'id', 'status')] }),
    half: 'forty',
  }],
  ['booleans of a joined table are 0 and 1', 'sql', {
    cell: (v, f, t, row, ask) => typeof v === 'boolean' && t.name !== ask.body.table ? Number(v) : v,
    probe: query('orders', { fields: ['id'], joins: [hop('orders', 'customer_id', 'customers', 'id', 'vip')] }),
    half: 'forty',
  }],
  ['a later hop looks for its key among the fields that are answered', 'rest', {
    joined: (found, v, h, ask) => {
      const before = ask.body.joins.find(other => other.toTable === h.fromTable)
      return before && !before.fields.some(f => f.field === h.fromField) ? [] : undefined
    },
    probe: query('items', { fields: ['line'], joins: [hop('items', 'order_id', 'orders', 'id', 'status'), hop('orders', 'customer_id', 'customers', 'id', 'name')] }),
    half: 'forty',
  }],
  ['rows of hops are remembered by the key alone', 'rest', {
    joined: (found, v, h, ask) => {
      if (v === null) return
      ask.known ??= new Map()
      const k = text(v)
      if (!ask.known.has(k)) ask.known.set(k, { table: h.toTable, rows: found })
      const { table, rows } = ask.known.get(k)
      if (table === h.toTable) return
      const from = ask.tables.get(table).fields.map(f => f.name)
      return rows.map(row => ask.tables.get(h.toTable).fields.map(f => row[from.indexOf(f.name)] ?? null))
    },
    probe: query('items', { fields: ['line'], joins: [hop('items', 'order_id', 'orders', 'id', 'customer_id'), hop('orders', 'customer_id', 'customers', 'id', 'name')] }),
    half: 'forty',
  }],
  ['no rows have no total', 'rest', {
    selected: (rows, w, t, ask) => { ask.kept = rows.length },
    groups: (rows, t, ask) => ask.kept === 0 ? [] : rows,
    probe: () => [['/aggregate', { table: 'products', and: [is('sku', 'eq', 'none')], groupBy: [], measures: [{ fn: 'count', as: 'n' }], limit: 1001 }]],
    half: 'forty',
  }],
  ['the year is that of the week', 'file', {
    bucket: (v, grain) => {
      if (grain !== 'year') return
      const day = new Date(`${v.slice(0, 10)}T00:00:00Z`)
      day.setUTCDate(day.getUTCDate() + 4 - (day.getUTCDay() || 7)) // the Thursday of its week
      return `${day.getUTCFullYear()}-01-01`
    },
    probe: grouped('customers', 'created_at', 'year'),
    half: 'forty',
  }],
  ['a maximum starts at zero', 'file', {
    measure: (right, m, values, f) => m.fn === 'max' && numeric(f.type) && right !== null && compare(right, 0, 'number') < 0 ? 0 : undefined,
    probe: () => [['/aggregate', { table: 'customers', and: [is('balance', 'lt', 0)], groupBy: [], measures: [{ fn: 'max', field: 'balance', as: 'm' }], limit: 1001 }]],
    half: 'forty',
  }],
  ['categories that the filters leave empty are answered', 'file', {
    groups: (rows, t, ask) => {
      const { groupBy, measures } = ask.body
      const f = t.fields.find(f => f.name === groupBy[0]?.field)
      if (groupBy.length !== 1 || f.type !== 'string') return
      const values = new Set(t.rows.map(row => row[t.fields.indexOf(f)]).filter(v => v !== null))
      if (values.size > 20) return // not a category
      const { as } = groupBy[0]
      const empty = [...values].filter(v => !rows.some(row => row[as] === v))
      return [...rows, ...empty.map(v => ({ [as]: v, ...Object.fromEntries(measures.map(m => [m.as, /^count/.test(m.fn) ? 0 : null])) }))]
    },
    probe: () => [['/aggregate', { table: 'orders', and: [is('status', 'neq', 'paid')], groupBy: [{ field: 'status', as: 'g' }], measures: [{ fn: 'count', as: 'n' }], limit: 1001 }]],
    half: 'forty',
  }],
  ['the set of distinct values is not emptied between groups', 'file', {
    measure: (right, m, values, f, t, ask) => {
      if (m.fn !== 'count_distinct') return
      ask.sets ??= {}
      const set = ask.sets[m.as] ??= new Set()
      const before = set.size
      for (const v of values) set.add(key(v, f.type))
      return set.size - before
    },
    probe: grouped('orders', 'status', undefined, { fn: 'count_distinct', field: 'region', as: 'n' }),
    half: 'forty',
  }],
  ['the first grain holds for all groups', 'file', {
    before: ask => {
      const { table, groupBy } = ask.body
      if (ask.route !== '/aggregate' || !Array.isArray(groupBy) || groupBy.length < 2 || !groupBy.every(semantics.isObject)) return
      const type = name => ask.tables.get(table)?.fields.find(f => f.name === name)?.type
      const { grain } = groupBy[0]
      ask.body = { ...ask.body, groupBy: groupBy.map(g => /^date/.test(type(g.field)) ? { ...g, grain } : g) }
    },
    probe: () => [['/aggregate', {
      table: 'customers', and: [], groupBy: [{ field: 'country', as: 'c' }, { field: 'created_at', as: 'y', grain: 'year' }], measures: [{ fn: 'count', as: 'n' }], limit: 1001,
    }]],
    half: 'forty',
  }],
  ['a link rate counts the rows of a join', 'sql', {
    link: (right, { values, from, to }, ask) => {
      const at = to.fields.findIndex(f => f.name === ask.body.toColumn)
      const type = numeric(to.fields[at].type) && numeric(from.fields.find(f => f.name === ask.body.fromColumn).type) ? 'number' : 'string'
      const matches = new Map()
      for (const row of to.rows) if (row[at] !== null) matches.set(key(row[at], type), (matches.get(key(row[at], type)) ?? 0) + 1)
      const all = values.reduce((n, v) => n + (matches.get(key(v, type)) ?? 1), 0)
      return { ...right, fromNonNull: all, orphanRate: all ? right.orphanCount / all : 0 }
    },
    probe: () => [['/linkHitRate', { fromTable: 'customers', fromColumn: 'id', toTable: 'orders', toColumn: 'customer_id' }]],
    half: 'forty',
  }],
  ['counts of columns are answered in the order of their names', 'sql', {
    after: (ask, answer) => {
      if (ask.route !== '/cardinality') return answer
      const { columns } = ask.body
      return { body: { columns: Object.fromEntries([...columns].sort().map((name, i) => [name, answer.body.columns[columns[i]]])) } }
    },
    probe: () => [['/cardinality', { table: 'orders', columns: ['status', 'qty', 'region'] }]],
    half: 'forty',
  }],
  ['what is nullable is guessed from ten rows', 'file', {
    tables: (tables, ask) => tables.map(t => ({
      ...t, fields: t.fields.map((f, at) => ({ ...f, nullable: ask.tables.get(t.name).rows.slice(0, 10).some(row => row[at] === null) })),
    })),
    probe: () => [['/discovery', {}]],
    half: 'forty',
  }],
  ['samples are collected once', 'rest', {
    tables: (tables, ask) => {
      ask.state.samples ??= Object.fromEntries(tables.map(t => [t.name, t.fields.map(f => f.samples)]))
      return tables.map(t => ({ ...t, fields: t.fields.map((f, at) => ({ ...f, samples: ask.state.samples[t.name][at] })) }))
    },
    probe: () => [['/discovery', { credentials: { shop: 'south' } }], ['/discovery', {}]],
    half: 'forty',
  }],
  ['an answer without rows is an empty batch', 'file', {
    after: (ask, answer) => answer.rows?.length === 0 ? { ...answer, blank: true } : answer,
    probe: where('orders', is('qty', 'gt', 1000)),
    half: 'forty',
  }],
  ['counts are kept by column and value, without the operator', 'rest', {
    before: ask => ask.route === '/count' ? ask.state[countedAs(ask)] : undefined,
    after: (ask, answer) => {
      if (ask.route === '/count' && countedAs(ask)) ask.state[countedAs(ask)] = answer
      return answer
    },
    probe: () => [count('orders', is('qty', 'gt', 6)), count('orders', is('qty', 'eq', 6))],
    half: 'forty',
  }],
  ['a token that ran out is renewed for the latest caller', 'rest', {
    before: ask => {
      const { state, shop } = ask
      state.renewed ??= {}
      if (state.requests - (state.renewed[shop] ??= state.requests) > 50) {
        state.renewed[shop] = state.requests
        ask.tables = ask.all.get(state.caller)
      }
      state.caller = shop
    },
    probe: () => [size('customers'), ...Array.from({ length: 51 }, () => ['/size', { table: 'customers', credentials: { shop: 'south' } }]), size('customers')],
    half: 'forty',
  }],
  ['the offset stands in a variable while a page is waited for', 'file', {
    wait: async ask => {
      if (ask.route !== '/query' || ask.body.limit === undefined) return
      ask.state.offset = ask.body.offset
      await later(2)
      ask.body = { ...ask.body, offset: ask.state.offset }
    },
    probe: () => [[0, 20].map(offset => query('orders', { limit: 20, offset })()[0])],
    half: 'forty',
  }],
  ['a third request at once is refused, which is taken for the end', 'rest', {
    wait: async ask => {
      if (ask.route !== '/query') return
      ask.state.inside = (ask.state.inside ?? 0) + 1
      ask.refused = ask.state.inside > 2
      await later(3)
      ask.state.inside--
    },
    rows: (rows, ask) => ask.refused ? rows.slice(0, 100) : rows,
    probe: () => [[1, 2, 3, 4].map(() => query('customers')()[0])],
    half: 'forty',
  }],
  ['an unknown column in a group is left out', 'rest', {
    before: ask => {
      const t = ask.tables.get(ask.body.table)
      if (!t || !Array.isArray(ask.body.or)) return
      ask.body = { ...ask.body, or: ask.body.or.map(g => Array.isArray(g) ? g.filter(f => t.fields.some(c => c.name === f?.field)) : g) }
    },
    probe: query('orders', { or: [[is('status', 'eq', 'paid'), is('colour', 'eq', 'red')], [is('qty', 'eq', 3)]] }),
    half: 'forty',
  }],
  ['a text ends after 255 units', 'rest', {
    cell: v => typeof v === 'string' && v.length > 255 ? v.slice(0, 255) : v,
    probe: query('orders'),
    half: 'forty',
  }],
  ['lists and objects are spelled anew with blanks', 'file', {
    cell: (v, f) => v !== null && ['array', 'json'].includes(f.type) ? spaced(JSON.parse(v)) : v,
    probe: query('products'),
    half: 'forty',
  }],
  ['aliases come in lower case', 'sql', {
    groups: rows => rows.map(row => Object.fromEntries(Object.entries(row).map(([k, v]) => [k.toLowerCase(), v]))),
    probe: () => [['/aggregate', { table: 'orders', and: [], groupBy: [{ field: 'status', as: 'status' }], measures: [{ fn: 'count', as: 'orderCount' }], limit: 1001 }]],
    half: 'forty',
  }],
  // The last, by another author who had not seen what is asked either.
  ['a mapper writes comparisons with null as IS NULL and IS NOT NULL', 'sql', {
    match: (cell, f) => f.value === null && ['eq', 'neq'].includes(f.op) ? (cell === null) === (f.op === 'eq') : undefined,
    probe: where('orders', is('region', 'neq', null)),
    half: 'last',
  }],
  ['a list of decimals is looked up by spelling', 'file', {
    match: (cell, f) => f.type !== 'decimal' || !f.values || cell === null ? undefined
      : f.values.some(v => v !== null && text(v) === text(cell)) === (f.op === 'in'),
    probe: each('orders', 'amount', v => ({ field: 'amount', op: 'in', values: [Number(v)] })),
    half: 'last',
  }],
  ['includes of a list is that of its elements', 'file', {
    match: (cell, f) => f.type === 'array' && f.op === 'includes' && cell !== null && f.value !== null
      ? JSON.parse(cell).includes(f.value) : undefined,
    probe: where('customers', is('tags', 'includes', 'vi')),
    half: 'last',
  }],
  ['a day without a time begins at midnight in Los Angeles', 'file', {
    match: (cell, f) => f.type === 'datetime' && cell !== null && /^\d{4}-\d\d-\d\d$/.test(f.value)
      ? semantics.match(cell, { ...f, value: `${f.value}T08:00:00.000Z` }, f.type) : undefined,
    probe: each('orders', 'placed_at', v => is('placed_at', 'gte', v.slice(0, 10))),
    half: 'last',
  }],
  ['the query with joins is built without the or', 'sql', {
    where: (w, t, ask) => ask.body.joins?.length ? { ...w, or: [] } : w,
    probe: query('orders', {
      fields: ['id'], or: [[is('status', 'eq', 'paid')], [is('qty', 'eq', 3)]], joins: [hop('orders', 'customer_id', 'customers', 'id', 'name')],
    }),
    half: 'last',
  }],
  ['an offset is sent with a limit only', 'sql', {
    window: (rows, offset, limit) => limit === undefined ? rows : undefined,
    probe: query('orders', { sort: [{ field: 'id', dir: 'asc' }], offset: 10 }),
    half: 'last',
  }],
  ['the open cursor of a table is read on from where it stands', 'sql', {
    window: (rows, offset, limit, ask) => {
      if (limit === undefined || ask.body.joins?.length) return
      const cursors = ask.state.cursors ??= {}
      const k = JSON.stringify([ask.shop, ask.body.table])
      const open = offset > 0 && cursors[k]?.at === offset ? cursors[k].rows : rows
      cursors[k] = { at: offset + limit, rows: open }
      return open.slice(offset, offset + limit)
    },
    probe: () => [['id', 0], ['amount', 0], ['id', 20]]
      .map(([field, offset]) => query('orders', { sort: [{ field, dir: 'asc' }], limit: 20, offset })()[0]),
    half: 'last',
  }],
  ['a dictionary of joined rows keeps the last of a key', 'file', {
    joined: found => found.slice(-1),
    probe: query('customers', { fields: ['id'], joins: [hop('customers', 'id', 'orders', 'customer_id', 'id')] }),
    half: 'last',
  }],
  ['a merge of frames joins what is missing with what is missing', 'file', {
    joined: (found, v, h, ask) => {
      const to = ask.tables.get(h.toTable), at = to.fields.findIndex(f => f.name === h.toField)
      return v === null ? to.rows.filter(row => row[at] === null) : undefined
    },
    probe: query('events', {
      fields: ['at'], joins: [hop('events', 'customer_code', 'customers', 'code', 'name'), hop('customers', 'id', 'orders', 'customer_id', 'status')],
    }),
    half: 'last',
  }],
  ['every hop starts from the rows of the hop before', 'rest', {
    joined: (found, v, h, ask, row) => {
      const before = ask.body.joins[ask.body.joins.indexOf(h) - 1]?.toTable
      if (before === undefined || before === h.fromTable) return
      const at = ask.tables.get(before).fields.findIndex(f => f.name === h.fromField)
      const value = row[before]?.[at] ?? null // no such column is undefined
      const to = ask.tables.get(h.toTable), toAt = to.fields.findIndex(f => f.name === h.toField)
      return value === null ? [] : to.rows.filter(other => other[toAt] !== null && text(other[toAt]) === text(value))
    },
    probe: query('items', {
      fields: ['line'], joins: [hop('items', 'order_id', 'orders', 'id', 'status'), hop('items', 'sku', 'products', 'sku', 'title')],
    }),
    half: 'last',
  }],
  ['measures are a dictionary by their column', 'file', {
    measure: (right, m, values, f, t, ask) => {
      const last = ask.body.measures.findLast(other => other.field === m.field)
      return m.field === undefined || last.fn === m.fn ? undefined : folded(last.fn, values, f.type)
    },
    probe: grouped('orders', 'status', undefined, { fn: 'min', field: 'amount', as: 'least' }, { fn: 'max', field: 'amount', as: 'most' }),
    half: 'last',
  }],
  ['periods between the first and the last are answered, empty or not', 'file', {
    groups: (rows, t, ask) => {
      const { groupBy, measures, limit } = ask.body
      const months = { month: 1, quarter: 3, year: 12 }[groupBy[0]?.grain]
      if (groupBy.length !== 1 || !months) return
      const { as } = groupBy[0]
      const had = new Set(rows.map(row => row[as]).filter(v => v !== null))
      const all = [...had].sort()
      const empty = []
      for (let day = all[0]; day < all.at(-1);) {
        const next = new Date(`${day}T00:00:00Z`)
        next.setUTCMonth(next.getUTCMonth() + months)
        day = next.toISOString().slice(0, 10)
        if (!had.has(day)) empty.push({ [as]: day, ...Object.fromEntries(measures.map(m => [m.as, /^count/.test(m.fn) ? 0 : null])) })
      }
      return rows.length + empty.length < limit ? [...rows, ...empty] : rows
    },
    probe: grouped('customers', 'birthday', 'month'),
    half: 'last',
  }],
  ['sums of integers have 64 bits', 'file', {
    measure: (right, m) => m.fn === 'sum' && /^-?\d+$/.test(right) ? String(BigInt.asIntN(64, BigInt(right))) : undefined,
    probe: grouped('orders', undefined, undefined, { fn: 'sum', field: 'trace', as: 's' }),
    half: 'last',
  }],
  ['groups of booleans are 0 and 1', 'sql', {
    groups: (rows, t, ask) => rows.map(row => ({
      ...row, ...Object.fromEntries(ask.body.groupBy.map(({ as }) => [as, typeof row[as] === 'boolean' ? Number(row[as]) : row[as]])),
    })),
    probe: grouped('customers', 'vip'),
    half: 'last',
  }],
  ['a grain is taken from seconds that are 0 before 1970 and after 2038', 'sql', {
    bucket: v => v < '1970' || v > '2038-01-19' ? '1970-01-01' : undefined,
    probe: grouped('events', 'due', 'year'),
    half: 'last',
  }],
  ['the count of an or adds those of its groups', 'rest', {
    count: (n, t, ask) => {
      const { and, or = [] } = ask.body
      const holds = (row, list) => list.every(f => {
        const at = t.fields.findIndex(c => c.name === f.field)
        return semantics.match(row[at], f, t.fields[at].type)
      })
      return or.length ? or.reduce((sum, g) => sum + t.rows.filter(row => holds(row, and) && holds(row, g)).length, 0) : n
    },
    probe: () => [['/count', { table: 'orders', and: [], or: [[is('status', 'eq', 'paid')], [is('qty', 'gt', 6)]] }]],
    half: 'last',
  }],
  ['more than a thousand distinct values are estimated', 'rest', {
    distinct: right => right.distinct > 1000 ? { ...right, distinct: Math.round(right.distinct * 0.997) } : undefined,
    probe: () => [['/cardinality', { table: 'orders', columns: ['id', 'status'] }]],
    half: 'last',
  }],
  ['the keys that a link leads to are kept by table and column', 'rest', {
    link: (right, { values, from, to }, ask) => {
      const { fromColumn, toColumn } = ask.body
      const at = to.fields.findIndex(f => f.name === toColumn)
      const type = numeric(to.fields[at].type) && numeric(from.fields.find(f => f.name === fromColumn).type) ? 'number' : 'string'
      const known = ask.state[JSON.stringify([to.name, toColumn, type])] ??= new Set(to.rows.filter(r => r[at] !== null).map(r => key(r[at], type)))
      const orphans = values.filter(v => !known.has(key(v, type)))
      return {
        fromNonNull: values.length, orphanCount: orphans.length, orphanRate: values.length ? orphans.length / values.length : 0,
        orphanSamples: [...new Set(orphans.map(text))].sort(bytes).slice(0, 20),
      }
    },
    probe: () => ['south', 'north'].map(shop => ['/linkHitRate', { fromTable: 'orders', fromColumn: 'customer_id', toTable: 'customers', toColumn: 'id', credentials: { shop } }]),
    half: 'last',
  }],
  ['the row count of discovery is that of the first page', 'rest', {
    tables: tables => tables.map(t => t.rowCount > 1000 ? { ...t, rowCount: 1000 } : t),
    probe: () => [['/discovery', {}]],
    half: 'last',
  }],
  ['each column of a key is declared unique', 'sql', {
    tables: tables => tables.map(t => ({ ...t, fields: t.fields.map(f => ({ ...f, unique: f.unique || t.primaryKey.includes(f.name) })) })),
    probe: () => [['/discovery', {}]],
    half: 'last',
  }],
  ['bytes from upstream become text packet by packet', 'rest', {
    rows: rows => JSON.parse(chunks(Buffer.from(JSON.stringify(rows)), 1448).map(String).join('')),
    probe: () => ['customers', 'orders'].flatMap(table => everything[table].map(field => query(table, { sort: [{ field, dir: 'asc' }] })()[0])),
    half: 'last',
  }],
  ['pages are kept without the direction of their order', 'rest', {
    before: ask => ask.route === '/query' && ask.body.limit !== undefined ? ask.state[pageOf(ask)] : undefined,
    after: (ask, answer) => {
      if (ask.route === '/query' && ask.body.limit !== undefined) ask.state[pageOf(ask)] = answer
      return answer
    },
    probe: () => ['asc', 'desc'].map(dir => query('orders', { sort: [{ field: 'amount', dir }], limit: 10 })()[0]),
    half: 'last',
  }],
  ['totals are kept in a variable of the module while rows are waited for', 'file', {
    wait: async ask => {
      if (ask.route !== '/aggregate') return
      const under = ask.state.under ??= {}
      const k = JSON.stringify([ask.shop, ask.body.table, ask.body.groupBy])
      ask.shared = under[k] > 0
      under[k] = (under[k] ?? 0) + 1
      await later(3)
      ask.shared ||= under[k] > 1
      under[k]--
    },
    measure: (right, m, values, f, t, ask) => m.fn === 'count' && ask.shared ? 2 * right : undefined,
    probe: () => [[1, 2].map(() => grouped('orders', 'status')()[0])],
    half: 'last',
  }],
  ['an unknown column is a column that cannot be counted', 'rest', {
    before: ask => {
      const t = ask.tables.get(ask.body.table)
      if (ask.route !== '/cardinality' || !t || !Array.isArray(ask.body.columns)) return
      const known = ask.body.columns.filter(name => t.fields.some(f => f.name === name))
      ask.unknown = ask.body.columns.filter(name => !known.includes(name))
      const none = Object.fromEntries(ask.unknown.map(name => [name, null]))
      if (known.length === 0 && ask.unknown.length > 0) return { body: { columns: none } }
      ask.body = { ...ask.body, columns: known }
    },
    after: (ask, answer) => ask.unknown?.length
      ? { body: { columns: { ...answer.body.columns, ...Object.fromEntries(ask.unknown.map(name => [name, null])) } } } : answer,
    probe: () => [['/cardinality', { table: 'orders', columns: ['status', 'colour'] }]],
    half: 'last',
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

const chunks = (list, n) => Array.from({ length: Math.ceil(list.length / n) }, (_, i) => list.slice(i * n, (i + 1) * n))

// inOrder returns rows in the order of a request, ties by the primary key.
function inOrder(rows, t, sort) {
  const keys = [...sort, ...t.primaryKey.map(field => ({ field, dir: 'asc' }))].map(k => {
    const at = t.fields.findIndex(f => f.name === k.field)
    return { at, type: t.fields[at]?.type, sign: k.dir === 'desc' ? -1 : 1 }
  })
  return [...rows].sort((a, b) => {
    for (const { at, type, sign } of keys) {
      const x = a[at] ?? null, y = b[at] ?? null
      const c = x === null || y === null ? (x === null) - (y === null) : sign * (compare(x, y, type) ?? bytes(text(x), text(y)))
      if (c) return c
    }
    return 0
  })
}

// countedAs is the key of a count with a single condition.
function countedAs({ shop, body: { table, and, or } }) {
  if (!Array.isArray(and) || and.length !== 1 || !semantics.isObject(and[0]) || or?.length) return undefined
  return JSON.stringify([shop, table, and[0].field, and[0].value ?? and[0].values])
}

// pageOf is the key of a page, without the direction of its order.
function pageOf({ shop, body: { table, and, or, fields, sort, limit, offset, joins } }) {
  return JSON.stringify([shop, table, and, or, fields, Array.isArray(sort) && sort.map(k => k?.field), limit, offset, joins])
}

// folded is a measure over values that are not null.
function folded(fn, values, type) {
  if (fn === 'count') return values.length
  if (fn === 'count_distinct') return new Set(values.map(v => key(v, type))).size
  if (values.length === 0) return null
  if (fn === 'sum') return numeric(type) ? semantics.sum(values) : null
  const sign = fn === 'min' ? 1 : -1
  return values.reduce((best, v) => sign * compare(v, best, type) < 0 ? v : best)
}

// spaced spells JSON as Python's json.dumps does.
function spaced(v) {
  if (Array.isArray(v)) return `[${v.map(spaced).join(', ')}]`
  if (!semantics.isObject(v)) return JSON.stringify(v)
  return `{${Object.entries(v).map(([k, e]) => `${JSON.stringify(k)}: ${spaced(e)}`).join(', ')}}`
}
