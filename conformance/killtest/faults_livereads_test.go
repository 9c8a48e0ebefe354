package killtest

import (
	"crypto/rand"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// liveReadFaults returns connectors whose reads of one table disagree.
func liveReadFaults() []fault {
	return slices.Concat(wholeReadFaults(), windowFaults(), projectionFaults(), viewFaults(), foldFaults(), liveJoinFaults(),
		descriptionFaults())
}

// countless are the endpoints that tell how many rows a table has.
var countless = []wire.Endpoint{wire.EndpointSize, wire.EndpointCount, wire.EndpointAggregate}

func wholeReadFaults() []fault {
	const why = "a read without filters and without a window answers all rows, each once"
	pages := func(edit func(page [][]wire.Value) [][]wire.Value) func(d *pagedSource) {
		return func(d *pagedSource) {
			d.fetch = func(_ *connector.Query, rows [][]wire.Value) [][]wire.Value { return eachPage(rows, 100, edit) }
		}
	}
	dropLast := func(page [][]wire.Value) [][]wire.Value {
		if len(page) == 100 {
			return page[:99]
		}
		return page
	}
	firstPage := func(d *pagedSource) {
		d.request = func(req *connector.Query, limit, _ *int64) {
			if *limit == 0 {
				*limit = 100
			}
		}
	}
	return []fault{
		{name: "the last row of each full page is dropped", why: why, kills: []string{"L11"}, options: live,
			build: pagedWith(pages(dropLast))},
		{name: "the last row of each full page is dropped, and nothing counts", why: why, kills: []string{"L11"}, options: live,
			build: pagedWith(pages(dropLast), countless...)},
		{name: "only the first page is read", why: why, kills: []string{"L11"}, options: live, build: pagedWith(firstPage)},
		{name: "only the first page is read, and nothing counts", why: why, kills: []string{"L11"}, options: live,
			build: pagedWith(firstPage, countless...)},
		{
			name: "reads stop at 1,000 rows", why: why, kills: []string{"L11"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				d.fetch = func(_ *connector.Query, rows [][]wire.Value) [][]wire.Value {
					return rows[:min(len(rows), 1000)]
				}
			}),
		},
		{
			name: "reads without a sort stop at 1,000 rows, and nothing counts or skips", why: why, kills: []string{"L11"}, options: live,
			build: func() http.Handler {
				d := newPagedSource()
				d.fetch = func(req *connector.Query, rows [][]wire.Value) [][]wire.Value {
					if len(req.Sort) == 0 {
						return rows[:min(len(rows), 1000)]
					}
					return rows
				}
				return serve(connector.Definition{}, d, &connector.Options{Omit: connector.Omit{Endpoints: countless, Offset: true}})
			},
		},
		{
			name: "a page begins with the last row of the one before", why: why, kills: []string{"L11"}, client: "discovery-10", options: live,
			build: pagedWith(func(d *pagedSource) {
				d.fetch = func(_ *connector.Query, rows [][]wire.Value) (all [][]wire.Value) {
					for i, row := range rows {
						if i > 0 && i%100 == 0 {
							all = append(all, rows[i-1])
						}
						all = append(all, row)
					}
					return all
				}
			}),
		},
	}
}

func windowFaults() []fault {
	return []fault{
		{
			name: "one column of numbers is sorted upwards as text", why: "numbers sort by value",
			kills: []string{"L7"}, client: "stream-2", options: live,
			build: pagedWith(func(d *pagedSource) {
				d.answer = func(req *connector.Query, t *oracle.Table) {
					if len(req.Sort) > 0 && req.Sort[0].Field == "amount" && req.Sort[0].Dir == wire.Asc {
						slices.SortStableFunc(t.Rows, func(a, b []wire.Value) int { return strings.Compare(a[2].String(), b[2].String()) })
					}
				}
			}),
		},
		{
			name: "an offset without a sort is ignored", why: "offset and limit cut the result",
			kills: []string{"M20"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				d.request = func(req *connector.Query, _, offset *int64) {
					if len(req.Sort) == 0 {
						*offset = 0
					}
				}
			}),
		},
		{
			name: "a limit is at most 500", why: "a window has as many rows as there are for it",
			kills: []string{"M20"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				d.request = func(_ *connector.Query, limit, _ *int64) { *limit = min(*limit, 500) }
			}),
		},
		{
			name: "under a window only the first group of or is asked for", why: "filters, sort and window are applied in this order",
			kills: []string{"M12"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				d.request = func(req *connector.Query, limit, _ *int64) {
					if *limit > 0 && len(req.Or) > 1 {
						req.Or = req.Or[:1]
					}
				}
			}),
		},
		{
			name: "what the upstream cannot filter is filtered behind the window", why: "filters, sort and window are applied in this order",
			kills: []string{"M12"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				var late sync.Map // filters by request
				d.request = func(req *connector.Query, limit, _ *int64) {
					includes := func(f wire.Filter) bool { return f.Op == wire.OpIncludes }
					if *limit > 0 && slices.ContainsFunc(req.And, includes) {
						late.Store(req, slices.Clone(req.And))
						req.And = slices.DeleteFunc(req.And, includes)
					}
				}
				d.fetch = func(req *connector.Query, rows [][]wire.Value) [][]wire.Value {
					filters, ok := late.LoadAndDelete(req)
					if !ok {
						return rows
					}
					columns := d.tables[req.Table].Columns
					return slices.DeleteFunc(slices.Clone(rows), func(row []wire.Value) bool {
						return slices.ContainsFunc(filters.([]wire.Filter), func(f wire.Filter) bool {
							c := slices.IndexFunc(columns, func(c wire.Column) bool { return c.Name == f.Field })
							return !oracle.Match(row[c], f, columns[c].Type)
						})
					})
				}
			}),
		},
		{
			name: "a nin of more than fifty members drops nothing", why: "nin drops what in keeps", kills: []string{"L2"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				d.request = func(req *connector.Query, _, _ *int64) {
					for i, f := range req.And {
						if f.Op == wire.OpNin && len(f.Values) > 50 {
							req.And[i].Values = nil
						}
					}
				}
			}),
		},
		{
			name: "a long list is asked for in parts, whose rows come one behind the other", why: "a sort orders all rows that the filters keep",
			kills: []string{"M12"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				d.fetch = func(req *connector.Query, rows [][]wire.Value) (all [][]wire.Value) {
					i := slices.IndexFunc(req.And, func(f wire.Filter) bool { return f.Op == wire.OpIn && len(f.Values) > 50 })
					if i < 0 {
						return rows
					}
					f, left := req.And[i], rows
					columns := d.tables[req.Table].Columns
					c := slices.IndexFunc(columns, func(c wire.Column) bool { return c.Name == f.Field })
					for part := range slices.Chunk(req.And[i].Values, 50) {
						f.Values = part
						var others [][]wire.Value
						for _, row := range left {
							if oracle.Match(row[c], f, columns[c].Type) {
								all = append(all, row)
							} else {
								others = append(others, row)
							}
						}
						left = others
					}
					return all
				}
			}),
		},
		{
			name: "parts of texts are looked for in the fields that were asked for", why: "a filter is about a column of the table",
			kills: []string{"L2"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				d.fetch = func(req *connector.Query, rows [][]wire.Value) [][]wire.Value {
					for _, f := range req.And {
						if (f.Op == wire.OpIncludes || f.Op == wire.OpStartsWith) && !slices.Contains(req.Fields, f.Field) {
							return nil
						}
					}
					return rows
				}
			}),
		},
		keptPages("pages are kept without the direction of their order", func(body map[string]any) {
			for _, k := range listOf(body, "sort") {
				delete(k, "dir")
			}
		}),
		keptNumbers("counts are kept without the members of lists", wire.PathCount, withoutMembers).
			behind("M10", "counts by lists are asked one after the other"),
		keptNumbers("aggregates are kept without the members of lists", wire.PathAggregate, withoutMembers, badges()).
			behind("M10", "counts by lists are asked one after the other"),
		keptPages("pages are kept without the groups of or", func(body map[string]any) { delete(body, "or") }),
		{
			name: "the open cursor of a table is read on", why: "an offset counts the rows of its own request",
			kills: []string{"M27"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				type cursor struct {
					at   int64
					sort []wire.SortKey
				}
				var mu sync.Mutex
				open := map[string]cursor{}
				d.request = func(req *connector.Query, limit, offset *int64) {
					mu.Lock()
					defer mu.Unlock()
					if c, ok := open[req.Table]; ok && *offset > 0 && c.at == *offset {
						req.Sort = c.sort
					}
					if *limit > 0 {
						open[req.Table] = cursor{*offset + *limit, req.Sort}
					}
				}
			}),
		},
		{
			name: "an offset is rounded to whole pages", why: "offset and limit cut the result",
			kills: []string{"L6"}, first: "M20", because: "a window is compared with the whole read before pages are", options: live,
			build: pagedWith(func(d *pagedSource) {
				d.request = func(_ *connector.Query, _, offset *int64) { *offset -= *offset % 50 }
			}),
		},
		{
			name: "a sorted read forgets rows without a value", why: "a sort drops no rows",
			kills: []string{"L7"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				d.request = func(req *connector.Query, _, _ *int64) {
					for _, k := range req.Sort {
						req.And = append(req.And, wire.Filter{Field: k.Field, Op: wire.OpNotNull})
					}
				}
			}),
		},
		{
			name: "pages of 100 rows overlap by one", why: "pages under a key compose",
			kills: []string{"L6"}, first: "M20", because: "a window is compared with the whole read before pages are", options: live,
			build: pagedWith(func(d *pagedSource) {
				d.request = func(_ *connector.Query, limit, offset *int64) {
					if *limit == 100 && *offset > 0 {
						*offset--
					}
				}
			}),
		},
	}
}

func withoutMembers(body map[string]any) {
	for _, f := range listOf(body, "and") {
		delete(f, "values")
	}
}

// badges returns a table of which only one column has values with different numbers of rows.
func badges() memsource.Table {
	t := memsource.Table{Table: wire.Table{Name: "badges", PrimaryKey: []string{"no"}, Fields: []wire.Field{
		{Name: "no", Type: wire.TypeNumber, Unique: true}, {Name: "door", Type: wire.TypeString},
	}}}
	for i := range 40 {
		t.Rows = append(t.Rows, []wire.Value{wire.Int(int64(i)), wire.Text(strings.Repeat("B", min(i%8, 3)))})
	}
	return t
}

// keptNumbers returns a connector that keeps the answers of a route by what is left of the request.
func keptNumbers(name, path string, leave func(body map[string]any), tables ...memsource.Table) fault {
	build := pagedWith(func(*pagedSource) {})
	if len(tables) > 0 {
		build = func() http.Handler { return serve(connector.Definition{}, pagedSourceOf(tables...), nil) }
	}
	return fault{
		name: name, why: "a number is that of its own request", kills: []string{"M27"}, options: live,
		build: over(build, keeping(path, func(r *http.Request, body map[string]any) string {
			leave(body)
			return byRequest(r, body)
		})),
	}
}

// keptPages returns a connector that keeps pages by what is left of the request.
func keptPages(name string, leave func(body map[string]any)) fault {
	return fault{
		name: name, why: "a page is that of its own request", kills: []string{"M27"}, options: live,
		build: over(pagedWith(func(*pagedSource) {}), keeping(wire.PathQuery, func(r *http.Request, body map[string]any) string {
			if body["limit"] == nil {
				return rand.Text() // is not found again
			}
			leave(body)
			return byRequest(r, body)
		})),
	}
}

// swapColumns swaps the cells of two columns of the table moves.
func swapColumns(one, other string, when func(fields []string) bool) func(*pagedSource) {
	return func(d *pagedSource) {
		d.answer = func(req *connector.Query, t *oracle.Table) {
			if req.Table != "moves" || !when(req.Fields) {
				return
			}
			a, b := t.Index(one), t.Index(other)
			for i, row := range t.Rows {
				row = slices.Clone(row)
				row[a], row[b] = row[b], row[a]
				t.Rows[i] = row
			}
		}
	}
}

func projectionFaults() []fault {
	const why = "a row has for each field the cell of that field"
	return []fault{
		{
			name: "columns are swapped when few are asked for", why: why, kills: []string{"M7"}, options: live,
			build: pagedWith(swapColumns("part", "amount", func(fields []string) bool { return len(fields) == 1 && fields[0] == "amount" })),
		},
		{
			name: "columns are taken in the order of the table", why: why, kills: []string{"M7"},
			first: "L11", because: "rows with swapped cells are not among those of the whole read", options: live,
			build: pagedWith(swapColumns("id", "amount", func(fields []string) bool {
				at, id := slices.Index(fields, "amount"), slices.Index(fields, "id")
				return id >= 0 && at >= 0 && at < id
			})),
		},
		{
			name: "a column beside others is that of the row before", why: why, kills: []string{"M7"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				d.answer = func(req *connector.Query, t *oracle.Table) {
					if at := t.Index("code"); at >= 0 && len(req.Fields) == 1 {
						for i := len(t.Rows) - 1; i > 0; i-- {
							t.Rows[i] = slices.Clone(t.Rows[i])
							t.Rows[i][at] = t.Rows[i-1][at]
						}
						t.Rows[0] = slices.Clone(t.Rows[0])
						t.Rows[0][at] = wire.Text("A0")
					}
				}
			}),
		},
	}
}

// viewFaults returns connectors whose tables claim to store no rows.
func viewFaults() []fault {
	view := eachTable(func(table map[string]any) {
		table["storesRows"] = false
		delete(table, "rowCount")
	})
	const why = "a table that stores no rows of its own is read like any other"
	return []fault{
		{name: "a view repeats its key", why: why, kills: []string{"L5"}, options: live,
			build: func() http.Handler {
				return view(columnsOf("customers", func(f map[string]any) { f["unique"] = f["unique"] == true || f["name"] == "country" })())
			}},
		{name: "a view has nulls where it has none", why: why, kills: []string{"L10"}, client: "discovery-7", options: live,
			build: func() http.Handler {
				return view(columnsOf("orders", func(f map[string]any) {
					if f["name"] == "note" {
						f["nullable"] = false
					}
				})())
			}},
		{name: "a view counts 999", why: why, kills: []string{"L3"}, options: live,
			build: func() http.Handler {
				return view(edits(func(body map[string]any) {
					if body["count"] != nil {
						body["count"] = 999
					}
				}, wire.PathCount)(untouched()))
			}},
		{name: "a view ignores its filters", why: why, kills: []string{"L2"}, client: "stream-11", options: live,
			build: func() http.Handler { return view(tampered(func(req *connector.Query) { req.And = nil })()) }},
	}
}

// foldFaults returns sources of pages that aggregate wrongly, mostly one column.
func foldFaults() []fault {
	grain := func(from, to wire.Grain, column string) func(*pagedSource) {
		return func(d *pagedSource) {
			d.aggregate = func(req *wire.AggregateRequest) {
				for i, g := range req.GroupBy {
					if g.Grain == from && g.Field == column {
						req.GroupBy[i].Grain = to
					}
				}
			}
		}
	}
	measure := func(from wire.Measure, to wire.AggFunc) func(*pagedSource) {
		return func(d *pagedSource) {
			d.aggregate = func(req *wire.AggregateRequest) {
				for i, m := range req.Measures {
					if m.Fn == from.Fn && m.Field == from.Field {
						req.Measures[i].Fn = to
					}
				}
			}
		}
	}
	return []fault{
		{
			name: "groups are cut below the limit", why: "groups are refused or declined, never cut",
			kills: []string{"M23"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				d.groups = func(_ *wire.AggregateRequest, rows [][]wire.Value) [][]wire.Value { return rows[:min(len(rows), 1000)] }
			}),
		},
		{name: "a quarter is a month", why: "a grain is the first day of its period", kills: []string{"M24"}, options: live,
			build: pagedWith(grain(wire.GrainQuarter, wire.GrainMonth, "day"))},
		{name: "a year is a quarter, of one column", why: "a grain is the first day of its period", kills: []string{"M24"}, options: live,
			build: pagedWith(grain(wire.GrainYear, wire.GrainQuarter, "at"))},
		{
			name: "months begin at midnight in Berlin", why: "a period begins in UTC", kills: []string{"M24"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				d.aggregate = func(req *wire.AggregateRequest) {
					if len(req.GroupBy) == 1 && req.GroupBy[0].Grain != "" && req.GroupBy[0].Field == "at" {
						req.Table = "shifted"
					}
				}
				shifted := *d.tables["moves"]
				shifted.Rows = slices.Clone(shifted.Rows)
				for i, row := range shifted.Rows {
					at, err := time.Parse(time.RFC3339, row[4].String())
					if err != nil {
						panic(err)
					}
					shifted.Rows[i] = slices.Clone(row)
					shifted.Rows[i][4] = wire.DatetimeWidth(at.Add(2*time.Hour), 0)
				}
				d.tables["shifted"] = &shifted
			}),
		},
		{
			name: "behind another key a year is a month", why: "a grain is the first day of its period", kills: []string{"M24"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				d.aggregate = func(req *wire.AggregateRequest) {
					if len(req.GroupBy) == 2 && req.GroupBy[1].Grain == wire.GrainYear {
						req.GroupBy[1].Grain = wire.GrainMonth
					}
				}
			}),
		},
		{
			name: "groups that a filter of their column leaves empty are answered", why: "a group has rows", kills: []string{"L8"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				d.groups = func(req *wire.AggregateRequest, rows [][]wire.Value) [][]wire.Value {
					whole := *req
					whole.Where = wire.Where{}
					all, err := oracle.Aggregate(d.tables, &whole)
					if err != nil || len(req.GroupBy) != 1 || len(req.And) != 1 || req.And[0].Field != req.GroupBy[0].Field || req.And[0].Op != wire.OpEq {
						return rows
					}
					for _, group := range all.Rows {
						if !slices.ContainsFunc(rows, func(row []wire.Value) bool { return row[0] == group[0] }) {
							empty := make([]wire.Value, len(group))
							empty[0], empty[1] = group[0], wire.Int(0)
							rows = append(rows, empty)
						}
					}
					return rows
				}
			}),
		},
		{
			name: "of no rows the sum is zero", why: "a sum over nothing is null", kills: []string{"L8"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				d.groups = func(req *wire.AggregateRequest, rows [][]wire.Value) [][]wire.Value {
					for at, m := range req.Measures {
						if len(req.GroupBy) == 0 && m.Fn == wire.AggSum && rows[0][0].String() == "0" {
							rows[0][at] = wire.Int(0)
						}
					}
					return rows
				}
			}),
		},
		{
			name: "the distinct values of a group are not those of the one before", why: "a wrong number is never legal",
			kills: []string{"L8"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				d.groups = func(req *wire.AggregateRequest, rows [][]wire.Value) [][]wire.Value {
					for at, m := range req.Measures {
						for i := range rows {
							if m.Fn == wire.AggCountDistinct && len(req.GroupBy) > 0 && i > 0 {
								rows[i][len(req.GroupBy)+at] = wire.Int(0)
							}
						}
					}
					return rows
				}
			}),
		},
		{
			name: "names of groups lose their capitals", why: "a group has the names that are asked for", kills: []string{"L8", "M24"}, options: live,
			build: over(pagedWith(func(*pagedSource) {}), ok(func(body map[string]any) {
				for _, group := range listOf(body, "rows") {
					for name, v := range maps.Clone(group) {
						delete(group, name)
						group[strings.ToLower(name)] = v
					}
				}
			}, wire.PathAggregate)),
		},
		{name: "the maximum of one date is its minimum", why: "a wrong number is never legal", kills: []string{"L8"}, options: live,
			build: pagedWith(measure(wire.Measure{Fn: wire.AggMax, Field: "at"}, wire.AggMin))},
		{name: "the distinct values of one column are all of them", why: "a wrong number is never legal", kills: []string{"L8"}, options: live,
			build: pagedWith(measure(wire.Measure{Fn: wire.AggCountDistinct, Field: "part"}, wire.AggCount))},
		{
			name: "one column is summed as floats", why: "a sum is exact", kills: []string{"L8"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				d.groups = func(req *wire.AggregateRequest, rows [][]wire.Value) [][]wire.Value {
					for i, m := range req.Measures {
						if m.Fn == wire.AggSum && m.Field == "price" && len(req.GroupBy) == 0 {
							rows[0][i] = wire.Decimal(rows[0][i].String() + "00000000001")
						}
					}
					return rows
				}
			}),
		},
		{
			name: "a column alone is counted with its nulls", why: "nonNull counts the cells that are not null",
			kills: []string{"L4"}, options: live,
			build: func() http.Handler {
				alone := false
				h := edits(func(body map[string]any) {
					columns, _ := body["columns"].(map[string]any)
					for _, c := range columns {
						if alone && integer(c.(map[string]any), "nonNull") == 1200 {
							c.(map[string]any)["nonNull"] = 1230
						}
					}
				}, wire.PathCardinality)(pagedWith(func(*pagedSource) {})())
				return bodies(func(body map[string]any) {
					list, _ := body["columns"].([]any)
					alone = len(list) == 1
				}, wire.PathCardinality)(h)
			},
		},
		{
			name: "fieldTypes are believed", why: "the type is that of the source's column", kills: []string{"M25"}, options: live,
			build: pagedWith(func(d *pagedSource) { d.seen = d.retyped }),
		},
	}
}

// liveJoinFaults returns sources of pages that join wrongly.
func liveJoinFaults() []fault {
	const why = "a hop is a left join"
	unmatched := func(t *oracle.Table, row []wire.Value) bool {
		for i, c := range t.Columns {
			if c.Hop == 1 && !row[i].IsNull() {
				return false
			}
		}
		return true
	}
	return []fault{
		{
			name: "rows without a match are dropped", why: why, kills: []string{"M21"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				d.answer = func(req *connector.Query, t *oracle.Table) {
					if len(req.Joins) > 0 {
						t.Rows = slices.DeleteFunc(t.Rows, func(row []wire.Value) bool { return unmatched(t, row) })
					}
				}
			}),
		},
		{
			name: "one match of several is joined", why: why, kills: []string{"M21"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				d.answer = func(req *connector.Query, t *oracle.Table) {
					if len(req.Joins) > 0 {
						t.Rows = slices.CompactFunc(t.Rows, func(a, b []wire.Value) bool { return a[0].String() == b[0].String() })
					}
				}
			}),
		},
		{
			name: "a table joined to itself is not", why: why, kills: []string{"M21"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				d.answer = func(req *connector.Query, t *oracle.Table) {
					if len(req.Joins) == 1 && req.Joins[0].ToTable == req.Table {
						for i, row := range t.Rows {
							t.Rows[i] = slices.Clone(row)
							copy(t.Rows[i][len(row)-4:], row[:4])
						}
					}
				}
			}),
		},
		{
			name: "the second hop starts from the base table", why: why, kills: []string{"M21"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				d.answer = func(req *connector.Query, t *oracle.Table) {
					if len(req.Joins) == 2 {
						for i, row := range t.Rows {
							t.Rows[i] = slices.Clone(row)
							copy(t.Rows[i][len(row)-4:], row[len(row)-8:len(row)-4])
						}
					}
				}
			}),
		},
		{
			name: "beside two hops the groups of or are forgotten", why: "filters are those of the base table",
			kills: []string{"M21"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				d.request = func(req *connector.Query, _, _ *int64) {
					if len(req.Joins) == 2 {
						req.Or = nil
					}
				}
			}),
		},
		{
			name: "a hop starts only from columns that are answered", why: why, kills: []string{"M21"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				d.answer = func(req *connector.Query, t *oracle.Table) {
					if len(req.Joins) < 2 || slices.ContainsFunc(req.Joins[0].Fields, func(f wire.JoinField) bool { return f.Field == req.Joins[1].FromField }) {
						return
					}
					for i, row := range t.Rows {
						t.Rows[i] = slices.Clone(row)
						for at, c := range t.Columns {
							if c.Hop == 2 {
								t.Rows[i][at] = wire.Null()
							}
						}
					}
				}
			}),
		},
		{
			name: "behind a row without a match, null is joined to null", why: "null matches nothing",
			kills: []string{"M21"}, options: live,
			build: func() http.Handler {
				counts := memsource.Table{Table: wire.Table{
					Name: "counts", SourceDescription: "What was counted.", PrimaryKey: []string{"no"},
					ForeignKeys: []wire.ForeignKey{{Field: "part", TargetTable: "parts", TargetField: "no"}},
					Fields:      []wire.Field{{Name: "no", Type: wire.TypeNumber, Unique: true}, {Name: "part", Type: wire.TypeNumber, Nullable: true}},
				}}
				for i := range 30 {
					part := wire.Int(int64(2*i + 1))
					if i%10 == 3 {
						part = wire.Null()
					}
					counts.Rows = append(counts.Rows, []wire.Value{wire.Int(int64(i)), part})
				}
				d := pagedSourceOf(append(pagedTables(), counts)...)
				d.answer = func(req *connector.Query, t *oracle.Table) {
					if len(req.Joins) != 2 || req.Joins[0].ToTable != "parts" || req.Joins[1].ToTable != "counts" {
						return
					}
					for i, row := range t.Rows {
						if unmatched(t, row) {
							t.Rows[i] = slices.Clone(row)
							t.Rows[i][len(row)-2] = counts.Rows[3][0]
						}
					}
				}
				return serve(connector.Definition{}, d, nil)
			},
		},
		{
			name: "a later hop begins at a column of the base table", why: "a hop begins at the table that it names",
			kills: []string{"M21"}, options: live,
			build: func() http.Handler {
				number := func(name string, unique bool) wire.Field {
					return wire.Field{Name: name, Type: wire.TypeNumber, Unique: unique}
				}
				linked := func(name, to, key string, fields ...wire.Field) memsource.Table {
					return memsource.Table{Table: wire.Table{
						Name: name, SourceDescription: "What was counted.", PrimaryKey: []string{"no"},
						Fields:      append([]wire.Field{number("no", true)}, fields...),
						ForeignKeys: []wire.ForeignKey{{Field: fields[0].Name, TargetTable: to, TargetField: key}},
					}}
				}
				counts := linked("counts", "moves", "id", number("move", false))
				visits := linked("visits", "counts", "no", number("count", false), number("part", false))
				for i := range int64(40) {
					counts.Rows = append(counts.Rows, []wire.Value{wire.Int(i), wire.Int(1000 + 7*i)})
					visits.Rows = append(visits.Rows, []wire.Value{wire.Int(i), wire.Int(i / 2), wire.Int(1 + i)})
				}
				d := pagedSourceOf(append(pagedTables(), counts, visits)...)
				d.answer = func(req *connector.Query, t *oracle.Table) {
					if len(req.Joins) != 3 {
						return
					}
					for i, row := range t.Rows {
						part, _ := strconv.Atoi(row[t.Index("part")].String())
						t.Rows[i] = slices.Clone(row)
						copy(t.Rows[i][len(row)-4:], d.tables["parts"].Rows[part-1])
					}
				}
				return serve(connector.Definition{}, d, nil)
			},
		},
		{
			name: "a limit counts rows of the base table", why: "a window is one of joined rows", kills: []string{"M21"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				var limits sync.Map // by request
				d.request = func(req *connector.Query, limit, _ *int64) {
					if len(req.Joins) > 0 && *limit > 0 {
						limits.Store(req, *limit)
						*limit = 0
					}
				}
				d.fetch = func(req *connector.Query, rows [][]wire.Value) [][]wire.Value {
					limit, limited := limits.LoadAndDelete(req)
					parents := int64(0)
					for i, row := range rows {
						if i == 0 || row[0] != rows[i-1][0] {
							parents++
						}
						if limited && parents > limit.(int64) {
							return rows[:i]
						}
					}
					return rows
				}
			}),
		},
		{
			name: "an aggregate ignores its joins", why: "a wrong number is never legal", kills: []string{"M22"}, options: live,
			build: pagedWith(func(d *pagedSource) {
				d.aggregate = func(req *wire.AggregateRequest) {
					if len(req.GroupBy) == 0 && len(req.Measures) == 1 {
						req.Joins = nil
					}
				}
			}),
		},
		joinedSums("sums over joins are of distinct values of the joined table", func(field string) bool { return strings.HasPrefix(field, "Hop") }),
		joinedSums("sums over joins are of distinct values of the base table", func(field string) bool { return !strings.HasPrefix(field, "Hop") }),
		{
			name: "the orphans of the other direction", why: "orphanCount counts the from-rows without a match",
			kills: []string{"L9"}, options: live,
			build: over(pagedWith(func(*pagedSource) {}), bodies(func(body map[string]any) {
				if body["fromTable"] == "parts" && body["toTable"] == "moves" {
					body["fromTable"], body["fromColumn"] = body["toTable"], body["toColumn"]
					body["toTable"], body["toColumn"] = "parts", "no"
				}
			}, wire.PathLinkHitRate)),
		},
	}
}

// joinedSums returns a source of pages that adds each value of some fields once, as SUM(DISTINCT) does, which people
// write so that rows with several matches are not added several times.
func joinedSums(name string, once func(field string) bool) fault {
	return fault{name: name, why: "a wrong number is never legal", kills: []string{"M22"}, options: live,
		build: pagedWith(func(d *pagedSource) {
			d.groups = func(req *wire.AggregateRequest, rows [][]wire.Value) [][]wire.Value {
				if len(req.Joins) == 0 || len(req.GroupBy) > 0 {
					return rows
				}
				for i, m := range req.Measures {
					if m.Fn != wire.AggSum || !once(m.Field) {
						continue
					}
					values := *req
					values.GroupBy = []wire.GroupKey{{Field: m.Field, As: "value"}}
					values.Measures = []wire.Measure{{Fn: wire.AggCount, As: "n"}}
					t, err := oracle.Aggregate(d.tables, &values)
					if err != nil {
						return rows
					}
					sum := decimal.Zero
					for _, row := range t.Rows {
						if !row[0].IsNull() {
							sum = sum.Add(decimal.RequireFromString(row[0].String()))
						}
					}
					rows[0][i] = wire.Decimal(sum.String())
				}
				return rows
			}
		})}
}

// descriptionFaults returns sources of pages whose discovery does not describe the rows.
func descriptionFaults() []fault {
	paged := pagedWith(func(*pagedSource) {})
	return []fault{
		{
			name: "samples are those of another column", why: "samples are values of the column",
			kills: []string{"M29"}, first: "L10", because: "it knows whose values they are", options: live,
			build: over(paged, eachField(func(table any, f map[string]any) {
				if table == "moves" && f["name"] == "amount" {
					f["samples"] = []any{1000, 1001, 1002}
				}
			})),
		},
		{
			name: "a null share in parts of one", why: "nullPercent is a percentage",
			kills: []string{"M29"}, options: live,
			build: over(paged, eachField(func(_ any, f map[string]any) {
				if stats, ok := f["stats"].(map[string]any); ok && f["name"] == "parent" {
					stats["nullPercent"] = 0.3
				}
			})),
		},
		{
			name: "discovery forgets a table every other time", why: "discovery lists every table",
			kills: []string{"M26"}, options: live,
			build: func() http.Handler {
				n := 0
				return edits(func(body map[string]any) {
					if tables, ok := body["tables"].([]any); ok {
						if n++; n%2 == 0 {
							body["tables"] = tables[:1]
						}
					}
				}, wire.PathDiscovery)(paged())
			},
		},
	}
}
