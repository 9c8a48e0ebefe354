package filter

import (
	"strconv"

	"github.com/connectorsdk/connector-sdk-go/internal/scan"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// maxNesting limits how deep a value inside an array cell may nest. A deeper
// cell counts as malformed, so that a hostile cell costs no memory.
const maxNesting = 1024

// testContains returns a test that a cell is the JSON text of an array with an
// element equal to value [rule filter-4].
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

// startsArray reports whether s begins like a JSON array. It saves the cost of
// a scanner error for other text.
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

// contains reports whether cell is exactly the JSON text of an array with an
// element equal to n, or to text if n is nil. It reads the whole cell even
// after it has found an element, because a malformed cell never matches.
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

// equalsJSONNumber reports whether n equals raw, read as a double as the
// platform does. A number too large for a double equals nothing.
func equalsJSONNumber(n *number, raw string) bool {
	f, err := strconv.ParseFloat(raw, 64)
	return err == nil && n.compareFloat(f) == 0
}

// skipNested skips an object or an array inside the cell's array and fails the
// scanner if it is malformed. It keeps a stack of bits instead of recursing,
// because a cell can be 16 MiB of brackets.
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
			if s.Peek() != c+2 { // ']' is '['+2 and '}' is '{'+2 in ASCII
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
