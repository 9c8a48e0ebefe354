package wire

import (
	"fmt"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// SyntaxError is a text that is not strict JSON. It says where and what, and
// never quotes the text.
type SyntaxError struct {
	Offset  int // bytes before the fault
	Problem string
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.Problem)
}

// Scanner reads strict JSON from memory, token by token. It exists because
// encoding/json is lenient where this protocol is not: it folds the case of
// names, keeps the last of two duplicates, and replaces bad UTF-8. [Decode]
// and the reader of package ndjson are built on it; use it to read messages of
// your own as strictly.
//
// Errors are sticky: after the first one every method answers a zero value and
// [Scanner.Err] tells it. The strings it returns share one copy of the text.
type Scanner struct {
	text string
	pos  int
	err  error
}

// NewScanner reads data, which must be UTF-8. It keeps a copy.
func NewScanner(data []byte) *Scanner {
	s := &Scanner{}
	s.Reset(string(data))
	return s
}

// Reset starts over with another text, without an allocation.
func (s *Scanner) Reset(text string) {
	*s = Scanner{text: text}
	if !utf8.ValidString(text) {
		for i, r := range text {
			if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size == 1 {
				s.pos = i
				break
			}
		}
		s.fail("not valid UTF-8")
	}
}

// Err is the first fault found.
func (s *Scanner) Err() error { return s.err }

// Offset is the number of bytes read.
func (s *Scanner) Offset() int { return s.pos }

func (s *Scanner) fail(problem string) {
	if s.err == nil {
		s.err = &SyntaxError{s.pos, problem}
		s.pos = len(s.text)
	}
}

// Peek skips blanks and returns the next byte, which tells the kind of the
// next token; 0 at the end and after a fault.
func (s *Scanner) Peek() byte {
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; c {
		case ' ', '\t', '\r', '\n':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

// Skip consumes c and reports whether it was the next token.
func (s *Scanner) Skip(c byte) bool {
	if s.pos < len(s.text) && s.text[s.pos] == c || s.Peek() == c {
		s.pos++
		return true
	}
	return false
}

// Expect consumes c or fails.
func (s *Scanner) Expect(c byte) bool {
	if s.Skip(c) {
		return true
	}
	if s.pos >= len(s.text) {
		s.fail("unexpected end")
	} else {
		s.fail("expected '" + string(rune(c)) + "'")
	}
	return false
}

// End fails unless the text is at its end.
func (s *Scanner) End() {
	if s.err == nil && s.Peek() != 0 {
		s.fail("more text after the value")
	} else if s.err == nil && s.pos < len(s.text) {
		s.fail("a NUL byte") // Peek answered 0 for it
	}
}

// String reads a string.
func (s *Scanner) String() string {
	if !s.Skip('"') {
		if s.Peek(); s.pos >= len(s.text) {
			s.fail("unexpected end")
		} else {
			s.fail("expected a string")
		}
		return ""
	}
	return s.restOfString()
}

// restOfString reads a string whose opening quote has been consumed.
func (s *Scanner) restOfString() string {
	start, text := s.pos, s.text
	i := start
	for ; i+8 <= len(text); i += 8 { // nextStop, without the call
		if m := stops(load64(text, i)); m != 0 {
			i += bits.TrailingZeros64(m) >> 3
			if text[i] == '"' {
				s.pos = i + 1
				return text[start:i]
			}
			break
		}
	}
	i = nextStop(text, i)
	switch {
	case i >= len(text):
		s.pos = i
		s.fail("unexpected end")
	case text[i] == '"':
		s.pos = i + 1
		return text[start:i]
	case text[i] == '\\':
		return s.escaped(start, i)
	default:
		s.pos = i
		s.fail(rawControl)
	}
	return ""
}

const rawControl = "a control character inside a string must be escaped"

// escaped finishes a string whose first escape is at i.
func (s *Scanner) escaped(start, i int) string {
	text := s.text
	out := append(make([]byte, 0, i-start+32), text[start:i]...)
	for i < len(text) {
		switch c := text[i]; {
		case c == '"':
			s.pos = i + 1
			return string(out)
		case c < ' ':
			s.pos = i
			s.fail(rawControl)
			return ""
		}
		s.pos = i
		if i+1 >= len(text) {
			break
		}
		i += 2
		switch c := text[i-1]; c {
		case '"', '\\', '/':
			out = append(out, c)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, ok := hex4(text, i)
			if !ok {
				s.fail("\\u needs four hexadecimal digits")
				return ""
			}
			i += 4
			if utf16.IsSurrogate(r) {
				low, ok := rune(0), false
				if i+6 <= len(text) && text[i] == '\\' && text[i+1] == 'u' {
					low, ok = hex4(text, i+2)
				}
				if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
					s.fail("half of a surrogate pair")
					return ""
				}
				i += 6
			}
			out = utf8.AppendRune(out, r)
		default:
			s.fail("unknown escape")
			return ""
		}
		run := i
		i = nextStop(text, i)
		out = append(out, text[run:i]...)
	}
	s.pos = len(text)
	s.fail("unexpected end")
	return ""
}

func hex4(text string, i int) (rune, bool) {
	if i+4 > len(text) {
		return 0, false
	}
	var r rune
	for _, c := range []byte(text[i : i+4]) {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// Scalar reads a string, a number, a boolean or null; it fails on an object or
// an array. A number is read as the platform reads it, as a double: an integer
// within ±(2^53-1) becomes a KindInt, any other a KindFloat. One beyond the
// doubles fails.
func (s *Scanner) Scalar() Value {
	switch s.Peek() {
	case '"':
		s.pos++
		return Value{tag: tag{kind: KindText}, text: s.restOfString()}
	case 't':
		s.literal("true")
		return Bool(s.err == nil)
	case 'f':
		s.literal("false")
		return Bool(false)
	case 'n':
		s.literal("null")
		return Null()
	case '{', '[':
		s.fail("expected a string, a number, true, false or null")
		return Null()
	}
	if v, ok := s.plainNumber(); ok {
		return v
	}
	raw := s.Number()
	if s.err != nil {
		return Null()
	}
	v, ok := numberValue(raw)
	if !ok {
		s.pos -= len(raw)
		s.fail("a number too large for a double")
	}
	return v
}

// Members reads on in an object whose members are expected to be spelled like
// those of one that was read before: cells[i] becomes the scalar that follows
// the text before[i], which stands for whatever separates it from the scalar
// before, such as `,"name":`. It stops where another text follows, or after a
// fault, and returns the number of scalars read. Comparing a name is cheaper
// than reading it, which is what makes reading rows fast.
//
// There must be as many cells as texts. What is before the i-th scalar was
// checked when it was first read: Members itself only compares.
func (s *Scanner) Members(before []string, cells []Value) int {
	text, pos := s.text, s.pos
	cells = cells[:len(before)]
next:
	for i, name := range before {
		if len(text)-pos < len(name) || text[pos:pos+len(name)] != name {
			s.pos = pos
			return i
		}
		pos += len(name)
		if pos < len(text) && text[pos] == '"' {
			start := pos + 1
			for end := start; end+8 <= len(text); end += 8 {
				if m := stops(load64(text, end)); m != 0 {
					if end += bits.TrailingZeros64(m) >> 3; text[end] == '"' {
						cells[i] = Value{tag: tag{kind: KindText}, text: text[start:end]}
						pos = end + 1
						continue next
					}
					break
				}
			}
		}
		s.pos = pos
		cells[i] = s.Scalar()
		if pos = s.pos; s.err != nil {
			return i + 1
		}
	}
	s.pos = pos
	return len(before)
}

func (s *Scanner) literal(word string) {
	if len(s.text)-s.pos < len(word) || s.text[s.pos:s.pos+len(word)] != word {
		s.fail("expected a value")
		return
	}
	s.pos += len(word)
}
