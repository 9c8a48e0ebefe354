package sqlsource

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"strconv"
	"strings"
	"syscall"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// PostgreSQL returns the flavor of PostgreSQL 12 and later, for any driver.
//
// Every request reads in a read-only transaction, of one snapshot. Discovery
// lists only tables and columns that the user may read. Text is compared in the
// collation "C", which is byte order where the database's encoding is UTF8; in a
// database of another encoding the engine compares no text.
//
// A timestamp without time zone is read as UTC. NaN, infinities, and dates
// outside the years 1 to 9999 are null. A real is read as the double that it is
// exactly. Types without a counterpart, such as interval and inet, are the text
// that PostgreSQL makes of them. The flavor pushes contains for texts in arrays
// and jsonb. It leaves to the library what asks for a number within an array, and
// what looks inside json.
func PostgreSQL() Flavor { return postgres{} }

type postgres struct{}

func (postgres) Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func (postgres) Param(n int) string { return "$" + strconv.Itoa(n) }

func (postgres) Tx() *sql.TxOptions {
	return &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
}

// Session sets what the text of some types depends on. No statement depends on
// the time zone.
func (postgres) Session(ctx context.Context, q Queryer) error {
	_, err := q.ExecContext(ctx, "SELECT set_config('IntervalStyle', 'postgres', true), set_config('DateStyle', 'ISO', true)")
	return err
}

func (f postgres) Table(schema, name string) string {
	return f.Quote(or(schema, "public")) + "." + f.Quote(name)
}

// Order leaves nulls where PostgreSQL has them: last when ascending.
func (postgres) Order(expr string, desc, nullable bool) string {
	return orderNullsLast(expr, desc, nullable && desc)
}

func (postgres) Window(limit, offset string) string {
	clause := ""
	if limit != "" {
		clause += " LIMIT " + limit + "::bigint"
	}
	if offset != "" {
		clause += " OFFSET " + offset + "::bigint"
	}
	return clause
}

func (postgres) TextParam(param string) string { return param + `::text` }

func (f postgres) Includes(text, param string) string {
	return "strpos(" + text + ", " + f.TextParam(param) + ") > 0"
}

func (f postgres) HasPrefix(text, param string, _ int) string {
	return "starts_with(" + text + ", " + f.TextParam(param) + ")"
}

func (postgres) Bucket(c *Column, key string, g wire.Grain) string {
	if c.Class == ClassDate {
		key = "(" + key + ")::timestamp"
	}
	return "date_trunc('" + string(g) + "', " + key + ")::date"
}

// Sum adds integers and decimals.
func (postgres) Sum(c *Column, key string) (Sum, bool) {
	if c.Class != ClassInteger && c.Class != ClassDecimal {
		return Sum{}, false
	}
	return exactSum("SUM(" + key + ")::text"), true
}

// Reason reads the SQLSTATE, which the errors of all drivers have.
func (postgres) Reason(err error) Reason {
	var state interface{ SQLState() string }
	if errors.As(err, &state) {
		switch code := state.SQLState(); code {
		case "28000", "28P01":
			return ReasonRejected
		case "3D000":
			return ReasonNoDatabase
		case "42P01", "42703", "3F000":
			return ReasonNoTable
		case "42501":
			return ReasonForbidden
		case "57014", "25P03", "55P03":
			return ReasonTimeout
		case "53300", "57P03":
			return ReasonUnreachable
		}
		return ReasonOther
	}
	return unreachable(err)
}

// unreachable returns ReasonUnreachable for an error that says that nobody
// answers.
func unreachable(err error) Reason {
	var dial *net.OpError
	var name *net.DNSError
	switch {
	case errors.As(err, &dial) && dial.Op == "dial", errors.As(err, &name),
		errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOENT):
		return ReasonUnreachable
	}
	return ReasonOther
}
