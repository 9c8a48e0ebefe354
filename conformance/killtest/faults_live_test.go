package killtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// warning is a connector whose discovery warns of something.
func warning() http.Handler {
	return ok(func(body map[string]any) {
		body["warnings"] = []string{`table orders: the path "items[].total" is in no document, so that the column is null`}
	}, wire.PathDiscovery)(untouched())
}

func live(g *grading) { g.Mode = conformance.ModeLive }

// liveFaults returns connectors that are broken over real data.
func liveFaults() []fault {
	return slices.Concat(overLiveData(liveMeasureFaults()), overLiveData(liveRowFaults()), vendorFaults(), slowFaults(), tenantFaults())
}

func liveMeasureFaults() []fault {
	return []fault{
		broken("exact size counts one more", "an exact size equals streamed rows", "L1",
			over(untouched, edits(func(body map[string]any) {
				if size, ok := body["size"].(map[string]any); ok {
					size["rows"] = integer(size, "rows") + 1
				}
			}, wire.PathSize))),
		broken("count off by one with a filter", "/count and /query answer to the same filters", "L3",
			over(untouched, answersWhere(wire.PathCount, func(body map[string]any) bool { return len(alternatives(body, "and")) > 0 },
				func(answer map[string]any) {
					if n := integer(answer, "count"); n > 0 {
						answer["count"] = n - 1
					}
				}))),
		broken("more distinct values than values", "measured counts stay ordered", "L4",
			counting(func(c map[string]any) { c["distinct"] = integer(c, "nonNull") + 1 })).
			behind("P3.11c", "the answer contradicts itself").refused("measure-13"),
		broken("estimated distinct counts", "a column that cannot be counted distinctly answers null, and not a guess", "L4",
			counting(func(c map[string]any) { c["distinct"] = (integer(c, "distinct") + 1) / 2 })),
		broken("orphan rate in percent", "the orphan rate is a share", "L9",
			over(untouched, rated(func(rate float64) float64 { return 100 * rate }))).
			behind("P3.11a", "the answer contradicts its schema").refused("measure-8"),
		broken("samples of linked keys", "the samples are those of orphans", "L9", over(untouched, edits(func(body map[string]any) {
			if _, ok := body["orphanSamples"]; ok {
				body["orphanSamples"] = []string{"1", "2"}
			}
		}, wire.PathLinkHitRate))),
		broken("the group of null is lost", "the folded rows have it, and a wrong number is never legal", "L8",
			stocked(shop, folding(func(req *wire.AggregateRequest) {
				for _, g := range req.GroupBy {
					req.And = append(req.And, wire.Filter{Field: g.Field, Op: wire.OpNotNull})
				}
			}))),
		broken("aggregates ignore their filters", "every route answers to the same filters", "M10",
			stocked(shop, folding(func(req *wire.AggregateRequest) { req.And = nil }))).
			behind("L8", "its aggregates have filters, too").refused("aggregate-13"),
		broken("sums as floats", "a wrong number is never legal", "L8", over(untouched, edits(func(body map[string]any) {
			for _, row := range listOf(body, "rows") {
				for name, v := range row {
					if text, ok := v.(string); ok && strings.Contains(text, ".") && terms.IsDecimal(text) {
						row[name] = text + "0000000000000001"
					}
				}
			}
		}, wire.PathAggregate))),
	}
}

func counting(edit func(map[string]any)) func() http.Handler {
	return over(untouched, edits(eachColumn(edit), wire.PathCardinality))
}

// eachColumn edits what an answer says of each column.
func eachColumn(edit func(map[string]any)) func(body map[string]any) {
	return func(body map[string]any) {
		columns, _ := body["columns"].(map[string]any)
		for _, c := range columns {
			if c, ok := c.(map[string]any); ok {
				edit(c)
			}
		}
	}
}

func liveRowFaults() []fault {
	return []fault{
		broken("an operator that is another", "every row answered must satisfy every filter with a declared operator", "L2",
			tampered(eachFilter(as(wire.OpGte), wire.OpGt))).refused("stream-11"),
		broken("a filter that loses rows", "none of the rows that satisfy a filter is missing", "L2",
			tampered(eachFilter(as(wire.OpStartsWith), wire.OpIncludes))),
		broken("a unique field that is not", "a key declared unique that is not really unique breaks joins", "L5",
			columnsOf("customers", func(f map[string]any) { f["unique"] = f["unique"] == true || f["name"] == "country" })),
		broken("a key that is null", "a declared key that is not nullable is never null", "L5",
			columnsOf("customers", func(f map[string]any) {
				if f["name"] == "email" {
					f["nullable"] = false
				}
			})).refused("discovery-7"),
		broken("pages overlap", "pages compose", "L6", over(untouched, bodies(func(body map[string]any) {
			if n := integer(body, "offset"); n > 0 && body["limit"] != nil {
				body["offset"] = n - 1
			}
		}, wire.PathQuery))).behind("M20", "a window is compared with the whole read before pages are"),
		broken("skips before it filters", "the window is cut from the rows that satisfy the filters", "M12",
			over(untouched, bodies(func(body map[string]any) {
				if and, _ := body["and"].([]any); len(and) > 0 && integer(body, "offset") > 0 {
					body["offset"] = integer(body, "offset") / 2
				}
			}, wire.PathQuery))).behind("L6", "its pages have a filter"),
		broken("ties in another order for each request", "ties are broken so that pages compose", "A.15", shuffled(shop)),
		broken("sorts without case", "text sorts by its bytes", "L7", stocked(shop, twist{order: withoutCase})).refused("stream-2"),
		broken("descending is ascending", "the rows are not in the requested order", "L7", tampered(upwards(""))).refused("stream-2"),
		broken("local time", "datetimes cross as ISO 8601 in UTC", "L10", over(untouched, textsOf("since", func(text string) any {
			return strings.Replace(strings.TrimSuffix(text, "Z"), "T", " ", 1)
		}))),
		broken("datetimes without a zone", "a datetime is an instant: ISO 8601 in UTC", "L10",
			over(untouched, textsOf("since", func(text string) any { return strings.TrimSuffix(text, "Z") }))),
		broken("a warning of a path that leads nowhere", "what discovery warns of is not answered", "A.37", warning),
		broken("a warning, to a strict run", "what discovery warns of is not answered", "A.37", warning).
			graded(func(g *grading) { live(g); g.Strict = true }),
		broken("decimals as floats", "decimals cross as digit-exact strings", "L10",
			over(untouched, textsOf("amount", func(text string) any { return json.Number(text) }))),
		broken("large integers as numbers", "integers beyond 2^53 cross as strings", "L10", numbersOf("90071992547409936")),
		broken("a null where there is none", "discovery says that the column is not nullable", "L10",
			columnsOf("orders", func(f map[string]any) {
				if f["name"] == "note" {
					f["nullable"] = false
				}
			})).refused("discovery-7"),
		broken("nin drops nulls, live", "with the platform's semantics nin keeps a null cell", "L2",
			tampered(asking(func(req *connector.Query) {
				for _, f := range req.And {
					if f.Op == wire.OpNin {
						req.And = append(req.And, wire.Filter{Field: f.Field, Op: wire.OpNotNull})
					}
				}
			}))),
		broken("in looks at the first member alone", "a member of the list is as good as another", "L2",
			tampered(eachFilter(firstMembers(1), wire.OpIn))),
		broken("several conjuncts are alternatives", "all filters of and must hold", "M11",
			tampered(asking(func(req *connector.Query) {
				if len(req.And) > 1 && len(req.Or) == 0 {
					req.And, req.Or = nil, slices.Collect(slices.Chunk(req.And, 1))
				}
			}))),
		broken("equal rows are merged", "a projection does not change how many rows there are", "M7",
			over(untouched, linesOf("rows", func(line []byte, emit func(...string)) {
				var distinct []string
				for _, row := range rowsOf(line) {
					if !slices.Contains(distinct, string(row)) {
						distinct = append(distinct, string(row))
					}
				}
				emit(`{"rows":[`, strings.Join(distinct, ","), "]}\n")
			}))).behind("M7, or M21", "joins are asked for with few columns, too"),
	}
}
