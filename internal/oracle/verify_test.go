package oracle_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// shop is a table whose cities tie, with prices of several spellings, and a
// table that its cities refer to.
func shop() oracle.Tables {
	orders := &oracle.Table{
		Name:       "orders",
		PrimaryKey: []string{"id"},
		Columns: []wire.Column{{Name: "id", Type: number}, {Name: "city", Type: str},
			{Name: "price", Type: decimal}, {Name: "at", Type: datetime}},
		Rows: [][]wire.Value{
			{num(1), txt("Oslo"), dec("1.50"), txt("2024-01-31T23:30:00-01:00")},
			{num(2), txt("Rome"), dec("10.00"), txt("2024-02-01T00:00:00Z")},
			{num(3), txt("Oslo"), dec("1.5"), txt("2024-03-31T10:00:00Z")},
			{num(4), null, null, null},
			{num(5), txt("Rome"), dec("-2.25"), txt("2024-12-31T23:59:59.999Z")},
			{num(6), txt("Oslo"), dec("9007199254740993"), txt("2023-12-31T23:59:59Z")},
		},
	}
	cities := &oracle.Table{
		Name:    "cities",
		Columns: []wire.Column{{Name: "name", Type: str}, {Name: "land", Type: str}},
		Rows:    [][]wire.Value{{txt("Rome"), txt("Italy")}, {txt("Rome"), txt("Georgia")}, {null, txt("Nowhere")}, {txt("oslo"), txt("small")}},
	}
	return oracle.Tables{"orders": orders, "cities": cities}
}

func row(cells ...wire.Value) []wire.Value { return cells }

func TestVerify(t *testing.T) {
	where := func(field string, v wire.Value) wire.Where {
		return wire.Where{And: []wire.Filter{{Field: field, Op: wire.OpEq, Value: v}}}
	}
	rows := func(ids ...int64) (rows [][]wire.Value) {
		for _, id := range ids {
			rows = append(rows, row(num(id)))
		}
		return rows
	}
	byCity := []wire.SortKey{by("city", wire.Asc)}
	toCities := []wire.JoinHop{{FromTable: "orders", ToTable: "cities", FromField: "city", ToField: "name",
		Fields: []wire.JoinField{{Field: "land", As: "land"}}}}
	id := []string{"id"}
	type request = wire.QueryRequest
	cases := []struct {
		why    string
		req    request
		got    [][]wire.Value
		detail string // "" agrees
	}{
		{"all rows, in any order where none is asked for", request{Fields: id}, rows(6, 1, 2, 5, 4, 3), ""},
		{"a row lost", request{Fields: id}, rows(6, 1, 2, 5, 4), "1 of 6 rows missing"},
		{"a row too often", request{Fields: id}, rows(6, 6, 1, 2, 5, 4), "row 1 is answered more often than it exists"},
		{"a row that does not exist", request{Fields: id}, rows(7), "row 0 is not among the rows of the answer"},
		{"a cell changed", request{Where: where("id", num(1)),
			Fields: []string{"id", "price"}}, [][]wire.Value{row(num(1), dec("1.51"))}, "row 0 is not among the rows of the answer"},
		{"a cell spelled otherwise", request{Where: where("id", num(1)),
			Fields: []string{"id", "price"}}, [][]wire.Value{row(txt("1"), flt(1.5))}, ""},
		{"a decimal as a float", request{Where: where("id", num(6)),
			Fields: []string{"price"}}, [][]wire.Value{row(flt(9007199254740992))}, "row 0 is not among the rows of the answer"},
		{"a row that the filters drop", request{Where: where("city", txt("Oslo")),
			Fields: id}, rows(1, 2, 3), "row 1 is one that the filters drop"},
		{"a filter ignored by half", request{Where: where("city", txt("Oslo")), Fields: id},
			rows(1, 3), "1 of 3 rows missing"},
		{"a filter on digits", request{Where: where("price", txt("1.500")), Fields: id}, rows(3, 1), ""},
		{"fields in the order of the request",
			request{Where: where("id", num(2)), Fields: []string{"city", "id"}},
			[][]wire.Value{row(txt("Rome"), num(2))}, ""},
		{"and not of the table", request{Where: where("id", num(2)),
			Fields: []string{"city", "id"}}, [][]wire.Value{row(num(2), txt("Rome"))}, "row 0 is not among the rows of the answer"},
		{"a cell too few", request{Where: where("id", num(4)), Fields: []string{"id", "city"}}, rows(4), "row 0 has 1 cell"},
		{"no fields, so that rows can be counted",
			request{Where: where("city", txt("Rome")), Fields: []string{}}, [][]wire.Value{row(), row()}, ""},
		{"one of them lost", request{Where: where("city", txt("Rome")), Fields: []string{}},
			[][]wire.Value{row()}, "1 of 2 rows missing"},
		{"ties in any order", request{Sort: byCity, Fields: id}, rows(6, 3, 1, 5, 2, 4), ""},
		{"but in their place", request{Sort: byCity, Fields: id},
			rows(6, 3, 5, 1, 2, 4), "row 2 stands in the wrong place"},
		{"nulls first", request{Sort: byCity, Fields: id}, rows(4, 6, 3, 1, 5, 2), "row 0 stands in the wrong place"},
		{"a window takes any of the rows that tie", request{Sort: byCity, Limit: 2, Fields: id}, rows(6, 3), ""},
		{"each of them once", request{Sort: byCity, Limit: 2, Fields: id},
			rows(6, 6), "row 1 is answered more often than it exists"},
		{"but none from beyond", request{Sort: byCity, Limit: 2, Fields: id},
			rows(6, 2), "row 1 stands in the wrong place"},
		{"a window in the middle", request{Sort: byCity, Offset: 2, Limit: 2, Fields: id}, rows(3, 2), ""},
		{"shifted by one", request{Sort: []wire.SortKey{by("id", wire.Asc)}, Offset: 2, Limit: 2,
			Fields: id}, rows(2, 3), "row 0 stands in the wrong place"},
		{"a window without an order takes any rows", request{Limit: 2, Fields: id}, rows(4, 2), ""},
		{"of those that match", request{Where: where("city", txt("Oslo")), Limit: 2,
			Fields: id}, rows(1, 2), "row 1 is one that the filters drop"},
		{"rows beyond the window", request{Limit: 2, Fields: id}, rows(4, 2, 1), "1 row too many, beyond the window"},
		{"a window not filled", request{Limit: 2, Fields: id}, rows(4), "1 of 2 rows missing"},
		{"a limit beyond the end", request{Where: where("city", txt("Rome")), Limit: 9, Fields: id}, rows(2, 5), ""},
		{"an offset beyond the end", request{Offset: 9, Fields: id}, nil, ""},
		{"an offset without a limit", request{Offset: 4, Sort: []wire.SortKey{by("id", wire.Asc)},
			Fields: id}, rows(5, 6), ""},
		{"an offset ignored", request{Offset: 9, Fields: id}, rows(1), "1 row too many, beyond the window"},
		{"query-6: unmatched rows keep nulls, several matches are several rows, null matches nothing",
			request{Joins: toCities, Fields: id},
			[][]wire.Value{row(num(1), null), row(num(2), txt("Italy")), row(num(2), txt("Georgia")),
				row(num(3), null), row(num(4), null), row(num(5), txt("Georgia")), row(num(5), txt("Italy")), row(num(6), null)}, ""},
		{"an inner join", request{Joins: toCities, Where: where("city", txt("Oslo")),
			Fields: id}, nil, "3 of 3 rows missing"},
		{"a join that takes one match", request{Joins: toCities, Where: where("id", num(2)),
			Fields: id}, [][]wire.Value{row(num(2), txt("Italy"))}, "1 of 2 rows missing"},
		{"a join that folds case", request{Joins: toCities, Where: where("id", num(1)),
			Fields: id}, [][]wire.Value{row(num(1), txt("small"))}, "row 0 is not among the rows of the answer"},
		{"a join of nulls", request{Joins: toCities, Where: where("id", num(4)), Fields: id},
			[][]wire.Value{row(num(4), txt("Nowhere"))}, "row 0 is not among the rows of the answer"},
		{"a window counts joined rows", request{Joins: toCities, Sort: []wire.SortKey{by("id", wire.Asc)},
			Limit: 2, Fields: id}, [][]wire.Value{row(num(1), null), row(num(2), txt("Georgia"))}, ""},
		{"a field that does not exist", request{Fields: []string{"x"}}, nil,
			`the request has no answer: fields: table "orders" has no field "x"`},
		{"a filter on a joined field (query-6c)",
			request{Joins: toCities, Where: where("land", txt("Italy")), Fields: id}, nil,
			`the request has no answer: filter: table "orders" has no field "land"`},
		{"a sort by a joined field (query-6c)",
			request{Joins: toCities, Sort: []wire.SortKey{by("land", wire.Asc)}, Fields: id}, nil,
			`the request has no answer: sort: table "orders" has no field "land"`},
	}
	for _, c := range cases {
		t.Run(c.why, func(t *testing.T) {
			c.req.Table = "orders"
			d := oracle.Verify(shop(), &c.req, c.got)
			if c.detail == "" {
				require.Nil(t, d)
				return
			}
			require.NotNil(t, d)
			require.Equal(t, c.detail, d.Detail)
			require.NotEmpty(t, d.Expected)
			require.NotEmpty(t, d.Received)
		})
	}
	d := oracle.Verify(shop(), &request{Table: "x"}, nil)
	require.Equal(t, `the request has no answer: there is no table "x"`, d.Detail)
}

func TestDifferenceShows(t *testing.T) {
	req := &wire.QueryRequest{Table: "orders", Fields: []string{"id", "city", "price"}}
	d := oracle.Verify(shop(), req, [][]wire.Value{{num(2), txt("Rome"), dec("10.00")}})
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
	judged := 0
	for seed := range uint64(testrun.Rounds(1500)) {
		d := generated(30_000 + seed)
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
	orders := shop()["orders"]
	req := func() *wire.QueryRequest {
		return &wire.QueryRequest{
			Table: "orders", Fields: []string{"id"}, Limit: 2, Offset: 1,
			Where: wire.Where{And: []wire.Filter{{Field: "city", Op: wire.OpNotNull}}},
			Sort:  []wire.SortKey{by("price", wire.Desc)},
		}
	}
	// The right answer over all rows is 6, 2, 1, 3, 5 cut to 2, 1.
	cases := []struct {
		why    string
		change func(*wire.QueryRequest)
		served wire.Served
		rows   []int64 // of the stream
		want   []int64
	}{
		{"nothing served: all is left to do", nil, wire.Served{}, []int64{1, 2, 3, 4, 5, 6}, []int64{2, 1}},
		{"filters served", nil, wire.Served{Filters: true}, []int64{1, 2, 3, 5, 6}, []int64{2, 1}},
		{"filters claimed and not held: believed", nil, wire.Served{Filters: true}, []int64{4, 6, 5}, []int64{5, 4}},
		{"sort served", nil, wire.Served{Sort: true}, []int64{6, 4, 2, 1, 3, 5}, []int64{2, 1}},
		{"both served", nil, wire.Served{Filters: true, Sort: true}, []int64{6, 2, 1, 3, 5}, []int64{2, 1}},
		{"all served: nothing is left", nil, wire.Served{Filters: true, Sort: true, Window: true}, []int64{2, 1}, []int64{2, 1}},
		{"a window without the filters is not honoured", nil, wire.Served{Sort: true, Window: true}, []int64{6, 2, 1, 3, 5}, []int64{2, 1}},
		{"a window without the sort is not honoured", nil, wire.Served{Filters: true, Window: true}, []int64{1, 2, 3, 5, 6}, []int64{2, 1}},
		{"a window with a request without a sort is", func(q *wire.QueryRequest) { q.Sort = nil },
			wire.Served{Filters: true, Window: true}, []int64{5, 1}, []int64{5, 1}},
		{"no sort: rows keep their order", func(q *wire.QueryRequest) { q.Sort, q.Limit, q.Offset = nil, 0, 0 },
			wire.Served{}, []int64{6, 5, 4, 3, 2, 1}, []int64{6, 5, 3, 2, 1}},
	}
	for _, c := range cases {
		t.Run(c.why, func(t *testing.T) {
			q := req()
			if c.change != nil {
				c.change(q)
			}
			stream := &oracle.Table{Name: "orders", Columns: orders.Columns}
			for _, id := range c.rows {
				stream.Rows = append(stream.Rows, orders.Rows[id-1])
			}
			got := testkit.Must(oracle.Finish(stream, q, c.served))(t)
			require.Equal(t, c.want, ids(got))
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
	got, err := oracle.Finish(joined, q, wire.Served{Filters: true})
	require.NoError(t, err)
	require.Equal(t, [][]wire.Value{{num(2), txt("b")}, {num(1), txt("a")}}, got.Rows)
	_, err = oracle.Finish(bare, q, wire.Served{Filters: true, Sort: true})
	require.Equal(t, &oracle.UnknownField{Table: "orders", Field: "name", Where: "join"}, err)
}
