package killtest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// lawIDs are the checks that are tested here.
const lawIDs = `^(L\d+|M[1-7]|M2[0-8]|T[1-3]|P3\.5[abc]|P3\.7a|A\.15)$`

func TestLawsHold(t *testing.T) {
	t.Parallel()
	for i, test := range []struct {
		name, why string
		options   func(*grading)
		build     func() http.Handler
		// skipped are the checks that these data cannot exercise.
		skipped []string
	}{
		{name: "the corpus", why: "every law holds of the corpus", options: live, build: usual, skipped: []string{"T1", "T2", "T3"}},
		{name: "a shop", why: "every law is exercised by ordinary data", options: live, build: untouched,
			skipped: []string{"M23", "T1", "T2", "T3", "P3.5a", "P3.5b", "P3.5c", "P3.7a"}},
		{name: "two tenants", why: "tenants that are apart pass", options: apart,
			build:   twoCustomers,
			skipped: []string{"L9", "M23", "P3.5a", "P3.5b", "P3.5c", "P3.7a"}},
		{name: "tables beyond the row budget", why: "larger tables are exercised with windows",
			options: func(g *grading) { live(g); g.RowBudget = 60 },
			build:   func() http.Handler { return plain(shop()[1], largeCustomers()) },
			skipped: []string{"L1", "L3", "L4", "L8", "L9", "L11", "M7", "M10", "M20", "M21", "M22", "M23",
				"M24", "M25", "M27", "T1", "T2", "T3",
				"A.15", "P3.5a", "P3.5b", "P3.5c", "P3.7a"}},
		{name: "ceilings", why: "no window is asked for that the declared limits exclude", options: live, build: func() http.Handler {
			return ceilings(100, 20)(serve(connector.Definition{Limits: wire.Limits{PageSizeMax: 100, OffsetMax: 20}}, liveShop(), nil))
		}, skipped: []string{"A.15", "M23", "T1", "T2", "T3", "P3.5a", "P3.5b", "P3.5c", "P3.7a"}},
		{name: "fixture mode", why: "slow and tenant checks belong to phase 3", build: usual, skipped: []string{"T1", "T2", "T3"}},
	} {
		if !testrun.Runs(i+1, 6) {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			report := grade(t, test.build(), with(test.options, matching(lawIDs)))
			for _, o := range report.Outcomes {
				t.Log(o.ID, o.Verdict, o.Reason, o.Cases, o.Detail, o.Duration)
				want := conformance.Pass
				if slices.Contains(test.skipped, o.ID) {
					want = conformance.Skip
				}
				require.Equal(t, want, o.Verdict, "%s: %s %s: expected %s, received %s", o.ID, o.Reason, o.Detail, o.Expected, o.Received)
				if want == conformance.Pass {
					require.Positive(t, o.Cases, "%s judged nothing", o.ID)
				}
			}
			t.Log(report.Coverage().Requests, "requests", report.Coverage().Rows, "rows")
		})
	}
}

// largeCustomers returns the shop's customers, a few times over.
func largeCustomers() memsource.Table {
	t := shop()[0]
	rows := t.Rows
	for n := 1; n < 5; n++ {
		for _, row := range rows {
			row = slices.Clone(row)
			row[0] = wire.Int(row[0].Int64() + int64(1000*n))
			if !row[2].IsNull() {
				row[2] = wire.Text(row[2].Text() + strings.Repeat("x", n))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// ceilings refuses windows beyond what the document declares.
func ceilings(limit, offset int64) layer {
	return bodies(func(body map[string]any) {
		if integer(body, "limit") > limit || integer(body, "offset") > offset {
			body["limit"] = "beyond the ceiling" // refused as malformed
		}
	}, wire.PathQuery)
}

func TestLargeTablesAreJudgedByWindows(t *testing.T) {
	t.Parallel()
	tables := func() []memsource.Table { return []memsource.Table{largeCustomers()} }
	large := func() http.Handler { return plain(tables()...) }
	asked := func(change func(req *connector.Query)) func() http.Handler { return stocked(tables, asking(change)) }
	for _, test := range []struct {
		id    string
		build func() http.Handler
	}{
		{"L2", asked(func(req *connector.Query) { req.And = nil })},
		{"L5", over(large, eachTable(eachOf(sets("unique", true), "fields")))},
		{"L6", over(large, bodies(where(asks("offset>0"), adds("offset", 1)), wire.PathQuery))},
		{"L7", asked(func(req *connector.Query) { req.Sort = nil })},
		{"L10", over(large, cells(func(name string, v any) any {
			if name == "active" {
				return "yes"
			}
			return v
		}))},
	} {
		t.Run(test.id, func(t *testing.T) {
			t.Parallel()
			g := ofLive("^" + test.id + "$")
			g.RowBudget = 100
			grade(t, test.build(), g).has(t, conformance.Fail, test.id)
		})
	}
}

// moving returns a connector whose data change with every few requests: a row is added to the end of its table.
func moving(def connector.Definition, every int64) http.Handler {
	many, _ := corpusTable("many")
	var requests atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		table := memsource.Table(many)
		table.Rows, table.RowCount = many.Rows[:min(20+int(requests.Add(1)/every), len(many.Rows))], nil
		serve(def, source(table), nil).ServeHTTP(w, r)
	})
}

func TestDataThatMovesFailNothing(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	for _, test := range []struct {
		name  string
		every int64
		moved bool // laws are skipped because of it
	}{
		{name: "with every request", every: 1, moved: true},
		{name: "with every third request", every: 3, moved: true},
		{name: "now and then", every: 40},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			g := ofLive(lawIDs)
			report := grade(t, moving(connector.Definition{}, test.every), g)
			report.nothingFound(t, "data may move", conformance.Advise)
			require.Equal(t, test.moved, slices.ContainsFunc(report.Outcomes,
				func(o conformance.Outcome) bool { return o.Reason == conformance.DataChanged }))
		})
	}
}

func TestFaultsAreFoundInDataThatMove(t *testing.T) {
	h := edits(adds("count", 1), wire.PathCount)(moving(connector.Definition{}, 60))
	grade(t, h, ofLive(`^L3$`)).has(t, conformance.Fail, "L3")
}

func TestGivingUpIsNoFaultOfTheStream(t *testing.T) {
	report := grade(t, hanging(usual()), with(matching(`^P3\.(5[ab]|7a|6g|6e)$`)))
	report.has(t, conformance.Pass, "P3.6e", "P3.6g")
}

// oddRead is a connector that reads, counts or joins in a way that few would expect, and breaks no rule.
type oddRead struct {
	name, why string // why is the sentence that allows it
	build     func() http.Handler
}

var legalReads = warehouse(twist{})

var oddReads = []oddRead{
	{"pages of an upstream", "the connector that others are made from", legalReads},
	{"rows in another order for each request", "a request without a sort names no order", shuffled(pagedTables)},
	{"decimals in another spelling for each request", "numbers agree by their digits", func() http.Handler {
		var n atomic.Int64
		return warehouse(twist{answer: func(_ *connector.Query, t *oracle.Table) {
			zeros := strings.Repeat("0", int(n.Add(1)%4))
			for _, row := range t.Rows {
				for c, column := range t.Columns {
					if column.Type == wire.TypeDecimal && !row[c].IsNull() {
						row[c] = wire.Decimal(row[c].String() + zeros)
					}
				}
			}
		}})()
	}},
	{"nothing is claimed", "serving none of the three is always safe", over(legalReads, unwindowed, serving(false, false))},
	{"a window is cut and not claimed from the start", "what is cut twice is cut alike", over(legalReads,
		onlyFor(wire.PathQuery, asks("offset>0"), unwindowed), lines(func(line []byte, emit func(...string)) {
			emit(strings.Replace(string(line), `"window":true`, `"window":false`, 1))
		}))},
	{"sizes are far estimates", "exact is false when the source estimates", over(legalReads,
		ok(sets("size", map[string]any{"rows": 7_000_000, "exact": false}), wire.PathSize))},
	{"row counts are estimates", "rowCount need not be exact", over(legalReads, eachTable(sets("rowCount", 1000)))},
	{"views that cannot be read", "a table that stores no rows may need what a plain read lacks",
		over(legalReads, func(h http.Handler) http.Handler {
			h = edits(func(body map[string]any) {
				if tables := listOf(body, "tables"); len(tables) > 0 {
					view := maps.Clone(tables[0])
					view["name"], view["storesRows"] = "report", false
					delete(view, "rowCount")
					body["tables"] = append(tables, view)
				}
			}, wire.PathDiscovery)(h)
			for _, path := range routePaths {
				h = refusing(path, func(body map[string]any) bool {
					return body["table"] == "report" || body["fromTable"] == "report" || body["toTable"] == "report"
				}, http.StatusUnprocessableEntity)(h)
			}
			return h
		})},
	{"aggregates over joins are declined", "a request with joins may be declined",
		over(legalReads, declining(asks("joins>0")))},
	{"joins along foreign keys only", "joins back and over two hops are more than the keys promise",
		over(legalReads, refusing(wire.PathQuery, func(body map[string]any) bool {
			hops := listOf(body, "joins")
			return len(hops) > 1 || len(hops) == 1 && hops[0]["fromField"] == "no"
		}, http.StatusUnprocessableEntity))},
	{"hops have fields", "no rule says that a hop may answer nothing",
		over(legalReads, refusing(wire.PathQuery, having("joins", func(hop map[string]any) bool { return fmt.Sprint(hop["fields"]) == "[]" }),
			http.StatusBadRequest))},
	{"ceilings are obeyed", "the platform plans its reads within the declared limits", func() http.Handler {
		src := stockedSource(pagedTables, twist{request: func(_ *connector.Query, limit, _ *int64) {
			if *limit == 0 {
				*limit = 500
			}
		}})
		h := serve(connector.Definition{Limits: wire.Limits{PageSizeMax: 500, RowsPerTableMax: 500}}, src, &connector.Options{
			Omit: connector.Omit{Endpoints: append(countless, wire.EndpointCardinality, wire.EndpointLinkHitRate), Offset: true, Join: true}})
		return eachTable(drops("rowCount"))(h)
	}},
	{"sorted only by what it answers", "what is served is said by each stream", over(legalReads, onlyFor(wire.PathQuery,
		func(body map[string]any) bool {
			return having("sort", func(k map[string]any) bool { return !slices.Contains(alternatives(body, "fields"), k["field"]) })(body)
		}, unsorted))},
	{"a sort with collate is left to the platform", "what is served is said by each stream",
		over(stocked(firstHotels, twist{}), onlyFor(wire.PathQuery,
			having("sort", func(k map[string]any) bool { return k["collate"] == true }), unsorted))},
	{"more groups than asked for", "the platform discards them; none is missing", over(legalReads, func(h http.Handler) http.Handler {
		tables := oracleTables(pagedTables())
		return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
			var req wire.AggregateRequest
			if r.URL.Path != wire.PathAggregate || !mayAsk(r) || wire.Decode(*body, &req) != nil {
				return false
			}
			t, err := oracle.Aggregate(tables, &req)
			if err != nil {
				return false
			}
			answer := wire.AggregateAnswer{Rows: []map[string]wire.Value{}}
			for _, row := range t.Rows {
				group := map[string]wire.Value{}
				for i, c := range t.Columns {
					group[c.Name] = row[i]
				}
				answer.Rows = append(answer.Rows, group)
			}
			text, err := wire.EncodeAnswer(&answer)
			if err != nil {
				return false
			}
			sends(w, http.StatusOK, terms.MediaJSON, string(text))
			return true
		})(h)
	})},
}

// unsorted leaves the sort to the platform, and with it the window.
func unsorted(h http.Handler) http.Handler {
	return unwindowed(bodies(sets("sort", []any{}), wire.PathQuery)(serving(true, false)(h)))
}

// refusing refuses the legal requests to a path that match, or declines them.
func refusing(path string, matches func(body map[string]any) bool, status int) layer {
	answers := map[int]http.HandlerFunc{
		http.StatusNoContent:           declines,
		http.StatusBadRequest:          refusal(status, "bad_request", "not this one"),
		http.StatusUnprocessableEntity: refusal(status, "unsupported", "not this one"),
	}
	return overtaken(func(r *http.Request) bool {
		body := []byte(bodyOf(r))
		return r.URL.Path == path && mayAsk(r) && legal(path, body) && matches(parsed(body))
	}, answers[status])
}

// readIDs are the checks of live data, those about filters aside, and of what they rest on.
const readIDs = `^(L1|L[3-9]|L1[01]|M[1-7]|M2\d|P3\.1c|P3\.11[ac]|A\.15)$`

// TestOddReadsPass grades them.
func TestOddReadsPass(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	for _, odd := range oddReads {
		t.Run(odd.name, func(t *testing.T) {
			t.Parallel()
			r := grade(t, odd.build(), ofLive(readIDs))
			r.nothingFound(t, odd.why, conformance.Blocked)
		})
	}
}

// TestOddReadsAtOnce grades the same connectors over a port, where questions are under way side by side: what one
// answer shows about the connector must not change how the answer to another is judged.
func TestOddReadsAtOnce(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	for _, odd := range oddReads {
		t.Run(odd.name, func(t *testing.T) {
			t.Parallel()
			r := gradeOverTCP(t, odd.build(), ofLive(filterIDs))
			require.Empty(t, r.Problem)
			r.nothingFound(t, odd.why)
		})
	}
}

// TestDeclinedMeasureIsLeftOut requires that a measure which was declined alone is not asked for beside
// others: it would have them declined, by every key.
func TestDeclinedMeasureIsLeftOut(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	h := refusing(wire.PathAggregate, func(body map[string]any) bool {
		sums := having("measures", asks("fn=sum", "field=price"))(body)
		if sums {
			asked.Add(1)
		}
		return sums
	}, http.StatusNoContent)(warehouse(twist{})())
	grade(t, h, ofLive("^L8$")).has(t, conformance.Pass, "L8")
	require.EqualValues(t, 2, asked.Load(), "with all sums, and alone")
}

// TestNothingIsAggregated requires that groups without measures may be declined, where no field may have one.
func TestNothingIsAggregated(t *testing.T) {
	t.Parallel()
	declined := refusing(wire.PathAggregate, asks(), http.StatusNoContent)
	h := declined(eachTable(eachOf(sets("aggregatable", false), "fields"))(untouched()))
	r := grade(t, h, ofLive("^L8$"))
	require.Empty(t, r.Problem)
	r.has(t, conformance.Skip, "L8")
}

// TestChecksTellEachOther grades connectors with two checks: what the first learns, the second asks.
func TestChecksTellEachOther(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	for _, c := range []struct {
		name, match, fails string
		twist              twist
	}{
		{
			name: "a column that is sorted by right sorts others", match: "^(M6|M7)$", fails: "M7",
			twist: asking(func(req *connector.Query) {
				if len(req.Sort) > 0 && !slices.Contains(req.Fields, req.Sort[0].Field) {
					req.Sort = nil
				}
			}),
		},
		{
			name: "a range that lacks a row of the whole read is asked again", match: "^(L2|L11)$", fails: "L2",
			twist: twist{answer: func(req *connector.Query, t *oracle.Table) {
				if len(req.And) == 1 && req.And[0].Op == wire.OpLt && req.And[0].Field == "id" && len(t.Rows) == 615 {
					t.Rows = t.Rows[1:] // of half the table, where partitions meet
				}
			}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := grade(t, warehouse(c.twist)(), with(live, matching(c.match), atMost(300)))
			for _, o := range r.Outcomes {
				require.Equal(t, o.ID == c.fails, o.Verdict == conformance.Fail, "%s %s %s", o.ID, o.Verdict, o.Detail)
			}
		})
	}
}

// TestWrongBesideOthers grades connectors that answer each question otherwise when it first comes, beside
// others, than when it is asked again, alone. A wrong number is a finding; a refusal tells what it is.
func TestWrongBesideOthers(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	for _, c := range []struct {
		name  string
		first layer
		want  conformance.Verdict
	}{
		{"a number that others had a part in", ok(adds("count", 1), wire.PathCount), conformance.Fail},
		{"no room", refusing(wire.PathCount, asks(), http.StatusUnprocessableEntity), conformance.Pass},
	} {
		t.Run(c.name, func(t *testing.T) {
			var seen sync.Map
			right := warehouse(twist{})()
			first := c.first(right)
			h := between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
				_, again := seen.LoadOrStore(string(*body), true)
				if again || r.URL.Path != wire.PathCount {
					return false
				}
				first.ServeHTTP(w, withBody(r, *body))
				return true
			})(right)
			o := gradeOverTCP(t, h, with(live, matching("^M10$"), atMost(200))).Outcome("M10")
			require.Equal(t, c.want, o.Verdict, o.Detail)
			require.Equal(t, c.want == conformance.Fail, strings.Contains(o.Detail, "beside other requests"), o.Detail)
		})
	}
}
