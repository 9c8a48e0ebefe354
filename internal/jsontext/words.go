package jsontext

import (
	"encoding/binary"
	"math/bits"
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
	return escapes(w) &^ w & msb
}

// escapes sets the high bit of the bytes that Stops marks, and has any high bit for
// others that are not ASCII. Flipping the second bit takes the quote, 0x22, to 0x20:
// below '!', which itself goes to 0x23, there are then the quote and the control
// characters, and nothing else.
func escapes(w uint64) uint64 {
	return ((w ^ lsb*0x02) - lsb*0x21) | ((w ^ lsb*'\\') - lsb)
}

// nextStop returns the index of the first byte of s, from i on, that a JSON string
// must escape, or len(s).
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

// PutString writes s as a JSON string into the free capacity of dst. It returns the
// length of dst with the string, and whether s is ASCII. It returns 0 if the capacity
// is too small, or if s holds a byte that must be escaped. Such bytes are rare, so there
// is no branch for each word: [AppendString] handles them.
func PutString(dst []byte, s string) (end int, ascii bool) {
	from := []byte(s) // no copy, because nothing is written to it
	at := len(dst)
	room := dst[at:cap(dst)]
	if len(room) < len(from)+2 {
		return 0, false
	}
	room[0] = '"'
	room = room[1:]
	room[len(from)] = '"'
	to := room[:len(from)]
	var w, stops, all uint64
	// The last word, or the last half of one, may begin within the one before.
	if last := len(from) - 8; last >= 0 {
		for n := 0; n < last; n += 8 {
			w = binary.LittleEndian.Uint64(from[n : n+8 : n+8]) // the third index spares the check of the address
			binary.LittleEndian.PutUint64(to[n:n+8:n+8], w)
			stops |= escapes(w) &^ w
			all |= w
		}
		w = binary.LittleEndian.Uint64(from[last : last+8 : last+8])
		binary.LittleEndian.PutUint64(to[last:last+8:last+8], w)
	} else if last := len(from) - 4; last >= 0 {
		low, high := binary.LittleEndian.Uint32(from), binary.LittleEndian.Uint32(from[last:last+4:last+4])
		w = uint64(low) | uint64(high)<<32
		binary.LittleEndian.PutUint32(to, low)
		binary.LittleEndian.PutUint32(to[last:last+4:last+4], high)
	} else {
		w = lsb * ' '
		for i, c := range from {
			w = w<<8 | uint64(c)
			to[i] = c
		}
	}
	if (stops|escapes(w)&^w)&msb != 0 {
		return 0, false
	}
	return at + len(from) + 2, (all|w)&msb == 0
}

// Load64 reads the eight bytes of s at i. The caller has checked that they are
// there.
func Load64(s string, i int) uint64 {
	return binary.LittleEndian.Uint64(unsafe.Slice(unsafe.StringData(s), len(s))[i : i+8 : i+8])
}
