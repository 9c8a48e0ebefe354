package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/keyset"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// pageRows is how many rows of a table are shown at a time. Connect reads the first.
const pageRows = 50

// rowsView is a table of rows.
type rowsView struct {
	Columns []wire.Column
	Rows    [][]wire.Value
	Note    string
	Problem string
	Empty   []string // columns that are left out, because nothing stands in them

	// Table is the index of the table of which Fields are fields, one for each column. A cell of a
	// column whose field is -1 cannot become a filter.
	Table  int
	Fields []int
	keys   map[int]bool // the columns that are keys of the table

	Pages    bool   // there may be pages before and after this one
	Loose    string // why the pages may not fit together, or ""
	Offset   int64
	Previous int64 // -1: this is the first page
	Next     int64 // -1 on the last page
	Savable  bool
}

// Number reports whether a column holds numbers.
func (v *rowsView) Number(column int) bool { return v.Columns[column].Type.Numeric() }

// Quantity reports whether a column holds numbers that count or measure something. Those of keys are names, whose
// digits are not grouped.
func (v *rowsView) Quantity(column int) bool { return v.Number(column) && !v.keys[column] }

// filters lets the cells of the columns that are fields of a table become filters.
func (v *rowsView) filters(table int, t *wire.Table, fields []string) {
	v.Table, v.Fields, v.keys = table, make([]int, len(v.Columns)), map[int]bool{}
	for i := range v.Columns {
		v.Fields[i] = -1
		if i < len(fields) {
			v.keys[i] = isKey(t, fields[i])
			v.Fields[i] = slices.IndexFunc(t.Fields, func(f wire.Field) bool {
				return f.Name == fields[i] && f.Type != wire.TypeArray && f.Type != wire.TypeJSON
			})
		}
	}
}

// hideEmpty leaves out the columns in which nothing stands.
func (v *rowsView) hideEmpty() {
	if len(v.Rows) == 0 {
		return
	}
	for i := len(v.Columns) - 1; i >= 0; i-- {
		if slices.ContainsFunc(v.Rows, func(row []wire.Value) bool { return !row[i].IsNull() && row[i].String() != "" }) {
			continue
		}
		v.Empty = append(v.Empty, v.Columns[i].Name)
		v.Columns, v.Fields = slices.Delete(slices.Clone(v.Columns), i, i+1), slices.Delete(v.Fields, i, i+1)
		for n, row := range v.Rows {
			v.Rows[n] = slices.Delete(slices.Clone(row), i, i+1)
		}
	}
	slices.Reverse(v.Empty)
}

// pageView shows a page of a table's rows, which are sorted if an order is given.
func (c *connected) pageView(table int, rows [][]wire.Value, offset int64, order []string) rowsView {
	t := &c.Tables[table]
	v := rowsView{Columns: t.Columns(), Rows: slices.Clone(rows), Pages: true, Offset: offset, Previous: -1, Next: -1}
	if offset > 0 {
		v.Previous = max(0, offset-pageRows)
	}
	if len(rows) == pageRows {
		v.Next = offset + pageRows
	}
	switch n := int64(len(rows)); {
	case n == 0 && offset > 0:
		v.Note = "no more rows"
	case offset == 0 && v.Next < 0:
		v.Note = counted(n, "row", "rows")
	default:
		v.Note = "rows " + grouped(offset+1) + " to " + grouped(offset+n)
	}
	if order != nil {
		v.Note += ", in the order of " + strings.Join(order, ", ")
	}
	if v.Previous >= 0 || v.Next >= 0 {
		_, v.Loose = orderOf(c.Document, t)
	}
	v.filters(table, t, names(t))
	v.hideEmpty()
	return v
}

// further reads another page of a table's rows and shows it.
func (p *page) further(w http.ResponseWriter, r *http.Request) {
	var wanted struct {
		Table  int
		Offset int64
	}
	if !receive(w, r, &wanted) {
		return
	}
	c := p.connection.Load()
	if c == nil || wanted.Table < 0 || wanted.Table >= len(c.Tables) || wanted.Offset < 0 {
		http.Error(w, "no such table", http.StatusNotFound)
		return
	}
	v, err := c.turn(r.Context(), wanted.Table, wanted.Offset)
	if err != nil {
		v = rowsView{Problem: said(err), Pages: true, Table: wanted.Table, Previous: wanted.Offset - pageRows, Next: wanted.Offset}
	}
	if p.connection.Load() == c {
		p.feed.put(fmt.Sprint("rows-", wanted.Table), p.render("rows.html", &v))
	}
	answer(w, struct{}{})
}

// turn returns another page of a table. Pages are in the order of [orderOf], if there is one. The
// first page that was read has no order that anybody stated, so the second is read together with the
// first: if that was another one, the pages begin anew, and no row is missed.
func (c *connected) turn(ctx context.Context, table int, offset int64) (rowsView, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &c.Tables[table]
	order, _ := orderOf(c.Document, t)
	request := &wire.QueryRequest{Table: t.Name, Fields: names(t), Limit: pageRows, Offset: offset}
	for _, name := range order {
		request.Sort = append(request.Sort, wire.SortKey{Field: name, Dir: wire.Asc})
	}
	first := c.first[table]
	if order == nil || offset != pageRows {
		first = nil
	}
	if first != nil {
		request.Offset, request.Limit = 0, 2*pageRows
	}
	rows, err := readAll(ctx, c.Connection, request)
	if err != nil {
		return rowsView{}, err
	}
	if first != nil {
		delete(c.first, table)
		head := rows[:min(len(rows), pageRows)]
		if slices.EqualFunc(head, first, func(a, b []wire.Value) bool { return slices.EqualFunc(a, b, same) }) {
			rows = rows[len(head):]
		} else {
			rows, offset = head, 0
		}
	}
	return c.pageView(table, rows, offset, order), nil
}

func same(a, b wire.Value) bool { return a.IsNull() == b.IsNull() && a.String() == b.String() }

// readAll returns the rows of a query.
func readAll(ctx context.Context, c *platform.Connection, query *wire.QueryRequest) (rows [][]wire.Value, err error) {
	answer, err := c.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	for row, err := range answer.All() {
		if err != nil {
			return nil, err
		}
		rows = append(rows, relation.KeepRow(row))
	}
	return rows, nil
}

// names returns the names of a table's fields.
func names(t *wire.Table) (list []string) {
	for i := range t.Fields {
		list = append(list, t.Fields[i].Name)
	}
	return list
}

// orderOf returns the fields by which the pages of a table are sorted: its key, or a column in which
// no value stands twice. If no column will do, or the connector does not sort by it, orderOf says
// what that means.
func orderOf(doc *wire.Document, t *wire.Table) (order []string, loose string) {
	const so = ", so the pages follow the connector's own order. A row can come twice, or not at all."
	key := keyset.Key(t)
	switch {
	case len(key) == 0:
		return nil, "No key or column is sure to tell the rows of this table apart" + so
	case !keyset.Sorts(doc, len(key)):
		return nil, "The connector does not sort this table by its key" + so
	}
	return key, ""
}

// pickable reports whether a cell can become a filter: it is shown whole and as it is.
func (p *page) pickable(v wire.Value) bool {
	text := v.String()
	return v.Kind() != wire.KindInvalid && len(text) <= maxCell && check.Legible(p.clean(text)) == text
}

// csv answers a question with a file. A failure breaks the answer off, so that no part of it is taken
// for the whole; one before its first byte is told.
func (p *page) csv(w http.ResponseWriter, r *http.Request) {
	a, c := p.question(w, r, false)
	if a == nil {
		return
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	file := &begun{ResponseWriter: w}
	switch result := a.answer(r, c.Connection, file); {
	case result.Problem == "":
	case file.begun:
		panic(http.ErrAbortHandler)
	default:
		http.Error(w, p.legible(result.Problem), http.StatusBadGateway)
	}
}

// begun notes whether something was written.
type begun struct {
	http.ResponseWriter
	begun bool
}

func (b *begun) Write(body []byte) (int, error) {
	b.begun = true
	return b.ResponseWriter.Write(body)
}
