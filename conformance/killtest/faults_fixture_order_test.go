package killtest

import (
	"net/http"
	"slices"
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

func joinedWrongly(name, why, kill string, change func(req *connector.Query, t *oracle.Table)) fault {
	return bent(name, why, kill, twist{joined: change})
}

// joinedRows edits each joined row; base is how many columns are those of the base table.
func joinedRows(name, why, kill string, edit func(req *connector.Query, t *oracle.Table, row []wire.Value, base int)) fault {
	return joinedWrongly(name, why, kill, eachRow(func(req *connector.Query, t *oracle.Table, row []wire.Value) {
		edit(req, t, row, baseColumns(t))
	}))
}

var joinFaults = []fault{
	joinedRows("text keys match without case", "keys are equal by bytes", "P2.15: a match",
		func(req *connector.Query, t *oracle.Table, row []wire.Value, base int) {
			if req.Joins[0].FromField == "text" && row[base].IsNull() && !row[t.Index("text")].IsNull() {
				row[base] = wire.Int(9)
			}
		}),
	joinedWrongly("inner joins", "an unmatched row stays", "P2.15: no match", func(req *connector.Query, t *oracle.Table) {
		at := len(t.Columns) - len(req.Joins[len(req.Joins)-1].Fields)
		t.Rows = slices.DeleteFunc(t.Rows, func(row []wire.Value) bool {
			return !slices.ContainsFunc(row[at:], func(v wire.Value) bool { return !v.IsNull() })
		})
	}),
	joinedWrongly("the first match alone", "several matches are several rows", "P2.15: several matches",
		func(req *connector.Query, t *oracle.Table) {
			n := baseColumns(t)
			if req.Joins[0].ToTable != "orders" && req.Joins[0].ToTable != "order_lines" {
				return
			}
			t.Rows = slices.CompactFunc(t.Rows, func(a, b []wire.Value) bool {
				return slices.EqualFunc(a[:n], b[:n], func(a, b wire.Value) bool { return a.String() == b.String() })
			})
		}),
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

var rightCorpus = newOracleSource(twist{})

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
