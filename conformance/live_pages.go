package conformance

import (
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// pageTables is how many tables are read in pages.
const pageTables = 3

// pagesCompose is L6: pages under a key put one after the other are the sorted
// rows, for pages of one row, of a few, and for all pages of a table.
func pagesCompose(l *law) {
	for _, p := range l.paged() {
		l.compose(p, nil, 1, 2, 7)
		l.compose(p, nil, 0)
	}
}

// pagesComposeFiltered is M5: the same for other pages, without a filter and
// with one.
func pagesComposeFiltered(l *law) {
	for _, p := range l.paged() {
		data, whole := l.data(p.table)
		l.compose(p, nil, 3)
		if f, ok := l.selective(p.table, data); ok && whole {
			l.compose(p, []wire.Filter{f}, 2, 5)
			l.compose(p, []wire.Filter{f}, 0)
		}
	}
}

// paged is a table and an order under which each of its rows has one place.
type paged struct {
	table *wire.Table
	sort  []wire.SortKey
}

// paged are the tables that can be read in pages. Without an order in which all
// rows have their place any rows may stand on a page.
func (l *law) paged() (list []paged) {
	for _, t := range l.subjects() {
		rows, _ := l.data(t)
		for _, k := range keys(t) {
			var sort []wire.SortKey
			for _, name := range k.fields {
				sort = append(sort, wire.SortKey{Field: name, Dir: wire.Asc})
			}
			if len(rows.Rows) > 1 && l.sorts(len(sort)) && oneEach(rows, k) {
				list = append(list, paged{t, sort})
				break
			}
		}
		if len(list) == pageTables {
			break
		}
	}
	return list
}

// sorts tells whether the document declares so many sort keys.
func (l *law) sorts(n int) bool {
	switch l.document().Capabilities.Sort {
	case wire.SortSingle:
		return n <= 1
	case wire.SortMulti:
		return true
	}
	return n == 0
}

// oneEach tells whether a key has a value for each row, each once, that all
// readings order alike. That declared keys are unique is L5.
func oneEach(t *oracle.Table, k declaredKey) bool {
	var ids []wire.SortKey
	for _, name := range k.fields {
		c := t.Index(name)
		if c < 0 || !settled(t, c) || slices.ContainsFunc(t.Rows, func(row []wire.Value) bool { return row[c].IsNull() }) {
			return false
		}
		ids = append(ids, wire.SortKey{Field: name, Dir: wire.Asc})
	}
	if oracle.Unsettled(t, ids, nil) != "" {
		return false
	}
	sorted, err := oracle.Sort(t, ids, nil)
	if err != nil {
		return false
	}
	for i := 1; i < len(sorted.Rows); i++ {
		same := true
		for _, name := range k.fields {
			c := t.Index(name)
			same = same && oracle.Same(sorted.Rows[i-1][c], sorted.Rows[i][c], t.Columns[c].Type)
		}
		if same {
			return false
		}
	}
	return true
}

// compose reads pages of the given sizes and holds them against the rows of the
// same query without a window: the first pages of each size, or all of a few
// pages for the size 0.
func (l *law) compose(p paged, and []wire.Filter, sizes ...int) {
	t := p.table
	const pages = 3
	if !l.room(1 + pages) {
		return
	}
	l.steady(func() {
		_, whole := l.data(t)
		req := everything(t)
		req.And, req.Sort = and, p.sort
		var all *oracle.Table
		if whole {
			if _, all = l.ask(t, req); all == nil {
				return
			}
		} else {
			l.bound(req)
			st, rows := l.askSome(t, req)
			if !st.served.Window || st.over {
				return // these windows are cut by the platform
			}
			all = rows
		}
		for _, n := range sizes {
			count := pages
			if n == 0 {
				if !whole {
					continue
				}
				n = (len(all.Rows) + 1) / 2 // two pages, and an empty one behind them
			}
			for page := range count {
				if n < 1 || !l.allowed(n, page*n) || !l.room(1) {
					break
				}
				// Beyond the end of a window that was read nothing is known.
				if !whole && (page+1)*n > len(all.Rows) {
					break
				}
				l.page(t, req, all, n, page)
			}
		}
	}, t)
}

// allowed tells whether the declared limits let a window be asked for.
func (l *law) allowed(limit, offset int) bool {
	most := l.document().Capabilities.Limits
	return (most.PageSizeMax == 0 || int64(limit) <= most.PageSizeMax) && (most.OffsetMax == 0 || int64(offset) <= most.OffsetMax)
}

// page reads one page and holds it against its part of all rows.
func (l *law) page(t *wire.Table, all *wire.QueryRequest, rows *oracle.Table, n, page int) {
	req := *all
	req.Limit, req.Offset = int64(n), int64(page*n)
	st, final := l.ask(t, &req)
	if final == nil || !st.served.Window {
		return
	}
	l.cases++
	want := rows.Rows[min(page*n, len(rows.Rows)):min((page+1)*n, len(rows.Rows))]
	what := fmt.Sprintf("table %s: page %d of %d rows (offset %d) under %s", wire.QuoteName(t.Name), page+1, n, page*n, keysOf(req.Sort))
	if len(final.Rows) != len(want) {
		l.want(fmt.Sprintf("%d rows, as the same query has without a window", len(want)), fmt.Sprintf("%d rows", len(final.Rows)), "%s has another number of rows", what)
	}
	for i, row := range final.Rows {
		if !sameRow(rows.Columns, want[i], row) {
			l.want(showRow(rows.Columns, want[i]), showRow(rows.Columns, row), "%s: row %d is not the one that the same query has there without a window", what, i)
		}
	}
}

// sameRow tells whether two rows agree in every cell.
func sameRow(columns []wire.Column, a, b []wire.Value) bool {
	for i, c := range columns {
		if !oracle.Same(a[i], b[i], c.Type) {
			return false
		}
	}
	return true
}

// tieAdvice is advice A.15.
func tieAdvice() []Check {
	return []Check{{
		ID: "A.15", Phase: 3, Advice: true, judge: lawful(tiesBroken, "no table has rows that tie, or no window was served"), needs: needsOffset,
		Title: "ties are broken so that pages compose",
		Rule:  "rulings, B3",
		Quote: "Ties are broken so that pages compose whatever the source's own order: by the primary key where it is known, else by the remaining columns.",
		Fix:   "Add the primary key, or all other columns, behind the requested sort keys, so that equal requests order equal rows alike.",
	}}
}

// tiesBroken reads all pages of tables whose rows tie: under a column that has a
// value twice, and without a sort. Every row must come once.
func tiesBroken(l *law) {
	tables := l.whole()
	judged := 0
	for _, t := range tables {
		data := l.table(t)
		if len(data.Rows) < 3 || judged == 2*pageTables {
			continue
		}
		orders := [][]wire.SortKey{nil}
		for i, f := range t.Fields {
			if counts, err := oracle.Cardinality(data, f.Name); l.sorts(1) && err == nil && settled(data, i) && counts.Distinct < int64(len(data.Rows)) {
				orders = append(orders, []wire.SortKey{{Field: f.Name, Dir: wire.Desc}})
				break
			}
		}
		for _, sort := range orders {
			judged++
			l.steady(func() { l.everyRowOnce(t, sort) }, t)
		}
	}
}

func (l *law) everyRowOnce(t *wire.Table, sort []wire.SortKey) {
	const pages = 3
	data := l.table(t)
	if data == nil || !l.room(pages) {
		return
	}
	n := (len(data.Rows) + pages - 1) / pages
	var rows [][]wire.Value
	for page := range pages {
		if !l.allowed(n, page*n) {
			return
		}
		req := everything(t)
		req.Sort, req.Limit, req.Offset = sort, int64(n), int64(page*n)
		st, final := l.ask(t, req)
		if final == nil || !st.served.Window {
			return
		}
		rows = append(rows, final.Rows...)
	}
	l.cases++
	order := "without a sort"
	if len(sort) > 0 {
		order = "under " + keysOf(sort)
	}
	l.verify(data, everything(t), rows, "table %s: %d pages of %d rows %s do not hold every row once", wire.QuoteName(t.Name), pages, n, order)
}

// needsPages skips what the document does not declare.
func needsPages(d *document) string {
	if d.Capabilities.Sort == wire.SortNone {
		return "capabilities.sort is none, and pages follow an order"
	}
	return needsOffset(d)
}
