package faulttest

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

var (
	lower     = spelling(strings.ToLower)
	trimmed   = spelling(strings.TrimSpace)
	garbled   = spelling(mojibake)
	unsigned  = spelling(func(s string) string { return strings.TrimPrefix(s, "-") })
	untrailed = func(s string) string { return strings.TrimRight(s, " ") }
)

// bareFaults are those of an author who does everything without the library.
var bareFaults = []fault{
	{name: "text is compared without case", kind: "spelling", at: of(Label), habit: bothAs(lower)},
	{name: "operands are trimmed", kind: "spelling", at: of(Words), habit: habit{filter: operands(trimmed)}},
	{name: "text is sorted without case", kind: "spelling", at: of(Label), habit: habit{order: cells(lower)}},
	{name: "groups are made without case", kind: "spelling", at: of(Label), habit: habit{group: cells(lower)}},
	{
		name: "gte leaves its bound out", kind: "off by one", at: of(Tally, Money, Moment, Day),
		habit: habit{filter: as(wire.OpGte, wire.OpGt)},
	},
	{
		name: "lt includes its bound", kind: "off by one", at: of(Tally, Money, Day),
		habit: habit{filter: as(wire.OpLt, wire.OpLte)},
	},
	{
		name: "offset counts from one", kind: "off by one", at: table,
		habit: habit{window: func(_ bool, offset, limit int64) (int64, int64) { return max(offset-1, 0), limit }},
	},
	{
		name: "offset is ignored without a sort", kind: "pagination", at: table,
		habit: habit{window: func(sorted bool, offset, limit int64) (int64, int64) {
			if !sorted {
				offset = 0
			}
			return offset, limit
		}},
	},
	{
		name: "the last row of each page is lost", kind: "pagination", at: table,
		habit: habit{answer: func(req *wire.QueryRequest, rows [][]wire.Value) [][]wire.Value {
			if int64(len(rows)) == req.Limit && len(rows) > 1 {
				return rows[:len(rows)-1]
			}
			return rows
		}},
	},
	{
		name: "a page is never larger than 50", kind: "thresholds", at: long,
		habit: habit{window: func(_ bool, offset, limit int64) (int64, int64) { return offset, min(limit, 50) }},
	},
	{
		name: "operands are taken for local time", kind: "time zones", at: of(Moment),
		habit: habit{filter: operands(shifted(-time.Hour))},
	},
	{
		name: "operands lose their milliseconds", kind: "time zones", at: of(Moment),
		habit: habit{filter: operands(cutTo(time.Second))},
	},
	{
		name: "dates are written a day early", kind: "time zones", at: of(Day),
		habit: habit{cell: cells(shifted(-24 * time.Hour))},
	},
	{
		name: "days are grouped in local time", kind: "time zones", at: of(Moment),
		habit: habit{group: cells(shifted(2 * time.Hour))},
	},
	{name: "operands are rounded to one digit", kind: "rounding", at: of(Money), habit: habit{filter: operands(rounded(1))}},
	{name: "large integers are compared as floats", kind: "rounding", at: of(Big), habit: bothAs(rounded(0))},
	{name: "sums are floats", kind: "rounding", at: of(Money), habit: measured(wire.AggSum, rounded(1))},
	{
		name: "neq keeps nulls", kind: "null handling", at: nulls(),
		make: func(at Site) habit {
			return habit{where: func(w wire.Where) wire.Where {
				if f, ok := only(w, at, wire.OpNeq); ok && !f.Value.IsNull() {
					missing := wire.Filter{Field: at.Column, Op: wire.OpIsNull}
					w = wire.Where{Or: [][]wire.Filter{{f}, {missing}}, FieldTypes: w.FieldTypes}
				}
				return w
			}}
		},
	},
	{
		name: "nin drops nulls", kind: "null handling", at: nulls(),
		make: func(at Site) habit {
			return habit{where: func(w wire.Where) wire.Where {
				for _, f := range w.And {
					if f.Field == at.Column && f.Op == wire.OpNin {
						w.And = append(slices.Clone(w.And), wire.Filter{Field: at.Column, Op: wire.OpNotNull})
					}
				}
				return w
			}}
		},
	},
	{
		name: "a null number counts as 0 in comparisons", kind: "null handling", at: nulls(Tally, Money),
		habit: habit{match: null(wire.Int(0))},
	},
	{name: "nulls sort as empty text", kind: "null handling", at: nulls(Words, Label), habit: habit{order: null(wire.Text(""))}},
	{name: "the group of nulls is left out", kind: "null handling", at: nulls(), habit: habit{dropsNulls: true}},
	{
		name: "a null is written as an empty text", kind: "null handling", at: nulls(Words, Label),
		habit: habit{cell: null(wire.Text(""))},
	},
	{
		name: "count of a field counts nulls", kind: "null handling", at: nulls(),
		habit: habit{measure: func(m wire.Measure) wire.Measure {
			if m.Fn == wire.AggCount {
				m.Field = ""
			}
			return m
		}},
	},
	{
		name: "counts are kept from the first filter", kind: "stale cache", at: table,
		make: func(Site) habit {
			kept := int64(-1)
			return habit{count: func(filtered bool, rows int64) int64 {
				if !filtered {
					return rows
				}
				if kept < 0 {
					kept = rows
				}
				return kept
			}}
		},
	},
	{
		name: "the row count of discovery is old", kind: "stale cache", at: table,
		habit: habit{describe: func(t *wire.Table, _ *wire.Field) {
			rows := *t.RowCount - 2
			t.RowCount = &rows
		}},
	},
	{
		name: "joins leave unmatched rows out", kind: "joins", at: of(Loose),
		habit: habit{joined: func(_ wire.JoinHop, rows [][]wire.Value) [][]wire.Value {
			return slices.DeleteFunc(rows, func(row []wire.Value) bool { return row[len(row)-1].IsNull() })
		}},
	},
	{
		name: "a join stops at the first match", kind: "joins", at: of(Link),
		habit: habit{joinedFrom: func(_ wire.JoinHop, rows [][]wire.Value) [][]wire.Value {
			return slices.CompactFunc(rows, func(a, b []wire.Value) bool { return a[0].String() == b[0].String() })
		}},
	},
	{
		name: "lists are cut after 10 members", kind: "thresholds", at: of(Code, Words, Big, Money),
		habit: habit{filter: members(10)},
	},
	{
		name: "the fourth filter is ignored", kind: "thresholds", at: table,
		habit: habit{where: func(w wire.Where) wire.Where { w.And = short(w.And, 3); return w }},
	},
	{
		name: "only the first group of or is applied", kind: "filters", at: table,
		habit: habit{where: func(w wire.Where) wire.Where { w.Or = short(w.Or, 1); return w }},
	},
	{name: "text is written in another encoding", kind: "encoding", at: of(Words), habit: habit{cell: cells(garbled)}},
	{
		name: "trailing blanks are cut when written", kind: "encoding", at: of(Words),
		habit: habit{cell: cells(spelling(untrailed))},
	},
	{
		name: "a filter left over from the request before", kind: "concurrency", at: table,
		make: func(Site) habit {
			var kept []wire.Filter
			return habit{where: func(w wire.Where) wire.Where {
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
		name: "an aggregate ignores its filters", kind: "aggregates", at: table,
		habit: habit{foldWhere: func(w wire.Where) wire.Where { return wire.Where{FieldTypes: w.FieldTypes} }},
	},
	{
		name: "the greatest number is that by text", kind: "aggregates", at: of(Tally, Money),
		habit: habit{foldType: wire.TypeString},
	},
	{
		name: "distinct values are counted with null", kind: "measures", at: nulls(),
		habit: habit{distinct: func(c wire.Cardinality) wire.Cardinality { c.Distinct++; return c }},
	},
	{
		name: "a null counts as an orphan", kind: "measures", at: linkedWithNulls,
		make: func(at Site) habit {
			return habit{linked: func(link *wire.LinkHitRate) {
				missing := int64(at.Rows) - link.FromNonNull
				link.FromNonNull += missing
				link.OrphanCount += missing
			}}
		},
	},
	{
		name: "a size is an estimate that is called exact", kind: "measures", at: table,
		habit: habit{size: func(rows int64) int64 { return (rows + 99) / 100 * 100 }},
	},
	{
		name: "a column with nulls is declared without", kind: "discovery", at: nulls(),
		habit: habit{describe: field(func(f *wire.Field) { f.Nullable = false })},
	},
	{
		name: "a column is declared unique that is not", kind: "discovery", at: of(Label, Tally, Link),
		habit: habit{describe: field(func(f *wire.Field) { f.Unique = true })},
	},
	{
		name: "another column is declared the key", kind: "discovery", at: of(Label, Tally),
		habit: habit{describe: func(t *wire.Table, f *wire.Field) { t.PrimaryKey = []string{f.Name} }},
	},
	{
		name: "a decimal is declared a string", kind: "discovery", at: of(Money),
		habit: habit{describe: field(func(f *wire.Field) { f.Type = wire.TypeString })},
	},
	{
		name: "a view repeats its rows", kind: "discovery", at: table,
		habit: habit{
			describe: func(t *wire.Table, _ *wire.Field) { t.StoresRows, t.RowCount = false, nil },
			answer: func(req *wire.QueryRequest, rows [][]wire.Value) [][]wire.Value {
				if len(rows) == 0 || req.Limit > 0 {
					return rows
				}
				return append(slices.Clone(rows), rows[len(rows)/2])
			},
		},
	},
	{name: "desc is ignored", kind: "sorting", at: of(Words, Money, Moment, Tally, Day), make: ascending},
	{
		name: "numbers are sorted as text", kind: "sorting", at: of(Tally, Money),
		habit: habit{order: cells(spelling(func(s string) string { return "x" + s }))},
	},
	{
		name: "the second sort key is ignored", kind: "sorting", at: table,
		habit: habit{sort: func(keys []wire.SortKey) []wire.SortKey { return short(keys, 1) }},
	},
}

// moreBareFaults are further ones.
var moreBareFaults = []fault{
	{
		name: "members of a list are lower-cased", kind: "spelling", at: of(Label, Code),
		habit: habit{filter: operands(lower, wire.OpIn, wire.OpNin)},
	},
	{
		name: "gt includes its bound", kind: "off by one", at: of(Ratio, Moment, Big, Reading),
		habit: habit{filter: as(wire.OpGt, wire.OpGte)},
	},
	{
		name: "one row too many is answered", kind: "off by one", at: table,
		habit: habit{window: func(_ bool, offset, limit int64) (int64, int64) {
			if limit > 0 {
				limit++
			}
			return offset, limit
		}},
	},
	{
		name: "the limit is ignored with a sort", kind: "pagination", at: table,
		habit: habit{window: func(sorted bool, offset, limit int64) (int64, int64) {
			if sorted {
				limit = 0
			}
			return offset, limit
		}},
	},
	{
		name: "a whole read stops after 90 rows", kind: "thresholds", at: long,
		habit: habit{window: func(_ bool, offset, limit int64) (int64, int64) {
			if limit == 0 {
				limit = 90
			}
			return offset, limit
		}},
	},
	{
		name: "a quarter is taken for a month", kind: "aggregates", at: times,
		habit: habit{groupKey: func(key wire.GroupKey) wire.GroupKey {
			if key.Grain == wire.GrainQuarter {
				key.Grain = wire.GrainMonth
			}
			return key
		}},
	},
	{name: "a sum is rounded to whole units", kind: "rounding", at: of(Money, Ratio), habit: measured(wire.AggSum, rounded(0))},
	{
		name: "a maximum loses its milliseconds", kind: "time zones", at: of(Moment),
		habit: measured(wire.AggMax, cutTo(time.Second)),
	},
	{
		name: "null is a distinct value of an aggregate", kind: "null handling", at: nulls(),
		habit: measured(wire.AggCountDistinct, func(v wire.Value) wire.Value { return wire.Int(v.Int64() + 1) }),
	},
	{
		name: "isnull finds empty texts", kind: "null handling", at: of(Words),
		make: func(at Site) habit {
			return habit{where: func(w wire.Where) wire.Where {
				if f, ok := only(w, at, wire.OpIsNull); ok {
					empty := wire.Filter{Field: at.Column, Op: wire.OpEq, Value: wire.Text("")}
					w = wire.Where{Or: [][]wire.Filter{{f}, {empty}}}
				}
				return w
			}}
		},
	},
	{
		name: "elements are compared without case", kind: "spelling", at: of(Tags),
		habit: habit{match: cells(lower), filter: operands(lower, wire.OpContains)},
	},
	{
		name: "contains looks for a part of the text", kind: "filters", at: of(Tags, Words),
		habit: habit{filter: as(wire.OpContains, wire.OpIncludes)},
	},
	{
		name: "a null is written as the text null", kind: "null handling", at: nulls(Words, Label),
		habit: habit{cell: null(wire.Text("null"))},
	},
	{name: "a null flag is written as false", kind: "null handling", at: nulls(Flag), habit: habit{cell: null(wire.Bool(false))}},
	{name: "large integers are written as floats", kind: "numbers", at: of(Big), habit: habit{cell: cells(rounded(0))}},
	{name: "text is written as HTML", kind: "encoding", at: of(Words), habit: habit{cell: cells(spelling(html.EscapeString))}},
	{
		name: "accents are composed when written", kind: "encoding", at: of(Words),
		habit: habit{cell: cells(spelling(func(s string) string { return strings.ReplaceAll(s, "e\u0301", "\u00e9") }))},
	},
	{
		name: "pages are kept by their window only", kind: "stale cache", at: table,
		make: func(Site) habit {
			kept := map[string][][]wire.Value{}
			return habit{answer: func(req *wire.QueryRequest, rows [][]wire.Value) [][]wire.Value {
				if req.Limit == 0 || len(req.Joins) > 0 {
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
		name: "the last row of a read without a limit is lost", kind: "off by one", at: table,
		habit: habit{answer: func(req *wire.QueryRequest, rows [][]wire.Value) [][]wire.Value {
			if req.Limit == 0 && len(rows) > 1 {
				return rows[:len(rows)-1]
			}
			return rows
		}},
	},
	{name: "instants are sorted by their day", kind: "sorting", at: of(Moment), habit: habit{order: cells(cutTo(24 * time.Hour))}},
	{name: "the sign is ignored by the sort", kind: "sorting", at: of(Money, Tally), habit: habit{order: cells(unsigned)}},
	{
		name: "a missing number sorts as 0", kind: "null handling", at: nulls(Tally, Money, Big),
		habit: habit{order: null(wire.Int(0))},
	},
	{
		name: "an unmatched row keeps what the row before joined", kind: "joins", at: of(Loose),
		habit: habit{joined: func(hop wire.JoinHop, rows [][]wire.Value) [][]wire.Value {
			for i := range max(len(rows)-1, 0) {
				before, row := rows[i], rows[i+1][len(rows[i])-len(hop.Fields):]
				if !slices.ContainsFunc(row, func(v wire.Value) bool { return !v.IsNull() }) {
					copy(row, before[len(before)-len(hop.Fields):])
				}
			}
			return rows
		}},
	},
	{
		name: "joined columns are in the wrong order", kind: "joins", at: linked,
		habit: habit{joined: func(hop wire.JoinHop, rows [][]wire.Value) [][]wire.Value {
			for _, row := range rows {
				if last := len(row) - 1; len(hop.Fields) > 1 {
					row[last], row[last-1] = row[last-1], row[last]
				}
			}
			return rows
		}},
	},
	{
		name: "the ends of a link are swapped", kind: "measures", at: of(Loose),
		habit: habit{links: func(req *wire.LinkHitRateRequest) {
			req.FromTable, req.ToTable = req.ToTable, req.FromTable
			req.FromColumn, req.ToColumn = req.ToColumn, req.FromColumn
		}},
	},
	{
		name: "distinct values stop at 100", kind: "thresholds", at: of(Words, Big, Moment, Money),
		habit: habit{distinct: func(c wire.Cardinality) wire.Cardinality { c.Distinct = min(c.Distinct, 100); return c }},
	},
	{
		name: "lists are cut after 1000 members", kind: "thresholds", at: of(Words, Big, Code, Key),
		habit: habit{filter: members(1000)},
	},
	{
		name: "or is ignored beside and", kind: "filters", at: table,
		habit: habit{where: func(w wire.Where) wire.Where {
			if len(w.And) > 0 {
				w.Or = nil
			}
			return w
		}},
	},
	{
		name: "a code is declared a number", kind: "discovery", at: of(Label),
		habit: habit{describe: field(func(f *wire.Field) { f.Type = wire.TypeNumber })},
	},
}

// only returns the filter of a request that has one, if that is of the site and an operator.
func only(w wire.Where, at Site, op wire.Op) (f wire.Filter, ok bool) {
	if len(w.And) != 1 || len(w.Or) > 0 || w.And[0].Field != at.Column || w.And[0].Op != op {
		return f, false
	}
	return w.And[0], true
}

// measured changes one measure.
func measured(of wire.AggFunc, to change) habit {
	return habit{measured: func(fn wire.AggFunc, v wire.Value) wire.Value {
		if fn == of {
			v = to(v)
		}
		return v
	}}
}

// mojibake returns what becomes of UTF-8 that is read as Latin-1.
func mojibake(text string) string {
	var b strings.Builder
	for i := range len(text) {
		b.WriteRune(rune(text[i]))
	}
	return b.String()
}
