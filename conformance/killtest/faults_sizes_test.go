package killtest

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// thousands is where many upstreams stop.
const thousands = 10_000

// sizesFaults returns connectors that stop at some number of rows, members, filters,
// keys or characters.
func sizesFaults() []fault { return slices.Concat(largeFaults(), longFaults()) }

// largeFaults stop at ten thousand rows.
func largeFaults() []fault {
	first := func(l *oracleSource, table string) oracle.Tables {
		t := *l.tables[table]
		t.Rows = t.Rows[:min(len(t.Rows), thousands)]
		return oracle.Tables{table: &t}
	}
	right := newOracleSource(twist{})
	// folded returns an aggregate over the first rows of a table.
	folded := func(does func(req *wire.AggregateRequest) bool) twist {
		return twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
			if req.Table != "large" || !does(req) {
				return
			}
			if less, err := oracle.Aggregate(first(right, req.Table), req); err == nil {
				*t = *less
			}
		}}
	}
	measures := func(fn wire.AggFunc) func(req *wire.AggregateRequest) bool {
		return func(req *wire.AggregateRequest) bool { return req.Measures[0].Fn == fn && len(req.GroupBy) == 0 }
	}
	const why = "an answer is about every row, however many there are"
	return []fault{
		bent("rows stop at ten thousand", why, "P2.2: a table of many rows",
			twist{rows: func(_ *connector.Query, t *oracle.Table, _, _ int64) {
				t.Rows = t.Rows[:min(len(t.Rows), thousands)]
			}}),
		bent("filtered rows stop at ten thousand", why, "P2.3: neq",
			twist{rows: func(req *connector.Query, t *oracle.Table, _, _ int64) {
				if len(req.And) > 0 {
					t.Rows = t.Rows[:min(len(t.Rows), thousands)]
				}
			}}),
		bent("limits stop at ten thousand", why, "P2.7: a limit",
			twist{window: func(offset, limit int64, rows int) (int, int) {
				return cut(offset, min(limit, thousands), rows)
			}}),
		bent("offsets stop at ten thousand", why, "P2.7: an offset",
			twist{window: func(offset, limit int64, rows int) (int, int) {
				return cut(min(offset, thousands), limit, rows)
			}}),
		bent("counts stop at ten thousand", why, "P2.10: all rows, P2.10: filters, P2.10: or",
			twist{count: func(_ *wire.CountRequest, right int64) int64 {
				return min(right, thousands)
			}}),
		bent("sizes stop at ten thousand", why, "P2.12: an estimate",
			twist{size: func(_ *wire.SizeRequest, right int64) int64 {
				return min(right, thousands)
			}}),
		bent("distinct counts stop at ten thousand", why, "P2.13: distinct",
			twist{cardinality: func(_ *oracle.Table, _ string, right wire.Cardinality) wire.Cardinality {
				right.Distinct = min(right.Distinct, thousands)
				return right
			}}),
		bent("sums over the first ten thousand rows", why, "P2.11: sum", folded(measures(wire.AggSum))),
		bent("the greatest of the first ten thousand rows", why, "P2.11: min and max", folded(measures(wire.AggMax))),
		bent("aggregates count the first ten thousand rows", why, "P2.11: count", folded(measures(wire.AggCount))),
		bent("groups of the first ten thousand rows", why, "P2.11: groups",
			folded(func(req *wire.AggregateRequest) bool { return len(req.GroupBy) == 1 })),
		bent("links to the first ten thousand rows", why, "P2.14: fromNonNull and orphanCount",
			twist{link: func(_ *oracleSource, req *wire.LinkHitRateRequest, rate *wire.LinkHitRate) {
				if req.FromTable != "large" {
					return
				}
				tables := first(right, "large")
				tables["all"] = right.tables["large"]
				if less, err := oracle.LinkHitRate(tables, &wire.LinkHitRateRequest{
					FromTable: "all", FromColumn: req.FromColumn, ToTable: "large", ToColumn: req.ToColumn,
				}); err == nil {
					*rate = *less
				}
			}}),
		bent("joins with the first ten thousand rows", why, "P2.15: a match",
			twist{joined: func(req *connector.Query, t *oracle.Table) {
				if req.Joins[0].ToTable != "large" {
					return
				}
				for _, row := range t.Rows {
					if last := len(row) - 1; row[last].String() > "row 10000" {
						row[last] = wire.Null()
					}
				}
			}}),
	}
}

// longFaults cut long requests.
func longFaults() []fault {
	lists := func(op wire.Op, most int) twist {
		return twist{request: func(req *connector.Query, _, _ *int64) {
			req.And = slices.Clone(req.And)
			for i, f := range req.And {
				if f.Op == op {
					req.And[i].Values = f.Values[:min(len(f.Values), most)]
				}
			}
		}}
	}
	operands := func(op wire.Op, most int) twist {
		return twist{request: func(req *connector.Query, _, _ *int64) {
			req.And = slices.Clone(req.And)
			for i, f := range req.And {
				if text := f.Value.Text(); f.Op == op && len(text) > most {
					req.And[i].Value = wire.Text(text[:most])
				}
			}
		}}
	}
	filters := func(most int) twist {
		return twist{request: func(req *connector.Query, _, _ *int64) { req.And = req.And[:min(len(req.And), most)] }}
	}
	const whole = "all of a request counts, however long it is"
	return []fault{
		bent("lists of nine", whole, "P2.3: in", lists(wire.OpIn, 9)),
		bent("lists of a hundred", whole, "P2.3: in", lists(wire.OpIn, 100)),
		bent("lists of a thousand", whole, "P2.3: in", lists(wire.OpIn, 1000)),
		bent("lists of twenty to leave out", whole, "P2.3: nin", lists(wire.OpNin, 20)),
		bent("lists of a thousand to leave out", whole, "P2.3: nin", lists(wire.OpNin, 1000)),
		bent("four filters", whole, "P2.4: several filters of and", filters(4)),
		bent("nine filters", whole, "P2.4: several filters of and", filters(9)),
		bent("sixty-four filters", whole, "P2.4: several filters of and", filters(64)),
		bent("thirty-two groups", whole, "P2.4: groups of or",
			twist{request: func(req *connector.Query, _, _ *int64) { req.Or = req.Or[:min(len(req.Or), 32)] }}),
		bent("four filters in a group", whole, "P2.4: groups of or", twist{request: func(req *connector.Query, _, _ *int64) {
			req.Or = slices.Clone(req.Or)
			for i, group := range req.Or {
				req.Or[i] = group[:min(len(group), 4)]
			}
		}}),
		bent("counts by nine filters", whole, "P2.10: filters",
			twist{count: func(req *wire.CountRequest, right int64) int64 {
				if len(req.And) > 9 {
					return right + 1
				}
				return right
			}}),
		bent("aggregates by four filters", whole, "P2.11: filters",
			twist{aggregate: func(req *wire.AggregateRequest) { req.And = req.And[:min(len(req.And), 4)] }}),
		bent("operands of 256 characters", whole, "P2.3: eq", operands(wire.OpEq, 256)),
		bent("beginnings of 4,000 characters", whole, "P2.3: startswith", operands(wire.OpStartsWith, 4000)),
		bent("parts of 65,535 characters", whole, "P2.3: includes", operands(wire.OpIncludes, 65_535)),
		bent("bounds of 1,000 characters", whole, "P2.3: gt", operands(wire.OpGt, 1000)),
		bent("eight sort keys", whole, "P2.6: several keys",
			twist{request: func(req *connector.Query, _, _ *int64) { req.Sort = req.Sort[:min(len(req.Sort), 8)] }}),
		bent("groups by eight fields", whole, "P2.11: several groups and measures",
			twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
				if len(req.GroupBy) > 8 {
					t.Rows = t.Rows[:1]
				}
			}}),
		bent("five hops", whole, "P2.15: a hop from a hop",
			twist{joined: func(req *connector.Query, t *oracle.Table) {
				if len(req.Joins) > 5 {
					for _, row := range t.Rows {
						row[len(row)-1] = wire.Null()
					}
				}
			}}),
	}
}
