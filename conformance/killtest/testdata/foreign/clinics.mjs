// The tables of two tenants, made from a seed: what the practice system of a group of clinics exports. They hold
// what such exports hold: licence and patient numbers with leading zeros beside numbers of an older system without
// them, room codes that look like decimals, names that differ in case and accents, blood groups and telephone
// numbers with a plus, empty lists of allergies, results of laboratories with the digits of each device, claim
// numbers in sequence beyond 2^53, instants around New Year and the change of the clocks. Patients and
// practitioners that both tenants share (a common locum pool) are the same rows in both.

import { described, random } from './tables.mjs'

const given = ['Anna', 'anna', 'Björn', 'Bjorn', 'Zoë', 'Zoe', 'Émile', 'Emile', 'Łukasz', 'Siân', 'Nuño', 'Máire', 'Søren', 'Gülşen', 'İpek',
  'Thảo', 'Jean-Luc', 'Mary Ann', 'Ольга', '美咲', 'Chloé', 'Aoife', 'Peter', 'Maria']
const family = ['Müller', 'Muller', 'MÜLLER', 'Mueller', "O'Neill", 'de la Cruz', 'De La Cruz', 'Groß', 'Gross', 'Dvořák', 'Lefèvre', 'Smith-Jones',
  'van den Berg', 'Núñez', 'Nunez', 'Åkesson', 'Şahin', 'Kowalska', 'Weiß', 'Nguyễn']
const specialties = ['General practice', 'Cardiology', 'Paediatrics', 'paediatrics', 'Radiology', 'Gynaecology', 'ENT', 'Dermatology', 'Orthopaedics']
const groups = ['A+', 'A-', 'B+', 'B-', 'AB+', 'AB-', '0+', '0-']
const allergens = ['penicillin', 'Penicillin V', 'latex', 'nuts', 'iodine', 'aspirin', 'pollen', 'egg']
const reasons = ['check-up', 'Check-up', 'flu & fever', 'BP > 140/90', 'follow-up (2+ weeks)', "child's vaccination", 'O2 saturation 92%', 'pain_left_knee',
  'referral: "urgent"', 'wound care\nsee photo', ' back pain', 'back pain ', 'Schmerzen im Rücken', 'contrôle annuel', 'X-ray; thorax', 'c/o dizziness, nausea',
  'form A\\B', 'réévaluation', 're\u0301e\u0301valuation', '<none given>']
const remarks = ['haemolytic', 'repeat in 2 weeks', 'fasting', 'below 5% of norm', 'sample_2 used', "patient's own device", 'lipaemic, diluted 1:10',
  'first line\nsecond line', 'µ-method', 'n/a', 'NULL', '-']
const analytes = [['GLU', 'mmol/L'], ['glu', 'mg/dL'], ['HbA1c', '%'], ['CREA', 'µmol/L'], ['TSH', 'mIU/L'], ['CRP', 'mg/l'], ['K', 'mmol/l'], ['NA', 'mmol/L'], ['FERR', 'µg/L']]
const drugs = [['A10BA02', 'Metformin'], ['C09AA05', 'Ramipril'], ['N02BE01', 'Paracetamol'], ['N02BE01', 'paracetamol 500 mg'], ['J01CA04', 'Amoxicillin'],
  ['M01AE01', 'Ibuprofen'], ['H03AA01', 'L-Thyroxin'], ['R03AC02', 'Salbutamol'], ['B01AC06', 'ASS 100']]
const newYears = ['2022-12-31T23:30:00.250Z', '2023-12-31T22:59:59.999Z', '2024-12-31T23:59:59.999Z', '2025-01-01T00:00:00.000Z', '2024-03-31T00:59:59.500Z',
  '2024-06-30T22:15:00.007Z', '2024-10-27T00:30:00.000Z']
const long = `${'Sample arrived late; the patient was called and asked to come back, fasting, for another one. '.repeat(3)}– checked by Dr. Şahin`

export function make(seed, tenant) {
  const draw = next => {
    const int = n => Math.floor(next() * n)
    const pick = list => list[int(list.length)]
    const instant = (from, months) => new Date(Date.UTC(from, int(months), 1 + int(28), int(24), int(60), int(60), int(1000)))
    return {
      next, int, pick, maybe: (share, v) => next() < share ? null : v,
      money: n => `${int(n)}.${String(int(100)).padStart(2, '0')}`,
      at: (from = 2022, months = 42) => instant(from, months).toISOString(),
      day: (from, years) => instant(from, 12 * years).toISOString().slice(0, 10),
      uuid: () => [8, 4, 4, 4, 12].map(n => Array.from({ length: n }, () => int(16).toString(16)).join('')).join('-'),
    }
  }
  const common = draw(random(seed * 15485863 + 17)), own = draw(random(seed * 7877 + tenant * 611953 + 5))
  const { next, int, pick, maybe, money, at, day, uuid } = own
  const tables = []
  const table = (...parts) => tables.push(described(...parts))
  const plus = (date, days) => new Date(Date.parse(date) + days * 864e5).toISOString().slice(0, 10)

  const practitioners = []
  for (let i = 1; i <= 64 + int(12); i++) {
    const d = i <= 20 ? common : own
    // A licence that the older system had without its zeros is another person's.
    const licence = i % 8 === 2 ? String(2100 + 37 * (i - 1)) : String(2100 + 37 * i).padStart(7, '0')
    practitioners.push([licence, `Dr. ${d.pick(given)} ${d.pick(family)}`, d.pick(specialties),
      d.maybe(0.2, JSON.stringify(d.int(6) === 0 ? [] : [...new Set([d.pick(['de', 'fr', 'pl']), d.pick(['en', 'tr', 'EN'])])])),
      d.pick(['1.00', '0.50', '0.75', '0.80', '0.25']), d.next() < 0.85, d.day(1995, 29), i < 4 ? null : d.maybe(0.3, practitioners[d.int(3)][0]),
      d.maybe(0.25, `+49 30 ${100000 + d.int(899999)}`)])
  }
  table('practitioners', ['licence'], ['licence:string:!', 'name:string', 'specialty:string', 'languages:array:?', 'fte:decimal', 'active:boolean',
    'hired_on:date', 'head:string:?', 'phone:string:?'], practitioners,
  { foreignKeys: [{ field: 'head', targetTable: 'practitioners', targetField: 'licence' }] })
  const licence = () => pick(practitioners)[0]

  const rooms = []
  for (let floor = 0; floor < 5; floor++) {
    for (let n = 1; n <= 13 + int(3); n++) {
      rooms.push([`${floor}.${n}`, pick(['Mitte', 'mitte', 'Süd', 'Neukölln', 'Charité-Campus']), floor - 1, maybe(0.2, next() < 0.1 ? 0 : 1 + int(12)),
        maybe(0.25, JSON.stringify([...new Set(int(4) === 0 ? [] : [pick(['ECG', 'ultrasound', 'X-ray']), pick(['bed', 'ecg', '2'])])])),
        `${8 + int(40)}.${int(10)}`, maybe(0.15, next() < 0.8)])
    }
  }
  table('rooms', ['code'], ['code:string:!', 'site:string', 'floor:number', 'seats:number:?', 'equipment:array:?', 'area_m2:decimal', 'in_service:boolean:?'], rooms)

  const patients = []
  for (let i = 1; i <= 310 + int(90); i++) {
    const d = i <= 45 ? common : own
    const no = i % 18 === 2 ? String(5000 + 3 * (i - 1)) : String(5000 + 3 * i).padStart(8, '0')
    const allergies = [...new Set(Array.from({ length: d.int(4) }, () => d.pick(allergens)))]
    patients.push([i, no, d.pick(family), d.pick(given), d.maybe(0.06, d.day(1931, 93)), d.maybe(0.08, d.next() < 0.04 ? 'f' : d.pick(['F', 'M', 'X', 'F', 'M'])),
      d.maybe(0.25, d.pick(groups)), d.maybe(0.3, `${d.pick(['+49 30', '+49 171', '030', '+33 1', '0171'])} ${100000 + d.int(899999)}`),
      d.maybe(0.2, `p${i}${d.pick(['@example.org', '+clinic@example.com', '@Example.org'])}`), d.maybe(0.25, d.next() < 0.1), d.maybe(0.2, JSON.stringify(allergies)),
      d.maybe(0.3, JSON.stringify({ name: d.pick(given), rel: d.pick(['spouse', 'child', null]), consent: d.next() < 0.5 })),
      d.at(2019, 70), d.maybe(0.15, (d.next() < 0.25 ? '-' : '') + d.money(1500)), d.maybe(0.2, (i <= 45 ? practitioners[d.int(20)] : d.pick(practitioners))[0]),
      d.maybe(0.3, Math.round(170 + d.next() * 180) / 10)])
  }
  for (const p of patients) if (p[0] % 21 === 0) p[12] = newYears[p[0] / 21 % newYears.length]
  table('patients', ['id'], ['id:number:!', 'patient_no:string:!', 'last_name:string', 'first_name:string', 'birth_date:date:?', 'sex:string:?', 'blood_group:string:?',
    'phone:string:?', 'email:string:?', 'deceased:boolean:?', 'allergies:array:?', 'emergency_contact:json:?', 'registered_at:datetime', 'balance:decimal:?',
    'licence:string:?', 'bmi:number:?'], patients, { foreignKeys: [{ field: 'licence', targetTable: 'practitioners', targetField: 'licence' }] })
  const patient = () => 1 + int(patients.length)

  const appointments = [], series = Array.from({ length: 40 }, uuid)
  for (let i = 1; i <= 780 + int(120); i++) {
    const booked = i % 37 === 0 ? newYears[i / 37 % newYears.length] : at()
    const start = new Date(Math.ceil(Date.parse(booked) / 9e5) * 9e5 + int(40) * 864e5 + int(36) * 9e5)
    appointments.push([i, patient(), maybe(0.08, licence()), maybe(0.15, pick(rooms)[0]), booked, start.toISOString().replace('.000Z', 'Z'),
      maybe(0.1, pick([10, 15, 20, 30, 45, 60, 0])), next() < 0.03 ? 'Cancelled' : pick(['booked', 'arrived', 'done', 'done', 'cancelled', 'no-show']),
      i % 53 === 0 ? '' : maybe(0.2, pick(reasons)), maybe(0.3, next() < 0.3), maybe(0.7, pick(series))])
  }
  table('appointments', ['id'], ['id:number:!', 'patient_id:number', 'licence:string:?', 'room:string:?', 'booked_at:datetime', 'starts_at:datetime', 'minutes:number:?',
    'status:string', 'reason:string:?', 'telehealth:boolean:?', 'series:reference:?'], appointments, {
    foreignKeys: [{ field: 'patient_id', targetTable: 'patients', targetField: 'id' }, { field: 'licence', targetTable: 'practitioners', targetField: 'licence' },
      { field: 'room', targetTable: 'rooms', targetField: 'code' }],
  })

  const invoices = []
  for (let i = 1; i <= 480 + int(120); i++) {
    const a = next() < 0.8 ? pick(appointments) : null
    const issued = a ? plus(a[5], int(20)) : day(2022, 3)
    invoices.push([`${issued.slice(0, 4)}-${String(i).padStart(6, '0')}`, a && a[0], a ? a[1] : patient(), issued, maybe(0.2, plus(issued, 14 + int(30))),
      (next() < 0.06 ? '-' : '') + money(800), pick(['0.000', '0.070', '0.190', '0.077']), next() < 0.05 ? 'PAID' : pick(['open', 'paid', 'paid', 'reminded', 'written off']),
      pick(['EUR', 'EUR', 'EUR', 'CHF', 'PLN']), String(9007199254740993n + BigInt(tenant * 5000 + i)),
      maybe(0.1, JSON.stringify(Array.from({ length: 1 + int(3) }, () => ({ code: pick(['03220', '1', '0140', '250*']), n: 1 + int(3) })))), maybe(0.5, pick(reasons))])
  }
  for (const v of invoices) if (v[0].endsWith('77')) v[4] = `2039-0${1 + int(9)}-15`
  table('invoices', ['invoice_no'], ['invoice_no:string:!', 'appointment_id:number:?', 'patient_id:number', 'issued_on:date', 'due_on:date:?', 'net:decimal', 'tax_rate:decimal',
    'status:string', 'currency:string', 'claim_id:number:!', 'positions:json:?', 'note:string:?'], invoices, {
    foreignKeys: [{ field: 'appointment_id', targetTable: 'appointments', targetField: 'id' }, { field: 'patient_id', targetTable: 'patients', targetField: 'id' }],
  })

  const payments = []
  for (let i = 1; i <= 560 + int(140); i++) {
    payments.push([i, maybe(0.1, pick(invoices)[0]), i % 41 === 0 ? newYears[i / 41 % newYears.length] : at(), (next() < 0.08 ? '-' : '') + money(500),
      maybe(0.1, pick(['card', 'cash', 'transfer', 'Card', 'insurer'])), maybe(0.25, String(int(900000)).padStart(10, '0')), maybe(0.2, next() < 0.7),
      maybe(0.4, Math.round(next() * 4000) / 1000), maybe(0.15, day(2022, 4))])
  }
  table('payments', ['id'], ['id:number:!', 'invoice_no:string:?', 'received_at:datetime', 'amount:decimal', 'method:string:?', 'bank_ref:string:?', 'reconciled:boolean:?',
    'fee:number:?', 'value_date:date:?'], payments, { counted: false, foreignKeys: [{ field: 'invoice_no', targetTable: 'invoices', targetField: 'invoice_no' }] })

  // The laboratory knows patients by their number, also such as were never registered here: no constraint, and no key of its own.
  const results = []
  for (let i = 1; i <= 740 + int(160); i++) {
    const [analyte, unit] = pick(analytes)
    const scale = int(4), value = `${int(analyte === 'NA' ? 150 : 40)}${scale ? `.${String(int(10 ** scale)).padStart(scale, '0')}` : ''}`
    results.push([700000 + Math.ceil(i / 3), maybe(0.05, next() < 0.06 ? String(90000 + int(60)).padStart(8, '0') : pick(patients)[1]), analyte, maybe(0.08, value), maybe(0.1, unit),
      maybe(0.4, pick(['H', 'L', '', 'HH', 'h'])), at(), maybe(0.15, next() < 0.8), maybe(0.2, licence()), i % 83 === 0 ? long : maybe(0.5, pick(remarks))])
  }
  table('lab_results', [], ['sample_no:number', 'patient_no:string:?', 'analyte:string', 'value:decimal:?', 'unit:string:?', 'flag:string:?', 'taken_at:datetime',
    'verified:boolean:?', 'licence:string:?', 'remark:string:?'], results, {
    counted: false, foreignKeys: [{ field: 'licence', targetTable: 'practitioners', targetField: 'licence' }],
  })

  const prescriptions = []
  for (let n = 1; n <= 340; n++) {
    const rx = 40000 + 7 * n, who = patient(), by = maybe(0.1, licence()), issued = at()
    for (let item = 1; item <= 1 + int(3); item++) {
      const [atc, drug] = pick(drugs)
      prescriptions.push([rx, item, who, by, atc, drug, maybe(0.1, pick(['500', '2.5', '0.125', '100', '1.25', '2.50', '7.5'])), pick([20, 50, 100, 10, 98]), maybe(0.3, int(4)),
        issued, maybe(0.2, plus(issued, 28 + int(60))), maybe(0.25, next() < 0.6)])
    }
  }
  table('prescriptions', ['rx_no', 'item'], ['rx_no:number', 'item:number', 'patient_id:number', 'licence:string:?', 'atc:string', 'drug:string', 'dose:decimal:?',
    'quantity:number', 'repeats:number:?', 'issued_at:datetime', 'valid_until:date:?', 'substitution:boolean:?'], prescriptions, {
    foreignKeys: [{ field: 'patient_id', targetTable: 'patients', targetField: 'id' }, { field: 'licence', targetTable: 'practitioners', targetField: 'licence' }],
  })
  return new Map(tables.map(t => [t.name, t]))
}
