package protocol

import (
	"fmt"
	"net/http"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/refusal"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// undeclaredChecks returns the checks about what the document does not declare: it is refused, or
// left to the platform, and never half done.
func undeclaredChecks() []session.Check {
	return []session.Check{
		{ID: "P3.8", Phase: 3, Judge: refusal.Table{Rows: undeclaredJoins, Declinable: true}.Judge, Rules: []string{"query-7"},
			Needs: session.Only(func(d *session.Document) bool { return !d.Capabilities.Join }, "capabilities.join is true"),
			Title: "joins are refused when capabilities.join is false",
			Fix:   "Answer 422 unsupported to a request whose joins is not empty."},
		{ID: "P3.9", Phase: 3, Judge: refusal.Table{Rows: undeclaredGrains, About: dated, Declinable: true}.Judge,
			Rules: []string{"aggregate-4a", "error-7", "document-10"},
			Needs: session.All(
				session.Only(func(d *session.Document) bool { return !d.Capabilities.DateBucket }, "capabilities.dateBucket is true"),
				needsRoute(wire.PathAggregate)),
			Title: "grains are refused or declined when capabilities.dateBucket is false",
			Fix: "Answer 422 unsupported to a groupBy with a grain, or decline with 204: " +
				"groups of whole values under a period's name are wrong numbers."},
		{ID: "P3.13a", Phase: 3, Judge: windowsWhole,
			Rules: []string{"stream-2b", "document-11", "document-12", "query-8a"},
			Needs: session.Only(func(d *session.Document) bool {
				c := d.Capabilities
				return c.Sort != wire.SortMulti || !c.Offset || c.Limits.OffsetMax > 0
			}, "the document declares several sort keys and any offset"),
			Title: "an undeclared sort or offset is refused, or answered in full, never cut",
			Fix: "Apply limit and offset only when filters and sort are served; " +
				"otherwise stream all rows with served.window false."},
		{ID: "P3.13b", Phase: 3, Judge: refusal.Table{Rows: compiledSQL, About: refusal.NoTable}.Judge,
			Rules: []string{"query-13", "document-8"},
			Needs: session.Only(func(d *session.Document) bool { return d.Dialect == "" }, "the document has a dialect"),
			Title: "compiled SQL is refused where the document has no dialect",
			Fix:   "Refuse a /query body that holds sql with 400 or 422."},
	}
}

var undeclaredJoins = []refusal.Row{
	{Paths: at(wire.PathQuery, wire.PathAggregate), Joins: "[" + hop + "]",
		What: "with a join, which the document does not declare,", Codes: undeclaredCodes},
}

var undeclaredGrains = []refusal.Row{
	{Paths: at(wire.PathAggregate), Member: "groupBy", JSON: `[{"field":%field,"as":"g","grain":"year"}]`,
		What: "by the grain year, which the document does not declare,", Codes: undeclaredCodes},
	{Paths: at(wire.PathAggregate), Member: "groupBy", JSON: `[{"field":%field,"as":"g","grain":"day"}]`,
		What: "by the grain day, which the document does not declare,", Codes: undeclaredCodes},
}

var compiledSQL = []refusal.Row{
	{Paths: at(wire.PathQuery), Body: `{"sql":"SELECT 1","params":[],"credentials":%credentials,"timeoutMs":60000}`,
		What: "with sql, without a dialect,", Codes: badOrUnsupported},
}

// dated returns a table with a field of days or instants, or any that exists.
func dated(run *session.Run) (session.Topic, *check.Finding) {
	topic, f := run.ExistingTopic()
	if f != nil {
		return topic, f
	}
	for _, t := range run.SmallestFirst() {
		for _, field := range t.Fields {
			if field.Type == wire.TypeDate || field.Type == wire.TypeDatetime {
				topic = session.Topic{Table: t, Name: t.Name, Field: field.Name}
			}
		}
	}
	return topic, nil
}

// window is a sort or an offset that the connector has not declared.
type window struct {
	what   string
	sort   []wire.SortKey
	offset int64
}

// undeclaredWindows returns the sorts and offsets that the document excludes.
func undeclaredWindows(c wire.Capabilities, t *wire.Table) (list []window) {
	keys := []wire.SortKey{{Field: t.Fields[0].Name, Dir: wire.Asc}}
	if c.Sort == wire.SortSingle && len(t.Fields) > 1 {
		keys = append(keys, wire.SortKey{Field: t.Fields[1].Name, Dir: wire.Desc})
	}
	if c.Sort == wire.SortNone || c.Sort == wire.SortSingle && len(keys) > 1 {
		list = append(list, window{"more sort keys than declared", keys, 0})
	}
	if !c.Offset {
		list = append(list, window{"an offset", nil, 1})
	}
	if c.Limits.OffsetMax > 0 {
		list = append(list, window{"an offset beyond limits.offsetMax", nil, c.Limits.OffsetMax + 1})
	}
	return list
}

// windowsWhole asks for windows that the connector has not declared.
func windowsWhole(run *session.Run) *check.Finding {
	t, n, f := severalRows(run)
	if f != nil {
		return f
	}
	windows := undeclaredWindows(run.Document.Capabilities, t)
	if len(windows) == 0 {
		return check.Skip(check.NoData, "no table has the fields that it takes")
	}
	for _, w := range windows {
		run.Cases++
		req := &wire.QueryRequest{Table: t.Name, Fields: []string{t.Fields[0].Name}, Sort: w.sort, Limit: 1, Offset: w.offset}
		st := run.Query(req)
		if st.Err == nil && (st.Status == http.StatusUnprocessableEntity || st.Status == http.StatusBadRequest) {
			continue
		}
		if f := st.Problem(); f != nil {
			return f
		}
		want, claim := n, "served.window is not claimed, so all rows must follow"
		if st.Served.Filters && st.Served.Sort && st.Served.Window {
			want, claim = int(min(1, max(0, int64(n)-w.offset))), "served.window is claimed"
		}
		if len(st.Table.Rows) != want {
			if f := changed(run, t, n); f != nil {
				return f
			}
			return check.Differs(fmt.Sprintf("%d rows", want), fmt.Sprintf("%d rows", len(st.Table.Rows)),
				"table %s with %s and limit 1: %s", terms.QuoteName(t.Name), w.what, claim)
		}
	}
	return nil
}

// severalRows returns a table of more than one row that can be read whole, and how
// many rows it has.
func severalRows(run *session.Run) (*wire.Table, int, *check.Finding) {
	if _, f := run.Discovery(0); f != nil {
		return nil, 0, f
	}
	for _, t := range run.SmallestFirst() {
		if len(t.Fields) == 0 {
			continue
		}
		rows, f := run.Table(t)
		if f != nil {
			return nil, 0, f
		}
		if rows != nil && len(rows.Rows) > 1 {
			return t, len(rows.Rows), nil
		}
	}
	return nil, 0, check.Skip(check.NoData, "no table with more than one row within the row budget")
}

// changed returns the finding that skips the check if a table has no longer n rows,
// because live data changes.
func changed(run *session.Run, t *wire.Table, n int) *check.Finding {
	last := run.Last
	run.Forget(t)
	rows, f := run.Table(t)
	run.Last = last
	if f == nil && (rows == nil || len(rows.Rows) != n) {
		f = check.Skip(check.DataChanged, "table %s", terms.QuoteName(t.Name))
	}
	return f
}
