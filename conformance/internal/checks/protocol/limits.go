package protocol

import (
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// limitChecks returns the checks about the ceilings that the document declares: what
// lies within them is answered.
func limitChecks() []session.Check {
	return []session.Check{
		{ID: "P3.16a", Phase: 3, Judge: pageSizeHolds, Rules: []string{"document-15", "query-15"},
			Needs: session.Only(func(d *session.Document) bool { return d.Capabilities.Limits.PageSizeMax > 0 }, "limits has no pageSizeMax"),
			Title: "a limit of pageSizeMax is answered in full",
			Fix:   "Declare as pageSizeMax the largest page that the source really answers."},
		{ID: "P3.16b", Phase: 3, Judge: offsetHolds, Rules: []string{"document-15", "document-12", "query-15"},
			Needs: session.All(session.NeedsOffset,
				session.Only(func(d *session.Document) bool { return d.Capabilities.Limits.OffsetMax > 0 }, "limits has no offsetMax")),
			Title: "an offset of offsetMax is answered",
			Fix:   "Declare as offsetMax the largest offset that the source really skips."},
		{ID: "P3.16c", Phase: 3, Weight: 16, Judge: concurrencyHolds, Rules: []string{"document-15", "tenant-4"},
			Needs: session.Only(func(d *session.Document) bool { return d.Capabilities.Limits.Concurrency > 1 },
				"limits.concurrency is not above 1"),
			Title: "as many requests at once as limits.concurrency get the answers they get alone",
			Fix: "Declare as concurrency what the source really takes, share nothing between requests that one of them changes, " +
				"and let requests wait rather than fail when the source is busy."},
	}
}

func pageSizeHolds(run *session.Run) *check.Finding {
	return windowHolds(run, run.Document.Capabilities.Limits.PageSizeMax, 0)
}

func offsetHolds(run *session.Run) *check.Finding {
	return windowHolds(run, 1, run.Document.Capabilities.Limits.OffsetMax)
}

// windowHolds asks for a window of the largest table that can be read whole, and
// judges how many rows the platform ends up with.
func windowHolds(run *session.Run, limit, offset int64) *check.Finding {
	if _, f := run.Discovery(0); f != nil {
		return f
	}
	for _, t := range slices.Backward(run.SmallestFirst()) {
		if len(t.Fields) == 0 || t.RowCount != nil && *t.RowCount == 0 {
			continue
		}
		whole, f := run.Table(t)
		if f != nil {
			return f
		}
		if whole == nil {
			continue
		}
		n := len(whole.Rows)
		run.Cases++
		req := &wire.QueryRequest{Table: t.Name, Fields: []string{t.Fields[0].Name}, Limit: limit, Offset: offset}
		st, f := run.QueryRows(req)
		if f != nil {
			return f
		}
		want := int(min(limit, max(0, int64(n)-offset)))
		got := len(st.Table.Rows)
		if !st.Served.Window || session.WindowTooEarly(req, st.Served) {
			want = n // the platform cuts the window itself
		}
		if got == want {
			return nil
		}
		if f := changed(run, t, n); f != nil {
			return f
		}
		return check.Differs(fmt.Sprintf("%d rows", want), fmt.Sprintf("%d rows", got),
			"table %s of %d rows, with limit %d and offset %d, which the declared limits allow",
			terms.QuoteName(t.Name), n, limit, offset)
	}
	return check.Skip(check.NoData, "no table within the row budget")
}

// maxAtOnceRows is how many rows a table may have that is read beside others.
const maxAtOnceRows = 2_000

// largerFirst returns the tables that may be read beside others: the larger ones first, which take more
// than one page of an upstream, and then those of unknown size.
func largerFirst(smallestFirst []*wire.Table) (list []*wire.Table) {
	for _, t := range slices.Backward(smallestFirst) {
		if t.RowCount != nil && *t.RowCount <= maxAtOnceRows {
			list = append(list, t)
		}
	}
	for _, t := range smallestFirst {
		if t.RowCount == nil {
			list = append(list, t)
		}
	}
	return list
}

// concurrencyHolds reads as many tables at once as the document allows, and compares
// them with what was read of them alone; then as many pages of one of them.
func concurrencyHolds(run *session.Run) *check.Finding {
	if _, f := run.Discovery(0); f != nil {
		return f
	}
	most := min(int(run.Document.Capabilities.Limits.Concurrency), max(2, run.Allowance()))
	var tables []*wire.Table
	var alone []*oracle.Table
	for _, t := range largerFirst(run.SmallestFirst()) {
		if len(t.Fields) == 0 || len(tables) == most {
			continue
		}
		rows, f := run.Table(t)
		if f != nil {
			return f
		}
		if rows != nil && len(rows.Rows) <= maxAtOnceRows {
			tables, alone = append(tables, t), append(alone, rows)
		}
	}
	if len(tables) == 0 {
		return check.Skip(check.NoData, "no table of at most %d rows", maxAtOnceRows)
	}
	var whole []*wire.QueryRequest
	for i := range most {
		whole = append(whole, session.AllRows(tables[i%len(tables)]))
	}
	for i, st := range askAtOnce(run, whole) {
		run.Cases++
		t, before := tables[i%len(tables)], alone[i%len(tables)]
		name := terms.QuoteName(t.Name)
		run.Last = st.Request
		problem := st.Problem()
		if problem == nil && session.SameRows(t, before, st.Table) {
			continue
		}
		if f := steady(run, t, before); f != nil {
			return f
		}
		if problem != nil {
			return problem.In("table %s, beside other requests: %s", name).From(st.Request)
		}
		return check.Differs(fmt.Sprintf("the %d rows that it has alone", len(before.Rows)),
			fmt.Sprintf("%d other rows", len(st.Table.Rows)), "table %s answers other rows beside other requests", name).From(st.Request)
	}
	for i, t := range tables {
		if len(t.PrimaryKey) == 1 && len(alone[i].Rows) >= most {
			return pagesAtOnce(run, t, len(alone[i].Rows), most)
		}
	}
	return nil
}

// pagesAtOnce asks for the pages of a table at once, and compares each with the page that is answered
// alone, before and after. It passes if the connector serves no such pages.
func pagesAtOnce(run *session.Run, t *wire.Table, rows, most int) *check.Finding {
	if session.NeedsSort(run.Document) != "" || !run.Document.Capabilities.Offset {
		return nil
	}
	var pages []*wire.QueryRequest
	var before []*session.Stream
	for i := range most {
		page := session.AllRows(t)
		page.Sort = []wire.SortKey{{Field: t.PrimaryKey[0], Dir: wire.Asc}}
		page.Limit, page.Offset = int64(rows/most), int64(i*(rows/most))
		st := run.Query(page)
		if st.Problem() != nil || !st.Served.Window {
			return nil // for the checks of pages
		}
		pages, before = append(pages, page), append(before, st)
	}
	for i, st := range askAtOnce(run, pages) {
		run.Cases++
		run.Last = st.Request
		if st.Problem() == nil && session.SameRows(t, before[i].Table, st.Table) {
			continue
		}
		if after := run.Query(pages[i]); after.Problem() != nil || !session.SameRows(t, before[i].Table, after.Table) {
			return check.Skip(check.DataChanged, "table %s", terms.QuoteName(t.Name))
		}
		if f := st.Problem(); f != nil {
			return f.In("a page of table %s, beside its other pages: %s", terms.QuoteName(t.Name)).From(st.Request)
		}
		return check.Differs(fmt.Sprintf("the %d rows that it has alone", len(before[i].Table.Rows)),
			fmt.Sprintf("%d other rows", len(st.Table.Rows)), "the page of table %s at offset %d has other rows beside its other pages",
			terms.QuoteName(t.Name), pages[i].Offset).From(st.Request)
	}
	return nil
}

// steady reads a table alone a few times. It returns why what is answered beside other
// requests cannot be judged: the table has changed, or its answers vary without them.
func steady(run *session.Run, t *wire.Table, before *oracle.Table) *check.Finding {
	name, same := terms.QuoteName(t.Name), 0
	var last *oracle.Table
	const times = 3
	for range times {
		st := run.Query(session.AllRows(t))
		if f := st.Problem(); f != nil {
			return f
		}
		if session.SameRows(t, before, st.Table) {
			same++
		}
		if last != nil && !session.SameRows(t, last, st.Table) {
			return check.Block("L11", "table %s is answered with %d rows and then, asked alone again, with other %d",
				name, len(last.Rows), len(st.Table.Rows))
		}
		last = st.Table
		last.Columns = before.Columns
	}
	if same < times {
		return check.Skip(check.DataChanged, "table %s", name)
	}
	return nil
}

// askAtOnce asks queries at once.
func askAtOnce(run *session.Run, requests []*wire.QueryRequest) []*session.Stream {
	streams := make([]*session.Stream, len(requests))
	session.AtOnce(len(requests), func(i int) {
		req := requests[i]
		streams[i] = run.StreamWith(run.Ctx, run.Ask(wire.PathQuery, req, 0), session.Members(req), run.Rows)
	})
	return streams
}
