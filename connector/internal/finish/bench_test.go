package finish

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// BenchmarkPlan plans a request that names each column in each of its lists. The
// time for a column does not grow with their number.
func BenchmarkPlan(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			table := &wire.Table{Name: "t"}
			var columns []wire.Column
			req := wire.QueryRequest{Table: "t", Limit: 1}
			for i := range n {
				name := fmt.Sprint("c", i)
				table.Fields = append(table.Fields, wire.Field{Name: name, Type: wire.TypeNumber})
				table.PrimaryKey = append(table.PrimaryKey, name)
				columns = append(columns, wire.Column{Name: name})
				req.Fields = append(req.Fields, name)
				req.Sort = append(req.Sort, wire.SortKey{Field: name, Dir: wire.Asc})
				req.And = append(req.And, wire.Filter{Field: name, Op: wire.OpNotNull})
			}
			for b.Loop() {
				p := &Plan{Request: &req, Table: table, MaxSortKeys: n, SortBudget: 1}
				_, err := New(p, nil).Begin(wire.Served{}, columns)
				require.NoError(b, err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/column")
		})
	}
}
