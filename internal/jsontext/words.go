package jsontext

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

// The functions below search JSON strings eight bytes at a time, as a word.

const (
	lsb = 0x0101010101010101
	msb = 0x8080808080808080
)

// Stops marks, in the high bit of each byte of w, the bytes that a JSON string
// must escape: a quote, a backslash, a control character. The lowest mark is
// always right; above it, a borrow may set false ones.
func Stops(w uint64) uint64 {
	quote := w ^ (lsb * '"')
	slash := w ^ (lsb * '\\')
	return ((w - lsb*0x20) | (quote - lsb) | (slash - lsb)) &^ w & msb
}

// nextStop returns the index of the first byte of s, from i on, that a JSON string
// must escape, or len(s) if there is none.
func nextStop(s string, i int) int {
	for ; i+8 <= len(s); i += 8 {
		if m := Stops(Load64(s, i)); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' {
			return i
		}
	}
	return len(s)
}

// copyClean copies the leading bytes of s that are ASCII and need no escape, and
// returns their number, or up to seven fewer. dst must be as long as s.
func copyClean(dst []byte, s string) int {
	if len(s) < 8 {
		for i := range len(s) {
			c := s[i]
			if c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
				return i
			}
			dst[i] = c
		}
		return len(s)
	}
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := Load64(s, i)
		if Stops(w)|w&msb != 0 {
			return i
		}
		binary.LittleEndian.PutUint64(dst[i:], w)
	}
	if i < len(s) {
		// The last eight bytes, some of them for the second time.
		w := Load64(s, len(s)-8)
		if Stops(w)|w&msb != 0 {
			return i
		}
		binary.LittleEndian.PutUint64(dst[len(s)-8:], w)
	}
	return len(s)
}

// Load64 reads the eight bytes of s at i. The caller has checked that they are
// there.
func Load64(s string, i int) uint64 {
	return binary.LittleEndian.Uint64(unsafe.Slice(unsafe.StringData(s), len(s))[i:])
}
