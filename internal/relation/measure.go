package relation

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Count returns the number of rows that match filters. It keeps nothing.
func Count(rel Relation, where wire.Where) (int64, error) {
	match, err := filter.Compile(where, rel.Columns)
	if err != nil {
		return 0, err
	}
	var n int64
	for row, err := range rel.Rows {
		if err != nil {
			return 0, err
		}
		ok, err := match.Match(row)
		if err != nil {
			return 0, &CellError{err}
		}
		if ok {
			n++
		}
	}
	return n, nil
}

// counted is a column whose values are counted.
type counted struct {
	name     string
	at       int
	typ      wire.Type
	count    wire.Cardinality
	distinct map[string]struct{} // nil: given up
	bytes    int
}

// Cardinality counts the non-null and the distinct values of the requested columns.
// Values compare like filters [rule measure-1]. The budget is for all columns together.
// When it is exceeded, the column that holds most is given up: it is nil in the answer,
// and the others are still exact. If the answer must be whole, the error is a
// [*BudgetError] instead.
func Cardinality(
	rel Relation, req *wire.CardinalityRequest, budget *Budget, whole bool,
) (map[string]*wire.Cardinality, error) {
	if len(req.Columns) == 0 {
		return nil, wire.Errorf(wire.CodeBadRequest, "columns: name at least one column")
	}
	var columns []*counted
	places, seen := namesOf(rel.Columns), map[string]bool{}
	for _, name := range req.Columns {
		at, matches := places.find(name)
		if matches == 0 {
			return nil, wire.Errorf(wire.CodeUnknownEntity, "table %s has no field %s", terms.QuoteName(req.Table), terms.QuoteName(name))
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		columns = append(columns, &counted{name: name, at: at, typ: rel.Columns[at].Type, distinct: map[string]struct{}{}})
	}
	left := len(columns) // those not given up
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
			c.bytes += KeySize(key)
			for ok := budget.spend(KeySize(key)); !ok; {
				if whole {
					return nil, budget.over(req.Table, "the distinct values of table %q", req.Table)
				}
				largest := slices.MaxFunc(columns, func(a, b *counted) int { return a.bytes - b.bytes })
				ok = budget.spend(-largest.bytes)
				largest.distinct, largest.bytes = nil, 0
				left--
			}
		}
		if left == 0 {
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

// LinkHitRate measures how many of the non-null values of one column are found in
// another. It reads to first, unless that has an index, keeps its distinct keys, and
// then reads from.
//
// Values are equal as numbers if both columns are declared numeric, else as text
// [rule measure-2b]. In two numeric columns, text that is no number equals nothing.
// The samples are the first distinct texts in byte order.
func LinkHitRate(from, to Relation, req *wire.LinkHitRateRequest, budget *Budget) (*wire.LinkHitRate, error) {
	fromAt, matches := namesOf(from.Columns).find(req.FromColumn)
	if matches == 0 {
		return nil, noField("fromColumn", req.FromTable, req.FromColumn)
	}
	toAt, matches := namesOf(to.Columns).find(req.ToColumn)
	if matches == 0 {
		return nil, noField("toColumn", req.ToTable, req.ToColumn)
	}
	numeric := from.Columns[fromAt].Type.Numeric() && to.Columns[toAt].Type.Numeric()
	var found func(key []byte) bool
	if to.Index != nil {
		index := to.Index(toAt, numeric)
		found = func(key []byte) bool { return index.first(key) >= 0 }
	} else {
		keys, err := keysOf(to.Rows, toAt, numeric, req, budget)
		if err != nil {
			return nil, err
		}
		found = func(key []byte) bool {
			_, ok := keys[string(key)]
			return ok
		}
	}
	rate := &wire.LinkHitRate{OrphanSamples: []string{}}
	var key, text []byte
	for row, err := range from.Rows {
		if err != nil {
			return nil, err
		}
		v := cell(row, fromAt)
		if v.IsNull() {
			continue
		}
		if v.Kind() == wire.KindInvalid {
			return nil, invalidCell(req.FromTable, req.FromColumn, v.Err())
		}
		rate.FromNonNull++
		var ok bool
		if key, ok = AppendJoinKey(key[:0], v, numeric); ok && found(key) {
			continue
		}
		rate.OrphanCount++
		text = AppendText(text[:0], v)
		at, known := slices.BinarySearchFunc(rate.OrphanSamples, text, compareText)
		if known || at == terms.MaxOrphanSamples {
			continue
		}
		// Rows check their text; a sample is no part of a row.
		if err := v.Err(); err != nil {
			return nil, invalidCell(req.FromTable, req.FromColumn, err)
		}
		if len(rate.OrphanSamples) == terms.MaxOrphanSamples {
			rate.OrphanSamples = rate.OrphanSamples[:terms.MaxOrphanSamples-1]
		}
		rate.OrphanSamples = slices.Insert(rate.OrphanSamples, at, string(text))
	}
	if rate.FromNonNull > 0 {
		rate.OrphanRate = float64(rate.OrphanCount) / float64(rate.FromNonNull)
	}
	return rate, nil
}

// keysOf returns the distinct keys of the column that a link leads to.
func keysOf(rows Rows, at int, numeric bool, req *wire.LinkHitRateRequest, budget *Budget) (map[string]struct{}, error) {
	keys := map[string]struct{}{}
	var key []byte
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		v := cell(row, at)
		if v.Kind() == wire.KindInvalid {
			return nil, invalidCell(req.ToTable, req.ToColumn, v.Err())
		}
		var ok bool
		if key, ok = AppendJoinKey(key[:0], v, numeric); !ok {
			continue
		}
		if _, known := keys[string(key)]; known {
			continue
		}
		if !budget.spend(KeySize(key)) {
			return nil, budget.over(req.ToTable, "the distinct values of column %q of table %q", req.ToColumn, req.ToTable)
		}
		keys[string(key)] = struct{}{}
	}
	return keys, nil
}

// compareText compares a string and bytes, without a copy.
func compareText(s string, t []byte) int {
	switch {
	case s < string(t):
		return -1
	case s > string(t):
		return 1
	}
	return 0
}
