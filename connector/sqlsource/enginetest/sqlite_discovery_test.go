package enginetest

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestSQLiteLate answers a discovery whose time is over while it reads the catalog: what it
// has read is listed, and one warning names the rest.
func TestSQLiteLate(t *testing.T) {
	const over = "The time of this discovery was over before these tables were "
	for _, c := range []struct {
		why, statement string // the 16th that has this text takes all the time
		tables, looked int
		warning        string
	}{
		{"the pragmas", "pragma_table_xinfo(?1, ?2) WHERE hidden", 16, 0,
			over + `described, so they are left out: "t16", "t17", "t18", "t19", "t20", "t21", "t22", "t23", "t24", "t25" and 4 more. `},
		{"the first rows", "WHEN 'blob' THEN x'00'", 30, 15,
			over + `read in full, so they are listed as the catalog of the database has them, without statistics, ` +
				`without keys that only their rows prove, and perhaps without samples: ` +
				`"t00", "t01", "t02", "t03", "t04", "t05", "t06", "t07", "t08", "t09" and 20 more. `},
	} {
		t.Run(c.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := newSQLite(t, "")
				for i := range 30 {
					db.execute(t, fmt.Sprintf("CREATE TABLE t%02d (id INT NOT NULL PRIMARY KEY, day DATE, t00 INT REFERENCES t00)", i)+
						fmt.Sprintf("; INSERT INTO t%02d VALUES (1, '2024-01-01 10:00:00', 1)", i))
				}
				seen := 0
				slow := *db
				slow.DB = sqlsourcetest.Intercept(db.driver, func(text string, _ []driver.NamedValue) error {
					if strings.Contains(text, c.statement) {
						if seen++; seen == 16 {
							time.Sleep(9100 * time.Millisecond) // of ten seconds, one is kept for the answer
						}
					}
					return nil
				})
				defer func() { require.NoError(t, slow.Close()) }()
				tables, warnings := slow.discover(t, nil, 10*time.Second)
				require.Len(t, tables, c.tables)
				assert.Equal(t, c.warning+"Allow the discovery more time, or serve fewer tables.", strings.Split(warnings, "\n")[0])
				for i := range c.tables {
					table := tables[fmt.Sprintf("t%02d", i)]
					want := wire.TypeDatetime // as the rows have it
					if i >= c.looked {
						want = wire.TypeDate
					}
					assert.Equal(t, want, table.Field("day").Type, table.Name)
					assert.Empty(t, table.PrimaryKey, "a key whose values nobody looked at")
					assert.Empty(t, table.ForeignKeys, "a key that was not checked")
				}
				assert.NotContains(t, warnings, "foreign key", "the one warning says it")
			})
		})
	}
}

// TestSQLiteWideTypes describes and reads tables of as many columns as SQLite allows.
func TestSQLiteWideTypes(t *testing.T) {
	t.Parallel()
	skipShort(t)
	for _, n := range []int{900, 2000} {
		columns, values := make([]string, n), make([]string, n)
		for i := range columns {
			columns[i], values[i] = fmt.Sprintf("c%d %s", i, []string{"INTEGER", "TEXT", "", "REAL"}[i%4]), fmt.Sprint(i)
		}
		db := newSQLite(t, "CREATE TABLE wide ("+strings.Join(columns, ", ")+
			"); INSERT INTO wide VALUES ("+strings.Join(values, ", ")+")")
		// Thousands of expressions take a busy machine minutes under the race detector.
		const long = 20 * time.Minute
		options := &sqlsource.Options{Profile: -1}
		tables, _ := db.discover(t, options, long)
		require.Len(t, tables, 1, "%d columns", n)
		fields := tables["wide"].Fields
		require.Len(t, fields, n)
		for i, want := range []wire.Type{wire.TypeNumber, wire.TypeString, wire.TypeNumber, wire.TypeNumber} {
			assert.Equal(t, want, fields[n-4+i].Type)
		}
		names := make([]string, n)
		for i, f := range fields {
			names[i] = f.Name
		}
		answer, err := db.caller(t, options).Unverified().Query(wire.QueryRequest{
			Table: "wide", Sort: []wire.SortKey{}, Fields: names, Envelope: wire.Envelope{TimeoutMS: long.Milliseconds()},
		})
		require.NoError(t, err)
		require.Len(t, answer.Rows, 1)
		for i, v := range answer.Rows[0] {
			require.Equal(t, fmt.Sprint(i), v.String(), names[i])
		}
	}
}
