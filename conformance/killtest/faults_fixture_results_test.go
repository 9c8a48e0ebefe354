package killtest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// typedKey reports whether the first key of a sort is a column of some types.
func typedKey(req *connector.Query, t *oracle.Table, types ...wire.Type) bool {
	return slices.Contains(types, t.Columns[t.Index(req.Sort[0].Field)].Type)
}

var orderFaults = []fault{
	bent("ascending is descending", "dir asc", "P2.6: ascending, P2.6: descending",
		twist{order: func(req *connector.Query, t *oracle.Table) { slices.Reverse(t.Rows) }}).
		behind("P2.8: the fields asked for", "fields come before sorts, whose cells they are, and their cases are sorted").refused("stream-2"),
	bent("desc is ignored", "dir desc", "P2.6: descending", upwards("")).refused("stream-2"),
	bent("nulls come first", "nulls are last in both directions", "P2.6: nulls last", twist{order: nullsToFront}).refused("stream-2"),
	bent("numbers sort as text", "9 before 10", "P2.6: numbers", twist{order: func(req *connector.Query, t *oracle.Table) {
		if typedKey(req, t, wire.TypeNumber, wire.TypeDecimal) {
			reorder(t, t.Rows, req.Sort, nullsLast(byText))
		}
	}}).
		behind("P2.8: the fields asked for", "fields come before sorts, whose cells they are, and their cases are sorted").refused("stream-2"),
	bent("texts sort without case", "texts sort by bytes", "P2.6: texts",
		twist{order: func(req *connector.Query, t *oracle.Table) {
			if typedKey(req, t, wire.TypeString) && !req.Sort[0].Collate {
				reorder(t, t.Rows, req.Sort, changed(folded))
			}
		}}).refused("stream-2"),
	bent("only the first key sorts", "several keys", "P2.6: several keys",
		twist{order: func(req *connector.Query, t *oracle.Table) {
			if len(req.Sort) > 1 {
				slices.Reverse(t.Rows)
				copy(t.Rows, must(oracle.Sort(t, req.Sort[:1], nil)).Rows)
			}
		}}).behind("P2.6: nulls last", "its cases break ties by a second key"),
	bent("collate is a locale", "collate asks for byte order", "P2.6: collate",
		twist{order: ifCollated(reordered(changed(folded)))}),
	bent("fractions of a second do not sort", "every digit of an instant counts", "P2.6: dates and datetimes",
		twist{order: func(req *connector.Query, t *oracle.Table) {
			if typedKey(req, t, wire.TypeDatetime) {
				reorder(t, t.Rows, req.Sort, changed(func(v wire.Value) wire.Value {
					if v.Kind() != wire.KindDatetime {
						return v
					}
					return wire.DatetimeWidth(v.Time().Truncate(time.Minute), 6)
				}))
			}
		}}),
	windowed("one row too many", "limit", "P2.7: a limit", func(offset, limit int64) (int64, int64) {
		if limit > 0 {
			limit++
		}
		return offset, limit
	}).refused("stream-2b"),
	windowed("offsets count from one", "the first row has the offset 0", "P2.7: an offset",
		func(offset, limit int64) (int64, int64) {
			return max(0, offset-1), limit
		}).behind("P2.7: an offset without a limit", "all of its cases skip rows, those of an offset not"),
	bent("beyond the end is the last page", "a window beyond the end is empty", "P2.7: a window beyond the end",
		twist{window: func(offset, limit int64, rows int) (int, int) {
			if int(offset) >= rows && rows > 0 {
				return max(0, rows-int(max(limit, 1))), rows
			}
			return cut(offset, limit, rows)
		}}),
	bent("the window is cut before the filters", "filter, then cut", "P2.7: a window behind filters and a sort",
		twist{early: true}),
	windowed("an offset alone is ignored", "an offset stands without a limit", "P2.7: an offset without a limit",
		func(offset, limit int64) (int64, int64) {
			if limit == 0 {
				offset = 0
			}
			return offset, limit
		}),
}

// windowed asks the source for another window.
func windowed(name, why, kills string, edit func(offset, limit int64) (int64, int64)) fault {
	return broken(name, why, kills, over(right, bodies(func(body map[string]any) {
		offset, limit := edit(integer(body, "offset"), integer(body, "limit"))
		for member, n := range map[string]int64{"offset": offset, "limit": limit} {
			if delete(body, member); n > 0 {
				body[member] = n
			}
		}
	}, wire.PathQuery)))
}

// cut returns the right window.
func cut(offset, limit int64, rows int) (from, to int) {
	from, to = int(min(offset, int64(rows))), rows
	if limit > 0 {
		to = int(min(int64(rows), offset+limit))
	}
	return from, to
}

var claimFaults = []fault{
	bent("filters that are left out are claimed", "served.filters is true only when every predicate held", "P2.9: served.filters",
		notPushed(wire.OpContains)),
	bent("filters are claimed and never applied", "the same", "P2.9: served.filters",
		twist{passes: func([]wire.Filter, [][]wire.Filter, func(wire.Filter) bool) bool { return true }}).refused("stream-11"),
	bent("a sort is claimed and never done", "served.sort is true when rows are in order", "P2.9: served.sort",
		asking(func(req *connector.Query) { req.Sort = nil })).refused("stream-2"),
	windowed("a window is claimed and not cut", "no row beyond it follows", "P2.9: served.window",
		func(int64, int64) (int64, int64) { return 0, 0 }).refused("stream-2b"),
	broken("a window is cut before what it needs", "it is honored only when filters and sort are served too", "P2.9: served.window",
		over(right, stating(func() string { return `{"served":{"filters":false,"sort":false,"window":true}}` + "\n" }))),
	broken("a declared operator is not applied", "filter law", "P2.9: filters with declared operators",
		over(func() http.Handler {
			return twisted(operator(wire.OpGt, func(wire.Value, wire.Filter, bool) bool { return true }))
		}, serving(false, false), unwindowed)),
}

// right serves the corpus by the oracle.
func right() http.Handler { return twisted(twist{}) }

// joinedRows edits each joined row; base is how many columns are those of the base table.
func joinedRows(name, why, kill string, edit func(req *connector.Query, t *oracle.Table, row []wire.Value, base int)) fault {
	return bent(name, why, kill, twist{joined: eachRow(func(req *connector.Query, t *oracle.Table, row []wire.Value) {
		edit(req, t, row, baseColumns(t))
	})})
}

var joinFaults = []fault{
	joinedRows("text keys match without case", "keys are equal by bytes", "P2.15: a match",
		func(req *connector.Query, t *oracle.Table, row []wire.Value, base int) {
			if req.Joins[0].FromField == "text" && row[base].IsNull() && !row[t.Index("text")].IsNull() {
				row[base] = wire.Int(9)
			}
		}),
	bent("inner joins", "an unmatched row stays", "P2.15: no match", twist{joined: func(req *connector.Query, t *oracle.Table) {
		at := len(t.Columns) - len(req.Joins[len(req.Joins)-1].Fields)
		t.Rows = slices.DeleteFunc(t.Rows, func(row []wire.Value) bool {
			return !slices.ContainsFunc(row[at:], func(v wire.Value) bool { return !v.IsNull() })
		})
	}}),
	bent("the first match alone", "several matches are several rows", "P2.15: several matches",
		twist{joined: func(req *connector.Query, t *oracle.Table) {
			n := baseColumns(t)
			if req.Joins[0].ToTable != "orders" && req.Joins[0].ToTable != "order_lines" {
				return
			}
			t.Rows = slices.CompactFunc(t.Rows, func(a, b []wire.Value) bool {
				return slices.EqualFunc(a[:n], b[:n], func(a, b wire.Value) bool { return a.String() == b.String() })
			})
		}}),
	joinedRows("a self-join answers the row itself", "two sides of one table are told apart", "P2.15: a table and itself",
		func(req *connector.Query, t *oracle.Table, row []wire.Value, base int) {
			if req.Joins[0].ToTable == req.Table {
				row[base] = row[t.Index("name")]
			}
		}),
	joinedRows("null keys match", "a null key matches nothing", "P2.15: null keys",
		func(req *connector.Query, t *oracle.Table, row []wire.Value, base int) {
			if req.Joins[0].FromField == "whole" && row[t.Index("whole")].IsNull() {
				row[base] = wire.Int(6)
			}
		}),
	joinedRows("the second hop is lost", "a hop starts from an earlier one", "P2.15: a hop from a hop",
		func(_ *connector.Query, t *oracle.Table, row []wire.Value, _ int) { nullHops(t, row, 2) }),
}

// baseColumns returns how many columns of joined rows are those of the base table.
func baseColumns(t *oracle.Table) (n int) {
	for _, c := range t.Columns {
		if c.Hop == 0 {
			n++
		}
	}
	return n
}

// nullHops makes the cells of a row null that come from a hop or a later one.
func nullHops(t *oracle.Table, row []wire.Value, from int) {
	for i, c := range t.Columns {
		if c.Hop >= from {
			row[i] = wire.Null()
		}
	}
}

// beginningWith folds both sides of startswith.
func beginningWith(fold func(string) string) twist {
	return operator(wire.OpStartsWith, func(cell wire.Value, f wire.Filter, _ bool) bool {
		return !cell.IsNull() && !f.Value.IsNull() && strings.HasPrefix(fold(cell.String()), fold(f.Value.String()))
	})
}

// behindEmpty leaves out a first group that is empty, beside others.
func behindEmpty(or [][]wire.Filter) [][]wire.Filter {
	if len(or) > 1 && len(or[0]) == 0 {
		return or[1:]
	}
	return or
}

func lowerBeyondASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 {
			return r
		}
		return []rune(strings.ToLower(string(r)))[0]
	}, s)
}

// joinedFaults are connectors that treat joined rows, empty groups and letters beyond ASCII as many upstreams do.
var joinedFaults = []fault{
	bent("aggregates forget their joins", "a wrong number is never legal", "P2.18: joined rows",
		folding(func(req *wire.AggregateRequest) { req.Joins = nil })),
	bent("aggregates join inside", "a row without a match stays", "P2.18: joined rows", twist{aggregate: func(req *wire.AggregateRequest) {
		if len(req.Joins) > 0 && len(req.GroupBy) == 0 {
			matched := slices.Clone(req.And)
			for _, j := range req.Joins {
				keys := column(rightCorpus.tables[j.ToTable], j.ToField)
				matched = append(matched, wire.Filter{Field: j.FromField, Op: wire.OpIn, Values: keys})
			}
			req.And = matched
		}
	}}),
	bent("aggregates with joins forget their filters", "an aggregate holds its filters", "P2.18: filters",
		folding(where(aggregatesJoins, func(req *wire.AggregateRequest) { req.And = nil }))),
	bent("the last group of joined rows is lost", "every group is answered", "P2.18: filters",
		twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
			if len(req.Joins) > 0 && len(req.And) > 0 && len(t.Rows) > 1 {
				t.Rows = t.Rows[:len(t.Rows)-1]
			}
		}}),
	bent("joined rows that look alike are one", "a key with several matches gives several rows", "P2.15: several matches",
		twist{joined: func(req *connector.Query, t *oracle.Table) {
			asked := append(slices.Clone(req.Fields), req.Joins[0].Fields[0].As)
			firstRows(t, func(row []wire.Value) string { return textOfRow(t, row, asked...) })
		}}),
	bent("startswith folds beyond ASCII", "a prefix compares by bytes", "P2.3: startswith", beginningWith(lowerBeyondASCII)),
	bent("startswith unescapes", "a backslash is a backslash", "P2.3: startswith",
		beginningWith(func(s string) string { return strings.ReplaceAll(s, `\`, "") })),
	bent("a first empty group is no group", "an empty group is true", "P2.4: an empty or",
		combining(func(and []wire.Filter, or [][]wire.Filter) ([]wire.Filter, [][]wire.Filter) {
			return and, behindEmpty(or)
		})),
	bent("a first empty group is no group of an aggregate", "an empty group is true", "P2.11: filters",
		folding(func(req *wire.AggregateRequest) { req.Or = behindEmpty(req.Or) })),
}

// measures changes the answers of one function.
func measures(of func(m wire.Measure) bool, change func(v wire.Value) wire.Value) twist {
	return twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
		for i, m := range req.Measures {
			if of(m) {
				for _, row := range t.Rows {
					row[len(req.GroupBy)+i] = change(row[len(req.GroupBy)+i])
				}
			}
		}
	}}
}

func function(fn wire.AggFunc) func(wire.Measure) bool {
	return func(m wire.Measure) bool { return m.Fn == fn }
}

// grain answers the periods of one grain as a clock five hours behind UTC does.
func grain(g wire.Grain) twist {
	return twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
		for i, group := range req.GroupBy {
			if group.Grain != g {
				continue
			}
			for _, row := range t.Rows {
				if row[i].Kind() == wire.KindDate {
					row[i] = wire.Date(row[i].Time().Add(-5 * time.Hour))
				}
			}
		}
	}}
}

func oneMore(v wire.Value) wire.Value {
	if v.Kind() != wire.KindInt {
		return v
	}
	return wire.Int(v.Int64() + 1)
}

var aggregateFaults = []fault{
	bent("count is one too many without groups", "count counts rows", "P2.11: count",
		twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
			rows := req.Measures[0].Fn == wire.AggCount && req.Measures[0].Field == ""
			if rows && len(req.GroupBy) == 0 && len(req.And) == 0 && t.Rows[0][0].Int64() > 0 {
				t.Rows[0][0] = oneMore(t.Rows[0][0])
			}
		}}),
	bent("count of a field counts nulls", "a count of a field counts its non-null cells", "P2.11: count of a field",
		folding(func(req *wire.AggregateRequest) {
			for i := range req.Measures {
				if req.Measures[i].Fn == wire.AggCount {
					req.Measures[i].Field = ""
				}
			}
		})).refused("aggregate-1b"),
	bent("sums in floats", "a sum is exact", "P2.11: sum", measures(function(wire.AggSum), func(v wire.Value) wire.Value {
		if d := double(v); d.Kind() == wire.KindFloat || d.Kind() == wire.KindInt {
			return wire.Decimal(strconv.FormatFloat(d.Float64(), 'f', -1, 64))
		}
		return v
	})),
	bent("min is max", "min and max", "P2.11: min and max", measuredAs(wire.AggMin, wire.AggMax, "")),
	bent("null is a distinct value", "distinct values are not null", "P2.11: count_distinct",
		measures(function(wire.AggCountDistinct), oneMore)).refused("aggregate-1"),
	bent("groups without case", "texts group by bytes", "P2.11: groups",
		twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) { merge(req, t) }}).
		behind("P2.11: stringFields", "all of its cases group texts"),
	bent("null keys are dropped", "a null key is a group", "P2.11: null keys of a group",
		twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
			t.Rows = slices.DeleteFunc(t.Rows, func(row []wire.Value) bool {
				return slices.ContainsFunc(row[:len(req.GroupBy)], wire.Value.IsNull)
			})
		}}),
	bent("no rows, no answer", "without groupBy there is one row", "P2.11: one row without groupBy",
		twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
			if len(req.GroupBy) == 0 && t.Rows[0][0].String() == "0" {
				t.Rows = nil
			}
		}}),
	bent("a group of nothing", "groupBy over no rows gives none", "P2.11: groups of no rows",
		twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
			if len(t.Rows) == 0 {
				row := make([]wire.Value, len(t.Columns))
				for i := len(req.GroupBy); i < len(row); i++ {
					row[i] = wire.Int(0)
				}
				t.Rows = append(t.Rows, row)
			}
		}}).refused("aggregate-3a"),
	bent("years of another zone", "periods are of UTC", "P2.11: grain year", grain(wire.GrainYear)),
	bent("quarters of another zone", "periods are of UTC", "P2.11: grain quarter", grain(wire.GrainQuarter)),
	bent("months of another zone", "periods are of UTC", "P2.11: grain month", grain(wire.GrainMonth)),
	bent("days of another zone", "periods are of UTC", "P2.11: grain day", grain(wire.GrainDay)),
	bent("groups are cut at the limit", "refuse rather than truncate", "P2.11: as many groups as the limit",
		twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
			t.Rows = t.Rows[:min(len(t.Rows), int(req.Limit)-1)]
		}}),
	bent("filters are ignored in aggregates", "an aggregate holds its filters", "P2.11: filters",
		folding(func(req *wire.AggregateRequest) {
			if req.Table != "many" && req.Table != "empty_table" {
				req.And, req.Or = nil, nil
			}
		})).refused("aggregate-13"),
	bent("stringFields are ignored", "they group by bytes", "P2.11: stringFields",
		twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
			if len(req.StringFields) > 0 {
				merge(req, t)
			}
		}}),
	bent("the second key is forgotten", "several groups", "P2.11: several groups and measures",
		twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
			if len(req.GroupBy) > 1 {
				firstRows(t, func(row []wire.Value) string { return row[0].String() })
			}
		}}),
	bent("twins are two groups", "one group for equal numbers is our decision", "A.9", bySpelling),
}

// bySpelling counts the distinct values of a column by how they are spelled.
var bySpelling = twist{cardinality: func(t *oracle.Table, name string, c *wire.Cardinality) {
	c.Distinct = distinctBy(t, name, wire.Value.String)
}}

// merge throws groups together whose keys differ in case or trailing blanks.
func merge(req *wire.AggregateRequest, t *oracle.Table) {
	if len(req.GroupBy) == 0 {
		return
	}
	firstRows(t, func(row []wire.Value) (key string) {
		for _, v := range row[:len(req.GroupBy)] {
			key += folded(v).String() + "\x00"
		}
		return key
	})
}

var measurementFaults = []fault{
	bent("a count of everything is one too many", "a count", "P2.10: all rows",
		miscounted(func(req *wire.CountRequest) bool { return len(req.And)+len(req.Or) == 0 }, func(n int64) int64 { return n + min(n, 1) })),
	bent("counts without filters", "a count holds its filters", "P2.10: filters", miscounted(func(req *wire.CountRequest) bool {
		return len(req.And) > 0 && req.Or == nil && req.Table != "empty_table"
	}, func(int64) int64 { return 22 })),
	bent("counts without or", "a count holds its or block", "P2.10: or",
		miscounted(func(req *wire.CountRequest) bool { return len(req.Or) > 0 }, func(n int64) int64 { return n + 3*min(n, 1) })),
	bent("an empty table counts one", "an empty table", "P2.10: the empty table",
		miscounted(func(req *wire.CountRequest) bool { return req.Table == "empty_table" }, func(int64) int64 { return 1 })),
	bent("sizes are one too many", "an exact size is the number of rows", "P2.12: an exact size",
		twist{size: func(_ *wire.SizeRequest, right int64) int64 { return right + 1 }}),
	bent("sizes are round and exact", "an estimate is marked", "P2.12: an estimate",
		twist{size: func(_ *wire.SizeRequest, right int64) int64 { return (right + 9) / 10 * 10 }}).
		behind("P2.12: an exact size", "a round number is called exact"),
	bent("nonNull counts nulls", "nulls are not counted", "P2.13: nonNull",
		twist{cardinality: func(t *oracle.Table, _ string, c *wire.Cardinality) {
			if c.NonNull > 0 {
				c.NonNull = int64(len(t.Rows))
			}
		}}),
	bent("distinct without case", "distinct by bytes", "P2.13: distinct",
		twist{cardinality: func(t *oracle.Table, name string, c *wire.Cardinality) {
			if t.Name != "numbers" {
				c.Distinct = min(c.Distinct, distinctBy(t, name, func(v wire.Value) string { return folded(v).String() }))
			}
		}}).behind("P2.13: empty texts and columns of nulls", "its columns hold texts that differ in case"),
	bent("the empty text is not counted", "the empty text is a value", "P2.13: empty texts and columns of nulls",
		twist{cardinality: func(t *oracle.Table, name string, c *wire.Cardinality) {
			if slices.ContainsFunc(column(t, name), func(v wire.Value) bool { return v.String() == "" }) {
				c.NonNull--
				c.Distinct--
			}
		}}),
	bent("orphans are distinct keys", "orphans are rows", "P2.14: fromNonNull and orphanCount",
		twist{link: func(l *oracleSource, req *wire.LinkHitRateRequest, right *wire.LinkHitRate) {
			if req.FromTable == "orders" || req.FromTable == "order_lines" {
				right.OrphanCount = min(right.OrphanCount, int64(len(right.OrphanSamples)))
				shareOrphans(right)
			}
		}}),
	broken("the rate is halved", "orphanRate is orphanCount over fromNonNull", "P2.14: orphanRate",
		over(right, rated(func(rate float64) float64 { return rate / 2 }))).
		behind("P2.14: fromNonNull and orphanCount", "a case compares the whole answer").refused("measure-2"),
	bent("samples of matched keys", "samples are of orphans", "P2.14: orphanSamples",
		twist{link: func(_ *oracleSource, req *wire.LinkHitRateRequest, right *wire.LinkHitRate) {
			if req.FromTable == "orders" && req.FromColumn == "customer_id" && req.ToTable == "customers" {
				right.OrphanSamples = []string{"1"}
			}
		}}),
	bent("numeric keys match as text", "numeric keys match by digits", "P2.14: numeric keys",
		twist{link: func(l *oracleSource, req *wire.LinkHitRateRequest, right *wire.LinkHitRate) {
			*right = *must(oracle.LinkHitRate(retyped(l.tables, func(c wire.Column) wire.Type {
				if c.Type == wire.TypeDecimal {
					return wire.TypeString
				}
				return c.Type
			}), req))
		}}),
	bent("null keys are orphans", "a null key is no orphan", "P2.14: null keys",
		twist{link: func(l *oracleSource, req *wire.LinkHitRateRequest, right *wire.LinkHitRate) {
			all := column(l.tables[req.FromTable], req.FromColumn)
			n := int64(len(all) - len(slices.DeleteFunc(all, wire.Value.IsNull)))
			right.FromNonNull += n
			right.OrphanCount += n
			shareOrphans(right)
		}}).behind("P2.14: orphanSamples", "its cases have null keys, and a case compares the whole answer"),
	bent("samples in any order", "samples are distinct and in byte order", "A.18",
		twist{link: func(_ *oracleSource, _ *wire.LinkHitRateRequest, right *wire.LinkHitRate) {
			slices.Reverse(right.OrphanSamples)
		}}),
}

func shareOrphans(l *wire.LinkHitRate) {
	l.OrphanRate = float64(l.OrphanCount) / float64(max(l.FromNonNull, 1))
}

// rated changes the rate of links.
func rated(change func(rate float64) float64) layer {
	return edits(func(body map[string]any) {
		if n, ok := body["orphanRate"].(json.Number); ok {
			body["orphanRate"] = change(must(n.Float64()))
		}
	}, wire.PathLinkHitRate)
}
