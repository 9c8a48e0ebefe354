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

// rowsIn reads rows of cells, which stand between bars, as the objects that cross the wire.
func rowsIn(names []string, text string) (objects []string) {
	for row := range strings.SplitSeq(text, " | ") {
		members := ""
		for i, cell := range strings.Fields(row) {
			members += fmt.Sprintf(",%q:%s", names[i], cell)
		}
		objects = append(objects, "{"+members[1:]+"}")
	}
	return objects
}

// claimed asks for rows of the described table, in words of a query. They are answered with cells of one row each,
// between bars, and with what was served.
func claimed(t *testing.T, table *wire.Table, words, served, rows string) error {
	t.Helper()
	req := query("t " + words)
	body := `{"served":{"filters":` + served + `,"sort":` + served + `,"window":false}}` + "\n"
	for _, row := range rowsIn(req.Fields, rows) {
		body += `{"rows":[` + row + "]}\n"
	}
	columns := slices.DeleteFunc(described.Columns(), func(c wire.Column) bool { return !slices.Contains(req.Fields, c.Name) })
	answer, err := saysNDJSON(t, body+`{"end":1}`).Query(t.Context(), nobody, req, columns)
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
	for _, c := range testkit.Table(t, "testdata/claims.tsv", 6) {
		why, words, served, rows, place, rule := c[0], c[1], c[2], c[3], c[4], c[5]
		err := claimed(t, described, words, served, rows)
		requireFault(t, err, place, rule, why)
		require.NotContains(t, fmt.Sprint(err), "2024", "a cell is not quoted")
	}
}

// TestClaimedKeys tells rows apart by the key that discovery declares, if it does.
func TestClaimedKeys(t *testing.T) {
	twofold := wire.Table{PrimaryKey: []string{"id", "amount"}, Fields: described.Fields}
	unique := wire.Table{Fields: described.Fields}
	for _, c := range []struct {
		why   string
		table *wire.Table
		rows  string
		place string
	}{
		{"one field of the key repeats", &twofold, `1 "a" "1" | 1 "a" "2"`, ""},
		{"both fields of the key repeat", &twofold, `1 "a" "1" | 2 "b" "1" | 1 "c" "1"`, "line 4, rows[0]"},
		{"a null in a key is equal to no other", &twofold, `1 "a" null | 1 "a" null`, ""},
		{"without a primary key, a field that is unique", &unique, `1 "a" "1" | 1 "a" "2"`, "line 3, rows[0].id"},
		{"a table without a key", &wire.Table{Fields: []wire.Field{{Name: "id"}}}, `1 "a" "1" | 1 "a" "1"`, ""},
		{"nothing is known of the table", nil, `1 "a" "1" | 1 "a" "1"`, ""},
	} {
		err := claimed(t, c.table, "id,name,amount", "false", c.rows)
		requireFault(t, err, c.place, map[bool]string{true: "discovery-10"}[c.place != ""], c.why)
	}
}

// TestGroups holds groups against each other and against the filters of the request.
func TestGroups(t *testing.T) {
	// includes, contains and startswith are of the spelling that the value has in its row.
	req := groups(`t country.neq="AT" amount.gte=5 amount.includes="x" amount.contains="x" amount.startswith="x" by=country:c by=day/month:m` +
		` count():rows count(amount):n count_distinct(amount):d min(amount):least max(amount):most sum(amount):sum limit=1001`)
	columns := []wire.Column{{Name: "sum", Type: wire.TypeDecimal}, {Name: "c", Type: wire.TypeString}, {Name: "m", Type: wire.TypeDate},
		{Name: "rows"}, {Name: "n"}, {Name: "d"}, {Name: "least", Type: wire.TypeDecimal}, {Name: "most", Type: wire.TypeDecimal}}
	asked := func(req *wire.AggregateRequest, columns []wire.Column, rows string) (string, error) {
		list := rowsIn(strings.Fields("c m rows n d least most sum"), rows)
		got, _, err := saysJSON(t, `{"rows":[`+strings.Join(list, ",")+`]}`).Aggregate(t.Context(), nobody, req, columns)
		return fmt.Sprint(got), err
	}
	const usual, more = `"DE" "2024-05-01" 3 2 2 "5.5" "9" "14.5"`, ` | "DE" "2024-05-01" 1 1 1 "7" "7" "7"`
	for _, c := range []struct{ why, rows, place, rule string }{
		{"two groups", usual + ` | "DE" "2024-06-01" 1 1 1 "7" "7" "7"`, "", ""},
		{"no values", `"DE" null 3 0 0 null null null`, "", ""},
		{"equal groups", usual + " | " + usual, "rows[1]", "aggregate-17"},
		{"equal groups with other numbers", usual + ` | "CH" null 1 1 1 "7" "7" "7"` + more, "rows[2]", "aggregate-17"},
		{"a key that a filter excludes", `"AT" null 1 1 1 "7" "7" "7"`, "rows[0].c", "aggregate-13"},
		{"null, which no comparator matches", `null null 1 1 1 "7" "7" "7"`, "rows[0].c", "aggregate-13"},
		{"a minimum that a filter excludes", `"DE" null 2 2 2 "4" "7" "11"`, "rows[0].least", "aggregate-13"},
		{"a group of no rows", `"DE" null 0 0 0 null null null`, "rows[0].rows", "aggregate-3a"},
		{"more values than rows", `"DE" null 2 3 2 "7" "8" "22"`, "rows[0].n", "aggregate-1"},
		{"more distinct values than values", `"DE" null 9 2 3 "7" "8" "15"`, "rows[0].d", "aggregate-1"},
		{"values without a sum", `"DE" null 2 2 2 "7" "8" null`, "rows[0].sum", "aggregate-1b"},
		{"a maximum of nothing", `"DE" null 2 0 0 null "8" null`, "rows[0].most", "aggregate-1b"},
		{"a minimum above the maximum", `"DE" null 2 2 2 "10" "9" "19"`, "rows[0].least", "aggregate-1b"},
	} {
		_, err := asked(req, columns, c.rows)
		requireFault(t, err, c.place, c.rule, c.why)
	}
	joined := *req
	joined.Joins = query("t t.id>t.id>country").Joins
	_, err := asked(&joined, columns, `"AT" null 1 1 1 "7" "7" "7"`)
	require.NoError(t, err, "a filter is on the base table, and the key may be a joined field")
	rows, err := asked(req, columns[:2], usual)
	require.NoError(t, err, "who wants a part of the answer has no groups to compare")
	require.Equal(t, "[[14.5 DE]]", rows)
}
