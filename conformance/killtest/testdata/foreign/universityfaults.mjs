// Faults over the tables of a university: each is the shop with one thing wrong in it.
import * as semantics from './semantics.mjs'

const { match, numeric, text, key, compare, bytes } = semantics
const query = (table, fields, more = {}) => ['/query', { table, and: [], sort: [], fields, ...more }]
const count = (table, and = [], more = {}) => ['/count', { table, and, ...more }]
const aggregate = (table, groupBy, measures, more = {}) => ['/aggregate', { table, and: [], groupBy, measures, limit: 1001, ...more }]
const hop = (fromTable, fromField, toTable, toField, ...fields) => ({ fromTable, toTable, fromField, toField, fields })
const asc = (...names) => names.map(field => ({ field, dir: 'asc' }))
const column = (t, name) => t.fields.findIndex(f => f.name === name)
// value is one of the values of a column of the first tenant.
const value = (shops, table, name, nth = 0) => {
  const t = shops.get('north').get(table)
  return t.rows.map(r => r[column(t, name)]).filter(v => v !== null)[nth]
}
const isText = v => typeof v === 'string'

// lists does the same to every list of filters.
const lists = (where, f) => ({ and: f(where.and), or: where.or.map(f) })

// berlin is how many hours a clock in Berlin is ahead of UTC at an instant.
function berlin(ms) {
  const year = new Date(ms).getUTCFullYear()
  const sunday = month => { // the last one, 01:00 UTC
    const last = new Date(Date.UTC(year, month + 1, 0, 1))
    return last.getTime() - last.getUTCDay() * 86400e3
  }
  return ms >= sunday(2) && ms < sunday(9) ? 2 : 1
}

// words are what a search index keeps of a text.
const words = s => ` ${(s.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? []).join(' ')} `
// folded is a text as utf8mb4_0900_ai_ci sees it.
const folded = s => s.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('ß', 'ss')

// python spells a value as str() of Python does.
function python(v) {
  if (v === null) return 'None'
  if (typeof v === 'boolean') return v ? 'True' : 'False'
  if (typeof v === 'string') return v.includes("'") && !v.includes('"') ? `"${v}"` : `'${v.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  if (Array.isArray(v)) return `[${v.map(python).join(', ')}]`
  if (typeof v === 'object') return `{${Object.entries(v).map(([k, e]) => `${python(k)}: ${python(e)}`).join(', ')}}`
  return text(v)
}

// What read_csv of pandas takes for a missing value.
const missing = new Set(['', '#N/A', '#N/A N/A', '#NA', '-1.#IND', '-1.#QNAN', '-NaN', '-nan', '1.#IND', '1.#QNAN', '<NA>', 'N/A', 'NA', 'NULL', 'NaN', 'None', 'n/a', 'nan', 'null'])
const read = new WeakMap()
function frames(tables) {
  if (!read.has(tables)) {
    read.set(tables, new Map([...tables].map(([name, t]) => [name, {
      ...t, rows: t.rows.map(row => row.map((v, i) => t.fields[i].type === 'string' && missing.has(v) ? null : v)),
    }])))
  }
  return read.get(tables)
}

// approximate is the distinct count of a HyperLogLog of 2048 registers (a standard error of 2.3 %).
function approximate(values) {
  const m = 2048, registers = new Uint8Array(m)
  for (const v of values) {
    let h = 0xcbf29ce484222325n
    for (const b of Buffer.from(v)) h = BigInt.asUintN(64, (h ^ BigInt(b)) * 0x100000001b3n)
    for (const k of [0xff51afd7ed558ccdn, 0xc4ceb9fe1a85ec53n]) h = BigInt.asUintN(64, (h ^ (h >> 33n)) * k)
    h ^= h >> 33n
    const rest = (h >> 11n).toString(2).padStart(53, '0')
    registers[Number(h & 2047n)] = Math.max(registers[Number(h & 2047n)], rest.indexOf('1') < 0 ? 54 : rest.indexOf('1') + 1)
  }
  const empty = registers.filter(r => r === 0).length
  const raw = 0.7213 / (1 + 1.079 / m) * m * m / registers.reduce((sum, r) => sum + 2 ** -r, 0)
  return Math.round(raw <= 2.5 * m && empty > 0 ? m * Math.log(m / empty) : raw)
}

// weekYear is the year of the ISO week of a day.
function weekYear(day) {
  const d = new Date(`${day}T00:00:00Z`)
  return new Date(d.getTime() + (4 - (d.getUTCDay() || 7)) * 86400e3).getUTCFullYear()
}

export const faults = {
  'nin becomes NOT IN, which drops the nulls': {
    kind: 'sql',
    match(cell, f) {
      if (f.op === 'nin' && cell === null && f.values.some(v => v !== null)) return false
    },
    probe: () => [query('students', ['student_no'], { and: [{ field: 'home_city', op: 'nin', values: ['Köln'] }] }), count('courses', [{ field: 'language', op: 'nin', values: ['de', 'en'] }])],
  },

  'the where object of the GraphQL query has one entry a field, so a second filter on it replaces the first': {
    kind: 'graphql',
    where(where) {
      return lists(where, list => [...new Map(list.map(f => [f.field, f])).values()])
    },
    probe: () => [query('students', ['student_no'], { and: [{ field: 'semester', op: 'gte', value: 4 }, { field: 'semester', op: 'lte', value: 9 }] })],
  },

  'includes asks the full-text index, which matches whole words in any case': {
    kind: 'search',
    match(cell, f) {
      if (f.op !== 'includes' || f.type !== 'string' || !isText(cell) || f.value === null || f.value === '') return undefined
      return words(text(f.value)).trim() !== '' && words(cell).includes(words(text(f.value)))
    },
    probe: () => [query('courses', ['code'], { and: [{ field: 'title', op: 'includes', value: 'tist' }] }), count('students', [{ field: 'name', op: 'includes', value: 'ller' }])],
  },

  'text is compared with the collation of MySQL, without regard to case and accents': {
    kind: 'sql',
    match(cell, f) {
      if (f.type !== 'string' || !isText(cell)) return undefined
      const same = v => v !== null && folded(cell) === folded(text(v))
      switch (f.op) {
        case 'eq': return same(f.value)
        case 'neq': return f.value !== null && !same(f.value)
        case 'in': return f.values.some(same)
        case 'nin': return !f.values.some(same)
      }
    },
    probe: () => [query('students', ['student_no'], { and: [{ field: 'home_city', op: 'eq', value: 'Zurich' }] }), count('enrolments', [{ field: 'status', op: 'in', values: ['Registered'] }])],
  },

  'a filter whose value is 0, false or empty counts as not given': {
    kind: 'orm', // if (f.value) where = where.and(...)
    where(where) {
      return lists(where, list => list.filter(f => !('value' in f) || f.value))
    },
    probe: () => [query('students', ['student_no'], { and: [{ field: 'active', op: 'eq', value: false }] }), count('fees', [{ field: 'amount', op: 'lt', value: 0 }])],
  },

  'contains is LIKE over the text of the JSON column': {
    kind: 'sql',
    match(cell, f) {
      if (f.op === 'contains' && isText(cell) && f.value !== null) return cell.includes(text(f.value))
    },
    probe: () => [query('students', ['student_no'], { and: [{ field: 'interests', op: 'contains', value: 'art' }] }), count('theses', [{ field: 'keywords', op: 'contains', value: 'law' }])],
  },

  'the session of the database is in Berlin, so the instants of filters lose their Z and are read as local time': {
    kind: 'time', // '2024-07-01T10:00:00Z'::timestamp against a timestamptz
    where(where) {
      const moved = v => {
        const parts = isText(v) && /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(\.\d+)?Z)?$/.exec(v)
        if (!parts) return v
        const wall = Date.parse(`${parts[1]}T${parts[2] ?? '00:00:00'}Z`)
        if (Number.isNaN(wall)) return v
        return `${new Date(wall - berlin(wall - 3600e3) * 3600e3).toISOString().slice(0, 19)}${parts[3] ?? ''}Z`
      }
      return lists(where, list => list.map(f => f.type !== 'datetime' ? f
        : { ...f, ...('values' in f ? { values: f.values.map(moved) } : {}), ...(['eq', 'neq', 'gt', 'gte', 'lt', 'lte'].includes(f.op) ? { value: moved(f.value) } : {}) }))
    },
    probe: shops => [count('exams', [{ field: 'held_at', op: 'gte', value: value(shops, 'exams', 'held_at', 40) }]), query('courses', ['code'], { and: [{ field: 'created_at', op: 'eq', value: value(shops, 'courses', 'created_at') }] })],
  },

  'the filters of number columns are integers in the generated client, so fractions are cut off': {
    kind: 'rest',
    where(where) {
      const whole = v => /^[+-]?\d+\.\d+$/.test(text(v)) ? text(v).split('.')[0] : v
      return lists(where, list => list.map(f => f.type !== 'number' ? f : 'values' in f ? { ...f, values: f.values.map(v => v === null ? v : whole(v)) }
        : ['eq', 'neq', 'gt', 'gte', 'lt', 'lte'].includes(f.op) && f.value !== null ? { ...f, value: whole(f.value) } : f))
    },
    probe: () => [query('theses', ['thesis_no'], { and: [{ field: 'similarity', op: 'gte', value: 20.6 }] }), count('courses', [{ field: 'eval_score', op: 'lt', value: 2.75 }])],
  },

  'JSON.parse reads the big integers of the REST API as doubles': {
    kind: 'rest',
    cell(v, field) {
      return field.type === 'number' && isText(v) ? Number(v) : v
    },
    probe: () => [query('students', ['student_no', 'card_no'])],
  },

  'the driver makes local midnights of dates, and toISOString puts them on the day before': {
    kind: 'time',
    cell(v, field) {
      if (field.type !== 'date' || v === null) return v
      return new Date(Date.parse(`${v}T00:00:00Z`) - 3600e3).toISOString().slice(0, 10)
    },
    probe: () => [query('fees', ['invoice_no', 'due_on', 'paid_on'])],
  },

  'str() instead of json.dumps writes the cells of JSON and arrays': {
    kind: 'files', // Parquet with nested columns, read with Python
    cell(v, field) {
      return v !== null && ['json', 'array'].includes(field.type) ? python(JSON.parse(v)) : v
    },
    probe: () => [query('students', ['student_no', 'interests', 'settings'])],
  },

  'pandas takes the country NA, and empty texts, for missing values': {
    kind: 'files',
    before(ask) { ask.tables = frames(ask.tables) },
    probe: () => [query('students', ['student_no', 'country']), count('students', [{ field: 'country', op: 'eq', value: 'NA' }]), ['/cardinality', { table: 'students', columns: ['country', 'remark'] }]],
  },

  'the offset becomes a page number, rounded down to whole pages': {
    kind: 'paging',
    window(wide, from, limit) {
      if (limit === undefined) return undefined
      const page = Math.floor(from / limit)
      return wide.slice(page * limit, (page + 1) * limit)
    },
    probe: () => [query('students', ['student_no'], { sort: asc('student_no'), limit: 40, offset: 50 })],
  },

  'the next page starts behind the last sort value, which skips the rows that share it': {
    kind: 'paging', // keyset paging, 200 rows a page
    window(wide, from, limit, ask) {
      const name = ask.body.sort[0]?.field
      if (name === undefined) return undefined // the upstream's own cursor
      const t = ask.tables.get(ask.body.table), at = column(t, name)
      const of = parts => parts[t.name][at]
      const same = (a, b) => a === null || b === null ? a === b : key(a, t.fields[at].type) === key(b, t.fields[at].type)
      const out = []
      const most = limit ?? Infinity
      let rest = wide.slice(from)
      while (rest.length > 0 && out.length < most) {
        const page = rest.slice(0, 200)
        out.push(...page)
        const last = of(page.at(-1))
        if (page.length < 200 || last === null) break // null > null finds nothing
        rest = rest.slice(200)
        while (rest.length > 0 && same(of(rest[0]), last)) rest.shift()
      }
      return out.slice(0, most)
    },
    probe: () => [query('exams', ['id', 'grade'], { sort: asc('grade') }), query('fees', ['invoice_no'], { sort: asc('due_on') })],
  },

  'the limit goes upstream, and contains and includes are judged over the rows that come back': {
    kind: 'paging',
    where(where, t, ask) {
      if (ask.route !== '/query' || ask.body.limit === undefined) return undefined
      const here = f => ['contains', 'includes'].includes(f.op)
      ask.rest = where.and.filter(here)
      return { ...where, and: where.and.filter(f => !here(f)) }
    },
    window(wide, from, limit, ask) {
      if (!ask.rest?.length) return undefined
      return wide.slice(from, from + limit).filter(parts => ask.rest.every(f => match(parts[ask.body.table][f.at], f, f.type)))
    },
    probe: () => [query('students', ['student_no'], { and: [{ field: 'name', op: 'includes', value: 'e' }], sort: asc('student_no'), limit: 50 })],
  },

  'the driver gives decimals and bigints as text, and rows are sorted with a < b': {
    kind: 'sorting',
    compare(a, b, k) {
      if (!numeric(k.type) || !isText(a) || !isText(b)) return undefined
      return a === b ? 0 : (a < b ? -1 : 1) * (k.dir === 'desc' ? -1 : 1)
    },
    probe: () => [query('fees', ['invoice_no', 'amount'], { sort: [{ field: 'amount', dir: 'desc' }] }), query('courses', ['code'], { sort: asc('ects') })],
  },

  'the current and the archived years are put together with UNION, which drops equal rows': {
    kind: 'warehouse',
    window(wide, from, limit, ask) {
      const { table, fields, sort, joins = [] } = ask.body
      if (!['exams', 'fees', 'enrolments'].includes(table)) return undefined
      const t = ask.tables.get(table)
      const places = [...fields, ...sort.map(k => k.field)].map(name => column(t, name))
      const seen = new Set()
      const once = wide.filter(parts => {
        const k = JSON.stringify([places.map(at => parts[t.name][at]), joins.map(h => {
          const row = parts[h.toTable === table ? `${table} again` : h.toTable]
          return h.fields.map(f => row ? row[column(ask.tables.get(h.toTable), f.field)] : null)
        })])
        return !seen.has(k) && seen.add(k)
      })
      return once.slice(from, limit === undefined ? undefined : from + limit)
    },
    probe: () => [query('fees', ['kind', 'amount', 'currency']), query('exams', ['course_code', 'grade'], { sort: asc('course_code'), limit: 100 })],
  },

  'the loader of joined rows keeps one row a key': {
    kind: 'joins', // new Map(rows.map(r => [r[toField], r]))
    joined(found) {
      return found.slice(-1)
    },
    probe: () => [query('students', ['student_no'], { joins: [hop('students', 'student_no', 'fees', 'student_no', { field: 'invoice_no', as: 'invoice', type: 'number' })] })],
  },

  'merge of pandas joins missing keys with missing keys': {
    kind: 'joins',
    joined(found, v, h, ask) {
      if (v !== null) return undefined
      const to = ask.tables.get(h.toTable), at = column(to, h.toField)
      return to.rows.filter(row => row[at] === null)
    },
    probe: () => [query('exams', ['id'], { joins: [hop('exams', 'examiner_login', 'lecturers', 'login', { field: 'name', as: 'examiner', type: 'string' })] })],
  },

  'columns of one name overwrite each other in the rows of a join': {
    kind: 'joins', // SELECT s.name, c.name ... into objects by column name
    rows(rows, ask) {
      const hops = ask.body.joins ?? []
      if (hops.length === 0) return undefined
      return rows.map(row => {
        const flat = Object.fromEntries(ask.body.fields.map(name => [name, row[name]]))
        const all = hops.flatMap(h => h.fields)
        for (const f of all) flat[f.field] = row[f.as ?? f.field]
        return Object.fromEntries([...ask.body.fields.map(name => [name, flat[name]]), ...all.map(f => [f.as ?? f.field, flat[f.field]])])
      })
    },
    probe: () => [query('theses', ['thesis_no', 'title', 'grade'], { joins: [
      hop('theses', 'student_no', 'students', 'student_no', { field: 'name', as: 'student', type: 'string' }),
      hop('theses', 'supervisor_no', 'lecturers', 'staff_no', { field: 'name', as: 'supervisor', type: 'string' })] })],
  },

  'groups of a null key are dropped, as groupby of pandas and terms of a search index do': {
    kind: 'aggregates',
    groups(answer, t, ask) {
      return answer.filter(row => ask.body.groupBy.every(g => row[g.as] !== null))
    },
    probe: () => [aggregate('courses', [{ field: 'language', as: 'language' }], [{ fn: 'count', as: 'n' }])],
  },

  'min and max take a null for 0': {
    kind: 'aggregates', // Math.min(...rows.map(r => Number(r.grade)))
    measure(right, m, values, field, t, ask, rows) {
      if (!['min', 'max'].includes(m.fn) || !numeric(field.type) || values.length === rows.length) return undefined
      const c = right === null ? 0 : compare(right, 0, field.type)
      return right !== null && (m.fn === 'min' ? c <= 0 : c >= 0) ? right : field.type === 'decimal' ? '0' : 0
    },
    probe: () => [aggregate('exams', [{ field: 'course_code', as: 'course' }], [{ fn: 'min', field: 'grade', as: 'best' }, { fn: 'max', field: 'points', as: 'most' }])],
  },

  'the pattern of periods says YYYY, the year of the week, where yyyy is meant': {
    kind: 'time',
    bucket(v, grain) {
      const day = v.slice(0, 10), [, m, d] = day.split('-'), y = weekYear(day)
      switch (grain) {
        case 'year': return `${y}-01-01`
        case 'quarter': return `${y}-${String(3 * Math.floor((m - 1) / 3) + 1).padStart(2, '0')}-01`
        case 'month': return `${y}-${m}-01`
        default: return `${y}-${m}-${d}`
      }
    },
    probe: () => [aggregate('fees', [{ field: 'due_on', as: 'month', grain: 'month' }], [{ fn: 'sum', field: 'amount', as: 'total' }])],
  },

  'the composite aggregation is read without its after_key, so 100 groups are all': {
    kind: 'search',
    groups(answer, t, ask) {
      if (ask.body.groupBy.length === 0) return undefined
      const [g] = ask.body.groupBy
      const type = g.grain ? 'string' : t.fields[column(t, g.field)].type
      const order = (a, b) => a === null || b === null ? (b === null) - (a === null) : compare(a, b, type) ?? bytes(text(a), text(b))
      return [...answer].sort((a, b) => order(a[g.as], b[g.as])).slice(0, 100)
    },
    probe: () => [aggregate('enrolments', [{ field: 'student_no', as: 'student' }], [{ fn: 'count', as: 'n' }])],
  },

  'the key of cached aggregates has the value of a filter but not its values': {
    kind: 'cache',
    before(ask) {
      if (ask.route !== '/aggregate') return undefined
      const { and, or = [], credentials, timeoutMs, ...rest } = ask.body
      if (!Array.isArray(and) || !Array.isArray(or) || !or.every(Array.isArray)) return undefined
      const all = [and, ...or].flat()
      if (!all.every(f => semantics.isObject(f) && (f.values === undefined || Array.isArray(f.values)))) return undefined
      const spell = f => [Object.keys(f).sort(), f.field, f.op, f.value]
      ask.kept = JSON.stringify([ask.shop, rest, and.map(spell), or.map(g => g.map(spell))])
      ask.state.aggregates ??= new Map()
      return ask.state.aggregates.get(ask.kept)
    },
    after(ask, answer) {
      if (ask.kept !== undefined && answer.body !== null) ask.state.aggregates.set(ask.kept, answer)
    },
    probe: () => ['BSc', 'MSc'].map(degree => aggregate('students', [], [{ fn: 'count', as: 'n' }], { and: [{ field: 'degree', op: 'in', values: [degree] }] })),
  },

  'the count passes on the filters of and, not those of or': {
    kind: 'rest', // GET /items/count has no $or
    where(where, t, ask) {
      return ask.route === '/count' ? { ...where, or: [] } : undefined
    },
    probe: () => [count('fees', [], { or: [[{ field: 'currency', op: 'eq', value: 'CHF' }], [{ field: 'kind', op: 'eq', value: 'refund' }]] })],
  },

  'approx_distinct counts the distinct values': {
    kind: 'warehouse', // 2.3 % of error, as Presto's is
    distinct(right, values, field) {
      return { ...right, distinct: approximate(new Set(values.map(v => key(v, field.type)))) }
    },
    probe: () => [['/cardinality', { table: 'students', columns: ['student_no', 'card_no', 'name'] }], ['/cardinality', { table: 'fees', columns: ['invoice_no', 'student_no', 'due_on'] }]],
  },

  'the size is what the last ANALYZE found, and is said to be exact': {
    kind: 'sql', // pg_class.reltuples; tables grow, and autovacuum looks at them after 50 rows and a tenth
    size(t) {
      return t.rows.length <= 100 ? undefined : Math.round(t.rows.length * 0.96)
    },
    probe: () => [['/size', { table: 'students' }], ['/size', { table: 'fees' }]],
  },

  'the keys that a link leads to are read from the first page of 100': {
    kind: 'rest',
    link(right, { values, from, to }, ask) {
      const { fromColumn, toColumn } = ask.body
      const fromAt = column(from, fromColumn), toAt = column(to, toColumn)
      const type = numeric(from.fields[fromAt].type) && numeric(to.fields[toAt].type) ? 'number' : 'string'
      const known = new Set(to.rows.slice(0, 100).map(r => r[toAt]).filter(v => v !== null).map(v => key(v, type)))
      const orphans = values.filter(v => !known.has(key(v, type)))
      return {
        ...right, orphanCount: orphans.length, orphanRate: values.length ? orphans.length / values.length : 0,
        orphanSamples: [...new Set(orphans.map(text))].sort(bytes).slice(0, 20),
      }
    },
    probe: () => [['/linkHitRate', { fromTable: 'exams', fromColumn: 'student_no', toTable: 'students', toColumn: 'student_no' }]],
  },

  'what was discovered is kept for the process, whoever asks': {
    kind: 'cache', // the schema is the same for all; its counts and samples are not
    tables(tables, ask) {
      ask.state.discovered ??= tables
      return ask.state.discovered
    },
    probe: () => [['/discovery', {}], ['/discovery', { credentials: { shop: 'south' } }]],
  },

  'a column is unique if its first 25 values are': {
    kind: 'files', // CSV files have no constraints, so they are profiled
    tables(tables, ask) {
      return tables.map(t => {
        const rows = ask.tables.get(t.name).rows.slice(0, 25)
        return {
          ...t, fields: t.fields.map((f, at) => {
            const values = rows.map(r => r[at]).filter(v => v !== null)
            return { ...f, unique: f.unique || values.length > 10 && new Set(values).size === values.length }
          }),
        }
      })
    },
    probe: () => [['/discovery', {}]],
  },

  'the tenant of a request stands in a variable of the module while the connection is opened': {
    kind: 'state',
    async wait(ask) {
      ask.state.tenant = ask.shop
      await new Promise(resolve => setTimeout(resolve, 8))
      ask.shop = ask.state.tenant
      ask.tables = ask.all.get(ask.shop)
    },
    probe: () => [[query('students', ['student_no', 'name']), query('students', ['student_no', 'name'], { credentials: { shop: 'south' } })]],
  },
}
