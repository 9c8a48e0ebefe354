package memsource

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/fold"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Cardinality counts the non-null and the distinct values of the requested
// columns. It is the answer of a connector.CardinalityMeasurer that reads rows.
// Values compare like filters: 1.5 and 1.50 are one number. The empty string is
// a value, and a column of nulls is {0, 0} [rule measure-1].
//
// The budget is for all columns together. When it is exceeded, the column that
// holds most is given up and answered nil: the platform measures it itself. The
// others are still exact.
//
// An unknown column is refused with 404, a request without columns with 400.
func Cardinality(rel Relation, req *wire.CardinalityRequest, budget Budget) (map[string]*wire.Cardinality, error) {
	if len(req.Columns) == 0 {
		return nil, wire.Errorf(wire.CodeBadRequest, "columns: name at least one column")
	}
	type column struct {
		name     string
		at       int
		typ      wire.Type
		count    wire.Cardinality
		distinct map[string]struct{} // nil: given up
		bytes    int
	}
	var columns []*column
	places, seen := namesOf(rel.Columns), map[string]bool{}
	for _, name := range req.Columns {
		at, matches := places.find(name)
		if matches == 0 {
			return nil, noField(req.Table, name)
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		columns = append(columns, &column{name: name, at: at, typ: rel.Columns[at].Type, distinct: map[string]struct{}{}})
	}
	tally := budget.open()
	counted := len(columns) // those not given up
	var key []byte
	for row, err := range rel.Rows {
		if err != nil {
			return nil, err
		}
		for _, c := range columns {
			if c.distinct == nil {
				continue
			}
			v := cell(row, c.at)
			if v.IsNull() {
				continue
			}
			if v.Kind() == wire.KindInvalid {
				return nil, invalidCell(req.Table, c.name, v.Err())
			}
			c.count.NonNull++
			key = filter.AppendKey(key[:0], v, c.typ)
			if _, known := c.distinct[string(key)]; known {
				continue
			}
			c.distinct[string(key)] = struct{}{}
			c.bytes += fold.KeySize(key)
			for ok := tally.spend(fold.KeySize(key)); !ok; {
				largest := slices.MaxFunc(columns, func(a, b *column) int { return a.bytes - b.bytes })
				ok = tally.spend(-largest.bytes)
				largest.distinct, largest.bytes = nil, 0
				counted--
			}
		}
		if counted == 0 {
			break // nothing is left to read for
		}
	}
	answer := make(map[string]*wire.Cardinality, len(columns))
	for _, c := range columns {
		answer[c.name] = nil
		if c.distinct != nil {
			c.count.Distinct = int64(len(c.distinct))
			answer[c.name] = &c.count
		}
	}
	return answer, nil
}
