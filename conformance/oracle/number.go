package oracle

import (
	"maps"
	"math/big"
	"slices"
	"strings"
)

// number is a decimal of unlimited precision in its only spelling (A6):
// no zeros outside, and zero has no sign.
type number struct {
	negative    bool
	whole, frac string // digits before and after the dot
}

// parseNumber reads plain decimal text: an optional sign, digits, optionally a
// dot and digits. Nothing else is a number (A6).
func parseNumber(text string) (number, bool) {
	unsigned := text
	if text != "" && (text[0] == '-' || text[0] == '+') {
		unsigned = text[1:]
	}
	whole, frac, dot := strings.Cut(unsigned, ".")
	if !digits(whole) || dot && !digits(frac) {
		return number{}, false
	}
	n := number{whole: strings.TrimLeft(whole, "0"), frac: strings.TrimRight(frac, "0")}
	n.negative = text[0] == '-' && n.whole+n.frac != ""
	return n, true
}

// digits reports whether text is one ASCII digit or more.
func digits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

// compareNumbers orders two numbers by sign, length, digits: linear in their
// lengths, whatever the digits (A6).
func compareNumbers(a, b number) int {
	switch {
	case a.negative && !b.negative:
		return -1
	case !a.negative && b.negative:
		return 1
	case a.negative:
		a, b = b, a // of two negative numbers the larger digits are less
	}
	if len(a.whole) != len(b.whole) {
		if len(a.whole) < len(b.whole) {
			return -1
		}
		return 1
	}
	if c := strings.Compare(a.whole, b.whole); c != 0 {
		return c
	}
	return strings.Compare(a.frac, b.frac)
}

// String spells the number as its shortest plain decimal text.
func (n number) String() string {
	text := n.whole
	if text == "" {
		text = "0"
	}
	if n.frac != "" {
		text += "." + n.frac
	}
	if n.negative {
		text = "-" + text
	}
	return text
}

// sum adds numbers exactly (E1). Addends of one scale, the number of digits
// behind the dot, are added as integers, and the scales brought together at
// the end, so that one long fraction does not make every addition long.
type sum map[int]*big.Int

func (s sum) add(n number) {
	i, _ := new(big.Int).SetString("0"+n.whole+n.frac, 10)
	if n.negative {
		i.Neg(i)
	}
	if s[len(n.frac)] == nil {
		s[len(n.frac)] = new(big.Int)
	}
	s[len(n.frac)].Add(s[len(n.frac)], i)
}

// total is the sum as plain decimal text.
func (s sum) total() string {
	total, scale := new(big.Int), 0
	for _, next := range slices.Sorted(maps.Keys(s)) {
		shift := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(next-scale)), nil)
		total.Mul(total, shift).Add(total, s[next])
		scale = next
	}
	text := new(big.Int).Abs(total).String()
	if missing := scale + 1 - len(text); missing > 0 {
		text = strings.Repeat("0", missing) + text
	}
	n, _ := parseNumber(text[:len(text)-scale] + "." + text[len(text)-scale:] + "0")
	n.negative = total.Sign() < 0
	return n.String()
}
