package wire

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
)

// EncodeError says what in a message cannot be written as JSON: text that is
// not UTF-8, a NaN, a cell that cannot cross the wire. It never quotes it.
type EncodeError struct {
	Path    string // such as tables[0].name; the whole message is body
	Problem string
}

// Error is the path and the problem.
func (e *EncodeError) Error() string { return e.Path + ": " + e.Problem }

// EncodeRequest writes a request as a client sends it, with the credentials in
// clear: the result is for the connection, never for a log. Optional members
// that hold nothing are left out; maps are written in the order of their keys,
// so equal requests give equal bytes. It checks no rule of the protocol, which
// the other side does.
//
// It fails, with an [*EncodeError], for what JSON cannot carry, and for a
// message that is not a request.
func EncodeRequest(m Message) ([]byte, error) {
	r, ok := m.(interface{ encodeRequest(e *encoder) })
	if !ok {
		return nil, &EncodeError{"body", fmt.Sprintf("a %T is not a request; use EncodeAnswer", m)}
	}
	e := encoder{buf: make([]byte, 0, 512)}
	r.encodeRequest(&e)
	return e.result()
}

// EncodeAnswer writes an answer, an error envelope or the document as a
// connector sends it. Unlike encoding/json it writes a nil slice or map as an
// empty one, as the protocol wants, and leaves <, > and & as they are. Maps are
// written in the order of their keys, so equal answers give equal bytes.
//
// It fails, with an [*EncodeError], for what JSON cannot carry, and for a
// message that is not an answer. It checks no other rule.
func EncodeAnswer(m Message) ([]byte, error) {
	a, ok := m.(interface{ encodeAnswer(e *encoder) })
	if !ok {
		return nil, &EncodeError{"body", fmt.Sprintf("a %T is not an answer; use EncodeRequest", m)}
	}
	e := encoder{buf: make([]byte, 0, 512)}
	a.encodeAnswer(&e)
	return e.result()
}

// encoder appends one message. Its first fault sticks.
type encoder struct {
	buf  []byte
	path []step // the last step of each open object or array
	err  *EncodeError
}

func (e *encoder) result() ([]byte, error) {
	if e.err != nil {
		return nil, e.err
	}
	return e.buf, nil
}

func (e *encoder) fail(problem string) {
	if e.err == nil {
		e.err = &EncodeError{pathText(e.path), problem}
	}
}

// open begins an object or an array.
func (e *encoder) open(c byte) {
	e.buf = append(e.buf, c)
	e.path = append(e.path, step{index: -1})
}

// close ends it.
func (e *encoder) close(c byte) {
	e.buf = append(e.buf, c)
	e.path = e.path[:len(e.path)-1]
}

// comma separates from what stands before, if anything does in this object or
// array. No value ends in an opening bracket.
func (e *encoder) comma() {
	if c := e.buf[len(e.buf)-1]; c != '{' && c != '[' {
		e.buf = append(e.buf, ',')
	}
}

// name begins a member; its value follows.
func (e *encoder) name(name string) {
	e.comma()
	e.path[len(e.path)-1] = step{name: name}
	e.buf = append(append(append(e.buf, '"'), name...), '"', ':')
}

// item begins an element; its value follows.
func (e *encoder) item(i int) {
	e.comma()
	e.path[len(e.path)-1] = step{index: i}
}

// entry begins a member whose name is not the protocol's.
func (e *encoder) entry(name string) {
	e.comma()
	e.string(name)
	e.buf = append(e.buf, ':')
}

func (e *encoder) string(s string) {
	b, err := jsontext.AppendString(e.buf, s)
	if err != nil {
		e.fail(err.Error())
		return
	}
	e.buf = b
}

func (e *encoder) value(v Value) {
	b, err := v.AppendJSON(e.buf)
	if err != nil {
		e.fail(err.Error())
		return
	}
	e.buf = b
}

func (e *encoder) number(f float64) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		e.fail("not a number")
		return
	}
	e.buf = appendFloat(e.buf, f)
}

func (e *encoder) bool(b bool) { e.buf = strconv.AppendBool(e.buf, b) }
func (e *encoder) int(i int64) { e.buf = strconv.AppendInt(e.buf, i, 10) }
func (e *encoder) null()       { e.buf = append(e.buf, "null"...) }
func (e *encoder) text(n, s string) {
	e.name(n)
	e.string(s)
}

// optional writes a member unless it is empty.
func (e *encoder) optional(n, s string) {
	if s != "" {
		e.text(n, s)
	}
}

// positive writes a member unless it is 0, which means none.
func (e *encoder) positive(n string, i int64) {
	if i != 0 {
		e.name(n)
		e.int(i)
	}
}

func (e *encoder) flag(n string, b bool) {
	e.name(n)
	e.bool(b)
}

// list writes a member that is an array.
func list[T any](e *encoder, name string, items []T, one func(T)) {
	e.name(name)
	elements(e, items, one)
}

// elements writes an array.
func elements[T any](e *encoder, items []T, one func(T)) {
	e.open('[')
	for i, item := range items {
		e.item(i)
		one(item)
	}
	e.close(']')
}

// sorted writes an object of the sender's own names, in their order. The path
// of a fault does not name them.
func sorted[V any](e *encoder, m map[string]V, one func(V)) {
	e.open('{')
	for _, k := range slices.Sorted(maps.Keys(m)) {
		e.entry(k)
		one(m[k])
	}
	e.close('}')
}
