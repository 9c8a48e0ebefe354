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

// prepare sets what the text of some types depends on, and that all texts are
// UTF-8 on their way, whatever the database's encoding is. No statement depends on
// the time zone.
func prepare(ctx context.Context, q sqlengine.Queryer) error {
	_, err := q.ExecContext(ctx, "SELECT set_config('IntervalStyle', 'postgres', true), set_config('DateStyle', 'ISO', true), "+
		"set_config('extra_float_digits', '1', true), set_config('bytea_output', 'hex', true), set_config('client_encoding', 'UTF8', true)")
	return err
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
	case strings.HasPrefix(state, "XX"), state == "08004", state == "08P01":
		return "" // of the server itself: for whoever runs it
	default:
		return state
	}
}
