package enginetest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/pgxrows"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// rowNumbered returns SQLite's flavor with the number of a row for tables without a key, which is
// read as that of the table numbered is.
func rowNumbered() sqlengine.Flavor {
	f := sqlsource.SQLite()
	own := f.Catalog
	f.Catalog = func(ctx context.Context, q sqlengine.Queryer, schema string, names []string) ([]*sqlengine.Table, []string, error) {
		numbered, _, err := own(ctx, q, schema, []string{"numbered"})
		if err != nil {
			return nil, nil, err
		}
		number := numbered[0].Columns[0]
		number.Name = "rowid"
		tables, warnings, err := own(ctx, q, schema, names)
		for _, t := range tables {
			t.RowID = []sqlengine.CatalogColumn{number}
		}
		return tables, warnings, err
	}
	return f
}

// unordered returns a flavor that cannot order one column.
func unordered(f sqlengine.Flavor, name string) sqlengine.Flavor {
	return withColumn(f, func(_ string, c sqlengine.CatalogColumn, column *sqlengine.Column) {
		if c.Name == name {
			column.Class, column.Key, column.Group, column.Tie, column.Index.Stored = sqlengine.ClassOpaque, "", "", "", ""
		}
	})
}

// TestOtherEngines holds SQLite to what engines say of themselves that differ more than
// ours do: the answers are the same, and the statements are as they need them.
func TestOtherEngines(t *testing.T) {
	made := newSQLite(t, `
		CREATE TABLE numbered (id INTEGER PRIMARY KEY, name TEXT);
		INSERT INTO numbered VALUES (3, 'c'), (1, 'a'), (2, 'b');
		CREATE TABLE bag (id INTEGER, name TEXT);
		INSERT INTO bag VALUES (3, 'c'), (1, 'a'), (9223372036854775807, 'b');
		CREATE TABLE twin (id INTEGER, name TEXT);
		INSERT INTO twin VALUES (1, 'x'), (3, 'y')`)
	recorded, log := made.logged(t)
	// asked returns the answer to a request, and the statements about its table.
	asked := func(t *testing.T, f sqlengine.Flavor, line string) (answer, statements string) {
		caller := recorded.with(f).caller(t, nil).Unverified()
		log.take()
		answer = ask(t, caller, line)
		for _, s := range log.take() {
			if strings.Contains(s.query, " t0") {
				statements += s.query + "\n"
			}
		}
		return answer, statements
	}
	const (
		page     = `query {"table": "bag", "fields": ["name"], "offset": 1, "limit": 1}`
		numbered = `query {"table": "numbered", "fields": ["id"], "offset": 1, "limit": 1}`
		joined   = `query {"table": "bag", "sort": [{"field": "name", "dir": "asc"}], "fields": ["name"], "joins": [{"fromTable": "bag",
			"toTable": "twin", "fromField": "id", "toField": "id", "fields": [{"field": "name", "as": "other"}]}]}`
		pairs = "[\"a\", \"x\"]\n[\"b\", null]\n[\"c\", \"y\"]\n"
		sum   = `aggregate {"table": "bag", "measures": [{"fn": "sum", "field": "id", "as": "sum"}]}`
	)
	joinedBy := func(keys func(a, b *sqlengine.Column) (string, string, bool)) sqlengine.Flavor {
		f := sqlsource.SQLite()
		f.JoinKeys = keys
		return f
	}
	noTx, unable := sqlsource.SQLite(), sqlsource.SQLite()
	noTx.NoTx, unable.Sum = true, nil
	overflowing := sqlsource.SQLite() // with the engine's own sum, which fails where it leaves 64 bits
	overflowing.Sum = func(_ *sqlengine.Column, key string) sqlengine.Sum {
		return sqlengine.Sum{Exprs: []string{"SUM(" + key + ")"}}
	}
	state := overflowing.State
	overflowing.State = func(err error) string {
		if strings.Contains(err.Error(), "integer overflow") {
			return "0A000"
		}
		return state(err)
	}
	_, inTx := asked(t, sqlsource.SQLite(), page)
	_, without := asked(t, noTx, page)
	assert.Equal(t, inTx, without, "without transactions, the same statements on a connection")
	for _, c := range []struct {
		why           string
		flavor        sqlengine.Flavor
		line, answer  string
		has, hasNever string // of the statements; empty: anything
	}{
		{"no transactions", noTx, page, "[\"c\"]\n", "", "BEGIN"},
		{"a hidden row number", rowNumbered(), page, "[\"a\"]\n", ` ORDER BY t0."rowid" LIMIT`, ""},
		{"keys that need a cast", joinedBy(func(a, b *sqlengine.Column) (string, string, bool) {
			return "(0 + " + a.Key + ")", b.Key, true
		}), joined, pairs, "(0 + ", ""},
		{"keys that do not compare", joinedBy(func(_, _ *sqlengine.Column) (string, string, bool) {
			return "", "", false
		}), joined, pairs, "", "JOIN"},
		{"a primary key beside a column without an order", unordered(sqlsource.SQLite(), "name"), numbered, "[2]\n",
			` ORDER BY t0."id" LIMIT`, ""},
		{"no key, and a column without an order: the library cuts the page", unordered(sqlsource.SQLite(), "name"), page, "[\"c\"]\n",
			`+t0."id" COLLATE BINARY NULLS LAST`, " LIMIT "},
		{"a sum that overflows", overflowing, sum, "declined\n", "SUM(", ""},
		{"no sum", unable, sum, "declined\n", "", "SUM("},
		{"an exact sum", sqlsource.SQLite(), sum, "[\"9223372036854775811\"]\n", "SUM(", ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			answer, statements := asked(t, c.flavor, c.line)
			assert.Equal(t, c.answer, answer)
			assert.Contains(t, statements, c.has)
			assert.False(t, c.hasNever != "" && strings.Contains(statements, c.hasNever), statements)
		})
	}
}

// TestUnreadable describes a table one value of which cannot be read: it is listed with
// all of its fields, and only what meets the value fails, by a sentence that says where.
func TestUnreadable(t *testing.T) {
	onEach(t, func(t *testing.T, e *engine) { unreadable(t, e.create(t)) })
	t.Run("pgxrows", func(t *testing.T) { unreadable(t, newPostgres(t).with(pgxrows.PostgreSQL())) })
}

func unreadable(t *testing.T, db *database) {
	db.execute(t, "CREATE TABLE odd (id INTEGER PRIMARY KEY, word VARCHAR(20), n INTEGER); "+
		"INSERT INTO odd VALUES (1, 'ok', 5), (2, 'secret', 7), (3, NULL, 9); CREATE TABLE other (id INTEGER PRIMARY KEY)")
	// Its author did not think of a text that is not ok, and fails to read it.
	db = db.with(withColumn(db.flavor, func(ref string, c sqlengine.CatalogColumn, column *sqlengine.Column) {
		if c.Name != "word" {
			return
		}
		column.Class, column.Type = sqlengine.ClassOpaque, wire.TypeString // a driver's own decoder of texts is not asked
		column.Cell, column.Key, column.Tie = "CASE WHEN "+ref+" = 'ok' THEN 1 WHEN "+ref+" = 'secret' THEN 2 END", ref, ""
		column.Decode = func(driver any) (wire.Value, error) {
			v, err := (&sqlengine.Column{Type: wire.TypeNumber, Class: sqlengine.ClassInteger}).Decoder()(driver)
			if err != nil || v.Int64() != 1 {
				return wire.Null(), errors.New("the driver returned something else than ok")
			}
			return wire.Text("ok"), nil
		}
	}))
	tables, warnings := db.discover(t, nil, time.Minute)
	require.Len(t, tables, 2)
	require.Contains(t, warnings, `In table "odd", the field "word" has a value that cannot be read, and a request that meets it fails: `+
		`correct it, or leave the column out.`)
	require.NotContains(t, warnings, "secret")
	require.Equal(t, []wire.Value{wire.Text("ok")}, tables["odd"].Field("word").Samples)
	require.Equal(t, []string{"id"}, tables["odd"].PrimaryKey)
	require.Equal(t, wire.Int(9), *tables["odd"].Field("n").Stats.Max, "what is said of the other fields")
	require.EqualValues(t, 3, *tables["odd"].RowCount)

	tenant := db.caller(t, nil).Unverified()
	const says = `Table "odd" has a value in its field "word" that cannot be read. Correct it, or leave the column out`
	require.Contains(t, ask(t, tenant, `query {"table": "odd", "sort": [{"field": "id", "dir": "asc"}], "fields": ["word"]}`), says)
	require.Equal(t, "[1, 5]\n[2, 7]\n[3, 9]\n", ask(t, tenant, `query {"table": "odd", "fields": ["id", "n"]}`))
	require.Regexp(t, "^declined|"+says, ask(t, tenant, `aggregate {"table": "odd", "measures": [{"fn": "max", "field": "word", "as": "w"}]}`))
}
