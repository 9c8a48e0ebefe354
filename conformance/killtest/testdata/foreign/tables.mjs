// What the tables of data.mjs, utility.mjs and municipal.mjs are made with.

// random returns a generator of numbers in [0, 1) (mulberry32).
export function random(seed) {
  let a = seed >>> 0
  return () => {
    a = (a + 0x6d2b79f5) >>> 0
    let t = Math.imul(a ^ (a >>> 15), a | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

// described returns a table. A column is "name:type", with marks behind it: ? may be null, ! is unique.
export function described(name, primaryKey, columns, rows, more = {}) {
  return {
    name, rows, primaryKey, counted: more.counted ?? true, foreignKeys: more.foreignKeys ?? [],
    fields: columns.map(c => {
      const [field, type, mark = ''] = c.split(':')
      return { name: field, type, nullable: mark.includes('?'), unique: mark.includes('!') }
    }),
  }
}
