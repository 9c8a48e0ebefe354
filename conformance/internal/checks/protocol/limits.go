package protocol

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/compare"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

type window struct {
	what          string
	sort          []wire.SortKey
	limit, offset int64
	undeclared    bool // it may be refused
}

// windowHolds returns the judge that asks for a window, which the declared limits allow, of the largest table that can be
// read whole.
func windowHolds(window func(wire.Limits) window) func(*session.Run) *check.Finding {
	return func(run *session.Run) *check.Finding {
		largestFirst := run.SmallestFirst()
		slices.Reverse(largestFirst)
		t, n, f := wholeTable(run, largestFirst, 1, "no table within the row budget")
		if f != nil {
			return f
		}
		w := window(run.Document.Capabilities.Limits)
		w.what = fmt.Sprintf("of %d rows, with limit %d and offset %d, which the declared limits allow", n, w.limit, w.offset)
		return w.judge(run, t, n)
	}
}

// windowsWhole asks for windows that the connector has not declared.
func windowsWhole(run *session.Run) *check.Finding {
	t, n, f := wholeTable(run, run.SmallestFirst(), 2, "no table with more than one row within the row budget")
	if f != nil {
		return f
	}
	windows := undeclaredWindows(run.Document.Capabilities, t)
	if len(windows) == 0 {
		return check.Skip(check.NoData, "no table has the fields that it takes")
	}
	for _, w := range windows {
		w.what, w.limit, w.undeclared = "with "+w.what+" and limit 1", 1, true
		if f := w.judge(run, t, n); f != nil {
			return f
		}
	}
	return nil
}

// undeclaredWindows returns the sorts and offsets that the document excludes.
func undeclaredWindows(c wire.Capabilities, t *wire.Table) (list []window) {
	keys := []wire.SortKey{{Field: t.Fields[0].Name, Dir: wire.Asc}}
	if c.Sort == wire.SortSingle && len(t.Fields) > 1 {
		keys = append(keys, wire.SortKey{Field: t.Fields[1].Name, Dir: wire.Desc})
	}
	if c.Sort == wire.SortNone || c.Sort == wire.SortSingle && len(keys) > 1 {
		list = append(list, window{what: "more sort keys than declared", sort: keys})
	}
	if !c.Offset {
		list = append(list, window{what: "an offset", offset: 1})
	}
	if c.Limits.OffsetMax > 0 {
		list = append(list, window{what: "an offset beyond limits.offsetMax", offset: c.Limits.OffsetMax + 1})
	}
	return list
}

// judge asks for the window of a table of n rows, and judges how many come: those of the window if it
// is served, otherwise all, of which the platform cuts it.
func (w window) judge(run *session.Run, t *wire.Table, n int) *check.Finding {
	run.Cases++
	req := &wire.QueryRequest{Table: t.Name, Fields: []string{t.Fields[0].Name}, Sort: w.sort, Limit: w.limit, Offset: w.offset}
	st := run.Post(wire.PathQuery, req).Stream
	if w.undeclared && st.Err == nil && (st.Status == http.StatusUnprocessableEntity || st.Status == http.StatusBadRequest) {
		return nil
	}
	if f := st.Problem(); f != nil {
		return f
	}
	want, claim := n, "served.window is not claimed, so all rows must follow"
	if st.Served.Window && !compare.WindowTooEarly(req, st.Served) {
		want, claim = int(min(w.limit, max(0, int64(n)-w.offset))), "served.window is claimed"
	}
	if len(st.Table.Rows) == want {
		return nil
	}
	if f := changed(run, t, n); f != nil {
		return f
	}
	return check.Differs(fmt.Sprintf("%d rows", want), fmt.Sprintf("%d rows", len(st.Table.Rows)),
		"table %s %s: %s", terms.QuoteName(t.Name), w.what, claim)
}

// wholeTable returns the first of the tables that can be read whole and has at least so many rows,
// and how many it has. The check is skipped without such a table.
func wholeTable(run *session.Run, tables []*wire.Table, least int, lacks string) (*wire.Table, int, *check.Finding) {
	if _, f := run.Discovery(0); f != nil {
		return nil, 0, f
	}
	for _, t := range tables {
		if len(t.Fields) == 0 || t.RowCount != nil && *t.RowCount == 0 {
			continue
		}
		rows, f := run.Table(t)
		if f != nil {
			return nil, 0, f
		}
		if rows != nil && len(rows.Rows) >= least {
			return t, len(rows.Rows), nil
		}
	}
	return nil, 0, check.Skip(check.NoData, "%s", lacks)
}

// changed returns the finding that skips the check if a table has no longer n rows, because live data changes.
func changed(run *session.Run, t *wire.Table, n int) *check.Finding {
	last := run.Last
	rows, _, f := run.ReadAgain(t, nil, false)
	run.Last = last
	if f == nil && (rows == nil || len(rows.Rows) != n) {
		f = check.Skip(check.DataChanged, "table %s", terms.QuoteName(t.Name))
	}
	return f
}

// limitChecks returns the checks about the ceilings that the document declares: what lies within them is answered.
func limitChecks() []session.Check {
	page := windowHolds(func(most wire.Limits) window { return window{limit: most.PageSizeMax} })
	skipped := windowHolds(func(most wire.Limits) window { return window{limit: 1, offset: most.OffsetMax} })
	several := declared.Only(func(d *declared.Document) bool { return d.Capabilities.Limits.Concurrency > 1 },
		"limits.concurrency is not above 1")
	return []session.Check{
		{ID: "P3.16a", Phase: 3, Judge: page, Rules: []string{"document-15", "query-15"},
			Needs: declared.Only(func(d *declared.Document) bool { return d.Capabilities.Limits.PageSizeMax > 0 }, "limits has no pageSizeMax"),
			Title: "a limit of pageSizeMax is answered in full",
			Fix:   "Declare as pageSizeMax the largest page that the source really answers."},
		{ID: "P3.16b", Phase: 3, Judge: skipped, Rules: []string{"document-15", "document-12", "query-15"},
			Needs: declared.All(declared.Needs("offset"),
				declared.Only(func(d *declared.Document) bool { return d.Capabilities.Limits.OffsetMax > 0 }, "limits has no offsetMax")),
			Title: "an offset of offsetMax is answered",
			Fix:   "Declare as offsetMax the largest offset that the source really skips."},
		{ID: "P3.16c", Phase: 3, Weight: 80, Judge: concurrencyHolds, Needs: several, Rules: []string{"document-15", "tenant-4"},
			Title: "as many requests at once as limits.concurrency get the answers they get alone",
			Fix: "Declare as concurrency what the source really takes, share nothing between requests that one of them changes, such " +
				"as a table that keeps the filters of the last one, " +
				"and let requests wait rather than fail when the source is busy."},
		{ID: "P3.16e", Phase: 3, Weight: 40, Judge: connectionsAlike, Needs: several, Rules: []string{"document-15", "tenant-4"},
			Title: "one read, asked several times at once when others came before, has the same rows each time",
			Fix: "A connection of a pool keeps what a request has set: its time zone, collation, schema, limits. Set what a request " +
				"needs whenever it takes a connection, and undo it when it gives the connection back."},
	}
}
