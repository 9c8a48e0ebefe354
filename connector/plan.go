package connector

import (
	"fmt"
	"math"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// plan is what one query asks and how much of it the document lets the SDK do.
// It does not change.
type plan struct {
	req       *QueryRequest // as the source sees it: without its window
	offset    int64
	limit     int64       // 0: none
	table     *wire.Table // from the Describer; nil without one
	sortKeys  int         // the most the document declares
	offsetMax int64       // the largest the document declares
	budget    int64       // rows a heap may hold
	sql       bool        // dialect mode: whatever columns come are the answer
}

// plan splits req into what the source sees and the window.
func (h *Handler) plan(req *wire.QueryRequest, table *wire.Table) plan {
	p := plan{
		req: &QueryRequest{
			Table: req.Table, Where: req.Where, Sort: req.Sort, Fields: req.Fields,
			Windowed: req.Offset > 0 || req.Limit > 0, Joins: req.Joins, Envelope: req.Envelope,
		},
		offset: req.Offset, limit: req.Limit, table: table,
		budget: h.opts.SortBudget, offsetMax: math.MaxInt64, sortKeys: math.MaxInt,
	}
	caps := h.doc.Capabilities
	switch caps.Sort {
	case wire.SortNone:
		p.sortKeys = 0
	case wire.SortSingle:
		p.sortKeys = 1
	}
	if !caps.Offset {
		p.offsetMax = 0
	} else if caps.Limits.OffsetMax > 0 {
		p.offsetMax = caps.Limits.OffsetMax
	}
	return p
}

// trivially adds to what the source claims what holds of itself: a request
// without a sort is sorted, one without filters is filtered (C2).
func (p *plan) trivially(s wire.Served) wire.Served {
	s.Filters = s.Filters || p.sql || len(p.req.And) == 0 && len(p.req.Or) == 0
	s.Sort = s.Sort || p.sql || len(p.req.Sort) == 0
	return s
}

// windowAllowed: a larger offset than the document declares is answered
// unserved and in full (B8).
func (p *plan) windowAllowed() bool { return p.offset <= p.offsetMax }

// typed checks the columns a source begins with and adds the types that its
// description knows.
func (p *plan) typed(columns []wire.Column) ([]wire.Column, error) {
	type place struct {
		name string
		hop  int
	}
	own := make([]wire.Column, len(columns))
	seen := make(map[place]bool, len(columns))
	for i, c := range columns {
		at := place{c.Name, c.Hop}
		hops := 0
		if p.req != nil {
			hops = len(p.req.Joins)
		}
		switch {
		case seen[at] && p.sql:
			return nil, BadRequest("sql: two columns of the result are named %s; give one of them an alias", wire.QuoteName(c.Name))
		case seen[at]:
			return nil, cause(fmt.Sprintf("the source began with two columns named %s", wire.QuoteName(c.Name)))
		case c.Hop < 0 || c.Hop > hops:
			return nil, cause(fmt.Sprintf("the source began with column %s of hop %d; the request has %d hops", wire.QuoteName(c.Name), c.Hop, hops))
		case c.Type != "" && !c.Type.Known():
			return nil, cause(fmt.Sprintf("the source began with column %s of a type that is not one of the nine", wire.QuoteName(c.Name)))
		}
		seen[at] = true
		if c.Type == "" && c.Hop == 0 && p.table != nil {
			if f := p.table.Field(c.Name); f != nil {
				c.Type = f.Type
			}
		}
		own[i] = c
	}
	return own, nil
}

// members are the names of a row's members and where their cells stand (B5).
func (p *plan) members(columns []wire.Column) (names []string, from []int, err error) {
	if p.sql {
		for i, c := range columns {
			names, from = append(names, c.Name), append(from, i)
		}
		return names, from, nil
	}
	for _, f := range p.req.Fields {
		at := position(columns, 0, f)
		if at < 0 {
			return nil, nil, p.missing(f, f, p.req.Table)
		}
		names, from = append(names, f), append(from, at)
	}
	for i, j := range p.req.Joins {
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

// position is where a column stands, or -1.
func position(columns []wire.Column, hop int, name string) int {
	return slices.IndexFunc(columns, func(c wire.Column) bool { return c.Hop == hop && c.Name == name })
}

// missing is the error for a requested column that the source did not begin
// with. Where a description has already vouched for it, the source is at
// fault; otherwise the table has no such field (A11).
func (p *plan) missing(column, field, table string) error {
	if p.table != nil {
		return p.forgotten(column)
	}
	return UnknownEntity("table %s has no field %s", wire.QuoteName(table), wire.QuoteName(field))
}

func (p *plan) forgotten(column string) error {
	return cause(fmt.Sprintf("the source began without column %s, which its description of the table has", wire.QuoteName(column)))
}

// wants refuses columns without which the filters cannot be judged.
func (p *plan) wants(columns []wire.Column) error {
	for _, group := range append([][]wire.Filter{p.req.And}, p.req.Or...) {
		for _, f := range group {
			switch {
			case position(columns, 0, f.Field) >= 0:
			case p.table != nil:
				return p.forgotten(f.Field)
			default:
				return Unsupported("table %s has no field %s to filter by", wire.QuoteName(p.req.Table), wire.QuoteName(f.Field))
			}
		}
	}
	return nil
}

// finisher does to rows what the source did not.
type finisher struct {
	served wire.Served     // what the stream claims: the sum (C2)
	match  *filter.Program // nil: nothing to filter
	top    *topN           // nil: nothing to sort
	skip   int64           // rows of the offset still to drop
	left   int64           // rows of the limit still to come; negative: no limit
	strict bool            // the source claims the window: a row beyond it is a lie
}

// finish works out what is left to do (C2, B8).
func (p *plan) finish(served wire.Served, columns []wire.Column) (finisher, error) {
	f := finisher{served: p.trivially(served), left: -1}
	if p.sql {
		f.served = wire.Served{Filters: true, Sort: true, Window: true}
		return f, nil
	}
	var err error
	if !f.served.Filters {
		if err = p.wants(columns); err != nil {
			return f, err
		}
		if f.match, err = filter.Compile(p.req.Where, columns); err != nil {
			return f, err
		}
		f.served.Filters = true
	}
	if f.served.Window {
		if p.limit > 0 {
			f.left, f.strict = p.limit, true
		}
		return f, nil
	}
	if !f.served.Sort {
		var tie []string
		if p.table != nil {
			tie = p.table.PrimaryKey
		}
		for _, key := range p.req.Sort {
			if position(columns, 0, key.Field) < 0 {
				return f, p.missing(key.Field, key.Field, p.req.Table)
			}
		}
		order, err := filter.CompileOrder(p.req.Sort, columns, p.req.FieldTypes, tie)
		if err != nil {
			return f, err
		}
		if p.limit == 0 || len(p.req.Sort) > p.sortKeys || !p.windowAllowed() || p.offset > p.budget-p.limit {
			return f, nil // unserved and in full
		}
		f.top = newTopN(order, int(p.offset+p.limit), len(columns))
		f.served.Sort = true
	}
	if p.windowAllowed() {
		f.served.Window = true
		f.skip = p.offset
		if p.limit > 0 {
			f.left = p.limit
		}
	}
	return f, nil
}

// row takes one offered row. The caller holds r.mu.
func (f *finisher) row(r *Rows, values []wire.Value) error {
	if f.match != nil && !f.match.Match(values) {
		return nil
	}
	if f.top != nil {
		f.top.offer(values)
		return nil
	}
	return f.emit(r, values)
}

func (f *finisher) emit(r *Rows, values []wire.Value) error {
	if f.skip > 0 {
		f.skip--
		return nil
	}
	if f.left == 0 {
		return cause("the source claims served.window and emitted more rows than the limit")
	}
	if err := r.sink.add(values); err != nil {
		return err
	}
	if f.left > 0 {
		if f.left--; f.left == 0 && !f.strict {
			return errEnough
		}
	}
	return nil
}

// drain emits what the heap held back. The caller holds r.mu.
func (f *finisher) drain(r *Rows) error {
	if f.top == nil {
		return nil
	}
	for values := range f.top.sorted() {
		if r.err != nil {
			return r.err
		}
		if err := f.emit(r, values); err != nil {
			return err
		}
	}
	return nil
}
