package enginetest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestReportedValues reads values that programs of other people read wrongly, or failed at,
// and asks for one of them. A tenant verifies each answer against the rows.
func TestReportedValues(t *testing.T) {
	t.Parallel()
	mysql := func(t *testing.T) *database { return &newMySQL(t).database }
	postgres := func(t *testing.T) *database { return &newPostgres(t).database }
	file := func(t *testing.T) *database { return newSQLite(t, "") }
	for _, c := range []struct {
		why    string // datazip-inc/olake#570 and so on: where it was reported
		create func(t *testing.T) *database
		sql    string // of the column v
		values string
		cells  string // of all rows, in their order
		op     wire.Op
		value  wire.Value
		count  int64
	}{
		{"datazip-inc/olake#570: dates of four impossible kinds broke the whole table", mysql, "DATE",
			"'0000-00-00', '2025-00-12', '2025-07-00', '2025-02-31', '2025-02-28'", "null|null|null|null|2025-02-28",
			wire.OpGt, wire.Text("2000-01-01"), 1},
		{"airbytehq/airbyte#16574: a day and a month of the year zero", mysql, "DATE", "'0000-12-19', '0000-00-00'", "0000-12-19|null",
			wire.OpNotNull, wire.Null(), 1},
		{"pingcap/tidb#40488: a FLOAT(5,2) equals no number that is written", mysql, "FLOAT(5,2)", "13.33, 13.34", "13.33|13.34",
			wire.OpEq, wire.Text("13.33"), 1},
		{"matrixorigin/matrixone#7431: 90.01 is greater than 90.01", mysql, "FLOAT(5,2)", "90.012", "90.01", wire.OpGt, wire.Text("90.01"), 0},
		{"ThingEngineer/PHP-MySQLi-Database-Class#751: FLOAT(10,2) rounded to two digits", mysql, "FLOAT(10,2)", "12605.04", "12605.04",
			wire.OpLte, wire.Text("12605.04"), 1},
		{"dbeaver/dbeaver#5376: 11.4 is shown as 11.3999996", postgres, "float4", "11.4, 11.5, 0, 13.1", "11.4|11.5|0|13.1",
			wire.OpEq, wire.Text("13.1"), 1},
		{"hasura/graphql-engine#5092: 500000.5 loses its half", postgres, "float4", "500000.5", "500000.5", wire.OpGt, wire.Text("500000"), 1},
		{"transferwise/pipelinewise-tap-postgres#62: an era, and a year beyond 9999", postgres, "timestamptz",
			"'0001-12-31 23:40:28+00 BC', '15000-12-31 23:40:28+00', '2020-09-02 08:00:00Z'", "null|null|2020-09-02T08:00:00.000000Z",
			wire.OpLt, wire.Text("9999-12-31T23:59:59Z"), 1},
		{"antares-sql/antares#667: a Julian day of an OLE date is taken for seconds", file, "DATETIME",
			"2459067.57491964, 2459067.5", "2459067.57491964|2459067.5", wire.OpGt, wire.Text("2459067.5"), 1},
		{"r-dbi/RSQLite#509: days since 1970 in a DATE column are taken for seconds", file, "DATE", "15403, -268693", "15403|-268693",
			wire.OpLt, wire.Int(0), 1},
		{"r-dbi/RSQLite#439: a text among integers becomes 0", file, "INTEGER", "1, 0, 'not a number'", "1|0|null", wire.OpEq, wire.Int(0), 1},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			db := c.create(t)
			_, err := db.Exec("CREATE TABLE t (id INTEGER PRIMARY KEY, v " + c.sql + ")")
			require.NoError(t, err)
			for i, value := range strings.Split(c.values, ", ") {
				_, err := db.Exec("INSERT INTO t VALUES (" + string(rune('1'+i)) + ", " + value + ")")
				require.NoError(t, err)
			}
			tenant := db.caller(t, nil)
			_, err = tenant.Discover()
			require.NoError(t, err)
			answer, err := tenant.Query(wire.QueryRequest{Table: "t", Fields: []string{"v"}, Sort: []wire.SortKey{{Field: "id", Dir: wire.Asc}}})
			require.NoError(t, err)
			assert.Equal(t, c.cells, strings.Join(spelled(answer.Rows, ""), "|"))
			f := wire.Filter{Field: "v", Op: c.op, Value: c.value}
			n, err := tenant.Count(wire.CountRequest{Table: "t", Where: wire.Where{And: []wire.Filter{f}}})
			require.NoError(t, err)
			assert.Equal(t, c.count, n)
			_, err = tenant.Query(wire.QueryRequest{
				Table: "t", Fields: []string{"v"}, Sort: []wire.SortKey{{Field: "v", Dir: wire.Desc}}, Limit: 9,
			})
			require.NoError(t, err)
		})
	}
}
