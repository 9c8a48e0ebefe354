// A connector without this SDK, for the tests of the conformance program: the
// corpus, as written by `conform -fixture DIR`, served by Node's standard
// library. It filters, sorts and cuts the window itself, and counts.
//
//   PLATFORM_CONNECTOR_TOKEN=... node connector.mjs DIR [fault]
//
// With a fault it is wrong in that one way: "neq-null" lets neq match nulls,
// "no-end" forgets the line that ends a stream.
import { createServer } from 'node:http'
import { createHash, timingSafeEqual } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as semantics from './semantics.mjs'

const [dir, fault] = process.argv.slice(2)
const token = process.env.PLATFORM_CONNECTOR_TOKEN ?? ''
if (token.length < 32) throw new Error('PLATFORM_CONNECTOR_TOKEN must have at least 32 characters')

const tables = new Map()
for (const file of readdirSync(join(dir, 'json')).sort()) {
  if (!file.endsWith('.json')) continue
  const { table, rows } = JSON.parse(readFileSync(join(dir, 'json', file), 'utf8'))
  tables.set(table.name, { table, rows: rows.map(row => table.fields.map(f => row[f.name])) })
}

class Refusal extends Error {
  constructor(status, code, message) { super(message); Object.assign(this, { status, code }) }
}
const bad = message => new Refusal(400, 'bad_request', message)

// --- the document

const valueOps = ['eq', 'neq', 'gt', 'gte', 'lt', 'lte', 'contains', 'includes', 'startswith']
const memberOps = ['in', 'nin']
const nullOps = ['isnull', 'notnull']
const document = {
  protocolVersion: 1,
  slug: 'foreign',
  capabilities: {
    operators: [...valueOps, ...memberOps, ...nullOps], dateBucket: false, sort: 'multi', offset: true, join: false,
    keysEnforced: false, limits: { concurrency: 4 },
  },
  credentialSchema: [],
  endpoints: ['count', 'size'],
}

// --- comparing

const { compare, bytes, text, isObject } = semantics
// match reports whether a cell satisfies a filter.
function match(cell, f, type) {
  if (fault === 'neq-null' && f.op === 'neq' && cell === null) return true
  return semantics.match(cell, f, type)
}

// --- requests

const want = (ok, message) => { if (!ok) throw bad(message) }
const isScalar = v => v === null || ['string', 'number', 'boolean'].includes(typeof v)
const isList = (v, of) => Array.isArray(v) && v.every(of)
const members = (o, required, optional, name) => {
  want(isObject(o), `${name} must be an object`)
  for (const key of required) want(key in o, `${name}.${key} is missing`)
  for (const key of Object.keys(o)) want(required.includes(key) || optional.includes(key), `${name} has an unknown member`)
}
function filters(list, name) {
  want(Array.isArray(list), `${name} must be an array`)
  for (const f of list) {
    want(isObject(f), `${name}: a filter must be an object`)
    if (memberOps.includes(f.op)) members(f, ['field', 'op', 'values'], [], name)
    else if (nullOps.includes(f.op)) members(f, ['field', 'op'], [], name)
    else members(f, ['field', 'op', 'value'], [], name)
    want(typeof f.field === 'string' && document.capabilities.operators.includes(f.op), `${name}: no such operator`)
    want(!('value' in f) || isScalar(f.value), `${name}: value must be a scalar`)
    want(!('values' in f) || isList(f.values, isScalar), `${name}: values must be an array of scalars`)
  }
}
function common(body) {
  want(isObject(body.credentials) && Object.values(body.credentials).every(v => typeof v === 'string'), 'credentials must be a flat object of strings')
  want(Number.isSafeInteger(body.timeoutMs) && body.timeoutMs > 0, 'timeoutMs must be a positive integer')
}
function lookup(name) {
  want(typeof name === 'string', 'table must be a string')
  const t = tables.get(name)
  if (!t) throw new Refusal(404, 'unknown_entity', 'there is no such table')
  return t
}

// select are the rows that the filters keep, each as an array.
function select(t, body) {
  filters(body.and, 'and')
  want(body.or === undefined || Array.isArray(body.or), 'or must be an array')
  for (const group of body.or ?? []) filters(group, 'or')
  const types = body.fieldTypes ?? {}
  want(isObject(types), 'fieldTypes must be an object')
  const fields = new Map(t.table.fields.map((f, i) => [f.name, { at: i, type: f.type }]))
  const place = f => {
    const field = fields.get(f.field)
    if (!field) throw new Refusal(422, 'unsupported', `there is no field ${JSON.stringify(f.field)} to filter by`)
    return { ...f, ...field }
  }
  const and = body.and.map(place), groups = (body.or ?? []).map(g => g.map(place))
  const all = (row, list) => list.every(f => match(row[f.at], f, f.type))
  return t.rows.filter(row => all(row, and) && (groups.length === 0 || groups.some(g => all(row, g))))
}

function order(rows, t, keys) {
  const places = keys.map(k => {
    const at = t.table.fields.findIndex(f => f.name === k.field)
    if (at < 0) throw new Refusal(404, 'unknown_entity', 'there is no such field to sort by')
    return { at, type: t.table.fields[at].type, sign: k.dir === 'desc' ? -1 : 1 }
  })
  return [...rows].sort((a, b) => {
    for (const { at, type, sign } of places) {
      const x = a[at], y = b[at]
      if (x === null || y === null) {
        if (x !== y) return x === null ? 1 : -1
        continue
      }
      const c = sign * (compare(x, y, type) ?? bytes(text(x), text(y)))
      if (c) return c
    }
    return 0
  })
}

function query(body, res) {
  members(body, ['table', 'and', 'sort', 'fields', 'credentials', 'timeoutMs'],
    ['or', 'limit', 'offset', 'joins', 'fieldTypes', 'idleTimeoutMs', 'maxTimeoutMs'], 'the body')
  common(body)
  want(isList(body.sort, isObject), 'sort must be an array of objects')
  for (const k of body.sort) {
    members(k, ['field', 'dir'], ['collate'], 'sort')
    want(typeof k.field === 'string', 'field must be a string')
    want(['asc', 'desc'].includes(k.dir), 'dir must be asc or desc')
    want(['boolean', 'undefined'].includes(typeof k.collate), 'collate must be a boolean')
  }
  want(isList(body.fields, f => typeof f === 'string'), 'fields must be an array of strings')
  const whole = (name, least) => want(body[name] === undefined || Number.isSafeInteger(body[name]) && body[name] >= least, `${name} must be an integer of at least ${least}`)
  whole('limit', 1)
  whole('offset', 0)
  whole('idleTimeoutMs', 1)
  whole('maxTimeoutMs', 1)
  want(body.joins === undefined || Array.isArray(body.joins), 'joins must be an array')
  if (body.joins?.length) throw new Refusal(422, 'unsupported', 'this connector does not join')
  const t = lookup(body.table)
  const places = body.fields.map(name => t.table.fields.findIndex(f => f.name === name))
  if (places.includes(-1)) throw new Refusal(404, 'unknown_entity', 'there is no such field')
  const offset = body.offset ?? 0
  const rows = order(select(t, body), t, body.sort).slice(offset, body.limit === undefined ? undefined : offset + body.limit)
  res.writeHead(200, { 'content-type': 'application/x-ndjson', 'cache-control': 'no-store' })
  res.write(JSON.stringify({ served: { filters: true, sort: true, window: true } }) + '\n')
  for (let i = 0; i < rows.length; i += 1000) {
    const batch = rows.slice(i, i + 1000).map(row => Object.fromEntries(places.map((at, n) => [body.fields[n], row[at]])))
    res.write(JSON.stringify({ rows: batch }) + '\n')
  }
  res.end(fault === 'no-end' ? '' : '{"end":1}\n')
}

const routes = {
  '/check': body => { common(body); return { ok: true } },
  '/discovery': body => { common(body); return { tables: [...tables.values()].map(t => t.table) } },
  '/size': body => { common(body); return { size: { rows: lookup(body.table).rows.length, exact: true } } },
  '/count': body => {
    members(body, ['table', 'and', 'credentials', 'timeoutMs'], ['or', 'fieldTypes'], 'the body')
    common(body)
    return { count: select(lookup(body.table), body).length }
  },
}

// --- HTTP

const digest = s => createHash('sha256').update(s).digest()
const authorized = req => {
  const header = req.headers.authorization ?? ''
  return !req.url.includes('?') && timingSafeEqual(digest(header), digest(`Bearer ${token}`))
}
const answer = (res, status, body) => {
  res.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  res.end(JSON.stringify(body))
}

const server = createServer(async (req, res) => {
  try {
    const path = req.url.split('?')[0]
    if (path === '/.well-known/service/platform.json') return answer(res, 200, document)
    if (path !== '/query' && !(path in routes)) throw new Refusal(404, 'not_found', 'there is no such route')
    if (req.method !== 'POST') {
      res.setHeader('allow', 'POST')
      throw new Refusal(405, 'method_not_allowed', 'only POST')
    }
    if (!authorized(req)) throw new Refusal(401, 'unauthorized', 'the bearer token is missing or wrong')
    const chunks = []
    for await (const chunk of req) chunks.push(chunk)
    let body
    try { body = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))) } catch { throw bad('the body is not JSON') }
    want(isObject(body), 'the body must be an object')
    if (path === '/query') query(body, res)
    else answer(res, 200, routes[path](body))
  } catch (e) {
    if (e instanceof Refusal) return answer(res, e.status, { error: { code: e.code, message: e.message } })
    console.error(e)
    answer(res, 500, { error: { code: 'internal', message: 'internal error' } })
  }
})
server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => console.log(server.address().port))
