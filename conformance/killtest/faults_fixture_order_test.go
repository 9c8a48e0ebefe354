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

// resorted sorts again with cells changed.
func resorted(req *connector.Query, t *oracle.Table, change func(wire.Value) wire.Value) {
	other := *t
	other.Rows = nil
	byRow := map[*wire.Value][]wire.Value{}
	for _, row := range t.Rows {
		changed := make([]wire.Value, len(row))
		for i, v := range row {
			changed[i] = change(v)
		}
		byRow[&changed[0]] = row
		other.Rows = append(other.Rows, changed)
	}
	sorted, err := oracle.Sort(&other, req.Sort, nil)
	if err != nil {
		panic(err)
	}
	for i, row := range sorted.Rows {
		t.Rows[i] = byRow[&row[0]]
	}
}

func orderFaults() []fault {
	return []fault{
		bent("ascending is descending", "dir asc", "P2.6: ascending, P2.6: descending",
			twist{order: func(req *connector.Query, t *oracle.Table) { slices.Reverse(t.Rows) }}).
			behind("P2.8: the fields asked for", "fields come before sorts, whose cells they are, and their cases are sorted").refused("stream-2"),
		bent("desc is ignored", "dir desc", "P2.6: descending", twist{request: func(req *connector.Query, _, _ *int64) {
			req.Sort = slices.Clone(req.Sort)
			for i := range req.Sort {
				req.Sort[i].Dir = wire.Asc
			}
		}}).refused("stream-2"),
		bent("nulls come first", "nulls are last in both directions", "P2.6: nulls last",
			twist{order: func(req *connector.Query, t *oracle.Table) {
				i := t.Index(req.Sort[0].Field)
				slices.SortStableFunc(t.Rows, func(a, b []wire.Value) int {
					switch {
					case a[i].IsNull() == b[i].IsNull():
						return 0
					case a[i].IsNull():
						return -1
					}
					return 1
				})
			}}).refused("stream-2"),
		bent("numbers sort as text", "9 before 10", "P2.6: numbers",
			twist{order: func(req *connector.Query, t *oracle.Table) {
				if typedKey(req, t, wire.TypeNumber, wire.TypeDecimal) {
					texts := *t
					texts.Columns = slices.Clone(t.Columns)
					for i := range texts.Columns {
						texts.Columns[i].Type = wire.TypeString
					}
					sorted, err := oracle.Sort(&texts, req.Sort, nil)
					if err != nil {
						panic(err)
					}
					copy(t.Rows, sorted.Rows)
				}
			}}).
			behind("P2.8: the fields asked for", "fields come before sorts, whose cells they are, and their cases are sorted").refused("stream-2"),
		bent("texts sort without case", "texts sort by bytes", "P2.6: texts",
			twist{order: func(req *connector.Query, t *oracle.Table) {
				if typedKey(req, t, wire.TypeString) && !req.Sort[0].Collate {
					resorted(req, t, folded)
				}
			}}).refused("stream-2"),
		bent("only the first key sorts", "several keys", "P2.6: several keys",
			twist{order: func(req *connector.Query, t *oracle.Table) {
				if len(req.Sort) > 1 {
					slices.Reverse(t.Rows)
					first, err := oracle.Sort(t, req.Sort[:1], nil)
					if err != nil {
						panic(err)
					}
					copy(t.Rows, first.Rows)
				}
			}}).behind("P2.6: nulls last", "its cases break ties by a second key"),
		bent("collate is a locale", "collate asks for byte order", "P2.6: collate",
			twist{order: func(req *connector.Query, t *oracle.Table) {
				if req.Sort[0].Collate {
					resorted(req, t, folded)
				}
			}}),
		bent("fractions of a second do not sort", "every digit of an instant counts", "P2.6: dates and datetimes",
			twist{order: func(req *connector.Query, t *oracle.Table) {
				if typedKey(req, t, wire.TypeDatetime) {
					resorted(req, t, func(v wire.Value) wire.Value {
						if v.Kind() != wire.KindDatetime {
							return v
						}
						return wire.DatetimeWidth(v.Time().Truncate(time.Minute), 6)
					})
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
}

// windowed asks the source for another window.
func windowed(name, why, kills string, edit func(offset, limit int64) (int64, int64)) fault {
	return fault{name: name, why: why, kills: strings.Split(kills, ", "), build: func() http.Handler {
		return bodies(func(body map[string]any) {
			offset, limit := edit(integer(body, "offset"), integer(body, "limit"))
			delete(body, "offset")
			delete(body, "limit")
			if offset > 0 {
				body["offset"] = offset
			}
			if limit > 0 {
				body["limit"] = limit
			}
		}, wire.PathQuery)(twisted(twist{}))
	}}
}

// cut returns the right window.
func cut(offset, limit int64, rows int) (from, to int) {
	from, to = int(min(offset, int64(rows))), rows
	if limit > 0 {
		to = int(min(int64(rows), offset+limit))
	}
	return from, to
}

// claiming rewrites the served line.
func claiming(w twist, line string) func() http.Handler {
	return func() http.Handler {
		return linesOf("served", func(_ []byte, emit func(...string)) { emit(line, "\n") })(twisted(w))
	}
}

func claimFaults() []fault {
	unfiltered := operator(wire.OpContains, func(wire.Value, wire.Filter, bool) bool { return true })
	unfiltered.omit.Operators = []wire.Op{wire.OpContains}
	return []fault{
		bent("filters that are left out are claimed", "served.filters is true only when every predicate held", "P2.9: served.filters",
			unfiltered),
		bent("filters are claimed and never applied", "the same", "P2.9: served.filters",
			twist{passes: func([]wire.Filter, [][]wire.Filter, func(wire.Filter) bool) bool { return true }}).refused("stream-11"),
		bent("a sort is claimed and never done", "served.sort is true when rows are in order", "P2.9: served.sort",
			twist{request: func(req *connector.Query, _, _ *int64) { req.Sort = nil }}).refused("stream-2"),
		windowed("a window is claimed and not cut", "no row beyond it follows", "P2.9: served.window",
			func(int64, int64) (int64, int64) { return 0, 0 }).refused("stream-2b"),
		{name: "a window is cut before what it needs", why: "it is honored only when filters and sort are served too",
			kills: []string{"P2.9: served.window"},
			build: claiming(twist{}, `{"served":{"filters":false,"sort":false,"window":true}}`)},
		{name: "a declared operator is not applied", why: "filter law",
			kills: []string{"P2.9: filters with declared operators"},
			build: func() http.Handler {
				loose := claiming(twist{match: func(_ string, _ wire.Value, f wire.Filter, _ wire.Type, right bool) bool {
					return right || f.Op == wire.OpGt
				}},
					`{"served":{"filters":false,"sort":false,"window":false}}`)
				return unwindowed(loose())
			}},
	}
}

func joinFaults() []fault {
	inner := func(req *connector.Query, t *oracle.Table) {
		at := len(t.Columns) - len(req.Joins[len(req.Joins)-1].Fields)
		t.Rows = slices.DeleteFunc(t.Rows, func(row []wire.Value) bool {
			return !slices.ContainsFunc(row[at:], func(v wire.Value) bool { return !v.IsNull() })
		})
	}
	base := func(req *connector.Query, t *oracle.Table) (columns int) {
		for _, c := range t.Columns {
			if c.Hop == 0 {
				columns++
			}
		}
		return columns
	}
	return []fault{
		bent("text keys match without case", "keys are equal by bytes", "P2.15: a match",
			twist{joined: func(req *connector.Query, t *oracle.Table) {
				n := base(req, t)
				for _, row := range t.Rows {
					if req.Joins[0].FromField == "text" && row[n].IsNull() && !row[t.Index("text")].IsNull() {
						row[n] = wire.Int(9)
					}
				}
			}}),
		bent("inner joins", "an unmatched row stays", "P2.15: no match", twist{joined: inner}),
		bent("the first match alone", "several matches are several rows", "P2.15: several matches",
			twist{joined: func(req *connector.Query, t *oracle.Table) {
				n := base(req, t)
				if req.Joins[0].ToTable != "orders" && req.Joins[0].ToTable != "order_lines" {
					return
				}
				t.Rows = slices.CompactFunc(t.Rows, func(a, b []wire.Value) bool {
					return slices.EqualFunc(a[:n], b[:n], func(a, b wire.Value) bool { return a.String() == b.String() })
				})
			}}),
		bent("a self-join answers the row itself", "two sides of one table are told apart", "P2.15: a table and itself",
			twist{joined: func(req *connector.Query, t *oracle.Table) {
				if req.Joins[0].ToTable == req.Table {
					for _, row := range t.Rows {
						row[base(req, t)] = row[t.Index("name")]
					}
				}
			}}),
		bent("null keys match", "a null key matches nothing", "P2.15: null keys",
			twist{joined: func(req *connector.Query, t *oracle.Table) {
				n := base(req, t)
				for _, row := range t.Rows {
					if req.Joins[0].FromField == "whole" && row[t.Index("whole")].IsNull() {
						row[n] = wire.Int(6)
					}
				}
			}}),
		bent("the second hop is lost", "a hop starts from an earlier one", "P2.15: a hop from a hop",
			twist{joined: func(req *connector.Query, t *oracle.Table) {
				for i, c := range t.Columns {
					if c.Hop > 1 {
						for _, row := range t.Rows {
							row[i] = wire.Null()
						}
					}
				}
			}}),
	}
}
