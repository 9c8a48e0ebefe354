package wire

import (
	"slices"
	"strings"
)

// shape is the members of an object.
type shape struct {
	required, optional []string
	lax                bool // unknown members are ignored
}

func (s *shape) at(i int) string {
	if i < len(s.required) {
		return s.required[i]
	}
	return s.optional[i-len(s.required)]
}

// find is the position of a member, or -1.
func (s *shape) find(name string) int {
	for i, known := range s.required {
		if known == name {
			return i
		}
	}
	for i, known := range s.optional {
		if known == name {
			return len(s.required) + i
		}
	}
	return -1
}

// caseVariant is the member that name equals but for the case of letters.
func (s *shape) caseVariant(name string) (string, bool) {
	for i := range len(s.required) + len(s.optional) {
		if strings.EqualFold(s.at(i), name) {
			return s.at(i), true
		}
	}
	return "", false
}

// object is a JSON object being read member by member:
//
//	o := d.object(&filterShape)
//	for o.next() {
//		switch o.name {
//		case "field":
//			f.Field = d.text()
//
// After each true the body must read the member's value.
type object struct {
	d       *decoder
	shape   *shape
	name    string
	seen    uint32
	level   int  // steps of the path before the object's own
	begun   bool // a member was read
	ignored nameSet
}

func (d *decoder) object(s *shape) object {
	if d.want('{', "must be an object") {
		d.s.Skip('{')
	}
	return object{d: d, shape: s, level: len(d.path)}
}

func (o *object) next() bool {
	d := o.d
	for {
		if !d.ok() {
			return false
		}
		d.path = d.path[:o.level]
		if d.s.Skip('}') {
			o.finish()
			return false
		}
		if o.begun && !d.s.Expect(',') {
			return false
		}
		o.begun = true
		name := d.s.String()
		if !d.s.Expect(':') {
			return false
		}
		if i := o.shape.find(name); i >= 0 {
			o.name = o.shape.at(i)
			if o.seen&(1<<i) != 0 {
				d.fail(o.name + " stands twice; send every member once")
				return false
			}
			o.seen |= 1 << i
			d.path = append(d.path, step{name: o.name})
			return true
		}
		o.unknown(name)
	}
}

// unknown refuses a member that the shape does not have, or reads past it.
func (o *object) unknown(name string) {
	if known, ok := o.shape.caseVariant(name); ok {
		o.d.fail("a member's name differs from " + known + " in case only; write it exactly so")
		return
	}
	if !o.shape.lax {
		o.d.fail("unknown member; the members here are " +
			strings.Join(slices.Concat(o.shape.required, o.shape.optional), ", "))
		return
	}
	if !o.ignored.add(name) {
		o.d.fail("an unknown member stands twice; send every member once")
		return
	}
	o.d.ignore(len(o.d.path) + 2)
}

// finish fails unless every required member was seen.
func (o *object) finish() {
	for i, name := range o.shape.required {
		if o.seen&(1<<i) == 0 {
			o.d.fail(name + " is missing")
			return
		}
	}
}

// array is a JSON array being read element by element, as object is.
type array struct {
	d     *decoder
	n     int // elements begun
	level int
}

func (d *decoder) array() array {
	if d.want('[', "must be an array") {
		d.s.Skip('[')
	}
	return array{d: d, level: len(d.path)}
}

func (a *array) next() bool {
	d := a.d
	if !d.ok() {
		return false
	}
	d.path = d.path[:a.level]
	if d.s.Skip(']') {
		return false
	}
	if a.n > 0 && !d.s.Expect(',') {
		return false
	}
	d.path = append(d.path, step{index: a.n})
	a.n++
	return true
}

// entries is a JSON object whose names are the sender's own, such as
// credentials. The path does not name them: they are text of the body.
type entries struct {
	d     *decoder
	name  string
	begun bool
	seen  nameSet
}

func (d *decoder) entries() entries {
	if d.want('{', "must be an object") {
		d.s.Skip('{')
	}
	return entries{d: d}
}

func (e *entries) next() bool {
	d := e.d
	if !d.ok() || d.s.Skip('}') {
		return false
	}
	if e.begun && !d.s.Expect(',') {
		return false
	}
	e.begun = true
	e.name = d.s.String()
	if !d.s.Expect(':') {
		return false
	}
	if !e.seen.add(e.name) {
		d.fail("a member stands twice; send every member once")
		return false
	}
	return true
}
