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

// TestNothingIsAllocatedPerRow: 4,000 rows cost as many allocations as 2,000
// of the same groups and keys.
func TestNothingIsAllocatedPerRow(t *testing.T) {
	base := shop(100)
	cases := map[string]func(rel relation.Relation) error{
		"count": func(rel relation.Relation) error {
			_, err := relation.Count(rel, wire.Where{And: shopAggregate.And})
			return err
		},
		"aggregate": func(rel relation.Relation) error {
			_, err := relation.Aggregate(rel, shopAggregate, unlimited())
			return err
		},
		"cardinality": func(rel relation.Relation) error {
			_, err := relation.Cardinality(rel, &wire.CardinalityRequest{Columns: []string{"status", "customer"}}, unlimited(), false)
			return err
		},
		"link": func(rel relation.Relation) error {
			_, err := relation.LinkHitRate(rel, relation.Relation{Columns: shopColumns, Rows: relation.RowsOf(base...)},
				&wire.LinkHitRateRequest{FromColumn: "customer", ToColumn: "id"}, unlimited())
			return err
		},
		"join": func(rel relation.Relation) error {
			joined, err := relation.Join(rel,
				relation.JoinRequest{Table: "shop", Joins: []wire.JoinHop{toCustomer}},
				[]relation.Relation{{Columns: shopColumns, Rows: relation.RowsOf(base...)}}, unlimited())
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
	rows := shop(4_000)
	for name, run := range cases {
		t.Run(name, func(t *testing.T) {
			allocs := func(n int) float64 {
				rel := relation.Relation{Columns: shopColumns, Rows: relation.RowsOf(rows[:n]...)}
				return testing.AllocsPerRun(5, func() { require.NoError(t, run(rel)) })
			}
			// Maps grow at random moments, hence the slack: a tenth of an
			// allocation for each row would be 200.
			assert.InDelta(t, allocs(2_000), allocs(4_000), 20)
		})
	}
}

func BenchmarkCount(b *testing.B) {
	rows := shop(100_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := relation.Count(relation.Relation{Columns: shopColumns, Rows: relation.RowsOf(rows...)},
			wire.Where{And: shopAggregate.And}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/row")
}

func BenchmarkAggregate(b *testing.B) {
	rows := shop(100_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := relation.Aggregate(relation.Relation{Columns: shopColumns, Rows: relation.RowsOf(rows...)},
			shopAggregate, unlimited()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/row")
}

func BenchmarkCardinality(b *testing.B) {
	rows := shop(100_000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := relation.Cardinality(relation.Relation{Columns: shopColumns, Rows: relation.RowsOf(rows...)},
			&wire.CardinalityRequest{Columns: []string{"id", "status"}}, unlimited(), false); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/row")
}

func BenchmarkJoin(b *testing.B) {
	rows := shop(100_000)
	b.ReportAllocs()
	for b.Loop() {
		joined, err := relation.Join(relation.Relation{Columns: shopColumns, Rows: relation.RowsOf(rows...)},
			relation.JoinRequest{Table: "shop", Joins: []wire.JoinHop{toCustomer}},
			[]relation.Relation{{Columns: shopColumns, Rows: relation.RowsOf(rows...)}}, unlimited())
		if err != nil {
			b.Fatal(err)
		}
		for _, err := range joined.Rows {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/row")
}
