// The tables of two tenants, made from a seed: what a small shop keeps. They hold what
// authors stumble over: text keys with leading zeros, names that differ in case or in ß
// and ss, notes with quotes, wildcards and line breaks, nulls in most columns, amounts
// with two digits, instants with milliseconds, integers beyond 2^53. A few values are set
// by their place, not drawn: empty and long notes, the days around New Year, due dates after 2038.

import { described, random } from './tables.mjs'

const given = ['Anna', 'Björn', 'Çelik', 'Dvořák', 'Émile', 'Fatma', 'Groß', 'Gross', 'İrem', 'irem', 'Jörg', 'Łukasz', 'Maria', 'maria',
  'Ñandú', 'Olga', 'Zoë', '张伟', '😀 Smith', "O'Brien"]
const family = ['Adler', 'Baker', 'Costa', 'Duarte', 'Egger', 'Fox', 'Grün', 'Huber', 'Ito', 'Jansen']
const notes = ['call back', 'gift wrap', '100% wool', 'a_b', 'said "no"', "it's late", 'C:\\temp', 'first line\nsecond line', 'tab\there',
  'a+b & c', 'trailing ', ' leading', 'Straße', 'strasse', 'e\u0301te', '\u00e9te', 'x; DROP TABLE y', 'one,two', '{"a":1}', 'émigré']
const statuses = ['open', 'paid', 'shipped', 'returned']
const regions = ['north', 'south', 'east', 'west', 'North']

const newYears = ['2023-12-31T22:40:11.120Z', '2024-12-30T09:15:00.000Z', '2024-12-31T23:59:59.999Z', '2025-01-01T00:00:00.000Z',
  '2023-01-01T14:30:05.007Z']
const long = `${'The parcel came back, and the customer wants it sent to the other address. '.repeat(3).padEnd(254, '.')}😀 thanks`

export function make(seed, tenant) {
  const next = random(seed * 7919 + tenant * 104729)
  const int = n => Math.floor(next() * n)
  const pick = list => list[int(list.length)]
  const maybe = (share, v) => next() < share ? null : v
  const money = n => `${int(n)}.${String(int(100)).padStart(2, '0')}`
  const instant = () => new Date(Date.UTC(2023, int(36), 1 + int(28), int(24), int(60), int(60), int(1000))).toISOString()
  const day = () => new Date(Date.UTC(1950 + int(70), int(12), 1 + int(28))).toISOString().slice(0, 10)
  const tables = []
  const table = (...parts) => tables.push(described(...parts))

  const customers = []
  for (let i = 1; i <= 260 + int(80); i++) {
    // Every tenth code has a twin without its leading zeros.
    const code = i % 10 === 1 ? String(400 + i).padStart(6, '0') : i % 10 === 2 ? String(400 + i - 1) : `K${1000 + i}`
    customers.push([i, `${pick(given)} ${pick(family)}`, maybe(0.15, `p${i}@example.com`), pick(['DE', 'AT', 'CH', 'FR', 'de']), code,
      maybe(0.2, next() < 0.5), instant(), maybe(0.1, (next() < 0.2 ? '-' : '') + money(2000)),
      maybe(0.2, JSON.stringify([pick(['new', 'vip', 'b2b', 'vi']), pick(['mail', 'shop', '1'])])), maybe(0.3, day())])
  }
  for (const c of customers) if (c[0] % 24 === 0) c[6] = newYears[c[0] / 24 % newYears.length]
  table('customers', ['id'], ['id:number:!', 'name:string', 'email:string:?', 'country:string', 'code:string:!', 'vip:boolean:?',
    'created_at:datetime', 'balance:decimal:?', 'tags:array:?', 'birthday:date:?'], customers)

  const orders = []
  for (let i = 1; i <= 1300 + int(300); i++) {
    orders.push([i, maybe(0.05, next() < 0.03 ? 9000 + int(50) : 1 + int(customers.length)),
      next() < 0.02 ? 'disputed' : pick(statuses), money(900), 1 + int(12), Math.round(next() * 1e6) / 1e3, instant(),
      maybe(0.2, pick(notes)), maybe(0.25, pick(regions)), String(9007199254740993n + BigInt(int(4000)) * 3n + BigInt(i) * 20011n)])
  }
  for (const o of orders) o[7] = o[0] % 61 === 0 ? '' : o[0] % 97 === 0 ? long : o[7]
  table('orders', ['id'], ['id:number:!', 'customer_id:number:?', 'status:string', 'amount:decimal', 'qty:number', 'price:number',
    'placed_at:datetime', 'note:string:?', 'region:string:?', 'trace:number:!'], orders,
  { foreignKeys: [{ field: 'customer_id', targetTable: 'customers', targetField: 'id' }] })

  const products = []
  for (let i = 1; i <= 120; i++) {
    const sku = i % 15 === 0 ? `a-${i - 1}` : `A-${i}`
    products.push([sku, pick(['Maß', 'Mass', 'Istanbul', 'İstanbul', 'Lamp', 'lamp', 'Chair ', 'Chair', 'Résumé', 'Tisch']) + (next() < 0.5 ? '' : ` ${i % 7}`),
      money(300), maybe(0.15, next() < 0.1 ? 0 : int(60) - 3), next() < 0.7, maybe(0.4, JSON.stringify({ w: int(9), c: pick(['red', 'blue']) }))])
  }
  table('products', ['sku'], ['sku:string:!', 'title:string', 'price:decimal', 'stock:number:?', 'active:boolean', 'meta:json:?'], products)

  const items = []
  for (let o = 1; o <= 700; o++) {
    for (let n = 1; n <= 1 + int(3); n++) items.push([o, n, maybe(0.05, pick(products)[0]), 1 + int(5), money(120)])
  }
  table('items', ['order_id', 'line'], ['order_id:number', 'line:number', 'sku:string:?', 'qty:number', 'price:decimal'], items, {
    counted: false,
    foreignKeys: [{ field: 'order_id', targetTable: 'orders', targetField: 'id' }, { field: 'sku', targetTable: 'products', targetField: 'sku' }],
  })

  const events = []
  for (let i = 0; i < 900; i++) {
    events.push([instant(), pick(['login', 'logout', 'buy', 'refund']), maybe(0.1, pick(customers)[4]), maybe(0.3, int(1000)), maybe(0.5, day())])
  }
  events.forEach((e, i) => { if (i % 40 === 7) e[4] = `${2039 + i % 9}-0${1 + i % 7}-15` })
  table('events', [], ['at:datetime', 'kind:string', 'customer_code:string:?', 'ms:number:?', 'due:date:?'], events, {
    counted: false, foreignKeys: [{ field: 'customer_code', targetTable: 'customers', targetField: 'code' }],
  })

  // Lists of a few rows, as business systems have them by the dozen.
  for (let n = 1; n <= 30; n++) {
    const rows = []
    for (let i = 1; i <= 6 + int(10); i++) rows.push([i, pick(['red', 'green', 'blue', 'Blue']), maybe(0.3, int(5)), next() < 0.5])
    table(`list${String(n).padStart(2, '0')}`, ['id'], ['id:number:!', 'label:string', 'rank:number:?', 'active:boolean'], rows)
  }
  return new Map(tables.map(t => [t.name, t]))
}
