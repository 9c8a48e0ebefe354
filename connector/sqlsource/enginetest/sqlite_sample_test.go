package enginetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

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
