// The tables of two tenants, made from a seed: what a municipal utility keeps. Tariffs and a share of the
// customers are common to both, as after a merger. Serials have twins without their leading zeros, the ids have gaps,
// factors are spelled with different scales, and a removed meter stays in its table.

import { described, random } from './tables.mjs'

const people = ['Bäcker', 'Baecker', 'Backer', 'Öztürk', 'Novák', 'Novak', 'Nguyễn', 'Weiß', 'Weiss', 'weiss', "D'Amico", 'Ågren', 'Šimić', 'Kowalski', '李娜']
const firms = ['Bakery Sunrise, Inc.', 'Müller & Sons', 'Hotel "Krone"', 'School No. 5', '24/7 Fitness', 'Farm_West', 'Farm West', '100% Solar', 'Clinic 🏥']
const streets = ['Mill Lane', 'Bahnhofstraße', 'Bahnhofstrasse', 'Rue de l’Église', 'High St.', 'high st.', 'Am Graben']
const cities = ['Hof', 'Köln', 'Zürich', 'Graz', 'Ústí', 'Århus', 'hof']
const remarks = ['no access', 'dog in yard', 'seal broken', 'key at neighbour\'s', 'reading 50% off', 'cellar\nleft door', 'see mail, call first',
  'path C:\\meters', 'no_access', 'No access', 'ok ', 'replaced "old" dial', 'Zähler getauscht', '0', '<b>urgent</b>', 'NULL']
const report = `${'Customer disputes the estimate; a photo was taken and the dial compared with the previous one. '.repeat(3)}Closed.`

export function make(seed, tenant) {
  const own = random(seed * 6151 + tenant * 15485863 + 11)
  const common = random(seed * 6151 + 5)
  const draw = next => ({
    int: n => Math.floor(next() * n),
    pick: list => list[Math.floor(next() * list.length)],
    maybe: (share, v) => next() < share ? null : v,
    yes: share => next() < share,
  })
  const { int, pick, maybe, yes } = draw(own)
  const both = draw(common)
  const two = n => String(n).padStart(2, '0')
  const money = n => `${int(n)}.${two(int(100))}`
  const instant = () => new Date(Date.UTC(2023, int(30), 1 + int(31), int(24), int(60), int(60), int(1000))).toISOString()
  const day = (from, years) => new Date(Date.UTC(from + int(years), int(12), 1 + int(31))).toISOString().slice(0, 10)
  const tables = []
  const table = (...parts) => tables.push(described(...parts))
  const link = (field, targetTable, targetField) => ({ field, targetTable, targetField })

  const tariffs = []
  for (const code of ['HOME', 'HOME-N', 'home', 'BIZ', 'BIZ+', 'HEAT', 'AQUA', 'EV_NIGHT']) {
    for (let y = 2019; y <= 2024; y++) {
      if (both.yes(0.2)) continue
      const price = `0.${String(12000 + both.int(30000)).padStart(5, '0')}`
      tariffs.push([code, `${y}-${both.pick(['01-01', '04-01', '07-01'])}`, tenant && both.yes(0.3) ? `${price}5` : price,
        maybe(0.2, money(20)), maybe(0.3, JSON.stringify({ cap: both.int(50), zones: [both.pick(['A', 'B']), 'C'] })), maybe(0.2, yes(0.4))])
    }
  }
  table('tariffs', ['code', 'valid_from'], ['code:string', 'valid_from:date', 'unit_price:decimal', 'base_fee:decimal:?', 'options:json:?', 'green:boolean:?'], tariffs)

  const accounts = []
  for (let i = 1, id = 1000; i <= 380 + int(60); i++) {
    id += yes(0.07) ? 2 + int(6) : 1
    const from = i <= 90 ? both : { int, pick, maybe, yes }
    const name = from.yes(0.25) ? from.pick(firms) : `${from.pick(['Eva', 'Jan', 'Zoé', 'Zoe', 'jan'])} ${from.pick(people)}`
    accounts.push([id, `${i % 3 ? '' : '00'}${70000 + i * 3 - (i % 3 ? 0 : 3)}`, name, maybe(0.15, yes(0.04) ? '' : `Customer${i}@mail.example`),
      pick(['household', 'business', 'public', 'Business']), maybe(0.1, yes(0.8)), maybe(0.25, (yes(0.1) ? '-' : '') + money(5000)),
      day(1994, 30), maybe(0.2, JSON.stringify([pick(['vip', 'paper', 'sepa', 'VIP', 12, 120]), ...yes(0.4) ? [pick(['dunning', 'vip-old', 1, 12, 2])] : []])),
      maybe(0.85, i > 20 ? accounts[int(20)]?.[0] ?? null : null), instant()])
  }
  table('accounts', ['id'], ['id:number:!', 'external_no:string:!', 'name:string', 'email:string:?', 'segment:string', 'paperless:boolean:?',
    'credit:decimal:?', 'since:date', 'labels:array:?', 'parent_id:number:?', 'updated_at:datetime'], accounts,
  { foreignKeys: [link('parent_id', 'accounts', 'id')] })

  const premises = []
  for (let i = 1; i <= 300 + int(50); i++) {
    premises.push([`PR-${String(i).padStart(5, '0')}`, maybe(0.06, pick(accounts)[0]), `${pick(streets)} ${1 + int(60)}${yes(0.1) ? ', rear' : ''}`, pick(cities),
      String(1000 + int(60) * 37).padStart(5, '0'), maybe(0.1, Math.round((46 + 8 * own()) * 1e5) / 1e5), maybe(0.1, Math.round((own() - 0.3) * 18e5) / 1e5),
      maybe(0.3, int(5)), maybe(0.5, JSON.stringify({ floor: int(6) - 1, keys: yes(0.5) }))])
  }
  table('premises', ['code'], ['code:string:!', 'account_id:number:?', 'street:string', 'city:string', 'postcode:string', 'lat:number:?', 'lon:number:?',
    'units:number:?', 'attributes:json:?'], premises, { foreignKeys: [link('account_id', 'accounts', 'id')] })

  const meters = []
  for (let i = 1; i <= 330 + int(50); i++) {
    const serial = i % 8 === 1 ? String(5200 + i).padStart(8, '0') : i % 8 === 2 ? String(5200 + i - 1) : i % 8 === 3 ? `1E${int(9)}${1000 + i}` : `LG-${20000 + i * 7}`
    const installed = day(2008, 14)
    meters.push([serial, maybe(0.05, pick(premises)[0]), pick(['power', 'gas', 'water', 'heat']), installed, yes(0.12) ? `202${2 + int(3)}-0${1 + int(9)}-1${int(10)}` : null,
      pick(['1', '1.0', '1.00', '10', '30.0', '30', '0.5', '0.50', '2.125']), String(9007199254740993n + BigInt(i * 2 + int(2))), 5 + int(3)])
  }
  table('meters', ['serial'], ['serial:string:!', 'premise:reference:?', 'medium:string', 'installed:date', 'removed:date:?', 'factor:decimal', 'asset:number:!', 'digits:number'], meters,
    { foreignKeys: [link('premise', 'premises', 'code')] })

  // The tariff of a contract is no declared key: a tariff has one row a period.
  const contracts = []
  for (let i = 1; i <= 520 + int(120); i++) {
    const starts = day(2019, 5)
    contracts.push([`C${starts.slice(0, 4)}/${String(i).padStart(4, '0')}`, pick(accounts)[0], maybe(0.04, pick(meters)[0]), maybe(0.1, yes(0.04) ? 'LEGACY' : pick(tariffs)[0]), starts,
      maybe(0.6, `${Number(starts.slice(0, 4)) + 1 + int(20)}${starts.slice(4, 8)}28`), maybe(0.2, money(400)), maybe(0.3, yes(0.7)), maybe(0.15, instant())])
  }
  table('contracts', ['number'], ['number:string:!', 'account_id:number', 'meter:string:?', 'tariff:string:?', 'starts:date', 'ends:date:?', 'monthly:decimal:?',
    'auto_renew:boolean:?', 'signed_at:datetime:?'], contracts, { foreignKeys: [link('account_id', 'accounts', 'id'), link('meter', 'meters', 'serial')] })

  const readings = []
  for (let m = 0; m < 155; m++) {
    let value = int(40000)
    for (let k = 0; k < 20 + int(5); k++) {
      const use = int(90000) / 1000 - (yes(0.02) ? 40 : 0)
      value = Math.round((value + use) * 1000) / 1000
      const at = new Date(Date.UTC(2023, k + 1, yes(0.5) ? 0 : 1 + int(14)))
      readings.push([meters[m][0], at.toISOString().slice(0, 10), value, maybe(0.08, String(use.toFixed(3))), pick(['actual', 'actual', 'estimated', 'customer']),
        maybe(0.25, new Date(at.getTime() + int(6 * 864e5)).toISOString())])
    }
  }
  table('readings', ['meter', 'day'], ['meter:string', 'day:date', 'value:number', 'consumption:decimal:?', 'kind:string', 'received_at:datetime:?'],
    readings, { counted: false, foreignKeys: [link('meter', 'meters', 'serial')] })

  const invoices = []
  for (let i = 1, id = 20230000; i <= 1500 + int(300); i++) {
    id += yes(0.03) ? 3 : 1
    const issued = instant()
    const net = money(700)
    invoices.push([id, pick(contracts)[0], issued, new Date(Date.parse(issued) + (10 + int(20)) * 864e5).toISOString().slice(0, 10), net,
      `${yes(0.05) ? '-' : ''}${int(90)}.${String(int(10000)).padStart(4, '0')}`, yes(0.02) ? 'disputed' : pick(['draft', 'sent', 'paid', 'void']), maybe(0.3, int(4)),
      i % 173 === 9 ? report : maybe(0.7, yes(0.05) ? '' : pick(remarks))])
  }
  table('invoices', ['id'], ['id:number:!', 'contract:reference', 'issued_at:datetime', 'due:date', 'net:decimal', 'tax:decimal', 'status:string', 'reminders:number:?', 'note:string:?'],
    invoices, { foreignKeys: [link('contract', 'contracts', 'number')] })

  const payments = []
  for (let i = 1; i <= 1200 + int(250); i++) {
    payments.push([`${pick(['SEPA', 'CARD', 'sepa'])}-${(i * 7919 % 100003).toString(36)}-${i}`, maybe(0.06, yes(0.03) ? 10 + int(40) : pick(invoices)[0]), (yes(0.04) ? '-' : '') + money(700),
      instant().replace('Z', `${String(int(1000)).padStart(3, '0')}Z`), maybe(0.1, pick(['transfer', 'card', 'cash', 'direct debit'])), maybe(0.3, pick(accounts)[2])])
  }
  table('payments', ['ref'], ['ref:string:!', 'invoice_id:number:?', 'amount:decimal', 'booked_at:datetime', 'method:string:?', 'payer:string:?'], payments,
    { foreignKeys: [link('invoice_id', 'invoices', 'id')] })

  // The log of the field service has no key, and nobody declared what its meter is.
  const visits = []
  for (let i = 0; i < 600 + int(150); i++) {
    visits.push([instant(), yes(0.08) ? null : yes(0.06) ? `OLD-${int(30)}` : pick(meters)[0], pick(['kb', 'ms', 'Ms', 'tr']), pick(['read', 'swap', 'repair', 'seal']), maybe(0.2, int(9) * 15),
      i % 67 === 5 ? report : maybe(0.35, yes(0.05) ? '' : pick(remarks)), maybe(0.6, JSON.stringify(['dial.jpg', `img_${int(20)}.jpg`].slice(int(3))))])
  }
  table('visits', [], ['at:datetime', 'meter:string:?', 'technician:string', 'action:string', 'minutes:number:?', 'note:string:?', 'photos:array:?'], visits, { counted: false })
  return new Map(tables.map(t => [t.name, t]))
}
