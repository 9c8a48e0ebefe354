package memsource

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/fold"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// LinkHitRate measures how many of the non-null values of one column are found
// in another. It is the answer of a connector.LinkMeasurer that reads rows. It
// reads to first, keeps its distinct keys, and then reads from. The relations
// need no other columns than these; they may be of the same table.
//
// Values are equal as in a join: as numbers if both columns are declared
// numeric, else as text [rule measure-2b]. In two numeric columns, text that is
// no number equals nothing, not even itself. The samples are the first distinct
// texts in byte order, at most 20.
//
// LinkHitRate refuses a link over budget with 422 ([BudgetError]), and an unknown
// column with 404.
func LinkHitRate(from, to Relation, req *wire.LinkHitRateRequest, budget Budget) (*wire.LinkHitRate, error) {
	fromAt, toAt, numeric, err := linkColumns(from.Columns, to.Columns, req)
	if err != nil {
		return nil, err
	}
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
		if key, ok = fold.AppendJoinKey(key[:0], v, numeric); !ok {
			continue
		}
		if _, known := keys[string(key)]; known {
			continue
		}
		if !tally.spend(fold.KeySize(key)) {
			return nil, tally.over(
				connector.Unsupported("the link cannot be measured: column %s of table %s has too many distinct values",
					wire.QuoteName(req.ToColumn), wire.QuoteName(req.ToTable)),
				"the distinct values of column %q of table %q", req.ToColumn, req.ToTable)
		}
		keys[string(key)] = struct{}{}
	}
	return hitRate(from.Rows, fromAt, numeric, req, func(key []byte) bool {
		_, found := keys[string(key)]
		return found
	})
}

// linkColumns finds the columns of a link, and reports whether they compare as
// numbers.
func linkColumns(from, to []wire.Column, req *wire.LinkHitRateRequest) (fromAt, toAt int, numeric bool, err error) {
	fromAt, matches := namesOf(from).find(req.FromColumn)
	if matches == 0 {
		return 0, 0, false, noField(req.FromTable, req.FromColumn)
	}
	toAt, matches = namesOf(to).find(req.ToColumn)
	if matches == 0 {
		return 0, 0, false, noField(req.ToTable, req.ToColumn)
	}
	return fromAt, toAt, from[fromAt].Type.Numeric() && to[toAt].Type.Numeric(), nil
}

// hitRate looks the values of the from side up among the keys of the to side.
func hitRate(
	from Rows, at int, numeric bool, req *wire.LinkHitRateRequest, found func(key []byte) bool,
) (*wire.LinkHitRate, error) {
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
		if key, ok = fold.AppendJoinKey(key[:0], v, numeric); ok && found(key) {
			continue
		}
		rate.OrphanCount++
		text = v.AppendText(text[:0])
		i, known := slices.BinarySearchFunc(rate.OrphanSamples, text, compareText)
		if known || i == wire.MaxOrphanSamples {
			continue
		}
		// Rows check their text; a sample is no part of a row.
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
