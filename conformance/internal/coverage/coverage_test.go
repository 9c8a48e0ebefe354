package coverage

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/internal/exam"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestCoverage counts what was asked of one table, in words and as figures.
func TestCoverage(t *testing.T) {
	no := false
	table := wire.Table{Name: "orders", StoresRows: true, Fields: []wire.Field{
		{Name: "state", Type: wire.TypeString}, {Name: "total", Type: wire.TypeDecimal}, {Name: "note", Type: wire.TypeString},
		{Name: "blob", Type: wire.TypeString, Filterable: &no}, {Name: "tags", Type: wire.TypeArray},
	}}
	rows := func(n int) (list [][]wire.Value) {
		states := []string{"open", "closed", "lost"}
		for i := range n {
			list = append(list, []wire.Value{wire.Text(states[i%3]), wire.Int(int64(i)), wire.Null(), wire.Text("b"), wire.Text("[]")})
		}
		return list
	}
	eq := func(field string, v wire.Value) wire.Filter {
		return wire.Filter{Field: field, Op: wire.OpEq, Value: v}
	}
	in := wire.Filter{Field: "state", Op: wire.OpIn, Values: []wire.Value{wire.Text("open"), wire.Text("lost")}}
	for _, c := range []struct {
		why      string
		declares []wire.Op
		asked    []wire.Filter
		rows     int  // that were answered
		held     int  // of them
		window   bool // and the table was not read whole
		virtual  bool // the table stores no rows
		text     string
		unjudged string
		values   []int // of each field: distinct values, and how many were asked
	}{
		{why: "a value that was asked twice counts once, and one that no row has does not count",
			declares: []wire.Op{wire.OpEq, wire.OpIn},
			asked:    []wire.Filter{eq("state", wire.Text("open")), eq("state", wire.Text("open")), eq("state", wire.Text("x")), in},
			rows:     50, held: 50, values: []int{3, 1, 50, 0, 0, 0, 0, 0, 0, 0},
			text: "judged 50 rows of 1 table, 2 of 8 fields x operators (2 without data), 1 of 53 values of columns with few"},
		{why: "fifty-one values are many", declares: []wire.Op{wire.OpEq}, asked: []wire.Filter{eq("state", wire.Text("open"))},
			rows: 51, held: 51, values: []int{3, 1, 0, 0, 0, 0, 0, 0, 0, 0},
			text: "judged 51 rows of 1 table, 1 of 4 fields x operators (1 without data), 1 of 3 values of columns with few"},
		{why: "another spelling of a number is the same value", declares: []wire.Op{wire.OpEq},
			asked: []wire.Filter{eq("total", wire.Text("1.0"))}, rows: 2, held: 2, values: []int{2, 0, 2, 1, 0, 0, 0, 0, 0, 0},
			text: "judged 2 rows of 1 table, 1 of 4 fields x operators (1 without data), 1 of 4 values of columns with few"},
		{why: "without eq, in asks for values", declares: []wire.Op{wire.OpIn}, asked: []wire.Filter{in},
			rows: 3, held: 3, window: true, values: []int{3, 2, 3, 0, 0, 0, 0, 0, 0, 0},
			text: "judged 3 rows of 1 table, 1 of 4 fields x operators (1 without data), 2 of 6 values of columns with few"},
		{why: "neither eq nor in", declares: []wire.Op{wire.OpGt}, rows: 3, held: 3, values: make([]int, 10),
			text: "judged 3 rows of 1 table, 0 of 4 fields x operators (1 without data)", unjudged: "no filter on it was judged"},
		{why: "no operator, so that rows are all there is to judge", rows: 3, held: 3, values: make([]int, 10),
			text: "judged 3 rows of 1 table"},
		{why: "one row, of which no filter tells anything", declares: []wire.Op{wire.OpEq},
			rows: 1, held: 1, values: []int{1, 0, 1, 0, 0, 0, 0, 0, 0, 0},
			text: "judged 1 row of 1 table, 0 of 4 fields x operators (1 without data), 0 of 2 values of columns with few"},
		{why: "an empty table", declares: []wire.Op{wire.OpGt}, values: make([]int, 10),
			text: "judged 0 rows of 0 tables, 0 of 4 fields x operators (4 without data)"},
		{why: "a table that nobody read", declares: []wire.Op{wire.OpGt}, held: -1, values: make([]int, 10),
			text:     "judged 0 rows of 0 tables, 0 of 4 fields x operators (4 without data)",
			unjudged: "none of its rows were read"},
		{why: "a table that stores no rows and cannot be read", held: -1, virtual: true, values: make([]int, 10),
			text: "judged 0 rows of 0 tables"},
	} {
		t.Run(c.why, func(t *testing.T) {
			own := table
			own.StoresRows = !c.virtual
			held := declared.Shape(&own)
			held.Rows = rows(max(c.held, 0))
			r := NewRecord()
			r.AddRows(own.Name, c.rows)
			r.AddFilters(declared.Shape(&own), wire.Where{And: c.asked})
			r.AddFilters(&oracle.Table{Name: "another"}, wire.Where{And: []wire.Filter{eq("state", wire.Text("closed"))}})

			got := r.Report(Source{
				Document: &declared.Document{Declared: exam.Declared{Document: wire.Document{Capabilities: wire.Capabilities{Operators: c.declares}}}},
				Tables:   []wire.Table{own}, Clean: strings.TrimSpace,
				Held: func(string) (*oracle.Table, bool, string) {
					switch {
					case c.held < 0:
						return nil, false, ""
					case c.window:
						return held, false, "it is large"
					}
					return held, true, ""
				},
			})
			require.Equal(t, c.text, got.Basis.Text)
			require.Equal(t, c.unjudged, got.Tables[0].Unjudged)
			require.Equal(t, c.unjudged != "", got.Basis.Unjudged == 1)
			require.Equal(t, c.window, got.Tables[0].Partly != "")
			var values []int
			for _, f := range got.Tables[0].Fields {
				values = append(values, f.Values, f.Asked)
			}
			require.Equal(t, c.values, values)
		})
	}
}
