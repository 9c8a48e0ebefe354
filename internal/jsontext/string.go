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
	at := len(dst)
	end := at + len(s) + 2
	if end > cap(dst) {
		dst = slices.Grow(dst, len(s)+2)
	}
	dst = dst[:end]
	dst[at] = '"'
	stops, all := copyText(dst[at+1:end], s)
	dst[end-1] = '"'
	if all&msb != 0 && !utf8.ValidString(s) {
		return dst[:at], ErrUTF8
	}
	if stops&msb != 0 {
		return appendEscaped(dst[:at+1], s), nil
	}
	return dst, nil
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
