package connectortest

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// checkCount compares a count with the number of rows that the filters keep.
func checkCount(p *snapshot, req *wire.CountRequest, got int64) error {
	base, err := p.need(req.Table)
	if err != nil {
		return err
	}
	if err := checkFilters(base, req.Where); err != nil {
		return err
	}
	match, err := filter.Compile(req.Where, base.columns)
	if err != nil {
		return refuse("filter-14", err.Error(), wire.CodeBadRequest)
	}
	var want int64
	for _, row := range base.rows {
		if match.Match(row) {
			want++
		}
	}
	if got != want {
		rule := "count-3"
		if req.HasFilters() {
			rule += "; " + base.rulesOf(req.Where, nil)
		}
		return &violation{rule, "the count is not the number of rows that the filters keep", fmt.Sprint(want), fmt.Sprint(got)}
	}
	return nil
}

// checkSize compares an exact size with the number of rows. Every estimate is
// legal, and so is an unknown size.
func checkSize(p *snapshot, table string, got *wire.Size) error {
	base, err := p.need(table)
	if err != nil {
		return err
	}
	if want := int64(len(base.rows)); got != nil && got.Exact && got.Rows != want {
		return &violation{"measure-4", "the size calls itself exact and is not the number of rows",
			fmt.Sprint(want), fmt.Sprint(got.Rows)}
	}
	return nil
}

// checkCardinality compares the counts of an answer with those of the columns.
// Values that a filter calls equal count as one. A column without counts is
// legal.
func checkCardinality(p *snapshot, req *wire.CardinalityRequest, got map[string]*wire.Cardinality) error {
	base, err := p.need(req.Table)
	if err != nil {
		return err
	}
	for _, name := range req.Columns {
		at := base.place(0, name)
		if at < 0 {
			return refuse("measure-3", fmt.Sprintf("the column %q, which the table does not have", name), wire.CodeUnknownEntity)
		}
		answer, answered := got[name]
		if !answered {
			return &violation{"measure-6", "a column that was asked for is not in the answer",
				fmt.Sprintf("%q", req.Columns), fmt.Sprintf("%q", slices.Sorted(maps.Keys(got)))}
		}
		if answer == nil {
			continue
		}
		var want wire.Cardinality
		distinct := map[string]bool{}
		for _, row := range base.rows {
			if row[at].IsNull() {
				continue
			}
			want.NonNull++
			distinct[base.rowKey(row, []int{at})] = true
		}
		want.Distinct = int64(len(distinct))
		if answer.NonNull != want.NonNull {
			return &violation{"measure-1", fmt.Sprintf("the non-null values of %q are miscounted", name),
				fmt.Sprint(want.NonNull), fmt.Sprint(answer.NonNull)}
		}
		if answer.Distinct != want.Distinct {
			return &violation{"aggregate-2, measure-1", fmt.Sprintf("the distinct values of %q are miscounted", name),
				fmt.Sprint(want.Distinct), fmt.Sprint(answer.Distinct)}
		}
	}
	if len(got) != len(req.Columns) {
		return &violation{"measure-6", "the answer has columns that were not asked for",
			fmt.Sprintf("%q", req.Columns), fmt.Sprintf("%q", slices.Sorted(maps.Keys(got)))}
	}
	return nil
}

// checkLink compares an answer with the values of one column that are not found
// in another.
func checkLink(p *snapshot, req *wire.LinkHitRateRequest, got *wire.LinkHitRate) error {
	from, err := p.need(req.FromTable)
	if err != nil {
		return err
	}
	to, err := p.need(req.ToTable)
	if err != nil {
		return err
	}
	fromAt, toAt := from.place(0, req.FromColumn), to.place(0, req.ToColumn)
	if fromAt < 0 || toAt < 0 {
		return refuse("measure-3", "a link over a column that its table does not have", wire.CodeUnknownEntity)
	}
	numeric := from.columns[fromAt].Type.Numeric() && to.columns[toAt].Type.Numeric()
	targets := map[string]bool{}
	for _, row := range to.rows {
		if key, ok := linkKey(row[toAt], numeric); ok {
			targets[key] = true
		}
	}
	var nonNull, orphans int64
	texts := map[string]bool{}
	for _, row := range from.rows {
		v := row[fromAt]
		if v.IsNull() {
			continue
		}
		nonNull++
		if key, ok := linkKey(v, numeric); !ok || !targets[key] {
			orphans++
			texts[v.String()] = true
		}
	}
	rate := 0.0
	if nonNull > 0 {
		rate = float64(orphans) / float64(nonNull)
	}
	differs := func(what string, want, is any) error {
		return &violation{"measure-2", what + " is wrong", fmt.Sprint(want), fmt.Sprint(is)}
	}
	switch {
	case got.FromNonNull != nonNull:
		return differs("fromNonNull", nonNull, got.FromNonNull)
	case got.OrphanCount != orphans:
		return differs("orphanCount", orphans, got.OrphanCount)
	case math.Abs(got.OrphanRate-rate) > 1e-9:
		return differs("orphanRate", rate, got.OrphanRate)
	}
	for i, text := range got.OrphanSamples {
		if !texts[text] {
			return &violation{"measure-2a", fmt.Sprintf("orphanSamples[%d] is no orphan", i),
				"the text of a value without a match", fmt.Sprintf("%q", text)}
		}
		if i > 0 && got.OrphanSamples[i-1] >= text {
			return &violation{"measure-2a", "orphanSamples are not distinct texts in byte order",
				fmt.Sprintf("%q before %q", text, got.OrphanSamples[i-1]), fmt.Sprintf("%q", got.OrphanSamples)}
		}
	}
	return nil
}
