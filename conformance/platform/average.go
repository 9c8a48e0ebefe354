package platform

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Avg is the function of a measure that takes the average of the values that are not null,
// and is null over none. It is for a [Connection] alone: a connector is never asked for an
// average [rule aggregate-12], but for the sum and the count of the values, and the quotient
// is taken here.
//
// The result is a decimal. It is exact if it has at most 20 digits behind the point, or at
// most as many as the sum has, if these are more. Otherwise it is rounded to so many digits,
// half away from zero. It has no zeros at its end that say nothing, so that it does not
// depend on how a connector spells the sum.
const Avg wire.AggFunc = "avg"

// averageScale is the number of digits behind the point of an average that has more.
const averageScale = 20

// averages turn the measures of an answer into those that were asked for.
type averages struct {
	asked []wire.Measure
	keys  int
	at    []int // the measure of the answer that each asked one is, or the sum of an average
	count []int // the count of an average; -1 for other measures
}

// withoutAverages returns a request that asks for a sum and a count in the place of each
// average, and how to read its answer; nil if it asks for no average.
func withoutAverages(req wire.AggregateRequest) (wire.AggregateRequest, *averages, error) {
	a := &averages{asked: req.Measures, keys: len(req.GroupBy)}
	if !slices.ContainsFunc(req.Measures, func(m wire.Measure) bool { return m.Fn == Avg }) {
		return req, nil, nil
	}
	taken := map[string]bool{}
	for _, k := range req.GroupBy {
		taken[k.As] = true
	}
	for _, m := range req.Measures {
		if taken[m.As] {
			return req, nil, refuse("two columns of the aggregate are named %s", terms.QuoteName(m.As))
		}
		taken[m.As] = true
	}
	req.Measures = nil
	add := func(m wire.Measure) int {
		req.Measures = append(req.Measures, m)
		return len(req.Measures) - 1
	}
	part := func(fn wire.AggFunc, field string) int {
		same := func(m wire.Measure) bool { return m.Fn == fn && m.Field == field }
		if at := slices.IndexFunc(req.Measures, same); at >= 0 {
			return at
		}
		name := fmt.Sprintf("%s_%s", fn, field)
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s_%s_%d", fn, field, n)
		}
		taken[name] = true
		return add(wire.Measure{Fn: fn, Field: field, As: name})
	}
	a.at, a.count = make([]int, len(a.asked)), make([]int, len(a.asked))
	for i, m := range a.asked {
		if m.Fn != Avg {
			a.at[i], a.count[i] = add(m), -1
		} else if m.Field == "" {
			return req, nil, refuse("measures[%d].field: required for every fn but count", i)
		}
	}
	for i, m := range a.asked { // after the others, one of which may be the sum or the count
		if m.Fn == Avg {
			a.at[i], a.count[i] = part(wire.AggSum, m.Field), part(wire.AggCount, m.Field)
		}
	}
	return req, a, nil
}

// of returns the measures that were asked for, with their averages.
func (a *averages) of(groups *Groups) error {
	columns := slices.Clone(groups.Columns[:a.keys])
	for i, m := range a.asked {
		column := groups.Columns[a.keys+a.at[i]]
		column.Name = m.As
		columns = append(columns, column)
	}
	for n, row := range groups.Rows {
		asked := slices.Clone(row[:a.keys])
		for i := range a.asked {
			v := row[a.keys+a.at[i]]
			if a.count[i] >= 0 {
				count := countOf(row[a.keys+a.count[i]])
				if v.IsNull() != (count == 0) {
					return &AnswerError{Path: wire.PathAggregate, Place: fmt.Sprintf("rows[%d].%s", n, groups.Columns[a.keys+a.at[i]].Name),
						Rule: "aggregate-1b", Problem: fmt.Sprintf("is the sum over %d values; a sum is null over none, and only then", count)}
				}
				v = quotient(v, count)
			}
			asked = append(asked, v)
		}
		groups.Rows[n] = asked
	}
	groups.Columns = columns
	return nil
}

// quotient divides a sum by a count, as [Avg] says.
func quotient(sum wire.Value, count int64) wire.Value {
	if sum.IsNull() {
		return sum
	}
	total, _ := new(big.Rat).SetString(sum.String()) // a decimal, as an answer has to spell it
	_, fraction, _ := strings.Cut(sum.String(), ".")
	text := total.Quo(total, new(big.Rat).SetInt64(count)).FloatString(max(averageScale, len(fraction)))
	text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	if text == "-0" {
		text = "0"
	}
	return wire.Decimal(text)
}
