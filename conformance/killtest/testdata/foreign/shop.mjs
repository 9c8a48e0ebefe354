// A connector without this SDK over the tables of data.mjs or of another set, right as it stands, and wrong
// in one way of those sets. It serves every route of the protocol and joins.
//
//   PLATFORM_CONNECTOR_TOKEN=... node shop.mjs SEED [FAULT]   # prints its port
//   PLATFORM_CONNECTOR_TOKEN=... node shop.mjs SEED utility   # over the tables of a set, and right
//   node shop.mjs list                                        # prints the faults as JSON
//   node shop.mjs probe SEED                                  # prints the faults that change no answer to their probe
//   node shop.mjs tenants                                     # prints the faults of tenants.mjs as JSON
//
// The credential "shop" is north or south; each has its own rows. With a fault of tenants.mjs, even with none, there is
// a key beside it.
import { createServer } from 'node:http'
import { make as clinics } from './clinics.mjs'
import { faults as ofClinics } from './clinicsfaults.mjs'
import { make } from './data.mjs'
import { faults as field } from './field.mjs'
import { make as freight } from './freight.mjs'
import { faults as ofFreight } from './freightfaults.mjs'
import { make as hotels } from './hotels.mjs'
import { faults as ofHotels } from './hotelsfaults.mjs'
import { make as municipal } from './municipal.mjs'
import { faults as ofMunicipal } from './municipalfaults.mjs'
import * as semantics from './semantics.mjs'
import { keys, tenantFaults } from './tenants.mjs'
import { make as university } from './university.mjs'
import { faults as ofUniversity } from './universityfaults.mjs'
import { make as utility } from './utility.mjs'
import { faults as ofUtility } from './utilityfaults.mjs'

// Each set of faults is by another author, and planted over tables: those of data.mjs, or the author's own.
const sets = {
  field: [make, field], utility: [utility, ofUtility], municipal: [municipal, ofMunicipal], clinics: [clinics, ofClinics],
  freight: [freight, ofFreight], hotels: [hotels, ofHotels], university: [university, ofUniversity],
}
const faults = Object.fromEntries(Object.entries(sets).flatMap(([set, [make, list]]) =>
  Object.entries(list).map(([name, fault]) => [name, { ...fault, make, set }])))

// right is no fault, over the tables of a set.
const right = set => sets[set] && { make: sets[set][0] }

const { numeric, text, bytes, key } = semantics
const operators = ['eq', 'neq', 'gt', 'gte', 'lt', 'lte', 'contains', 'includes', 'startswith', 'in', 'nin', 'isnull', 'notnull']
const shops = ['north', 'south']

class Refusal extends Error {
  constructor(status, code, message) { super(message); Object.assign(this, { status, code }) }
}
const want = (ok, message) => { if (!ok) throw new Refusal(400, 'bad_request', message) }

// tablesOf makes the tables of each shop once: a probe has a connector for each of many faults, and none changes rows.
const tablesOf = semantics.once(make => semantics.once(seed => new Map(shops.map((name, i) => [name, make(seed, i)]))))

// Connector answers requests over the tables of a seed, with the hooks of a fault.
export class Connector {
  constructor(seed, fault = {}) {
    this.fault = fault
    this.state = { requests: 0 } // what a fault keeps between requests
    this.keyed = Object.values(tenantFaults).includes(fault)
    this.shops = tablesOf(fault.make ?? make)(seed)
  }

  document() {
    return {
      protocolVersion: 1, slug: 'shop-by-hand',
      capabilities: {
        operators, dateBucket: true, sort: 'multi', offset: true, join: true, keysEnforced: true, limits: { concurrency: 4 },
      },
      credentialSchema: [
        { key: 'shop', label: 'Shop', type: 'text', required: true },
        ...(this.keyed ? [{ key: 'key', label: 'Key', type: 'password', required: true }] : []),
      ],
      endpoints: ['size', 'count', 'aggregate', 'cardinality', 'linkHitRate'],
    }
  }

  // answer returns { status, body } or { rows } for a stream.
  async answer(route, body, socket) {
    want(semantics.isObject(body), 'the body must be an object')
    want(semantics.isObject(body.credentials) && Object.values(body.credentials).every(v => typeof v === 'string'), 'credentials must be a flat object of strings')
    want(Number.isSafeInteger(body.timeoutMs) && body.timeoutMs > 0, 'timeoutMs must be a positive integer')
    this.state.requests++
    const shop = this.owner(body.credentials, route, socket)
    if (!shop || !this.shops.has(shop)) {
      throw new Refusal(400, route === '/check' ? 'check_failed' : 'bad_request', 'Shop is not known. Use north or south.')
    }
    const ask = { route, body, shop, tables: this.shops.get(shop), all: this.shops, state: this.state }
    const kept = this.fault.before?.(ask)
    if (kept !== undefined) return kept
    if (this.fault.wait) await this.fault.wait(ask)
    let answer
    switch (route) {
      case '/check': answer = { body: { ok: true } }; break
      case '/discovery': answer = { body: this.discovery(ask) }; break
      case '/query': answer = this.query(ask); break
      case '/count': answer = { body: { count: this.count(ask) } }; break
      case '/size': answer = { body: this.size(ask) }; break
      case '/cardinality': answer = { body: this.cardinality(ask) }; break
      case '/linkHitRate': answer = { body: this.linkHitRate(ask) }; break
      case '/aggregate': answer = { body: this.aggregate(ask) }; break
    }
    answer = this.fault.after?.(ask, answer) ?? answer
    return answer
  }

  // owner returns whose the credentials are.
  owner(credentials, route, socket) {
    if (this.fault.owner) return this.fault.owner(credentials, route, this.state, socket)
    return !this.keyed || keys[credentials.shop] === credentials.key ? credentials.shop : undefined
  }

  table(ask, name) {
    want(typeof name === 'string', 'table must be a string')
    const t = ask.tables.get(name)
    if (!t) throw new Refusal(404, 'unknown_entity', `there is no table ${JSON.stringify(name)}`)
    return t
  }
  place(t, name, status = 404) {
    const at = t.fields.findIndex(f => f.name === name)
    if (at < 0) throw new Refusal(status, status === 422 ? 'unsupported' : 'unknown_entity', `there is no field ${JSON.stringify(name)} in ${t.name}`)
    return at
  }
  // cell is a value of a row as a fault lets it be seen.
  cell(ask, t, row, at) {
    const v = row[at]
    return this.fault.cell ? this.fault.cell(v, t.fields[at], t, row, ask) : v
  }

  discovery(ask) {
    const tables = [...ask.tables.values()].map(t => ({
      name: t.name, sourceDescription: '', storesRows: true, primaryKey: t.primaryKey, foreignKeys: t.foreignKeys,
      ...(t.counted ? { rowCount: t.rows.length } : {}),
      fields: t.fields.map((f, at) => ({
        name: f.name, sourceColumn: f.name, type: f.type, nullable: f.nullable, unique: f.unique,
        samples: t.rows.slice(0, 3).map(r => r[at]).filter(v => v !== null), sourceDescription: '',
      })),
    }))
    return { tables: this.fault.tables?.(tables, ask) ?? tables }
  }

  // select returns the rows that the filters keep.
  select(ask, t) {
    const { body } = ask
    filters(body.and, 'and')
    want(body.or === undefined || Array.isArray(body.or), 'or must be an array')
    for (const group of body.or ?? []) filters(group, 'or')
    want(body.fieldTypes === undefined || semantics.isObject(body.fieldTypes), 'fieldTypes must be an object')
    const place = f => {
      const at = this.place(t, f.field, 422)
      return { ...f, at, type: t.fields[at].type }
    }
    let where = { and: body.and.map(place), or: (body.or ?? []).map(g => g.map(place)) }
    where = this.fault.where?.(where, t, ask) ?? where
    const matches = (row, f) => {
      const right = semantics.match(row[f.at], f, f.type)
      return this.fault.match?.(row[f.at], f, t, right, row, ask) ?? right
    }
    const all = (row, list) => list.every(f => matches(row, f))
    const rows = t.rows.filter(row => all(row, where.and) && (where.or.length === 0 || where.or.some(g => all(row, g))))
    return this.fault.selected?.(rows, where, t, ask) ?? rows
  }

  order(ask, t, rows) {
    const keys = ask.body.sort.map(k => {
      const at = this.place(t, k.field)
      return { at, type: t.fields[at].type, dir: k.dir, field: k.field }
    })
    for (const at of t.primaryKey.map(name => this.place(t, name))) keys.push({ at, type: t.fields[at].type, dir: 'asc' })
    const used = this.fault.keys?.(keys, t, ask) ?? keys
    return [...rows].sort((a, b) => {
      for (const k of used) {
        const wrong = this.fault.compare?.(a[k.at], b[k.at], k, t)
        const c = wrong ?? inOrder(a[k.at], b[k.at], k)
        if (c) return c
      }
      return 0
    })
  }

  // join returns each row followed by the fields of its hops.
  join(ask, t, rows, hops) {
    let wide = rows.map(row => ({ [t.name]: row }))
    for (const hop of hops) {
      const from = this.table(ask, hop.fromTable), own = this.table(ask, hop.toTable)
      const to = this.fault.target?.(own, ask) ?? own
      const fromAt = this.place(from, hop.fromField), toAt = this.place(to, hop.toField)
      const both = numeric(from.fields[fromAt].type) && numeric(to.fields[toAt].type)
      const type = both ? 'number' : 'string'
      const spell = this.fault.joinKey ?? (v => key(v, type))
      const index = new Map()
      for (const row of to.rows) {
        if (row[toAt] === null) continue
        const k = spell(row[toAt], type)
        if (!index.has(k)) index.set(k, [])
        index.get(k).push(row)
      }
      wide = wide.flatMap(row => {
        const v = row[hop.fromTable]?.[fromAt] ?? null
        let found = v === null ? [] : index.get(spell(v, type)) ?? []
        found = this.fault.joined?.(found, v, hop, ask, row) ?? found
        if (found.length === 0) return [{ ...row, [placeOf(hop, t)]: null }]
        return found.map(other => ({ ...row, [placeOf(hop, t)]: other }))
      })
    }
    return wide
  }

  query(ask) {
    const { body } = ask
    members(body, ['table', 'and', 'sort', 'fields', 'credentials', 'timeoutMs'],
      ['or', 'limit', 'offset', 'joins', 'fieldTypes', 'idleTimeoutMs', 'maxTimeoutMs'], 'the body')
    want(Array.isArray(body.sort) && body.sort.every(semantics.isObject), 'sort must be an array of objects')
    for (const k of body.sort) {
      members(k, ['field', 'dir'], ['collate'], 'sort')
      want(typeof k.field === 'string' && ['asc', 'desc'].includes(k.dir), 'sort needs a field, and asc or desc')
      want(['boolean', 'undefined'].includes(typeof k.collate), 'collate must be a boolean')
    }
    want(Array.isArray(body.fields) && body.fields.every(f => typeof f === 'string'), 'fields must be an array of strings')
    const whole = (name, least) => want(body[name] === undefined || Number.isSafeInteger(body[name]) && body[name] >= least, `${name} must be an integer of at least ${least}`)
    whole('limit', 1)
    whole('offset', 0)
    whole('idleTimeoutMs', 1)
    whole('maxTimeoutMs', 1)
    want(body.joins === undefined || Array.isArray(body.joins), 'joins must be an array')
    const hops = body.joins ?? []
    for (const hop of hops) hopShape(hop)
    const t = this.table(ask, body.table)
    const places = body.fields.map(name => this.place(t, name))
    const reached = new Set([t.name]), joined = new Set()
    const names = [...body.fields]
    for (const hop of hops) {
      want(reached.has(hop.fromTable), `${hop.fromTable} is not joined before`)
      if (joined.has(hop.toTable)) throw new Refusal(422, 'unsupported', `${hop.toTable} is joined twice`)
      reached.add(hop.toTable)
      joined.add(hop.toTable)
      const to = this.table(ask, hop.toTable)
      for (const f of hop.fields) {
        this.place(to, f.field)
        names.push(f.as ?? f.field)
      }
    }
    want(new Set(names).size === names.length, 'two fields have one name')
    const sorted = this.order(ask, t, this.select(ask, t))
    let wide = this.join(ask, t, sorted, hops)
    const from = body.offset ?? 0
    const window = this.fault.window?.(wide, from, body.limit, ask)
    wide = window ?? wide.slice(from, body.limit === undefined ? undefined : from + body.limit)
    let rows = wide.map(parts => {
      const row = {}
      places.forEach((at, n) => { row[body.fields[n]] = this.cell(ask, t, parts[t.name], at) })
      for (const hop of hops) {
        const to = this.table(ask, hop.toTable)
        for (const f of hop.fields) row[f.as ?? f.field] = parts[placeOf(hop, t)] ? this.cell(ask, to, parts[placeOf(hop, t)], this.place(to, f.field)) : null
      }
      return row
    })
    rows = this.fault.rows?.(rows, ask, t) ?? rows
    return { rows }
  }

  count(ask) {
    members(ask.body, ['table', 'and', 'credentials', 'timeoutMs'], ['or', 'fieldTypes'], 'the body')
    const t = this.table(ask, ask.body.table)
    const n = this.select(ask, t).length
    return this.fault.count?.(n, t, ask) ?? n
  }

  size(ask) {
    const t = this.table(ask, ask.body.table)
    return { size: { rows: this.fault.size?.(t, ask) ?? t.rows.length, exact: true } }
  }

  cardinality(ask) {
    const t = this.table(ask, ask.body.table)
    want(Array.isArray(ask.body.columns) && ask.body.columns.length > 0, 'columns must name a column')
    const columns = {}
    for (const name of ask.body.columns) {
      const at = this.place(t, name), { type } = t.fields[at]
      const values = t.rows.map(r => r[at]).filter(v => v !== null)
      const right = { nonNull: values.length, distinct: new Set(values.map(v => key(v, type))).size }
      columns[name] = this.fault.distinct?.(right, values, t.fields[at], t, ask) ?? right
    }
    return { columns }
  }

  linkHitRate(ask) {
    const { body } = ask
    const from = this.table(ask, body.fromTable), to = this.table(ask, body.toTable)
    const fromAt = this.place(from, body.fromColumn), toAt = this.place(to, body.toColumn)
    const type = numeric(from.fields[fromAt].type) && numeric(to.fields[toAt].type) ? 'number' : 'string'
    const known = new Set(to.rows.filter(r => r[toAt] !== null).map(r => key(r[toAt], type)))
    const values = from.rows.map(r => r[fromAt]).filter(v => v !== null)
    const orphans = values.filter(v => !known.has(key(v, type)))
    const right = {
      fromNonNull: values.length, orphanCount: orphans.length, orphanRate: values.length ? orphans.length / values.length : 0,
      orphanSamples: [...new Set(orphans.map(text))].sort(bytes).slice(0, 20),
    }
    return this.fault.link?.(right, { values, orphans, from, to }, ask) ?? right
  }

  aggregate(ask) {
    const { body } = ask
    members(body, ['table', 'and', 'groupBy', 'measures', 'limit', 'credentials', 'timeoutMs'],
      ['or', 'stringFields', 'joins', 'fieldTypes'], 'the body')
    want(Array.isArray(body.groupBy) && Array.isArray(body.measures), 'groupBy and measures must be arrays')
    want(body.groupBy.length + body.measures.length > 0, 'ask for a group or a measure')
    want(Number.isSafeInteger(body.limit) && body.limit > 0, 'limit must be a positive integer')
    const t = this.table(ask, body.table)
    const rows = this.select(ask, t)
    if (body.joins?.length) return null
    const groups = new Map()
    const keys = body.groupBy.map(g => {
      members(g, ['field', 'as'], ['grain'], 'groupBy')
      want(g.grain === undefined || ['year', 'quarter', 'month', 'day'].includes(g.grain), 'no such grain')
      return { ...g, at: this.place(t, g.field) }
    })
    const measures = body.measures.map(m => {
      members(m, ['fn', 'as'], ['field'], 'measures')
      want(['count', 'sum', 'min', 'max', 'count_distinct'].includes(m.fn), 'no such fn')
      want(m.fn === 'count' || m.field !== undefined, `${m.fn} needs a field`)
      return { ...m, at: m.field === undefined ? -1 : this.place(t, m.field) }
    })
    for (const row of rows) {
      const values = keys.map(g => {
        const v = row[g.at]
        if (g.grain === undefined || v === null) return v
        return this.fault.bucket?.(v, g.grain) ?? bucket(v, g.grain)
      })
      const k = values.map((v, i) => this.fault.group?.(v, t.fields[keys[i].at]) ?? key(v, keys[i].grain ? 'string' : t.fields[keys[i].at].type)).join('\u0000')
      if (!groups.has(k)) groups.set(k, { values, rows: [] })
      groups.get(k).rows.push(row)
    }
    if (keys.length === 0 && groups.size === 0) groups.set('', { values: [], rows: [] })
    if (groups.size >= body.limit) throw new Refusal(422, 'unsupported', 'more groups than the limit; filter or group less finely')
    const answer = [...groups.values()].map(g => {
      const out = {}
      keys.forEach((k, i) => { out[k.as] = g.values[i] })
      for (const m of measures) {
        const values = m.at < 0 ? g.rows : g.rows.map(r => r[m.at]).filter(v => v !== null)
        const right = fold(m, values, t.fields[m.at]?.type)
        const wrong = this.fault.measure?.(right, m, values, t.fields[m.at], t, ask, g.rows)
        out[m.as] = wrong === undefined ? right : wrong
      }
      return out
    })
    return { rows: this.fault.groups?.(answer, t, ask) ?? answer }
  }
}

// placeOf is where a joined row keeps the row of a hop: a table may be joined to itself.
function placeOf(hop, base) { return hop.toTable === base.name ? `${hop.toTable} again` : hop.toTable }

function inOrder(x, y, k) {
  if (x === null || y === null) return x === y ? 0 : x === null ? 1 : -1
  const sign = k.dir === 'desc' ? -1 : 1
  return sign * (semantics.compare(x, y, k.type) ?? bytes(text(x), text(y)))
}

function bucket(v, grain) {
  const [y, m, d] = v.slice(0, 10).split('-')
  switch (grain) {
    case 'year': return `${y}-01-01`
    case 'quarter': return `${y}-${String(3 * Math.floor((m - 1) / 3) + 1).padStart(2, '0')}-01`
    case 'month': return `${y}-${m}-01`
    default: return `${y}-${m}-${d}`
  }
}

function fold(m, values, type) {
  if (m.fn === 'count') return values.length
  if (m.fn === 'count_distinct') return new Set(values.map(v => key(v, type))).size
  if (values.length === 0) return null
  if (m.fn === 'sum') return semantics.sum(values)
  const sign = m.fn === 'min' ? 1 : -1
  return values.reduce((best, v) => sign * semantics.compare(v, best, type) < 0 ? v : best)
}

function members(o, required, optional, name) {
  want(semantics.isObject(o), `${name} must be an object`)
  for (const k of required) want(k in o, `${name}.${k} is missing`)
  for (const k of Object.keys(o)) want(required.includes(k) || optional.includes(k), `${name} has an unknown member`)
}
function hopShape(hop) {
  members(hop, ['fromTable', 'toTable', 'fromField', 'toField', 'fields'], [], 'joins')
  want(Array.isArray(hop.fields), 'joins.fields must be an array')
  for (const f of hop.fields) members(f, ['field', 'type'], ['as'], 'joins.fields')
}
function filters(list, name) {
  const scalar = v => v === null || ['string', 'number', 'boolean'].includes(typeof v)
  want(Array.isArray(list), `${name} must be an array`)
  for (const f of list) {
    want(semantics.isObject(f) && typeof f.field === 'string' && operators.includes(f.op), `${name}: a filter needs a field and an operator`)
    if (f.op === 'in' || f.op === 'nin') {
      members(f, ['field', 'op', 'values'], [], name)
      want(Array.isArray(f.values) && f.values.every(scalar), `${name}: values must be an array of scalars`)
    } else if (f.op === 'isnull' || f.op === 'notnull') {
      members(f, ['field', 'op'], [], name)
    } else {
      members(f, ['field', 'op', 'value'], [], name)
      want(scalar(f.value), `${name}: value must be a scalar`)
    }
  }
}

// --- HTTP

const routes = ['/check', '/discovery', '/query', '/count', '/aggregate', '/size', '/cardinality', '/linkHitRate']

function serve(connector, token) {
  const send = (res, status, body) => {
    res.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    res.end(body === null ? undefined : JSON.stringify(body))
  }
  return createServer(async (req, res) => {
    try {
      const path = req.url.split('?')[0]
      if (path === '/.well-known/service/platform.json') return send(res, 200, connector.document())
      if (!routes.includes(path)) throw new Refusal(404, 'not_found', 'there is no such route')
      if (req.method !== 'POST') {
        res.setHeader('allow', 'POST')
        throw new Refusal(405, 'method_not_allowed', 'only POST')
      }
      if (req.url.includes('?') || req.headers.authorization !== `Bearer ${token}`) throw new Refusal(401, 'unauthorized', 'the bearer token is missing or wrong')
      const chunks = []
      for await (const chunk of req) chunks.push(chunk)
      let body
      try { body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))) } catch { want(false, 'the body is not JSON') }
      const answer = await connector.answer(path, body, req.socket)
      if (!answer.rows) return answer.body === null ? (res.writeHead(204), res.end()) : send(res, 200, answer.body)
      res.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' })
      res.write('{"served":{"filters":true,"sort":true,"window":true}}\n')
      if (answer.blank) res.write('{"rows":[]}\n')
      for (let i = 0; i < answer.rows.length; i += 1000) res.write(JSON.stringify({ rows: answer.rows.slice(i, i + 1000) }) + '\n')
      res.end(answer.cut ? '' : '{"end":1}\n')
    } catch (e) {
      if (e instanceof Refusal) return send(res, e.status, { error: { code: e.code, message: e.message } })
      console.error(e)
      send(res, 500, { error: { code: 'internal', message: 'internal error' } })
    }
  })
}

// probe reports whether a fault changes the answers to the requests that are named beside it, of the connector that is
// right over the same tables. A list of requests among them is sent at once.
async function probe(seed, fault, right) {
  const answers = async c => {
    const ask = ([route, body]) => c.answer(route, { credentials: { shop: 'north' }, timeoutMs: 1000, ...body }).catch(e => e.message)
    const out = []
    for (const request of fault.probe(c.shops)) {
      out.push(await (Array.isArray(request[0]) ? Promise.all(request.map(ask)) : ask(request)))
    }
    return JSON.stringify(out)
  }
  return await answers(right) !== await answers(new Connector(seed, fault))
}

const [command, ...rest] = process.argv.slice(2)
if (command === 'list') {
  console.log(JSON.stringify(Object.entries(faults).map(([name, f]) => ({ name, kind: f.kind, set: f.set }))))
} else if (command === 'tenants') {
  console.log(JSON.stringify(Object.entries(tenantFaults).map(([name, f]) => ({ name, wrong: f.wrong ?? false, others: f.others ?? false }))))
} else if (command === 'probe') {
  const seed = Number(rest[0]), rights = {}
  for (const [name, fault] of Object.entries(faults)) {
    rights[fault.set] ??= new Connector(seed, right(fault.set))
    if (!await probe(seed, fault, rights[fault.set])) console.log(name)
  }
} else if (command !== undefined) {
  const token = process.env.PLATFORM_CONNECTOR_TOKEN ?? ''
  if (token.length < 32) throw new Error('PLATFORM_CONNECTOR_TOKEN must have at least 32 characters')
  const fault = faults[rest[0]] ?? tenantFaults[rest[0]] ?? right(rest[0])
  if (rest[0] && !fault) throw new Error(`there is no fault ${JSON.stringify(rest[0])}`)
  const server = serve(new Connector(Number(command), fault), token)
  server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => console.log(server.address().port))
}
