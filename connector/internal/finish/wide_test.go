package finish

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestHeapKeepsWhatIsAsked checks what a sort with a limit holds of rows with one
// wide column. The cells that only a filter or nobody needs are not kept.
func TestHeapKeepsWhatIsAsked(t *testing.T) {
	columns := []wire.Column{
		{Name: "wide", Type: wire.TypeString}, {Name: "id", Type: wire.TypeNumber}, {Name: "n", Type: wire.TypeNumber},
		{Name: "wide", Type: wire.TypeString, Hop: 1},
	}
	byN := []wire.SortKey{{Field: "n", Dir: wire.Desc}}
	wide := []wire.Filter{{Field: "wide", Op: wire.OpIncludes, Value: wire.Text("x")}}
	bare := []wire.JoinHop{{FromTable: "t", FromField: "id", ToTable: "u", ToField: "id"}}
	join := []wire.JoinHop{{FromTable: "t", FromField: "id", ToTable: "u", ToField: "id",
		Fields: []wire.JoinField{{Field: "wide", As: "wide"}}}}
	for _, c := range []struct {
		why    string
		fields []string
		sort   []wire.SortKey
		and    []wire.Filter
		joins  []wire.JoinHop
		table  *wire.Table
		keeps  int // wide cells of each row
	}{
		{"nobody asks for the wide column", []string{"id"}, byN, nil, bare, nil, 0},
		{"a filter was judged before the row is kept", []string{"id"}, byN, wide, bare, nil, 0},
		{"no field at all", []string{}, byN, nil, bare, nil, 0},
		{"the wide column is asked for", []string{"wide", "id"}, byN, nil, bare, nil, 1},
		{"it is a sort key", []string{"id"}, []wire.SortKey{{Field: "wide", Dir: wire.Asc}}, nil, bare, nil, 1},
		{"it is the primary key, which breaks ties", []string{"id"}, byN, nil, bare, &wire.Table{PrimaryKey: []string{"wide"},
			Fields: []wire.Field{{Name: "wide"}, {Name: "id"}, {Name: "n"}}}, 1},
		{"a hop's column of the same name is another", []string{"id"}, byN, nil, join, nil, 1},
	} {
		t.Run(c.why, func(t *testing.T) {
			p := planFor(wire.QueryRequest{Sort: c.sort, Limit: 100, Where: wire.Where{And: c.and}, Joins: c.joins})
			p.Request.Fields, p.Table = c.fields, c.table
			f := New(p, nil)
			_, err := f.Begin(wire.Served{}, columns)
			require.NoError(t, err)
			const size = 100_000
			before := heapInUse()
			for n := range int64(100) {
				text := wire.Text(strings.Repeat("x", size) + fmt.Sprint(n))
				require.NoError(t, f.Row([]wire.Value{text, wire.Int(n), wire.Int(n % 7), text}))
			}
			held := heapInUse() - before
			assert.InDelta(t, 100*size*c.keeps, held, 100*size/2)
			runtime.KeepAlive(f)
		})
	}
}

func heapInUse() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

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
				p := planFor(req)
				p.Request.Fields, p.Table = req.Fields, table
				_, err := New(p, nil).Begin(wire.Served{}, columns)
				require.NoError(b, err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/column")
		})
	}
}
