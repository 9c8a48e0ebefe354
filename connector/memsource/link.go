package memsource

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// LinkHitRate measures how many of the non-null values of one column are found
// in another, the answer of a connector.LinkMeasurer that reads rows. It reads
// to first, keeps its distinct keys, and then reads from. The relations may
// have the one column each, or more; they may be of the same table.
//
// Values are equal as in a join: by A6 when both columns are declared numeric,
// else as text (F2). A text in two numeric columns that is no number equals
// nothing, itself included. The samples are the first distinct texts in byte
// order, at most 20.
//
// Over budget the link is refused with 422 ([BudgetError]); an unknown column
// with 404 (F3).
func LinkHitRate(from, to Relation, req *wire.LinkHitRateRequest, budget Budget) (*wire.LinkHitRate, error) {
	fromAt, matches := find(from.Columns, req.FromColumn)
	if matches == 0 {
		return nil, noField(req.FromTable, req.FromColumn)
	}
	toAt, matches := find(to.Columns, req.ToColumn)
	if matches == 0 {
		return nil, noField(req.ToTable, req.ToColumn)
	}
	numeric := from.Columns[fromAt].Type.Numeric() && to.Columns[toAt].Type.Numeric()

	tally := budget.open()
	keys := map[string]struct{}{}
	var key []byte
	for row, err := range to.Rows {
		if err != nil {
			return nil, err
		}
		v := cell(row, toAt)
		if v.Kind() == wire.KindInvalid {
			return nil, invalidCell(req.ToTable, req.ToColumn, v.Err())
		}
		var ok bool
		if key, ok = appendJoinKey(key[:0], v, numeric); !ok {
			continue
		}
		if _, known := keys[string(key)]; known {
			continue
		}
		if !tally.spend(keySize(key)) {
			return nil, tally.over(
				connector.Unsupported("the link cannot be measured: column %s of table %s has too many distinct values", wire.QuoteName(req.ToColumn), wire.QuoteName(req.ToTable)),
				"the distinct values of column %q of table %q", req.ToColumn, req.ToTable)
		}
		keys[string(key)] = struct{}{}
	}
	return hitRate(from.Rows, fromAt, numeric, req, func(key []byte) bool {
		_, found := keys[string(key)]
		return found
	})
}

// hitRate reads the from side against the keys of the to side.
func hitRate(from Rows, at int, numeric bool, req *wire.LinkHitRateRequest, found func(key []byte) bool) (*wire.LinkHitRate, error) {
	rate := &wire.LinkHitRate{OrphanSamples: []string{}}
	var key, text []byte
	for row, err := range from {
		if err != nil {
			return nil, err
		}
		v := cell(row, at)
		if v.IsNull() {
			continue
		}
		if v.Kind() == wire.KindInvalid {
			return nil, invalidCell(req.FromTable, req.FromColumn, v.Err())
		}
		rate.FromNonNull++
		var ok bool
		if key, ok = appendJoinKey(key[:0], v, numeric); ok && found(key) {
			continue
		}
		rate.OrphanCount++
		text = v.AppendText(text[:0])
		i, known := slices.BinarySearchFunc(rate.OrphanSamples, text, func(s string, t []byte) int {
			return compareText(s, t)
		})
		if known || i == wire.MaxOrphanSamples {
			continue
		}
		// Text is checked here because a sample crosses outside of a row (D4).
		if err := v.Err(); err != nil {
			return nil, invalidCell(req.FromTable, req.FromColumn, err)
		}
		if len(rate.OrphanSamples) == wire.MaxOrphanSamples {
			rate.OrphanSamples = rate.OrphanSamples[:wire.MaxOrphanSamples-1]
		}
		rate.OrphanSamples = slices.Insert(rate.OrphanSamples, i, string(text))
	}
	if rate.FromNonNull > 0 {
		rate.OrphanRate = float64(rate.OrphanCount) / float64(rate.FromNonNull)
	}
	return rate, nil
}

// compareText orders a string and bytes by bytes, without a copy.
func compareText(s string, t []byte) int {
	switch {
	case s < string(t):
		return -1
	case s > string(t):
		return 1
	}
	return 0
}

// appendJoinKey appends what is equal for values that a join or a link finds
// equal (F2); false for a value that matches nothing: null, or no number where
// numbers are compared.
func appendJoinKey(dst []byte, v wire.Value, numeric bool) ([]byte, bool) {
	switch {
	case v.IsNull():
		return dst, false
	case !numeric:
		return filter.AppendKey(dst, v, wire.TypeString), true
	case !isNumber(v):
		return dst, false
	}
	return filter.AppendKey(dst, v, wire.TypeDecimal), true
}
