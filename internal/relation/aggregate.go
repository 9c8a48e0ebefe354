package relation

import (
	"errors"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Aggregation is an aggregate whose fields have been looked up in the columns of its
// rows.
type Aggregation struct {
	// Columns are those of the answer: the keys, then the measures, under their "as".
	Columns  []wire.Column
	Keys     []Key
	Measures []Measure

	req   *wire.AggregateRequest
	match *filter.Matcher
}

// PlanAggregate looks up the fields of a request in the columns of its rows, which may
// be joined. It refuses an unknown field (404), one in a filter (422), and a malformed
// request (400). It declines what has no exact answer: a sum or a grain over a
// column of another type, an extreme of values without an order, and a name that
// several columns have. A refusal has precedence.
func PlanAggregate(columns []wire.Column, req *wire.AggregateRequest) (*Aggregation, error) {
	if len(req.GroupBy)+len(req.Measures) == 0 {
		return nil, wire.Errorf(wire.CodeBadRequest, "groupBy and measures are both empty")
	}
	a := &Aggregation{req: req}
	var err, declined error
	if a.match, err = filter.Compile(req.Where, columns); err != nil {
		return nil, err
	}
	reject := func(format string, args ...any) {
		if declined == nil {
			declined = decline(format, args...)
		}
	}
	places := namesOf(columns)
	text := map[string]bool{}
	for _, field := range req.StringFields {
		text[field] = true
	}
	resolve := func(field string) (int, wire.Type, error) {
		at, matches := places.find(field)
		if matches == 0 {
			return 0, "", wire.Errorf(wire.CodeUnknownEntity, "table %s has no field %s", terms.QuoteName(req.Table), terms.QuoteName(field))
		}
		if matches > 1 {
			reject("several columns are named %q", field)
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
		k := Key{Grain: g.Grain}
		if k.At, k.Type, err = resolve(g.Field); err != nil {
			return nil, err
		}
		t := k.Type
		if g.Grain != "" {
			if !terms.IsGrain(g.Grain) {
				return nil, wire.Errorf(wire.CodeBadRequest, "groupBy[%d].grain: must be year, quarter, month or day", i)
			}
			if t != "" && t != wire.TypeDate && t != wire.TypeDatetime {
				reject("a grain over field %q, which is no date", g.Field)
			}
			t = wire.TypeDate
		}
		a.Keys = append(a.Keys, k)
		a.Columns = append(a.Columns, wire.Column{Name: g.As, Type: t})
	}
	for i, m := range req.Measures {
		k := Measure{Fn: m.Fn, At: -1}
		if m.Field == "" && m.Fn != wire.AggCount {
			return nil, wire.Errorf(wire.CodeBadRequest, "measures[%d].field: required for every fn but count", i)
		}
		if !terms.IsAggFunc(m.Fn) {
			return nil, wire.Errorf(wire.CodeBadRequest, "measures[%d].fn: must be count, sum, min, max or count_distinct", i)
		}
		if m.Field != "" {
			if k.At, k.Type, err = resolve(m.Field); err != nil {
				return nil, err
			}
		}
		t := k.Type
		switch m.Fn {
		case wire.AggCount, wire.AggCountDistinct:
			t = wire.TypeNumber
		case wire.AggSum:
			if !t.Numeric() {
				reject("a sum over field %q, which is no number", m.Field)
			}
			t = wire.TypeDecimal
		case wire.AggMin, wire.AggMax:
			switch t {
			case wire.TypeBoolean, wire.TypeJSON, wire.TypeArray:
				reject("a minimum or maximum over field %q, whose type has no order", m.Field)
			}
		}
		a.Measures = append(a.Measures, k)
		a.Columns = append(a.Columns, wire.Column{Name: m.As, Type: t})
	}
	if declined != nil {
		return nil, declined
	}
	return a, nil
}

// Aggregate folds the rows that match the request's filters into groups, and returns
// these: keys, then measures, in the order of their first rows. Every number is exact.
// It keeps the groups and the distinct values within the budget, and ignores the
// request's joins.
//
// Besides the errors of [PlanAggregate] it declines a cell that does not fit its
// column's type. The request's limit, or more groups, are a [*GroupsError].
func Aggregate(rel Relation, req *wire.AggregateRequest, budget *Budget) ([][]wire.Value, error) {
	a, err := PlanAggregate(rel.Columns, req)
	if err != nil {
		return nil, err
	}
	groups := newGroups(a.Keys, a.Measures, req.Limit, budget)
	for row, err := range rel.Rows {
		if err != nil {
			return nil, err
		}
		ok, err := a.match.Match(row)
		if err != nil {
			return nil, &CellError{err}
		}
		if !ok {
			continue
		}
		if err := groups.add(row); err != nil {
			return nil, a.fault(err, budget)
		}
	}
	return groups.rows(), nil
}

// fault returns the error with which the folding of rows ended, in terms of the request.
func (a *Aggregation) fault(err error, budget *Budget) error {
	req := a.req
	var e *foldError
	switch {
	case errors.Is(err, errGroups):
		return &GroupsError{req.Limit}
	case errors.Is(err, errBudget):
		return budget.over(req.Table, "the groups and distinct values of table %q", req.Table)
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
