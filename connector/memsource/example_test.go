package memsource_test

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func ExampleJoin() {
	orders := memsource.Relation{
		Columns: []wire.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "customer", Type: wire.TypeNumber}},
		Rows:    memsource.RowsOf([]wire.Value{wire.Int(10), wire.Int(1)}, []wire.Value{wire.Int(11), wire.Int(9)}),
	}
	customers := memsource.Relation{
		Columns: []wire.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "name", Type: wire.TypeString}},
		Rows:    memsource.RowsOf([]wire.Value{wire.Int(1), wire.Text("Ada")}),
	}
	joined, err := memsource.Join(orders, memsource.JoinRequest{
		Table: "orders",
		Joins: []wire.JoinHop{{
			FromTable: "orders", FromField: "customer", ToTable: "customers", ToField: "id",
			Fields: []wire.JoinField{{Field: "name", As: "customerName"}},
		}},
	}, []memsource.Relation{customers}, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	for row, err := range joined.Rows {
		fmt.Println(row, err)
	}
	// Output:
	// [10 1 Ada] <nil>
	// [11 9 null] <nil>
}

func ExampleLinkHitRate() {
	orders := memsource.Relation{
		Columns: []wire.Column{{Name: "customer", Type: wire.TypeNumber}},
		Rows:    memsource.RowsOf([]wire.Value{wire.Int(1)}, []wire.Value{wire.Int(9)}, []wire.Value{wire.Null()}),
	}
	customers := memsource.Relation{
		Columns: []wire.Column{{Name: "id", Type: wire.TypeNumber}},
		Rows:    memsource.RowsOf([]wire.Value{wire.Int(1)}, []wire.Value{wire.Int(2)}),
	}
	rate, err := memsource.LinkHitRate(orders, customers, &wire.LinkHitRateRequest{
		FromTable: "orders", FromColumn: "customer", ToTable: "customers", ToColumn: "id",
	}, 0)
	fmt.Println(rate.FromNonNull, rate.OrphanCount, rate.OrphanRate, rate.OrphanSamples, err)
	// Output: 2 1 0.5 [9] <nil>
}

func ExampleCardinality() {
	rel := memsource.Relation{
		Columns: []wire.Column{{Name: "price", Type: wire.TypeDecimal}},
		Rows:    memsource.RowsOf([]wire.Value{wire.Decimal("1.5")}, []wire.Value{wire.Decimal("1.50")}, []wire.Value{wire.Null()}),
	}
	counts, err := memsource.Cardinality(rel, &wire.CardinalityRequest{Table: "goods", Columns: []string{"price"}}, 0)
	fmt.Println(*counts["price"], err)
	// Output: {2 1} <nil>
}

func ExampleAggregate() {
	rel := memsource.Relation{
		Columns: []wire.Column{{Name: "region", Type: wire.TypeString}, {Name: "amount", Type: wire.TypeDecimal}},
		Rows: memsource.RowsOf(
			[]wire.Value{wire.Text("north"), wire.Decimal("0.10")},
			[]wire.Value{wire.Text("south"), wire.Decimal("7")},
			[]wire.Value{wire.Text("north"), wire.Decimal("0.2")},
		),
	}
	groups, err := memsource.Aggregate(rel, &wire.AggregateRequest{
		Table:    "sales",
		GroupBy:  []wire.GroupKey{{Field: "region", As: "region"}},
		Measures: []wire.Measure{{Fn: wire.AggSum, Field: "amount", As: "total"}, {Fn: wire.AggCount, As: "sales"}},
		Limit:    wire.AggregateLimit,
	}, 0)
	if err != nil {
		fmt.Println(err) // a source returns it as it is
		return
	}
	for _, g := range groups {
		fmt.Println(g)
	}
	// Output:
	// [north 0.30 2]
	// [south 7 1]
}

func ExampleCount() {
	rel := memsource.Relation{
		Columns: []wire.Column{{Name: "moons", Type: wire.TypeNumber}},
		Rows:    memsource.RowsOf([]wire.Value{wire.Int(0)}, []wire.Value{wire.Int(2)}, []wire.Value{wire.Null()}),
	}
	n, err := memsource.Count(rel,
		&wire.CountRequest{Where: wire.Where{And: []wire.Filter{{Field: "moons", Op: wire.OpGte, Value: wire.Int(0)}}}})
	fmt.Println(n, err)
	// Output: 2 <nil>
}
