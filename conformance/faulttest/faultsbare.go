package faulttest

import (
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// bareFaults returns those of an author who does everything without the library.
func bareFaults() []Fault {
	return []Fault{
		{
			Name: "text is compared without case", Kind: "spelling", At: of(Label),
			Bare: func(at Site) Bare {
				lower := spelling(strings.ToLower)
				return Bare{Match: at.cell(lower), Filter: at.operands(lower)}
			},
		},
		{
			Name: "operands are trimmed", Kind: "spelling", At: of(Words),
			Bare: func(at Site) Bare { return Bare{Filter: at.operands(spelling(strings.TrimSpace))} },
		},
		{
			Name: "text is sorted without case", Kind: "spelling", At: of(Label),
			Bare: func(at Site) Bare { return Bare{Order: at.cell(spelling(strings.ToLower))} },
		},
		{
			Name: "groups are made without case", Kind: "spelling", At: of(Label),
			Bare: func(at Site) Bare { return Bare{Group: at.cell(spelling(strings.ToLower))} },
		},
		{
			Name: "gte leaves its bound out", Kind: "off by one", At: of(Tally, Money, Moment, Day),
			Bare: func(at Site) Bare { return Bare{Filter: at.as(wire.OpGte, wire.OpGt)} },
		},
		{
			Name: "lt includes its bound", Kind: "off by one", At: of(Tally, Money, Day),
			Bare: func(at Site) Bare { return Bare{Filter: at.as(wire.OpLt, wire.OpLte)} },
		},
		{
			Name: "offset counts from one", Kind: "off by one", At: table,
			Bare: func(at Site) Bare {
				return Bare{Window: func(req *wire.QueryRequest, offset, limit, _ int64) (int64, int64) {
					if req.Table == at.Table && offset > 0 {
						offset--
					}
					return offset, limit
				}}
			},
		},
		{
			Name: "offset is ignored without a sort", Kind: "pagination", At: table,
			Bare: func(at Site) Bare {
				return Bare{Window: func(req *wire.QueryRequest, offset, limit, _ int64) (int64, int64) {
					if req.Table == at.Table && len(req.Sort) == 0 {
						offset = 0
					}
					return offset, limit
				}}
			},
		},
		{
			Name: "the last row of each page is lost", Kind: "pagination", At: table,
			Bare: func(at Site) Bare {
				return Bare{Answer: func(req *wire.QueryRequest, rows [][]wire.Value) [][]wire.Value {
					if req.Table == at.Table && int64(len(rows)) == req.Limit && len(rows) > 1 {
						return rows[:len(rows)-1]
					}
					return rows
				}}
			},
		},
		{
			Name: "a page is never larger than 50", Kind: "thresholds", At: long,
			Bare: func(at Site) Bare {
				return Bare{Window: func(req *wire.QueryRequest, offset, limit, _ int64) (int64, int64) {
					if req.Table == at.Table && req.Limit > 0 {
						limit = min(limit, 50)
					}
					return offset, limit
				}}
			},
		},
		{
			Name: "operands are taken for local time", Kind: "time zones", At: of(Moment),
			Bare: func(at Site) Bare { return Bare{Filter: at.operands(shifted(-time.Hour))} },
		},
		{
			Name: "operands lose their milliseconds", Kind: "time zones", At: of(Moment),
			Bare: func(at Site) Bare { return Bare{Filter: at.operands(cutTo(time.Second))} },
		},
		{
			Name: "dates are written a day early", Kind: "time zones", At: of(Day),
			Bare: func(at Site) Bare { return Bare{Cell: at.cell(shifted(-24 * time.Hour))} },
		},
		{
			Name: "days are grouped in local time", Kind: "time zones", At: of(Moment),
			Bare: func(at Site) Bare {
				return Bare{Group: at.cell(shifted(2 * time.Hour))}
			},
		},
		{
			Name: "operands are rounded to one digit", Kind: "rounding", At: of(Money),
			Bare: func(at Site) Bare { return Bare{Filter: at.operands(rounded(1))} },
		},
		{
			Name: "large integers are compared as floats", Kind: "rounding", At: of(Big),
			Bare: func(at Site) Bare {
				float := rounded(0)
				return Bare{Match: at.cell(float), Filter: at.operands(float)}
			},
		},
		{
			Name: "sums are floats", Kind: "rounding", At: of(Money),
			Bare: func(at Site) Bare {
				return Bare{Groups: measured(at, wire.AggSum, rounded(1))}
			},
		},
		{
			Name: "neq keeps nulls", Kind: "null handling", At: nulls(),
			Bare: func(at Site) Bare {
				return Bare{Where: func(table string, w wire.Where) wire.Where {
					if len(w.And) != 1 || len(w.Or) > 0 || !at.has(table, w.And[0], wire.OpNeq) || w.And[0].Value.IsNull() {
						return w
					}
					missing := wire.Filter{Field: at.Column, Op: wire.OpIsNull}
					return wire.Where{Or: [][]wire.Filter{{w.And[0]}, {missing}}, FieldTypes: w.FieldTypes}
				}}
			},
		},
		{
			Name: "nin drops nulls", Kind: "null handling", At: nulls(),
			Bare: func(at Site) Bare {
				return Bare{Where: func(table string, w wire.Where) wire.Where {
					for _, f := range w.And {
						if at.has(table, f, wire.OpNin) {
							w.And = append(slices.Clone(w.And), wire.Filter{Field: at.Column, Op: wire.OpNotNull})
						}
					}
					return w
				}}
			},
		},
		{
			Name: "a null number counts as 0 in comparisons", Kind: "null handling", At: nulls(Tally, Money),
			Bare: func(at Site) Bare {
				return Bare{Match: at.null(wire.Int(0))}
			},
		},
		{
			Name: "nulls sort as empty text", Kind: "null handling", At: nulls(Words, Label),
			Bare: func(at Site) Bare { return Bare{Order: at.null(wire.Text(""))} },
		},
		{
			Name: "the group of nulls is left out", Kind: "null handling", At: nulls(),
			Bare: func(at Site) Bare {
				return Bare{Groups: func(req *wire.AggregateRequest, rows [][]wire.Value) [][]wire.Value {
					for i, key := range req.GroupBy {
						if req.Table == at.Table && key.Field == at.Column {
							rows = slices.DeleteFunc(rows, func(row []wire.Value) bool { return row[i].IsNull() })
						}
					}
					return rows
				}}
			},
		},
		{
			Name: "a null is written as an empty text", Kind: "null handling", At: nulls(Words, Label),
			Bare: func(at Site) Bare { return Bare{Cell: at.null(wire.Text(""))} },
		},
		{
			Name: "count of a field counts nulls", Kind: "null handling", At: nulls(),
			Bare: func(at Site) Bare {
				return Bare{Fold: func(req *wire.AggregateRequest) {
					for i, m := range req.Measures {
						if req.Table == at.Table && m.Field == at.Column && m.Fn == wire.AggCount {
							req.Measures[i].Field = ""
						}
					}
				}}
			},
		},
		{
			Name: "counts are kept from the first filter", Kind: "stale cache", At: table,
			Bare: func(at Site) Bare {
				kept := int64(-1)
				return Bare{Count: func(req *wire.CountRequest, right int64) int64 {
					if req.Table != at.Table || !req.HasFilters() {
						return right
					}
					if kept < 0 {
						kept = right
					}
					return kept
				}}
			},
		},
		{
			Name: "the row count of discovery is old", Kind: "stale cache", At: table,
			Bare: func(at Site) Bare {
				return Bare{Describe: at.describe(func(t *wire.Table, _ *wire.Field) {
					rows := *t.RowCount - 2
					t.RowCount = &rows
				})}
			},
		},
		{
			Name: "joins leave unmatched rows out", Kind: "joins", At: of(Loose),
			Bare: func(at Site) Bare {
				return Bare{Joined: func(req *wire.QueryRequest, rows [][]wire.Value) [][]wire.Value {
					if req.Joins[0].FromTable != at.Table || req.Joins[0].FromField != at.Column {
						return rows
					}
					return slices.DeleteFunc(rows, func(row []wire.Value) bool { return row[len(row)-1].IsNull() })
				}}
			},
		},
		{
			Name: "a join stops at the first match", Kind: "joins", At: of(Link),
			Bare: func(at Site) Bare {
				return Bare{Joined: func(req *wire.QueryRequest, rows [][]wire.Value) [][]wire.Value {
					if req.Joins[0].ToTable != at.Table || req.Table != at.Target {
						return rows
					}
					return slices.CompactFunc(rows, func(a, b []wire.Value) bool { return a[0].String() == b[0].String() })
				}}
			},
		},
		{
			Name: "lists are cut after 10 members", Kind: "thresholds", At: of(Code, Words, Big, Money),
			Bare: func(at Site) Bare {
				return Bare{Filter: at.filters(func(f wire.Filter) (wire.Filter, bool) {
					f.Values = short(f.Values, 10)
					return f, true
				})}
			},
		},
		{
			Name: "the fourth filter is ignored", Kind: "thresholds", At: table,
			Bare: func(at Site) Bare {
				return Bare{Where: func(table string, w wire.Where) wire.Where {
					if table == at.Table {
						w.And = short(w.And, 3)
					}
					return w
				}}
			},
		},
		{
			Name: "only the first group of or is applied", Kind: "filters", At: table,
			Bare: func(at Site) Bare {
				return Bare{Where: func(table string, w wire.Where) wire.Where {
					if table == at.Table {
						w.Or = short(w.Or, 1)
					}
					return w
				}}
			},
		},
		{
			Name: "text is written in another encoding", Kind: "encoding", At: of(Words),
			Bare: func(at Site) Bare { return Bare{Cell: at.cell(spelling(mojibake))} },
		},
		{
			Name: "trailing blanks are cut when written", Kind: "encoding", At: of(Words),
			Bare: func(at Site) Bare {
				return Bare{Cell: at.cell(spelling(func(s string) string { return strings.TrimRight(s, " ") }))}
			},
		},
		{
			Name: "a filter left over from the request before", Kind: "concurrency", At: table,
			Bare: func(at Site) Bare {
				var kept []wire.Filter
				return Bare{Where: func(table string, w wire.Where) wire.Where {
					if table != at.Table {
						return w
					}
					before := kept
					kept = w.And
					if len(w.And) == 0 && len(w.Or) == 0 {
						w.And = before
						kept = nil
					}
					return w
				}}
			},
		},
		{
			Name: "an aggregate ignores its filters", Kind: "aggregates", At: table,
			Bare: func(at Site) Bare {
				return Bare{FoldWhere: func(table string, w wire.Where) wire.Where {
					if table == at.Table {
						w = wire.Where{FieldTypes: w.FieldTypes}
					}
					return w
				}}
			},
		},
		{
			Name: "the greatest number is that by text", Kind: "aggregates", At: of(Tally, Money),
			Bare: func(at Site) Bare {
				return Bare{FoldType: func(table, column string, t wire.Type) wire.Type {
					if table == at.Table && column == at.Column {
						return wire.TypeString
					}
					return t
				}}
			},
		},
		{
			Name: "distinct values are counted with null", Kind: "measures", At: nulls(),
			Bare: func(at Site) Bare {
				return Bare{Distinct: func(table, column string, right *wire.Cardinality) *wire.Cardinality {
					if table == at.Table && column == at.Column && right != nil {
						right = &wire.Cardinality{NonNull: right.NonNull, Distinct: right.Distinct + 1}
					}
					return right
				}}
			},
		},
		{
			Name: "a null counts as an orphan", Kind: "measures", At: func(s Site) bool { return linked(s) && s.Nulls },
			Bare: func(at Site) Bare {
				return Bare{Unmatched: func(req *wire.LinkHitRateRequest, right *wire.LinkHitRate) {
					if req.FromTable == at.Table && req.FromColumn == at.Column {
						missing := int64(at.Rows) - right.FromNonNull
						right.FromNonNull += missing
						right.OrphanCount += missing
					}
				}}
			},
		},
		{
			Name: "a size is an estimate that is called exact", Kind: "measures", At: table,
			Bare: func(at Site) Bare {
				return Bare{Size: func(table string, right int64) int64 {
					if table == at.Table {
						return (right + 99) / 100 * 100
					}
					return right
				}}
			},
		},
		{
			Name: "a column with nulls is declared without", Kind: "discovery", At: nulls(),
			Bare: func(at Site) Bare {
				return Bare{Describe: at.describe(func(_ *wire.Table, f *wire.Field) { f.Nullable = false })}
			},
		},
		{
			Name: "a column is declared unique that is not", Kind: "discovery", At: of(Label, Tally, Link),
			Bare: func(at Site) Bare {
				return Bare{Describe: at.describe(func(_ *wire.Table, f *wire.Field) { f.Unique = true })}
			},
		},
		{
			Name: "another column is declared the key", Kind: "discovery", At: of(Label, Tally),
			Bare: func(at Site) Bare {
				return Bare{Describe: at.describe(func(t *wire.Table, f *wire.Field) { t.PrimaryKey = []string{f.Name} })}
			},
		},
		{
			Name: "a decimal is declared a string", Kind: "discovery", At: of(Money),
			Bare: func(at Site) Bare {
				return Bare{Describe: at.describe(func(_ *wire.Table, f *wire.Field) { f.Type = wire.TypeString })}
			},
		},
		{
			Name: "a view repeats its rows", Kind: "discovery", At: table,
			Bare: func(at Site) Bare {
				return Bare{
					Describe: at.describe(func(t *wire.Table, _ *wire.Field) { t.StoresRows = false; t.RowCount = nil }),
					Answer: func(req *wire.QueryRequest, rows [][]wire.Value) [][]wire.Value {
						if req.Table != at.Table || len(rows) == 0 || req.Limit > 0 {
							return rows
						}
						return append(slices.Clone(rows), rows[len(rows)/2])
					},
				}
			},
		},
		{
			Name: "desc is ignored", Kind: "sorting", At: of(Words, Money, Moment, Tally, Day),
			Bare: func(at Site) Bare {
				return Bare{Sort: func(table string, keys []wire.SortKey) []wire.SortKey {
					keys = slices.Clone(keys)
					for i, key := range keys {
						if table == at.Table && key.Field == at.Column {
							keys[i].Dir = wire.Asc
						}
					}
					return keys
				}}
			},
		},
		{
			Name: "numbers are sorted as text", Kind: "sorting", At: of(Tally, Money),
			Bare: func(at Site) Bare {
				return Bare{Order: at.cell(func(v wire.Value) wire.Value { return wire.Text("x" + v.String()) })}
			},
		},
		{
			Name: "the second sort key is ignored", Kind: "sorting", At: table,
			Bare: func(at Site) Bare {
				return Bare{Sort: func(table string, keys []wire.SortKey) []wire.SortKey {
					if table == at.Table {
						keys = short(keys, 1)
					}
					return keys
				}}
			},
		},
	}
}

// measured changes one measure of the site.
func measured(at Site, fn wire.AggFunc, change func(wire.Value) wire.Value,
) func(req *wire.AggregateRequest, rows [][]wire.Value) [][]wire.Value {
	return func(req *wire.AggregateRequest, rows [][]wire.Value) [][]wire.Value {
		for i, m := range req.Measures {
			if req.Table != at.Table || m.Field != at.Column || m.Fn != fn {
				continue
			}
			for _, row := range rows {
				if cell := &row[len(req.GroupBy)+i]; !cell.IsNull() {
					*cell = change(*cell)
				}
			}
		}
		return rows
	}
}

// mojibake returns what becomes of UTF-8 that is read as Latin-1.
func mojibake(text string) string {
	var b strings.Builder
	for i := range len(text) {
		b.WriteRune(rune(text[i]))
	}
	return b.String()
}
