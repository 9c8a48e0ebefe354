package restsource

import (
	"context"
	"math"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/measures"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Query reads the endpoint of a table, narrowed by the filters that it can apply. It
// leaves the filters to the library as well, which applies them to every row.
func (s *Source) Query(ctx context.Context, req *connector.Query, out *connector.Rows) (err error) {
	defer s.explaining(ctx, &err)
	x, t, err := s.openTable(ctx, req.Credentials, req.Table)
	if err != nil {
		return err
	}
	names := fieldsOf(req.Fields, req.Where, req.Sort)
	if t.parent != nil || t.split() {
		return out.Begin(t.cells).All(x.all(ctx, t, req.Where, names))
	}
	p := t.push(req.Where, req.Sort)
	p.names = names
	sorts := p.sorted
	e, err := x.endpoint(t, p, nil)
	if err != nil {
		return err
	}
	// A window of all rows begins at its offset. Rows before an offset among filtered
	// rows have to be read, to be counted.
	plain := !req.HasFilters() && t.Pages.By == PagingOffset
	var first *page
	if sorts {
		if plain && req.MaxRows < math.MaxInt64 {
			e.atMost(req.MaxRows)
		}
		if first, err = x.page(ctx, e, position{}); rejected(err) || err == nil && !t.inOrder(first.rows, req.Sort) {
			// The API does not sort so. The library does, as far as it can.
			p = t.push(req.Where, nil)
			p.names = names
			e.params, e.size, first, sorts, err = p.params, t.Pages.Size, nil, false, nil
		}
		if err != nil {
			return err
		}
	}
	if first == nil && !plain {
		if e, first, err = x.begin(ctx, t, p, nil); err != nil {
			return err
		}
	}
	var limit int64
	claim := out.Claim(connector.Applied{Sort: sorts})
	if plain { // 0 and 0 if rows are still to be sorted
		e.start, limit, _ = claim.TakeWindow()
		e.atMost(limit)
	}
	if e.start > 0 {
		first = nil
	}
	if !req.HasFilters() && (sorts || len(req.Sort) == 0) && req.MaxRows < math.MaxInt64 {
		e.want = req.MaxRows
	}
	if limit > 0 {
		e.want = limit
	}
	var order []wire.SortKey
	if sorts {
		order = req.Sort
	}
	return out.Begin(t.cells).All(head(x.rows(ctx, e, first, order), limit))
}

// atMost limits the pages to a number of rows; 0 is no limit. A page of one row
// would have no room for the mark of PagingOffset, and would be in any order.
func (e *endpoint) atMost(rows int64) {
	if rows > 0 {
		e.size = int(max(2, min(int64(e.Pages.Size), rows)))
	}
}

// inOrder reports whether rows are in the order of a sort by one column.
func (t *table) inOrder(rows [][]wire.Value, keys []wire.SortKey) bool {
	r := &reading{endpoint: &endpoint{table: t}}
	return r.sortedBy(keys) == nil && r.inOrder(rows) == nil
}

// head returns the first rows; a limit of zero means all.
func head(rows relation.Rows, limit int64) relation.Rows {
	if limit == 0 {
		return rows
	}
	return func(yield func([]wire.Value, error) bool) {
		left := limit
		for row, err := range rows {
			if !yield(row, err) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

// QueryJoined joins in memory: it reads the tables that the hops lead to, and then
// the base table.
func (s *Source) QueryJoined(ctx context.Context, req *connector.Query, out *connector.Rows) (err error) {
	defer s.explaining(ctx, &err)
	x, base, err := s.openTable(ctx, req.Credentials, req.Table)
	if err != nil {
		return err
	}
	read := []*table{base}
	for _, j := range req.Joins {
		to, err := x.table(ctx, j.ToTable)
		if err != nil {
			return err
		}
		read = append(read, to)
	}
	x.keepShared(read)
	x.joinLists(read)
	hops := make([]relation.Relation, len(req.Joins))
	for i, to := range read[1:] {
		hops[i] = relation.Relation{Columns: to.cells, Rows: x.all(ctx, to, wire.Where{}, nil)}
	}
	joined, err := measures.Join(
		relation.Relation{Columns: base.cells, Rows: x.all(ctx, base, req.Where, nil)},
		relation.JoinRequest{Table: req.Table, Joins: req.Joins, Fields: req.Fields, FieldTypes: req.FieldTypes},
		hops, s.options.JoinBudget)
	if err != nil {
		return err
	}
	return out.Begin(joined.Columns).All(joined.Rows)
}

// Count returns the number of rows that the API states, where the endpoint can apply every filter exactly.
// Otherwise it declines, and the library counts the rows of Query.
func (s *Source) Count(ctx context.Context, req *wire.CountRequest) (n int64, err error) {
	defer s.explaining(ctx, &err)
	x, t, err := s.openTable(ctx, req.Credentials, req.Table)
	if err != nil {
		return 0, err
	}
	p := t.push(req.Where, nil)
	if !t.counts() || !p.exact || t.split() {
		return 0, connector.ErrDecline
	}
	n, err = x.total(ctx, t, p)
	if rejected(err) {
		return 0, connector.ErrDecline
	}
	if err != nil || n == 0 {
		return n, err
	}
	// Nothing is remembered of a discovery, so what it has found out is asked again.
	for _, f := range p.filters {
		applied, err := x.applies(ctx, t, f, nil)
		if err != nil {
			return 0, err
		}
		if applied != yes {
			return 0, connector.ErrDecline
		}
	}
	return n, nil
}

// total asks for the number of rows of a table.
func (x *session) total(ctx context.Context, t *table, p push) (int64, error) {
	e, err := x.endpoint(t, p, nil)
	if err != nil {
		return 0, err
	}
	if e.size > 0 && t.Pages.By != OnePage {
		e.size = 1
	}
	first, err := x.page(ctx, e, position{})
	if e.enlarges(err) {
		first, err = x.page(ctx, e, position{})
	}
	if err != nil {
		return 0, err
	}
	received := int64(len(first.rows))
	switch {
	case received == 0 && first.total <= 0: // -1: there is no content
		return 0, nil
	case received > 0 && first.total > received && t.Pages.By != OnePage:
		return first.total, nil
	}
	// The number may be that of the rows in this answer, or of rows that are not there.
	if e.size != t.Pages.Size {
		e.size, first = t.Pages.Size, nil
	}
	n := int64(0)
	for _, err := range x.rows(ctx, e, first, nil) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}
