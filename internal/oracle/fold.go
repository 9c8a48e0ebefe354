package oracle

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// fold computes one measure of one group.
type fold struct {
	measure        wire.Measure
	by, distinctBy rule

	rows, nonNull int64
	distinct      map[identity]bool
	sum           sum
	best          wire.Value // of min and max
	bestKey       key
	fault         string
}

func (f *fold) add(v wire.Value) {
	f.rows++
	if v.IsNull() {
		return
	}
	f.nonNull++
	switch f.measure.Fn {
	case wire.AggCountDistinct:
		if f.distinct == nil {
			f.distinct = map[identity]bool{}
		}
		f.distinct[keyOf(v, f.distinctBy).identity()] = true
	case wire.AggSum:
		k := keyOf(v, f.by)
		if !k.isNumber {
			f.fault = "a cell is not a number"
			return
		}
		if f.sum == nil {
			f.sum = sum{}
		}
		f.sum.add(k.number)
	case wire.AggMin, wire.AggMax:
		k := keyOf(v, f.by)
		// Text in a column of numbers has no order, and values of different
		// ranks do not compare transitively, so there is no minimum.
		if f.by == asNumber && !k.isNumber || f.nonNull > 1 && k.rank(f.by) != f.bestKey.rank(f.by) {
			f.fault = "its cells have no common order"
			return
		}
		order, _ := compare(k, f.bestKey, f.by)
		if f.nonNull == 1 || f.measure.Fn == wire.AggMin && order < 0 || f.measure.Fn == wire.AggMax && order > 0 {
			f.best, f.bestKey = v, k
		}
	}
}

// value returns the measure. Over no values it is null, except for counts.
func (f *fold) value() (wire.Value, error) {
	if f.fault != "" {
		return wire.Null(), &Undefined{Detail: fmt.Sprintf("%s over %q: %s", f.measure.Fn, f.measure.Field, f.fault)}
	}
	switch f.measure.Fn {
	case wire.AggCount:
		if f.measure.Field == "" {
			return wire.Int(f.rows), nil
		}
		return wire.Int(f.nonNull), nil
	case wire.AggCountDistinct:
		return wire.Int(int64(len(f.distinct))), nil
	case wire.AggSum:
		if f.sum == nil {
			return wire.Null(), nil
		}
		return wire.Decimal(f.sum.total()), nil
	}
	return f.best, nil
}
