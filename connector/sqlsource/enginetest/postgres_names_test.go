package enginetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestPostgresNamesNotUTF8 serves a database that does not know the encoding of its names:
// what is named in another one is left out, and the rest is served.
func TestPostgresNamesNotUTF8(t *testing.T) {
	db := newPostgres(t, "ENCODING 'SQL_ASCII' LOCALE 'C'")
	db.execute(t, `DO $$
		DECLARE cafe text := convert_from('\x636166e9', 'SQL_ASCII');
		BEGIN
			EXECUTE format('CREATE TYPE %I AS ENUM (''a'')', cafe || 't');
			EXECUTE format('CREATE TABLE %I (id int PRIMARY KEY)', cafe);
			EXECUTE format('CREATE TABLE keyed (%I int PRIMARY KEY, n int UNIQUE)', cafe);
			EXECUTE format('CREATE TABLE t (id int PRIMARY KEY, %I int REFERENCES keyed, m %I, n int REFERENCES keyed (n), o int REFERENCES %I)',
				cafe, cafe || 't', cafe);
			EXECUTE format('COMMENT ON TABLE t IS %L', cafe);
			EXECUTE format('COMMENT ON COLUMN t.n IS %L', cafe);
			EXECUTE format('CREATE SCHEMA %I', cafe);
			EXECUTE format('CREATE TABLE %I.far (id int PRIMARY KEY)', cafe);
			EXECUTE format('ALTER TABLE t ADD p int REFERENCES %I.far', cafe);
			EXECUTE format('CREATE TABLE odd (a int, %I int, PRIMARY KEY (a, %1$I)); CREATE TABLE child (PRIMARY KEY (id)) INHERITS (%1$I)', cafe);
		END $$; INSERT INTO keyed VALUES (1, 2); INSERT INTO t (id, m, n) VALUES (1, 'a', 2)`)
	tenant := db.caller(t, nil)
	require.NoError(t, tenant.Check())
	d, err := tenant.Discover()
	require.NoError(t, err)
	tables := map[string]wire.Table{}
	for _, table := range d.Tables {
		tables[table.Name] = table
	}
	require.Len(t, tables, 4)
	fields := func(name string) (names []string) {
		for _, f := range tables[name].Fields {
			names = append(names, f.Name)
		}
		return names
	}
	assert.Equal(t, []string{"id", "m", "n", "o", "p"}, fields("t"))
	assert.Equal(t, []string{"n"}, fields("keyed"))
	assert.Equal(t, []string{"a"}, fields("odd"))
	assert.Equal(t, []string{"id"}, fields("child"))
	assert.Equal(t, []string{"id"}, tables["t"].PrimaryKey)
	assert.Empty(t, tables["keyed"].PrimaryKey)
	assert.True(t, tables["keyed"].Fields[0].Unique)
	assert.Equal(t, []wire.ForeignKey{{Field: "n", TargetTable: "keyed", TargetField: "n"}}, tables["t"].ForeignKeys)
	const column, why = `, with the keys that have it,`, ` because its name is not valid UTF-8: rename it in the database.`
	for _, want := range []string{
		`The table "caf\xe9" is left out` + why,
		`In table "keyed", the field "caf\xe9" is left out` + column + why,
		`In table "odd", the field "caf\xe9" is left out` + column + why,
		`In table "t", the field "caf\xe9" is left out` + column + why,
		`In table "t", the description of the table is left out because it is not valid UTF-8.`,
		`In table "t", the description of the field "n" is left out because it is not valid UTF-8.`,
	} {
		assert.Contains(t, d.Warnings, want)
	}
	assert.Len(t, d.Warnings, 8, "and the foreign keys to tables that are not listed")
	answer, err := tenant.Query(wire.QueryRequest{
		Table: "t", Where: wire.Where{And: []wire.Filter{{Field: "m", Op: wire.OpEq, Value: wire.Text("a")}}},
		Sort: []wire.SortKey{{Field: "n", Dir: wire.Asc}}, Fields: []string{"id"},
	})
	require.NoError(t, err)
	assert.Equal(t, [][]wire.Value{{wire.Int(1)}}, answer.Rows)
}
