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
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// oddRead is a connector that reads, counts or joins in a way that few would expect, and breaks no rule.
type oddRead struct {
	name, why string // why is the sentence that allows it
	build     func() http.Handler
}

func oddReads() []oddRead {
	legal := warehouse(twist{})
	return []oddRead{
		{"pages of an upstream", "the connector that others are made from", legal},
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
		{"nothing is claimed", "serving none of the three is always safe", over(legal, unwindowed, serving(false, false))},
		{"a window is cut and not claimed from the start", "what is cut twice is cut alike", over(legal, bodies(func(body map[string]any) {
			if integer(body, "offset") > 0 {
				delete(body, "limit")
				delete(body, "offset")
			}
		}, wire.PathQuery), lines(func(line []byte, emit func(...string)) {
			emit(strings.Replace(string(line), `"window":true`, `"window":false`, 1))
		}))},
		{"sizes are far estimates", "exact is false when the source estimates", over(legal, ok(func(body map[string]any) {
			body["size"] = map[string]any{"rows": 7_000_000, "exact": false}
		}, wire.PathSize))},
		{"row counts are estimates", "rowCount need not be exact", over(legal,
			eachTable(func(table map[string]any) { table["rowCount"] = 1000 }))},
		{"views that cannot be read", "a table that stores no rows may need what a plain read lacks", over(legal, unreadable)},
		{"aggregates over joins are declined", "a request with joins may be declined",
			over(legal, declining(func(body map[string]any) bool { return len(listOf(body, "joins")) > 0 }))},
		{"joins along foreign keys only", "joins back and over two hops are more than the keys promise",
			over(legal, refusing(wire.PathQuery, func(body map[string]any) bool {
				hops := listOf(body, "joins")
				return len(hops) > 1 || len(hops) == 1 && hops[0]["fromField"] == "no"
			}, http.StatusUnprocessableEntity))},
		{"hops have fields", "no rule says that a hop may answer nothing",
			over(legal, refusing(wire.PathQuery, having("joins", func(hop map[string]any) bool { return fmt.Sprint(hop["fields"]) == "[]" }),
				http.StatusBadRequest))},
		{"ceilings are obeyed", "the platform plans its reads within the declared limits", func() http.Handler {
			src := stockedSource(pagedTables, twist{request: func(_ *connector.Query, limit, _ *int64) {
				if *limit == 0 {
					*limit = 500
				}
			}})
			h := serve(connector.Definition{Limits: wire.Limits{PageSizeMax: 500, RowsPerTableMax: 500}}, src, &connector.Options{
				Omit: connector.Omit{Endpoints: append(countless, wire.EndpointCardinality, wire.EndpointLinkHitRate), Offset: true, Join: true}})
			return eachTable(func(table map[string]any) { delete(table, "rowCount") })(h)
		}},
		{"sorted only by what it answers", "what is served is said by each stream", over(legal, unsortedWhere(
			func(req *wire.QueryRequest) bool {
				return slices.ContainsFunc(req.Sort, func(k wire.SortKey) bool { return !slices.Contains(req.Fields, k.Field) })
			}))},
		{"a sort with collate is left to the platform", "what is served is said by each stream",
			over(stocked(firstHotels, twist{}), unsortedWhere(func(req *wire.QueryRequest) bool {
				return slices.ContainsFunc(req.Sort, func(k wire.SortKey) bool { return k.Collate })
			}))},
		{"more groups than asked for", "the platform discards them; none is missing", over(legal, everyGroup)},
	}
}

// unsortedWhere leaves the sort to the platform, and with it the window, where a condition holds of a query.
func unsortedWhere(holds func(req *wire.QueryRequest) bool) layer {
	return func(h http.Handler) http.Handler {
		unsorted := unwindowed(bodies(func(body map[string]any) { body["sort"] = []any{} }, wire.PathQuery)(serving(true, false)(h)))
		return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
			var req wire.QueryRequest
			if r.URL.Path != wire.PathQuery || wire.Decode(*body, &req) != nil || !holds(&req) {
				return false
			}
			unsorted.ServeHTTP(w, withBody(r, *body))
			return true
		})(h)
	}
}

// refusing refuses the legal requests to a path that match, or declines them.
func refusing(path string, matches func(body map[string]any) bool, status int) layer {
	return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
		if r.URL.Path != path || !mayAsk(r) || wire.Decode(*body, request(path)) != nil || !matches(parsed(*body)) {
			return false
		}
		switch status {
		case http.StatusNoContent:
			w.WriteHeader(status)
		case http.StatusBadRequest:
			refuses(w, status, "bad_request", "not this one")
		default:
			refuses(w, status, "unsupported", "not this one")
		}
		return true
	})
}

// unreadable adds a view that only a filter makes readable.
func unreadable(h http.Handler) http.Handler {
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
}

// everyGroup answers aggregates by the oracle, however many groups there are.
func everyGroup(h http.Handler) http.Handler {
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
}

// readIDs are the checks of live data, those about filters aside, and of what they rest on.
const readIDs = `^(L1|L[3-9]|L1[01]|M[1-7]|M2\d|P3\.1c|P3\.11[ac]|A\.15)$`

// TestOddReadsPass grades them.
func TestOddReadsPass(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	for _, odd := range oddReads() {
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
	for _, odd := range oddReads() {
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
		sums := slices.ContainsFunc(listOf(body, "measures"), func(m map[string]any) bool { return m["fn"] == "sum" && m["field"] == "price" })
		if sums {
			asked.Add(1)
		}
		return sums
	}, http.StatusNoContent)(warehouse(twist{})())
	r := grade(t, h, ofLive("^L8$"))
	r.has(t, conformance.Pass, "L8")
	require.EqualValues(t, 2, asked.Load(), "with all sums, and alone")
}

// TestNothingIsAggregated requires that groups without measures may be declined, where no field may have one.
func TestNothingIsAggregated(t *testing.T) {
	t.Parallel()
	declined := refusing(wire.PathAggregate, func(map[string]any) bool { return true }, http.StatusNoContent)
	h := declined(eachField(func(_ any, field map[string]any) { field["aggregatable"] = false })(untouched()))
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
		{"a number that others had a part in", ok(func(body map[string]any) { body["count"] = integer(body, "count") + 1 }, wire.PathCount),
			conformance.Fail},
		{"no room", refusing(wire.PathCount, func(map[string]any) bool { return true }, http.StatusUnprocessableEntity), conformance.Pass},
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
			r := gradeOverTCP(t, h, with(live, matching("^M10$"), atMost(200)))
			o := r.Outcome("M10")
			require.Equal(t, c.want, o.Verdict, o.Detail)
			require.Equal(t, c.want == conformance.Fail, strings.Contains(o.Detail, "beside other requests"), o.Detail)
		})
	}
}
