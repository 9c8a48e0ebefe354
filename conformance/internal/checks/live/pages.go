package live

import (
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/compare"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/generate"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// maxPagedTables is how many tables are read in pages.
const maxPagedTables = 12

// pages are sizes of pages to be read of a table, by the number of its rows: under its key alone or behind
// a column whose values repeat, where a connector that goes on behind the last value loses rows.
type pages struct {
	ties  bool
	sizes func(rows int) []int
}

func sizes(list ...int) func(int) []int { return func(int) []int { return list } }

// pagesCompose judges that pages under a key, put one after the other, are the sorted
// rows, for pages of several sizes.
func pagesCompose(p *liveRun) *check.Finding {
	plan := []pages{
		{false, func(rows int) []int { return []int{rows/2 + 1} }}, {true, sizes(7)}, {false, sizes(100, 1000)},
		{false, func(rows int) []int { return []int{rows + 1, rows} }}, {true, sizes(1, 2)},
	}
	return p.eachPaged(plan, func(t pagedTable, rows known, of func(int) []int) *check.Finding {
		return p.compose(t, rows, nil, of)
	})
}

// filteredPagesCompose judges the same with filters. Some windows are those that were
// asked for without a filter, which a connector that keeps pages by their window shows.
func filteredPagesCompose(p *liveRun) *check.Finding {
	plan := []pages{{true, sizes(7, 2)}, {false, func(rows int) []int { return []int{rows/2 + 1, 5, 100} }}}
	return p.eachPaged(plan, func(t pagedTable, rows known, of func(int) []int) *check.Finding {
		filters := p.selectiveFilter(t.Table, rows.Tables[t.Table.Name])
		if filters == nil || !rows.whole {
			filters, of = nil, sizes(3)
		}
		return p.compose(t, rows, filters, of)
	})
}

// eachPaged judges the pages of a plan for each table that can be read in pages, as the
// tables take turns.
func (p *liveRun) eachPaged(
	plan []pages, judge func(t pagedTable, rows known, sizes func(int) []int) *check.Finding,
) *check.Finding {
	return p.askAll(generate.InTurn(p.pagedTables(), func(paged pagedTable) (list []question) {
		for _, next := range plan {
			t := paged
			if next.ties && t.ties != nil {
				t.sort = append(slices.Clone(t.ties), t.sort...)
			}
			list = append(list, question{tables: []*wire.Table{t.Table}, requests: 1, partly: true, judge: func(rows known) *check.Finding {
				return judge(t, rows, next.sizes)
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
				list = append(list, pagedTable{t, sort, p.tyingColumn(t, rows, len(sort)+1)})
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
func (p *liveRun) tyingColumn(t *wire.Table, rows *oracle.Table, n int) []wire.SortKey {
	name := fewestValues(t, rows, func(i int, distinct int64) bool {
		key := []wire.SortKey{{Field: t.Fields[i].Name, Dir: wire.Asc}}
		return distinct > 1 && generate.OrderSettled(rows, i) && oracle.Unsettled(rows, key, nil) == ""
	})
	if name == "" || n > p.Document.SortKeys() {
		return nil
	}
	return []wire.SortKey{{Field: name, Dir: wire.Asc}}
}

// fewestValues returns the column with the fewest values, of those for which a condition holds, or "" if
// all of them have distinct values.
func fewestValues(t *wire.Table, rows *oracle.Table, hold func(column int, distinct int64) bool) (name string) {
	least := int64(len(rows.Rows))
	for i, f := range t.Fields {
		if c, err := oracle.Cardinality(rows, f.Name); err == nil && c.Distinct < least && hold(i, c.Distinct) {
			name, least = f.Name, c.Distinct
		}
	}
	return name
}

// ordersRows reports whether a key has a different value for each row, and all
// readings order the values alike. Whether declared keys are unique has a check of
// its own.
func ordersRows(t *oracle.Table, key []wire.SortKey) bool {
	for _, k := range key {
		c := t.Index(k.Field)
		if c < 0 || !generate.OrderSettled(t, c) || slices.ContainsFunc(t.Rows, func(row []wire.Value) bool { return row[c].IsNull() }) {
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
	if !p.room(1) {
		return nil
	}
	req := session.AllRows(t)
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
			if n < 1 || page*n > rows || !compared || !p.Document.Allows(&paged) || !p.room(1) {
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
	st, rows, f := p.read(t, req, session.WindowRows)
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
	n := int(req.Limit)
	want := rows.Rows[min(page*n, len(rows.Rows)):min((page+1)*n, len(rows.Rows))]
	what := fmt.Sprintf("%s: page %d of %d rows (offset %d) under %s",
		ofTable(t), page+1, n, page*n, describeSort(req.Sort))
	if len(final.Rows) != len(want) {
		return check.Differs(fmt.Sprintf("%d rows, as the same query has without a window", len(want)), fmt.Sprintf("%d rows", len(final.Rows)),
			"%s has another number of rows", what)
	}
	for i, row := range final.Rows {
		if !session.SameRow(rows.Columns, want[i], row) {
			return check.Differs(session.ShowRow(rows.Columns, want[i]), session.ShowRow(rows.Columns, row),
				"%s: row %d is not the one that the same query has there without a window", what, i)
		}
	}
	return nil
}

// tiesBroken reads all pages of tables whose rows tie: sorted by the column of the fewest
// values, so that pages end within a tie, and without a sort. Every row must come once.
func tiesBroken(p *liveRun) *check.Finding {
	judged, sortedFirst := 0, true
	return inTurn(1, func(p *liveRun, t *wire.Table, data *oracle.Table) (list []question) {
		if len(data.Rows) < 3 || judged >= 2*maxPagedTables {
			return nil
		}
		orders := [][]wire.SortKey{nil}
		if by := p.tyingColumn(t, data, 1); by != nil {
			by[0].Dir = wire.Desc
			orders = append(orders, by)
			if sortedFirst {
				slices.Reverse(orders) // the requests may not suffice for both
			}
			sortedFirst = !sortedFirst
		}
		for _, sort := range orders {
			judged++
			list = append(list, about(t, maxPages, func(rows *oracle.Table) *check.Finding { return p.everyRowOnce(t, rows, sort) }))
		}
		return list
	})(p)
}

func (p *liveRun) everyRowOnce(t *wire.Table, data *oracle.Table, sort []wire.SortKey) *check.Finding {
	n := (len(data.Rows) + maxPages - 1) / maxPages
	var rows [][]wire.Value
	for page := range maxPages {
		req := session.AllRows(t)
		req.Sort, req.Limit, req.Offset = sort, int64(n), int64(page*n)
		if !p.Document.Allows(req) {
			return nil
		}
		st, final, f := p.ask(t, req)
		if f != nil || final == nil || !st.Served.Window {
			return f
		}
		rows = append(rows, final.Rows...)
	}
	p.Cases++
	order := "without a sort"
	if len(sort) > 0 {
		order = "under " + describeSort(sort)
	}
	what := fmt.Sprintf("%s: %d pages of %d rows %s do not hold every row once", ofTable(t), maxPages, n, order)
	return differs(what, compare.Leniently.Rows(oracle.Tables{t.Name: data}, session.AllRows(t), rows))
}
