package jsontext

import (
	"fmt"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// SyntaxError reports text that is not strict JSON, or JSON beyond a limit. It never
// quotes the text.
type SyntaxError struct {
	Offset  int // bytes before the fault
	Problem string
	Limit   bool // the text is JSON
}

func (e *SyntaxError) Error() string {
	if e.Limit {
		return fmt.Sprintf("at byte %d: %s", e.Offset, e.Problem)
	}
	return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.Problem)
}

// Scanner reads strict JSON from memory, token by token. It exists because
// encoding/json is lenient where the protocol is not: it folds the case of
// names, keeps the last of two duplicates, and replaces invalid UTF-8.
//
// The first error stops the scanner: from then on every method returns a zero
// value, and [Scanner.Err] returns the error. The strings it returns share one
// copy of the text.
type Scanner struct {
	text string
	pos  int
	err  error
}

// Reset starts over with another text. It allocates nothing.
func (s *Scanner) Reset(text string) {
	*s = Scanner{text: text}
	if !utf8.ValidString(text) {
		for i, r := range text {
			if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size == 1 {
				s.pos = i
				break
			}
		}
		s.Fail("not valid UTF-8")
	}
}

// Err returns the first error.
func (s *Scanner) Err() error { return s.err }

// Offset returns the number of bytes read.
func (s *Scanner) Offset() int { return s.pos }

// AtEnd reports whether all of the text has been read.
func (s *Scanner) AtEnd() bool { return s.pos >= len(s.text) }

// Unread returns the text and the number of bytes read, for a caller that
// reads on by itself. [Scanner.Seek] takes the scanner along.
func (s *Scanner) Unread() (text string, offset int) { return s.text, s.pos }

// Seek goes on reading at offset.
func (s *Scanner) Seek(offset int) { s.pos = offset }

// Fail records a fault at the current byte, unless there is one already.
func (s *Scanner) Fail(problem string) { s.fail(problem, false) }

// limit records that the value at the current byte is JSON, and beyond a limit.
func (s *Scanner) limit(problem string) { s.fail(problem, true) }

func (s *Scanner) fail(problem string, limit bool) {
	if s.err == nil {
		s.err = &SyntaxError{s.pos, problem, limit}
		s.pos = len(s.text)
	}
}

// Peek skips blanks and returns the next byte, from which the kind of the next
// token follows. It returns 0 at the end and after an error.
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
		s.Fail("unexpected end")
	} else {
		s.Fail("expected '" + string(rune(c)) + "'")
	}
	return false
}

// End fails unless the text is at its end.
func (s *Scanner) End() {
	if s.err == nil && s.Peek() != 0 {
		s.Fail("unexpected data after the JSON value")
	} else if s.err == nil && s.pos < len(s.text) {
		s.Fail("a NUL byte") // Peek answered 0 for it
	}
}

// String reads a string.
func (s *Scanner) String() string {
	if !s.Skip('"') {
		if s.Peek(); s.pos >= len(s.text) {
			s.Fail("unexpected end")
		} else {
			s.Fail("expected a string")
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
		if m := Stops(Load64(text, i)); m != 0 {
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
		s.Fail("unexpected end")
	case text[i] == '"':
		s.pos = i + 1
		return text[start:i]
	case text[i] == '\\':
		return s.escaped(start, i)
	default:
		s.pos = i
		s.Fail(rawControl)
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
			s.Fail(rawControl)
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
				s.Fail("\\u needs four hexadecimal digits")
				return ""
			}
			i += 4
			if utf16.IsSurrogate(r) {
				low, ok := rune(0), false
				if i+6 <= len(text) && text[i] == '\\' && text[i+1] == 'u' {
					low, ok = hex4(text, i+2)
				}
				if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
					s.Fail("half of a surrogate pair")
					return ""
				}
				i += 6
			}
			out = utf8.AppendRune(out, r)
		default:
			s.Fail("unknown escape")
			return ""
		}
		run := i
		i = nextStop(text, i)
		out = append(out, text[run:i]...)
	}
	s.pos = len(text)
	s.Fail("unexpected end")
	return ""
}

// hex4 returns the code unit that the four hexadecimal digits at i spell.
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

// Literal reads true, false or null, given as word.
func (s *Scanner) Literal(word string) {
	if len(s.text)-s.pos < len(word) || s.text[s.pos:s.pos+len(word)] != word {
		s.Fail("expected a value")
		return
	}
	s.pos += len(word)
}
