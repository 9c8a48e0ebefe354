package conformance

import (
	"fmt"
	"net/http"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// undeclaredChecks are P3.8, P3.9 and P3.13: what the document does not declare
// is refused, or left to the platform, and never half done.
func undeclaredChecks() []Check {
	const legal = "a legal request for something the document never advertised, or a filter field the connector cannot evaluate"
	return []Check{
		{
			ID: "P3.8", Phase: 3, judge: joinsRefused,
			needs: func(d *document) string {
				if d.Capabilities.Join {
					return "capabilities.join is true"
				}
				return ""
			},
			Title: "joins are refused when capabilities.join is false",
			Rule:  "protocol, /query 6; B7",
			Quote: "Joins are not executed when `capabilities.join` is false; such a request is refused, not silently dropped.",
			Fix:   "Answer 422 unsupported to a request whose joins is not empty.",
		},
		{
			ID: "P3.9", Phase: 3, judge: grainsRefused,
			needs: func(d *document) string {
				if d.Capabilities.DateBucket {
					return "capabilities.dateBucket is true"
				}
				return routeAt(wire.PathAggregate).needs(d)
			},
			Title: "grains are refused or declined when capabilities.dateBucket is false",
			Rule:  "protocol, /aggregate; E4", Quote: legal,
			Fix: "Answer 422 unsupported to a groupBy with a grain, or decline with 204: groups of whole values under a period's name are wrong numbers.",
		},
		{
			ID: "P3.13a", Phase: 3, judge: windowsWhole,
			needs: func(d *document) string {
				if c := d.Capabilities; c.Sort == wire.SortMulti && c.Offset && c.Limits.OffsetMax == 0 {
					return "the document declares several sort keys and any offset"
				}
				return ""
			},
			Title: "an undeclared sort or offset is refused, or answered in full, never cut",
			Rule:  "protocol, /query 1 and 2; B8",
			Quote: "`served.window` is true when offset and limit were applied and no row beyond them follows; it is honored only when filters and sort are served too.",
			Fix:   "Apply limit and offset only when filters and sort are served; otherwise stream all rows with served.window false.",
		},
		{
			ID: "P3.13b", Phase: 3, judge: sqlRefused,
			needs: func(d *document) string {
				if d.Dialect != "" {
					return "the document has a dialect"
				}
				return ""
			},
			Title: "compiled SQL is refused where the document has no dialect",
			Rule:  "protocol, Capability document", Quote: "present only for a connector that accepts compiled SQL; absent for native mode",
			Fix: "Refuse a /query body that holds sql with 400 or 422.",
		},
	}
}

func joinsRefused(x *exam) {
	of := x.some()
	hop := fmt.Sprintf(`[{"fromTable":%[1]s,"toTable":%[1]s,"fromField":%[2]s,"toField":%[2]s,"fields":[{"field":%[2]s,"as":"joined","type":"string"}]}]`, quoted(of.name), quoted(of.field))
	for _, r := range on(x.mounted(), wire.PathQuery, wire.PathAggregate) {
		a := x.body(r, x.legal(r, of).with("joins", hop).text())
		if r.path == wire.PathAggregate && declines(a) {
			x.cases++
			continue
		}
		x.refuses(a, r.path+" with a join, which the document does not declare,", wire.CodeUnsupported, wire.CodeBadRequest)
	}
}

func grainsRefused(x *exam) {
	of, r := x.some(), routeAt(wire.PathAggregate)
	for _, t := range x.tables() {
		for _, f := range t.Fields {
			if f.Type == wire.TypeDate || f.Type == wire.TypeDatetime {
				of = topic{t, t.Name, f.Name}
			}
		}
	}
	for _, grain := range []wire.Grain{wire.GrainYear, wire.GrainDay} {
		a := x.body(r, x.legal(r, of).with("groupBy", fmt.Sprintf(`[{"field":%s,"as":"g","grain":%q}]`, quoted(of.field), grain)).text())
		if declines(a) {
			x.cases++
			continue
		}
		x.refuses(a, fmt.Sprintf("/aggregate by the grain %s, which the document does not declare,", grain), wire.CodeUnsupported, wire.CodeBadRequest)
	}
}

// windowsWhole asks for windows that the connector has not said it can cut.
func windowsWhole(x *exam) {
	x.discovery(0)
	t, n := x.severalRows()
	c := x.document().Capabilities
	type window struct {
		what   string
		sort   []wire.SortKey
		offset int64
	}
	var asked []window
	keys := []wire.SortKey{{Field: t.Fields[0].Name, Dir: "asc"}}
	if c.Sort == wire.SortSingle && len(t.Fields) > 1 {
		keys = append(keys, wire.SortKey{Field: t.Fields[1].Name, Dir: "desc"})
	}
	if c.Sort == wire.SortNone || c.Sort == wire.SortSingle && len(keys) > 1 {
		asked = append(asked, window{"more sort keys than declared", keys, 0})
	}
	if !c.Offset {
		asked = append(asked, window{"an offset", nil, 1})
	}
	if c.Limits.OffsetMax > 0 {
		asked = append(asked, window{"an offset beyond limits.offsetMax", nil, c.Limits.OffsetMax + 1})
	}
	if len(asked) == 0 {
		x.skip(NoData, "no table has the fields that it takes")
	}
	for _, q := range asked {
		x.cases++
		req := &wire.QueryRequest{Table: t.Name, Fields: []string{t.Fields[0].Name}, Sort: q.sort, Limit: 1, Offset: q.offset}
		st := x.query(req)
		if st.err == nil && (st.status == http.StatusUnprocessableEntity || st.status == http.StatusBadRequest) {
			continue
		}
		x.found(st.unusable())
		if st.broken != "" {
			x.blocked(st.broken, st.why)
		}
		want, claim := n, "served.window is not claimed, so all rows must follow"
		if st.served.Filters && st.served.Sort && st.served.Window {
			want, claim = int(min(1, max(0, int64(n)-q.offset))), "served.window is claimed"
		}
		if len(st.table.Rows) != want {
			x.sameAgain(t, n)
			x.want(fmt.Sprintf("%d rows", want), fmt.Sprintf("%d rows", len(st.table.Rows)), "table %s with %s and limit 1: %s", wire.QuoteName(t.Name), q.what, claim)
		}
	}
}

// severalRows is a table of more than one row that can be read whole, and how
// many it has.
func (x *exam) severalRows() (*wire.Table, int) {
	for _, t := range x.tables() {
		if len(t.Fields) == 0 {
			continue
		}
		if snap := x.table(t); snap != nil && len(snap.Rows) > 1 {
			return t, len(snap.Rows)
		}
	}
	x.skip(NoData, "no table with more than one row within the row budget")
	return nil, 0
}

// sameAgain ends the check when a table has another number of rows than it had:
// live data moves.
func (x *exam) sameAgain(t *wire.Table, n int) {
	last := x.last
	x.forget(0, t)
	snap := x.table(t)
	x.last = last
	if snap == nil || len(snap.Rows) != n {
		x.skip(DataChanged, "table %s", wire.QuoteName(t.Name))
	}
}

func sqlRefused(x *exam) {
	r := routeAt(wire.PathQuery)
	body := payload{{"sql", `"SELECT 1"`}, {"params", "[]"}, {"credentials", string(x.tenants[0].json)}, {"timeoutMs", "60000"}}
	x.refuses(x.body(r, body.text()), "/query with sql, without a dialect,", wire.CodeBadRequest, wire.CodeUnsupported)
}
