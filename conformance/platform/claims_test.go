package platform_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// described is a table with a field of each kind that is judged apart.
var described = &wire.Table{Name: "t", PrimaryKey: []string{"id"}, Fields: []wire.Field{
	{Name: "id", Type: wire.TypeNumber, Unique: true},
	{Name: "name", Type: wire.TypeString},
	{Name: "amount", Type: wire.TypeDecimal, Nullable: true},
	{Name: "at", Type: wire.TypeDatetime, Nullable: true},
	{Name: "day", Type: wire.TypeDate, Nullable: true},
	{Name: "free", Type: "", Nullable: true},
}}

// claimed asks for rows of the described table, which are answered with these lines of
// cells, one row each, and returns the error.
func claimed(t *testing.T, table *wire.Table, req wire.QueryRequest, served string, rows ...string) error {
	t.Helper()
	var names []string
	for _, name := range req.Fields {
		names = append(names, fmt.Sprintf("%q:%%s", name))
	}
	body := `{"served":` + served + `}` + "\n"
	for _, row := range rows {
		var cells []any
		for cell := range strings.FieldsSeq(row) {
			cells = append(cells, cell)
		}
		body += `{"rows":[{` + fmt.Sprintf(strings.Join(names, ","), cells...) + "}]}\n"
	}
	c := saysNDJSON(t, body+`{"end":1}`)
	var columns []wire.Column
	for _, column := range described.Columns() {
		if slices.Contains(req.Fields, column.Name) {
			columns = append(columns, column)
		}
	}
	answer, err := c.Query(t.Context(), wire.Credentials{}, &req, columns)
	require.NoError(t, err)
	answer.Expect(table)
	for _, failed := range answer.All() {
		err = failed
	}
	return err
}

// TestClaims holds rows against what the connector says of them. What the rules leave
// open is accepted.
func TestClaims(t *testing.T) {
	const yes, no = `{"filters":true,"sort":true,"window":false}`, `{"filters":false,"sort":false,"window":false}`
	f := testkit.Filter
	and := func(filters ...wire.Filter) wire.QueryRequest {
		return wire.QueryRequest{Where: wire.Where{And: filters}}
	}
	or := func(groups ...[]wire.Filter) wire.QueryRequest {
		return wire.QueryRequest{Where: wire.Where{Or: groups}}
	}
	sorted := func(keys ...string) wire.QueryRequest { return wire.QueryRequest{Sort: by(keys...)} }
	either := or([]wire.Filter{f("id", wire.OpEq, wire.Int(9))}, []wire.Filter{f("name", wire.OpEq, wire.Text("a"))})
	joined := wire.QueryRequest{Joins: joins("t", "id", "t", "name")}
	noon, later := wire.Text("2024-05-01T12:00:00.0Z"), wire.Text("2024-05-01T13:00:00Z")
	for _, c := range []struct {
		why, fields string
		req         wire.QueryRequest
		served      string
		rows        string // one after the other, between bars
		place, rule string // empty: accepted
	}{
		{"a row that matches", "id", and(f("id", wire.OpGt, wire.Int(1))), yes, `2 | "3"`, "", ""},
		{"one that does not", "id", and(f("id", wire.OpGt, wire.Int(1))), yes, `2 | 1`, "line 3, rows[0].id", "stream-11"},
		{"no filter is served", "id", and(f("id", wire.OpGt, wire.Int(1))), no, `2 | 1`, "", ""},
		{"equal by digits", "amount", and(f("amount", wire.OpEq, wire.Text("1.5"))), yes, `"1.50" | "01.5"`, "", ""},
		{"null matches no comparator", "amount", and(f("amount", wire.OpNeq, wire.Int(1))), yes, `null`, "line 2, rows[0].amount", "stream-11"},
		{"nin keeps null", "amount", and(f("amount", wire.OpNin, wire.Int(1))), yes, `null`, "", ""},
		{"the second of two filters", "id name", and(f("id", wire.OpGt, wire.Int(0)), f("name", wire.OpEq, wire.Text("a"))), yes,
			`1 "a" | 2 "A"`, "line 3, rows[0].name", "stream-11"},
		{"a filter whose field is not in the row says nothing", "id", and(f("name", wire.OpEq, wire.Text("a"))), yes, `1`, "", ""},
		{"but the others do", "id", and(f("name", wire.OpEq, wire.Text("a")), f("id", wire.OpEq, wire.Int(1))), yes, `2`,
			"line 2, rows[0].id", "stream-11"},
		{"a field without a type says nothing", "free", and(f("free", wire.OpEq, wire.Text("1"))), yes, `"01"`, "", ""},
		{"a group of or holds", "id name", either, yes, `1 "a"`, "", ""},
		{"no group of or holds", "id name", either, yes, `1 "b"`, "line 2, rows[0]", "stream-11"},
		{"a group of or may hold by a field that is not in the row", "id", either, yes, `1`, "", ""},
		{"filter-9: dates as instants", "at", and(f("at", wire.OpEq, noon)), yes, `"2024-05-01T12:00:00Z"`, "", ""},
		{"filter-9: dates as text are left open", "at", and(f("at", wire.OpNeq, noon)), yes, `"2024-05-01T12:00:00Z"`, "", ""},
		{"one date in each reading", "id at", and(f("at", wire.OpNeq, noon), f("at", wire.OpLt, later)), yes, `1 "2024-05-01T12:00:00Z"`, "", ""},
		{"a date that is wrong in both", "at", and(f("at", wire.OpGt, later)), yes, `"2024-05-01T12:00:00Z"`, "line 2, rows[0].at", "stream-11"},

		{"in order", "id", sorted("id"), yes, `1 | 2 | 10`, "", ""},
		{"numbers are not in order as text", "id", sorted("id"), yes, `1 | 10 | 2`, "line 4, rows[0].id", "stream-2"},
		{"descending", "id", sorted("-id"), yes, `3 | 4`, "line 3, rows[0].id", "stream-2"},
		{"no sort is served", "id", sorted("-id"), no, `3 | 4`, "", ""},
		{"nulls are last", "amount", sorted("amount"), yes, `"1" | null | null`, "", ""},
		{"nulls are last in a descending sort too", "amount", sorted("-amount"), yes, `null | "1"`, "line 3, rows[0].amount", "stream-2"},
		{"ties, with spellings", "amount", sorted("amount"), yes, `"1.50" | "1.5" | "1.50"`, "", ""},
		{"the second key of equals", "id amount", sorted("amount", "-id"), yes, `1 "1" | 2 "1.0"`, "line 3, rows[0].id", "stream-2"},
		{"the second key counts among equals only", "id amount", sorted("amount", "-id"), yes, `2 "1" | 1 "1" | 3 "2"`, "", ""},
		{"after a key that is not in the row nothing is known", "id", sorted("amount", "id"), yes, `2 | 1`, "", ""},
		{"a key without a type says nothing", "free", sorted("free"), yes, `"b" | "a"`, "", ""},
		{"text by bytes", "name", sorted("name"), yes, `"Z" | "a" | "é"`, "", ""},
		{"text by a collation", "name", sorted("name"), yes, `"a" | "Z"`, "line 3, rows[0].name", "stream-2"},
		{"dates in time", "at", sorted("at"), yes, `"2024-05-01T12:00:00.5Z" | "2024-05-01T12:00:00Z"`, "line 3, rows[0].at", "stream-2"},
		{"days in time", "day", sorted("-day"), yes, `"2024-05-01" | "2024-05-02"`, "line 3, rows[0].day", "stream-2"},
		{"dates beside other text have no order", "day", sorted("-day"), yes, `"2024-05-01" | "tomorrow"`, "", ""},

		{"a null where there may be one", "amount", wire.QueryRequest{}, no, `null`, "", ""},
		{"a null where there is none", "name", wire.QueryRequest{}, no, `"a" | null`, "line 3, rows[0].name", "discovery-7"},
		{"a key twice, next to each other", "id", wire.QueryRequest{}, no, `1 | 1`, "line 3, rows[0].id", "discovery-10"},
		{"a key twice, apart", "id", wire.QueryRequest{}, no, `1 | 2 | 3 | 1`, "line 5, rows[0].id", "discovery-10"},
		{"a key twice, as a number and its digits", "id", wire.QueryRequest{}, no, `7 | "7"`, "line 3, rows[0].id", "discovery-10"},
		{"whether 1 and 1.0 are one key is left open", "id", wire.QueryRequest{}, no, `1 | "1.0"`, "", ""},
		{"rows without the key", "name", wire.QueryRequest{}, no, `"a" | "a"`, "", ""},
		{"a join repeats keys", "id", joined, no, `1 | 1`, "", ""},
	} {
		req := c.req
		req.Table, req.Fields = "t", strings.Fields(c.fields)
		err := claimed(t, described, req, c.served, strings.Split(c.rows, " | ")...)
		requireFault(t, err, c.place, c.rule, c.why)
		require.NotContains(t, fmt.Sprint(err), "2024", "a cell is not quoted")
	}
}

// TestClaimedKeys tells rows apart by the key that discovery declares, if it does.
func TestClaimedKeys(t *testing.T) {
	const no = `{"filters":false,"sort":false,"window":false}`
	twofold := wire.Table{PrimaryKey: []string{"id", "amount"}, Fields: described.Fields}
	unique := wire.Table{Fields: described.Fields}
	for _, c := range []struct {
		why   string
		table *wire.Table
		rows  []string
		place string
	}{
		{"one field of the key repeats", &twofold, []string{`1 "a" "1"`, `1 "a" "2"`}, ""},
		{"both fields of the key repeat", &twofold, []string{`1 "a" "1"`, `2 "b" "1"`, `1 "c" "1"`}, "line 4, rows[0]"},
		{"a null in a key is equal to no other", &twofold, []string{`1 "a" null`, `1 "a" null`}, ""},
		{"without a primary key, a field that is unique", &unique, []string{`1 "a" "1"`, `1 "a" "2"`}, "line 3, rows[0].id"},
		{"a table without a key", &wire.Table{Fields: []wire.Field{{Name: "id"}}}, []string{`1 "a" "1"`, `1 "a" "1"`}, ""},
		{"nothing is known of the table", nil, []string{`1 "a" "1"`, `1 "a" "1"`}, ""},
	} {
		err := claimed(t, c.table, wire.QueryRequest{Table: "t", Fields: []string{"id", "name", "amount"}}, no, c.rows...)
		rule := ""
		if c.place != "" {
			rule = "discovery-10"
		}
		requireFault(t, err, c.place, rule, c.why)
	}
}

// TestGroups holds groups against each other and against the filters of the request.
func TestGroups(t *testing.T) {
	where := []wire.Filter{{Field: "country", Op: wire.OpNeq, Value: wire.Text("AT")}, {Field: "amount", Op: wire.OpGte, Value: wire.Int(5)},
		// These are of the spelling that the value has in its row.
		testkit.Filter("amount", wire.OpIncludes, wire.Text("x")),
		testkit.Filter("amount", wire.OpContains, wire.Text("x")),
		testkit.Filter("amount", wire.OpStartsWith, wire.Text("x"))}
	req := wire.AggregateRequest{Table: "t", Limit: wire.AggregateLimit, Where: wire.Where{And: where},
		GroupBy: []wire.GroupKey{{Field: "country", As: "c"}, {Field: "day", As: "m", Grain: wire.GrainMonth}},
		Measures: []wire.Measure{{Fn: wire.AggCount, As: "rows"}, {Fn: wire.AggCount, Field: "amount", As: "n"},
			{Fn: wire.AggCountDistinct, Field: "amount", As: "d"}, {Fn: wire.AggMin, Field: "amount", As: "least"},
			{Fn: wire.AggMax, Field: "amount", As: "most"}, {Fn: wire.AggSum, Field: "amount", As: "sum"}}}
	columns := []wire.Column{{Name: "sum", Type: wire.TypeDecimal}, {Name: "c", Type: wire.TypeString}, {Name: "m", Type: wire.TypeDate},
		{Name: "rows"}, {Name: "n"}, {Name: "d"}, {Name: "least", Type: wire.TypeDecimal}, {Name: "most", Type: wire.TypeDecimal}}
	group := func(c, m, rows, n, d, least, most, sum string) string {
		return fmt.Sprintf(`{"c":%s,"m":%s,"rows":%s,"n":%s,"d":%s,"least":%s,"most":%s,"sum":%s}`, c, m, rows, n, d, least, most, sum)
	}
	usual := group(`"DE"`, `"2024-05-01"`, "3", "2", "2", `"5.5"`, `"9"`, `"14.5"`)
	for _, c := range []struct{ why, rows, place, rule string }{
		{"two groups", usual + "," + group(`"DE"`, `"2024-06-01"`, "1", "1", "1", `"7"`, `"7"`, `"7"`), "", ""},
		{"no values", group(`"DE"`, "null", "3", "0", "0", "null", "null", "null"), "", ""},
		{"equal groups", usual + "," + usual, "rows[1]", "aggregate-17"},
		{"equal groups with other numbers", usual + "," + group(`"CH"`, "null", "1", "1", "1", `"7"`, `"7"`, `"7"`) + "," +
			group(`"DE"`, `"2024-05-01"`, "1", "1", "1", `"7"`, `"7"`, `"7"`), "rows[2]", "aggregate-17"},
		{"a key that a filter excludes", group(`"AT"`, "null", "1", "1", "1", `"7"`, `"7"`, `"7"`), "rows[0].c", "aggregate-13"},
		{"null, which no comparator matches", group("null", "null", "1", "1", "1", `"7"`, `"7"`, `"7"`), "rows[0].c", "aggregate-13"},
		{"a minimum that a filter excludes", group(`"DE"`, "null", "2", "2", "2", `"4"`, `"7"`, `"11"`), "rows[0].least", "aggregate-13"},
		{"a group of no rows", group(`"DE"`, "null", "0", "0", "0", "null", "null", "null"), "rows[0].rows", "aggregate-3a"},
		{"more values than rows", group(`"DE"`, "null", "2", "3", "2", `"7"`, `"8"`, `"22"`), "rows[0].n", "aggregate-1"},
		{"more distinct values than values", group(`"DE"`, "null", "9", "2", "3", `"7"`, `"8"`, `"15"`), "rows[0].d", "aggregate-1"},
		{"values without a sum", group(`"DE"`, "null", "2", "2", "2", `"7"`, `"8"`, "null"), "rows[0].sum", "aggregate-1b"},
		{"a maximum of nothing", group(`"DE"`, "null", "2", "0", "0", "null", `"8"`, "null"), "rows[0].most", "aggregate-1b"},
		{"a minimum above the maximum", group(`"DE"`, "null", "2", "2", "2", `"10"`, `"9"`, `"19"`), "rows[0].least", "aggregate-1b"},
	} {
		client := saysJSON(t, `{"rows":[`+c.rows+`]}`)
		_, _, err := client.Aggregate(t.Context(), wire.Credentials{}, &req, columns)
		requireFault(t, err, c.place, c.rule, c.why)
	}
	joined := req
	joined.Joins = joins("t", "id", "t", "id", wire.JoinField{Field: "country"})
	client := saysJSON(t, `{"rows":[`+group(`"AT"`, "null", "1", "1", "1", `"7"`, `"7"`, `"7"`)+`]}`)
	_, _, err := client.Aggregate(t.Context(), wire.Credentials{}, &joined, columns)
	require.NoError(t, err, "a filter is on the base table, and the key may be a joined field")
	client = saysJSON(t, `{"rows":[`+usual+`]}`)
	rows, _, err := client.Aggregate(t.Context(), wire.Credentials{}, &req, columns[:2])
	require.NoError(t, err, "who wants a part of the answer has no groups to compare")
	require.Equal(t, "[[14.5 DE]]", fmt.Sprint(rows))
}
