package wire

import "strings"

// object is the table of members of one JSON object, which stands for a T. The
// table alone drives reading, writing and the errors about members.
type object[T any] struct {
	members []member[T]
	// ignoreUnknown lets an object carry members that the protocol does not
	// define. In all others they are refused, because a member that is dropped
	// could change which rows answer.
	ignoreUnknown bool
	// check judges what no single member shows. It may fill in defaults. Bit i
	// of present is set if members[i] was sent.
	check func(d *decoder, m *T, present uint32)
}

// member is one member of an object.
type member[T any] struct {
	name     string
	required bool
	read     func(d *decoder, m *T)
	write    func(e *encoder, m *T)
	omit     func(m *T) bool // reports whether the member is left out; nil: never
}

// newObject returns the table of these members. They are written in this order.
func newObject[T any](groups ...[]member[T]) *object[T] {
	o := &object[T]{}
	for _, group := range groups {
		o.members = append(o.members, group...)
	}
	return o
}

// lenient sets ignoreUnknown and returns the object.
func (o *object[T]) lenient() *object[T] {
	o.ignoreUnknown = true
	return o
}

// checked sets the object's check and returns the object.
func (o *object[T]) checked(check func(d *decoder, m *T, present uint32)) *object[T] {
	o.check = check
	return o
}

// required returns a member that is always sent.
func required[T, V any](name string, field func(*T) *V, c codec[V]) []member[T] {
	return []member[T]{{
		name:     name,
		required: true,
		read:     func(d *decoder, m *T) { c.read(d, field(m)) },
		write:    func(e *encoder, m *T) { c.write(e, field(m)) },
	}}
}

// optional returns a member that may be left out, and is when it is empty.
func optional[T, V any](name string, field func(*T) *V, c codec[V]) []member[T] {
	list := required(name, field, c)
	list[0].required = false
	list[0].omit = func(m *T) bool { return c.empty(field(m)) }
	return list
}

// omitIf returns the same member, left out under another condition.
func omitIf[T any](omit func(m *T) bool, list []member[T]) []member[T] {
	list[0].required, list[0].omit = false, omit
	return list
}

// codec returns the codec of a member that holds such an object.
func (o *object[T]) codec() codec[T] { return codec[T]{read: o.read, write: o.write} }

// find returns the index of a member, or -1. Members mostly come in the order
// of the table: it looks at the member next first.
func (o *object[T]) find(name string, next int) int {
	if next < len(o.members) && o.members[next].name == name {
		return next
	}
	for i := range o.members {
		if o.members[i].name == name {
			return i
		}
	}
	return -1
}

// read reads the object into m.
func (o *object[T]) read(d *decoder, m *T) {
	if !d.open('{', "must be an object") {
		return
	}
	var (
		present uint32
		ignored nameSet
		level   = len(d.path)
		next    = 0
	)
	for first := true; d.ok(); first = false {
		d.path = d.path[:level]
		if d.s.Skip('}') {
			o.finish(d, m, present)
			return
		}
		if !first && !d.s.Expect(',') {
			return
		}
		name := d.s.String()
		if !d.s.Expect(':') {
			return
		}
		i := o.find(name, next)
		if i < 0 {
			o.unknown(d, name, &ignored)
			continue
		}
		member := &o.members[i]
		if present&(1<<i) != 0 {
			d.fail(`duplicate member "` + member.name + `"; send each member once`)
			return
		}
		present |= 1 << i
		next = i + 1
		d.path = append(d.path, step{name: member.name})
		member.read(d, m)
	}
}

// unknown refuses a member that the protocol does not define, or skips it.
func (o *object[T]) unknown(d *decoder, name string, ignored *nameSet) {
	if o.ignoreUnknown || !d.drop { // a member of another case is dropped only where all others were refused
		for i := range o.members {
			if known := o.members[i].name; strings.EqualFold(known, name) {
				d.fail(`unknown member that differs from "` + known + `" only in case; write it exactly so`)
				return
			}
		}
	}
	if !o.ignoreUnknown && !d.drop {
		names := make([]string, len(o.members))
		for i := range o.members {
			names[i] = o.members[i].name
		}
		d.fail("unknown member; the members are " + strings.Join(names, ", "))
		return
	}
	if !ignored.add(name) {
		d.fail("duplicate unknown member; send each member once")
		return
	}
	d.ignore(len(d.path) + 2)
}

// finish fails if a required member is absent, and then runs the check.
func (o *object[T]) finish(d *decoder, m *T, present uint32) {
	for i := range o.members {
		if o.members[i].required && present&(1<<i) == 0 {
			d.fail(`member "` + o.members[i].name + `" is missing`)
			return
		}
	}
	if o.check != nil {
		o.check(d, m, present)
	}
}

// write writes the object.
func (o *object[T]) write(e *encoder, m *T) {
	e.open('{')
	for i := range o.members {
		member := &o.members[i]
		if member.omit == nil || !member.omit(m) {
			e.name(member.name)
			member.write(e, m)
		}
	}
	e.close('}')
}

// decode reads a message, which is one object and nothing else, into m. If it
// fails, m stays as it was.
func decode[T any](d *decoder, o *object[T], m *T) error {
	if d.s.Peek() == 0 && d.s.AtEnd() && d.s.Err() == nil {
		d.fail("is empty; send one JSON object")
		return d.err
	}
	before := *m
	*m = *new(T)
	o.read(d, m)
	d.s.End()
	if !d.ok() {
		*m = before
		return d.fault()
	}
	return nil
}
