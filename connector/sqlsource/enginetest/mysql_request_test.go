package enginetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestMySQLCase keeps tables apart whose names differ in case, where the server does.
func TestMySQLCase(t *testing.T) {
	db := newMySQL(t)
	var folded int
	require.NoError(t, db.QueryRow("SELECT @@lower_case_table_names").Scan(&folded))
	if folded != 0 {
		t.Skip("this server does not tell t from T")
	}
	for _, statement := range []string{"CREATE TABLE t (id BIGINT PRIMARY KEY)", "CREATE TABLE T (other BIGINT PRIMARY KEY)"} {
		db.execute(t, statement)
	}
	caller := db.caller(t, nil).Unverified()
	d, err := caller.Discover()
	require.NoError(t, err)
	columns := map[string]string{}
	for _, table := range d.Tables {
		for _, f := range table.Fields {
			columns[table.Name] += f.Name + " "
		}
	}
	require.Equal(t, map[string]string{"t": "id ", "T": "other "}, columns)
	_, err = caller.Query(wire.QueryRequest{Table: "T", Sort: []wire.SortKey{}, Fields: []string{"other"}})
	require.NoError(t, err)
}
