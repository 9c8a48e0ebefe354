package oracle

import (
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// plan is an aggregate whose columns and types have been resolved.
type plan struct {
	answer           *Table // without rows
	groups, measures []source
}

// source is the column that a group or a measure reads, -1 for none.
type source struct {
	column int
	t      wire.Type
}

func planAggregate(t *Table, req *wire.AggregateRequest) (*plan, error) {
	p := &plan{answer: &Table{Name: t.Name}}
	// Undefined is returned only if nothing else is wrong, because an unknown
	// field must be refused, not declined.
	var undefined error
	for _, g := range req.GroupBy {
		s, err := t.source(g.Field, "groupBy", req)
		if err != nil {
			return nil, err
		}
		c := wire.Column{Name: g.As, Type: s.t}
		if g.Grain != "" {
			if !terms.IsGrain(g.Grain) {
				return nil, &Malformed{Detail: fmt.Sprintf("groupBy: %q is not a grain", g.Grain)}
			}
			if s.t != wire.TypeDate && s.t != wire.TypeDatetime && s.t != "" {
				undefined = &Undefined{Detail: fmt.Sprintf("grain over %q, whose type is %q", g.Field, s.t)}
			}
			c.Type = wire.TypeDate // the first day of the period
		}
		p.groups = append(p.groups, s)
		p.answer.Columns = append(p.answer.Columns, c)
	}
	for _, m := range req.Measures {
		if !terms.IsAggFunc(m.Fn) {
			return nil, &Malformed{Detail: fmt.Sprintf("measure: %q is not a function", m.Fn)}
		}
		s := source{column: -1}
		if m.Field != "" {
			var err error
			if s, err = t.source(m.Field, "measure", req); err != nil {
				return nil, err
			}
		} else if m.Fn != wire.AggCount {
			return nil, &Malformed{Detail: fmt.Sprintf("measure: %s without a field", m.Fn)}
		}
		c := wire.Column{Name: m.As, Type: wire.TypeNumber}
		switch m.Fn {
		case wire.AggSum:
			if !s.t.Numeric() {
				undefined = &Undefined{Detail: fmt.Sprintf("sum over %q, whose type is %q", m.Field, s.t)}
			}
		case wire.AggMin, wire.AggMax:
			c.Type = s.t
			if s.t == wire.TypeBoolean || s.t == wire.TypeJSON || s.t == wire.TypeArray {
				undefined = &Undefined{Detail: fmt.Sprintf("%s over %q, whose type is %q", m.Fn, m.Field, s.t)}
			}
		}
		p.measures = append(p.measures, s)
		p.answer.Columns = append(p.answer.Columns, c)
	}
	return p, undefined
}

// source returns the column of the joined rows with this name, and its type. Two
// columns of one name are an error. An undeclared column is text if stringFields
// names it.
func (t *Table) source(name, where string, req *wire.AggregateRequest) (source, error) {
	found := -1
	for i, c := range t.Columns {
		if c.Name == name && found >= 0 {
			return source{}, &Malformed{Detail: fmt.Sprintf("%s: two columns of the joined rows are named %q", where, name)}
		}
		if c.Name == name {
			found = i
		}
	}
	if found < 0 {
		return source{}, &UnknownField{Table: t.Name, Field: name, Where: where}
	}
	s := source{column: found, t: t.typeOf(found, req.FieldTypes)}
	if s.t == "" && slices.Contains(req.StringFields, name) {
		s.t = wire.TypeString
	}
	return s, nil
}
