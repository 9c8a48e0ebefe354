package duckdb

import (
	"fmt"
	"math/big"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The engine holds a DECIMAL of up to 18 digits in 64 bits, and one of up to 38 in
// 128, in which it also adds.
const (
	narrowDecimal = 18
	maxDecimal    = 38
)

func decimalType(digits, scale int) string { return fmt.Sprintf("DECIMAL(%d,%d)", digits, scale) }

// Sum implements [sqlengine.Flavor]. 128 bits hold the sum of as many values of 64 bits
// as there can be. Wider values are added as integers of any size.
func (flavor) Sum(c *sqlengine.Column, key string) sqlengine.Sum {
	switch {
	case c.Class == sqlengine.ClassInteger, c.Class == sqlengine.ClassDecimal && c.Precision <= narrowDecimal:
		return sqlengine.Sum{Exprs: []string{text("SUM(" + key + ")")}}
	case c.Class != sqlengine.ClassDecimal:
		return sqlengine.Sum{}
	case c.Precision == hugeintDigits:
		low := "18446744073709551615" // the lower half
		return sqlengine.Sum{
			Exprs: []string{text("SUM(" + key + " >> 64)"), text("SUM(" + key + " & " + low + ")")},
			Fold:  foldHalves,
		}
	case c.Scale == 0:
		return sqlengine.Sum{Exprs: []string{text("SUM(" + bignum(key) + ")")}}
	}
	units := "CAST(replace(" + text(key) + ", '.', '') AS BIGNUM)"
	return sqlengine.Sum{
		Exprs: []string{text("SUM(" + units + ")")},
		Fold:  func(cells []any) (wire.Value, bool) { return foldUnits(cells[0], c.Scale) },
	}
}

// foldHalves returns the sum of integers of 128 bits whose halves were added.
func foldHalves(cells []any) (wire.Value, bool) {
	if cells[0] == nil {
		return wire.Null(), true
	}
	var halves [2]*big.Int
	for i, cell := range cells {
		digits, ok := cell.(string)
		if !ok {
			return wire.Null(), false
		}
		if halves[i], ok = new(big.Int).SetString(digits, 10); !ok {
			return wire.Null(), false
		}
	}
	return wire.Decimal(halves[0].Lsh(halves[0], 64).Add(halves[0], halves[1]).String()), true
}

// foldUnits returns the decimal of so many units of the last digit of a scale.
func foldUnits(units any, scale int) (wire.Value, bool) {
	if units == nil {
		return wire.Null(), true
	}
	digits, ok := units.(string)
	if !ok {
		return wire.Null(), false
	}
	return wire.Decimal(placeDot(digits, scale)), true
}
