package finish

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/batch"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// planCase is one of testdata/plans.json: what is asked of a document with two sort
// keys, an offset of 5 and a budget of 10 rows, what the source does, and the rest.
type planCase struct {
	Why     string
	SQL     bool
	Ask     map[string]any // members of a request for field n of table t
	Table   string         // the description's columns; a star marks the primary key
	Joined  []string       // those of the tables that hops lead to
	Claim   string
	Columns string // as package cells reads them; empty: n:number
	Rows    string
	Served  string
	Keeps   []int  // the positions of the cells that a heap keeps
	Types   string // of the columns, if they are compared
	Answer  string
	Error   string // what the error of beginning, or of the rows, starts with
}

func (c *planCase) plan(t *testing.T) *Plan {
	body := map[string]any{"table": "t", "and": []any{}, "sort": []any{}, "fields": []any{"n"},
		"credentials": map[string]any{}, "timeoutMs": 1}
	maps.Copy(body, c.Ask)
	text, _ := json.Marshal(body) // it was JSON
	var req wire.QueryRequest
	require.NoError(t, wire.Decode(text, &req))
	p := &Plan{Request: &req, SQL: c.SQL, MaxSortKeys: 2, MaxOffset: 5, SortBudget: 10}
	describe := func(text string) *wire.Table {
		table := &wire.Table{}
		columns, _ := cells.Table(t, text)
		for _, column := range columns {
			name, key := strings.CutSuffix(column.Name, "*")
			typ, keyed := strings.CutSuffix(string(column.Type), "*")
			if key || keyed {
				table.PrimaryKey = append(table.PrimaryKey, name)
			}
			table.Fields = append(table.Fields, wire.Field{Name: name, Type: wire.Type(typ)})
		}
		return table
	}
	for _, text := range c.Joined {
		p.Joined = append(p.Joined, describe(text))
	}
	if c.Table != "" {
		p.Table = describe(c.Table)
	}
	return p
}

func served(text string) wire.Served {
	has := func(part string) bool { return strings.Contains(text, part) }
	return wire.Served{Filters: has("filters"), Sort: has("sort"), Window: has("window")}
}

// TestPlans finishes rows on their way to a batch, and again to be counted only.
func TestPlans(t *testing.T) {
	text, err := os.ReadFile("testdata/plans.json")
	require.NoError(t, err)
	var cases []planCase
	require.NoError(t, json.Unmarshal(text, &cases))
	for _, c := range cases {
		t.Run(c.Why, func(t *testing.T) {
			if c.Columns == "" {
				c.Columns = "n:number"
			}
			columns, _ := cells.Table(t, c.Columns)
			finish := func(to *batch.Batcher) (*Finisher, error) {
				f := New(c.plan(t), to)
				typed, err := f.Begin(served(c.Claim), columns)
				if err != nil {
					return f, err
				}
				if c.Types != "" {
					var types []string
					for _, column := range typed {
						types = append(types, string(column.Type))
					}
					assert.Equal(t, c.Types, strings.Join(types, ","))
				}
				for _, row := range cells.Rows(t, c.Rows) {
					if err := f.Row(row); err != nil {
						return f, err
					}
				}
				return f, f.Drain()
			}
			h := batch.NewHandoff(func() time.Duration { return 0 }, false, nil)
			f, err := finish(batch.NewBatcher(h, nil))
			if c.Error != "" {
				require.ErrorContains(t, err, c.Error)
			} else {
				require.NoError(t, err)
			}
			sent, _ := h.Served()
			assert.Equal(t, served(c.Served), sent)
			if c.Keeps != nil {
				assert.Equal(t, c.Keeps, f.top.Cells)
			}
			h.Return(nil)
			var answer string
			rows := 0
			if w := h.Next(0, 0); w.Batch != nil {
				rows = w.Batch.Len()
				answer = string(w.Batch.Line())
				answer = answer[len(`{"rows":[`) : len(answer)-len("]}\n")]
			}
			assert.Equal(t, c.Answer, answer)
			assert.EqualValues(t, rows, f.Count)
			if counted, err := finish(nil); err != nil || c.Error == "" {
				assert.Equal(t, f.Count, counted.Count)
			}
			_, filtered := c.Ask["and"]
			_, sorted := c.Ask["sort"]
			assert.Equal(t, wire.Served{Filters: !filtered, Sort: !sorted}, f.plan.WithTrivialClaims(wire.Served{}))
		})
	}
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
				p := &Plan{Request: &req, Table: table, MaxSortKeys: n, SortBudget: 1}
				_, err := New(p, nil).Begin(wire.Served{}, columns)
				require.NoError(b, err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/column")
		})
	}
}
