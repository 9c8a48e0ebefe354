package faulttest

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// moreBareFaults returns further ones of an author who does everything without the library.
func moreBareFaults() []Fault {
	lower := spelling(strings.ToLower)
	return []Fault{
		{
			Name: "members of a list are lower-cased", Kind: "spelling", At: of(Label, Code),
			Bare: func(at Site) Bare { return Bare{Filter: at.operands(lower, wire.OpIn, wire.OpNin)} },
		},
		{
			Name: "gt includes its bound", Kind: "off by one", At: of(Ratio, Moment, Big, Reading),
			Bare: func(at Site) Bare { return Bare{Filter: at.as(wire.OpGt, wire.OpGte)} },
		},
		{
			Name: "one row too many is answered", Kind: "off by one", At: table,
			Bare: func(at Site) Bare {
				return Bare{Window: func(req *wire.QueryRequest, offset, limit, _ int64) (int64, int64) {
					if req.Table == at.Table && req.Limit > 0 {
						limit++
					}
					return offset, limit
				}}
			},
		},
		{
			Name: "the limit is ignored with a sort", Kind: "pagination", At: table,
			Bare: func(at Site) Bare {
				return Bare{Window: func(req *wire.QueryRequest, offset, limit, rows int64) (int64, int64) {
					if req.Table == at.Table && len(req.Sort) > 0 {
						limit = rows
					}
					return offset, limit
				}}
			},
		},
		{
			Name: "a whole read stops after 90 rows", Kind: "thresholds", At: long,
			Bare: func(at Site) Bare {
				return Bare{Window: func(req *wire.QueryRequest, offset, limit, _ int64) (int64, int64) {
					if req.Table == at.Table && req.Limit == 0 {
						limit = min(limit, 90)
					}
					return offset, limit
				}}
			},
		},
		{
			Name: "a quarter is taken for a month", Kind: "aggregates", At: times,
			Bare: func(at Site) Bare {
				return Bare{Fold: func(req *wire.AggregateRequest) {
					for i, key := range req.GroupBy {
						if req.Table == at.Table && key.Field == at.Column && key.Grain == wire.GrainQuarter {
							req.GroupBy[i].Grain = wire.GrainMonth
						}
					}
				}}
			},
		},
		{
			Name: "a sum is rounded to whole units", Kind: "rounding", At: of(Money, Ratio),
			Bare: func(at Site) Bare { return Bare{Groups: measured(at, wire.AggSum, rounded(0))} },
		},
		{
			Name: "a maximum loses its milliseconds", Kind: "time zones", At: of(Moment),
			Bare: func(at Site) Bare { return Bare{Groups: measured(at, wire.AggMax, cutTo(time.Second))} },
		},
		{
			Name: "null is a distinct value of an aggregate", Kind: "null handling", At: nulls(),
			Bare: func(at Site) Bare {
				more := func(v wire.Value) wire.Value { return wire.Int(v.Int64() + 1) }
				return Bare{Groups: measured(at, wire.AggCountDistinct, more)}
			},
		},
		{
			Name: "isnull finds empty texts", Kind: "null handling", At: of(Words),
			Bare: func(at Site) Bare {
				return Bare{Where: func(table string, w wire.Where) wire.Where {
					if len(w.And) == 1 && len(w.Or) == 0 && at.has(table, w.And[0], wire.OpIsNull) {
						empty := wire.Filter{Field: at.Column, Op: wire.OpEq, Value: wire.Text("")}
						w = wire.Where{Or: [][]wire.Filter{{w.And[0]}, {empty}}}
					}
					return w
				}}
			},
		},
		{
			Name: "elements are compared without case", Kind: "spelling", At: of(Tags),
			Bare: func(at Site) Bare { return Bare{Match: at.cell(lower), Filter: at.operands(lower, wire.OpContains)} },
		},
		{
			Name: "contains looks for a part of the text", Kind: "filters", At: of(Tags, Words),
			Bare: func(at Site) Bare { return Bare{Filter: at.as(wire.OpContains, wire.OpIncludes)} },
		},
		{
			Name: "a null is written as the text null", Kind: "null handling", At: nulls(Words, Label),
			Bare: func(at Site) Bare { return Bare{Cell: at.null(wire.Text("null"))} },
		},
		{
			Name: "a null flag is written as false", Kind: "null handling", At: nulls(Flag),
			Bare: func(at Site) Bare { return Bare{Cell: at.null(wire.Bool(false))} },
		},
		{
			Name: "large integers are written as floats", Kind: "numbers", At: of(Big),
			Bare: func(at Site) Bare { return Bare{Cell: at.cell(rounded(0))} },
		},
		{
			Name: "text is written as HTML", Kind: "encoding", At: of(Words),
			Bare: func(at Site) Bare { return Bare{Cell: at.cell(spelling(html.EscapeString))} },
		},
		{
			Name: "accents are composed when written", Kind: "encoding", At: of(Words),
			Bare: func(at Site) Bare {
				return Bare{Cell: at.cell(spelling(func(s string) string { return strings.ReplaceAll(s, "e\u0301", "\u00e9") }))}
			},
		},
		{
			Name: "pages are kept by their window only", Kind: "stale cache", At: table,
			Bare: func(at Site) Bare {
				kept := map[string][][]wire.Value{}
				return Bare{Answer: func(req *wire.QueryRequest, rows [][]wire.Value) [][]wire.Value {
					if req.Table != at.Table || req.Limit == 0 || len(req.Joins) > 0 {
						return rows
					}
					key := fmt.Sprint(req.Offset, req.Limit, req.Sort)
					if page, ok := kept[key]; ok {
						return page
					}
					kept[key] = rows
					return rows
				}}
			},
		},
		{
			Name: "the last row of a read without a limit is lost", Kind: "off by one", At: table,
			Bare: func(at Site) Bare {
				return Bare{Answer: func(req *wire.QueryRequest, rows [][]wire.Value) [][]wire.Value {
					if req.Table == at.Table && req.Limit == 0 && len(rows) > 1 {
						return rows[:len(rows)-1]
					}
					return rows
				}}
			},
		},
		{
			Name: "instants are sorted by their day", Kind: "sorting", At: of(Moment),
			Bare: func(at Site) Bare { return Bare{Order: at.cell(cutTo(24 * time.Hour))} },
		},
		{
			Name: "the sign is ignored by the sort", Kind: "sorting", At: of(Money, Tally),
			Bare: func(at Site) Bare {
				return Bare{Order: at.cell(spelling(func(s string) string { return strings.TrimPrefix(s, "-") }))}
			},
		},
		{
			Name: "a missing number sorts as 0", Kind: "null handling", At: nulls(Tally, Money, Big),
			Bare: func(at Site) Bare { return Bare{Order: at.null(wire.Int(0))} },
		},
		{
			Name: "an unmatched row keeps what the row before joined", Kind: "joins", At: of(Loose),
			Bare: func(at Site) Bare {
				return Bare{Joined: func(req *wire.QueryRequest, rows [][]wire.Value) [][]wire.Value {
					hop := req.Joins[0]
					if hop.FromTable != at.Table || hop.FromField != at.Column || len(rows) == 0 {
						return rows
					}
					base := len(rows[0]) - len(hop.Fields)
					for i := 1; i < len(rows); i++ {
						if !slices.ContainsFunc(rows[i][base:], func(v wire.Value) bool { return !v.IsNull() }) {
							copy(rows[i][base:], rows[i-1][base:])
						}
					}
					return rows
				}}
			},
		},
		{
			Name: "joined columns are in the wrong order", Kind: "joins", At: linked,
			Bare: func(at Site) Bare {
				return Bare{Joined: func(req *wire.QueryRequest, rows [][]wire.Value) [][]wire.Value {
					hop := req.Joins[0]
					if hop.FromTable == at.Table && hop.FromField == at.Column && len(hop.Fields) > 1 {
						for _, row := range rows {
							last := len(row) - 1
							row[last], row[last-1] = row[last-1], row[last]
						}
					}
					return rows
				}}
			},
		},
		{
			Name: "the ends of a link are swapped", Kind: "measures", At: of(Loose),
			Bare: func(at Site) Bare {
				return Bare{Measure: func(req *wire.LinkHitRateRequest) {
					if req.FromTable == at.Table && req.FromColumn == at.Column {
						req.FromTable, req.ToTable = req.ToTable, req.FromTable
						req.FromColumn, req.ToColumn = req.ToColumn, req.FromColumn
					}
				}}
			},
		},
		{
			Name: "distinct values stop at 100", Kind: "thresholds", At: of(Words, Big, Moment, Money),
			Bare: func(at Site) Bare {
				return Bare{Distinct: func(table, column string, right *wire.Cardinality) *wire.Cardinality {
					if table == at.Table && column == at.Column && right != nil {
						right = &wire.Cardinality{NonNull: right.NonNull, Distinct: min(right.Distinct, 100)}
					}
					return right
				}}
			},
		},
		{
			Name: "lists are cut after 1000 members", Kind: "thresholds", At: of(Words, Big, Code, Key),
			Bare: func(at Site) Bare {
				return Bare{Filter: at.filters(func(f wire.Filter) (wire.Filter, bool) {
					f.Values = short(f.Values, 1000)
					return f, true
				})}
			},
		},
		{
			Name: "or is ignored beside and", Kind: "filters", At: table,
			Bare: func(at Site) Bare {
				return Bare{Where: func(table string, w wire.Where) wire.Where {
					if table == at.Table && len(w.And) > 0 {
						w.Or = nil
					}
					return w
				}}
			},
		},
		{
			Name: "a code is declared a number", Kind: "discovery", At: of(Label),
			Bare: func(at Site) Bare {
				return Bare{Describe: at.describe(func(_ *wire.Table, f *wire.Field) { f.Type = wire.TypeNumber })}
			},
		},
	}
}
