package mysql

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// BenchmarkRequest measures what a tenant's request costs besides its statement.
//
//	go test -run '^$' -bench Request .
func BenchmarkRequest(b *testing.B) {
	db, own := database(b)
	_, err := db.Exec("CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT)")
	require.NoError(b, err)
	_, err = db.Exec("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
	require.NoError(b, err)
	suite.Request(b, definition, newSource(b, own, nil), credentials(own), func() (*sql.DB, error) { return open(b, own), nil })
}

// TestOneConnection connects once for all that a request asks.
func TestOneConnection(t *testing.T) {
	db, own := database(t)
	for _, statement := range []string{"CREATE TABLE t (id BIGINT PRIMARY KEY)", "CREATE TABLE u (id BIGINT PRIMARY KEY)"} {
		_, err := db.Exec(statement)
		require.NoError(t, err)
	}
	suite.OneConnection(t, definition, sqlsource.MySQL(), opener(own), credentials(own))
}

// TestCase keeps tables apart whose names differ in case, where the server does.
func TestCase(t *testing.T) {
	db, own := database(t)
	var folded int
	require.NoError(t, db.QueryRow("SELECT @@lower_case_table_names").Scan(&folded))
	if folded != 0 {
		t.Skip("this server does not tell t from T")
	}
	for _, statement := range []string{"CREATE TABLE t (id BIGINT PRIMARY KEY)", "CREATE TABLE T (other BIGINT PRIMARY KEY)"} {
		_, err := db.Exec(statement)
		require.NoError(t, err)
	}
	caller := tenant(t, own)
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
