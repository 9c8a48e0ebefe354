package memsource

import (
	"errors"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/fold"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Aggregate groups the rows that match a request's filters and computes the
// measures of each group. It is the answer of a connector.Aggregator that reads
// rows. Every number is exact; a request that
// cannot be answered exactly is declined.
//
//   - count counts rows, or the non-null cells of its field; count_distinct the
//     distinct non-null cells. min, max and sum over nothing are null
//     [rule aggregate-1b].
//   - sum is a string of plain digits, with the largest scale of its addends:
//     10,000 times 0.1 is "1000.0". It works for number and decimal columns; a
//     float adds the digits that it has on the wire.
//   - min and max are spelled as in the first row that has them. They work for
//     numbers, text and dates.
//   - Groups and distinct values compare like filters: 1.5 and 1.50 are one
//     group, spelled as in its first row. Groups come in the order of their
//     first rows. Null is a group. Text always compares byte for byte; a field
//     of an undeclared type that stringFields names is text [rule aggregate-5].
//   - A grain answers the period's first day in UTC, for date and datetime
//     columns, and for undeclared columns that hold only dates.
//   - Joined rows ([Join]) may be grouped by their base fields and by the "as"
//     of their hops. Aggregate ignores the request's Joins.
//
// Aggregate declines (connector.ErrDecline, 204; the error says why):
//
//   - a sum or grain over another type; a min or max over booleans, json or
//     arrays;
//   - a cell that does not fit its column's declared type, such as "n/a" among
//     numbers or a malformed date;
//   - a min or max over an undeclared column that mixes numbers and other text,
//     which have no common order;
//   - a field name that several columns have;
//   - what exceeds the budget ([BudgetError]): groups and their keys, distinct
//     values and sums.
//
// It never cuts the answer: it refuses req.Limit or more groups with 422
// [rule aggregate-6]; a limit of zero means none. It refuses an unknown field
// with 404, in a filter with 422, and a malformed request with 400.
func Aggregate(rel Relation, req *wire.AggregateRequest, budget Budget) ([][]wire.Value, error) {
	a, err := planAggregate(rel.Columns, req)
	if err != nil {
		return nil, err
	}
	tally := budget.open()
	groups := fold.NewGroups(a.keys, a.measures, req.Limit, tally.spend)
	for row, err := range rel.Rows {
		if err != nil {
			return nil, err
		}
		ok, err := a.match.Match(row)
		if err != nil {
			return nil, fmt.Errorf("memsource: %w", err)
		}
		if !ok {
			continue
		}
		if err := groups.Add(row); err != nil {
			return nil, refusal(err, req, tally)
		}
	}
	return groups.Rows(), nil
}

// refusal returns what the folding of a request's rows ended with, as an answer.
func refusal(err error, req *wire.AggregateRequest, tally *tally) error {
	var e *fold.CellError
	switch {
	case errors.Is(err, fold.ErrGroups):
		return connector.Unsupported(
			"the aggregate has %d groups or more: group by fewer or coarser fields, or filter more", req.Limit)
	case errors.Is(err, fold.ErrBudget):
		return tally.over(connector.ErrDecline, "the groups and distinct values of table %q", req.Table)
	case !errors.As(err, &e):
		return err
	}
	what, field := "a grain", ""
	if e.Key >= 0 {
		field = req.GroupBy[e.Key].Field
	} else {
		field = req.Measures[e.Measure].Field
		what = "a sum"
		if fn := req.Measures[e.Measure].Fn; fn == wire.AggMin || fn == wire.AggMax {
			what = "a minimum or maximum"
		}
	}
	if e.Err != nil {
		return invalidCell(req.Table, field, e.Err)
	}
	return decline("%s over field %q, which %s", what, field, e.Problem)
}

// aggregation is an aggregate whose fields are resolved.
type aggregation struct {
	match    *filter.Matcher
	keys     []fold.Key
	measures []fold.Measure
}

// planAggregate resolves the fields of a request. It refuses or declines what it
// can judge without rows; a refusal has precedence.
func planAggregate(columns []wire.Column, req *wire.AggregateRequest) (*aggregation, error) {
	if len(req.GroupBy)+len(req.Measures) == 0 {
		return nil, connector.BadRequest("groupBy and measures are both empty")
	}
	a := &aggregation{}
	var err, declined error
	if a.match, err = filter.Compile(req.Where, columns); err != nil {
		return nil, err
	}
	places := namesOf(columns)
	text := map[string]bool{}
	for _, field := range req.StringFields {
		text[field] = true
	}
	resolve := func(field string) (int, wire.Type, error) {
		at, matches := places.find(field)
		if matches == 0 {
			return 0, "", noField(req.Table, field)
		}
		if matches > 1 && declined == nil {
			declined = decline("several columns are named %q", field)
		}
		t := columns[at].Type
		if t == "" && text[field] {
			t = wire.TypeString
		}
		if t == "" && columns[at].Hop == 0 {
			t = req.FieldTypes[field]
		}
		return at, t, nil
	}
	for i, g := range req.GroupBy {
		k := fold.Key{Grain: g.Grain}
		if k.At, k.Type, err = resolve(g.Field); err != nil {
			return nil, err
		}
		switch {
		case g.Grain == "":
		case !g.Grain.Known():
			return nil, connector.BadRequest("groupBy[%d].grain: must be year, quarter, month or day", i)
		case k.Type != "" && k.Type != wire.TypeDate && k.Type != wire.TypeDatetime && declined == nil:
			declined = decline("a grain over field %q, which is no date", g.Field)
		}
		a.keys = append(a.keys, k)
	}
	for i, m := range req.Measures {
		k := fold.Measure{Fn: m.Fn, At: -1}
		if m.Field == "" && m.Fn != wire.AggCount {
			return nil, connector.BadRequest("measures[%d].field: required for every fn but count", i)
		}
		if !m.Fn.Known() {
			return nil, connector.BadRequest("measures[%d].fn: must be count, sum, min, max or count_distinct", i)
		}
		if m.Field != "" {
			if k.At, k.Type, err = resolve(m.Field); err != nil {
				return nil, err
			}
		}
		switch {
		case declined != nil:
		case m.Fn == wire.AggSum && !k.Type.Numeric():
			declined = decline("a sum over field %q, which is no number", m.Field)
		case m.Fn == wire.AggMin || m.Fn == wire.AggMax:
			switch k.Type {
			case wire.TypeBoolean, wire.TypeJSON, wire.TypeArray:
				declined = decline("a minimum or maximum over field %q, whose type has no order", m.Field)
			}
		}
		a.measures = append(a.measures, k)
	}
	if declined != nil {
		return nil, declined
	}
	return a, nil
}
