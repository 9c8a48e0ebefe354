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
	var tables []beside
	for _, t := range largerFirst(run.SmallestFirst()) {
		if len(t.Fields) == 0 || len(tables) == most {
			continue
		}
		rows, f := run.Table(t)
		if f != nil {
			return f
		}
		if rows != nil && len(rows.Rows) <= maxAtOnceRows {
			tables = append(tables, beside{"table " + terms.QuoteName(t.Name), t, session.AllRows(t), rows})
		}
	}
	if len(tables) == 0 {
		return check.Skip(check.NoData, "no table of at most %d rows", maxAtOnceRows)
	}
	whole := make([]beside, most)
	for i := range whole {
		whole[i] = tables[i%len(tables)]
	}
	if f := sameAtOnce(run, whole, "other requests"); f != nil {
		return f
	}
	for _, b := range tables {
		if rows := len(b.alone.Rows); len(b.table.PrimaryKey) == 1 && rows >= most {
			return sameAtOnce(run, pagesOf(run, b.table, rows, most), "its other pages")
		}
	}
	return nil
}

// beside is one of several requests at once, and the rows that it is answered alone.
type beside struct {
	what  string
	table *wire.Table
	req   *wire.QueryRequest
	alone *oracle.Table
}

// pagesOf asks for the pages of a table, one after the other. It returns none if the connector
// serves no such pages.
func pagesOf(run *session.Run, t *wire.Table, rows, most int) (pages []beside) {
	if session.NeedsSort(run.Document) != "" || !run.Document.Capabilities.Offset {
		return nil
	}
	for i := range most {
		page := session.AllRows(t)
		page.Sort = []wire.SortKey{{Field: t.PrimaryKey[0], Dir: wire.Asc}}
		page.Limit, page.Offset = int64(rows/most), int64(i*(rows/most))
		st := run.Query(page)
		if st.Problem() != nil || !st.Served.Window {
			return nil // for the checks of pages
		}
		st.Table.Columns = t.Columns()
		what := fmt.Sprintf("the page of table %s at offset %d", terms.QuoteName(t.Name), page.Offset)
		pages = append(pages, beside{what, t, page, st.Table})
	}
	return pages
}

// sameAtOnce sends requests at once, and compares the rows with those that each has alone.
func sameAtOnce(run *session.Run, list []beside, others string) *check.Finding {
	streams := make([]*session.Stream, len(list))
	session.AtOnce(len(list), func(i int) {
		streams[i] = run.ExchangeWith(run.Ctx, run.Ask(wire.PathQuery, list[i].req, 0)).Stream
	})
	for i, st := range streams {
		run.Cases++
		run.Last = st.Request
		b, problem := list[i], st.Problem()
		if problem == nil && session.SameRows(b.table, b.alone, st.Table) {
			continue
		}
		if f := b.steady(run); f != nil {
			return f
		}
		if problem != nil {
			return problem.In("%s, beside %s: %s", b.what, others).From(st.Request)
		}
		return check.Differs(fmt.Sprintf("the %d rows that it has alone", len(b.alone.Rows)),
			fmt.Sprintf("%d other rows", len(st.Table.Rows)),
			"%s has other rows beside %s", b.what, others).From(st.Request)
	}
	return nil
}

// steady asks a request alone a few times. It returns why what it is answered beside others cannot
// be judged: the table has changed, or its answers vary without them.
func (b *beside) steady(run *session.Run) *check.Finding {
	name, same := terms.QuoteName(b.table.Name), 0
	var last *oracle.Table
	const times = 3
	for range times {
		st := run.Query(b.req)
		if f := st.Problem(); f != nil {
			return f
		}
		if session.SameRows(b.table, b.alone, st.Table) {
			same++
		}
		if last != nil && b.req.Limit == 0 && !session.SameRows(b.table, last, st.Table) {
			return check.Block("L11", "table %s is answered with %d rows and then, asked alone again, with other %d",
				name, len(last.Rows), len(st.Table.Rows))
		}
		last = st.Table
		last.Columns = b.alone.Columns
	}
	if same < times {
		return check.Skip(check.DataChanged, "table %s", name)
	}
	return nil
}
