package filter

import (
	"cmp"
	"encoding/binary"
	"math"
)

// digits is a plain decimal, split at the dot. Both parts are substrings of the
// text it was read from, so that parsing does not allocate and comparing looks
// at each digit at most once.
type digits struct {
	whole string // digits before the dot, without leading zeros
	frac  string // digits after the dot, without trailing zeros
	neg   bool   // never for zero
}

// parseDigits reads plain decimal text: an optional sign, digits, optionally a
// dot and more digits. Everything else is not a number.
func parseDigits(s string) (d digits, ok bool) {
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		d.neg = s[0] == '-'
		s = s[1:]
	}
	dot := digitRun(s)
	if dot == 0 {
		return digits{}, false
	}
	d.whole = s[:dot]
	if dot < len(s) {
		d.frac = s[dot+1:]
		if s[dot] != '.' || d.frac == "" || digitRun(d.frac) < len(d.frac) {
			return digits{}, false
		}
		for d.frac != "" && d.frac[len(d.frac)-1] == '0' {
			d.frac = d.frac[:len(d.frac)-1]
		}
	}
	for d.whole != "" && d.whole[0] == '0' {
		d.whole = d.whole[1:]
	}
	if d.whole == "" && d.frac == "" {
		d.neg = false
	}
	return d, true
}

// digitRun returns the number of digits at the start of s.
func digitRun(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i]-'0' > 9 {
			return i
		}
	}
	return len(s)
}

// compare orders by the sign, then by the position of the leading digit, then
// by the digits.
func (d *digits) compare(e *digits) int {
	if d.neg != e.neg {
		if d.neg {
			return -1
		}
		return 1
	}
	c := 0
	if len(d.whole) != len(e.whole) {
		c = cmp.Compare(len(d.whole), len(e.whole))
	} else if c = compareBytes(d.whole, e.whole); c == 0 {
		// Without trailing zeros a fraction that begins like another and goes
		// on is the larger one, as with strings.
		c = compareBytes(d.frac, e.frac)
	}
	if d.neg {
		return -c
	}
	return c
}

// compareAligned compares two numbers without signs whose texts have the same
// length and the dot at the same place, as the numbers of one column mostly do.
// It reports false for all other texts.
func compareAligned(a, b string) (order int, ok bool) {
	if len(a) != len(b) || len(a) == 0 {
		return 0, false
	}
	dot := 0
	for i := 0; i < len(a) && i < len(b); i++ {
		x, y := a[i]-'0', b[i]-'0'
		switch {
		case x <= 9 && y <= 9:
			if x != y && order == 0 {
				order = 1
				if x < y {
					order = -1
				}
			}
		case a[i] == '.' && b[i] == '.' && dot == 0 && i > 0 && i+1 < len(a):
			dot = i
		default:
			return 0, false
		}
	}
	return order, true
}

// compareAlignedTo does the same as compareAligned if number is known to be a
// number. Equal bytes then need no check, and bytes that differ must be digits
// on both sides.
func compareAlignedTo(s, number string) (order int, ok bool) {
	if len(s) != len(number) || number[0] < '0' { // a sign
		return 0, false
	}
	for {
		x, y := word(s), word(number)
		if x != y {
			differ := x ^ y
			differ |= differ&^msb + lsb*0x7f // now the high bits of the bytes that differ
			if differ&(notDigits(x)|notDigits(y))&msb != 0 {
				return 0, false
			}
			if order == 0 {
				order = cmp.Compare(x, y)
			}
		}
		if len(s) <= 8 || len(number) <= 8 {
			return order, true
		}
		s, number = s[8:], number[8:]
	}
}

const (
	lsb = 0x0101010101010101
	msb = 0x8080808080808080
)

// word returns the first bytes of s, at most eight, so that words of texts of one
// length are in the order of the texts. Some bytes of a short one stand twice.
func word(s string) (w uint64) {
	b := []byte(s) // no copy, because nothing is written to it
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	if n := len(b) - 4; n >= 0 {
		return uint64(binary.BigEndian.Uint32(b))<<32 | uint64(binary.BigEndian.Uint32(b[n:n+4:n+4]))
	}
	for _, c := range b {
		w = w<<8 | uint64(c)
	}
	return w
}

// notDigits sets the high bit of each byte of w that is no digit. A carry may set it
// for a 9 above a byte that is not ASCII.
func notDigits(w uint64) uint64 { return (w ^ lsb*'0') + lsb*(0x80-10) | w }

// floor returns the largest integer k that is not above d, and whether d is
// above k. If k does not fit an int64, beyond is the sign of d instead.
func (d *digits) floor() (k int64, above bool, beyond int) {
	side := 1
	if d.neg {
		side = -1
	}
	if len(d.whole) > 19 {
		return 0, false, side
	}
	var n uint64 // 19 digits fit
	for i := 0; i < len(d.whole); i++ {
		n = n*10 + uint64(d.whole[i]-'0')
	}
	above = len(d.frac) > 0
	if !d.neg {
		if n > math.MaxInt64 {
			return 0, false, side
		}
		return int64(n), above, 0
	}
	if above {
		n++
	}
	if n > 1<<63 {
		return 0, false, side
	}
	return -int64(n), above, 0
}

// compareInt compares i with d.
func (d *digits) compareInt(i int64) int {
	k, above, beyond := d.floor()
	return compareFloor(i, k, above, beyond)
}

// compareFloor compares i with a number by the results of [digits.floor].
func compareFloor(i, k int64, above bool, beyond int) int {
	switch {
	case beyond != 0:
		return -beyond
	case i < k:
		return -1
	case i > k:
		return 1
	case above:
		return -1
	}
	return 0
}

// append appends d in a canonical form: equal numbers give equal bytes. Zero
// appends nothing.
func (d *digits) append(dst []byte) []byte {
	if d.neg {
		dst = append(dst, '-')
	}
	dst = append(dst, d.whole...)
	if d.frac != "" {
		dst = append(dst, '.')
		dst = append(dst, d.frac...)
	}
	return dst
}
