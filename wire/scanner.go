package wire

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
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

// SkipText consumes text and reports whether what follows is exactly it, blanks
// included. It is for what a caller has read before and expects again, such as
// the names of a row: comparing is cheaper than reading.
func (s *Scanner) SkipText(text string) bool {
	if rest := s.text[s.pos:]; len(rest) >= len(text) && rest[:len(text)] == text {
		s.pos += len(text)
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

// Number reads a number and returns it as it is written.
func (s *Scanner) Number() string {
	s.Peek()
	text, start := s.text, s.pos
	i := start
	if i < len(text) && text[i] == '-' {
		i++
	}
	whole := i
	for i < len(text) && text[i]-'0' <= 9 {
		i++
	}
	ok := i == whole+1 || i > whole && text[whole] != '0'
	if ok && i < len(text) && text[i] == '.' {
		i++
		fraction := i
		for i < len(text) && text[i]-'0' <= 9 {
			i++
		}
		ok = i > fraction
	}
	if ok && i < len(text) && text[i]|0x20 == 'e' {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		exponent := i
		for i < len(text) && text[i]-'0' <= 9 {
			i++
		}
		ok = i > exponent
	}
	if !ok {
		if i >= len(text) {
			s.fail("unexpected end")
		} else {
			s.fail("expected a value")
		}
		return ""
	}
	s.pos = i
	return text[start:i]
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

// plainNumber reads a number of at most 15 digits without an exponent, as
// nearly all are; it consumes nothing of any other. Such digits are an exact
// double, and so are the powers of ten up to 10^22, so that one division
// rounds correctly.
func (s *Scanner) plainNumber() (Value, bool) {
	const most = 15
	text, i := s.text, s.pos
	negative := i < len(text) && text[i] == '-'
	if negative {
		i++
	}
	var n int64
	start, point := i, -1
	var c byte
	for ; i < len(text); i++ {
		if c = text[i]; c-'0' <= 9 {
			n = n*10 + int64(c-'0')
		} else if c == '.' && point < 0 {
			point = i
		} else {
			break
		}
	}
	digits, whole := i-start, i-start
	if point >= 0 {
		digits--
		whole = point - start
	}
	if whole == 0 || digits > most || whole > 1 && text[start] == '0' || i < len(text) && c|0x20 == 'e' {
		return Null(), false
	}
	if negative {
		n = -n
	}
	if point < 0 {
		s.pos = i
		return Int(n), true
	}
	if digits == whole {
		return Null(), false // nothing after the point
	}
	f := float64(n) / powersOfTen[digits-whole]
	s.pos = i
	if t := int64(f); float64(t) == f {
		return Int(t), true
	}
	return Value{tag: tag{kind: KindFloat}, num: math.Float64bits(f)}, true
}

var powersOfTen = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// numberValue is the value of a JSON number.
func numberValue(raw string) (Value, bool) {
	if len(raw) <= 16 {
		digits, negative := raw, raw[0] == '-'
		if negative {
			digits = raw[1:]
		}
		var n int64
		for _, c := range []byte(digits) {
			if c-'0' > 9 {
				n = -1
				break
			}
			n = n*10 + int64(c-'0')
		}
		if n >= 0 && n <= MaxSafeInteger {
			if negative {
				n = -n
			}
			return Int(n), true
		}
	}
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil {
		return Null(), false
	}
	if math.Abs(f) <= MaxSafeInteger && f == math.Trunc(f) {
		return Int(int64(f)), true
	}
	return Float(f), true
}

func (s *Scanner) literal(word string) {
	if len(s.text)-s.pos < len(word) || s.text[s.pos:s.pos+len(word)] != word {
		s.fail("expected a value")
		return
	}
	s.pos += len(word)
}
