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
	out := dst[at:end]
	out[0] = '"'
	n, ascii := copyClean(out[1:len(out)-1], s)
	if !(ascii && n == len(s)) && !utf8.ValidString(s) {
		return dst[:at], ErrUTF8
	}
	if n == len(s) {
		out[len(out)-1] = '"'
		return dst[:end], nil
	}
	dst = dst[:at+1+n]
	start := n
	for i := nextStop(s, n); i < len(s); i = nextStop(s, i+1) {
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
	return append(dst, '"'), nil
}
