package sqlite

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// sumBase splits integers for a sum that cannot overflow: SQLite's own fails
// beyond 64 bits.
const sumBase = 1_000_000_000

// Sums are tried at the scale cents first, because most numbers with a fraction are money.
const cents = 2

// sumScales are the digits of fraction that numbers are tried with. Each costs the
// statement about as much as the rest of it.
var sumScales = []int{2, 6}

// Sum adds integers, and numbers that are decimals of at most 6 digits of fraction
// and 15 digits in all. Such a decimal k / 10^scale is the shortest spelling of the
// nearest real, and no other decimal of so few digits is. So a real whose k,
// divided again, gives the same real is added as the integer k. If some number of
// a group is no such decimal, the sum of the group is declined.
//
// Decimals of two digits of fraction, whose sum fits 64 bits, are tried first: SQLite
// computes each expression at each place that mentions it, so every test of a number
// costs as much as the addition.
func (flavor) Sum(c *sqlengine.Column, key string) sqlengine.Sum {
	base := strconv.Itoa(sumBase)
	exprs := []string{"SUM(" + key + " / " + base + ")", "SUM(" + key + " % " + base + ")"}
	switch c.Class {
	case sqlengine.ClassInteger:
		return sqlengine.Sum{Exprs: exprs, Fold: foldIntegers}
	case sqlengine.ClassFloat:
	default:
		return sqlengine.Sum{}
	}
	exprs = append(exprs, "MAX(typeof("+key+") = 'real')")
	for _, scale := range sumScales {
		unit := "1" + strings.Repeat("0", scale) + ".0"
		k := "CAST(round(" + key + " * " + unit + ") AS INTEGER)"
		bound := "1" + strings.Repeat("0", 15-scale)
		exprs = append(exprs, "MIN("+k+" / "+unit+" = "+key+" AND "+key+" < "+bound+" AND "+key+" > -"+bound+")",
			"SUM("+k+" / "+base+")", "SUM("+k+" % "+base+")")
	}
	return sqlengine.Sum{Exprs: []string{sumCents(key)}, Fold: foldCents, Else: &sqlengine.Sum{Exprs: exprs, Fold: foldScaled}}
}

// toWhole is a number that a real of at most 15 digits loses its fraction by: added and
// subtracted again, it rounds for less than the engine's functions do.
const toWhole = "6755399441055744.0" // 3 * 2^51

// sumCents returns the aggregate that adds numbers as integers of cents. It is no integer if
// some number has a fraction of cents, or more digits than tell it apart from all others.
func sumCents(key string) string {
	unit := strconv.FormatFloat(math.Pow10(cents), 'f', 1, 64)
	bound := strconv.FormatFloat(math.Pow10(15-cents)-1, 'f', 1, 64)
	k := "(" + key + " * " + unit + " + " + toWhole + " - " + toWhole + ")"
	return "SUM(CASE WHEN " + k + " / " + unit + " = " + key + " AND " + key + " BETWEEN -" + bound + " AND " + bound +
		" THEN CAST(" + k + " AS INTEGER) WHEN " + key + " IS NOT NULL THEN 0.5 END)"
}

// foldCents reads a sum of cents. It reports false for any other value.
func foldCents(cells []any) (wire.Value, bool) {
	if cells[0] == nil {
		return wire.Null(), true
	}
	sum, ok := cells[0].(int64)
	if !ok {
		return wire.Null(), false
	}
	return decimalOfParts(big.NewInt(sum), cents), true
}

// foldIntegers adds the two parts of a sum of integers.
func foldIntegers(cells []any) (wire.Value, bool) {
	if cells[0] == nil {
		return wire.Null(), true
	}
	n, ok := sumOfParts(cells)
	return wire.Decimal(n.String()), ok
}

// foldScaled adds integers, or decimals of the least scale that all have.
func foldScaled(cells []any) (wire.Value, bool) {
	if cells[2] == nil || cells[2] == int64(0) {
		return foldIntegers(cells)
	}
	for i, scale := range sumScales {
		at := 3 + 3*i
		if cells[at] != int64(1) {
			continue
		}
		sum, ok := sumOfParts(cells[at+1:])
		return decimalOfParts(sum, scale), ok
	}
	return wire.Null(), false
}

// sumOfParts returns the first cell times sumBase plus the second, exactly.
func sumOfParts(cells []any) (sum *big.Int, ok bool) {
	high, ok1 := cells[0].(int64)
	low, ok2 := cells[1].(int64)
	sum = new(big.Int).Mul(big.NewInt(high), big.NewInt(sumBase))
	return sum.Add(sum, big.NewInt(low)), ok1 && ok2
}

// decimalOfParts returns n / 10^scale without zeros at the end of the fraction.
func decimalOfParts(n *big.Int, scale int) wire.Value {
	digits := new(big.Int).Abs(n).String()
	if len(digits) <= scale {
		digits = strings.Repeat("0", scale+1-len(digits)) + digits
	}
	at := len(digits) - scale
	text := strings.TrimSuffix(strings.TrimRight(digits[:at]+"."+digits[at:], "0"), ".")
	if n.Sign() < 0 {
		text = "-" + text
	}
	return wire.Decimal(text)
}
