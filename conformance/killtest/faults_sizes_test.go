package killtest

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// thousands is where many upstreams stop.
const thousands = 10_000

func firstThousands() oracle.Tables {
	t := *rightCorpus.tables["large"]
	t.Rows = t.Rows[:thousands]
	return oracle.Tables{"large": &t}
}

// foldedFirst returns an aggregate over the first rows of a table.
func foldedFirst(does func(req *wire.AggregateRequest) bool) twist {
	return twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
		if req.Table != "large" || !does(req) {
			return
		}
		if less, err := oracle.Aggregate(firstThousands(), req); err == nil {
			*t = *less
		}
	}}
}

func measuresAll(fn wire.AggFunc) func(req *wire.AggregateRequest) bool {
	return func(req *wire.AggregateRequest) bool { return req.Measures[0].Fn == fn && len(req.GroupBy) == 0 }
}

const aboutEveryRow = "an answer is about every row, however many there are"

// largeFaults stop at ten thousand rows.
var largeFaults = []fault{
	bent("rows stop at ten thousand", aboutEveryRow, "P2.2: a table of many rows",
		twist{rows: func(_ *connector.Query, t *oracle.Table, _, _ int64) { t.Rows = t.Rows[:min(len(t.Rows), thousands)] }}),
	bent("filtered rows stop at ten thousand", aboutEveryRow, "P2.3: neq",
		twist{rows: func(req *connector.Query, t *oracle.Table, _, _ int64) {
			if len(req.And) > 0 {
				t.Rows = t.Rows[:min(len(t.Rows), thousands)]
			}
		}}),
	bent("limits stop at ten thousand", aboutEveryRow, "P2.7: a limit", twist{window: func(offset, limit int64, rows int) (int, int) {
		return cut(offset, min(limit, thousands), rows)
	}}),
	bent("offsets stop at ten thousand", aboutEveryRow, "P2.7: an offset", twist{window: func(offset, limit int64, rows int) (int, int) {
		return cut(min(offset, thousands), limit, rows)
	}}),
	bent("counts stop at ten thousand", aboutEveryRow, "P2.10: all rows, P2.10: filters, P2.10: or",
		twist{count: func(_ *wire.CountRequest, right int64) int64 { return min(right, thousands) }}),
	bent("sizes stop at ten thousand", aboutEveryRow, "P2.12: an estimate", twist{size: func(_ *wire.SizeRequest, right int64) int64 {
		return min(right, thousands)
	}}),
	bent("distinct counts stop at ten thousand", aboutEveryRow, "P2.13: distinct",
		twist{cardinality: func(_ *oracle.Table, _ string, c *wire.Cardinality) { c.Distinct = min(c.Distinct, thousands) }}),
	bent("sums over the first ten thousand rows", aboutEveryRow, "P2.11: sum", foldedFirst(measuresAll(wire.AggSum))),
	bent("the greatest of the first ten thousand rows", aboutEveryRow, "P2.11: min and max", foldedFirst(measuresAll(wire.AggMax))),
	bent("aggregates count the first ten thousand rows", aboutEveryRow, "P2.11: count", foldedFirst(measuresAll(wire.AggCount))),
	bent("groups of the first ten thousand rows", aboutEveryRow, "P2.11: groups",
		foldedFirst(func(req *wire.AggregateRequest) bool { return len(req.GroupBy) == 1 })),
	bent("links to the first ten thousand rows", aboutEveryRow, "P2.14: fromNonNull and orphanCount",
		twist{link: func(_ *oracleSource, req *wire.LinkHitRateRequest, rate *wire.LinkHitRate) {
			if req.FromTable != "large" {
				return
			}
			tables := firstThousands()
			tables["all"] = rightCorpus.tables["large"]
			if less, err := oracle.LinkHitRate(tables, &wire.LinkHitRateRequest{
				FromTable: "all", FromColumn: req.FromColumn, ToTable: "large", ToColumn: req.ToColumn,
			}); err == nil {
				*rate = *less
			}
		}}),
	bent("joins with the first ten thousand rows", aboutEveryRow, "P2.15: a match",
		twist{joined: eachRow(func(req *connector.Query, _ *oracle.Table, row []wire.Value) {
			if last := len(row) - 1; req.Joins[0].ToTable == "large" && row[last].String() > "row 10000" {
				row[last] = wire.Null()
			}
		})}),
}

func operandsOf(op wire.Op, most int) twist {
	return eachFilter(texts(func(text string) string { return text[:min(len(text), most)] }), op)
}

func mostFilters(most int) twist {
	return asking(func(req *connector.Query) { req.And = req.And[:min(len(req.And), most)] })
}

const wholeRequest = "all of a request counts, however long it is"

// longFaults cut long requests.
var longFaults = []fault{
	bent("lists of nine", wholeRequest, "P2.3: in", eachFilter(firstMembers(9), wire.OpIn)),
	bent("lists of a hundred", wholeRequest, "P2.3: in", eachFilter(firstMembers(100), wire.OpIn)),
	bent("lists of a thousand", wholeRequest, "P2.3: in", eachFilter(firstMembers(1000), wire.OpIn)),
	bent("lists of twenty to leave out", wholeRequest, "P2.3: nin", eachFilter(firstMembers(20), wire.OpNin)),
	bent("lists of a thousand to leave out", wholeRequest, "P2.3: nin", eachFilter(firstMembers(1000), wire.OpNin)),
	bent("four filters", wholeRequest, "P2.4: several filters of and", mostFilters(4)),
	bent("nine filters", wholeRequest, "P2.4: several filters of and", mostFilters(9)),
	bent("sixty-four filters", wholeRequest, "P2.4: several filters of and", mostFilters(64)),
	bent("thirty-two groups", wholeRequest, "P2.4: groups of or",
		asking(func(req *connector.Query) { req.Or = req.Or[:min(len(req.Or), 32)] })),
	bent("four filters in a group", wholeRequest, "P2.4: groups of or",
		asking(func(req *connector.Query) { req.Or = beginnings(req.Or, 4) })),
	bent("counts by nine filters", wholeRequest, "P2.10: filters",
		miscounted(func(req *wire.CountRequest) bool { return len(req.And) > 9 }, func(n int64) int64 { return n + 1 })),
	bent("aggregates by four filters", wholeRequest, "P2.11: filters",
		folding(func(req *wire.AggregateRequest) { req.And = req.And[:min(len(req.And), 4)] })),
	bent("operands of 256 characters", wholeRequest, "P2.3: eq", operandsOf(wire.OpEq, 256)),
	bent("beginnings of 4,000 characters", wholeRequest, "P2.3: startswith", operandsOf(wire.OpStartsWith, 4000)),
	bent("parts of 65,535 characters", wholeRequest, "P2.3: includes", operandsOf(wire.OpIncludes, 65_535)),
	bent("bounds of 1,000 characters", wholeRequest, "P2.3: gt", operandsOf(wire.OpGt, 1000)),
	bent("eight sort keys", wholeRequest, "P2.6: several keys",
		asking(func(req *connector.Query) { req.Sort = req.Sort[:min(len(req.Sort), 8)] })),
	bent("groups by eight fields", wholeRequest, "P2.11: several groups and measures",
		twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
			if len(req.GroupBy) > 8 {
				t.Rows = t.Rows[:1]
			}
		}}),
	bent("five hops", wholeRequest, "P2.15: a hop from a hop", twist{joined: eachRow(
		func(_ *connector.Query, t *oracle.Table, row []wire.Value) { nullHops(t, row, 6) })}),
}

const withinLimits = "the platform plans its reads within the declared limits"

// limitsFaults are connectors that declare more than they hold, and cells that are
// spelled in ways that the platform does not expect.
var limitsFaults = []fault{
	broken("pages of half the declared size", withinLimits, "P3.16a", over(limited(wire.Limits{PageSizeMax: 1000}),
		requests(wire.PathQuery, where(asks("limit>500"), sets("limit", 500))))).
		behind("P2.17: sorts and windows", "a generated window is longer"),
	broken("offsets are refused below the declared one", withinLimits, "P3.16b", over(limited(wire.Limits{OffsetMax: 5000}),
		refusesWhere(422, "unsupported", "too far", func(r *http.Request, body []byte) bool {
			return r.URL.Path == wire.PathQuery && integer(parsed(body), "offset") > 4000
		}))).behind("P2.7: an offset", "a fixed case has such an offset"),
	broken("four requests at once where sixteen are declared", withinLimits, "P3.16c", func() http.Handler {
		var busy atomic.Int64
		return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
			defer busy.Add(-1)
			if r.URL.Path != wire.PathQuery || !mayAsk(r) || wire.Decode(*body, new(wire.QueryRequest)) != nil {
				busy.Add(1)
				return false
			}
			full := busy.Add(1) > 4
			time.Sleep(10 * time.Millisecond)
			if full {
				refuses(w, 500, "internal", terms.InternalMessage)
			}
			return full
		})(limited(wire.Limits{Concurrency: 16})())
	}).behind("P3.1c", "tables are read several at once"),
	broken("requests share a buffer", "what one request asks is not answered to another", "P3.16c", func() http.Handler {
		var mu sync.Mutex
		var shared []byte
		return between(func(_ http.ResponseWriter, r *http.Request, body *[]byte) bool {
			if r.URL.Path != wire.PathQuery || !mayAsk(r) || wire.Decode(*body, new(wire.QueryRequest)) != nil {
				return false
			}
			mu.Lock()
			shared = *body
			mu.Unlock()
			time.Sleep(time.Millisecond)
			mu.Lock()
			*body = shared
			mu.Unlock()
			return false
		})(limited(wire.Limits{Concurrency: 8})())
	}),
	broken("pages asked for at once share an offset", "what one request asks is not answered to another", "P3.16c",
		func() http.Handler {
			var shared atomic.Int64
			return bodies(func(body map[string]any) {
				if body["limit"] == nil {
					return
				}
				shared.Store(integer(body, "offset"))
				time.Sleep(time.Millisecond)
				body["offset"] = shared.Load()
			}, wire.PathQuery)(limited(wire.Limits{Concurrency: 8})())
		}),
	broken("booleans as texts", "a boolean is a JSON boolean", "A.22", booleansAsTexts),
	broken("documents with blanks", "JSON text is compact", "A.23", documentsWithBlanks),
}

// booleansAsTexts answers the booleans of one column in quotes.
func booleansAsTexts() http.Handler {
	return cells(func(name string, v any) any {
		if b, ok := v.(bool); ok && name == "gift" {
			return fmt.Sprint(b)
		}
		return v
	})(usual())
}

// documentsWithBlanks answers arrays with blanks, as some databases write them.
func documentsWithBlanks() http.Handler {
	return textsOf("tags", func(text string) any {
		if strings.Contains(text, `\`) {
			return text
		}
		return strings.ReplaceAll(text, `","`, `", "`)
	})(usual())
}

func statsOf(table, field string, edit func(s *wire.Stats)) twist {
	return about(table, func(t *wire.Table) {
		s := wire.Stats{DistinctCount: 22}
		edit(&s)
		t.Field(field).Stats = &s
	})
}

// statisticsFaults describe columns that are not there.
var statisticsFaults = []fault{
	bent("no distinct values where there are some", "statistics agree with the rows", "P2.1: statistics and samples",
		statsOf("customers", "id", func(s *wire.Stats) { s.DistinctCount = 0 })),
	bent("more distinct values than rows", "statistics agree with the rows", "P2.1: statistics and samples",
		statsOf("customers", "id", func(s *wire.Stats) { s.DistinctCount = 60 })),
	bent("a minimum of the greatest values", "statistics agree with the rows", "P2.1: statistics and samples",
		statsOf("customers", "id", func(s *wire.Stats) { s.Min, s.Max = new(wire.Int(20)), new(wire.Int(22)) })),
}
