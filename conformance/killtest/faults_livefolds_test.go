package killtest

import (
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
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	periodsBegin = "a grain is the first day of its period"
	neverWrong   = "a wrong number is never legal"
)

func grainAs(name string, from, to wire.Grain, column string) fault {
	return broken(name, periodsBegin, "M24", warehouse(folding(func(req *wire.AggregateRequest) {
		for i, g := range req.GroupBy {
			if g.Grain == from && g.Field == column {
				req.GroupBy[i].Grain = to
			}
		}
	})))
}

var pagedOracle = oracleTables(pagedTables())

var pagedLater = movedLater()

// foldFaults are connectors that aggregate wrongly, mostly one column.
var foldFaults = []fault{
	broken("groups are cut below the limit", "groups are refused or declined, never cut", "M23",
		warehouse(twist{groups: func(_ *wire.AggregateRequest, t *oracle.Table) { t.Rows = t.Rows[:min(len(t.Rows), 1000)] }})),
	grainAs("a quarter is a month", wire.GrainQuarter, wire.GrainMonth, "day"),
	grainAs("a year is a quarter, of one column", wire.GrainYear, wire.GrainQuarter, "at"),
	broken("months begin at midnight in Berlin", "a period begins in UTC", "M24",
		warehouse(twist{folded: func(req *wire.AggregateRequest) oracle.Tables {
			if len(req.GroupBy) == 1 && req.GroupBy[0].Grain != "" && req.GroupBy[0].Field == "at" {
				return pagedLater
			}
			return pagedOracle
		}})),
	broken("behind another key a year is a month", periodsBegin, "M24", warehouse(folding(func(req *wire.AggregateRequest) {
		if len(req.GroupBy) == 2 && req.GroupBy[1].Grain == wire.GrainYear {
			req.GroupBy[1].Grain = wire.GrainMonth
		}
	}))),
	broken("groups that a filter of their column leaves empty are answered", "a group has rows", "L8",
		warehouse(twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
			whole := *req
			whole.Where = wire.Where{}
			all, err := oracle.Aggregate(pagedOracle, &whole)
			if err != nil || len(req.GroupBy) != 1 || len(req.And) != 1 || req.And[0].Field != req.GroupBy[0].Field || req.And[0].Op != wire.OpEq {
				return
			}
			for _, group := range all.Rows {
				if !slices.ContainsFunc(t.Rows, func(row []wire.Value) bool { return row[0] == group[0] }) {
					empty := make([]wire.Value, len(group))
					empty[0], empty[1] = group[0], wire.Int(0)
					t.Rows = append(t.Rows, empty)
				}
			}
		}})),
	broken("of no rows the sum is zero", "a sum over nothing is null", "L8",
		warehouse(twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
			for at, m := range req.Measures {
				if len(req.GroupBy) == 0 && m.Fn == wire.AggSum && t.Rows[0][0].String() == "0" {
					t.Rows[0][at] = wire.Int(0)
				}
			}
		}})),
	broken("the distinct values of a group are not those of the one before", neverWrong, "L8",
		warehouse(twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
			for at, m := range req.Measures {
				for i, row := range t.Rows {
					if m.Fn == wire.AggCountDistinct && len(req.GroupBy) > 0 && i > 0 {
						row[len(req.GroupBy)+at] = wire.Int(0)
					}
				}
			}
		}})),
	broken("names of groups lose their capitals", "a group has the names that are asked for", "L8, M24",
		warehouse(twist{}, ok(eachOf(func(group map[string]any) {
			for name, v := range maps.Clone(group) {
				delete(group, name)
				group[strings.ToLower(name)] = v
			}
		}, "rows"), wire.PathAggregate))),
	broken("the maximum of one date is its minimum", neverWrong, "L8", warehouse(measuredAs(wire.AggMax, wire.AggMin, "at"))),
	broken("the distinct values of one column are all of them", neverWrong, "L8",
		warehouse(measuredAs(wire.AggCountDistinct, wire.AggCount, "part"))),
	broken("one column is summed as floats", "a sum is exact", "L8",
		warehouse(twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
			for i, m := range req.Measures {
				if m.Fn == wire.AggSum && m.Field == "price" && len(req.GroupBy) == 0 {
					t.Rows[0][i] = wire.Decimal(t.Rows[0][i].String() + "00000000001")
				}
			}
		}})),
	broken("a column alone is counted with its nulls", "nonNull counts the cells that are not null", "L4",
		warehouse(twist{}, onlyFor(wire.PathCardinality,
			func(body map[string]any) bool { return len(alternatives(body, "columns")) == 1 }, edits(eachColumn(func(c map[string]any) {
				if integer(c, "nonNull") == 1200 {
					c["nonNull"] = 1230
				}
			}), wire.PathCardinality)))),
	broken("fieldTypes are believed", "the type is that of the source's column", "M25", believing),
}

// movedLater returns the tables of the warehouse, where everything moves two hours later.
func movedLater() oracle.Tables {
	later := oracleTables(pagedTables())
	for _, row := range later["moves"].Rows {
		row[4] = wire.DatetimeWidth(must(time.Parse(time.RFC3339, row[4].String())).Add(2*time.Hour), 0)
	}
	return later
}

// believing is a connector that takes the types of its columns from the request.
var believing = warehouse(twist{seen: func(req *connector.Query) oracle.Tables {
	return retyped(pagedOracle, func(c wire.Column) wire.Type { return req.FieldTypes[c.Name] })
}})

const isLeftJoin = "a hop is a left join"

func unmatched(t *oracle.Table, row []wire.Value) bool {
	for i, c := range t.Columns {
		if c.Hop == 1 && !row[i].IsNull() {
			return false
		}
	}
	return true
}

func hoppedWrongly(name, why string, hops int, joined func(req *connector.Query, t *oracle.Table), more ...memsource.Table) fault {
	tables := func() []memsource.Table { return append(pagedTables(), more...) }
	return broken(name, why, "M21", stocked(tables, twist{answer: func(req *connector.Query, t *oracle.Table) {
		if n := len(req.Joins); n > 0 && (hops == 0 || hops == n) {
			joined(req, t)
		}
	}}))
}

var pagedParts = pagedTables()[1].Rows

// liveJoinFaults are connectors that join wrongly.
var liveJoinFaults = []fault{
	hoppedWrongly("of two hops to one table both answer the first", "a hop is along its own columns", 2,
		eachRow(func(req *connector.Query, _ *oracle.Table, row []wire.Value) {
			if req.Joins[0].ToTable == req.Joins[1].ToTable && req.Joins[1].FromTable == req.Table {
				copy(row[len(row)-4:], row[len(row)-8:len(row)-4])
			}
		}), counted[3]),
	broken("keys are linked in any letters", "texts are equal by their bytes", "L9", stocked(ports, twist{
		link: func(_ *oracleSource, req *wire.LinkHitRateRequest, right *wire.LinkHitRate) {
			if req.FromTable == "arrivals" && req.FromColumn == "port" {
				right.OrphanCount, right.OrphanRate, right.OrphanSamples = 0, 0, nil
			}
		},
	})),
	hoppedWrongly("rows without a match are dropped", isLeftJoin, 0, func(_ *connector.Query, t *oracle.Table) {
		t.Rows = slices.DeleteFunc(t.Rows, func(row []wire.Value) bool { return unmatched(t, row) })
	}),
	hoppedWrongly("one match of several is joined", isLeftJoin, 0, func(_ *connector.Query, t *oracle.Table) {
		t.Rows = slices.CompactFunc(t.Rows, func(a, b []wire.Value) bool { return a[0].String() == b[0].String() })
	}),
	hoppedWrongly("a table joined to itself is not", isLeftJoin, 1, eachRow(func(req *connector.Query, _ *oracle.Table, row []wire.Value) {
		if req.Joins[0].ToTable == req.Table {
			copy(row[len(row)-4:], row[:4])
		}
	})),
	hoppedWrongly("the second hop starts from the base table", isLeftJoin, 2,
		eachRow(func(_ *connector.Query, _ *oracle.Table, row []wire.Value) {
			copy(row[len(row)-4:], row[len(row)-8:len(row)-4])
		})),
	broken("beside two hops the groups of or are forgotten", "filters are those of the base table", "M21", warehouse(asking(where(
		func(req *connector.Query) bool { return len(req.Joins) == 2 }, func(req *connector.Query) { req.Or = nil })))),
	broken("a hop without fields is left out", "a row with several matches is several rows", "M21", warehouse(asking(where(
		func(req *connector.Query) bool { return len(req.Joins) == 1 && len(req.Joins[0].Fields) == 0 },
		func(req *connector.Query) { req.Joins = nil })))),
	broken("joined rows are sorted by columns that are answered only", "rows come in the requested order", "M21",
		warehouse(asking(func(req *connector.Query) {
			req.Sort = slices.DeleteFunc(slices.Clone(req.Sort), func(k wire.SortKey) bool {
				return len(req.Joins) > 0 && !slices.Contains(req.Fields, k.Field)
			})
		}))),
	hoppedWrongly("a hop starts only from columns that are answered", isLeftJoin, 2,
		eachRow(func(req *connector.Query, t *oracle.Table, row []wire.Value) {
			from := req.Joins[1].FromField
			if !slices.ContainsFunc(req.Joins[0].Fields, func(f wire.JoinField) bool { return f.Field == from }) {
				nullHops(t, row, 2)
			}
		})),
	hoppedWrongly("behind a row without a match, null is joined to null", "null matches nothing", 2,
		eachRow(func(req *connector.Query, t *oracle.Table, row []wire.Value) {
			if req.Joins[0].ToTable == "parts" && req.Joins[1].ToTable == "counts" && unmatched(t, row) {
				row[len(row)-2] = counted[0].Rows[3][0]
			}
		}), counted[0]),
	hoppedWrongly("a later hop begins at a column of the base table", "a hop begins at the table that it names", 3,
		eachRow(func(_ *connector.Query, t *oracle.Table, row []wire.Value) {
			part, _ := strconv.Atoi(row[t.Index("part")].String())
			copy(row[len(row)-4:], pagedParts[part-1])
		}), counted[1:3]...),
	broken("a limit counts rows of the base table", "a window is one of joined rows", "M21", func() http.Handler {
		var limits sync.Map // by request
		return warehouse(twist{
			request: func(req *connector.Query, limit, _ *int64) {
				if len(req.Joins) > 0 && *limit > 0 {
					limits.Store(req, *limit)
					*limit = 0
				}
			},
			answer: func(req *connector.Query, t *oracle.Table) {
				limit, limited := limits.LoadAndDelete(req)
				parents := int64(0)
				for i, row := range t.Rows {
					if i == 0 || row[0] != t.Rows[i-1][0] {
						parents++
					}
					if limited && parents > limit.(int64) {
						t.Rows = t.Rows[:i]
						return
					}
				}
			},
		})()
	}),
	broken("an aggregate ignores its joins", neverWrong, "M22", warehouse(folding(where(
		func(req *wire.AggregateRequest) bool { return len(req.GroupBy) == 0 && len(req.Measures) == 1 },
		func(req *wire.AggregateRequest) { req.Joins = nil })))),
	broken("groups by a joined text lose the rows that nothing matches", "a row without a match is in the group of null", "M22",
		warehouse(folding(func(req *wire.AggregateRequest) {
			for _, h := range req.Joins {
				if slices.ContainsFunc(h.Fields, func(f wire.JoinField) bool {
					return f.Field == "label" && len(req.GroupBy) > 0 && f.As == req.GroupBy[0].Field
				}) {
					req.And = append(req.And, wire.Filter{Field: req.Joins[0].FromField, Op: wire.OpLte, Value: wire.Int(60)})
				}
			}
		}))),
	broken("groups of joined rows count each row of the base table once", "a row with several matches is several rows", "M22",
		warehouse(folding(func(req *wire.AggregateRequest) {
			for i := range req.Measures {
				if m := &req.Measures[i]; len(req.Joins) > 0 && len(req.GroupBy) > 0 && req.Table == "parts" && m.Field == "" {
					m.Fn, m.Field = wire.AggCountDistinct, "no"
				}
			}
		}))),
	joinedSums("sums over joins are of distinct values of the joined table",
		func(field string) bool { return strings.HasPrefix(field, "Hop") }),
	joinedSums("sums over joins are of distinct values of the base table",
		func(field string) bool { return !strings.HasPrefix(field, "Hop") }),
	broken("the orphans of the other direction", "orphanCount counts the from-rows without a match", "L9",
		warehouse(twist{}, bodies(func(body map[string]any) {
			if body["fromTable"] == "parts" && body["toTable"] == "moves" {
				body["fromTable"], body["fromColumn"] = body["toTable"], body["toColumn"]
				body["toTable"], body["toColumn"] = "parts", "no"
			}
		}, wire.PathLinkHitRate))),
}

// counted are tables that refer to those of the warehouse, some of them to each other.
var counted = tablesIn("counted")

// joinedSums returns a connector that adds each value of some fields once, as SUM(DISTINCT) does, which people
// write so that rows with several matches are not added several times.
func joinedSums(name string, once func(field string) bool) fault {
	tables := oracleTables(pagedTables())
	return broken(name, neverWrong, "M22", warehouse(twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
		for i, m := range req.Measures {
			if len(req.Joins) == 0 || len(req.GroupBy) > 0 || m.Fn != wire.AggSum || !once(m.Field) {
				continue
			}
			values := *req
			values.GroupBy = []wire.GroupKey{{Field: m.Field, As: "value"}}
			values.Measures = []wire.Measure{{Fn: wire.AggCount, As: "n"}}
			found, err := oracle.Aggregate(tables, &values)
			if err != nil {
				return
			}
			sum := decimal.Zero
			for _, row := range found.Rows {
				if !row[0].IsNull() {
					sum = sum.Add(decimal.RequireFromString(row[0].String()))
				}
			}
			t.Rows[0][i] = wire.Decimal(sum.String())
		}
	}}))
}

// Faults of joins that a join along a foreign key does not show: its target has no nulls, and the judge names what it asks for.

const (
	nullMatchesNothing = "a null key matches nothing"
	answersFromSource  = "an answer is made of what the source holds, whatever was asked before"
)

func alsoNulls(name string, tables func() []memsource.Table, concerns func(from, to wire.Type) bool) fault {
	return broken(name, nullMatchesNothing, "M21", stocked(tables, alsoMatching(tables, concerns, func(from, key wire.Value) bool {
		return from.IsNull() && key.IsNull()
	})))
}

func anyTypes(_, _ wire.Type) bool { return true }

func ofTunes(name, why string, also func(from, key wire.Value) bool) fault {
	return broken("tunes: "+name, why, "M21", stocked(tuneTables, alsoMatching(tuneTables, anyTypes, also)))
}

func overwritten(name string, tables func() []memsource.Table, into func(own wire.Column) bool) fault {
	return broken(name, answersFromSource, "M27", func() http.Handler { return stocked(tables, overwriting(tables, into))() })
}

var hopFaults = overLiveData([]fault{
	alsoNulls("hotels: nulls of both sides match", firstHotels, anyTypes),
	alsoNulls("hotels: null texts of both sides match", firstHotels,
		func(from, to wire.Type) bool { return from == wire.TypeString && to == wire.TypeString }),
	alsoNulls("parts: nulls of both sides match", pagedTables, anyTypes),
	ofTunes("a null key meets the empty text", nullMatchesNothing,
		func(from, key wire.Value) bool { return from.IsNull() && key.Text() == "" && !key.IsNull() }),
	ofTunes("text keys that look like numbers meet as numbers", "texts are compared as texts", func(from, key wire.Value) bool {
		return terms.IsDecimal(from.Text()) && from.Text() != key.Text() && oracle.Same(from, key, wire.TypeNumber)
	}),
	overwritten("hotels: a joined column is written into the row that is kept", firstHotels, func(wire.Column) bool { return true }),
	overwritten("library: a joined number is written into the row that is kept", libraryTables,
		func(own wire.Column) bool { return own.Type == wire.TypeNumber }),
})

// tuneTables returns tables that are joined by number and by text: tunes have keys that look like numbers, and an empty one.
func tuneTables() []memsource.Table { return sampledIn("tunes") }

// alsoMatching joins rows over columns of some types also where another condition on the two keys holds.
func alsoMatching(tables func() []memsource.Table, concerns func(from, to wire.Type) bool, also func(from, key wire.Value) bool) twist {
	all := oracleTables(tables())
	return twist{joined: func(req *connector.Query, t *oracle.Table) {
		hop, to := req.Joins[0], all[req.Joins[0].ToTable]
		from, key := t.Index(hop.FromField), to.Index(hop.ToField)
		if len(req.Joins) > 1 || !concerns(t.Columns[from].Type, to.Columns[key].Type) {
			return
		}
		var rows [][]wire.Value
		for _, row := range t.Rows {
			before := len(rows)
			for _, other := range to.Rows {
				if !also(row[from], other[key]) {
					continue
				}
				matched := slices.Clone(row)
				for i, f := range hop.Fields {
					matched[len(row)-len(hop.Fields)+i] = other[to.Index(f.Field)]
				}
				rows = append(rows, matched)
			}
			if len(rows) == before {
				rows = append(rows, row)
			}
		}
		t.Rows = rows
	}}
}

// overwriting writes what a hop answers under a name of the table's own into the table's rows, for later queries.
func overwriting(tables func() []memsource.Table, into func(own wire.Column) bool) twist {
	var mu sync.Mutex
	kept := oracleTables(tables())
	return twist{seen: func(req *connector.Query) oracle.Tables {
		mu.Lock()
		defer mu.Unlock()
		now := maps.Clone(kept)
		if len(req.Joins) != 1 {
			return now
		}
		hop, base := req.Joins[0], *kept[req.Table]
		to := kept[hop.ToTable]
		from, key := base.Index(hop.FromField), to.Index(hop.ToField)
		for _, f := range hop.Fields {
			own := base.Index(f.As)
			if own < 0 || own == from || slices.Contains(base.PrimaryKey, f.As) || !into(base.Columns[own]) {
				continue
			}
			base.Rows = slices.Clone(base.Rows)
			for n, row := range base.Rows {
				base.Rows[n] = slices.Clone(row)
				base.Rows[n][own] = wire.Null()
				at := slices.IndexFunc(to.Rows, func(other []wire.Value) bool { return oracle.Same(row[from], other[key], wire.TypeString) })
				if at >= 0 && !row[from].IsNull() {
					base.Rows[n][own] = to.Rows[at][to.Index(f.Field)]
				}
			}
		}
		kept[req.Table] = &base
		return now
	}}
}

// refusingHops returns the hotels with hops refused.
func refusingHops(status int, code string, refused func(tables []memsource.Table, body, hop map[string]any) bool) func() http.Handler {
	tables := firstHotels()
	return over(hotel, refusesWhere(status, code, "no such join", func(r *http.Request, text []byte) bool {
		body := parsed(text)
		return mayAsk(r) && having("joins", func(hop map[string]any) bool { return refused(tables, body, hop) })(body)
	}))
}

func joinsOnly(g *grading) { g.Match = "^M2[127]$" } // so that few requests suffice for all joins

// oddJoins are connectors that refuse joins that the protocol does not say all must take.
var oddJoins = []oddity{
	{name: "a joined column may not have a name of the table's own", why: "two columns of one name are refused", options: joinsOnly,
		build: refusingHops(400, "bad_request", func(tables []memsource.Table, body, hop map[string]any) bool {
			i := slices.IndexFunc(tables, func(t memsource.Table) bool { return t.Name == body["table"] })
			return i >= 0 && having("fields", func(f map[string]any) bool { return tables[i].Field(textOf(f["as"])) != nil })(hop)
		})},
	{name: "only declared foreign keys are joined", why: "another join may be refused as unsupported", options: joinsOnly,
		build: refusingHops(422, "unsupported", func(tables []memsource.Table, _, hop map[string]any) bool {
			return !slices.ContainsFunc(tables, func(t memsource.Table) bool {
				return t.Name == hop["fromTable"] && slices.ContainsFunc(t.ForeignKeys, func(key wire.ForeignKey) bool {
					return key.Field == hop["fromField"] && key.TargetTable == hop["toTable"]
				})
			})
		})},
}
