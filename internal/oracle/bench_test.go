package oracle_test

import (
	"fmt"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// BenchmarkVerify judges an answer of as many rows as the judge ever reads.
func BenchmarkVerify(b *testing.B) {
	table := &oracle.Table{Name: "t", Columns: []wire.Column{{Name: "id", Type: number},
		{Name: "price", Type: decimal}, {Name: "at", Type: datetime}, {Name: "name", Type: str}}}
	for i := range 200_000 {
		table.Rows = append(table.Rows, []wire.Value{
			wire.Int(int64(i)), wire.Text(fmt.Sprintf("%d.%02d", i%977, i%100)),
			wire.Text(fmt.Sprintf("2024-%02d-%02dT%02d:00:00Z", 1+i%12, 1+i%28, i%24)), wire.Text(fmt.Sprintf("name %d", i%5000)),
		})
	}
	req := &wire.QueryRequest{
		Table: "t", Fields: []string{"id", "price", "at", "name"},
		Where: wire.Where{And: []wire.Filter{{Field: "price", Op: wire.OpGte, Value: wire.Int(1)}}},
		Sort:  []wire.SortKey{by("at", wire.Desc), by("price", wire.Asc)},
	}
	tables := oracle.Tables{"t": table}
	answer, err := oracle.Query(tables, req)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("query", func(b *testing.B) {
		for b.Loop() {
			if d := oracle.Verify(tables, req, answer.Rows); d != nil {
				b.Fatal(d)
			}
		}
	})
	groups := &wire.AggregateRequest{Table: "t",
		GroupBy:  []wire.GroupKey{{Field: "at", As: "month", Grain: wire.GrainMonth}, {Field: "name", As: "name"}},
		Measures: []wire.Measure{{Fn: wire.AggSum, Field: "price", As: "sum"}}}
	b.Run("aggregate", func(b *testing.B) {
		for b.Loop() {
			if _, err := oracle.Aggregate(tables, groups); err != nil {
				b.Fatal(err)
			}
		}
	})
}
