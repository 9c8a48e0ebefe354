// How authors of connectors mix up their tenants, and whom they let in. Each fault hooks
// into one place of shop.mjs, which then asks for a key beside the shop. A fault marked
// wrong shows only to who sends wrong credentials. One marked others makes the rows of both
// tenants change at once, which the checks of tenants take for data that change.
export const keys = { north: 'north-key-of-this-shop', south: 'south-key-of-this-shop' }

// kept keeps the answers of a route by a key that says too little. It keeps no failures.
const kept = (route, by, when = () => true) => ({
  before: ask => ask.route === route && when(ask) ? ask.state[by(ask)] : undefined,
  after: (ask, answer) => {
    if (ask.route === route && when(ask)) ask.state[by(ask)] = answer
    return answer
  },
})
const url = ask => ask.route
const table = ask => ask.route + ask.body.table
const body = ask => {
  const { credentials, timeoutMs, idleTimeoutMs, ...rest } = ask.body
  return ask.route + JSON.stringify(rest)
}
// filtered is the request without its window.
const filtered = ask => ask.route + JSON.stringify([ask.body.table, ask.body.and, ask.body.or, ask.body.fields, ask.body.sort])
// lasting forgets what a fault kept after a number of requests, which stand for the time
// that a cache keeps its entries: by a clock, what a run meets would depend on its speed.
const lasting = (requests, fault) => ({
  before: ask => {
    if (ask.state.requests - (ask.state.since ?? 0) >= requests) {
      for (const k of Object.keys(ask.state)) if (k !== 'requests') delete ask.state[k]
      ask.state.since = ask.state.requests
    }
    return fault.before(ask)
  },
  after: fault.after,
})
const later = ms => new Promise(done => setTimeout(done, ms))
const named = credentials => keys[credentials.shop] && credentials.shop
const known = credentials => keys[credentials.shop] === credentials.key ? named(credentials) : undefined

export const tenantFaults = {
  none: {},
  'sizes are kept by the URL, without the body': kept('/size', url),
  'counts are kept by table and filters': kept('/count', body),
  'aggregates are kept by the request': kept('/aggregate', body),
  'grouped aggregates are kept by the request, others are not': kept('/aggregate', body, ask => ask.body.groupBy?.length > 0),
  'cardinalities are kept by the table': kept('/cardinality', ask => table(ask) + ask.body.columns),
  'link rates are kept by their columns': kept('/linkHitRate', body),
  'rows are kept by the request if there are filters': kept('/query', filtered, ask => ask.body.and?.length > 0 && !ask.body.limit && !ask.body.joins?.length),
  'pages are kept by table and window': kept('/query', body, ask => ask.body.limit !== undefined),
  'lists of a few rows are the same for everybody': kept('/query', filtered, ask => /^list/.test(ask.body.table) && !ask.body.limit && !ask.body.joins?.length),
  'one large table is kept by its name': kept('/count', body, ask => ask.body.table === 'orders'),
  'discovery is kept for eighty requests': lasting(80, kept('/discovery', url)),
  'sizes are kept for forty requests': lasting(40, kept('/size', body)),
  'the rows of a joined table are kept by its name': {
    target: (to, ask) => ask.state[to.name] ??= to,
  },
  'rows are kept by their key': {
    rows: (rows, ask, t) => t.primaryKey.length !== 1 || ask.body.joins?.length ? undefined : rows.map(row => {
      const k = JSON.stringify([t.name, row[t.primaryKey[0]], Object.keys(row)])
      return ask.state[k] ??= row
    }),
  },
  'aggregates are always those of the north': {
    before: ask => { if (ask.route === '/aggregate') ask.tables = ask.all.get('north') },
  },
  'cardinalities are over the rows of both': {
    distinct: (right, values, f, t, ask) => {
      const other = ask.all.get(ask.shop === 'north' ? 'south' : 'north').get(t.name)
      const at = t.fields.indexOf(f), more = other.rows.map(r => r[at]).filter(v => v !== null)
      return ask.shop === 'south' ? { nonNull: right.nonNull + more.length, distinct: new Set([...values, ...more].map(String)).size } : undefined
    },
  },
  'the shop stands in a variable while rows are waited for': {
    wait: async ask => {
      ask.state.shop = ask.shop
      if (ask.route === '/query') await later(2)
      ask.tables = ask.all.get(ask.state.shop)
    },
  },
  'equal requests under way share one answer': {
    wait: async ask => {
      if (ask.route !== '/cardinality') return
      const k = body(ask)
      const first = ask.state[k] ??= ask.shop
      await later(3)
      ask.tables = ask.all.get(first)
      delete ask.state[k]
    },
  },
  'the session of the token lasts eighty requests': {
    others: true,
    owner: (credentials, route, state) => {
      const own = known(credentials)
      if (!own) return undefined
      if (!(state.requests - state.since < 80)) Object.assign(state, { since: state.requests, shop: own })
      return state.shop
    },
  },
  'a connection of the pool belongs to who opened it': {
    owner: (credentials, route, state, socket) => {
      const own = known(credentials)
      if (own) socket.shop ??= own
      return own && route === '/aggregate' ? socket.shop : own
    },
  },
  'without credentials it is the shop of the last request': {
    owner: (credentials, route, state) => {
      const own = known(credentials)
      if (own) state.shop = own
      return own ?? (route === '/linkHitRate' && !credentials.shop ? state.shop : undefined)
    },
  },
  'the key is looked at by check and discovery only': {
    owner: (credentials, route) => ['/check', '/discovery'].includes(route) ? known(credentials) : named(credentials),
  },
  'connections are pooled by the name of the shop': {
    wrong: true,
    owner: (credentials, route, state) => {
      const own = known(credentials)
      if (own) state[own] = true
      return own ?? (credentials.key !== undefined && state[credentials.shop] ? named(credentials) : undefined)
    },
  },
}
