package killtest

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// cure is what somebody does whose connector fails a check: what the words of its cure say, and no more.
type cure struct {
	id, words    string // words are a part of the check's Fix
	wrong, cured func() http.Handler
	tenants      bool
}

// declining declines the aggregates that match.
func declining(matches func(body map[string]any) bool) layer {
	return refusing(wire.PathAggregate, matches, http.StatusNoContent)
}

// grained reports whether a request asks for groups by periods.
var grained = having("groupBy", asks("grain"))

var leavingSort = []layer{unwindowed, serving(true, false)}

var skipsOneMore = twist{window: func(offset, limit int64, rows int) (int, int) {
	if offset > 0 {
		offset++
	}
	return cut(offset, limit, rows)
}}

var exactly = twist{window: cut}

func notPushed(ops ...wire.Op) twist {
	return twist{omit: connector.Omit{Operators: ops}, match: func(_ string, _ wire.Value, f wire.Filter, _ wire.Type, right bool) bool {
		return right || slices.Contains(ops, f.Op)
	}}
}

var firstGroup = combining(func(and []wire.Filter, or [][]wire.Filter) ([]wire.Filter, [][]wire.Filter) {
	return and, or[:min(len(or), 1)]
})

func rowsIn(and []wire.Filter, or [][]wire.Filter, table string) int64 {
	l := &oracleSource{tables: oracleTables(pagedTables())}
	return int64(len(l.filter(l.tables[table], &connector.Query{Table: table, Where: wire.Where{And: and, Or: or}})))
}

var countedRows = twist{count: func(req *wire.CountRequest, _ int64) int64 { return rowsIn(req.And, req.Or, req.Table) }}

var noNullGroup = twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
	t.Rows = slices.DeleteFunc(t.Rows, func(row []wire.Value) bool { return len(req.GroupBy) > 0 && row[0].IsNull() })
}}

var localMonths = twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
	if len(req.GroupBy) > 0 && req.GroupBy[0].Grain != "" && len(t.Rows) > 1 {
		t.Rows = t.Rows[1:] // the first period is a part of the one before it
	}
}}

// keysOnce counts each key of a link once, however many rows have it.
func keysOnce(l *oracleSource, req *wire.LinkHitRateRequest, right *wire.LinkHitRate) {
	once, tables, asked := *l.tables[req.FromTable], maps.Clone(l.tables), *req
	once.Rows = slices.Clone(once.Rows)
	firstRows(&once, func(row []wire.Value) string { return textOfRow(&once, row, req.FromColumn) })
	tables["once"], asked.FromTable = &once, "once"
	*right = *must(oracle.LinkHitRate(tables, &asked))
}

func distinctValues(key func(string) string) twist {
	return twist{cardinality: func(t *oracle.Table, name string, n *wire.Cardinality) {
		n.NonNull = int64(len(slices.DeleteFunc(column(t, name), wire.Value.IsNull)))
		n.Distinct = distinctBy(t, name, func(v wire.Value) string { return key(v.String()) })
	}}
}

// cures has at least one cure of each of the checks that connectors fail most often.
var cures = []cure{
	{id: "L1", words: "Count the rows that /query answers with these credentials", wrong: warehouse(twist{
		size: func(_ *wire.SizeRequest, right int64) int64 { return right + 1 }}),
		cured: warehouse(twist{size: func(req *wire.SizeRequest, _ int64) int64 { return rowsIn(nil, nil, req.Table) }})},
	{id: "L1", words: "or answer exact false, or size null", wrong: warehouse(twist{
		size: func(_ *wire.SizeRequest, right int64) int64 { return right + 1 }}),
		cured: over(legalReads, ok(sets("size", nil), wire.PathSize))},
	{id: "L2", words: "take the operator out of capabilities.operators, do not push its filters and leave served.filters false",
		wrong: warehouse(beginningWith(strings.ToLower)), cured: warehouse(notPushed(wire.OpStartsWith), unwindowed, serving(false, true))},
	{id: "L3", words: "Count exactly the rows that /query answers to the same filters", wrong: warehouse(twist{
		count: func(req *wire.CountRequest, _ int64) int64 { return rowsIn(nil, nil, req.Table) }}), cured: warehouse(countedRows)},
	{id: "L4", words: "texts by bytes and numbers by value", wrong: warehouse(distinctValues(func(text string) string { return text[:1] })),
		cured: warehouse(distinctValues(func(text string) string {
			if d, err := decimal.NewFromString(text); err == nil {
				return d.String() // no text of these tables looks like a number
			}
			return text
		}))},
	{id: "L6", words: "skip exactly offset rows and answer exactly limit", wrong: warehouse(skipsOneMore), cured: warehouse(exactly)},
	{id: "L6", words: "answer all rows and leave served.window false", wrong: warehouse(skipsOneMore),
		cured: over(legalReads, unwindowed, serving(true, true))},
	{id: "M20", words: "Skip exactly offset rows and answer exactly limit", wrong: warehouse(skipsOneMore), cured: warehouse(exactly)},
	{id: "L7", words: "Sort numbers by digits, texts by bytes (a binary collation) with collate and without, nulls last in both directions",
		wrong: warehouse(twist{order: reordered(nullsLast(byText))}), cured: warehouse(twist{order: reordered(nullsLast(inOrder))})},
	{id: "L7", words: "answer all rows and leave served.sort and served.window false",
		wrong: warehouse(twist{order: reordered(nullsFirst)}), cured: warehouse(twist{order: reordered(nullsFirst)}, leavingSort...)},
	{id: "L7", words: "reverse the comparison for desc, and keep nulls last in both",
		wrong: warehouse(twist{order: reordered(nullsFirst)}),
		cured: warehouse(twist{order: reordered(nullsLast(inOrder))})},
	{id: "L8", words: "with a group for null", wrong: warehouse(noNullGroup), cured: legalReads},
	{id: "L8", words: "decline with 204", wrong: warehouse(noNullGroup),
		cured: warehouse(noNullGroup, declining(asks("groupBy>0")))},
	{id: "M24", words: "or decline with 204", wrong: warehouse(localMonths), cured: warehouse(localMonths, declining(grained))},
	{id: "L9", words: "Count the from-rows with a key, and those of them whose key no to-row has",
		wrong: warehouse(twist{link: keysOnce}), cured: legalReads},
	{id: "L2", words: "nin keeps what in drops, null cells included", wrong: warehouse(operator(wire.OpNin,
		func(cell wire.Value, _ wire.Filter, right bool) bool { return right && !cell.IsNull() })),
		cured: warehouse(twist{match: func(_ string, cell wire.Value, f wire.Filter, t wire.Type, right bool) bool {
			if f.Op != wire.OpNin {
				return right
			}
			f.Op = wire.OpIn
			return cell.IsNull() || !oracle.Match(cell, f, t)
		}})},
	{id: "L2", words: "members of a list as eq compares its value", wrong: warehouse(operator(wire.OpIn,
		func(cell wire.Value, f wire.Filter, right bool) bool {
			return right && cell.String() == f.Values[0].String()
		})),
		cured: warehouse(twist{match: func(_ string, cell wire.Value, f wire.Filter, t wire.Type, right bool) bool {
			if f.Op != wire.OpIn {
				return right
			}
			return slices.ContainsFunc(f.Values, func(v wire.Value) bool {
				return oracle.Match(cell, wire.Filter{Field: f.Field, Op: wire.OpEq, Value: v}, t)
			})
		}})},
	{id: "M11", words: "Join the filters of and by AND", wrong: warehouse(twist{
		passes: func(and []wire.Filter, or [][]wire.Filter, holds func(wire.Filter) bool) bool {
			return rightly(nil, or, holds) && (len(and) == 0 || slices.ContainsFunc(and, holds))
		}}), cured: warehouse(twist{passes: rightly})},
	{id: "M7", words: "Project without DISTINCT and without GROUP BY", wrong: warehouse(twist{
		rows: func(req *connector.Query, t *oracle.Table, _, _ int64) {
			if len(req.Fields) > 0 {
				firstRows(t, func(row []wire.Value) string { return textOfRow(t, row, req.Fields...) })
			}
		}}), cured: legalReads},
	{id: "M10", words: "Build the conditions of all three routes with the same code", wrong: warehouse(miscounted(
		func(req *wire.CountRequest) bool { return len(req.And) == 1 && req.And[0].Op == wire.OpNeq },
		func(right int64) int64 { return right + 1 })), cured: warehouse(countedRows)},
	{id: "M11", words: "every group of or", wrong: warehouse(firstGroup), cured: warehouse(twist{passes: rightly})},
	{id: "M11", words: "take the operators out of capabilities.operators, push none of their filters and leave served.filters false",
		wrong: warehouse(firstGroup), cured: warehouse(notPushed(filter.Operators()...), unwindowed, serving(false, true))},
	{id: "M12", words: "Filter, then sort by all keys, nulls last, then skip offset rows and answer limit",
		wrong: warehouse(twist{early: true}), cured: warehouse(exactly)},
	{id: "M12", words: "answer all rows that the filters keep and leave served.sort and served.window false",
		wrong: warehouse(twist{early: true}), cured: over(legalReads, leavingSort...)},
	{id: "M21", words: "keep rows without a match with nulls", wrong: warehouse(twist{
		joined: func(req *connector.Query, t *oracle.Table) {
			at := len(t.Columns) - len(req.Joins[len(req.Joins)-1].Fields)
			t.Rows = slices.DeleteFunc(t.Rows, func(row []wire.Value) bool { return row[at].IsNull() })
		}}), cured: legalReads},
	{id: "M22", words: "or decline with 204", wrong: joinedSums("", func(string) bool { return true }).build,
		cured: over(joinedSums("", func(string) bool { return true }).build, declining(asks("joins>0")))},
	{id: "M23", words: "ask the upstream for that many groups, and answer 422 when they come", wrong: warehouse(twist{
		groups: func(req *wire.AggregateRequest, t *oracle.Table) {
			t.Rows = t.Rows[:min(len(t.Rows), int(req.Limit)-1)]
		}}),
		cured: warehouse(twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
			t.Rows = t.Rows[:min(len(t.Rows), int(req.Limit))] // the library answers 422 to so many
		}})},
	{id: "M25", words: "Compare by the type of the source's column", wrong: believing, cured: legalReads},
	{id: "T2", words: "unless its key holds the credentials", tenants: true, wrong: over(twoCustomers, keeping(wire.PathCount, byRequest)),
		cured: over(twoCustomers, keeping(wire.PathCount, func(r *http.Request, body map[string]any) string {
			set, _ := body["credentials"].(map[string]any)
			tenant, _ := set["tenant"].(string)
			password, _ := set["password"].(string)
			return byRequest(r, body) + "\x00" + tenant + "\x00" + password
		}))},
	{id: "T4", words: "Refuse a request without a required credential, on every route", tenants: true,
		wrong: picking(func(_ *http.Request, set map[string]string) int {
			if len(set) == 0 {
				return 0
			}
			return known(set)
		}),
		cured: picking(func(_ *http.Request, set map[string]string) int {
			if set["tenant"] == "" || set["password"] == "" {
				return -1
			}
			return known(set)
		})},
}

// TestCures requires that a check's cure, followed to the letter by somebody whose connector fails the check, makes
// the connector pass it.
func TestCures(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	fixes := map[string]string{}
	for _, c := range allChecks() {
		fixes[c.ID] = c.Fix
	}
	ids := map[string]bool{}
	for _, c := range cures {
		ids[c.id] = true
		require.Contains(t, fixes[c.id], c.words, "%s: the cure has other words; follow them again", c.id)
		t.Run(c.id+" "+c.words, func(t *testing.T) {
			t.Parallel()
			verdict := func(h http.Handler) conformance.Outcome {
				g := with(live, matching("^"+c.id+"$"), atMost(400))
				if c.tenants {
					g.credentials = hostSets
				}
				return *grade(t, h, g).Outcome(c.id)
			}
			o := verdict(c.wrong())
			require.Equal(t, conformance.Fail, o.Verdict, "before: %s %s", o.Reason, o.Detail)
			o = verdict(c.cured())
			require.NotEqual(t, conformance.Fail, o.Verdict, "after: %s\nexpected %s\nreceived %s\n%+v", o.Detail, o.Expected, o.Received, o.Request)
		})
	}
	require.GreaterOrEqual(t, len(ids), 20)
}
