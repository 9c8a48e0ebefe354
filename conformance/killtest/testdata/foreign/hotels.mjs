// The tables of two tenants of a chain of hotels, made from a seed: what a property management system exports.
// Declared keys hold; housekeeping.booking_ref is a note of a reference, not a key: some bookings are archived.
import { described, random } from './tables.mjs'

const first = ['Anaïs', 'Søren', 'Göran', 'Zdeněk', 'Inês', 'Chloë', 'Mateusz', 'Þóra', 'Ayşe', 'Renée', 'renée', 'Jürgen', 'Niamh', '美咲', 'Ольга', 'José', 'Ana', 'Paul']
const last = ['Åkesson', 'Núñez', "D'Angelo", 'Weiß', 'Weiss', 'van der Berg', 'Müller', 'Kowalczyk', 'Şahin', 'Smith-Jones', 'Lefèvre', 'Ó Briain', 'García', 'Tanaka', 'de Souza']
const cities = [['Zürich', 'CH', 'Europe/Zurich'], ['Genève', 'CH', 'Europe/Zurich'], ['München', 'DE', 'Europe/Berlin'], ['Köln', 'DE', 'Europe/Berlin'],
  ['Málaga', 'ES', 'Europe/Madrid'], ['São Paulo', 'BR', 'America/Sao_Paulo'], ['Reykjavík', 'IS', 'Atlantic/Reykjavik'], ['Kraków', 'PL', 'Europe/Warsaw'],
  ['京都', 'JP', 'Asia/Tokyo'], ['Montréal', 'CA', 'America/Toronto'], ['Ålesund', 'NO', 'Europe/Oslo'], ["L'Aquila", 'IT', 'Europe/Rome']]
const currency = { CH: 'CHF', DE: 'EUR', ES: 'EUR', BR: 'BRL', IS: 'EUR', PL: 'PLN', JP: 'JPY', CA: 'CAD', NO: 'NOK', IT: 'EUR' }
const remarks = ['late arrival', 'Late arrival', 'quiet room, please', 'allergy: nuts & gluten', '10% off agreed', 'said "top floor"', 'baby cot\nextra towels', 'honeymoon',
  'anniversary – flowers', 'früher Check-in', 'non_smoking', 'non-smoking', ' VIP ', 'pays by invoice; see folio', 'C/O Reisebüro Groß', '']
const amenities = ['pool', 'pool bar', 'spa', 'sauna', 'gym', 'bar', 'parking', 'pets', 'wifi', 'café']
const features = ['balcony', 'sea view', 'view', 'bath', 'bathrobe', 'desk', 'kitchenette', 'cot']

export function make(seed, tenant) {
  const drawing = next => {
    const int = n => Math.floor(next() * n)
    const pick = list => list[int(list.length)]
    return { next, int, pick, maybe: (share, v) => next() < share ? null : v, some: (list, n) => JSON.stringify([...new Set(Array.from({ length: n }, () => pick(list)))]) }
  }
  const mine = drawing(random(seed * 15485863 + tenant * 32452843 + 11)), shared = drawing(random(seed * 49979687 + 5))
  const { next, int, pick, maybe, some } = mine
  const pad = (n, width) => String(n).padStart(width, '0')
  const decimal = (d, whole, scale) => `${d.int(whole)}.${pad(d.int(10 ** scale), scale)}`
  const DAY = 864e5
  const day = (d, from, years) => Date.UTC(from, 0, 1) + d.int(years * 365) * DAY
  const date = ms => new Date(ms).toISOString().slice(0, 10)
  const instant = ms => new Date(ms).toISOString()
  const tables = []
  const table = (...parts) => tables.push(described(...parts))

  // The first 24 houses are managed by both companies.
  const properties = []
  for (let i = 1; i <= 62 + int(12); i++) {
    const d = i <= 24 ? shared : mine
    const [city, country, zone] = d.pick(cities)
    properties.push([pad(i * 7 + (i <= 24 ? 0 : tenant * 3), 4), `${d.pick(['Hôtel', 'Hotel', 'Gästehaus', 'Casa', 'Residenz', 'The'])} ${d.pick(['Étoile', 'Bellevue', 'zur Post', 'Krone', 'do Mar', 'Norðurljós', 'Königshof', 'Lindt & Sons'])} ${city}`,
      city, country, zone, d.maybe(0.15, 2 + d.int(4)), d.maybe(0.12, date(day(d, 1898, 120))), d.maybe(0.2, `${3 + d.int(2)}.${d.int(10)}`),
      d.maybe(0.15, d.some(amenities, 1 + d.int(5))), d.maybe(0.25, JSON.stringify({ street: `${d.pick(['Rue', 'Straße', 'Via'])} ${1 + d.int(90)}`, floors: 2 + d.int(20), lift: d.next() < 0.7 })), d.next() < 0.88])
  }
  table('properties', ['code'], ['code:string:!', 'name:string', 'city:string', 'country:string', 'time_zone:string', 'stars:number:?', 'opened_on:date:?', 'rating:decimal:?',
    'amenities:array:?', 'address:json:?', 'active:boolean'], properties)

  const rooms = []
  for (const p of properties) {
    const floors = 1 + int(3)
    for (let f = 0; f < floors; f++) {
      for (let n = 1; n <= 2 + int(4); n++) {
        rooms.push([p[0], `${f}${pad(n, 2)}${next() < 0.06 ? 'A' : ''}`, pick(['single', 'double', 'Double', 'twin', 'suite', 'junior suite', 'suite ']), f,
          maybe(0.1, (140 + int(400)) / 10), maybe(0.3, next() < 0.2), maybe(0.2, some(features, 1 + int(4))), maybe(0.35, date(day(mine, 2005, 19)))])
      }
    }
  }
  table('rooms', ['property_code', 'room_no'], ['property_code:string', 'room_no:string', 'category:string', 'floor:number', 'sqm:number:?', 'accessible:boolean:?', 'features:array:?', 'renovated_on:date:?'],
    rooms, { foreignKeys: [{ field: 'property_code', targetTable: 'properties', targetField: 'code' }] })

  const guests = []
  for (let i = 1; i <= 330 + int(90); i++) {
    const tier = maybe(0.45, pick(['bronze', 'silver', 'gold', 'platinum']))
    guests.push([i * 3 + tenant, `${pick(first)} ${pick(last)}`, maybe(0.2, `guest${i}@${pick(['example.com', 'example.org', 'Example.com'])}`), maybe(0.3, `+${pick(['41', '49', '34', '81'])} ${pad(int(1e7), 7)}`),
      maybe(0.15, pick(['CH', 'DE', 'FR', 'JP', 'BR', 'NO', 'GB', 'de'])), maybe(0.4, date(day(mine, 1938, 66))), maybe(0.25, next() < 0.3),
      tier && pad(i * 137 + tenant, 9), tier, tier && (next() < 0.1 ? 0 : int(250000) - 500), maybe(0.2, JSON.stringify({ pillow: pick(['soft', 'firm']), smoker: next() < 0.1 })),
      instant(day(mine, 2018, 6) + int(DAY))])
  }
  table('guests', ['guest_id'], ['guest_id:number:!', 'full_name:string', 'email:string:?', 'phone:string:?', 'country:string:?', 'born_on:date:?', 'marketing_consent:boolean:?',
    'loyalty_no:string:?!', 'tier:string:?', 'points:number:?', 'preferences:json:?', 'created_at:datetime'], guests)

  const rates = []
  for (const p of properties) {
    const unit = currency[p[3]], d = Number(p[0]) % 7 === 0 && Number(p[0]) <= 168 ? shared : mine
    for (const code of ['BAR', d.pick(['BAR_FLEX', 'BAR-FLEX']), d.pick(['CORP', 'corp', 'GOV'])]) {
      for (const from of ['2023-01-01', '2024-01-01'].slice(0, 1 + d.int(2))) {
        rates.push([p[0], code, from, d.maybe(0.3, `${from.slice(0, 4)}-12-31`), unit === 'JPY' ? String(9000 + d.int(40000)) : `${60 + d.int(500)}.${pad(d.int(100), 2)}`, unit,
          d.maybe(0.25, d.next() < 0.5), d.maybe(0.4, 1 + d.int(5)), `0.${pad(d.int(2500), 4)}`])
      }
    }
  }
  table('rates', ['property_code', 'rate_code', 'valid_from'], ['property_code:string', 'rate_code:string', 'valid_from:date', 'valid_to:date:?', 'amount:decimal', 'currency:string', 'breakfast:boolean:?', 'min_stay:number:?', 'commission:decimal'],
    rates, { foreignKeys: [{ field: 'property_code', targetTable: 'properties', targetField: 'code' }] })

  const bookings = []
  for (let i = 1; i <= 720 + int(160); i++) {
    const arrival = day(mine, 2022, 4), status = pick(['inquiry', 'confirmed', 'confirmed', 'checked_in', 'checked_out', 'cancelled', 'no_show'])
    const booked = arrival - int(120) * DAY + int(DAY)
    bookings.push([20000 + i * 2 + tenant, `${pick(['HB', 'WB', 'hb'])}-${pad(i + tenant * 5000, 6)}`, pick(properties)[0], maybe(0.08, pick(guests)[0]), status, maybe(0.12, pick(['booking_com', 'expedia', 'direct', 'phone', 'Direct'])),
      date(arrival), date(arrival + (1 + int(9)) * DAY), instant(booked), status === 'cancelled' ? instant(booked + int(20 * 864e5)) : null, 1 + int(4), maybe(0.4, int(3)),
      maybe(0.07, `${40 + int(3200)}.${pad(int(100), 2)}`), maybe(0.35, pick(remarks)), String(9007199254741001n + BigInt(tenant) * 100003n + BigInt(i) * 13n)])
  }
  const turn = ['2022-12-31T23:30:00.000Z', '2023-12-31T22:59:59.999Z', '2024-01-01T00:00:00.000Z', '2024-03-31T22:15:10.250Z', '2024-06-30T23:05:00.000Z', '2025-02-28T23:45:30.007Z']
  bookings.forEach((b, i) => { if (i % 23 === 5) b[8] = turn[(i - 5) / 23 % turn.length] })
  table('bookings', ['booking_id'], ['booking_id:number:!', 'ref:string:!', 'property_code:string', 'guest_id:number:?', 'status:string', 'channel:string:?', 'arrival:date', 'departure:date', 'booked_at:datetime',
    'cancelled_at:datetime:?', 'adults:number', 'children:number:?', 'total:decimal:?', 'remark:string:?', 'channel_msg_id:number:!'], bookings,
  { foreignKeys: [{ field: 'property_code', targetTable: 'properties', targetField: 'code' }, { field: 'guest_id', targetTable: 'guests', targetField: 'guest_id' }] })

  const charges = []
  for (let i = 1; i <= 780 + int(110); i++) {
    const b = pick(bookings)
    charges.push([i, b[0], pick(['room', 'mini_bar', 'mini-bar', 'spa', 'breakfast', 'city tax', 'parking', 'Laundry']), 1 + int(6), (next() < 0.08 ? '-' : '') + decimal(mine, 480, 3),
      `0.${pad(pick([0, 250, 380, 700, 1900, 810]), 4)}`, date(Date.parse(b[6]) + int(6) * DAY), maybe(0.3, next() < 0.1), maybe(0.5, pad(int(3000), 6))])
  }
  table('charges', ['charge_id'], ['charge_id:number:!', 'booking_id:number', 'kind:string', 'quantity:number', 'net_amount:decimal', 'vat_rate:decimal', 'posted_on:date', 'reversed:boolean:?', 'folio_no:string:?'],
    charges, { foreignKeys: [{ field: 'booking_id', targetTable: 'bookings', targetField: 'booking_id' }] })

  const payments = []
  for (let i = 1; i <= 560 + int(140); i++) {
    const b = pick(bookings)
    const hex = n => Array.from({ length: n }, () => int(16).toString(16)).join('')
    payments.push([`${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${pad(i, 12)}`, maybe(0.06, b[0]), pick(['card', 'cash', 'transfer', 'voucher', 'Card']), (next() < 0.06 ? '-' : '') + decimal(mine, 1900, 2),
      maybe(0.3, `${int(20)}.${pad(int(10000), 4)}`), `${instant(Date.parse(b[8]) + int(40 * DAY)).slice(0, -1)}${pad(int(1000), 3)}Z`, maybe(0.35, pad(int(900000), 6)), maybe(0.2, next() < 0.85),
      maybe(0.4, JSON.stringify({ scheme: pick(['visa', 'mc', 'amex']), last4: pad(int(10000), 4) }))])
  }
  table('payments', ['payment_id'], ['payment_id:string:!', 'booking_id:number:?', 'method:string', 'amount:decimal', 'fee:decimal:?', 'paid_at:datetime', 'auth_code:string:?', 'settled:boolean:?', 'card:json:?'],
    payments, { counted: false, foreignKeys: [{ field: 'booking_id', targetTable: 'bookings', targetField: 'booking_id' }] })

  const housekeeping = []
  const staff = Array.from({ length: 18 }, () => `${pick(first)} ${pick(last)}`)
  for (let i = 0; i < 520 + int(200); i++) {
    const r = pick(rooms)
    housekeeping.push([r[0], r[1], instant(day(mine, 2023, 2) + int(DAY)), pick(['departure', 'stayover', 'deep_clean', 'inspection', 'turndown']), maybe(0.12, pick(staff)), maybe(0.25, 5 + int(90)),
      maybe(0.45, next() < 0.15 ? `HB-${pad(900000 + int(25), 6)}` : pick(bookings)[1]), maybe(0.3, next() < 0.9)])
  }
  table('housekeeping', [], ['property_code:string', 'room_no:string', 'done_at:datetime', 'task:string', 'attendant:string:?', 'minutes:number:?', 'booking_ref:string:?', 'passed:boolean:?'], housekeeping,
    { counted: false, foreignKeys: [{ field: 'property_code', targetTable: 'properties', targetField: 'code' }] })

  return new Map(tables.map(t => [t.name, t]))
}
