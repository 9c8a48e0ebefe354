package filter

import (
	"strconv"

	"github.com/connectorsdk/connector-sdk-go/internal/scan"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// maxNesting is how deep a value inside an array cell may nest. Deeper text is
// taken as malformed, so that a hostile cell costs no memory.
const maxNesting = 1024

// testContains tests for membership in an array (A4).
func testContains(value wire.Value) func(wire.Value) bool {
	n, isNumber := parseNumber(value)
	text := ownText(value)
	return func(v wire.Value) bool {
		if !startsArray(v.Text()) {
			return false
		}
		if isNumber {
			return contains(v.Text(), "", &n)
		}
		return contains(v.Text(), text, nil)
	}
}

// startsArray spares the texts that are no arrays the cost of a fault.
func startsArray(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ', '\t', '\r', '\n':
		default:
			return s[i] == '['
		}
	}
	return false
}

// contains reports whether cell is the JSON text of an array, and nothing
// else, with an element equal to n, or to text when n is nil. All of the cell
// is read even after an element is found: what is malformed never matches.
func contains(cell, text string, n *number) bool {
	var s scan.Scanner
	s.Reset(cell)
	s.Expect('[')
	found := false
	if !s.Skip(']') {
		for s.Err() == nil {
			switch s.Peek() {
			case '[', '{':
				skipNested(&s)
			case '"':
				e := s.String()
				if n == nil {
					found = found || e == text
				} else if d, ok := parseDigits(e); ok {
					found = found || d.compare(&n.digits) == 0
				}
			case 't', 'f':
				e := s.Scalar()
				found = found || (e.IsTrue() && text == "true" || !e.IsTrue() && text == "false")
			case 'n':
				s.Scalar()
			default:
				e := s.Number()
				if n != nil && s.Err() == nil {
					found = found || equalsJSONNumber(n, e)
				}
			}
			if s.Skip(']') {
				break
			}
			s.Expect(',')
		}
	}
	s.End()
	return found && s.Err() == nil
}

// equalsJSONNumber compares as the platform reads a JSON number, as a double
// (A6). One beyond the doubles equals nothing.
func equalsJSONNumber(n *number, raw string) bool {
	f, err := strconv.ParseFloat(raw, 64)
	return err == nil && n.compareFloat(f) == 0
}

// skipNested reads an object or an array inside the cell's array, which
// matches nothing but must be well formed. It goes by a stack of bits, not by
// recursion: a cell can be 16 MiB of brackets.
func skipNested(s *scan.Scanner) {
	var objects [maxNesting / 64]uint64 // bit i: the i-th open value is an object
	depth := 0
	for {
		// A value.
		switch c := s.Peek(); c {
		case '[', '{':
			if depth == maxNesting {
				s.Expect(0) // fails
				return
			}
			s.Skip(c)
			objects[depth/64] &^= 1 << (depth % 64)
			if c == '{' {
				objects[depth/64] |= 1 << (depth % 64)
			}
			depth++
			if s.Peek() != c+2 { // ']' and '}' stand two behind in ASCII
				if c == '{' {
					_ = s.String()
					s.Expect(':')
				}
				continue
			}
		case '"':
			_ = s.String()
		case 't', 'f', 'n':
			s.Scalar()
		default:
			s.Number()
		}
		// What follows it.
		for {
			if s.Err() != nil {
				return
			}
			object := objects[(depth-1)/64]>>((depth-1)%64)&1 != 0
			if s.Skip(',') {
				if object {
					_ = s.String()
					s.Expect(':')
				}
				break
			}
			if object {
				s.Expect('}')
			} else {
				s.Expect(']')
			}
			if depth--; depth == 0 {
				return
			}
		}
	}
}
