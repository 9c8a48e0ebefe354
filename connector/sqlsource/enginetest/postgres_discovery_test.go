package enginetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestPostgresEstimates counts rows by the server's estimate where there are many.
func TestPostgresEstimates(t *testing.T) {
	skipShort(t)
	db := newPostgres(t)
	db.execute(t, `CREATE TABLE large AS SELECT i FROM generate_series(1, 2000001) i; ANALYZE large;
		CREATE VIEW seen AS SELECT 1 AS i; CREATE MATERIALIZED VIEW kept AS SELECT 1 AS i`)
	tables, warnings := db.discover(t, nil, time.Hour)
	assert.InDelta(t, 2_000_001, *tables["large"].RowCount, 100_000)
	assert.Contains(t, warnings, `The row count of the table "large" is the database's estimate, because there are more than 2000000 rows.`)
	assert.True(t, tables["kept"].StoresRows, "a materialized view")
	assert.EqualValues(t, 1, *tables["kept"].RowCount)
	assert.False(t, tables["seen"].StoresRows, "a view")
}

// TestPostgresUnread warns of what the user may not read, and of keys that are left out.
func TestPostgresUnread(t *testing.T) {
	db := newPostgres(t)
	role, reader := db.role(t, "")
	db.execute(t, fmt.Sprintf(`CREATE SCHEMA closed; CREATE TABLE closed.t (id bigint PRIMARY KEY);
		CREATE SCHEMA barren; GRANT USAGE ON SCHEMA barren TO %[1]s; CREATE TABLE barren.t (id bigint);
		CREATE SCHEMA empty; GRANT USAGE ON SCHEMA empty TO %[1]s;
		CREATE TABLE target (id bigint PRIMARY KEY);
		CREATE TABLE secret (id bigint PRIMARY KEY);
		CREATE TABLE parent (id bigint PRIMARY KEY); CREATE TABLE child () INHERITS (parent);
		CREATE TABLE late (id bigint PRIMARY KEY DEFERRABLE);
		CREATE TABLE leads (id bigint, hidden bigint, t bigint REFERENCES target, s bigint REFERENCES secret, c bigint REFERENCES closed.t,
			PRIMARY KEY (id, hidden));
		CREATE VIEW fails AS SELECT 1 / (id - id) AS x FROM leads;
		INSERT INTO leads (id, hidden) VALUES (1, 1);
		GRANT SELECT ON target, parent, child, late, fails TO %[1]s; GRANT SELECT (id, t, s, c) ON leads TO %[1]s`, role))
	for schema, want := range map[string]string{
		"closed": `The user may read no table of the schema "closed": GRANT USAGE ON SCHEMA "closed" to the user, and SELECT on its tables.`,
		"barren": `The user may read no table of the schema "barren": GRANT SELECT ON ALL TABLES IN SCHEMA "barren" to the user.`,
		"empty":  `The schema "empty" has no tables.`,
		"public": `Of the tables and views in the schema "public", 1 are left out because the user may not read them: ` +
			`GRANT SELECT on those that are to be served.
The table "fails" is left out because reading it failed; whoever runs the database can tell why.
In table "late", the primary key ("id") is left out because it is deferrable, so that a transaction may see it broken.
In table "leads", the primary key ("id") is left out because the user may not read all of its columns.
In table "leads", the foreign key ("c") is left out because the table that it leads to is in a schema that is not served.
In table "leads", the foreign key ("s") is left out because the table that it leads to is not in this answer: ` +
			`it does not exist, or the user may not read it.
In table "parent", the primary key ("id") is left out because other tables inherit from the table, and it does not bind their rows.`,
	} {
		t.Run(schema, func(t *testing.T) {
			options := &sqlsource.Options{Schemas: func(wire.Credentials) []string { return []string{schema} }}
			tables, warnings := reader.discover(t, options, time.Hour)
			require.Equal(t, want, warnings)
			require.NotContains(t, tables, "fails")
		})
	}
}

// TestPostgresGranted lists what the user may read and nothing else, and warns of a table
// that the host serves but the user may not read.
func TestPostgresGranted(t *testing.T) {
	db := newPostgres(t)
	role, reader := db.role(t, "")
	db.execute(t, `CREATE TABLE open (id bigint PRIMARY KEY, secret text, shown text, UNIQUE (secret));
		CREATE TABLE closed (id bigint PRIMARY KEY);
		CREATE TABLE child (a bigint, b bigint, PRIMARY KEY (a, b), closed bigint REFERENCES closed, open bigint REFERENCES open);
		COMMENT ON TABLE open IS 'What is open.'; COMMENT ON COLUMN open.shown IS 'What is shown.';
		GRANT SELECT (id, shown) ON open TO `+role+`; GRANT SELECT ON child TO `+role)
	caller := reader.caller(t, &sqlsource.Options{Only: []string{"open", "closed", "child"}})
	d, err := caller.Discover()
	require.NoError(t, err)
	require.Len(t, d.Tables, 2)
	child, open := d.Tables[0], d.Tables[1]
	assert.Equal(t, []string{"a", "b"}, child.PrimaryKey)
	assert.Equal(t, []wire.ForeignKey{{Field: "open", TargetTable: "open", TargetField: "id"}}, child.ForeignKeys)
	assert.Equal(t, "What is open.", open.SourceDescription)
	require.Len(t, open.Fields, 2)
	assert.Equal(t, "What is shown.", open.Fields[1].SourceDescription)
	assert.True(t, open.Fields[0].Unique)
	require.Len(t, d.Warnings, 2)
	assert.Contains(t, d.Warnings[0], `These tables are not in this database, or its user may not read them: "closed".`)
	assert.Contains(t, d.Warnings[1], `In table "child", the foreign key ("closed") is left out`)
	_, err = caller.Size("closed")
	require.Equal(t, wire.CodeUnknownEntity, wire.CodeOf(err))
}

// TestPostgresUnfilled refuses a materialized view that has no rows yet.
func TestPostgresUnfilled(t *testing.T) {
	db := newPostgres(t)
	db.execute(t, "CREATE MATERIALIZED VIEW unfilled AS SELECT 1 AS n WITH NO DATA")
	_, err := db.caller(t, nil).Unverified().Size("unfilled")
	require.Equal(t, wire.CodeUnsupported, code(err), "%v", err)
	require.ErrorContains(t, err, `"unfilled": it has not been filled yet`)
}
