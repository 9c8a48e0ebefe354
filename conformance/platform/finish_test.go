package platform_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/casetest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestWork says of each part of a query whether the connector or this side has done
// it.
func TestWork(t *testing.T) {
	t.Parallel()
	const words = `orders id status.eq="paid" orders.customer_id>customers.id>name:customer sort=-total offset=1 limit=3`
	for _, c := range []struct {
		name      string
		connector connectorCase
		query     string
		want      string
	}{
		{"all is served", connectorCases[0], words, "F S W 1 3"},
		{"nothing is asked, and both tables are read", connectorCases[1], words, "F S W filtered sorted windowed joined 2 70"},
		{"nothing is served", connectorCases[2], words, "F filtered sorted windowed 1 48"},
		{"no window", connectorCases[0], "orders id", "F S W 1 48"},
		{"a window that stops the reading", connectorCases[1], "orders id offset=2 limit=3", "F S W windowed 1 5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			answer := testkit.Must(connectTo(t, c.connector.build(), nil).Query(t.Context(), query(c.query)))(t)
			for range 2 { // each reading asks again
				counted(t, answer.All())
				assert.Equal(t, c.want, workOf(answer.Stats))
			}
		})
	}
}

// TestTies sorts rows here by a field that repeats. The table's key orders the rest,
// wherever it stands among the fields, so that pages fit together.
func TestTies(t *testing.T) {
	t.Parallel()
	conn := connectTo(t, tabled(numbered(6, true), "sort=none"), nil)
	rows, _ := answered(t, conn, "query numbered text,id sort=half")
	require.Equal(t, "[[row 6 6] [null 4] [row 5 5] [row 2 2] [row 3 3] [null 1]]", rows)
}

// TestJoinedNames joins a field under the name of a base field by which this side
// filters. On the wire it has another name.
func TestJoinedNames(t *testing.T) {
	t.Parallel()
	conn, r := recording(t, everything("-eq"))
	country := func(as string) *wire.QueryRequest {
		return query(fmt.Sprintf(`orders id status.eq="paid" orders.customer_id>customers.id>country:%[1]s,name:%[1]s_2,id:%[1]s_4`+
			` sort=id limit=2`, as))
	}
	rows, columns, err := casetest.Rows(t.Context(), conn, country("status"))
	require.NoError(t, err)
	require.Equal(t, []string{"id", "status", "status_2", "status_4"}, columns)
	plain := rowsOf(t, connectTo(t, connectorCases[0].build(), nil), country("land"))
	require.Equal(t, fmt.Sprint(plain), fmt.Sprint(rows))
	joined := fmt.Sprint(r.asked(t)[0].body.Joins)
	for _, name := range []string{"as:status_3 field:country", "as:status_2 field:name", "as:status_4 field:id"} {
		require.Contains(t, joined, name, "no two names on the wire are the same")
	}
}

// TestRefusedRequests asks what the discovered tables cannot answer. The connector
// never sees it.
func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	conn, r := recording(t, connectorCases[0].build())
	for _, c := range testkit.Table(t, "testdata/refused.tsv", 2) {
		problem, words := c[0], c[1]
		_, _, err := ask(t, conn, question(words))
		require.ErrorAs(t, err, new(*platform.RequestError), words)
		require.ErrorContains(t, err, problem)
	}
	require.Empty(t, r.asked(t))
}

// TestBudget asks for more than may be kept in memory. The refusal names the
// budget.
func TestBudget(t *testing.T) {
	t.Parallel()
	conn := connectTo(t, built(nothing, undeclared), &platform.ConnectionOptions{Budget: 20_000})
	answered(t, conn, "query many id")                   // rows that pass through are not kept
	answered(t, conn, "query many id sort=-id limit=10") // nor is more than the window
	for words, problem := range map[string]string{
		"query many id sort=-id":              `the rows to sort need % bytes; ask for fewer with a limit, or filter more`,
		"query orders id orders.id>many.id":   `the joined rows of table "many" need % bytes; join a smaller table`,
		"aggregate many count_distinct(id):n": `the groups and distinct values of table "many" need % bytes; group by fewer or coarser fields`,
		"cardinality many id":                 `the distinct values of table "many" need % bytes; count fewer columns at once`,
		"linkHitRate orders.id>many.id":       `the distinct values of column "id" of table "many" need % bytes; measure a smaller table`,
	} {
		_, _, err := ask(t, conn, question(words))
		require.ErrorIs(t, err, platform.ErrBudget)
		require.EqualError(t, err, strings.Replace(problem, "%", "more than the budget of 20000", 1))
	}
}

// TestBrokenReadings asks questions whose rows break off, by an error line and by the
// end of the connection. None is answered from the rows that came.
func TestBrokenReadings(t *testing.T) {
	t.Parallel()
	h := tabled(numbered(9, true), "-operators sort=none -join -offset -/count -/aggregate -/size -/cardinality -/linkHitRate")
	asks := []func(*platform.Connection) error{
		func(c *platform.Connection) error { _, err := c.Top(t.Context(), perID, nil, 1); return err },
		func(c *platform.Connection) error { _, err := entityOf(c, "numbered").Grain(t.Context()); return err },
	}
	for _, words := range []string{"query numbered id", "query numbered id sort=id limit=1", "query numbered id numbered.id>numbered.id",
		"query numbered id id.gt=0 limit=2", "query numbered id offset=1 limit=2", "count numbered", "size numbered",
		"cardinality numbered id", "linkHitRate numbered.id>numbered.id", "aggregate numbered by=id:k count():n"} {
		asks = append(asks, func(c *platform.Connection) error { _, _, err := ask(t, c, question(words)); return err })
	}
	for ending, want := range map[string]error{
		`{"error":{"code":"timeout","message":"no row for 30 seconds"}}` + "\n": &wire.Error{Code: wire.CodeTimeout}, "": io.ErrUnexpectedEOF,
	} {
		conn := connectTo(t, testkit.OnPath(h, wire.PathQuery, testkit.NDJSON(`{"rows":[{"id":1,"half":1,"text":null}]}`+"\n"+ending)), nil)
		for i, ask := range asks {
			require.ErrorIs(t, ask(conn), want, i)
		}
	}
}

// TestFilteringKeepsNothing filters rows here, and allocates for the lines but not for the rows.
func TestFilteringKeepsNothing(t *testing.T) {
	const lines, rows = 40, 5000
	h := tabled(numbered(1, false), "-operators")
	var cells []string
	for i := range rows {
		cells = append(cells, fmt.Sprintf(`{"half":%d,"text":"row %d"}`, i%1000, i))
	}
	line := `{"rows":[` + strings.Join(cells, ",") + "]}\n"
	conn := connectTo(t, testkit.OnPath(h, wire.PathQuery, testkit.NDJSON(strings.Repeat(line, lines)+`{"end":1}`+"\n")), nil)
	read := func() {
		answer := testkit.Must(conn.Query(t.Context(), query("numbered half,text half.gte=500")))(t)
		require.Equal(t, int64(lines*rows/2), counted(t, answer.All()))
	}
	require.Less(t, testing.AllocsPerRun(1, read), lines*rows/10.0, "allocations for 200,000 rows")
}

// staff is a table that refers to itself, with keys of both kinds.
func staff(t testing.TB, words string) http.Handler {
	people := cells.TableOf(t, "people", `id:number*! boss:number? boss_text:string? name:string
		| 1 null null "Ada" | 2 1 "1" "Bo" | 3 2 "02" "Cy" | 4 9 "1.0" "Di" | 5 1 "1" "Ed"`)
	people.ForeignKeys = []wire.ForeignKey{{Field: "boss", TargetTable: "people", TargetField: "id"}}
	return several(words, people)
}

// TestJoinedRowsBeyondTheLimit does not take the base table's number of rows for
// that of the joined ones.
func TestJoinedRowsBeyondTheLimit(t *testing.T) {
	t.Parallel()
	h := bodies(staff(t, "rowsPerTableMax=5"), func(path string, body map[string]any) {
		if path == wire.PathQuery {
			body["limit"] = 5 // a source that reads no further
		}
	})
	_, _, err := casetest.Rows(t.Context(), connectTo(t, h, nil), query("people id people.id>people.boss"))
	require.ErrorIs(t, err, platform.ErrReach, "there are six joined rows of five people")
}
