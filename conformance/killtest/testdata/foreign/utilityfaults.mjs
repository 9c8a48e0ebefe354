// What goes wrong in connectors, over the tables of data.mjs.
import { key, match, numeric, text, bytes } from './semantics.mjs'

const sleep = ms => new Promise(done => setTimeout(done, ms))
const pages = (list, size) => Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size))
const lists = (where, change) => ({ and: change(where.and), or: where.or.map(change) })
const place = (t, name) => t.fields.findIndex(f => f.name === name)
const keeps = (row, list) => list.every(f => match(row[f.at], f, f.type))
const column = (shops, table, name) => {
  const t = shops.get('north').get(table)
  return t.rows.map(r => r[place(t, name)])
}
const query = (table, fields, more = {}) => ['/query', { table, fields, and: [], sort: [], ...more }]
const count = (table, and, more = {}) => ['/count', { table, and, ...more }]
const aggregate = (table, groupBy, measures, more = {}) => ['/aggregate', { table, and: [], groupBy, measures, limit: 1001, ...more }]

const chicago = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/Chicago', year: 'numeric', month: '2-digit', day: '2-digit' })

export const faults = {
  // --- REST APIs

  'a long in list is sent with its first hundred values only': {
    kind: 'rest',
    where: where => lists(where, list => list.map(f => f.op === 'in' ? { ...f, values: f.values.slice(0, 100) } : f)),
    probe: shops => [count('premises', [{ field: 'id', op: 'in', values: column(shops, 'premises', 'id').slice(0, 180) }])],
  },
  'instants in filters are sent as whole seconds': {
    kind: 'rest',
    where(where) {
      const seconds = v => {
        const ms = typeof v === 'string' ? Date.parse(v) : NaN
        return Number.isNaN(ms) ? v : new Date(Math.floor(ms / 1000) * 1000).toISOString()
      }
      return lists(where, list => list.map(f => {
        if (f.type !== 'datetime') return f
        return { ...f, ...('value' in f ? { value: seconds(f.value) } : {}), ...('values' in f ? { values: f.values.map(seconds) } : {}) }
      }))
    },
    probe: shops => [count('customers', [{ field: 'updated_at', op: 'lte', value: column(shops, 'customers', 'updated_at')[7] }])],
  },
  'the size is the number of pages times the page size': {
    kind: 'rest',
    size: t => Math.ceil(t.rows.length / 100) * 100,
    probe: () => [['/size', { table: 'meters' }], ['/size', { table: 'tariffs' }]],
  },
  'a count is asked without the or block': {
    kind: 'rest',
    count(n, t, { body }) {
      if (!body.or?.length) return undefined
      const and = body.and.map(f => ({ ...f, at: place(t, f.field), type: t.fields[place(t, f.field)].type }))
      return t.rows.filter(row => keeps(row, and)).length
    },
    probe: () => [count('invoices', [{ field: 'total', op: 'gt', value: '100' }],
      { or: [[{ field: 'status', op: 'eq', value: 'paid' }], [{ field: 'status', op: 'eq', value: 'sent' }]] })],
  },
  'large integers are parsed as doubles': {
    kind: 'rest',
    cell: (v, field) => field.type === 'number' && typeof v === 'string' ? Number(v) : v,
    probe: () => [query('invoices', ['number', 'ledger'], { limit: 20 })],
  },

  // --- SQL

  'wildcards in a searched text are not escaped': {
    kind: 'sql',
    match(cell, f, t, right) {
      if (!['includes', 'startswith'].includes(f.op) || cell === null || f.value === null) return right
      const like = text(f.value).replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(/%/g, '[^]*').replace(/_/g, '[^]')
      return new RegExp((f.op === 'startswith' ? '^' : '') + like, 'u').test(text(cell))
    },
    probe: () => [query('tariffs', ['code'], { and: [{ field: 'code', op: 'startswith', value: 'STD_' }] }),
      count('meters', [{ field: 'serial', op: 'includes', value: '_' }])],
  },
  'the or block stands without brackets': {
    kind: 'sql',
    selected(rows, where, t) {
      if (where.or.length < 2 || where.and.length === 0) return undefined
      const [first, ...others] = where.or
      return t.rows.filter(row => keeps(row, where.and) && keeps(row, first) || others.some(g => keeps(row, g)))
    },
    probe: () => [query('payments', ['id'], {
      and: [{ field: 'amount', op: 'lt', value: '200' }],
      or: [[{ field: 'method', op: 'eq', value: 'cash' }], [{ field: 'method', op: 'eq', value: 'card' }]],
    })],
  },
  'nulls come first in descending order': {
    kind: 'sql',
    compare: (a, b, k) => k.dir === 'desc' && (a === null) !== (b === null) ? (a === null ? -1 : 1) : undefined,
    probe: () => [query('outages', ['began_at', 'affected'], { sort: [{ field: 'affected', dir: 'desc' }], limit: 10 })],
  },
  'distinct values are counted without regard to case': {
    kind: 'sql',
    distinct: (right, values, field) => field.type === 'string' ? { ...right, distinct: new Set(values.map(v => v.toLowerCase())).size } : right,
    probe: () => [['/cardinality', { table: 'premises', columns: ['city', 'id'] }]],
  },
  'orphans are counted as distinct keys': {
    kind: 'sql',
    link(right, { values, orphans }) {
      const n = new Set(orphans).size
      return { ...right, orphanCount: n, orphanRate: values.length ? n / values.length : 0 }
    },
    probe: () => [['/linkHitRate', { fromTable: 'readings', fromColumn: 'meter_serial', toTable: 'meters', toColumn: 'serial' }]],
  },

  // --- search engines

  'texts over 256 characters are not in the keyword index': {
    kind: 'search',
    match(cell, f, t, right) {
      if (f.type !== 'string' || cell === null || cell.length <= 256) return right
      return f.op === 'isnull' || f.op === 'nin'
    },
    probe: () => [count('premises', [{ field: 'access_note', op: 'notnull' }]),
      count('premises', [{ field: 'access_note', op: 'startswith', value: 'The meter stands' }])],
  },
  'groups come from an aggregation with its default of ten buckets': {
    kind: 'search',
    groups(answer, t, { body }) {
      if (body.groupBy.length === 0) return undefined
      const first = row => text(row[body.groupBy[0].as] ?? '')
      return [...answer].sort((a, b) => bytes(first(a), first(b))).slice(0, 10)
    },
    probe: () => [aggregate('premises', [{ field: 'postcode', as: 'p' }], [{ fn: 'count', as: 'n' }])],
  },

  // --- document stores

  'membership is looked for in the text of the list': {
    kind: 'document',
    match(cell, f, t, right) {
      if (f.op !== 'contains' || cell === null || f.value === null) return right
      return text(cell).includes(text(f.value))
    },
    probe: () => [count('customers', [{ field: 'prefers', op: 'contains', value: 'mail' }]), count('premises', [{ field: 'flags', op: 'contains', value: 3 }])],
  },
  'decimals are kept as text and sorted so': {
    kind: 'document',
    compare: (a, b, k) => k.type === 'decimal' && a !== null && b !== null ? (k.dir === 'desc' ? -1 : 1) * bytes(text(a), text(b)) : undefined,
    probe: () => [query('invoices', ['number', 'total'], { sort: [{ field: 'total', dir: 'asc' }], limit: 25 })],
  },

  // --- files

  'a text column of nothing but digits is read as integers': {
    kind: 'files',
    cell(v, field, t) {
      if (field.type !== 'string' || v === null || !/^0\d+$/.test(v)) return v
      const at = t.fields.indexOf(field)
      const digits = t.digits ??= new Map()
      if (!digits.has(at)) digits.set(at, t.rows.every(r => r[at] === null || /^\d+$/.test(r[at])))
      return digits.get(at) ? String(Number(v)) : v
    },
    probe: () => [query('premises', ['id', 'postcode'], { limit: 60 })],
  },
  'rows with a null key are dropped by grouping': {
    kind: 'files',
    groups: (answer, t, { body }) => answer.filter(row => body.groupBy.every(g => row[g.as] !== null)),
    probe: () => [aggregate('customers', [{ field: 'language', as: 'l' }], [{ fn: 'count', as: 'n' }])],
  },

  // --- ORMs

  'a second filter on a field replaces the first': {
    kind: 'orm',
    where: where => lists(where, list => [...new Map(list.map(f => [f.field, f])).values()]),
    probe: () => [count('readings', [{ field: 'read_on', op: 'gte', value: '2023-01-01' }, { field: 'read_on', op: 'lt', value: '2023-07-01' }])],
  },
  'dates become local midnights and leave a day early': {
    kind: 'orm',
    cell: (v, field) => field.type === 'date' && v !== null ? new Date(Date.parse(v) - 36e5).toISOString().slice(0, 10) : v,
    probe: () => [query('readings', ['meter_serial', 'read_on'], { limit: 5 })],
  },

  // --- paging

  'an offset becomes the number of a page': {
    kind: 'paging',
    window(wide, from, limit) {
      if (limit === undefined) return undefined
      const page = Math.floor(from / limit)
      return wide.slice(page * limit, (page + 1) * limit)
    },
    probe: () => [query('meters', ['serial'], { limit: 10, offset: 15 })],
  },
  'the next page begins after the last value of the first sort key': {
    kind: 'paging',
    window(wide, from, limit, { body, tables }) {
      const t = tables.get(body.table)
      const at = place(t, body.sort[0]?.field ?? t.primaryKey[0])
      if (at < 0 || wide.length <= 500) return undefined
      const value = i => key(wide[i][t.name][at], t.fields[at].type)
      const rows = []
      for (let i = 0; i < wide.length;) {
        rows.push(...wide.slice(i, i + 500))
        i += 500
        while (i < wide.length && value(i) === value(i - 1)) i++
      }
      return rows.slice(from, limit === undefined ? undefined : from + limit)
    },
    probe: () => [query('readings', ['meter_serial', 'read_on', 'source'], { sort: [{ field: 'source', dir: 'asc' }] })],
  },
  'pages that are fetched side by side are joined as they arrive': {
    kind: 'paging',
    rows(rows, { body }) {
      if (body.limit !== undefined || rows.length <= 1000) return undefined
      const all = pages(rows, 1000)
      const last = all.pop(), before = all.pop()
      // The last page is the shortest and overtakes the one before it.
      return last.length < before.length ? [...all.flat(), ...last, ...before] : undefined
    },
    probe: () => [query('payments', ['id', 'amount'], { sort: [{ field: 'amount', dir: 'desc' }] })],
  },

  // --- caches

  'the key of a kept count has no lists': {
    kind: 'caching',
    count(n, t, { body, shop, state }) {
      const counts = state.counts ??= new Map()
      const k = shop + JSON.stringify(body, ['table', 'and', 'or', 'field', 'op', 'value'])
      if (!counts.has(k)) counts.set(k, n)
      return counts.get(k)
    },
    probe: () => [count('invoices', [{ field: 'status', op: 'in', values: ['paid'] }]), count('invoices', [{ field: 'status', op: 'in', values: ['sent', 'reminded'] }])],
  },
  'the key of a kept page has no direction of the sort': {
    kind: 'caching',
    rows(rows, { body, shop, state }) {
      const kept = state.pages ??= new Map()
      const { table, and, or, fields, joins, limit, offset } = body
      const k = JSON.stringify([shop, table, and, or, body.sort.map(s => s.field), fields, joins, limit, offset])
      if (kept.has(k)) return kept.get(k)
      if (kept.size >= 100) kept.delete(kept.keys().next().value)
      kept.set(k, rows)
      return rows
    },
    probe: () => ['asc', 'desc'].map(dir => query('customers', ['ref', 'since'], { sort: [{ field: 'since', dir }], limit: 10 })),
  },

  // --- joins

  'the limit is set on the base table and not on the join': {
    kind: 'joins',
    window(wide, from, limit, { body }) {
      if (!body.joins?.length) return undefined
      const bases = [...new Set(wide.map(parts => parts[body.table]))]
      const kept = new Set(bases.slice(from, limit === undefined ? undefined : from + limit))
      return wide.filter(parts => kept.has(parts[body.table]))
    },
    probe: () => [query('meters', ['serial'], {
      limit: 10, joins: [{ fromTable: 'meters', toTable: 'readings', fromField: 'serial', toField: 'meter_serial', fields: [{ field: 'read_on', as: 'read_on', type: 'date' }] }],
    })],
  },
  'joined rows are kept by their key and the last one wins': {
    kind: 'joins',
    joined: found => found.slice(-1),
    probe: () => [query('premises', ['id'], {
      joins: [{ fromTable: 'premises', toTable: 'meters', fromField: 'id', toField: 'premise_id', fields: [{ field: 'serial', as: 'serial', type: 'string' }] }],
    })],
  },
  'only the first thousand rows of a joined table are read': {
    kind: 'joins',
    target: own => own.rows.length > 1000 ? { ...own, rows: own.rows.slice(0, 1000) } : own,
    probe: () => [query('invoices', ['number'], {
      joins: [{ fromTable: 'invoices', toTable: 'customers', fromField: 'customer_ref', toField: 'ref', fields: [{ field: 'name', as: 'customer', type: 'string' }] }],
    })],
  },

  // --- aggregates

  'instants are grouped by the day of the office': {
    kind: 'aggregates',
    bucket(v, grain) {
      if (typeof v !== 'string' || v.length <= 10 || Number.isNaN(Date.parse(v))) return undefined
      const [y, m, d] = chicago.format(new Date(v)).split('-')
      const month = grain === 'year' ? 1 : grain === 'quarter' ? 3 * Math.floor((m - 1) / 3) + 1 : Number(m)
      return `${y}-${String(month).padStart(2, '0')}-${grain === 'day' ? d : '01'}`
    },
    probe: () => [aggregate('payments', [{ field: 'booked_at', as: 'm', grain: 'month' }], [{ fn: 'count', as: 'n' }, { fn: 'sum', field: 'amount', as: 's' }])],
  },
  'distinct counts of pages are added up': {
    kind: 'aggregates',
    measure(right, m, values, field) {
      if (m.fn !== 'count_distinct') return undefined
      return pages(values, 500).reduce((n, page) => n + new Set(page.map(v => key(v, field.type))).size, 0)
    },
    probe: () => [aggregate('payments', [], [{ fn: 'count_distinct', field: 'method', as: 'd' }])],
  },

  // --- discovery

  'whether a column may be null is read from its first hundred rows': {
    kind: 'discovery',
    tables: (tables, ask) => tables.map(t => {
      const head = ask.tables.get(t.name).rows.slice(0, 100)
      return { ...t, fields: t.fields.map((f, at) => ({ ...f, nullable: head.some(r => r[at] === null) })) }
    }),
    probe: () => [['/discovery', {}]],
  },
  'each column of a composite key is called unique': {
    kind: 'discovery',
    tables: tables => tables.map(t => ({ ...t, fields: t.fields.map(f => ({ ...f, unique: f.unique || t.primaryKey.includes(f.name) })) })),
    probe: () => [['/discovery', {}]],
  },

  // --- tenants

  'the tenant of a request is a global variable': {
    kind: 'tenants',
    async wait(ask) {
      ask.state.current = ask.shop
      await sleep(4)
      ask.tables = ask.all.get(ask.state.current)
    },
    probe: () => [[count('payments', [{ field: 'method', op: 'eq', value: 'cash' }]),
      ['/count', { table: 'payments', and: [{ field: 'method', op: 'eq', value: 'cash' }], credentials: { shop: 'south' } }]]],
  },
  'the keys of a linked table are kept for all tenants': {
    kind: 'tenants',
    link(right, { values, from, to }, { body, state }) {
      const type = numeric(from.fields[place(from, body.fromColumn)].type) && numeric(to.fields[place(to, body.toColumn)].type) ? 'number' : 'string'
      const kept = state.keys ??= new Map()
      const k = `${to.name}.${body.toColumn}.${type}`
      if (!kept.has(k)) kept.set(k, new Set(to.rows.map(r => r[place(to, body.toColumn)]).filter(v => v !== null).map(v => key(v, type))))
      const orphans = values.filter(v => !kept.get(k).has(key(v, type)))
      return {
        fromNonNull: values.length, orphanCount: orphans.length, orphanRate: values.length ? orphans.length / values.length : 0,
        orphanSamples: [...new Set(orphans.map(text))].sort(bytes).slice(0, 20),
      }
    },
    probe: () => {
      const body = { fromTable: 'readings', fromColumn: 'meter_serial', toTable: 'meters', toColumn: 'serial' }
      return [['/linkHitRate', { ...body, credentials: { shop: 'south' } }], ['/linkHitRate', body]]
    },
  },
}
