// Package scan reads strict JSON whose scalars are cells. It is jsontext's
// scanner with values of type wire.Value.
package scan

import (
	"math"
	"math/bits"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// SyntaxError reports text that is not strict JSON. It never quotes the text.
type SyntaxError = jsontext.SyntaxError

// Scanner is a [jsontext.Scanner] that returns scalars as cells.
type Scanner struct{ jsontext.Scanner }

// New returns a scanner of a copy of data.
func New(data []byte) *Scanner {
	s := new(Scanner)
	s.Reset(string(data))
	return s
}

// Scalar reads a string, a number, a boolean or null, and fails on an object or
// an array. It reads a number as a double, as the platform does: an integer
// within ±(2^53-1) becomes a KindInt, any other number a KindFloat.
func (s *Scanner) Scalar() wire.Value { return cell(s.Scanner.Scalar()) }

func cell(v jsontext.Scalar) wire.Value {
	switch v.Kind {
	case jsontext.String:
		return wire.Text(v.Text)
	case jsontext.Int:
		return wire.Int(int64(v.Bits))
	case jsontext.Float:
		return wire.Float(math.Float64frombits(v.Bits))
	case jsontext.Bool:
		return wire.Bool(v.IsTrue())
	}
	return wire.Null()
}

// Has reports whether an object has a member of this name. It reads no further than
// the member's colon. Of what it passes, it checks the tokens and not the nesting.
func Has(object []byte, name string) bool {
	s := New(object)
	for more := s.Skip('{'); more && s.Peek() == '"'; more = s.Skip(',') {
		found := s.String() == name
		if !s.Expect(':') || found {
			return found && s.Err() == nil
		}
		s.pass()
	}
	return false
}

// pass reads past a value.
func (s *Scanner) pass() {
	for depth := 0; ; {
		switch c := s.Peek(); c {
		case '{', '[':
			depth++
			s.Skip(c)
		case '}', ']':
			depth--
			s.Skip(c)
		case ',', ':':
			s.Skip(c)
		default:
			s.Scalar()
		}
		if depth <= 0 || s.Err() != nil {
			return
		}
	}
}

// Members reads on in an object whose members are expected to be spelled like
// those of an earlier one. before[i] is the expected text between scalar i-1
// and scalar i, such as `,"name":`; Members stores scalar i in cells[i]. It
// stops at text that differs, or after an error, and returns the number of
// scalars read. Comparing a name is cheaper than reading it, which makes
// reading rows fast.
//
// There must be as many cells as texts. The texts were checked when they were
// first read: Members only compares.
func (s *Scanner) Members(before []string, cells []wire.Value) int {
	text, pos := s.Unread()
	cells = cells[:len(before)]
next:
	for i, name := range before {
		if len(text)-pos < len(name) || text[pos:pos+len(name)] != name {
			s.Seek(pos)
			return i
		}
		pos += len(name)
		if pos < len(text) && text[pos] == '"' {
			start := pos + 1
			for end := start; end+8 <= len(text); end += 8 {
				if m := jsontext.Stops(jsontext.Load64(text, end)); m != 0 {
					if end += bits.TrailingZeros64(m) >> 3; text[end] == '"' {
						cells[i] = wire.Text(text[start:end])
						pos = end + 1
						continue next
					}
					break
				}
			}
		}
		s.Seek(pos)
		cells[i] = s.Scalar()
		if pos = s.Offset(); s.Err() != nil {
			return i + 1
		}
	}
	s.Seek(pos)
	return len(before)
}
