package sqlsource

import (
	"math/big"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// sumOfParts is high times sumBase plus low, exactly.
func sumOfParts(high, low int64) wire.Value {
	n := new(big.Int).Mul(big.NewInt(high), big.NewInt(sumBase))
	return wire.Decimal(n.Add(n, big.NewInt(low)).String())
}

// plainSum is the sum of an engine whose own is exact.
func plainSum(expr string) Sum {
	return Sum{Exprs: []string{expr}, Fold: func(cells []any) (wire.Value, bool) {
		if cells[0] == nil {
			return wire.Null(), true
		}
		v, err := DecodeDecimal(cells[0])
		return v, err == nil && v.Err() == nil
	}}
}
