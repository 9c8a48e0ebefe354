// Package sqlite is the flavor of SQLite.
package sqlite

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Flavor returns the flavor of SQLite 3.37 and later. sqlsource.SQLite says what it does.
func Flavor() sqlengine.Flavor {
	f := flavor{}
	return sqlengine.Flavor{
		Name: "SQLite",

		Quote: f.Quote, Param: f.Param, Table: f.Table, Catalog: f.Catalog, Column: f.Column, Window: f.Window,
		Includes: f.Includes, HasPrefix: f.HasPrefix, Bucket: f.Bucket, Sum: f.Sum, State: f.State,

		Session:      prepare,
		HasSchema:    hasSchema,
		DistinctMany: distinctMany,
		Once:         " LIMIT -1",
	}
}

// flavor has the functions of the flavor as methods.
type flavor struct{}

func (flavor) Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Param numbers placeholders, so that statements of one shape are one text.
func (flavor) Param(n int) string { return "?" + strconv.Itoa(n) }

// hasSchema reports whether there is a schema of this name. Temporary tables have one
// once there is a temporary table.
func hasSchema(ctx context.Context, q sqlengine.Queryer, schema string) (found bool, err error) {
	err = q.QueryRowContext(ctx, "SELECT ?1 = 'temp' OR EXISTS (SELECT 1 FROM pragma_database_list WHERE name = ?1)",
		cmp.Or(schema, "main")).Scan(&found)
	return found, err
}

// distinctMany sorts the values. SQLite's COUNT(DISTINCT) puts them into a tree,
// one by one, which is slow once it does not fit the cache.
func distinctMany(expr, from string) string {
	return "(SELECT COUNT(k) FROM (SELECT " + expr + " AS k FROM " + from + " GROUP BY 1))"
}

func (f flavor) Table(schema, name string) string {
	return f.Quote(cmp.Or(schema, "main")) + "." + f.Quote(name)
}

func (flavor) Window(limit, offset string, _ bool) string {
	if limit == "" {
		limit = "-1"
	}
	if offset == "" {
		return " LIMIT " + limit
	}
	return " LIMIT " + limit + " OFFSET " + offset
}

// Includes and HasPrefix hold in any encoding of the database, and for texts with
// a NUL, at which most functions stop.
func (flavor) Includes(text, param string) string { return "instr(" + text + ", " + param + ") > 0" }

func (flavor) HasPrefix(text, param string, _ int) string {
	part := "CAST(" + param + " AS BLOB)"
	return "substr(CAST(" + text + " AS BLOB), 1, length(" + part + ")) = " + part
}

// Bucket cuts the text of a datetime, which its Guard has shown to begin with its day.
func (flavor) Bucket(c *sqlengine.Column, key string, g wire.Grain) string {
	if c.Class == sqlengine.ClassDatetime {
		key = c.Index.Stored
	}
	switch g {
	case wire.GrainYear:
		return "substr(" + key + ", 1, 4) || '-01-01'"
	case wire.GrainQuarter:
		month := "CAST(substr(" + key + ", 6, 2) AS INTEGER)"
		return "substr(" + key + ", 1, 5) || substr('010101040404070707101010', " + month + " * 2 - 1, 2) || '-01'"
	case wire.GrainMonth:
		return "substr(" + key + ", 1, 7) || '-01'"
	}
	return "substr(" + key + ", 1, 10)"
}

// failures are what SQLite's messages say, which are the same in all drivers, with the
// SQLSTATE that says the same. The first that an error has counts.
var failures = []struct{ text, state string }{
	{"no such table", "42P01"}, {"no such column", "42P01"},
	{"malformed JSON", "22032"}, {"integer overflow", "22003"}, {"too big", "54000"},
	{"SQL logic error", "42000"}, {"no such ", "42000"}, {"circularly defined", "42000"},
	{"unable to open database", "3D000"}, {"out of memory (14)", "3D000"},
	{"not a database", "XX001"}, {"disk image is malformed", "XX001"},
	{"interrupted", "57014"}, {"database is locked", "55P03"}, {"database table is locked", "55P03"},
	{"database schema is locked", "55P03"}, {"database schema has changed", "55P03"}, {"locking protocol", "55P03"},
}

// State reads the error's text.
func (flavor) State(err error) string {
	text := err.Error()
	for _, f := range failures {
		if strings.Contains(text, f.text) {
			return f.state
		}
	}
	return ""
}
