package enginetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/conformancetest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// sqliteSample has a table of each kind that SQLite knows.
const sqliteSample = `
	CREATE TABLE exact (id INT PRIMARY KEY, n INTEGER NOT NULL, r REAL, t TEXT UNIQUE, b BLOB, a ANY) STRICT;
	INSERT INTO exact VALUES (1, 10, 1.5, 'a', x'00', 'x'), (2, 9, NULL, 'B', x'', 5), (3, -1, 9e999, NULL, NULL, '5');
	CREATE TABLE pairs (k TEXT, l INTEGER, v TEXT COLLATE NOCASE, w TEXT COLLATE RTRIM, PRIMARY KEY (l, k)) WITHOUT ROWID;
	INSERT INTO pairs VALUES ('a', 1, 'x', 'y '), ('A', 1, 'X', 'y'), ('a', 2, NULL, NULL);
	CREATE TABLE tree (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES tree, label TEXT NOT NULL,
		doubled INTEGER AS (id * 2), joined TEXT AS (label || '!') STORED);
	INSERT INTO tree (id, parent, label) VALUES (1, NULL, 'root'), (2, 1, 'left'), (3, 1, 'right'), (4, 3, 'leaf');
	CREATE TABLE "odd ""name"" $1 ?" ("a column" INTEGER PRIMARY KEY, "select" TEXT, "x""y" TEXT, [a.b] REAL);
	INSERT INTO "odd ""name"" $1 ?" VALUES (1, 's', 'q', 0.5);
	CREATE TABLE nullable (k TEXT PRIMARY KEY, v INTEGER);
	INSERT INTO nullable VALUES (NULL, 1), (NULL, 2), ('a', 3);
	CREATE TABLE moments (id INTEGER PRIMARY KEY, at DATETIME, day DATE, julian UNIXEPOCH, epoch UNIX_TIMESTAMP, doc JSON);
	INSERT INTO moments VALUES
		(1, '2024-02-29T10:00:00Z', '2024-02-29', 2460369.5, 1709164800, '{"a":[1,2]}'),
		(2, '2024-02-29 10:00:00.5+01:00', NULL, 2460370.25, 0, '[]'), (3, '2024-03-01', '0001-01-01', NULL, NULL, NULL);
	CREATE VIEW first AS SELECT label, count(*) OVER () AS n, id * 1.5 AS half FROM tree;
	CREATE VIEW second AS SELECT upper(label) AS loud, half, n FROM first WHERE half > 2;
	CREATE VIRTUAL TABLE found USING fts5(title, body);
	INSERT INTO found VALUES ('one', 'a body'), ('two', 'another body');
	CREATE VIRTUAL TABLE boxes USING rtree(id, x0, x1);
	INSERT INTO boxes VALUES (1, 0.5, 1.5), (2, -1, 2);
	CREATE TABLE empty (a TEXT, b)`

// TestSQLiteSample has every table of the sample judged, which asks it on every route,
// and compares its rows with those of SQL by hand.
func TestSQLiteSample(t *testing.T) {
	t.Parallel()
	db := newSQLite(t, sqliteSample)
	tenant := db.caller(t, nil)
	d, err := tenant.Discover()
	require.NoError(t, err)
	tables := byName(d)
	for _, c := range []struct{ table, sql, want string }{
		{"exact", `SELECT id, n, r, t, b, a`, "1,10,1.5,a,AA==,x|2,9,null,B,,5|3,-1,null,null,null,5"},
		{"pairs", `SELECT k, l, v, w`, "A,1,X,y|a,1,x,y |a,2,null,null"},
		{"tree", "", "1,null,root,2,root!|2,1,left,4,left!|3,1,right,6,right!|4,3,leaf,8,leaf!"},
		{`odd "name" $1 ?`, "", "1,s,q,0.5"},
		{"nullable", "", "a,3|null,1|null,2"},
		{"moments", "", "1,2024-02-29T10:00:00Z,2024-02-29,2024-02-29T00:00:00Z,2024-02-29T00:00:00Z,{\"a\":[1,2]}|" +
			"2,2024-02-29T09:00:00.500Z,null,2024-02-29T18:00:00Z,1970-01-01T00:00:00Z,[]|" +
			"3,2024-03-01T00:00:00Z,0001-01-01,null,null,null"},
		{"first", "", "leaf,4,6|left,4,3|right,4,4.5|root,4,1.5"},
		{"second", "", "LEAF,6,4|LEFT,3,4|RIGHT,4.5,4"},
		{"found", "", "one,a body|two,another body"},
		{"boxes", "", "1,0.5,1.5|2,-1,2"},
		{"empty", "", ""},
	} {
		table := tables[c.table]
		if !assert.NotNil(t, table, c.table) {
			continue
		}
		var fields []string
		for _, f := range table.Fields {
			fields = append(fields, f.Name)
		}
		answer, err := tenant.Query(wire.QueryRequest{
			Table: c.table, Sort: []wire.SortKey{{Field: fields[0], Dir: wire.Asc}, {Field: fields[1], Dir: wire.Asc}}, Fields: fields, Limit: 9,
		})
		require.NoError(t, err, c.table)
		assert.Equal(t, c.want, strings.Join(spelled(answer.Rows, ","), "|"), c.table)
	}
	assert.Len(t, tables, 11, "no table of a virtual table's own")
	assert.Equal(t, []string{"id"}, tables["exact"].PrimaryKey)
	assert.Equal(t, []string{"l", "k"}, tables["pairs"].PrimaryKey)
	assert.Empty(t, tables["nullable"].PrimaryKey)
	assert.Equal(t, []wire.ForeignKey{{Field: "parent", TargetTable: "tree", TargetField: "id"}}, tables["tree"].ForeignKeys)
	assert.False(t, tables["exact"].Field("n").Nullable, "a column of a STRICT table")
	for table, types := range map[string]string{
		"second": "string number number", "boxes": "number number number", "found": "string string",
		"moments": "number datetime date datetime datetime json",
	} {
		var got []string
		for _, f := range tables[table].Fields {
			got = append(got, string(f.Type))
		}
		assert.Equal(t, types, strings.Join(got, " "), table)
	}
	skipShort(t)
	target, done := conformance.InProcess(db.handler(t, nil), token)
	defer done()
	conformancetest.Test(t, target, &conformance.Options{Mode: conformance.ModeLive, Requests: 1000})
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
			require.Equal(t, fmt.Sprint(i), string(v.AppendText(nil)), names[i])
		}
	}
}
