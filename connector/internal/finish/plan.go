// Package finish does to a query's rows what the source has not done itself: it
// filters, sorts, cuts the window and picks the requested fields.
package finish

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Plan is what one query asks, and how much of it the document lets the library
// do. It does not change.
type Plan struct {
	Request     *wire.QueryRequest
	Table       *wire.Table   // from the Describer; nil without one
	Joined      []*wire.Table // that each hop leads to, likewise
	MaxSortKeys int           // the number of sort keys that the document declares
	MaxOffset   int64         // the largest offset that the document declares
	SortBudget  int64         // the rows that a heap may hold
	SQL         bool          // the answer is whatever columns come; the Request is empty
}

// WithTrivialClaims returns s with filters (or sort) marked as served when the
// request has none.
func (p *Plan) WithTrivialClaims(s wire.Served) wire.Served {
	s.Filters = s.Filters || !p.Request.HasFilters()
	s.Sort = s.Sort || len(p.Request.Sort) == 0
	return s
}

// WindowAllowed reports whether the window may be cut. A larger offset than the
// document declares is answered unserved and in full [rule query-8].
func (p *Plan) WindowAllowed() bool { return p.Request.Offset <= p.MaxOffset }

// place names a column: a hop may have one of the same name.
type place struct {
	name string
	hop  int
}

// positions are the indexes of the columns. Each list of a request is looked up in
// it, because list and table may both be long.
type positions map[place]int

// base returns the index of a column of the base table, or -1.
func (p positions) base(name string) int { return p.of(name, 0) }

func (p positions) of(name string, hop int) int {
	if at, ok := p[place{name, hop}]; ok {
		return at
	}
	return -1
}

// typed checks the columns a source begins with, and returns them with the types
// that the table's description knows.
func (p *Plan) typed(columns []wire.Column) ([]wire.Column, positions, error) {
	types := p.types()
	own := make([]wire.Column, len(columns))
	at := make(positions, len(columns))
	hops := len(p.Request.Joins)
	for i, c := range columns {
		_, seen := at[place{c.Name, c.Hop}]
		name := terms.QuoteName(c.Name)
		switch {
		case seen && p.SQL:
			return nil, nil, wire.Errorf(wire.CodeBadRequest,
				"sql: two columns of the result are named %s; give one of them an alias", name)
		case seen:
			return nil, nil, fmt.Errorf("the source began with two columns named %s", name)
		case c.Hop < 0 || c.Hop > hops:
			return nil, nil, fmt.Errorf("the source began with column %s of hop %d; the request has %d hops",
				name, c.Hop, hops)
		case c.Type != "" && !terms.IsType(c.Type):
			return nil, nil, fmt.Errorf("the source began with column %s of the unknown type %q", name, c.Type)
		}
		at[place{c.Name, c.Hop}] = i
		if c.Type == "" {
			c.Type = types[place{c.Name, c.Hop}]
		}
		own[i] = c
	}
	return own, at, nil
}

// types returns the types of the columns that the descriptions of the tables know.
func (p *Plan) types() map[place]wire.Type {
	types := map[place]wire.Type{}
	if p.Table != nil {
		for i := range p.Table.Fields {
			f := &p.Table.Fields[i]
			types[place{f.Name, 0}] = f.Type
		}
	}
	for i, t := range p.Joined {
		if t == nil {
			continue
		}
		for _, f := range p.Request.Joins[i].Fields {
			if own := t.Field(f.Field); own != nil {
				types[place{f.As, i + 1}] = own.Type
			}
		}
	}
	return types
}

// members returns the names of a row's members, and the position of each one's
// cell among the columns: the requested fields, then those of each join.
func (p *Plan) members(columns []wire.Column, at positions) (names []string, from []int, err error) {
	if p.SQL {
		for i, c := range columns {
			names, from = append(names, c.Name), append(from, i)
		}
		return names, from, nil
	}
	for _, f := range p.Request.Fields {
		i := at.base(f)
		if i < 0 {
			return nil, nil, p.missing(f, f, p.Request.Table)
		}
		names, from = append(names, f), append(from, i)
	}
	for hop, j := range p.Request.Joins {
		for _, f := range j.Fields {
			i := at.of(f.As, hop+1)
			if i < 0 {
				return nil, nil, p.missing(f.As, f.Field, j.ToTable)
			}
			names, from = append(names, f.As), append(from, i)
		}
	}
	return names, from, nil
}

// missing returns the error for a requested column that the source did not begin
// with. If the description has the field, the source is at fault. Otherwise the
// table has no such field [rule filter-11].
func (p *Plan) missing(column, field, table string) error {
	if p.Table != nil {
		return forgotten(column)
	}
	return wire.Errorf(wire.CodeUnknownEntity, "table %s has no field %s",
		terms.QuoteName(table), terms.QuoteName(field))
}

func forgotten(column string) error {
	return fmt.Errorf("the source began without column %s, which its description of the table has",
		terms.QuoteName(column))
}

// match compiles the filters. It refuses columns without which they cannot be
// evaluated.
func (p *Plan) match(columns []wire.Column, at positions) (*filter.Matcher, error) {
	for f := range p.Request.Filters() {
		switch {
		case at.base(f.Field) >= 0:
		case p.Table != nil:
			return nil, forgotten(f.Field)
		default:
			return nil, wire.Errorf(wire.CodeUnsupported, "table %s has no field %s to filter by",
				terms.QuoteName(p.Request.Table), terms.QuoteName(f.Field))
		}
	}
	return filter.Compile(p.Request.Where, columns)
}

// order compiles the sort of rows that keep only the cells that it or the answer
// needs, those at from. It returns the positions of the cells to keep. Ties are
// broken by the primary key and then by what the answer shows, so that pages
// compose: rows without a difference there are equal to the reader.
func (p *Plan) order(columns []wire.Column, at positions, from []int) (order *filter.Order, keep []int, err error) {
	needed := make([]bool, len(columns))
	for _, i := range from {
		needed[i] = true
	}
	for _, key := range p.Request.Sort {
		i := at.base(key.Field)
		if i < 0 {
			return nil, nil, p.missing(key.Field, key.Field, p.Request.Table)
		}
		needed[i] = true
	}
	var tie []string
	if p.Table != nil {
		tie = p.Table.PrimaryKey
	}
	for _, name := range tie {
		if i := at.base(name); i >= 0 {
			needed[i] = true
		}
	}
	var kept []wire.Column
	for i, c := range columns {
		if needed[i] {
			kept, keep = append(kept, c), append(keep, i)
		}
	}
	order, err = filter.CompileOrder(p.Request.Sort, kept, p.Request.FieldTypes, tie)
	return order, keep, err
}

// canSort reports whether the library sorts for this request: a heap of
// offset+limit rows is within the budget, and the document declares as many keys
// and as large an offset. Otherwise the rows are answered unsorted and in full.
func (p *Plan) canSort() bool {
	r := p.Request
	return r.Limit > 0 && len(r.Sort) <= p.MaxSortKeys && p.WindowAllowed() && r.Offset <= p.SortBudget-r.Limit
}
