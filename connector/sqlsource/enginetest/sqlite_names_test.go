package enginetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestSQLiteNameless serves what has a name: tables and columns whose names are empty or
// not UTF-8 are left out, unless the host names them.
func TestSQLiteNameless(t *testing.T) {
	db := newSQLite(t, `
		CREATE TABLE "" (id INTEGER PRIMARY KEY);
		CREATE TABLE t (id INTEGER PRIMARY KEY, "" INTEGER UNIQUE, n INTEGER REFERENCES t (""));
		CREATE TABLE keyed ("" TEXT NOT NULL, b TEXT NOT NULL, PRIMARY KEY ("", b)) WITHOUT ROWID;
		CREATE TABLE only ("" TEXT);
		CREATE VIEW v AS SELECT id AS "", id AS n FROM t;
		INSERT INTO t VALUES (1, 7, 7), (2, 8, NULL); INSERT INTO only VALUES ('x');`+
		"CREATE TABLE \"caf\xe9\" (id INTEGER PRIMARY KEY); CREATE TABLE c (id INTEGER PRIMARY KEY, \"caf\xe9\" INTEGER REFERENCES t (id))")
	tenant := db.caller(t, nil)
	require.NoError(t, tenant.Check())
	d, err := tenant.Discover()
	require.NoError(t, err)
	fields := map[string][]string{}
	for _, table := range d.Tables {
		names := []string{}
		for _, f := range table.Fields {
			names = append(names, f.Name)
		}
		fields[table.Name] = names
	}
	assert.Equal(t, map[string][]string{"t": {"id", "n"}, "keyed": {"b"}, "only": {}, "v": {"n"}, "c": {"id"}}, fields)
	const empty, bytes = " because its name is empty: name it in the options of this connector.",
		" because its name is not valid UTF-8: rename it in the database."
	for _, want := range []string{
		`The table "" is left out` + empty,
		`The table "caf\xe9" is left out` + bytes,
		`In table "t", the field "" is left out, with the keys that have it,` + empty,
		`In table "c", the field "caf\xe9" is left out, with the keys that have it,` + bytes,
	} {
		assert.Contains(t, d.Warnings, want)
	}
	answer, err := tenant.Query(wire.QueryRequest{Table: "t", Sort: []wire.SortKey{{Field: "n", Dir: wire.Asc}}, Fields: []string{"id"}})
	require.NoError(t, err)
	assert.Equal(t, [][]wire.Value{{wire.Int(1)}, {wire.Int(2)}}, answer.Rows)
	n, err := tenant.Count(wire.CountRequest{Table: "only"})
	require.NoError(t, err)
	assert.Equal(t, int64(1), n)
	_, err = tenant.Size("")
	assert.Equal(t, wire.CodeUnknownEntity, wire.CodeOf(err))

	named := db.caller(t, &sqlsource.Options{Tables: map[string]sqlsource.TableOptions{
		"":  {Name: "nameless"},
		"t": {Columns: map[string]sqlsource.ColumnOptions{"": {Name: "number"}}},
	}})
	_, err = named.Discover()
	require.NoError(t, err)
	answer, err = named.Query(wire.QueryRequest{
		Table: "t", Where: wire.Where{And: []wire.Filter{{Field: "number", Op: wire.OpEq, Value: wire.Int(8)}}},
		Sort: []wire.SortKey{{Field: "number", Dir: wire.Desc}}, Fields: []string{"id"},
	})
	require.NoError(t, err)
	assert.Equal(t, [][]wire.Value{{wire.Int(2)}}, answer.Rows)
	size, err := named.Size("nameless")
	require.NoError(t, err)
	assert.Equal(t, &wire.Size{Rows: 0, Exact: true}, size)
}
