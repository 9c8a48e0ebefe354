package platform

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/keyset"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// pull is one reading of rows by /query: what the connector is asked to do. The
// document declares all of it. Its window is read in as many pages as the
// connector's limits demand.
type pull struct {
	table   *wire.Table
	columns []wire.Column // of the rows: base fields, then those of joins
	request wire.QueryRequest

	// done is what the connector did of the request. It is set before the first
	// row is yielded, or at the end. If the window is done, the rest is too.
	done wire.Served
}

// rows asks the connector, page after page, and yields the rows, each valid
// until the next. A reading that ends without an error has all rows: one that
// the connector's limits cut is [ErrReach].
func (c *Connection) rows(ctx context.Context, p *pull, stats *Stats) iter.Seq2[[]wire.Value, error] {
	return func(yield func([]wire.Value, error) bool) {
		r := &reading{c: c, pull: p, stats: stats, each: func(row []wire.Value) bool { return yield(row, nil) }}
		if err := r.pages(ctx); err != nil {
			yield(nil, err)
		}
	}
}

// reading is a pull under way.
type reading struct {
	c     *Connection
	pull  *pull
	stats *Stats
	each  func(row []wire.Value) (more bool)

	wanted  wire.QueryRequest // all pages in one, in the order that they are read in
	columns []wire.Column     // of the pages: those of the pull, and then what keys needs
	total   bool              // no two rows can change places in that order
	keys    *lastKey          // for pages that no offset reaches; else nil
	got     int64             // rows that were passed to each
	last    []wire.Value      // the last row of a full page, with which the next one begins if its offset says so
	claims  *claims           // of the page before; nil for the first
}

// untotal is the limit that ends a reading which has no order to go on in.
const untotal = "pageSizeMax without a total order"

// order sets the order of the pages.
func (r *reading) order() {
	r.wanted, r.total = r.pull.request, true
	r.columns = r.pull.columns
	if r.c.paged(r.wanted.Limit) {
		var order []wire.SortKey
		if order, r.total = r.c.pageOrder(r.pull); r.total {
			r.wanted.Sort = order
			if keyset.Fits(r.c.Document, r.pull.table, order) {
				r.goOnByKey()
			}
		}
	}
	var sorted []string
	for _, k := range r.wanted.Sort {
		sorted = append(sorted, k.Field)
	}
	r.wanted.FieldTypes = typesOf(r.pull.table, r.wanted.Where, sorted)
}

// goOnByKey adds to the pages what is needed to go on behind their last row.
func (r *reading) goOnByKey() {
	keys, columns := newLastKey(r.pull.table, r.wanted.Sort, r.columns)
	if keys == nil {
		return
	}
	r.wanted.Fields = slices.Clip(r.wanted.Fields)
	for _, c := range columns[len(r.columns):] {
		r.wanted.Fields = append(r.wanted.Fields, c.Name)
	}
	r.keys, r.columns = keys, columns
}

// at returns the request of the page after so many rows, and reports whether a limit of the
// connector may cut it. A page by offset begins with the last row of the page before. A nil
// request means that the reading has ended, perhaps with an error.
func (r *reading) at(got int64) (page *wire.QueryRequest, cut bool, err error) {
	limits, own := r.c.Document.Capabilities.Limits, r.wanted
	page = &own
	page.Offset += got
	if r.wanted.Limit > 0 {
		page.Limit -= got
	}
	after, again := page.Offset, r.again(got)
	page.Offset -= again
	if page.Limit > 0 {
		page.Limit += again
	}
	if most := limits.PageSizeMax; most > 0 && (page.Limit == 0 || page.Limit > most) {
		page.Limit, cut = most, true
	}
	if most := limits.RowsPerTableMax; most > 0 && page.Limit > most-page.Offset {
		page.Limit, cut = most-page.Offset, true
		if page.Limit <= again {
			return nil, false, r.beyond(most, "rowsPerTableMax")
		}
	}
	skips := r.c.canSkip(page.Offset)
	switch {
	case got > 0 && r.keys != nil:
		page.Where, page.Offset = keyset.After(r.pull.table, r.wanted.Sort, r.keys.last, page.Where), 0
		page.FieldTypes = typesOf(r.pull.table, page.Where, nil)
		maps.Copy(page.FieldTypes, r.wanted.FieldTypes)
	case !skips:
		return nil, false, r.beyond(after, r.c.offsetLimit())
	case got > 0 && !r.total:
		return nil, false, r.beyond(after, untotal)
	case cut && page.Limit <= again:
		return nil, false, r.beyond(after, "pageSizeMax of one row")
	}
	return page, cut, nil
}

// again returns how many rows of the page after so many rows have come before.
func (r *reading) again(got int64) int64 {
	if got > 0 && r.keys == nil {
		return 1
	}
	return 0
}

// pages asks for page after page.
func (r *reading) pages(ctx context.Context) error {
	r.order()
	var further *ahead
	for {
		page, cut, err := r.at(r.got)
		if page == nil {
			return err
		}
		if r.got > 0 && further == nil && r.keys == nil {
			if further = r.readAhead(ctx); further != nil {
				defer further.stop()
			}
		}
		var early *aheadRows
		if further != nil {
			if early, err = further.take(page); err != nil {
				return err
			}
		}
		before := r.got - r.again(r.got)
		more, err := r.page(ctx, page, early, r.wanted.Limit-r.got)
		if err != nil || !more {
			return err
		}
		if !cut || r.got-before < page.Limit {
			return nil
		}
	}
}

// page asks for one page. It reports whether there may be another: not if the
// reader wants no more rows, nor if these are all of them.
//
// A later page that the connector did not cut is the whole result once more. Its
// rows before the page's offset are left out, and those beyond the room that is
// left, so that the pages still fit together. So is the row that a page by offset has in
// common with the page before; if it is another one, the reading ends with [ErrMoved].
func (r *reading) page(ctx context.Context, req *wire.QueryRequest, early *aheadRows, room int64) (more bool, err error) {
	later := r.got > 0
	again := r.again(r.got) > 0
	if r.claims != nil {
		r.claims.again = again
	}
	var answer interface{ Served() wire.Served }
	var all iter.Seq2[[]wire.Value, error]
	if early != nil {
		answer, all = early, early.all(r.claims)
		defer func() { r.claims = early.claims }()
	} else {
		if err := r.c.enter(ctx); err != nil {
			return false, err
		}
		defer r.c.leave()
		r.stats.Requests++
		rows, err := r.c.client.Query(ctx, r.c.credentials, req, r.columns)
		if err != nil {
			return false, err
		}
		defer rows.Close()
		rows.Expect(r.pull.table)
		rows.before = r.claims
		defer func() { r.claims = rows.claims }()
		answer, all = rows, rows.All()
	}

	var served wire.Served
	var match *filter.Matcher // nil: every row passes
	var skip, came int64
	begin := func() (err error) {
		served = whole(req, answer.Served())
		if !later {
			r.stats.Served, r.pull.done = answer.Served(), served
			return nil
		}
		if served.Window {
			return nil
		}
		if !served.Sort {
			return fmt.Errorf("the connector cut the first pages of table %s, and left the page at offset %d unsorted and uncut",
				terms.QuoteName(req.Table), req.Offset)
		}
		skip = req.Offset
		if !served.Filters {
			match, err = filter.Compile(req.Where, r.columns)
		}
		return err
	}
	for row, err := range all {
		if err == nil && came == 0 {
			err = begin()
		}
		if err != nil {
			return false, err
		}
		came++
		r.stats.RowsRead++
		if match != nil {
			ok, err := match.Match(row)
			if err != nil {
				return false, err
			}
			if !ok {
				continue
			}
		}
		if skip > 0 {
			skip--
			continue
		}
		if again {
			if again = false; !r.same(row) {
				return false, r.moved()
			}
			continue
		}
		r.got++
		if r.keys == nil && came == req.Limit {
			r.last = relation.KeepRow(row)
		}
		if r.keys != nil {
			r.keys.see(row)
			row = row[:len(r.pull.columns):len(r.pull.columns)]
		}
		if !r.each(row) {
			return false, nil
		}
		if later && !served.Window && room > 0 {
			if room--; room == 0 {
				return false, nil
			}
		}
	}
	if came == 0 {
		if err := begin(); err != nil {
			return false, err
		}
	}
	switch {
	case again:
		return false, r.moved()
	case came == 0:
		return false, nil
	}
	if served.Window && req.Limit > 0 {
		return true, nil
	}
	// The stream was not cut to the window, so it is the whole result, unless
	// the source has reached a ceiling of its own.
	if served.Window {
		came += req.Offset
	}
	switch limits := r.c.Document.Capabilities.Limits; came {
	case limits.PageSizeMax:
		return false, r.beyond(came, "pageSizeMax")
	case limits.RowsPerTableMax:
		return false, r.beyond(came, "rowsPerTableMax")
	}
	return false, nil
}

// same reports whether a row is the last one of the page before, cell by cell.
func (r *reading) same(row []wire.Value) bool {
	var a, b []byte
	for i, c := range r.columns {
		a, b = filter.AppendKey(a[:0], r.last[i], c.Type), filter.AppendKey(b[:0], row[i], c.Type)
		if !bytes.Equal(a, b) {
			return false
		}
	}
	return true
}

// moved returns the error of a page that does not begin with the last row of the page before.
func (r *reading) moved() error {
	return fmt.Errorf("%w: table %s, behind row %d", ErrMoved, terms.QuoteName(r.pull.table.Name), r.wanted.Offset+r.got)
}

// beyond returns the error for a reading that a limit ended after n rows, or nil
// if discovery says that the table has no more. A count of rows that is smaller than
// what was read is an estimate, and says nothing.
func (r *reading) beyond(n int64, limit string) error {
	e := reachError{table: r.pull.table.Name, reach: n, route: wire.PathDiscovery, limit: limit}
	if count := r.pull.table.RowCount; count != nil && len(r.pull.request.Joins) == 0 {
		if *count <= n && (r.got == 0 || *count >= r.pull.request.Offset+r.got) {
			return nil
		}
		e.rows = *count
	}
	return e.refuse()
}

// whole returns what was done of a request, as [Rows.Served] says it. A request
// without a window is cut already.
func whole(req *wire.QueryRequest, served wire.Served) wire.Served {
	cut := served.Window || req.Limit == 0 && req.Offset == 0
	served.Window = served.Filters && served.Sort && cut
	return served
}

// endOf returns the row at which the window of a request ends; 0: it has no end.
func endOf(req *wire.QueryRequest) int64 {
	if req.Limit == 0 || req.Limit > terms.MaxSafeInteger-req.Offset {
		return 0
	}
	return req.Offset + req.Limit
}

// paged reports whether a reading of so many rows, or of all if limit is 0, may take
// several pages.
func (c *Connection) paged(limit int64) bool {
	most := c.Document.Capabilities.Limits.PageSizeMax
	return most > 0 && (limit == 0 || limit > most)
}

// pageOrder returns sort keys under which pages fit together whatever the source does
// with rows that are equal in them, and reports whether the document declares so many:
// those of the request, then a key of the table, otherwise all that is read. Rows that
// are equal in all that is read can be exchanged.
func (c *Connection) pageOrder(p *pull) ([]wire.SortKey, bool) {
	if !eachOnce(c, p.request.Joins) {
		return nil, false
	}
	for _, fields := range [][]string{keyset.Key(p.table), p.request.Fields} {
		sort := slices.Clone(p.request.Sort)
		for _, field := range fields {
			if !slices.ContainsFunc(sort, func(k wire.SortKey) bool { return k.Field == field }) {
				sort = append(sort, wire.SortKey{Field: field, Dir: wire.Asc})
			}
		}
		if len(fields) > 0 && keyset.Sorts(c.Document, len(sort)) {
			return sort, true
		}
	}
	return nil, false
}

// pages reports whether a reading can go on after its first page, up to the end of its
// window: in an order that is total, by offset or by key.
func (c *Connection) pages(p *pull, end int64) bool {
	order, total := c.pageOrder(p)
	return total && (c.skips(end) || keyset.Fits(c.Document, p.table, order))
}

// eachOnce reports whether joins leave each row of the base table one row: sort keys
// name no joined fields, so that the rows which one became have no order.
func eachOnce(c *Connection, joins []wire.JoinHop) bool {
	return !slices.ContainsFunc(joins, func(j wire.JoinHop) bool {
		t := c.Table(j.ToTable)
		return t == nil || !slices.Equal(t.PrimaryKey, []string{j.ToField}) && !t.Field(j.ToField).Unique
	})
}

// typesOf returns the discovered types of the fields that a request compares by,
// so that a connector which has not described the table compares numbers by
// their digits [rule filter-19].
func typesOf(t *wire.Table, where wire.Where, fields []string) map[string]wire.Type {
	types := map[string]wire.Type{}
	for _, name := range fields {
		types[name] = t.Field(name).Type
	}
	for f := range where.Filters() {
		types[f.Field] = t.Field(f.Field).Type
	}
	if len(types) == 0 {
		return nil
	}
	return types
}

// skips reports whether the connector can begin a page at each offset up to the end of a
// window; 0 is the end of the table, wherever that is.
func (c *Connection) skips(end int64) bool {
	return c.Document.Capabilities.Offset && (c.Document.Capabilities.Limits.OffsetMax == 0 ||
		end > 0 && end <= c.Document.Capabilities.Limits.OffsetMax)
}

// canSkip reports whether the document declares an offset.
func (c *Connection) canSkip(offset int64) bool {
	return offset == 0 || c.skips(offset)
}

// offsetLimit returns the limit that ends the offsets of pages.
func (c *Connection) offsetLimit() string {
	if c.Document.Capabilities.Offset {
		return "offsetMax"
	}
	return "pageSizeMax without offset"
}

// lists reports whether the document lists an optional route [rule route-6].
func (c *Connection) lists(e wire.Endpoint) bool {
	return slices.Contains(c.Document.Endpoints, e)
}

// enter takes one of the connector's places, of which limits.concurrency says how
// many there are, and waits until one is free.
func (c *Connection) enter(ctx context.Context) error {
	select {
	case c.places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Connection) leave() { <-c.places }
