// Package finish does to a query's rows what the source has not done itself: it
// filters, sorts, cuts the window and picks the requested fields.
package finish

import (
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Plan is what one query asks, and how much of it the document lets the library
// do. It does not change.
type Plan struct {
	Request     *wire.QueryRequest
	Table       *wire.Table // from the Describer; nil without one
	MaxSortKeys int         // the number of sort keys that the document declares
	MaxOffset   int64       // the largest offset that the document declares
	SortBudget  int64       // the rows that a heap may hold
	SQL         bool        // the request is SQL: the answer is whatever columns come
}

// WithTrivialClaims returns s with filters (or sort) marked as served when the
// request has none.
func (p *Plan) WithTrivialClaims(s wire.Served) wire.Served {
	s.Filters = s.Filters || p.SQL || !p.Request.HasFilters()
	s.Sort = s.Sort || p.SQL || len(p.Request.Sort) == 0
	return s
}

// WindowAllowed reports whether the window may be cut. A larger offset than the
// document declares is answered unserved and in full [rule query-8].
func (p *Plan) WindowAllowed() bool { return p.Request.Offset <= p.MaxOffset }

// typed checks the columns a source begins with, and returns them with the types
// that the table's description knows.
func (p *Plan) typed(columns []wire.Column) ([]wire.Column, error) {
	type place struct {
		name string
		hop  int
	}
	own := make([]wire.Column, len(columns))
	seen := make(map[place]bool, len(columns))
	hops := len(p.Request.Joins)
	for i, c := range columns {
		at, name := place{c.Name, c.Hop}, wire.QuoteName(c.Name)
		switch {
		case seen[at] && p.SQL:
			return nil, wire.Errorf(wire.CodeBadRequest,
				"sql: two columns of the result are named %s; give one of them an alias", name)
		case seen[at]:
			return nil, fmt.Errorf("the source began with two columns named %s", name)
		case c.Hop < 0 || c.Hop > hops:
			return nil, fmt.Errorf("the source began with column %s of hop %d; the request has %d hops",
				name, c.Hop, hops)
		case c.Type != "" && !c.Type.Known():
			return nil, fmt.Errorf("the source began with column %s of the unknown type %q", name, c.Type)
		}
		seen[at] = true
		if c.Type == "" && c.Hop == 0 && p.Table != nil {
			if f := p.Table.Field(c.Name); f != nil {
				c.Type = f.Type
			}
		}
		own[i] = c
	}
	return own, nil
}

// members returns the names of a row's members, and the position of each one's
// cell among the columns: the requested fields, then those of each join.
func (p *Plan) members(columns []wire.Column) (names []string, from []int, err error) {
	if p.SQL {
		for i, c := range columns {
			names, from = append(names, c.Name), append(from, i)
		}
		return names, from, nil
	}
	for _, f := range p.Request.Fields {
		at := position(columns, 0, f)
		if at < 0 {
			return nil, nil, p.missing(f, f, p.Request.Table)
		}
		names, from = append(names, f), append(from, at)
	}
	for i, j := range p.Request.Joins {
		for _, f := range j.Fields {
			at := position(columns, i+1, f.As)
			if at < 0 {
				return nil, nil, p.missing(f.As, f.Field, j.ToTable)
			}
			names, from = append(names, f.As), append(from, at)
		}
	}
	return names, from, nil
}

// position returns the index of a column, or -1.
func position(columns []wire.Column, hop int, name string) int {
	return slices.IndexFunc(columns, func(c wire.Column) bool { return c.Hop == hop && c.Name == name })
}

// missing returns the error for a requested column that the source did not begin
// with. If the description has the field, the source is at fault. Otherwise the
// table has no such field [rule filter-11].
func (p *Plan) missing(column, field, table string) error {
	if p.Table != nil {
		return forgotten(column)
	}
	return wire.Errorf(wire.CodeUnknownEntity, "table %s has no field %s",
		wire.QuoteName(table), wire.QuoteName(field))
}

func forgotten(column string) error {
	return fmt.Errorf("the source began without column %s, which its description of the table has",
		wire.QuoteName(column))
}

// match compiles the filters. It refuses columns without which they cannot be
// evaluated.
func (p *Plan) match(columns []wire.Column) (*filter.Program, error) {
	for f := range p.Request.Filters() {
		switch {
		case position(columns, 0, f.Field) >= 0:
		case p.Table != nil:
			return nil, forgotten(f.Field)
		default:
			return nil, wire.Errorf(wire.CodeUnsupported, "table %s has no field %s to filter by",
				wire.QuoteName(p.Request.Table), wire.QuoteName(f.Field))
		}
	}
	return filter.Compile(p.Request.Where, columns)
}

// order compiles the sort. Ties are broken by the primary key, so that pages
// compose.
func (p *Plan) order(columns []wire.Column) (*filter.Order, error) {
	for _, key := range p.Request.Sort {
		if position(columns, 0, key.Field) < 0 {
			return nil, p.missing(key.Field, key.Field, p.Request.Table)
		}
	}
	var tie []string
	if p.Table != nil {
		tie = p.Table.PrimaryKey
	}
	return filter.CompileOrder(p.Request.Sort, columns, p.Request.FieldTypes, tie)
}

// canSort reports whether the library sorts for this request: a heap of
// offset+limit rows is within the budget, and the document declares as many keys
// and as large an offset. Otherwise the rows are answered unsorted and in full.
func (p *Plan) canSort() bool {
	r := p.Request
	return r.Limit > 0 && len(r.Sort) <= p.MaxSortKeys && p.WindowAllowed() && r.Offset <= p.SortBudget-r.Limit
}
