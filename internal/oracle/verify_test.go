package oracle_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// shop is a table whose cities tie, with prices of several spellings, and a
// table that its cities refer to.
func shop(t testing.TB) oracle.Tables {
	t.Helper()
	orders, cities := &oracle.Table{Name: "orders", PrimaryKey: []string{"id"}}, &oracle.Table{Name: "cities"}
	orders.Columns, orders.Rows = cells.Table(t, `id:number city:string price:decimal at:datetime
		| 1 "Oslo" decimal:1.50 "2024-01-31T23:30:00-01:00" | 2 "Rome" decimal:10.00 "2024-02-01T00:00:00Z"
		| 3 "Oslo" decimal:1.5 "2024-03-31T10:00:00Z" | 4 null null null | 5 "Rome" decimal:-2.25 "2024-12-31T23:59:59.999Z"
		| 6 "Oslo" decimal:9007199254740993 "2023-12-31T23:59:59Z"`)
	cities.Columns, cities.Rows = cells.Table(t,
		`name:string land:string | "Rome" "Italy" | "Rome" "Georgia" | null "Nowhere" | "oslo" "small"`)
	return oracle.Tables{"orders": orders, "cities": cities}
}

func TestVerify(t *testing.T) {
	const joins = `"table":"orders","joins":[{"fromTable":"orders","toTable":"cities","fromField":"city","toField":"name",` +
		`"fields":[{"field":"land","as":"land"}]}]`
	for _, c := range testkit.Table(t, "testdata/verify.tsv", 4) {
		t.Run(c[3], func(t *testing.T) {
			var req wire.QueryRequest
			cells.Decode(t, strings.Replace(c[0], "${joins}", joins, 1), &req)
			req.Table = "orders"
			d := oracle.Verify(shop(t), &req, cells.Rows(t, strings.TrimPrefix(c[1], "-")))
			if differs(t, d, c[2], c[3]); d != nil {
				require.NotEmpty(t, d.Expected)
				require.NotEmpty(t, d.Received)
			}
		})
	}
	d := oracle.Verify(shop(t), &wire.QueryRequest{Table: "x"}, nil)
	require.Equal(t, `the request has no answer: there is no table "x"`, d.Detail)
}

func TestDifferenceShows(t *testing.T) {
	req := &wire.QueryRequest{Table: "orders", Fields: []string{"id", "city", "price"}}
	d := oracle.Verify(shop(t), req, [][]wire.Value{{num(2), txt("Rome"), dec("10.00")}})
	require.Equal(t, "5 of 6 rows missing\n\texpected: "+
		`{"id":1,"city":"Oslo","price":"1.50"}`+"\n"+`{"id":3,"city":"Oslo","price":"1.5"}`+"\n"+
		`{"id":4,"city":null,"price":null}`+"\nand 2 more"+
		"\n\treceived: 1 row without it", d.String())

	long := &oracle.Table{Name: "long"}
	var cells []wire.Value
	for i := range 300 {
		name := strings.Repeat("n", i)
		long.Columns = append(long.Columns, wire.Column{Name: name})
		cells = append(cells, txt("x"+strings.Repeat("é", 10_000)))
		req.Fields = append(req.Fields, name)
	}
	req = &wire.QueryRequest{Table: "long", Fields: req.Fields[3:]}
	d = oracle.Verify(oracle.Tables{"long": long}, req, [][]wire.Value{cells})
	require.NotNil(t, d)
	require.Less(t, len(d.String()), 4000, "whatever an answer holds, its difference is short")
	require.Contains(t, d.Received, "(20001 bytes)")
	require.Contains(t, d.Received, "more")
	require.NotContains(t, d.Received, "\uFFFD", "texts are cut between characters")
}

// TestVerifyAcceptsTheOracle checks that Verify accepts what Query returns, and
// nothing with another number of rows.
func TestVerifyAcceptsTheOracle(t *testing.T) {
	judged, pool := 0, values(t)
	for seed := range uint64(testrun.Rounds(1500)) {
		d := generated(30_000+seed, pool)
		table := d.table("t")
		tables := oracle.Tables{"t": table}
		q := d.query(table)
		answer, err := oracle.Query(tables, q)
		if err != nil {
			require.NotNil(t, oracle.Verify(tables, q, nil))
			continue
		}
		require.Nil(t, oracle.Verify(tables, q, answer.Rows))
		if len(answer.Rows) > 0 {
			judged++
			require.NotNil(t, oracle.Verify(tables, q, answer.Rows[1:]))
			require.NotNil(t, oracle.Verify(tables, q, append(answer.Rows[:1:1], answer.Rows...)))
		}
		full := testkit.Must(oracle.Filter(table, nil, nil, nil))(t)
		finished := testkit.Must(oracle.Finish(full, q, wire.Served{}))(t)
		require.Equal(t, answer.Rows, finished.Rows, "a stream that serves nothing is finished to the same answer")
	}
	require.Greater(t, judged, testrun.Rounds(200))
}

func TestFinish(t *testing.T) {
	orders := shop(t)["orders"]
	req := func() *wire.QueryRequest {
		return &wire.QueryRequest{
			Table: "orders", Fields: []string{"id"}, Limit: 2, Offset: 1,
			Where: wire.Where{And: []wire.Filter{{Field: "city", Op: wire.OpNotNull}}},
			Sort:  []wire.SortKey{by("price", wire.Desc)},
		}
	}
	for _, c := range testkit.Table(t, "testdata/finish.tsv", 5) {
		t.Run(c[4], func(t *testing.T) {
			q := req()
			if strings.Contains(c[1], "no sort") {
				q.Sort = nil
			}
			if strings.Contains(c[1], "no window") {
				q.Limit, q.Offset = 0, 0
			}
			stream := &oracle.Table{Name: "orders", Columns: orders.Columns}
			for _, id := range cells.Row(t, c[2]) {
				stream.Rows = append(stream.Rows, orders.Rows[id.Int64()-1])
			}
			served := wire.Served{Filters: strings.Contains(c[0], "F"), Sort: strings.Contains(c[0], "S"), Window: strings.Contains(c[0], "W")}
			got := testkit.Must(oracle.Finish(stream, q, served))(t)
			require.Equal(t, "["+c[3]+"]", fmt.Sprint(ids(got)))
			require.Len(t, got.Columns, 1)
		})
	}
	bare := &oracle.Table{Name: "orders", Columns: orders.Columns[:1], Rows: [][]wire.Value{{num(1)}}}
	_, err := oracle.Finish(bare, req(), wire.Served{})
	require.Equal(t, &oracle.UnknownField{Table: "orders", Field: "city", Where: "filter"}, err, "what is left to do needs its columns")
	_, err = oracle.Finish(bare, req(), wire.Served{Filters: true, Sort: true, Window: true})
	require.NoError(t, err, "what is served does not")

	// The columns of a join have the number of their hop, which separates them
	// from those of the table.
	joined := &oracle.Table{
		Name:    "orders",
		Columns: []wire.Column{{Name: "name", Type: str, Hop: 1}, {Name: "id", Type: number}, {Name: "name", Type: str}},
		Rows:    [][]wire.Value{{txt("a"), num(1), txt("y")}, {txt("b"), num(2), txt("x")}},
	}
	require.Equal(t, 2, joined.Index("name"), "the table's own column comes first")
	require.Equal(t, -1, joined.Index("x"))
	q := &wire.QueryRequest{
		Table: "orders", Fields: []string{"id"}, Sort: []wire.SortKey{by("name", wire.Asc)},
		Joins: []wire.JoinHop{{FromTable: "orders", ToTable: "cities", FromField: "id", ToField: "id",
			Fields: []wire.JoinField{{Field: "name"}}}},
	}
	got := testkit.Must(oracle.Finish(joined, q, wire.Served{Filters: true}))(t)
	require.Equal(t, [][]wire.Value{{num(2), txt("b")}, {num(1), txt("a")}}, got.Rows)
	_, err = oracle.Finish(bare, q, wire.Served{Filters: true, Sort: true})
	require.Equal(t, &oracle.UnknownField{Table: "orders", Field: "name", Where: "join"}, err)
}

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
