package wire

import (
	"math"
	"strconv"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
)

// EncodeRequest writes a request as a client sends it, with the credentials in
// clear: the result is for the connection, never for a log. It is the one way to
// write credentials. Optional members that are empty are left out. Maps are written
// in the order of their keys, so equal requests give equal bytes. EncodeRequest
// checks no rule of the protocol; the receiver does.
//
// It returns a [*MessageError] for what JSON cannot carry: text that is not UTF-8, a
// NaN, a cell that cannot cross the wire.
func EncodeRequest(m Request) ([]byte, error) { return encode(m) }

// EncodeAnswer writes an answer, an error envelope or the document as a connector
// sends it: with <, > and & as they are, and maps in the order of their keys, so
// equal answers give equal bytes. EncodeAnswer checks no rule of the protocol.
//
// It returns a [*MessageError] for what JSON cannot carry: text that is not UTF-8, a
// NaN, a cell that cannot cross the wire.
func EncodeAnswer(m Answer) ([]byte, error) { return encode(m) }

func encode(m Message) ([]byte, error) {
	e := encoder{buf: make([]byte, 0, 512)}
	err := m.message(nil, &e)
	if e.err != nil {
		return nil, e.err
	}
	return e.buf, err
}

// encoder appends one message. Its first fault sticks.
type encoder struct {
	buf  []byte
	path []step // the last step of each open object or array
	err  *MessageError
}

func (e *encoder) fail(problem string) {
	if e.err == nil {
		e.err = &MessageError{pathText(e.path), problem}
	}
}

// open starts an object or an array.
func (e *encoder) open(c byte) {
	e.buf = append(e.buf, c)
	e.path = append(e.path, step{index: -1})
}

// close ends it.
func (e *encoder) close(c byte) {
	e.buf = append(e.buf, c)
	e.path = e.path[:len(e.path)-1]
}

// comma writes a comma unless this is the first member or element. No value
// ends in an opening bracket.
func (e *encoder) comma() {
	if c := e.buf[len(e.buf)-1]; c != '{' && c != '[' {
		e.buf = append(e.buf, ',')
	}
}

// name writes the name of a member; its value follows.
func (e *encoder) name(name string) {
	e.comma()
	e.path[len(e.path)-1] = step{name: name}
	e.buf = append(append(append(e.buf, '"'), name...), '"', ':')
}

// item starts an element; its value follows.
func (e *encoder) item(i int) {
	e.comma()
	e.path[len(e.path)-1] = step{index: i}
}

// entry writes a name that is the sender's own; its value follows.
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
