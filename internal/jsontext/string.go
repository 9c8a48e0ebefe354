package jsontext

import (
	"errors"
	"slices"
	"unicode/utf8"
)

// ErrUTF8 is returned by [AppendString].
var ErrUTF8 = errors.New("text is not valid UTF-8")

// AppendString appends s as a JSON string and escapes only what JSON requires.
// If s is not valid UTF-8, it appends nothing and returns [ErrUTF8].
func AppendString(dst []byte, s string) ([]byte, error) {
	dst = slices.Grow(dst, len(s)+2)
	end, ascii := PutString(dst, s)
	switch {
	case !ascii && !utf8.ValidString(s):
		return dst, ErrUTF8
	case end == 0:
		return appendEscaped(append(dst, '"'), s), nil
	}
	return dst[:end], nil
}

// appendEscaped appends the text of a JSON string and its closing quote.
func appendEscaped(dst []byte, s string) []byte {
	start := 0
	for i := nextStop(s, 0); i < len(s); i = nextStop(s, i+1) {
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c := s[i]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', "0123456789abcdef"[c>>4], "0123456789abcdef"[c&15])
		}
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}
