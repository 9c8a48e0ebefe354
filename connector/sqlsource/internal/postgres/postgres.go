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

// Flavor is the flavor of PostgreSQL 12 and later. sqlsource.PostgreSQL says what it
// does.
type Flavor struct{}

func (Flavor) Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func (Flavor) Param(n int) string { return "$" + strconv.Itoa(n) }

// Capabilities says how a session is prepared, and what the user may not read.
func (Flavor) Capabilities() sqlengine.Capabilities {
	return sqlengine.Capabilities{
		Name:       "PostgreSQL",
		Tx:         &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead},
		Session:    prepare,
		HasSchema:  hasSchema,
		Audit:      audit,
		CellsFirst: true,
	}
}

func hasSchema(ctx context.Context, q sqlengine.Queryer, schema string) (found bool, err error) {
	err = q.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname::text = $1::text)",
		cmp.Or(schema, "public")).Scan(&found)
	return found, err
}

func (f Flavor) Table(schema, name string) string {
	return f.Quote(cmp.Or(schema, "public")) + "." + f.Quote(name)
}

// Order leaves nulls where PostgreSQL has them: last when ascending.
func (Flavor) Order(expr string, desc, nullable bool) string {
	return sqlengine.NullsLast(expr, desc, nullable && desc)
}

func (Flavor) Window(limit, offset string, _ bool) string {
	clause := ""
	if limit != "" {
		clause += " LIMIT " + limit + "::bigint"
	}
	if offset != "" {
		clause += " OFFSET " + offset + "::bigint"
	}
	return clause
}

func (Flavor) Includes(text, param string) string { return "strpos(" + text + ", " + param + ") > 0" }

func (Flavor) HasPrefix(text, param string, _ int) string {
	return "starts_with(" + text + ", " + param + ")"
}

func (Flavor) Bucket(c *sqlengine.Column, key string, g wire.Grain) string {
	if c.Class == sqlengine.ClassDate {
		key = "(" + key + ")::timestamp"
	}
	return "date_trunc('" + string(g) + "', " + key + ")::date"
}

// Sum adds integers and decimals.
func (Flavor) Sum(c *sqlengine.Column, key string) sqlengine.Sum {
	if c.Class != sqlengine.ClassInteger && c.Class != sqlengine.ClassDecimal {
		return sqlengine.Sum{}
	}
	return sqlengine.Sum{Exprs: []string{"SUM(" + key + ")::text"}}
}

// State returns the SQLSTATE that the errors of all drivers have, but where
// PostgreSQL has one for several failures.
func (Flavor) State(err error) string {
	var stated interface{ SQLState() string }
	if !errors.As(err, &stated) {
		return ""
	}
	switch state, text := stated.SQLState(), err.Error(); {
	case state == "28000" && strings.Contains(text, "pg_hba.conf") &&
		(strings.Contains(text, "no encryption") || strings.Contains(text, "SSL off")):
		return "08004" // or nobody may connect from here
	case state == "0A000" && strings.Contains(text, "cached plan"): // of a statement that was prepared before a column changed its type
		return "40001"
	case state == "08P01":
		return poolerState(text)
	case strings.HasPrefix(state, "XX"), state == "08004":
		return "" // trouble of the server itself
	default:
		return state
	}
}

// poolerSays is what PgBouncer says for itself, all by one SQLSTATE that servers have for what
// neither of these is.
var poolerSays = []struct{ text, state string }{
	{"no such database", "3D000"}, {`database "`, "3D000"}, // does not exist, or is disabled
	{"no such user", "28P01"}, {"authentication failed", "28P01"}, {"auth failed", "28P01"},
	{"no more connections allowed", "53300"}, {"query_wait_timeout", "53300"}, {"too many", "53300"},
	{"server login has been failing", "57P01"}, {"cannot connect to server", "57P01"}, {"server conn crashed", "57P01"},
	{"client_login_timeout", "57P01"}, {"shutting down", "57P01"},
	{"query timeout", "57014"}, {"idle transaction timeout", "57014"},
}

// poolerState returns the SQLSTATE of a failure that a pooler tells of.
func poolerState(text string) string {
	for _, known := range poolerSays {
		if strings.Contains(text, known.text) {
			return known.state
		}
	}
	return ""
}
