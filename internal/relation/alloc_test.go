package relation_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var shopColumns = []wire.Column{
	{Name: "id", Type: wire.TypeNumber}, {Name: "status", Type: wire.TypeString}, {Name: "amount", Type: wire.TypeDecimal},
	{Name: "at", Type: wire.TypeDatetime}, {Name: "customer", Type: wire.TypeNumber},
}

var toCustomer = wire.JoinHop{FromTable: "shop", FromField: "customer", ToTable: "customers", ToField: "id",
	Fields: []wire.JoinField{{Field: "status", As: "customerStatus"}}}

// shop returns n rows with few groups.
func shop(n int) [][]wire.Value {
	rows := make([][]wire.Value, n)
	for i := range rows {
		rows[i] = row(num(int64(i)), text([]string{"new", "paid", "sent"}[i%3]), dec(strconv.Itoa(i%1000)+".25"),
			text("2024-0"+strconv.Itoa(1+i%9)+"-15T10:00:00Z"), num(int64(i%100)))
	}
	return rows
}

var shopAggregate = &wire.AggregateRequest{
	Table:   "shop",
	Where:   wire.Where{And: []wire.Filter{{Field: "amount", Op: wire.OpGte, Value: text("0")}}},
	GroupBy: []wire.GroupKey{{Field: "status", As: "status"}, {Field: "at", As: "at", Grain: wire.GrainQuarter}},
	Measures: []wire.Measure{{Fn: wire.AggCount, As: "n"}, {Fn: wire.AggSum, Field: "amount", As: "s"},
		{Fn: wire.AggCountDistinct, Field: "customer", As: "c"}, {Fn: wire.AggMin, Field: "id", As: "min"},
		{Fn: wire.AggMax, Field: "amount", As: "max"}},
	Limit: wire.AggregateLimit,
}

// A route asks a relation of the shop; a join and a link lead to other.
type route = func(rel, other relation.Relation) error

func cardinality(columns ...string) route {
	return func(rel, _ relation.Relation) error {
		_, err := relation.Cardinality(rel, &wire.CardinalityRequest{Columns: columns}, unlimited(), false)
		return err
	}
}

var routes = map[string]route{
	"count": func(rel, _ relation.Relation) error {
		_, err := relation.Count(rel, wire.Where{And: shopAggregate.And})
		return err
	},
	"aggregate": func(rel, _ relation.Relation) error {
		_, err := relation.Aggregate(rel, shopAggregate, unlimited())
		return err
	},
	"cardinality": cardinality("status", "customer"),
	"link": func(rel, other relation.Relation) error {
		_, err := relation.LinkHitRate(rel, other, &wire.LinkHitRateRequest{FromColumn: "customer", ToColumn: "id"}, unlimited())
		return err
	},
	"join": func(rel, other relation.Relation) error {
		joined, err := relation.Join(rel, relation.JoinRequest{Table: "shop", Joins: []wire.JoinHop{toCustomer}},
			[]relation.Relation{other}, unlimited())
		if err != nil {
			return err
		}
		for _, err := range joined.Rows {
			if err != nil {
				return err
			}
		}
		return nil
	},
}

// TestNothingIsAllocatedPerRow: 4,000 rows cost as many allocations as 2,000
// of the same groups and keys.
func TestNothingIsAllocatedPerRow(t *testing.T) {
	rows, base := shop(4_000), relation.Relation{Columns: shopColumns, Rows: relation.RowsOf(shop(100)...)}
	for name, run := range routes {
		t.Run(name, func(t *testing.T) {
			allocs := func(n int) float64 {
				rel := relation.Relation{Columns: shopColumns, Rows: relation.RowsOf(rows[:n]...)}
				return testing.AllocsPerRun(5, func() { require.NoError(t, run(rel, base)) })
			}
			// Maps grow at random moments, hence the slack: a tenth of an
			// allocation for each row would be 200.
			assert.InDelta(t, allocs(2_000), allocs(4_000), 20)
		})
	}
}

func benchmark(b *testing.B, ask route) {
	const n = 100_000
	rel := relation.Relation{Columns: shopColumns, Rows: relation.RowsOf(shop(n)...)}
	b.ReportAllocs()
	for b.Loop() {
		if err := ask(rel, rel); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
}

func BenchmarkCount(b *testing.B) { benchmark(b, routes["count"]) }

func BenchmarkAggregate(b *testing.B) { benchmark(b, routes["aggregate"]) }

func BenchmarkCardinality(b *testing.B) { benchmark(b, cardinality("id", "status")) }

func BenchmarkJoin(b *testing.B) { benchmark(b, routes["join"]) }
