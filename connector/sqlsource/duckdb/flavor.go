package duckdb

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Flavor returns the flavor of DuckDB 1.4, for databases that are opened by
// github.com/duckdb/duckdb-go. Open a file with access_mode=READ_ONLY: DuckDB has no
// transactions that only read, and what a file's views may read, they read.
//
// A macro of the database that has the name of a function or an operator of the engine, such as sum
// or "+", changes no answer: while a request lasts, its connection's search_path has the engine's
// functions first. The bodies of views see the macros of their own schema before them, as their
// author does; a macro of another schema is named with that schema, or the engine's is taken.
// A temporary macro, which only the host itself can create, comes before all. Tables of the schema
// main with the name of one of the engine's own views, such as duckdb_tables, are left out, with a
// warning.
func Flavor() sqlengine.Flavor {
	f := flavor{}
	return sqlengine.Flavor{
		Name: "DuckDB",

		Quote: f.Quote, Param: f.Param, Table: f.Table, Catalog: f.Catalog, Column: f.Column, Window: f.Window,
		Includes: f.Includes, HasPrefix: f.HasPrefix, Bucket: f.Bucket, Sum: f.Sum, State: f.State,

		Session:     openSession,
		Restore:     restoreSearch,
		HasSchema:   hasSchema,
		CheapCounts: true,
		JoinKeys:    joinKeys,
		ReadRows:    readRows,
	}
}

// flavor has the functions of the flavor as methods.
type flavor struct{}

func (flavor) Quote(name string) string { return quote(name) }

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func (flavor) Param(n int) string { return "$" + strconv.Itoa(n) }

func hasSchema(ctx context.Context, q sqlengine.Queryer, schema string) (found bool, err error) {
	err = q.QueryRowContext(ctx,
		"SELECT count(*) > 0 FROM duckdb_schemas() WHERE database_name = "+ownDatabase+" AND schema_name = CAST($1 AS VARCHAR)",
		cmp.Or(schema, defaultSchema)).Scan(&found)
	return found, err
}

// Table returns schema and name, without the database: the search path of a session has
// all schemas of the database that was opened.
func (flavor) Table(schema, name string) string {
	return quote(cmp.Or(schema, defaultSchema)) + "." + quote(name)
}

func (flavor) Window(limit, offset string, _ bool) string {
	clause := ""
	if limit != "" {
		clause += " LIMIT CAST(" + limit + " AS BIGINT)"
	}
	if offset != "" {
		clause += " OFFSET CAST(" + offset + " AS BIGINT)"
	}
	return clause
}

func (flavor) Includes(text, param string) string {
	return "contains(" + text + ", CAST(" + param + " AS VARCHAR))"
}

func (flavor) HasPrefix(text, param string, _ int) string {
	return "starts_with(" + text + ", CAST(" + param + " AS VARCHAR))"
}

// Bucket cuts a TIMESTAMP_NS to whole microseconds first, downwards: a cast cuts it
// towards 1970.
func (flavor) Bucket(c *sqlengine.Column, key string, g wire.Grain) string {
	if c.Class == sqlengine.ClassDatetime && c.Precision == nanoseconds {
		cut := "CAST(" + key + " AS TIMESTAMP)"
		key = "CASE WHEN epoch_ns(" + key + ") % 1000 < 0 THEN " + cut + " - INTERVAL 1 MICROSECOND ELSE " + cut + " END"
	}
	return "CAST(date_trunc('" + string(g) + "', " + key + ") AS DATE)"
}
