package killtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// countless are the endpoints that tell how many rows a table has.
var countless = []wire.Endpoint{wire.EndpointSize, wire.EndpointCount, wire.EndpointAggregate}

const wholeRead = "a read without filters and without a window answers all rows, each once"

var nothingCounts = connector.Omit{Endpoints: countless}

func dropLast(_ *connector.Query, t *oracle.Table) {
	var kept [][]wire.Value
	for page := range slices.Chunk(t.Rows, 100) {
		kept = append(kept, page[:min(len(page), 99)]...)
	}
	t.Rows = kept
}

func firstPage(_ *connector.Query, limit, _ *int64) {
	if *limit == 0 {
		*limit = 100
	}
}

var wholeReadFaults = []fault{
	broken("the last row of each full page is dropped", wholeRead, "L11", warehouse(twist{answer: dropLast})),
	broken("the last row of each full page is dropped, and nothing counts", wholeRead, "L11",
		warehouse(twist{answer: dropLast, omit: nothingCounts})),
	broken("only the first page is read", wholeRead, "L11", warehouse(twist{request: firstPage})),
	broken("only the first page is read, and nothing counts", wholeRead, "L11",
		warehouse(twist{request: firstPage, omit: nothingCounts})),
	broken("reads stop at 1,000 rows", wholeRead, "L11",
		warehouse(twist{answer: func(_ *connector.Query, t *oracle.Table) { t.Rows = t.Rows[:min(len(t.Rows), 1000)] }})),
	broken("reads without a sort stop at 1,000 rows, and nothing counts or skips", wholeRead, "L11",
		warehouse(twist{omit: connector.Omit{Endpoints: countless, Offset: true}, answer: func(req *connector.Query, t *oracle.Table) {
			if len(req.Sort) == 0 {
				t.Rows = t.Rows[:min(len(t.Rows), 1000)]
			}
		}})),
	broken("a page begins with the last row of the one before", wholeRead, "L11",
		warehouse(twist{answer: func(_ *connector.Query, t *oracle.Table) {
			var all [][]wire.Value
			for i, row := range t.Rows {
				if i > 0 && i%100 == 0 {
					all = append(all, t.Rows[i-1])
				}
				all = append(all, row)
			}
			t.Rows = all
		}})).refused("discovery-10"),
}

const (
	appliedInOrder = "filters, sort and window are applied in this order"
	resultIsCut    = "offset and limit cut the result"
)

const windowsFirst = "a window is compared with the whole read before pages are"

var windowFaults = []fault{
	broken("one column of numbers is sorted upwards as text", "numbers sort by value", "L7",
		warehouse(twist{answer: func(req *connector.Query, t *oracle.Table) {
			if len(req.Sort) > 0 && req.Sort[0].Field == "amount" && req.Sort[0].Dir == wire.Asc {
				reorder(t, t.Rows, req.Sort[:1], nullsLast(byText))
			}
		}})).refused("stream-2"),
	broken("an offset without a sort is ignored", resultIsCut, "M20", warehouse(twist{request: func(req *connector.Query, _, offset *int64) {
		if len(req.Sort) == 0 {
			*offset = 0
		}
	}})),
	broken("a limit is at most 500", "a window has as many rows as there are for it", "M20",
		warehouse(twist{request: func(_ *connector.Query, limit, _ *int64) { *limit = min(*limit, 500) }})),
	broken("under a window only the first group of or is asked for", appliedInOrder, "M12",
		warehouse(askingForPages(func(req *connector.Query) { req.Or = req.Or[:min(1, len(req.Or))] }))),
	broken("what the upstream cannot filter is filtered behind the window", appliedInOrder, "M12", func() http.Handler {
		var late sync.Map // filters by request
		includes := func(f wire.Filter) bool { return f.Op == wire.OpIncludes }
		return warehouse(twist{
			request: func(req *connector.Query, limit, _ *int64) {
				if *limit > 0 && slices.ContainsFunc(req.And, includes) {
					late.Store(req, slices.Clone(req.And))
					req.And = slices.DeleteFunc(req.And, includes)
				}
			},
			answer: func(req *connector.Query, t *oracle.Table) {
				if filters, ok := late.LoadAndDelete(req); ok {
					t.Rows = slices.DeleteFunc(t.Rows, func(row []wire.Value) bool {
						return slices.ContainsFunc(filters.([]wire.Filter), func(f wire.Filter) bool { return !matches(t, row, f) })
					})
				}
			},
		})()
	}),
	broken("a nin of more than fifty members drops nothing", "nin drops what in keeps", "L2",
		warehouse(eachFilter(listed(func(list []wire.Value) []wire.Value {
			if len(list) > 50 {
				return nil
			}
			return list
		}), wire.OpNin))),
	broken("a long list is asked for in parts, whose rows come one behind the other",
		"a sort orders all rows that the filters keep", "M12", warehouse(twist{answer: func(req *connector.Query, t *oracle.Table) {
			i := slices.IndexFunc(req.And, func(f wire.Filter) bool { return f.Op == wire.OpIn && len(f.Values) > 50 })
			if i < 0 {
				return
			}
			var all [][]wire.Value
			f, left := req.And[i], t.Rows
			for part := range slices.Chunk(req.And[i].Values, 50) {
				f.Values = part
				var others [][]wire.Value
				for _, row := range left {
					if matches(t, row, f) {
						all = append(all, row)
					} else {
						others = append(others, row)
					}
				}
				left = others
			}
			t.Rows = all
		}})),
	broken("parts of texts are looked for in the fields that were asked for", "a filter is about a column of the table", "L2",
		warehouse(twist{answer: func(req *connector.Query, t *oracle.Table) {
			for _, f := range req.And {
				if (f.Op == wire.OpIncludes || f.Op == wire.OpStartsWith) && !slices.Contains(req.Fields, f.Field) {
					t.Rows = nil
				}
			}
		}})),
	keptPages("pages are kept without the direction of their order", eachOf(drops("dir"), "sort")),
	keptNumbers("counts are kept without the members of lists", wire.PathCount, eachOf(drops("values"), "and")).
		behind("M10", "counts by lists are asked one after the other"),
	keptNumbers("aggregates are kept without the members of lists", wire.PathAggregate, eachOf(drops("values"), "and"), tablesIn("badges")...).
		behind("M10", "counts by lists are asked one after the other"),
	keptNumbers("counts are kept without what stands together in or", wire.PathCount, func(body map[string]any) {
		var flat []any
		groups, _ := body["or"].([]any)
		for _, group := range groups {
			flat = append(flat, group.([]any)...)
		}
		body["or"] = flat
	}),
	keptNumbers("counts are kept with the members of lists joined by commas", wire.PathCount, eachOf(func(f map[string]any) {
		f["values"] = strings.ReplaceAll(strings.Trim(fmt.Sprint(f["values"]), "[]"), " ", ",")
	}, "and")),
	keptNumbers("aggregates are kept without the names of their columns", wire.PathAggregate, eachOf(drops("as"), "measures", "groupBy")),
	keptNumbers("aggregates are kept by the first three of their filters", wire.PathAggregate, func(body map[string]any) {
		body["and"] = alternatives(body, "and")[:min(3, len(alternatives(body, "and")))]
	}, firstHotels()...),
	keptNumbers("counts are kept by the first nineteen characters of operands", wire.PathCount, firstOfOperands, tuneTables()...),
	keptNumbers("aggregates are kept by the first nineteen characters of operands", wire.PathAggregate, firstOfOperands, tuneTables()...),
	keptNumbers("counts are kept in lower case", wire.PathCount, func(body map[string]any) {
		body["and"] = strings.ToLower(fmt.Sprint(body["and"]))
	}),
	keptNumbers("counts are kept by the first and the last member of lists", wire.PathCount, eachOf(func(f map[string]any) {
		if values, ok := f["values"].([]any); ok && len(values) > 2 {
			f["values"] = []any{values[0], len(values), values[len(values)-1]}
		}
	}, "and")),
	broken("the answer to a count that timed out goes to the next", "a number is that of its own request", "M27",
		warehouse(twist{}, func(h http.Handler) http.Handler {
			var left atomic.Pointer[httptest.ResponseRecorder]
			return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
				tree := parsed(*body)
				if r.URL.Path != wire.PathCount || !mayAsk(r) || tree == nil {
					return false
				}
				if rec := left.Swap(nil); rec != nil {
					replay(w, rec)
					return true
				}
				if integer(tree, "timeoutMs") != 1 {
					return false
				}
				tree["timeoutMs"] = json.Number("10000")
				rec := httptest.NewRecorder()
				h.ServeHTTP(rec, withBody(r, marshalled(tree)))
				if rec.Code == http.StatusOK {
					left.Store(rec)
				}
				refuses(w, http.StatusRequestTimeout, "timeout", "the time is over")
				return true
			})(h)
		})),
	keptPages("pages are kept without the groups of or", drops("or")),
	broken("the open cursor of a table is read on", "an offset counts the rows of its own request", "M27", cursors).
		behind("M27, or L6", "pages of other lists are read before"),
	broken("a page leaves its limit to the next read without one", "a limit is that of its own request", "M27", func() http.Handler {
		var left atomic.Int64
		return warehouse(twist{request: func(_ *connector.Query, limit, offset *int64) {
			switch {
			case *limit > 0 && *offset > 0:
				left.Store(*limit)
			case *limit == 0:
				*limit = left.Swap(0)
			}
		}})()
	}),
	broken("a query leaves its groups of or to the next of its table", "a filter is that of its own request", "M27", func() http.Handler {
		var (
			mu    sync.Mutex
			table string
			left  [][]wire.Filter
		)
		return warehouse(asking(func(req *connector.Query) {
			mu.Lock()
			defer mu.Unlock()
			if len(req.Or) > 0 {
				table, left = req.Table, req.Or
			} else if req.Table != table {
				left = nil
			} else if len(req.And) == 0 {
				req.Or = left
			}
		}))()
	}),
	broken("a refused query leaves its first filter to the next", "a filter is that of its own request", "M27",
		warehouse(twist{}, leavingFilters(wire.PathQuery, http.StatusNotFound, http.StatusUnprocessableEntity))),
	broken("a refused count leaves its first filter to the next", "a filter is that of its own request", "M27",
		warehouse(twist{}, leavingFilters(wire.PathCount, http.StatusNotFound, http.StatusUnprocessableEntity))),
	broken("a malformed count leaves its first filter to the next", "a filter is that of its own request", "M27",
		warehouse(twist{}, leavingFilters(wire.PathCount, http.StatusBadRequest))),
	broken("an offset is rounded to whole pages", resultIsCut, "L6",
		warehouse(twist{request: func(_ *connector.Query, _, offset *int64) { *offset -= *offset % 50 }})).behind("M20", windowsFirst),
	broken("a sorted read forgets rows without a value", "a sort drops no rows", "L7",
		warehouse(twist{request: func(req *connector.Query, _, _ *int64) {
			for _, k := range req.Sort {
				req.And = append(req.And, wire.Filter{Field: k.Field, Op: wire.OpNotNull})
			}
		}})),
	broken("pages of 100 rows overlap by one", "pages under a key compose", "L6",
		warehouse(twist{request: func(_ *connector.Query, limit, offset *int64) {
			if *limit == 100 && *offset > 0 {
				*offset--
			}
		}})).behind("M20", windowsFirst),
}

// matches reports whether a row satisfies a filter.
func matches(t *oracle.Table, row []wire.Value, f wire.Filter) bool {
	c := t.Index(f.Field)
	return oracle.Match(row[c], f, t.Columns[c].Type)
}

// cursors returns a connector that keeps a cursor for each table, with the sort of the request that opened it.
func cursors() http.Handler {
	type cursor struct {
		at   int64
		sort []wire.SortKey
	}
	var mu sync.Mutex
	open := map[string]cursor{}
	return warehouse(twist{request: func(req *connector.Query, limit, offset *int64) {
		mu.Lock()
		defer mu.Unlock()
		if c, ok := open[req.Table]; ok && *offset > 0 && c.at == *offset {
			req.Sort = c.sort
		}
		if *limit > 0 {
			open[req.Table] = cursor{*offset + *limit, req.Sort}
		}
	}})()
}

// leavingFilters keeps the first filter of a request of which a later filter is refused with one of the statuses, for the
// next request to the table.
func leavingFilters(path string, refusals ...int) layer {
	return func(h http.Handler) http.Handler {
		var left sync.Map // by table
		return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
			tree := parsed(*body)
			if tree == nil || r.URL.Path != path || !mayAsk(r) {
				return false
			}
			filters := listOf(tree, "and")
			fresh := httptest.NewRecorder()
			h.ServeHTTP(fresh, withBody(r, *body))
			if slices.Contains(refusals, fresh.Code) && len(filters) > 1 {
				left.Store(tree["table"], filters[0])
			} else if f, ok := left.LoadAndDelete(tree["table"]); ok && fresh.Code == http.StatusOK {
				tree["and"] = append(tree["and"].([]any), f)
				*body = marshalled(tree)
				return false
			}
			replay(w, fresh)
			return true
		})(h)
	}
}

// firstOfOperands leaves the first nineteen characters of operands, as many as an instant has without its fraction.
var firstOfOperands = eachOf(func(f map[string]any) {
	if text, ok := f["value"].(string); ok {
		f["value"] = text[:min(len(text), len(time.DateTime))]
	}
}, "and")

// keptNumbers returns a connector that keeps the answers of a route by what is left of the request.
func keptNumbers(name, path string, leave func(body map[string]any), tables ...memsource.Table) fault {
	build := warehouse(twist{})
	if len(tables) > 0 {
		build = stocked(func() []memsource.Table { return tables }, twist{})
	}
	return broken(name, "a number is that of its own request", "M27", over(build, keepingWhere(path, asks(), leave)))
}

// keptPages returns a connector that keeps pages by what is left of the request.
func keptPages(name string, leave func(body map[string]any)) fault {
	return broken(name, "a page is that of its own request", "M27",
		warehouse(twist{}, keepingWhere(wire.PathQuery, asks("limit"), leave)))
}

func projected(name string, answer func(req *connector.Query, t *oracle.Table)) fault {
	return broken(name, "a row has for each field the cell of that field", "M7", warehouse(twist{answer: answer}))
}

func swappedColumns(one, other string, when func(fields []string) bool) func(*connector.Query, *oracle.Table) {
	return func(req *connector.Query, t *oracle.Table) {
		if req.Table == "moves" && when(req.Fields) {
			a, b := t.Index(one), t.Index(other)
			for _, row := range t.Rows {
				row[a], row[b] = row[b], row[a]
			}
		}
	}
}

var projectionFaults = []fault{
	projected("columns are swapped when few are asked for",
		swappedColumns("part", "amount", func(fields []string) bool { return len(fields) == 1 && fields[0] == "amount" })),
	projected("columns are taken in the order of the table", swappedColumns("id", "amount", func(fields []string) bool {
		at, id := slices.Index(fields, "amount"), slices.Index(fields, "id")
		return id >= 0 && at >= 0 && at < id
	})).behind("L11", "rows with swapped cells are not among those of the whole read"),
	projected("a column beside others is that of the row before", func(req *connector.Query, t *oracle.Table) {
		if at := t.Index("code"); at >= 0 && len(req.Fields) == 1 {
			before := wire.Text("A0")
			for _, row := range t.Rows {
				row[at], before = before, row[at]
			}
		}
	}),
}

func viewed(name, kill string, build func() http.Handler) fault {
	return broken(name, "a table that stores no rows of its own is read like any other", kill,
		over(build, eachTable(sets("storesRows", false)), eachTable(drops("rowCount"))))
}

// viewFaults are connectors whose tables claim to store no rows.
var viewFaults = []fault{
	viewed("a view repeats its key", "L5", over(untouched, described("customers", "country", "unique", true))),
	viewed("a view has nulls where it has none", "L10", over(untouched, described("orders", "note", "nullable", false))).
		refused("discovery-7"),
	viewed("a view counts 999", "L3", over(untouched, edits(where(asks("count"), sets("count", 999)), wire.PathCount))),
	viewed("a view ignores its filters", "L2", tampered(asking(func(req *connector.Query) { req.And = nil }))).refused("stream-11"),
}

// descriptionFaults are connectors whose discovery does not describe the rows.
var descriptionFaults = []fault{
	broken("samples are those of another column", "samples are values of the column", "M29",
		warehouse(twist{}, described("moves", "amount", "samples", []any{1000, 1001, 1002}))).behind("L10", "it knows whose values they are"),
	broken("a null share in parts of one", "nullPercent is a percentage", "M29",
		warehouse(twist{}, edits(ofField("parts", "parent", func(f map[string]any) {
			if stats, ok := f["stats"].(map[string]any); ok {
				stats["nullPercent"] = 0.3
			}
		}), wire.PathDiscovery))),
	broken("discovery forgets a table every other time", "discovery lists every table", "M26", func() http.Handler {
		n := 0
		return edits(func(body map[string]any) {
			if tables, ok := body["tables"].([]any); ok {
				if n++; n%2 == 0 {
					body["tables"] = tables[:1]
				}
			}
		}, wire.PathDiscovery)(warehouse(twist{})())
	}),
}
