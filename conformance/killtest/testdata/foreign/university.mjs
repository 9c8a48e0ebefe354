// The tables of two tenants, made from a seed: what the campus system of a university exports. Matriculation and
// staff numbers are text with leading zeros (and an older format without), cards, invoices and answer sheets have
// integers beyond 2^53, logins are unique where there is one, grades, credits and rates have scales of their own,
// bookings have microseconds. The joint graduate school is in both tenants: its rooms, lecturers and courses.
import { described, random } from './tables.mjs'

const given = ['Anna', 'Björn', 'Chloé', 'Chloe', 'Dvora', 'Élise', 'Fatma', 'Günter', 'Håkon', 'Ifeoma', 'Jörg', 'José', 'Jose', 'Katarzyna',
  'Łukasz', 'Mónica', 'Nguyễn', 'Ólafur', 'Paweł', 'Renée', 'Şebnem', 'Tomáš', 'Ursula', 'Zoë', '晓明', 'André', 'Andre\u0301', 'İlker']
const family = ['Müller', 'Muller', 'Groß', 'Gross', "O'Neill", 'García', 'Garcia', 'Nowak', 'Çelik', 'Žižek', 'van den Berg', 'von Arnim', 'Østergård',
  'Lindström', 'Lindstrom', 'Ferreira da Silva', 'Kovács', 'Dvořák', 'Schmidt', 'Schmitt', 'de la Cruz', 'Ng', 'Öztürk', 'Haimbodi', 'Szabó', 'MacLeod', 'Macleod', '王']
const countries = ['DE', 'DE', 'DE', 'AT', 'CH', 'FR', 'PL', 'TR', 'VN', 'NA', 'SE', 'IS', 'BR']
const cities = ['Zürich', 'Zurich', 'Köln', 'KÖLN', 'Malmö', 'Malmo', 'São Paulo', 'Sao Paulo', 'Windhoek', 'Kraków', 'Weil am Rhein', 'Gießen', 'Giessen', 'Łódź', 'İzmir', 'Izmir']
const degrees = ['BSc', 'BSc', 'MSc', 'BA', 'MA', 'LL.M.', 'Dr.', 'BSC']
const interests = ['art', 'martial arts', 'chess', 'chess club', 'choir', 'rowing', 'erasmus', 'erasmus+', 'law', 'lawn tennis']
const departments = ['Informatik', 'Mathematik', 'Recht & Wirtschaft', 'Romanistik', 'Physik', 'Medizin', 'Kunst/Musik']
const prefixes = ['INF', 'MAT', 'JUR', 'ROM', 'PHY', 'MED', 'KUN']
const subjects = ['Lineare Algebra', 'Analysis', 'C++ für Einsteiger', 'Statistik (R)', 'Grundzüge des Öffentlichen Rechts', 'Théorie littéraire', 'Quantenphysik',
  'Einführung in SQL', 'Musik & Gesellschaft', 'Anatomie', 'Data_Mining', 'Data Mining', 'Ethik: "Was darf ich?"', '100% Statistik', 'Maß- und Integrationstheorie']
const topics = ['stat', 'statistics', 'proof', 'law', 'lawmaking', 'data', 'database', 'ai', 'fair ai', '101', '0101', 'r', 'c', 'c++']
const remarks = ['call back', 'see file 12/7', 'Härtefall', 'hardship', 'paid in cash ', ' transfer', 'said "later"', "it's urgent", 'two\nlines', '50% rebate', 'a_b',
  'Prüfungsamt informed', 'waiting for transcript', 'C:\\scan\\0001.pdf', 'N/A', 'Straße changed', 'tab\there', 'exam office, room 3']
const newYears = ['2020-12-31', '2021-01-01', '2021-01-03', '2021-12-31', '2022-01-01', '2022-01-02', '2023-01-01', '2024-12-30', '2024-12-31', '2025-01-01']
const abstract = 'Die Arbeit untersucht, wie Prüfungsleistungen über mehrere Semester hinweg verglichen werden können, und schlägt ein Maß vor. '

// drawer returns what draws values from a stream.
function drawer(next) {
  const int = n => Math.floor(next() * n)
  const pick = list => list[int(list.length)]
  const pad = (n, width) => String(n).padStart(width, '0')
  return {
    next, int, pick, pad,
    maybe: (share, v) => next() < share ? null : v,
    name: () => `${pick(given)} ${pick(family)}`,
    fixed: (least, most, scale) => (least + next() * (most - least)).toFixed(scale),
    some: (list, n) => JSON.stringify([...new Set(Array.from({ length: int(n + 1) }, () => pick(list)))]),
    day: (from, years) => new Date(Date.UTC(from, int(12 * years), 1 + int(28))).toISOString().slice(0, 10),
    // instant has 0, 3 or 6 digits of a second.
    instant: (from, years, scale) => {
      const whole = new Date(Date.UTC(from, int(12 * years), 1 + int(28), int(24), int(60), int(60))).toISOString().slice(0, 19)
      return scale ? `${whole}.${pad(int(10 ** scale), scale)}Z` : `${whole}Z`
    },
  }
}

export function make(seed, tenant) {
  const joint = drawer(random(seed * 6151 + 17)) // the same for both tenants
  const mine = drawer(random(seed * 7907 + tenant * 130363 + 5))
  const { int, pick, maybe, pad } = mine
  const tables = []
  const table = (...parts) => tables.push(described(...parts))

  const rooms = []
  const jointRooms = 18
  const halls = 64 + int(20)
  for (let i = 0; i < halls; i++) {
    const d = i < jointRooms ? joint : mine
    const floor = d.int(6) - 1
    rooms.push([`${i < jointRooms ? 'G' : 'ABH'[i % 3]}.${floor}.${d.pad(i + 1, 3)}`, i < jointRooms ? 'Graduate School' : pick(['Altbau', 'Neubau', 'Haus Österreich', 'Physikum']),
      floor, d.maybe(0.1, d.next() < 0.08 ? 0 : 8 + d.int(240)), d.fixed(9, 420, 1), d.maybe(0.15, d.next() < 0.6),
      d.maybe(0.2, d.some(['beamer', 'board', 'whiteboard', 'piano', 'lab', 'lab bench'], 3)),
      d.maybe(0.2, JSON.stringify({ lat: Number(d.fixed(47, 48, 4)), lon: Number(d.fixed(8, 9, 4)), key: d.next() < 0.5 })), d.maybe(0.3, d.day(2019, 6))])
  }
  table('rooms', ['code'], ['code:string:!', 'building:string', 'floor:number', 'seats:number:?', 'area:decimal', 'accessible:boolean:?',
    'equipment:array:?', 'position:json:?', 'inspected_on:date:?'], rooms)

  const lecturers = []
  const jointLecturers = 16
  const staff = 78 + int(30)
  for (let i = 1; i <= staff; i++) {
    const both = i <= jointLecturers, d = both ? joint : mine
    lecturers.push([both ? `G${d.pad(i, 4)}` : d.pad(i * 7, 5), d.next() < 0.2 ? null : `${d.pick(['mu', 'sc', 'ga', 'ng', 'kr'])}${both ? 'g' : ''}${d.pad(i, 3)}`, d.name(), d.pick(departments),
      d.day(1988, 36), d.fixed(0, 18, 1), d.next() < 0.3, d.maybe(0.15, (both ? rooms.slice(0, jointRooms) : rooms)[d.int(both ? jointRooms : rooms.length)][0]),
      d.some(['de', 'en', 'fr', 'pl', 'pt', 'pt-BR'], 3), d.maybe(0.2, d.next() < 0.1 ? 0 : d.int(140))])
  }
  table('lecturers', ['staff_no'], ['staff_no:string:!', 'login:string:?!', 'name:string', 'department:string', 'hired_on:date', 'hours:decimal',
    'external:boolean', 'room_code:string:?', 'languages:array', 'publications:number:?'], lecturers,
  { foreignKeys: [{ field: 'room_code', targetTable: 'rooms', targetField: 'code' }] })
  const logins = lecturers.map(l => l[1]).filter(l => l !== null)

  const courses = []
  const jointCourses = 30
  const offered = 130 + int(30)
  for (let i = 1; i <= offered; i++) {
    const both = i <= jointCourses, d = both ? joint : mine
    const p = d.int(prefixes.length)
    courses.push([`${both ? 'GS' : prefixes[p]}-${d.pad(both ? i : 97 + i, 4)}`, `${d.pick(subjects)}${d.pick(['', ' I', ' II', ' i', ''])}`, departments[p], d.pick(['2.5', '5.0', '7.5', '10.0', '12.0', '0.0']),
      d.maybe(0.2, d.pick(['de', 'en', 'DE', 'fr'])), d.maybe(0.08, lecturers[d.int(both ? jointLecturers : lecturers.length)][0]),
      d.maybe(0.2, rooms[d.int(both ? jointRooms : rooms.length)][0]), d.maybe(0.2, Number(d.fixed(1, 5, 2))),
      d.maybe(0.35, Math.floor(d.next() * 6e10)), d.maybe(0.15, d.some(topics, 4)),
      d.maybe(0.3, JSON.stringify({ weeks: 12 + d.int(4), online: d.next() < 0.4, book: d.maybe(0.4, d.pick(['Knuth', "L'Étranger", 'Forster'])) })),
      d.instant(2016, 8, 0), d.maybe(0.1, d.next() < 0.1 ? 0 : 10 * d.int(30))])
  }
  table('courses', ['code'], ['code:string:!', 'title:string', 'department:string', 'ects:decimal', 'language:string:?', 'lecturer_no:string:?', 'room_code:string:?',
    'eval_score:number:?', 'recording_bytes:number:?', 'topics:array:?', 'syllabus:json:?', 'created_at:datetime', 'capacity:number:?'], courses,
  { foreignKeys: [{ field: 'lecturer_no', targetTable: 'lecturers', targetField: 'staff_no' }, { field: 'room_code', targetTable: 'rooms', targetField: 'code' }] })

  const students = []
  const heads = 390 + int(80)
  let card = 9117300000000000000n + BigInt(int(1000000)) * 1000n
  for (let i = 1; i <= heads; i++) {
    // Every twelfth number has a namesake of the older format, without zeros in front.
    const no = i % 12 === 1 ? pad(31000 + i, 7) : i % 12 === 2 ? String(31000 + i - 1) : pad(i % 5 === 0 ? 2210000 + i * 3 : 410000 + i * 11, 7)
    card += BigInt(1 + int(40))
    const home = pick(cities)
    students.push([no, String(card), mine.name(), maybe(0.15, `s${no}@uni.example`), pick(degrees), pick(countries), maybe(0.1, home), maybe(0.08, mine.day(1961, 46)),
      mine.instant(2017, 8, 3), 1 + int(14), maybe(0.12, mine.fixed(1, 4, 2)), mine.next() < 0.8, maybe(0.7, mine.day(2019, 6)), maybe(0.2, mine.some(interests, 3)),
      maybe(0.35, JSON.stringify({ newsletter: mine.next() < 0.5, lang: pick(['de', 'en']), diet: maybe(0.5, 'vegan') })), maybe(0.45, mine.next() < 0.12 ? '' : pick(remarks))])
  }
  table('students', ['student_no'], ['student_no:string:!', 'card_no:number:!', 'name:string', 'email:string:?', 'degree:string', 'country:string', 'home_city:string:?',
    'born_on:date:?', 'enrolled_at:datetime', 'semester:number', 'gpa:decimal:?', 'active:boolean', 'left_on:date:?', 'interests:array:?', 'settings:json:?', 'remark:string:?'], students)

  const enrolments = []
  const taken = new Set()
  const many = 800 + int(90)
  while (enrolments.length < many) {
    const s = pick(students)[0], c = pick(courses)[0], year = 2020 + int(5), term = `${year}${pick(['W', 'S'])}`
    if (taken.has(`${s} ${c} ${term}`)) continue
    taken.add(`${s} ${c} ${term}`)
    enrolments.push([s, c, term, pick(['registered', 'registered', 'waitlisted', 'dropped', 'Registered', 'completed', 'completed']), mine.instant(year, 1, 0), 1 + int(3),
      maybe(0.4, int(4)), maybe(0.15, Number(mine.fixed(0, 16, 1))), maybe(0.2, mine.next() < 0.5), maybe(0.3, pick(['01', '1', '02', '2', '10', 'A'])), maybe(0.6, mine.next() < 0.1 ? '' : pick(remarks))])
  }
  table('enrolments', ['student_no', 'course_code', 'term'], ['student_no:string', 'course_code:string', 'term:string', 'status:string', 'enrolled_at:datetime',
    'attempt:number', 'priority:number:?', 'hours:number:?', 'confirmed:boolean:?', 'group_no:string:?', 'remark:string:?'], enrolments, {
    counted: false,
    foreignKeys: [{ field: 'student_no', targetTable: 'students', targetField: 'student_no' }, { field: 'course_code', targetTable: 'courses', targetField: 'code' }],
  })

  const exams = []
  const sat = 780 + int(110)
  let sheet = 9007199254740993n + BigInt(int(100000))
  for (let i = 1; i <= sat; i++) {
    const e = pick(enrolments)
    const shown = mine.next() < 0.85
    const grade = pick(['1.0', '1.3', '1.7', '2.0', '2.3', '2.7', '3.0', '3.3', '3.7', '4.0', '5.0'])
    sheet += BigInt(1 + int(9))
    exams.push([i, e[0], e[1], e[2], `${Number(e[2].slice(0, 4)) + int(2)}-${pad(1 + int(12), 2)}-${pad(1 + int(28), 2)}T${pad(int(24), 2)}:${pick(['00', '15', '30'])}:00.000Z`, shown ? grade : null,
      shown ? mine.fixed(0, 120, 2) : null, mine.fixed(0, 1, 3), shown ? grade !== '5.0' : null, maybe(0.12, pick(logins)), pick(['written', 'oral', 'thesis defence', 'Written']),
      maybe(0.5, mine.next() < 0.1 ? '' : pick(remarks)), String(sheet)])
  }
  for (const x of exams) if (x[0] % 37 === 0) x[4] = `${newYears[x[0] / 37 % newYears.length]}T${pick(['23:30', '22:45', '00:00'])}:00.000Z`
  table('exams', ['id'], ['id:number:!', 'student_no:string', 'course_code:string', 'term:string', 'held_at:datetime', 'grade:decimal:?', 'points:decimal:?', 'weight:decimal',
    'passed:boolean:?', 'examiner_login:string:?', 'form:string', 'comment:string:?', 'sheet_no:number:!'], exams, {
    foreignKeys: [{ field: 'student_no', targetTable: 'students', targetField: 'student_no' }, { field: 'course_code', targetTable: 'courses', targetField: 'code' },
      { field: 'examiner_login', targetTable: 'lecturers', targetField: 'login' }],
  })

  const fees = []
  const invoices = 740 + int(150)
  let invoice = 2024000000000000000n + BigInt(int(9000)) * 1000000n
  const prices = { semester: ['312.40', '312.40', '287.15', '1500.00'], library: ['0.50', '2.50', '12.00', '7.25'], tuition: ['9800.00', '10250.00', '950.00'], refund: ['-312.40', '-95.00', '-9.50'] }
  for (let i = 1; i <= invoices; i++) {
    const kind = pick(['semester', 'semester', 'library', 'tuition', 'refund'])
    invoice += BigInt(1 + int(700))
    const due = i % 23 === 0 ? newYears[i / 23 % newYears.length] : mine.day(2019, 6)
    fees.push([String(invoice), pick(students)[0], kind, pick(prices[kind]), pick(['EUR', 'EUR', 'EUR', 'CHF', 'eur']), mine.fixed(0.9, 1.2, 6), due,
      mine.instant(2019, 6, 6), maybe(0.3, mine.day(2019, 7)), maybe(0.2, pad(int(400), 8)), maybe(0.25, int(4)), mine.next() < 0.1,
      maybe(0.6, JSON.stringify({ iban: `DE${pad(int(1e9), 20)}`, by: pick(['self', 'parents', 'DAAD']) }))])
  }
  table('fees', ['invoice_no'], ['invoice_no:number:!', 'student_no:string', 'kind:string', 'amount:decimal', 'currency:string', 'rate:decimal', 'due_on:date',
    'booked_at:datetime', 'paid_on:date:?', 'reference:string:?', 'reminders:number:?', 'reversed:boolean', 'payer:json:?'], fees, {
    foreignKeys: [{ field: 'student_no', targetTable: 'students', targetField: 'student_no' }],
  })

  const theses = []
  const written = 130 + int(40)
  for (let i = 1; i <= written; i++) {
    const year = 2019 + int(6)
    theses.push([`T${year}/${pad(i, 4)}`, pick(students)[0], `${pick(['Zur', 'Über die', 'On the', 'Sur la'])} ${pick(subjects)}`, pick(lecturers)[0], maybe(0.3, pick(logins)),
      maybe(0.25, mine.fixed(1, 5, 1)), mine.day(year, 1), maybe(0.2, mine.instant(year, 2, 3)), maybe(0.2, 30 + int(260)), maybe(0.25, Number(mine.fixed(0, 40, 1))),
      mine.some(topics, 4), maybe(0.75, `${2030 + int(25)}-0${1 + int(9)}-15`), maybe(0.3, abstract.repeat(1 + int(4)).trim()), mine.next() < 0.15])
  }
  table('theses', ['thesis_no'], ['thesis_no:string:!', 'student_no:string', 'title:string', 'supervisor_no:string', 'second_login:string:?', 'grade:decimal:?', 'registered_on:date',
    'submitted_at:datetime:?', 'pages:number:?', 'similarity:number:?', 'keywords:array', 'embargo_until:date:?', 'abstract:string:?', 'confidential:boolean'], theses, {
    counted: false,
    foreignKeys: [{ field: 'student_no', targetTable: 'students', targetField: 'student_no' }, { field: 'supervisor_no', targetTable: 'lecturers', targetField: 'staff_no' },
      { field: 'second_login', targetTable: 'lecturers', targetField: 'login' }],
  })
  return new Map(tables.map(t => [t.name, t]))
}
