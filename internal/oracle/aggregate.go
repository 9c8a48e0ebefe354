package oracle

import (
	"fmt"
	"slices"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Aggregate returns the right answer to an aggregate: one row for each group, in
// the order in which the groups first appear. Its columns are the groups and the
// measures under their "as". Aggregate returns all groups: the caller compares
// their number with the limit of the request. It returns an *Undefined if no
// exact answer exists, for instance for a sum over text.
func Aggregate(tables Tables, req *wire.AggregateRequest) (*Table, error) {
	return Reading{}.aggregate(tables, req)
}

func (r Reading) aggregate(tables Tables, req *wire.AggregateRequest) (*Table, error) {
	if len(req.GroupBy)+len(req.Measures) == 0 {
		return nil, &Malformed{Detail: "aggregate: neither groupBy nor measures"}
	}
	t, err := tables.table(req.Table)
	if err != nil {
		return nil, err
	}
	if t, err = r.filter(t, req.Where); err != nil {
		return nil, err
	}
	if t, err = r.join(tables, t, req.Joins, req.FieldTypes); err != nil {
		return nil, err
	}

	plan, err := planAggregate(t, req)
	if err != nil {
		return nil, err
	}

	type group struct {
		keys  []wire.Value
		folds []fold
	}
	groups := map[string]*group{}
	var order []*group
	begin := func(keys []wire.Value) *group {
		g := &group{keys: keys, folds: make([]fold, len(req.Measures))}
		for i, m := range req.Measures {
			t := plan.measures[i].t
			g.folds[i] = fold{measure: m, by: r.rule(t), distinctBy: r.distinctRule(t)}
		}
		order = append(order, g)
		return g
	}
	if len(req.GroupBy) == 0 {
		groups[""] = begin(nil) // one row, even over no rows
	}
	var id []byte
	keys := make([]wire.Value, len(req.GroupBy))
	for _, row := range t.Rows {
		id = id[:0]
		for i, g := range req.GroupBy {
			v := cell(row, plan.groups[i].column)
			if g.Grain != "" {
				if v, err = period(v, g); err != nil {
					return nil, err
				}
			}
			keys[i] = v
			id = keyOf(v, r.groupRule(plan.answer.Columns[i].Type)).identity().appendTo(id)
		}
		g := groups[string(id)]
		if g == nil {
			g = begin(slices.Clone(keys)) // the key as the first row of the group spells it
			groups[string(id)] = g
		}
		for i := range g.folds {
			f := &g.folds[i]
			if column := plan.measures[i].column; column >= 0 {
				f.add(cell(row, column))
			} else {
				f.add(wire.Null())
			}
		}
	}
	for _, g := range order {
		row := g.keys
		for i := range g.folds {
			v, err := g.folds[i].value()
			if err != nil {
				return nil, err
			}
			row = append(row, v)
		}
		plan.answer.Rows = append(plan.answer.Rows, row)
	}
	return plan.answer, nil
}

// period returns the first day, in UTC, of the period in which a cell lies.
func period(v wire.Value, g wire.GroupKey) (wire.Value, error) {
	if v.IsNull() {
		return v, nil // nulls are a group of their own
	}
	at, ok := parseInstant(v.String())
	if !ok {
		return v, &Undefined{Detail: fmt.Sprintf("grain over %q: a cell is no date", g.Field)}
	}
	year, month, day := at.date().Date()
	switch g.Grain {
	case wire.GrainYear:
		month, day = time.January, 1
	case wire.GrainQuarter:
		month, day = (month-1)/3*3+1, 1
	case wire.GrainMonth:
		day = 1
	}
	first := wire.Date(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
	if first.Kind() == wire.KindInvalid {
		return v, &Undefined{Detail: fmt.Sprintf("grain over %q: a period begins outside the years 0 to 9999", g.Field)}
	}
	return first, nil
}
