// Package compare holds an answer against the one that the rows of its tables give. The checks of the corpus, of live
// data and of tenants share it: they differ in what they ask, and in what they make of a difference.
package compare

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// By says which readings of the protocol an answer may follow.
type By struct{ rows, groups []oracle.Reading }

var (
	// Strictly accepts our decisions alone.
	Strictly = By{rows: []oracle.Reading{{}}, groups: []oracle.Reading{{}}}
	// Leniently accepts every reading. Those of groups mean nothing to rows.
	Leniently = By{rows: []oracle.Reading{{}, {DatesAsText: true}}, groups: oracle.Readings()}
)

// Rows compares the final rows of a query.
func (by By) Rows(tables oracle.Tables, req *wire.QueryRequest, rows [][]wire.Value) *oracle.Difference {
	return under(by.rows, func(r oracle.Reading) *oracle.Difference { return r.Verify(tables, req, rows) })
}

// Unmatched returns the index of the first row that does not pass the filters, or -1 if all rows do.
func (by By) Unmatched(t *oracle.Table, where wire.Where) (first int) {
	for i, r := range by.rows {
		at, ok := r.Unmatched(t, where)
		if ok {
			return -1
		}
		if i == 0 {
			first = at
		}
	}
	return first
}

// under returns nil if an answer is right under one of the readings, otherwise the difference from the first.
func under(readings []oracle.Reading, verify func(oracle.Reading) *oracle.Difference) (first *oracle.Difference) {
	for _, r := range readings {
		d := verify(r)
		if d == nil {
			return nil
		}
		if first == nil {
			first = d
		}
	}
	return first
}

// Answer compares the answer of a route that counts or measures. It returns how many parts of
// the answer say something: an estimate does not, nor does null for what is unknown.
func (by By) Answer(tables oracle.Tables, m wire.Request, got wire.Answer) (said int, d *oracle.Difference) {
	switch m := m.(type) {
	case *wire.CountRequest:
		want, err := oracle.Count(tables, m)
		if err != nil {
			return 1, &oracle.Difference{Detail: err.Error()}
		}
		return 1, number("count", want, want, got.(*wire.CountAnswer).Count)
	case *wire.SizeRequest:
		size := got.(*wire.SizeAnswer).Size
		if size == nil || !size.Exact {
			return 0, nil
		}
		want := int64(len(tables[m.Table].Rows))
		return 1, number("size, which is called exact,", want, want, size.Rows)
	case *wire.AggregateRequest:
		rows := got.(*wire.AggregateAnswer).Rows
		return 1, under(by.groups, func(r oracle.Reading) *oracle.Difference { return r.VerifyGroups(tables, m, rows) })
	case *wire.CardinalityRequest:
		for _, column := range m.Columns {
			if counts := got.(*wire.CardinalityAnswer).Columns[column]; counts != nil {
				said++
				if d == nil {
					d = by.cardinality(tables[m.Table], column, counts)
				}
			}
		}
		return said, d
	case *wire.LinkHitRateRequest:
		return 1, oracle.VerifyLinkHitRate(tables, m, got.(*wire.LinkHitRate))
	}
	panic(fmt.Sprintf("conformance: no answer to a %T is compared here", m))
}

// cardinality compares the counts of a column. Whether two spellings of a number are one value is our decision.
func (by By) cardinality(t *oracle.Table, column string, got *wire.Cardinality) *oracle.Difference {
	want, err := oracle.Cardinality(t, column)
	other := want.Distinct
	if err == nil && len(by.groups) > 1 {
		_, other, err = oracle.DistinctRange(t, column)
	}
	if err != nil {
		return &oracle.Difference{Detail: err.Error()}
	}
	of := " of column " + terms.QuoteName(column)
	if d := number("nonNull"+of, want.NonNull, want.NonNull, got.NonNull); d != nil {
		return d
	}
	return number("distinct"+of, want.Distinct, other, got.Distinct)
}

// number returns the difference of a number outside of a range.
func number(what string, from, to, got int64) *oracle.Difference {
	if min(from, to) <= got && got <= max(from, to) {
		return nil
	}
	return differ("the "+what+" is not what the rows give", fmt.Sprint(from), fmt.Sprint(got))
}
