// Package postgres is the flavor of PostgreSQL.
package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Flavor returns the flavor of PostgreSQL 12 and later. sqlsource.PostgreSQL says what it
// does.
func Flavor() sqlengine.Flavor {
	f := flavor{}
	return sqlengine.Flavor{
		Name: "PostgreSQL",

		Quote: f.Quote, Param: f.Param, Table: f.Table, Catalog: f.Catalog, Column: f.Column, Window: f.Window,
		Order: f.Order, Includes: f.Includes, HasPrefix: f.HasPrefix, Bucket: f.Bucket, Sum: f.Sum, State: f.State,

		Tx:         &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead},
		Session:    prepare,
		HasSchema:  hasSchema,
		Audit:      audit,
		Unnamed:    ", as pgx is told by default_query_exec_mode=cache_describe",
		CellsFirst: true,
	}
}

// flavor has the functions of the flavor as methods.
type flavor struct{}

func (flavor) Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func (flavor) Param(n int) string { return "$" + strconv.Itoa(n) }

func hasSchema(ctx context.Context, q sqlengine.Queryer, schema string) (found bool, err error) {
	err = q.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname::text = $1::text)",
		cmp.Or(schema, "public")).Scan(&found)
	return found, err
}

func (f flavor) Table(schema, name string) string {
	return f.Quote(cmp.Or(schema, "public")) + "." + f.Quote(name)
}

// Order leaves nulls where PostgreSQL has them: last when ascending.
func (flavor) Order(expr string, desc, nullable bool) string {
	switch {
	case desc && nullable:
		return expr + " DESC NULLS LAST"
	case desc:
		return expr + " DESC"
	}
	return expr
}

func (flavor) Window(limit, offset string, _ bool) string {
	clause := ""
	if limit != "" {
		clause += " LIMIT " + limit + "::bigint"
	}
	if offset != "" {
		clause += " OFFSET " + offset + "::bigint"
	}
	return clause
}

func (flavor) Includes(text, param string) string { return "strpos(" + text + ", " + param + ") > 0" }

func (flavor) HasPrefix(text, param string, _ int) string {
	return "starts_with(" + text + ", " + param + ")"
}

func (flavor) Bucket(c *sqlengine.Column, key string, g wire.Grain) string {
	if c.Class == sqlengine.ClassDate {
		key = "(" + key + ")::timestamp"
	}
	return "date_trunc('" + string(g) + "', " + key + ")::date"
}

// Sum adds integers and decimals.
func (flavor) Sum(c *sqlengine.Column, key string) sqlengine.Sum {
	if c.Class != sqlengine.ClassInteger && c.Class != sqlengine.ClassDecimal {
		return sqlengine.Sum{}
	}
	return sqlengine.Sum{Exprs: []string{"SUM(" + key + ")::text"}}
}

// State returns the SQLSTATE that the errors of all drivers have, but where
// PostgreSQL has one for several failures.
func (flavor) State(err error) string {
	var stated interface{ SQLState() string }
	if !errors.As(err, &stated) {
		return saidState(driverSays, err.Error())
	}
	switch state, text := stated.SQLState(), err.Error(); {
	case state == "28000" && strings.Contains(text, "pg_hba.conf") &&
		(strings.Contains(text, "no encryption") || strings.Contains(text, "SSL off")):
		return "08004" // or nobody may connect from here
	case state == "0A000" && strings.Contains(text, "cached plan"): // of a statement that was prepared before a column changed its type
		return "40001"
	case state == "08P01":
		return saidState(poolerSays, text)
	case strings.HasPrefix(state, "XX"), state == "08004":
		return "" // trouble of the server itself
	default:
		return state
	}
}

// said is a text that a failure has, and its SQLSTATE.
type said struct{ text, state string }

// driverSays is what drivers say for themselves.
var driverSays = []said{
	// pgx
	{"server refused TLS connection", "08T01"}, {"unknown message type", "08P01"}, {"invalid body length", "08P01"},
	{"conn closed", "08003"},
	// lib/pq, and pgx in more words
	{"SSL is not enabled on the server", "08T01"}, {"unexpected message", "08P01"},
}

// poolerSays is what PgBouncer says for itself, all by one SQLSTATE that servers have for what
// neither of these is.
var poolerSays = []said{
	{"no such database", "3D000"}, {`database "`, "3D000"}, // does not exist, or is disabled
	{"no such user", "28P01"}, {"authentication failed", "28P01"}, {"auth failed", "28P01"},
	{"no more connections allowed", "53300"}, {"query_wait_timeout", "53300"}, {"too many", "53300"},
	{"server login has been failing", "57P01"}, {"cannot connect to server", "57P01"}, {"server conn crashed", "57P01"},
	{"client_login_timeout", "57P01"}, {"shutting down", "57P01"},
	{"query timeout", "57014"}, {"idle transaction timeout", "57014"},
}

// saidState returns the SQLSTATE of the first text that is found.
func saidState(list []said, text string) string {
	for _, known := range list {
		if strings.Contains(text, known.text) {
			return known.state
		}
	}
	return ""
}
