package live

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/compare"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/internal/exam"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const maxPagedTables = 12

// pages are sizes of pages to be read of a table, by the number of its rows: under its key alone or behind a column
// whose values repeat, where a connector that goes on behind the last value loses rows; and with a filter, some of them
// as they were asked for without one, which a connector that keeps pages by their window shows.
type pages struct {
	ties, filtered bool
	sizes          func(rows int) []int
}

func sizes(list ...int) func(int) []int { return func(int) []int { return list } }

// pagesCompose judges that pages under a key, put one after the other, are the sorted rows, for pages of several sizes.
func pagesCompose(p *liveRun) *check.Finding {
	plan := []pages{
		{sizes: func(rows int) []int { return []int{rows/2 + 1} }}, {ties: true, sizes: sizes(7)}, {sizes: sizes(100, 1000)},
		{ties: true, filtered: true, sizes: sizes(7, 2)},
		{sizes: func(rows int) []int { return []int{rows + 1, rows} }},
		{filtered: true, sizes: func(rows int) []int { return []int{rows/2 + 1, 5, 100} }}, {ties: true, sizes: sizes(1, 2)},
	}
	return p.askAll(exam.InTurn(p.pagedTables(), func(paged pagedTable) (list []question) {
		for _, next := range plan {
			t := paged
			if next.ties && t.ties != nil {
				t.sort = append(slices.Clone(t.ties), t.sort...)
			}
			list = append(list, question{tables: []*wire.Table{t.Table}, requests: 1, partly: true, judge: func(rows known) *check.Finding {
				var filters []wire.Filter
				if next.filtered {
					if filters = p.selectiveFilter(t.Table, rows.Tables[t.Name]); filters == nil || !rows.whole {
						return p.compose(t, rows, nil, sizes(3))
					}
				}
				return p.compose(t, rows, filters, next.sizes)
			}})
		}
		return list
	}))
}

// pagedTable is a table and an order under which each of its rows has one place.
type pagedTable struct {
	*wire.Table
	sort []wire.SortKey
	ties []wire.SortKey // a column whose values repeat, if the document declares several sort keys
}

// pagedTables returns the tables that can be read in pages. Without an order in
// which all rows have their place, any rows may be on a page.
func (p *liveRun) pagedTables() (list []pagedTable) {
	for _, t := range p.tables {
		rows, _ := p.data(t)
		for _, k := range keysOf(t) {
			var sort []wire.SortKey
			for _, name := range k.fields {
				sort = append(sort, wire.SortKey{Field: name, Dir: wire.Asc})
			}
			if len(rows.Rows) > 1 && len(sort) <= p.Document.SortKeys() && ordersRows(rows, sort) {
				list = append(list, pagedTable{t, sort, p.tyingColumn(t, len(sort)+1)})
				break
			}
		}
		if len(list) == maxPagedTables {
			break
		}
	}
	return list
}

// tyingColumn returns the sort by the column that has the fewest values of those whose
// order is beyond doubt, if n sort keys are declared.
func (p *liveRun) tyingColumn(t *wire.Table, n int) []wire.SortKey {
	columns := p.tyingColumns(t)
	if len(columns) == 0 || n > p.Document.SortKeys() {
		return nil
	}
	return []wire.SortKey{{Field: t.Fields[columns[0]].Name, Dir: wire.Asc}}
}

// maxTying is how many columns of a table are sorted by because their values repeat.
const maxTying = 4

// tyingColumns returns some columns of a table whose values repeat and whose order is beyond doubt, those with the
// fewest values first.
func (p *liveRun) tyingColumns(t *wire.Table) []int {
	rows, _ := p.data(t)
	return firstOf(repeating(t, rows, func(i int, distinct int64) bool {
		key := []wire.SortKey{{Field: t.Fields[i].Name, Dir: wire.Asc}}
		return distinct > 1 && exam.OrderSettled(rows, i) && oracle.Unsettled(rows, key, nil) == ""
	}), maxTying)
}

// repeating returns the columns whose values repeat, those with the fewest first, of those for which a condition holds.
func repeating(t *wire.Table, rows *oracle.Table, hold func(column int, distinct int64) bool) (columns []int) {
	distinct := map[int]int64{}
	for i, f := range t.Fields {
		if c, err := oracle.Cardinality(rows, f.Name); err == nil && c.Distinct < int64(len(rows.Rows)) && hold(i, c.Distinct) {
			columns, distinct[i] = append(columns, i), c.Distinct
		}
	}
	slices.SortStableFunc(columns, func(a, b int) int { return cmp.Compare(distinct[a], distinct[b]) })
	return columns
}

// ordersRows reports whether a key has a different value for each row, and all readings order the values alike. Whether
// declared keys are unique has a check of its own.
func ordersRows(t *oracle.Table, key []wire.SortKey) bool {
	for _, k := range key {
		c := t.Index(k.Field)
		if c < 0 || !exam.OrderSettled(t, c) || slices.ContainsFunc(t.Rows, func(row []wire.Value) bool { return row[c].IsNull() }) {
			return false
		}
	}
	if oracle.Unsettled(t, key, nil) != "" {
		return false
	}
	sorted, err := oracle.Sort(t, key, nil)
	if err != nil {
		return false
	}
	for i := 1; i < len(sorted.Rows); i++ {
		same := true
		for _, k := range key {
			c := t.Index(k.Field)
			same = same && oracle.Same(sorted.Rows[i-1][c], sorted.Rows[i][c], t.Columns[c].Type)
		}
		if same {
			return false
		}
	}
	return true
}

// maxPages is how many pages of one size are read.
const maxPages = 3

// compose reads pages of the given sizes and compares them with the rows of the same
// query without a window: of each size the first two, and the last one that has rows.
func (p *liveRun) compose(of pagedTable, known known, filters []wire.Filter, sizes func(rows int) []int) *check.Finding {
	t := of.Table
	if !p.mayRead(1) {
		return nil
	}
	req := declared.AllRows(t)
	req.And, req.Sort = filters, of.sort
	all, f := p.unpaged(known, t, req)
	if f != nil || all == nil {
		return f
	}
	rows := len(all.Rows)
	for _, n := range sizes(rows) {
		for _, page := range slices.Compact([]int{0, 1, max(1, (rows-1)/max(n, 1))}) {
			// Nothing is known of the rows beyond a window that was read.
			compared := known.whole || (page+1)*n <= rows
			paged := *req
			paged.Limit, paged.Offset = int64(n), int64(page*n)
			if n < 1 || page*n > rows || !compared || !p.Document.Allows(&paged) || !p.mayRead(1) {
				break
			}
			if f := p.comparePage(t, &paged, all, page); f != nil {
				return f
			}
		}
	}
	return nil
}

// unpaged returns the rows of a query without pages or, if the table is large, a
// window of them. It returns nil if they cannot be compared with pages.
func (p *liveRun) unpaged(known known, t *wire.Table, req *wire.QueryRequest) (*oracle.Table, *check.Finding) {
	switch {
	case known.whole && len(req.And) == 0:
		all, err := oracle.Sort(known.Tables[t.Name], req.Sort, nil)
		if err != nil {
			return nil, check.Fail("%v", err)
		}
		return all, nil
	case known.whole: // what the filters keep has checks of its own
		_, all, f := p.ask(t, req)
		return all, f
	}
	req.Limit = p.window()
	st, rows, f := p.read(t, req, defaults.WindowRows)
	if f != nil || !st.Served.Window || st.Over {
		return nil, f // the platform cuts these windows
	}
	return rows, nil
}

// comparePage reads one page and compares it with its part of all rows.
func (p *liveRun) comparePage(t *wire.Table, req *wire.QueryRequest, rows *oracle.Table, page int) *check.Finding {
	_, final, f := p.ask(t, req)
	if f != nil || final == nil {
		return f
	}
	p.Cases++
	p.Covered.AddRequest(req)
	what := fmt.Sprintf("%s: page %d of %d rows (offset %d) under %s", ofTable(t), page+1, req.Limit, req.Offset, describeSort(req.Sort))
	return partOf(rows, req, final.Rows, what, "the same query has without a window")
}

// partOf returns the finding about a window that does not hold its part of all rows, as another read has them.
func partOf(all *oracle.Table, req *wire.QueryRequest, window [][]wire.Value, what, other string) *check.Finding {
	from := min(int(req.Offset), len(all.Rows))
	want := all.Rows[from:min(from+int(req.Limit), len(all.Rows))]
	if len(window) != len(want) {
		return check.Differs(fmt.Sprintf("%d rows, as %s", len(want), other), fmt.Sprintf("%d rows", len(window)),
			"%s has another number of rows", what)
	}
	for i, row := range window {
		if !compare.SameRow(all.Columns, want[i], row) {
			return check.Differs(message.Row(all.Columns, want[i]), message.Row(all.Columns, row),
				"%s: row %d is not the one that %s there", what, i, other)
		}
	}
	return nil
}

// tiesBroken reads all pages of tables whose rows tie, and windows of other sizes: sorted by the column of the fewest
// values, so that pages end within a tie, and without a sort. Every row must come once, and each window be the part of
// the pages that it stands for.
func tiesBroken(p *liveRun) *check.Finding {
	judged, sortedFirst := 0, true
	return inTurn(1, func(p *liveRun, t *wire.Table, data *oracle.Table) (list []question) {
		if len(data.Rows) < 3 || judged >= 2*maxPagedTables {
			return nil
		}
		orders := [][]wire.SortKey{nil}
		if by := p.tyingColumn(t, 1); by != nil {
			by[0].Dir = wire.Desc
			orders = append(orders, by)
			if sortedFirst {
				slices.Reverse(orders) // the requests may not suffice for both
			}
			sortedFirst = !sortedFirst
		}
		for _, sort := range orders {
			judged++
			list = append(list, about(t, maxPages, func(rows *oracle.Table) *check.Finding { return p.oneOrder(t, rows, sort) }))
		}
		return list
	})(p)
}

// oneOrder reads a table in pages of a third of its rows, and windows beside them: both behind a page in another order
// each, in which a connector may have sorted the rows that it keeps.
func (p *liveRun) oneOrder(t *wire.Table, data *oracle.Table, sort []wire.SortKey) *check.Finding {
	order := "without a sort"
	if len(sort) > 0 {
		order = "under " + describeSort(sort)
	}
	window := func(limit, offset int) (*wire.QueryRequest, *oracle.Table, *check.Finding) {
		req := declared.AllRows(t)
		req.Sort, req.Limit, req.Offset = sort, int64(limit), int64(offset)
		if !p.Document.Allows(req) {
			return nil, nil, nil
		}
		st, final, f := p.ask(t, req)
		if f != nil || final == nil || !st.Served.Window {
			return nil, nil, f
		}
		return req, final, nil
	}
	another := func(dir wire.Direction) {
		for _, i := range p.tyingColumns(t) {
			req := declared.AllRows(t)
			req.Sort, req.Limit = []wire.SortKey{{Field: t.Fields[i].Name, Dir: dir}}, 7
			if (len(sort) == 0 || req.Sort[0].Field != sort[0].Field) && p.Document.Allows(req) {
				p.post(wire.PathQuery, req)
				return
			}
		}
	}
	all, n := *data, (len(data.Rows)+maxPages-1)/maxPages
	all.Rows = nil
	another(wire.Asc)
	for page := range maxPages {
		_, final, f := window(n, page*n)
		if f != nil || final == nil {
			return f
		}
		all.Rows = append(all.Rows, final.Rows...)
	}
	p.Cases++
	what := fmt.Sprintf("%s: %d pages of %d rows %s do not hold every row once", ofTable(t), maxPages, n, order)
	if d := compare.Leniently.Rows(oracle.Tables{t.Name: data}, declared.AllRows(t), all.Rows); d != nil {
		return differs(what, d)
	}
	another(wire.Desc)
	for _, w := range [][2]int{{7, 0}, {min(n, 50), max(0, len(data.Rows)-8)}, {9, n / 2}, {2 * n, n / 2}} {
		if !p.mayRead(1) {
			break
		}
		req, final, f := window(w[0], w[1])
		if f != nil || final == nil {
			return f
		}
		what := fmt.Sprintf("%s: a window of %d rows (offset %d) %s", ofTable(t), w[0], w[1], order)
		if f := partOf(&all, req, final.Rows, what, fmt.Sprintf("pages of %d rows have", n)); f != nil {
			return f
		}
	}
	return nil
}
