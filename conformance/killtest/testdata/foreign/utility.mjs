// The tables of two tenants, made from a seed: what a supplier of water and power keeps. Two
// suppliers share a few customers and the list of tariffs; their rows differ otherwise.

import { described, random } from './tables.mjs'

const given = ['Ada', 'ada', 'Béatrice', 'Cem', 'Đorđe', 'Edith', 'Frauke', 'Gülay', 'Håkon', 'Ines', 'Ines', 'Jürgen', 'Käthe', 'Ludwig', 'Miłosz', 'Özlem', '李娜']
const family = ['Ahrens', 'van Dyck', 'Weiß', 'Weiss', 'WEISS', "D'Amico", 'Möller', 'Mueller', 'Novák', 'Ober', 'Zöllner', 'de la Cruz']
const firms = ['Bäckerei Lenz', 'Hotel Post', 'hotel post', 'Kfz & Reifen GmbH', '3D-Druck AG', 'Stadtbad', 'SCHREINEREI ORT', 'Imbiss "Zur Ecke"']
const cities = [['01067', 'Dresden'], ['01069', 'Dresden'], ['04103', 'Leipzig'], ['06108', 'Halle (Saale)'], ['07743', 'Jena'], ['10115', 'Berlin'], ['10117', 'BERLIN'],
  ['67433', 'Neustadt'], ['67434', 'neustadt'], ['73525', 'Schwäbisch Gmünd'], ['78050', 'Villingen-Schwenningen'], ['80331', 'München'], ['80333', 'Muenchen'],
  ['99084', 'Erfurt'], ['09111', 'Chemnitz']]
const streets = ['Hauptstraße', 'Hauptstrasse', 'Am Markt', 'Bahnhofstr.', 'Rue de l’Église', 'Lange Reihe', 'Im Winkel']
const notes = ['key at no. 4', 'dog!', '2nd floor, left', 'ring twice\nthen wait', 'meter in cellar ', ' gate code 0815', '50% shaded', 'see file_12', 'C:\\scan\\7.pdf',
  'tenant said "never again"', "owner's flat", 'cellar;attic', 'häufig abwesend', '']
const remark = 'The meter stands behind the boiler in the second cellar; the caretaker must be called a day before, and the passage is only 60 cm wide. '
const tariffNames = ['Basis', 'basis', 'Nacht', 'Öko Plus', 'Wasser', 'Gewerbe', 'Gewerbe XL', 'Bad', 'Wärmepumpe', 'Alt']
const causes = ['storm', 'digger', 'works', 'works (planned)', 'unknown', 'Storm']

export function make(seed, tenant) {
  const common = random(seed * 50021 + 17)
  const own = random(seed * 6151 + tenant * 92821 + 3)
  let next = own
  const int = n => Math.floor(next() * n)
  const pick = list => list[int(list.length)]
  const maybe = (share, v) => next() < share ? null : v
  const fixed = (n, scale) => `${int(n)}.${String(int(10 ** scale)).padStart(scale, '0')}`
  const iso = ms => new Date(ms).toISOString()
  const instant = (year, years) => iso(Date.UTC(year, int(12 * years), 1 + int(28), int(24), int(60), int(60), int(1000)))
  const day = (year, years) => instant(year, years).slice(0, 10)
  const later = (date, days) => iso(Date.parse(date) + days * 864e5).slice(0, 10)
  const tables = []
  const table = (...parts) => tables.push(described(...parts))

  next = common
  const tariffs = []
  for (let i = 0; i < 28; i++) {
    const code = `${['STD', 'ECO', 'std', 'W'][i % 4]}${i % 3 ? '_' : '-'}${String(10 + i - i % 2)}${i % 2 ? 'B' : 'A'}`
    const from = day(2015, 10)
    tariffs.push([code, `${pick(tariffNames)} ${2015 + int(10)}`, fixed(2, 6), maybe(0.2, fixed(30, 2)), from,
      maybe(0.4, next() < 0.4 ? '2099-12-31' : later(from, 365 + int(2000))), next() < 0.3,
      maybe(0.3, JSON.stringify({ phases: 1 + int(3), night: next() < 0.5, from: pick(['22:00', '21:30']) }))])
  }
  next = own
  for (const t of tariffs) if (tenant === 1 && next() < 0.4) t[2] = fixed(2, 6)
  table('tariffs', ['code'], ['code:string:!', 'name:string', 'unit_price:decimal', 'standing:decimal:?', 'valid_from:date', 'valid_to:date:?', 'green:boolean',
    'rules:json:?'], tariffs)

  const customers = []
  const size = 1090 + int(120)
  for (let i = 1; i <= size; i++) {
    next = i <= 60 ? common : own
    const business = next() < 0.25
    customers.push([`C-${String(i).padStart(6, '0')}`, business ? pick(firms) : `${pick(given)} ${pick(family)}`, business ? 'business' : 'household',
      maybe(0.2, `${pick(['kontakt', 'post', 'Info'])}${i}@example.org`), maybe(0.3, pick(['de', 'en', 'tr', 'pl', 'de-AT'])), day(1994, 31),
      maybe(0.25, JSON.stringify([...new Set([pick(['mail', 'email', 'letter', 'sms']), pick(['app', 'email', 'whatsapp', 'sms'])])])),
      maybe(0.1, (next() < 0.3 ? '-' : '') + fixed(1200, 2)), maybe(0.3, next() < 0.2), instant(2022, 4),
      maybe(0.35, `usr_${(int(40) * 7919 + 4096).toString(16)}`)])
  }
  next = own
  table('customers', ['ref'], ['ref:string:!', 'name:string', 'kind:string', 'email:string:?', 'language:string:?', 'since:date', 'prefers:array:?', 'credit:decimal:?',
    'vulnerable:boolean:?', 'updated_at:datetime', 'manager:reference:?'], customers)

  const premises = []
  for (let i = 1; i <= 520 + int(90); i++) {
    const [postcode, city] = pick(cities)
    const note = i % 53 === 0 ? remark.repeat(2 + i % 3).trim() + ` (${i})` : maybe(0.4, pick(notes))
    premises.push([70000 + i * 3, maybe(0.08, pick(customers)[0]), `${pick(streets)} ${1 + int(140)}${next() < 0.2 ? 'a' : ''}`, postcode, city,
      Math.round((47 + next() * 7) * 1e5) / 1e5, Math.round((next() * 14 - 0.4) * 1e5) / 1e5, maybe(0.3, day(1898, 125)),
      maybe(0.5, JSON.stringify(Array.from({ length: int(4) }, () => pick(['lift', 'cellar', 'locked', 3, 13, 'solar', 'solar-old'])))), note])
  }
  table('premises', ['id'], ['id:number:!', 'customer_ref:string:?', 'street:string', 'postcode:string', 'city:string', 'lat:number', 'lng:number', 'built:date:?',
    'flags:array:?', 'access_note:string:?'], premises,
  { foreignKeys: [{ field: 'customer_ref', targetTable: 'customers', targetField: 'ref' }] })

  const meters = []
  for (let i = 1; i <= 640 + int(80); i++) {
    // Old serials are digits, some of which begin with zeros; a few differ only in these.
    const serial = i % 9 === 0 ? String(31000 + i).padStart(8, '0') : i % 9 === 1 && i > 1 ? String(31000 + i - 1) : `${pick(['EM', 'WZ', 'em'])}-${20000 + i * 7}`
    const installed = maybe(0.06, day(1999, 26))
    meters.push([serial, maybe(0.04, pick(premises)[0]), maybe(0.1, pick(tariffs)[0]), pick(['power', 'power', 'water', 'heat']), installed,
      installed === null ? null : maybe(0.85, later(installed, 400 + int(3000))), pick(['1.000', '1.000', '0.500', '10.000', '40.000']),
      maybe(0.3, `${1 + int(3)}.${int(12)}.${int(10)}`), maybe(0.15, next() < 0.6), maybe(0.5, JSON.stringify({ baud: pick([300, 2400, 9600]), apn: pick(['iot', null]) }))])
  }
  table('meters', ['serial'], ['serial:string:!', 'premise_id:number:?', 'tariff_code:string:?', 'kind:string', 'installed:date:?', 'removed:date:?',
    'multiplier:decimal', 'firmware:string:?', 'smart:boolean:?', 'config:json:?'], meters,
  { foreignKeys: [{ field: 'premise_id', targetTable: 'premises', targetField: 'id' }, { field: 'tariff_code', targetTable: 'tariffs', targetField: 'code' }] })

  const readings = []
  const gone = Array.from({ length: 12 }, (_, i) => `ALT-${100 + i * 11}`)
  for (const serial of [...meters.map(m => m[0]), ...gone]) {
    let value = int(90000)
    let on = Date.UTC(2022, int(8), 1 + int(28))
    for (let n = 0; n < 3 + int(4); n++) {
      const date = iso(on).slice(0, 10)
      readings.push([serial, date, `${value}.${String(int(1000)).padStart(3, '0')}`, pick(['manual', 'manual', 'radio', 'customer', 'Radio']), maybe(0.1, next() < 0.25),
        maybe(0.2, iso(on + int(864e5))), maybe(0.3, next() < 0.1 ? 0 : int(400) - 20)])
      value += int(2500)
      on += (60 + int(200)) * 864e5
    }
  }
  table('readings', ['meter_serial', 'read_on'], ['meter_serial:string', 'read_on:date', 'value:decimal', 'source:string', 'estimated:boolean:?', 'taken_at:datetime:?',
    'signal:number:?'], readings, {
    counted: false, foreignKeys: [{ field: 'meter_serial', targetTable: 'meters', targetField: 'serial' }],
  })

  const invoices = []
  for (let i = 1; i <= 1250 + int(200); i++) {
    const issued = later(`${2022 + Math.floor(i / 500)}-01-04`, Math.floor(i % 500 * 0.7))
    const status = pick(['sent', 'paid', 'paid', 'reminded', 'cancelled'])
    invoices.push([`${issued.slice(0, 4)}-${String(i).padStart(5, '0')}`, pick(customers)[0], issued, later(issued, 14 + 7 * int(3)),
      (status === 'cancelled' && next() < 0.5 ? '-' : '') + fixed(2400, 2), status, status === 'paid' ? iso(Date.parse(issued) + int(30 * 864e5)) : null,
      String(9007199254740993n + BigInt(i) * 20011n + BigInt(int(5000)) * 3n), maybe(0.5, `K${int(300)}`)])
  }
  table('invoices', ['number'], ['number:string:!', 'customer_ref:string', 'issued_on:date', 'due_on:date', 'total:decimal', 'status:string', 'paid_at:datetime:?',
    'ledger:number:!', 'cost_centre:string:?'], invoices,
  { foreignKeys: [{ field: 'customer_ref', targetTable: 'customers', targetField: 'ref' }] })

  // Payments name their invoice as the payer wrote it, without a constraint.
  const payments = []
  for (let i = 1; i <= 1150 + int(300); i++) {
    payments.push([i, maybe(0.07, next() < 0.06 ? `2021-${String(int(12)).padStart(5, '0')}` : pick(invoices)[0]), fixed(1500, 2), pick(['debit', 'transfer', 'cash', 'card']),
      instant(2022, 3), maybe(0.3, pick(['thank you', 'invoice a+b', 'Re: 100%', 'Miete & Strom', 'n/a', '', 'Rechnung', 'rechnung'])),
      i <= 300 ? `usr_${(int(9) * 7919 + 4096).toString(16)}` : maybe(0.25, `usr_${(int(40) * 7919 + 4096).toString(16)}`)])
  }
  table('payments', ['id'], ['id:number:!', 'invoice_no:string:?', 'amount:decimal', 'method:string', 'booked_at:datetime', 'purpose:string:?', 'clerk:reference:?'], payments)

  const outages = []
  for (let i = 0; i < 140 + int(40); i++) {
    const began = instant(2021, 5)
    outages.push([began, maybe(0.1, iso(Date.parse(began) + int(20 * 36e5))), maybe(0.15, pick(cities)[0]), maybe(0.1, pick(causes)), maybe(0.2, int(3) ? int(900) : 0),
      maybe(0.6, JSON.stringify({ crew: 1 + int(5), lines: [int(20), int(20)] })), next() < 0.3])
  }
  table('outages', [], ['began_at:datetime', 'ended_at:datetime:?', 'postcode:string:?', 'cause:string:?', 'affected:number:?', 'detail:json:?', 'planned:boolean'], outages,
    { counted: false })

  return new Map(tables.map(t => [t.name, t]))
}
