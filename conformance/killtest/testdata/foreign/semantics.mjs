// How the platform compares values, for the connectors of this folder.

export const numeric = type => type === 'number' || type === 'decimal'
const decimal = /^[+-]?[0-9]+(\.[0-9]+)?$/
// plain spells a JSON number without an exponent.
const plain = n => {
  const text = Object.is(n, -0) ? '0' : String(n)
  const m = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text)
  if (!m) return text
  const [, sign, whole, fraction = '', exponent] = m
  const point = whole.length + Number(exponent)
  const digits = whole + fraction
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return sign + (digits.length <= point ? digits.padEnd(point, '0') : `${digits.slice(0, point)}.${digits.slice(point)}`)
}
export const text = v => typeof v === 'number' ? plain(v) : String(v)
const beyond = /[\ud800-\udfff]/ // UTF-16 sorts these before others that UTF-8 sorts first
export const bytes = (a, b) => {
  if (a === b) return 0
  if (beyond.test(a) || beyond.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : 1
}
// once keeps what f makes of a value: a sort asks it of each text many times.
export const once = f => {
  const known = new Map()
  return v => {
    let made = known.get(v)
    if (made === undefined) {
      if (known.size === 100_000) known.clear()
      known.set(v, made = f(v))
    }
    return made
  }
}
const parts = once(s => {
  const [whole, fraction = ''] = s.replace(/^[+-]/, '').split('.')
  const w = whole.replace(/^0+/, ''), f = fraction.replace(/0+$/, '')
  return { negative: s.startsWith('-') && (w !== '' || f !== ''), w, f }
})
const digits = (a, b) => {
  const x = parts(a), y = parts(b)
  if (x.negative !== y.negative) return x.negative ? -1 : 1
  const sign = x.negative ? -1 : 1
  return sign * (x.w.length - y.w.length || bytes(x.w, y.w) || bytes(x.f, y.f))
}
const instant = /^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?)?$/
const moment = once(s => {
  const [whole, fraction = ''] = s.replace(/(Z|[+-]\d\d:\d\d)?$/, '').split('.')
  const zone = /(Z|[+-]\d\d:\d\d)$/.exec(s.slice(10))?.[0] ?? 'Z'
  return `${String(Date.parse(whole.length === 10 ? whole : whole + zone) + 1e15)}.${fraction}`
})

// compare returns a number below, at or above 0, and undefined where the pair cannot be
// compared.
export function compare(a, b, type) {
  if (a === null || b === null) return undefined
  const x = text(a), y = text(b)
  if (numeric(type) || !type) {
    if (typeof a !== 'boolean' && typeof b !== 'boolean' && decimal.test(x) && decimal.test(y)) return digits(x, y)
    if (type) return undefined
  }
  if ((type === 'date' || type === 'datetime') && instant.test(x) && instant.test(y)) return digits(moment(x), moment(y))
  return bytes(x, y)
}

// key returns a text that two values share exactly if they are one group.
export function key(v, type) {
  if (v === null) return 'null'
  const s = text(v)
  if (numeric(type) && decimal.test(s)) {
    const { negative, w, f } = parts(s)
    return `#${negative ? '-' : ''}${w}.${f}`
  }
  if ((type === 'date' || type === 'datetime') && instant.test(s)) return `@${moment(s).replace(/\.?0*$/, '')}`
  return `=${s}`
}

export function contains(cell, value) {
  if (typeof cell !== 'string') return false
  let list
  try { list = JSON.parse(cell) } catch { return false }
  return Array.isArray(list) && list.some(e => e !== null && typeof e !== 'object' && compare(e, value, '') === 0)
}

const ranges = { eq: c => c === 0, neq: c => c !== 0, gt: c => c > 0, gte: c => c >= 0, lt: c => c < 0, lte: c => c <= 0 }

// isMember reports whether a cell equals one of the values. It looks long lists up.
const members = new WeakMap()
function isMember(cell, values, type) {
  const equal = v => compare(cell, v, type) === 0
  if (values.length < 9 || !type || cell === null) return values.some(equal)
  const comparable = v => v !== null && (!numeric(type) || (typeof v !== 'boolean' && decimal.test(text(v))))
  if (!members.has(values)) members.set(values, new Set(values.filter(comparable).map(v => key(v, type))))
  return comparable(cell) && members.get(values).has(key(cell, type))
}

// match reports whether a cell satisfies a filter.
export function match(cell, f, type) {
  switch (f.op) {
    case 'isnull': return cell === null
    case 'notnull': return cell !== null
    case 'in': return isMember(cell, f.values, type)
    case 'nin': return cell === null || !isMember(cell, f.values, type)
  }
  if (cell === null || f.value === null) return false
  switch (f.op) {
    case 'contains': return contains(cell, f.value)
    case 'includes': return text(cell).includes(text(f.value))
    case 'startswith': return text(cell).startsWith(text(f.value))
  }
  const c = compare(cell, f.value, type)
  return c !== undefined && ranges[f.op](c)
}

// sum adds decimals exactly and returns plain digits.
export function sum(values) {
  const scale = Math.max(0, ...values.map(v => (text(v).split('.')[1] ?? '').length))
  let total = 0n
  for (const v of values) {
    const [whole, fraction = ''] = text(v).split('.')
    total += BigInt(whole.replace('+', '') + fraction.padEnd(scale, '0'))
  }
  const sign = total < 0n ? '-' : ''
  const all = String(total < 0n ? -total : total).padStart(scale + 1, '0')
  return sign + (scale ? `${all.slice(0, -scale)}.${all.slice(-scale)}` : all)
}

export const isObject = v => typeof v === 'object' && v !== null && !Array.isArray(v)
