package oracle

import (
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// number is a decimal of unlimited precision without outer zeros. Zero has no
// sign.
type number struct {
	negative    bool
	whole, frac string // digits before and after the dot
}

// parseNumber parses plain decimal text: an optional sign, digits, optionally a
// dot and digits. Nothing else is a number [rule filter-6a].
func parseNumber(text string) (number, bool) {
	unsigned := text
	if text != "" && (text[0] == '-' || text[0] == '+') {
		unsigned = text[1:]
	}
	dot := digits(unsigned)
	whole, frac := unsigned[:dot], ""
	if dot < len(unsigned) {
		frac = unsigned[dot+1:]
		if unsigned[dot] != '.' || frac == "" || digits(frac) < len(frac) {
			return number{}, false
		}
	}
	if whole == "" {
		return number{}, false
	}
	n := number{whole: strings.TrimLeft(whole, "0"), frac: strings.TrimRight(frac, "0")}
	n.negative = text[0] == '-' && (n.whole != "" || n.frac != "")
	return n, true
}

// digits returns how many ASCII digits a text begins with.
func digits(text string) (n int) {
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return n
}

// compareNumbers compares two numbers by sign, length and digits, in time linear
// in their lengths.
func compareNumbers(a, b number) int {
	switch {
	case a.negative && !b.negative:
		return -1
	case !a.negative && b.negative:
		return 1
	case a.negative:
		a, b = b, a // of two negative numbers, the one with larger digits is less
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

// length returns the length of String.
func (n number) length() int {
	length := max(1, len(n.whole))
	if n.frac != "" {
		length += len(".") + len(n.frac)
	}
	if n.negative {
		length++
	}
	return length
}

// String returns the shortest plain decimal text of the number. No other text of the number is as short.
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

// sum adds numbers exactly. It keeps one integer total for each scale, the
// number of digits after the dot, and combines the scales at the end, so that
// one long fraction does not slow every addition.
type sum map[int]*big.Int

func (s sum) add(n number) {
	total := s[len(n.frac)]
	if total == nil {
		total = new(big.Int)
		s[len(n.frac)] = total
	}
	var i big.Int
	if short := "0" + n.whole + n.frac; len(short) <= 18 { // an int64 holds it
		v, _ := strconv.ParseInt(short, 10, 64)
		i.SetInt64(v)
	} else {
		i.SetString(short, 10)
	}
	if n.negative {
		i.Neg(&i)
	}
	total.Add(total, &i)
}

// total returns the sum as plain decimal text.
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
