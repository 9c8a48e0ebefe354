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
		{name: "exact size counts one more", why: "an exact size equals streamed rows", kills: []string{"L1"},
			build: over(untouched, edits(func(body map[string]any) {
				if size, ok := body["size"].(map[string]any); ok {
					size["rows"] = integer(size, "rows") + 1
				}
			}, wire.PathSize))},
		{name: "count off by one with a filter", why: "/count and /query answer to the same filters", kills: []string{"L3"},
			build: func() http.Handler {
				filtered := false
				h := edits(func(body map[string]any) {
					if n := integer(body, "count"); filtered && n > 0 {
						body["count"] = n - 1
					}
				}, wire.PathCount)(untouched())
				return bodies(func(body map[string]any) {
					and, _ := body["and"].([]any)
					filtered = len(and) > 0
				}, wire.PathCount)(h)
			}},
		{name: "more distinct values than values", why: "measured counts stay ordered", kills: []string{"L4"},
			first: "P3.11c", because: "the answer contradicts itself", client: "measure-13",
			build: func() http.Handler {
				return counting(func(c map[string]any) { c["distinct"] = integer(c, "nonNull") + 1 })
			}},
		{name: "estimated distinct counts", why: "a column that cannot be counted distinctly answers null, and not a guess",
			kills: []string{"L4"},
			build: func() http.Handler {
				return counting(func(c map[string]any) { c["distinct"] = (integer(c, "distinct") + 1) / 2 })
			}},
		{name: "orphan rate in percent", why: "the orphan rate is a share", kills: []string{"L9"},
			first: "P3.11a", because: "the answer contradicts its schema", client: "measure-8",
			build: over(untouched, edits(func(body map[string]any) {
				if number, ok := body["orphanRate"].(json.Number); ok {
					f, _ := number.Float64()
					body["orphanRate"] = 100 * f
				}
			}, wire.PathLinkHitRate))},
		{name: "samples of linked keys", why: "the samples are those of orphans", kills: []string{"L9"},
			build: over(untouched, edits(func(body map[string]any) {
				if _, ok := body["orphanSamples"]; ok {
					body["orphanSamples"] = []string{"1", "2"}
				}
			}, wire.PathLinkHitRate))},
		{name: "the group of null is lost", why: "the folded rows have it, and a wrong number is never legal", kills: []string{"L8"},
			build: stocked(shop, twist{aggregate: func(req *wire.AggregateRequest) {
				for _, g := range req.GroupBy {
					req.And = append(req.And, wire.Filter{Field: g.Field, Op: wire.OpNotNull})
				}
			}})},
		{name: "aggregates ignore their filters", why: "every route answers to the same filters", kills: []string{"M10"},
			first: "L8", because: "its aggregates have filters, too", client: "aggregate-13",
			build: stocked(shop, twist{aggregate: func(req *wire.AggregateRequest) { req.And = nil }})},
		{name: "sums as floats", why: "a wrong number is never legal", kills: []string{"L8"},
			build: over(untouched, edits(func(body map[string]any) {
				rows, _ := body["rows"].([]any)
				for _, row := range rows {
					for name, v := range row.(map[string]any) {
						if text, ok := v.(string); ok && strings.Contains(text, ".") && terms.IsDecimal(text) {
							row.(map[string]any)[name] = text + "0000000000000001"
						}
					}
				}
			}, wire.PathAggregate))},
	}
}

func counting(edit func(map[string]any)) http.Handler {
	return edits(func(body map[string]any) {
		columns, _ := body["columns"].(map[string]any)
		for _, c := range columns {
			if c, ok := c.(map[string]any); ok {
				edit(c)
			}
		}
	}, wire.PathCardinality)(untouched())
}

func liveRowFaults() []fault {
	return []fault{
		{name: "an operator that is another", why: "every row answered must satisfy every filter with a declared operator",
			kills: []string{"L2"}, client: "stream-11",
			build: tampered(func(req *connector.Query) {
				for i, f := range req.And {
					if f.Op == wire.OpGt {
						req.And[i].Op = wire.OpGte
					}
				}
			})},
		{name: "a filter that loses rows", why: "none of the rows that satisfy a filter is missing", kills: []string{"L2"},
			build: tampered(func(req *connector.Query) {
				for i, f := range req.And {
					if f.Op == wire.OpIncludes {
						req.And[i].Op = wire.OpStartsWith
					}
				}
			})},
		{name: "a unique field that is not", why: "a key declared unique that is not really unique breaks joins", kills: []string{"L5"},
			build: columnsOf("customers", func(f map[string]any) { f["unique"] = f["unique"] == true || f["name"] == "country" })},
		{name: "a key that is null", why: "a declared key that is not nullable is never null", kills: []string{"L5"}, client: "discovery-7",
			build: columnsOf("customers", func(f map[string]any) {
				if f["name"] == "email" {
					f["nullable"] = false
				}
			})},
		{name: "pages overlap", why: "pages compose", kills: []string{"L6"},
			first: "M20", because: "a window is compared with the whole read before pages are",
			build: over(untouched, bodies(func(body map[string]any) {
				if n := integer(body, "offset"); n > 0 && body["limit"] != nil {
					body["offset"] = n - 1
				}
			}, wire.PathQuery))},
		{name: "skips before it filters", why: "the window is cut from the rows that satisfy the filters", kills: []string{"M12"},
			first: "L6", because: "its pages have a filter",
			build: over(untouched, bodies(func(body map[string]any) {
				if and, _ := body["and"].([]any); len(and) > 0 && integer(body, "offset") > 0 {
					body["offset"] = integer(body, "offset") / 2
				}
			}, wire.PathQuery))},
		{name: "ties in another order for each request", why: "ties are broken so that pages compose", kills: []string{"A.15"},
			build: shuffled(shop)},
		{name: "sorts without case", why: "text sorts by its bytes", kills: []string{"L7"}, client: "stream-2",
			build: stocked(shop, twist{order: withoutCase})},
		{name: "descending is ascending", why: "the rows are not in the requested order", kills: []string{"L7"}, client: "stream-2",
			build: tampered(func(req *connector.Query) {
				for i := range req.Sort {
					req.Sort[i].Dir = wire.Asc
				}
			})},
		{name: "local time", why: "datetimes cross as ISO 8601 in UTC", kills: []string{"L10"},
			build: respelled(func(name string, text string) any {
				if strings.HasSuffix(text, "Z") && name == "since" {
					return strings.Replace(strings.TrimSuffix(text, "Z"), "T", " ", 1)
				}
				return text
			})},
		{name: "datetimes without a zone", why: "a datetime is an instant: ISO 8601 in UTC", kills: []string{"L10"},
			build: respelled(func(name string, text string) any {
				if name == "since" {
					return strings.TrimSuffix(text, "Z")
				}
				return text
			})},
		{name: "a warning of a path that leads nowhere", why: "what discovery warns of is not answered", kills: []string{"A.37"},
			build: warning},
		{name: "a warning, to a strict run", why: "what discovery warns of is not answered", kills: []string{"A.37"},
			options: func(g *grading) { live(g); g.Strict = true }, build: warning},
		{name: "decimals as floats", why: "decimals cross as digit-exact strings", kills: []string{"L10"},
			build: respelled(func(name string, text string) any {
				if name == "amount" {
					return json.Number(text)
				}
				return text
			})},
		{name: "large integers as numbers", why: "integers beyond 2^53 cross as strings", kills: []string{"L10"},
			build: numbersOf("90071992547409936")},
		{name: "a null where there is none", why: "discovery says that the column is not nullable", kills: []string{"L10"},
			client: "discovery-7",
			build: columnsOf("orders", func(f map[string]any) {
				if f["name"] == "note" {
					f["nullable"] = false
				}
			})},
		{name: "nin drops nulls, live", why: "with the platform's semantics nin keeps a null cell", kills: []string{"L2"},
			build: tampered(func(req *connector.Query) {
				for _, f := range req.And {
					if f.Op == wire.OpNin {
						req.And = append(req.And, wire.Filter{Field: f.Field, Op: wire.OpNotNull})
					}
				}
			})},
		{name: "in looks at the first member alone", why: "a member of the list is as good as another", kills: []string{"L2"},
			build: tampered(func(req *connector.Query) {
				for i, f := range req.And {
					if f.Op == wire.OpIn && len(f.Values) > 1 {
						req.And[i].Values = f.Values[:1]
					}
				}
			})},
		{name: "several conjuncts are alternatives", why: "all filters of and must hold", kills: []string{"M11"},
			build: tampered(func(req *connector.Query) {
				if len(req.And) > 1 && len(req.Or) == 0 {
					for _, f := range req.And {
						req.Or = append(req.Or, []wire.Filter{f})
					}
					req.And = nil
				}
			})},
		{name: "equal rows are merged", why: "a projection does not change how many rows there are", kills: []string{"M7"},
			build: over(untouched, linesOf("rows", func(line []byte, emit func(...string)) {
				var distinct []string
				for _, row := range rowsOf(line) {
					if !slices.Contains(distinct, string(row)) {
						distinct = append(distinct, string(row))
					}
				}
				emit(`{"rows":[`, strings.Join(distinct, ","), "]}\n")
			}))},
	}
}
