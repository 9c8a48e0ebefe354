package killtest

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

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
var bySpelling = measuring(func(t *oracle.Table, name string, c *wire.Cardinality) {
	c.Distinct = distinctBy(t, name, wire.Value.String)
})

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
		measuring(func(t *oracle.Table, _ string, c *wire.Cardinality) {
			if c.NonNull > 0 {
				c.NonNull = int64(len(t.Rows))
			}
		})),
	bent("distinct without case", "distinct by bytes", "P2.13: distinct",
		measuring(func(t *oracle.Table, name string, c *wire.Cardinality) {
			if t.Name != "numbers" {
				c.Distinct = min(c.Distinct, distinctBy(t, name, func(v wire.Value) string { return folded(v).String() }))
			}
		})).behind("P2.13: empty texts and columns of nulls", "its columns hold texts that differ in case"),
	bent("the empty text is not counted", "the empty text is a value", "P2.13: empty texts and columns of nulls",
		measuring(func(t *oracle.Table, name string, c *wire.Cardinality) {
			if slices.ContainsFunc(column(t, name), func(v wire.Value) bool { return v.String() == "" }) {
				c.NonNull--
				c.Distinct--
			}
		})),
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
