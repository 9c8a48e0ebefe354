// The tables of two tenants, made from a seed: what a freight forwarder's system exports.
// Declared foreign keys hold. Not declared, because terminals and carriers send them unchecked, are
// containers.booking_no and tracking_events.container_no: some of these are unknown to the forwarder.
import { described, random } from './tables.mjs'

const portList = `DEHAM|Hamburg|DE;DEBRV|Bremerhaven|DE;DEWVN|Wilhelmshaven|DE;DEKEL|Kiel|DE;DELBC|Lübeck|DE;NLRTM|Rotterdam|NL;NLAMS|Amsterdam|NL
BEANR|Antwerpen|BE;BEZEE|Zeebrugge|BE;FRLEH|Le Havre|FR;FRFOS|Fos-sur-Mer|FR;FRDKK|Dunkerque|FR;FRSML|Saint-Malo|FR;FRSET|Sète|FR;ESVLC|València|ES
ESBCN|Barcelona|ES;ESALG|Algeciras|ES;ESLCG|A Coruña|ES;ESGIJ|Gijón|ES;ESMLG|Málaga|ES;PTSIE|Sines|PT;PTLIS|Lisboa|PT;PTSET|Setúbal|PT;ITGOA|Genova|IT
ITTRS|Trieste|IT;ITGIT|Gioia Tauro|IT;GRPIR|Peiraiás|GR;TRIST|İstanbul|TR;TRIZM|İzmir|TR;TRMER|Mersin|TR;PLGDN|Gdańsk|PL;PLGDY|Gdynia|PL;PLSWI|Świnoujście|PL
SEGOT|Göteborg|SE;SEMMA|Malmö|SE;SEAHU|Åhus|SE;DKAAR|Aarhus|DK;DKAAL|Ålborg|DK;NOOSL|Oslo|NO;NOAES|Ålesund|NO;NOTOS|Tromsø|NO;FIHEL|Helsinki|FI;FIHMN|Hamina|FI
ISREY|Reykjavík|IS;GBFXT|Felixstowe|GB;GBSOU|Southampton|GB;GBKGS|King's Lynn|GB;IEDUB|Dublin|IE;IEORK|Cork|IE;LTKLJ|Klaipėda|LT;LVRIX|Rīga|LV;EETLL|Tallinn|EE
ROCND|Constanța|RO;HRRJK|Rijeka|HR;SIKOP|Koper|SI;MTMAR|Marsaxlokk|MT;MATNG|Tanger Med|MA;MACAS|Casablanca|MA;EGPSD|Port Said|EG;AEJEA|Jebel Ali|AE;INNSA|Nhava Sheva|IN
LKCMB|Colombo|LK;SGSIN|Singapore|SG;MYPKG|Port Klang|MY;VNSGN|Hồ Chí Minh|VN;VNHPH|Hải Phòng|VN;CNSHA|上海 Shanghai|CN;CNNGB|Ningbo|CN;CNYTN|Yantian|CN;CNTAO|Qingdao|CN
HKHKG|Hong Kong|HK;TWKHH|Kaohsiung|TW;KRPUS|Busan|KR;JPYOK|Yokohama|JP;JPTYO|東京 Tokyo|JP;JPUKB|Kōbe|JP;AUMEL|Melbourne|AU;NZAKL|Auckland|NZ;USNYC|New York|US
USSAV|Savannah|US;USLAX|Los Angeles|US;USHOU|Houston|US;CAMTR|Montréal|CA;CAHAL|Halifax|CA;MXVER|Veracruz|MX;MXZLO|Manzanillo|MX;PAMIT|Manzanillo|PA;COCTG|Cartagena|CO
BRSSZ|Santos|BR;BRPNG|Paranaguá|BR;BRITJ|Itajaí|BR;CLSAI|San Antonio|CL;CLVAP|Valparaíso|CL;PECLL|Callao|PE;ZADUR|Durban|ZA;CIABJ|Abidjan|CI;SNDKR|Dakar|SN`
  .split(/[;\n]/).map(s => s.split('|'))

const firms = ['Müller & Söhne', 'Müller + Söhne', 'MÜLLER & SÖHNE', 'Çelik Tekstil', 'Łódzkie Meble', 'Société Générale des Vins', 'O\'Hara Whiskey', 'Ångström Teknik',
  'Nordfisk', 'nordfisk', 'Groß Maschinenbau', 'Gross Maschinenbau', 'Viñedos del Río', 'Café Olé', 'Ørsted Møbler', '东方玩具', 'Šumava Glass', 'Papírna Žďár',
  'Rossi "La Ceramica"', 'Delta_Pharma', 'Hansen', 'de Vries Bloemen', 'Ito Seiki', 'Zeeman', 'Kowalski Okna', 'Brandão Cortiça', 'Elbe Kaffee', 'ACME 100% Cotton']
const forms = ['GmbH', 'AG', 'S.A.', 'B.V.', 'Ltd', 'Sp. z o.o.', 'A/S', 'S.p.A.', 'Lda.']
const vessels = ['MSC Gülsün', 'Ever Given', 'CMA CGM Jacques Saadé', 'HMM Algeciras', 'Mærsk Mc-Kinney Møller', 'Cap San Lorenzo', 'Hamburg Express', 'ONE Apus',
  'X-PRESS ELBE', 'Elbfeeder', 'Finnstar', 'Viking Ångermanland', 'MV Ría de Vigo']
const goods = ['Röstkaffee', 'Roasted coffee', 'ceramic tiles', 'Möbel', 'meubles', 'machine parts', 'frozen fish', 'T-shirts, cotton', 'vin rouge', 'Spielwaren', 'lithium batteries', 'paint']
const codesOfGoods = ['0901210000', '0303890090', '0406907800', '2204218900', '3208109000', '6109100010', '6907210000', '8507600090', '9403601000', '9503007500', '0102290000', '8409910000']
const remarks = ['call consignee before delivery', 'Tail lift needed', 'tail lift needed', '100% inspection by customs', 'said to contain "furniture"', 'don\'t stack', 'B/L to order',
  'Anlieferung nur Mo–Fr 07:00–15:00', 'first line\nsecond line', 'temperature_log required', 'Zustellung Straße gesperrt', 'Zustellung Strasse gesperrt', ' leading blank', 'C:\\edi\\in',
  'livré à l\'étage', 'LC expires; see bank', '50% prepaid, 50% collect', 'ref a_b']
const long = 'Consignee asks for delivery in two lots: the first twelve pallets to the warehouse in Wörgl, the others to the shop in Innsbruck, both with tail lift and after a call to the dispatcher; '
const incoterms = ['EXW', 'FCA', 'FOB', 'CIF', 'DAP', 'DDP']
const places = Object.fromEntries(`DE 53.9 9.6,NL 52.1 4.4,BE 51.3 3.8,FR 47.1 0.9,ES 40.3 -2.1,PT 38.4 -9,IT 42.1 11.6,GR 37.9 23.6,TR 38.8 28.6,PL 54.3 17,SE 56.6 12.9,DK 56.6 10,NO 62.7 11.4
FI 60.4 26,IS 64.1 -21.9,GB 51.7 0.6,IE 52.6 -7.3,LT 55.7 21.1,LV 57 24,EE 59.4 24.7,RO 44.1 28.6,HR 45.3 14.4,SI 45.5 13.7,MT 35.8 14.5,MA 34.7 -6.5,EG 31.2 32.3,AE 25 55
IN 18.9 72.9,LK 6.9 79.8,SG 1.2 103.8,MY 3 101.3,VN 15.8 106.6,CN 29.5 120.3,HK 22.3 114.1,TW 22.6 120.2,KR 35.1 129,JP 35.2 138.1,AU -37.8 144.9,NZ -36.8 174.7
US 34.1 -92.4,CA 45 -68.5,MX 19.1 -100.2,PA 9.3 -79.9,CO 10.4 -75.5,BR -25.5 -47.8,CL -33.3 -71.6,PE -12 -77.1,ZA -29.8 31,CI 5.3 -4,SN 14.7 -17.4`
  .split(/[,\n]/).map(s => s.split(' ')).map(([c, ...at]) => [c, at.map(Number)]))
const zones = { DE: 'Europe/Berlin', US: 'America/New_York', CN: 'Asia/Shanghai', JP: 'Asia/Tokyo', GB: 'Europe/London' }
const currencies = [['EUR', 2], ['EUR', 2], ['EUR', 2], ['USD', 2], ['USD', 2], ['GBP', 2], ['JPY', 0], ['TND', 3], ['PLN', 2]]
const fx = { EUR: '1.000000', USD: '0.92', GBP: '1.17', JPY: '0.0061', TND: '0.29', PLN: '0.23' }

// checked puts the check digit of ISO 6346 behind owner and serial.
function checked(s) {
  const value = c => c <= '9' ? Number(c) : [10, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 34, 35, 36, 37, 38][c.charCodeAt(0) - 65]
  return s + String([...s].reduce((n, c, i) => n + value(c) * 2 ** i, 0) % 11 % 10)
}

export function make(seed, tenant) {
  const next = random(seed * 6151 + tenant * 98317 + 17)
  const both = random(seed * 3571 + 5) // what both tenants know alike
  const from = source => ({
    int: n => Math.floor(source() * n),
    pick: list => list[Math.floor(source() * list.length)],
    maybe: (share, v) => source() < share ? null : v,
  })
  const { int, pick, maybe } = from(next)
  const common = from(both)
  const pad = (n, width) => String(n).padStart(width, '0')
  const fixed = (n, scale) => scale ? `${int(n)}.${pad(int(10 ** scale), scale)}` : String(int(n))
  const time = (year, months) => Date.UTC(year, int(months), 1 + int(28), int(24), int(60), int(60), int(1000))
  const iso = t => new Date(t).toISOString()
  const seconds = t => `${iso(t).slice(0, 19)}Z`
  const day = t => iso(t).slice(0, 10)
  const hour = 36e5, days = 24 * hour
  const letters = n => Array.from({ length: n }, () => pick('ABCDEFGHJKLMNPRSTUVWXYZ0123456789'.split(''))).join('')
  const tables = []
  const table = (...parts) => tables.push(described(...parts))

  // ports: both tenants have most of them, with the same values.
  const ports = []
  const near = (country, i) => Math.round((places[country][i] + common.int(300) / 100 - 1.5) * 10000) / 10000
  portList.forEach(([locode, name, country], i) => {
    const row = [locode, name, country, pad(137 + i * 61, 5), near(country, 0), near(country, 1),
      zones[country] ?? common.maybe(0.4, 'Etc/UTC'), common.maybe(0.2, common.int(15000) * 1000), common.maybe(0.25, common.int(2) === 1),
      common.maybe(0.2, JSON.stringify(['container', 'ro-ro', 'bulk', 'reefer', 'ref'].filter(() => common.int(2) === 1)))]
    if (i < 12 || (i + seed + tenant) % 7 !== 0) ports.push(row)
  })
  table('ports', ['locode'], ['locode:string:!', 'name:string', 'country:string', 'authority_code:string:!', 'latitude:number', 'longitude:number', 'timezone:string:?',
    'teu_per_year:number:?', 'free_zone:boolean:?', 'services:array:?'], ports)
  const locode = () => pick(ports)[0]

  const customers = []
  for (let i = 1; i <= 170 + int(60); i++) {
    const { int, pick, maybe } = i <= 25 ? common : from(next) // multinationals
    // Old accounts lack the zeros in front; some of their numbers were issued anew.
    const account = i % 12 === 3 ? pad(400 + i, 6) : i % 12 === 4 ? String(400 + i - 1) : pad(10000 + i * 7, 6)
    const country = pick(['DE', 'AT', 'CH', 'FR', 'PL', 'DK', 'IT', 'de'])
    customers.push([i, account, `${pick(firms)} ${pick(forms)}`, maybe(0.3, `${country.toUpperCase()}${pad(int(1e9), 9)}${pad(i, 3)}`), country, i > 10 ? maybe(0.75, 1 + int(i - 1)) : null,
      maybe(0.2, `${int(90) * 1000}.00`), maybe(0.15, pick([0, 7, 14, 30, 30, 60])), maybe(0.2, int(6) === 0),
      day(Date.UTC(1998 + int(27), int(12), 1 + int(28))), maybe(0.3, JSON.stringify([pick(['key', 'key account', 'vip', 'vi']), pick(['edi', 'portal', 'reefer'])])),
      maybe(0.35, JSON.stringify({ dock: 1 + int(40), mail: `import${i}@example.org`, hours: pick(['07-15', '08-17']) }))])
  }
  table('customers', ['id'], ['id:number:!', 'account_no:string:!', 'name:string', 'eori:string:?!', 'country:string', 'parent_id:number:?', 'credit_limit:decimal:?',
    'payment_days:number:?', 'blocked:boolean:?', 'since:date', 'tags:array:?', 'contact:json:?'], customers,
  { foreignKeys: [{ field: 'parent_id', targetTable: 'customers', targetField: 'id' }] })

  const shipments = []
  const firstShipment = 48000 + tenant * 20000 + seed * 13
  for (let i = 0; i < 390 + int(60); i++) {
    const booked = i % 45 === 4 ? Date.UTC(2022 + i % 4, 11, 31, 22 + i % 2, 15 + int(40), int(60), 0) : time(2022, 47)
    const eta = booked + (6 + int(50)) * days
    shipments.push([firstShipment + i, `${pick(['HBL_', 'HBL_', 'HBL-', 'MBL_'])}${pad(20 + int(5), 2)}${pad(i, 5)}`, i < 40 ? 1 + int(25) : 1 + int(customers.length), locode(), locode(),
      pick(['FCL', 'FCL', 'LCL', 'AIR', 'ROAD']), maybe(0.1, pick(incoterms)), i % 53 === 0 ? 'cancelled' : pick(['booked', 'in_transit', 'in transit', 'delivered', 'delivered', 'delivered']),
      maybe(0.2, i % 3 === 0 ? pad(2000 + i, 9) : `${pick(['MAEU', 'HLCU', 'CMDU'])}${pad(i * 31, 8)}`), fixed(26000, 3), maybe(0.1, fixed(70, 2)), 1 + int(40),
      iso(booked), maybe(0.12, day(eta)), maybe(0.3, seconds(eta + int(80) * hour)), maybe(0.25, pick(remarks))])
  }
  shipments.forEach((s, i) => { if (i % 31 === 6) s[15] = ''; if (i % 43 === 9) s[15] = `${long}${pick(remarks)}` })
  table('shipments', ['id'], ['id:number:!', 'house_bill:string:!', 'customer_id:number', 'origin:string', 'destination:string', 'mode:string', 'incoterm:string:?', 'status:string',
    'booking_no:string:?!', 'weight_kg:decimal', 'volume_m3:decimal:?', 'packages:number', 'booked_at:datetime', 'eta:date:?', 'delivered_at:datetime:?', 'remarks:string:?'],
  shipments, { foreignKeys: [{ field: 'customer_id', targetTable: 'customers', targetField: 'id' }, { field: 'origin', targetTable: 'ports', targetField: 'locode' },
    { field: 'destination', targetTable: 'ports', targetField: 'locode' }] })
  const booked = shipments.filter(s => s[8] !== null)

  const legs = []
  for (const s of shipments) {
    const n = 1 + (s[0] % 3 === 0 ? 0 : int(2)) + (s[0] % 11 === 0 ? 1 : 0)
    let at = s[3], when = Date.parse(s[12]) + int(8) * days
    for (let leg = 1; leg <= n; leg++) {
      const to = leg === n ? s[4] : locode()
      const late = int(70) - 8
      const mode = s[5] === 'AIR' ? 'air' : pick(['sea', 'sea', 'barge', 'rail', 'truck'])
      legs.push([s[0], leg, mode, mode === 'sea' ? pick(vessels) : null, mode === 'sea' ? maybe(0.1, `${pad(int(450), 3)}${pick(['E', 'W', 'N', 'S'])}`) : null, at, to,
        seconds(when), maybe(0.2, seconds(when + late * hour)), maybe(0.25, late), maybe(0.15, mode === 'air' ? Math.round(next() * 9e5) / 100 : int(9000)), int(4) === 0])
      at = to
      when += (2 + int(20)) * days
    }
  }
  table('legs', ['shipment_id', 'leg_no'], ['shipment_id:number', 'leg_no:number', 'mode:string', 'vessel:string:?', 'voyage:string:?', 'from_port:string', 'to_port:string', 'etd:datetime',
    'departed_at:datetime:?', 'delay_hours:number:?', 'distance_nm:number:?', 'transshipment:boolean'], legs.slice(0, 900), { counted: false,
    foreignKeys: [{ field: 'shipment_id', targetTable: 'shipments', targetField: 'id' }, { field: 'from_port', targetTable: 'ports', targetField: 'locode' },
      { field: 'to_port', targetTable: 'ports', targetField: 'locode' }] })

  const containers = [], numbers = new Set()
  for (let i = 0; i < 480 + int(120); i++) {
    const { int, pick } = i % 9 === 0 ? common : from(next) // boxes that both have seen
    const no = checked(pick(['MSKU', 'HLXU', 'CMAU', 'TCLU', 'MSCU']) + pad(int(1e6), 6))
    if (numbers.has(no)) continue
    numbers.add(no)
    const type = pick(['22G1', '42G1', '45G1', '45R1', '22R1', '22T6'])
    const share = n => next() < n
    const dangerous = share(0.15)
    containers.push([no, share(0.12) ? null : shipments[from(next).int(shipments.length)][0],
      share(0.3) ? null : share(0.06) ? `OOLU${pad(i * 17, 8)}` : from(next).pick(booked)[8], type, type[0] === '2' ? 2200 + int(30) * 10 : 3700 + int(80) * 10,
      share(0.1) ? null : `${3000 + int(25000)}.${int(10)}`, share(0.2) ? null : pad(int(3e6), 8), type[2] === 'R' ? pick([-25, -18, -18, -0.5, 0, 2.5, 13.3]) : null,
      share(0.15) ? null : dangerous, dangerous ? JSON.stringify([pick(['1263', '3480', '3082']), ...(share(0.4) ? [pick(['1203', '126', '9'])] : [])]) : share(0.5) ? null : '[]',
      share(0.2) ? null : iso(time(2022, 47))])
  }
  table('containers', ['container_no'], ['container_no:string:!', 'shipment_id:number:?', 'booking_no:string:?', 'iso_type:string', 'tare_kg:number', 'gross_kg:decimal:?', 'seal_no:string:?',
    'set_temp_c:number:?', 'hazardous:boolean:?', 'un_numbers:array:?', 'last_gate_at:datetime:?'], containers,
  { foreignKeys: [{ field: 'shipment_id', targetTable: 'shipments', targetField: 'id' }] })

  const declarations = [], mrns = new Set()
  for (let i = 0; i < 430 + int(70); i++) {
    const s = pick(shipments)
    const lodged = Date.parse(s[12]) + int(40) * days
    const mrn = `${iso(lodged).slice(2, 4)}DE${letters(9)}${pad(i, 4)}`
    if (mrns.has(mrn)) continue
    mrns.add(mrn)
    const [currency, scale] = pick(currencies), n = int(codesOfGoods.length)
    const rate = maybe(0.15, pick([0, 0, 0.027, 0.065, 0.12, 0.375]))
    declarations.push([mrn, s[0], pick(['import', 'import', 'export', 'transit']), pick(['4000', '1000', '0700', '4200', '5100']), codesOfGoods[n], goods[n], fixed(90000, scale), currency,
      rate, rate === null ? null : rate === 0 ? '0.0000' : fixed(4000, 4), day(lodged), maybe(0.18, seconds(lodged + int(200) * hour)), maybe(0.2, pick([true, false, false])),
      maybe(0.3, JSON.stringify([pick(['N380', 'N740', 'N705']), pick(['Y929', 'C644', 'N38'])])), maybe(0.4, JSON.stringify({ office: `DE00${4600 + int(60)}`, pre: pick(['EUR1', 'T2L', null]), packs: int(30) }))])
  }
  table('declarations', ['mrn'], ['mrn:string:!', 'shipment_id:number', 'kind:string', 'procedure_code:string', 'hs_code:string', 'goods:string', 'value:decimal', 'currency:string',
    'duty_rate:number:?', 'duty:decimal:?', 'lodged_on:date', 'released_at:datetime:?', 'inspected:boolean:?', 'documents:array:?', 'details:json:?'], declarations,
  { foreignKeys: [{ field: 'shipment_id', targetTable: 'shipments', targetField: 'id' }] })

  const invoices = []
  for (let i = 1; i <= 640 + int(150); i++) {
    const s = pick(shipments), [currency, scale] = pick(currencies)
    const issued = Date.parse(s[12]) + int(60) * days, credit = int(14) === 0
    const due = issued + pick([7, 14, 30, 60]) * days
    invoices.push([i, pad(7700 + tenant * 41000 + i, 8), maybe(0.06, s[0]), customers[s[2] - 1][1], pick(['open', 'paid', 'paid', 'dunned', 'Paid']), currency,
      (credit ? '-' : '') + fixed(9000, scale), maybe(0.1, currency === 'EUR' ? fx.EUR : (fx[currency] + pad(int(100), 2)).padEnd(8, String(1 + int(9)))), fixed(800, 2), day(issued),
      maybe(0.07, day(due)), maybe(0.35, iso(due + (int(40) - 20) * days + int(86400000))), credit,
      String(9007199254740993n + BigInt(tenant) * 50000000n + BigInt(seed) * 1000003n + BigInt(i)), maybe(0.4, pick(remarks))])
  }
  invoices.forEach(v => { if (v[0] % 37 === 0) v[14] = ''; if (v[0] % 83 === 0) v[14] = `${long}invoice again.`; if (v[0] % 29 === 0) v[6] = '0.00' })
  table('invoices', ['id'], ['id:number:!', 'invoice_no:string:!', 'shipment_id:number:?', 'account_no:string', 'status:string', 'currency:string', 'amount:decimal', 'fx_rate:decimal:?',
    'vat:decimal', 'issued_on:date', 'due_on:date:?', 'paid_at:datetime:?', 'credit_note:boolean', 'ledger_ref:number:!', 'memo:string:?'], invoices,
  { foreignKeys: [{ field: 'shipment_id', targetTable: 'shipments', targetField: 'id' }, { field: 'account_no', targetTable: 'customers', targetField: 'account_no' }] })

  const events = []
  for (let i = 0; i < 800 + int(100); i++) {
    const s = pick(shipments), box = pick(containers)
    events.push([String(7140000000000000000n + BigInt(seed) * 99991n * 4096n + BigInt(tenant) * 2n ** 40n + BigInt(i) * 4194304n + BigInt(int(4096))), s[8] === null ? maybe(0.5, pick(booked)[8]) : maybe(0.08, s[8]),
      maybe(0.15, int(25) === 0 ? checked(`OOLU${pad(int(400), 6)}`) : box[0]), pick(['GATE_IN', 'GATE_OUT', 'LOAD', 'DISCHARGE', 'DELAY', 'Gate_In']), iso(Date.parse(s[12]) + int(45 * 86400) * 1000 + int(1000)),
      maybe(0.1, locode()), pick(['edi', 'api', 'manual']), box[7] === null ? null : maybe(0.1, Math.round((box[7] + next() * 4 - 2) * 10) / 10 + 0),
      maybe(0.6, JSON.stringify({ terminal: pick(['CTA', 'Eurogate', 'Kaï 3']), eqp: int(9) })), maybe(0.7, pick(remarks))])
  }
  table('tracking_events', ['event_id'], ['event_id:number:!', 'booking_no:string:?', 'container_no:string:?', 'code:string', 'at:datetime', 'place:string:?', 'source:string', 'temp_c:number:?',
    'payload:json:?', 'note:string:?'], events, { counted: false,
    foreignKeys: [{ field: 'booking_no', targetTable: 'shipments', targetField: 'booking_no' }, { field: 'place', targetTable: 'ports', targetField: 'locode' }] })

  return new Map(tables.map(t => [t.name, t]))
}
