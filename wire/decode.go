package wire

import (
	"slices"
	"strconv"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// MessageError reports where a message breaks the protocol or cannot be written as
// JSON, and what would be right. It never quotes a value, or a name that the protocol
// does not define, so it may be shown to the sender.
type MessageError struct {
	Path    string // such as and[0].values[2]; the whole message is body
	Problem string // what to do about it
}

// Error returns the path and the problem.
func (e *MessageError) Error() string { return e.Path + ": " + e.Problem }

// Decode reads one message strictly: one JSON object in UTF-8 and nothing after
// it, at most 32 deep, no duplicate members, names exact to the letter's
// case, integers judged by their value. Unknown members are refused, because a
// dropped one could change which rows answer. Only check, discovery, size,
// cardinality and linkHitRate requests and the document may have unknown
// members, at their top level; Decode ignores these.
//
// What it accepts has the protocol's shape and obeys the rules that a message
// alone can show, such as distinct names of columns. Whether a table or a field
// exists is for the connector to find out.
//
// On a fault Decode returns a [*MessageError] and leaves m as it was. The strings
// of m share one copy of data. Decode may be called concurrently with different
// messages.
func Decode(data []byte, m Message) error { return m.message(newDecoder(data), nil) }

// DecodeAnswer reads an answer, an error envelope or the document as a client does:
// as strictly as Decode, but on every level it drops members that the protocol does
// not define, which it does not forbid a connector to send [rule document-3a].
func DecodeAnswer(data []byte, m Answer) error {
	d := newDecoder(data)
	d.drop = true
	return m.message(d, nil)
}

// decoder reads one message. The first fault stops it: from then on every
// reading method returns a zero value, and every loop over members or elements
// ends.
type decoder struct {
	s     jsontext.Scanner
	err   *MessageError
	path  []step
	steps [8]step // what path starts on; the known shapes are not deeper
	drop  bool    // unknown members are dropped, and not refused
}

func newDecoder(data []byte) *decoder {
	d := new(decoder)
	d.path = d.steps[:0]
	d.s.Reset(string(data))
	return d
}

// step is one step of a path: a member, or an element where name is empty. An
// index below 0 is a step that paths leave out.
type step struct {
	name  string
	index int
}

func (d *decoder) ok() bool { return d.err == nil && d.s.Err() == nil }

// fail records a fault of the message at the current path.
func (d *decoder) fail(problem string) {
	if d.ok() {
		d.err = &MessageError{pathText(d.path), problem}
	}
}

// failAt records a fault at a path below the current one, given as names and
// indices.
func (d *decoder) failAt(problem string, below ...any) {
	if !d.ok() {
		return
	}
	path := slices.Clone(d.path)
	for _, s := range below {
		switch s := s.(type) {
		case string:
			path = append(path, step{name: s})
		case int:
			path = append(path, step{index: s})
		}
	}
	d.err = &MessageError{pathText(path), problem}
}

// fault returns the first fault, of the text or of the message.
func (d *decoder) fault() *MessageError {
	if d.err == nil {
		d.err = &MessageError{pathText(d.path), d.s.Err().Error()}
	}
	return d.err
}

func pathText(path []step) string {
	if len(path) == 0 {
		return "body"
	}
	var b []byte
	for _, s := range path {
		if s.name == "" && s.index < 0 {
			continue
		}
		if s.name == "" {
			b = append(strconv.AppendInt(append(b, '['), int64(s.index), 10), ']')
			continue
		}
		if len(b) > 0 {
			b = append(b, '.')
		}
		b = append(b, s.name...)
	}
	return string(b)
}

// ignore reads past a value, which is as strict JSON as any. An object or
// array here is depth deep.
func (d *decoder) ignore(depth int) {
	switch c := d.s.Peek(); c {
	case '{', '[':
		if depth > terms.MaxDepth {
			d.fail("is nested more than " + strconv.Itoa(terms.MaxDepth) + " deep; flatten it")
			return
		}
		if c == '{' {
			var seen nameSet
			for e := d.entries(); e.next(); {
				if !seen.add(e.name) {
					e.duplicate()
					return
				}
				d.ignore(depth + 1)
			}
			return
		}
		d.s.Skip('[')
		for n := 0; d.ok() && !d.s.Skip(']'); n++ {
			if n > 0 && !d.s.Expect(',') {
				return
			}
			d.ignore(depth + 1)
		}
	case '"':
		_ = d.s.String()
	case 't':
		d.s.Literal("true")
	case 'f':
		d.s.Literal("false")
	case 'n':
		d.s.Literal("null")
	default:
		d.s.Number()
	}
}

// want reports whether c is the next byte, and fails otherwise.
func (d *decoder) want(c byte, problem string) bool {
	if d.s.Peek() == c {
		return d.ok()
	}
	if d.s.AtEnd() {
		d.s.Fail("unexpected end")
	} else {
		d.fail(problem)
	}
	return false
}

// text reads a string.
func (d *decoder) text() string {
	if !d.want('"', "must be a string") {
		return ""
	}
	return d.s.String()
}

// label reads a string that is not empty.
func (d *decoder) label() string {
	t := d.text()
	if t == "" {
		d.fail("must not be empty")
	}
	return t
}

// boolean reads true or false.
func (d *decoder) boolean() bool {
	switch d.s.Peek() {
	case 't':
		d.s.Literal("true")
		return d.ok()
	case 'f':
		d.s.Literal("false")
		return false
	}
	d.want('t', "must be true or false")
	return false
}

// integer reads an integer. It decides by the exact value: 3e4 is an integer,
// 1.00000000000000000001 is not.
func (d *decoder) integer(least, most int64) int64 {
	if d.numeral("must be an integer") {
		n, ok := jsontext.ExactInteger(d.s.Number())
		if d.ok() && (!ok || n < least || n > most) {
			d.fail("must be an integer from " + strconv.FormatInt(least, 10) + " to " + strconv.FormatInt(most, 10))
			return 0
		}
		return n
	}
	return 0
}

// number reads a number as a double, as the platform does.
func (d *decoder) number(least, most float64, problem string) float64 {
	if !d.numeral(problem) {
		return 0
	}
	raw := d.s.Number()
	if !d.ok() {
		return 0
	}
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil || f < least || f > most {
		d.fail(problem)
		return 0
	}
	return f
}

// numeral reports whether a number begins here, and fails otherwise.
func (d *decoder) numeral(problem string) bool {
	if c := d.s.Peek(); c == '-' || c-'0' <= 9 {
		return d.ok()
	}
	return d.want('-', problem)
}

// operand reads a value to compare with. A number that is not compared by its own digits is
// refused: it would be compared as another number [rule filter-6e].
func (d *decoder) operand() Value {
	if c := d.s.Peek(); c != '-' && c-'0' > 9 {
		return d.scalar()
	}
	v, exact, ok := d.s.Exact()
	switch {
	case !ok:
		d.fail("is " + jsontext.TooLarge + "; send its digits as a string")
	case !exact:
		d.fail("is a number with other digits than its double, which would be compared in its place; " +
			"send the digits as a string")
	}
	return cell(v)
}

// scalar reads a cell: a string, number, boolean or null.
func (d *decoder) scalar() Value {
	if c := d.s.Peek(); c == '{' || c == '[' {
		d.fail("must be a string, a number, true, false or null")
		return Value{}
	}
	return cell(d.s.Scalar())
}

// null reads null and reports true if that is the next value.
func (d *decoder) null() bool {
	if d.s.Peek() != 'n' {
		return false
	}
	d.s.Literal("null")
	return true
}

// open consumes the opening bracket of an object or an array, or fails.
func (d *decoder) open(c byte, problem string) bool {
	return d.want(c, problem) && d.s.Skip(c)
}

// array is a JSON array that is being read:
//
//	for a := d.array(); a.next(); {
//		... // read one element
//	}
type array struct {
	d     *decoder
	n     int // elements begun
	level int // steps of the path before the array's own
}

func (d *decoder) array() array {
	d.open('[', "must be an array")
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
// credentials. The path does not show the names: they are text of the body. The
// caller finds duplicates.
type entries struct {
	d     *decoder
	name  string
	begun bool
}

func (d *decoder) entries() entries {
	d.open('{', "must be an object")
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
	return d.s.Expect(':')
}

// duplicate fails for a name that was read before.
func (e *entries) duplicate() { e.d.fail("duplicate name; send each name once") }
