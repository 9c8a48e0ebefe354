package platform

import (
	"cmp"
	"errors"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/fold"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// folding is an aggregate whose names have been looked up, and its groups so far.
type folding struct {
	req      *wire.AggregateRequest
	table    *wire.Table
	limit    int64
	query    wire.QueryRequest // the rows to fold
	hops     []hop
	keys     []operand
	measures []operand
	columns  []wire.Column // of the answer
	groups   *fold.Groups
	budget   *budget
}

// operand is a group key or a measure.
type operand struct {
	name  string
	field *wire.Field // nil: rows are counted
	typ   wire.Type
	grain wire.Grain
	fn    wire.AggFunc
}

// planFold looks up the names of an aggregate, and plans the query whose rows can
// be folded into it. It refuses what has no exact answer.
func (c *Connection) planFold(req *wire.AggregateRequest) (*folding, error) {
	table, err := c.table(req.Table)
	if err != nil {
		return nil, err
	}
	if len(req.GroupBy)+len(req.Measures) == 0 {
		return nil, refuse("groupBy and measures are both empty")
	}
	f := &folding{
		req: req, table: table, limit: cmp.Or(req.Limit, wire.AggregateLimit),
		query: wire.QueryRequest{Table: req.Table, Where: req.Where, Joins: req.Joins},
	}
	if f.hops, err = c.planJoins(table, req.Joins); err != nil {
		return nil, err
	}
	var joined []joinedField
	for _, h := range f.hops {
		for i, column := range h.columns {
			joined = append(joined, joinedField{column.Name, h.table.Field(h.hop.Fields[i].Field)})
		}
	}
	names := map[string]bool{}
	add := func(as string, t wire.Type) error {
		if names[as] {
			return refuse("two columns of the aggregate are named %s", wire.QuoteName(as))
		}
		names[as] = true
		f.columns = append(f.columns, wire.Column{Name: as, Type: t})
		return nil
	}
	for _, g := range req.GroupBy {
		k, err := f.operand(g.Field, joined)
		if err != nil {
			return nil, err
		}
		t := k.typ
		if k.grain = g.Grain; g.Grain != "" {
			if !g.Grain.Known() {
				return nil, refuse("groupBy: %q is none of the grains year, quarter, month, day", g.Grain)
			}
			if t != wire.TypeDate && t != wire.TypeDatetime {
				return nil, refuse("groupBy: field %s is no date and has no grain", wire.QuoteName(g.Field))
			}
			t = wire.TypeDate
		}
		f.keys = append(f.keys, k)
		if err := add(g.As, t); err != nil {
			return nil, err
		}
	}
	for _, m := range req.Measures {
		k := operand{}
		if m.Field != "" {
			if k, err = f.operand(m.Field, joined); err != nil {
				return nil, err
			}
		}
		k.fn = m.Fn
		t, err := k.result()
		if err != nil {
			return nil, err
		}
		f.measures = append(f.measures, k)
		if err := add(m.As, t); err != nil {
			return nil, err
		}
	}
	f.locate(joined)
	return f, nil
}

// joinedField is a field that a join adds to the rows.
type joinedField struct {
	as    string
	field *wire.Field
}

// operand finds a field of the base table, or of a join under its "as".
func (f *folding) operand(name string, joined []joinedField) (operand, error) {
	field := f.table.Field(name)
	found := 0
	if field != nil {
		found++
		if !slices.Contains(f.query.Fields, name) {
			f.query.Fields = append(f.query.Fields, name)
		}
	}
	for _, j := range joined {
		if j.as == name {
			field = j.field
			found++
		}
	}
	switch {
	case found == 0:
		return operand{}, refuse("table %s has no field %s", wire.QuoteName(f.table.Name), wire.QuoteName(name))
	case found > 1:
		return operand{}, refuse("several columns of the joined rows are named %s", wire.QuoteName(name))
	}
	return operand{name: name, field: field, typ: field.Type}, nil
}

// result returns the type of a measure. It refuses one without an exact answer.
func (m *operand) result() (wire.Type, error) {
	if m.field == nil && m.fn != wire.AggCount {
		return "", refuse("measures: %s needs a field", m.fn)
	}
	switch m.fn {
	case wire.AggCount:
		return wire.TypeNumber, nil
	case wire.AggCountDistinct:
		return wire.TypeNumber, nil
	case wire.AggSum:
		if !m.typ.Numeric() {
			return "", refuse("measures: a sum over field %s, which is no number", wire.QuoteName(m.name))
		}
		return wire.TypeDecimal, nil
	case wire.AggMin, wire.AggMax:
		switch m.typ {
		case wire.TypeBoolean, wire.TypeJSON, wire.TypeArray:
			return "", refuse("measures: the values of field %s have no order", wire.QuoteName(m.name))
		}
		return m.typ, nil
	}
	return "", refuse("measures: %q is none of the functions count, sum, min, max, count_distinct", m.fn)
}

// locate finds the cells of the operands in a row of the query: its base fields
// come first, then those of the joins.
func (f *folding) locate(joined []joinedField) {
	names := slices.Clone(f.query.Fields)
	for _, j := range joined {
		names = append(names, j.as)
	}
	keys, measures := make([]fold.Key, len(f.keys)), make([]fold.Measure, len(f.measures))
	for i, k := range f.keys {
		keys[i] = fold.Key{At: slices.Index(names, k.name), Type: k.typ, Grain: k.grain}
	}
	for i, m := range f.measures {
		measures[i] = fold.Measure{Fn: m.fn, At: slices.Index(names, m.name), Type: m.typ}
		if m.field == nil {
			measures[i].At = -1
		}
	}
	f.groups = fold.NewGroups(keys, measures, f.limit, func(bytes int) bool { return f.budget.spend(bytes) })
}

// add folds one row into its group.
func (f *folding) add(row []wire.Value) error {
	err := f.groups.Add(row)
	var e *fold.CellError
	switch {
	case errors.Is(err, fold.ErrGroups):
		return &GroupsError{f.limit}
	case errors.Is(err, fold.ErrBudget):
		return f.budget.over("the groups and distinct values of table "+wire.QuoteName(f.table.Name), "group by fewer or coarser fields")
	case !errors.As(err, &e):
		return err
	case e.Key >= 0:
		return refuse("a %s over field %s, which %s", f.keys[e.Key].grain, wire.QuoteName(f.keys[e.Key].name), e.Problem)
	}
	m := f.measures[e.Measure]
	return refuse("%s over field %s, which %s", m.fn, wire.QuoteName(m.name), e.Problem)
}
