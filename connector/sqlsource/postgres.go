package sqlsource

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// PostgreSQL returns the flavor of PostgreSQL 12 and later, for any driver. With
// pgx, the flavor of package pgxrows reads rows in less processor time.
//
// Every request reads in a read-only transaction, of one snapshot. Discovery
// lists only tables and columns that the user may read.
//
// The session speaks UTF-8 whatever the database's encoding is, for as long as
// the transaction lasts. Text is compared in the order of the bytes of its UTF-8:
// by the collation "C" where that is the same (UTF8, LATIN1 and SQL_ASCII), else
// by what the server converts it to. A database in SQL_ASCII does not know what
// its bytes mean: they are read as UTF-8, and texts that are not UTF-8 are null.
// In other encodings the server refuses to read a text with bytes that have no
// character, such as 0x81 in WIN1252, and so does the request. Filters may have
// characters that the encoding lacks.
//
// Indexes serve filters, sorts and joins, but for these: a sort or a comparison
// by order of a text needs an index with the collation "C", which the column's
// own index has if the column or the database has that collation; other indexes
// serve equality. So it is with char(n), whose index must be of a column with that
// collation. The indexes of enums, intervals and network addresses serve nothing,
// and those of bytea only equality.
//
// A timestamp without time zone is read as UTC. NaN, infinities, and dates
// outside the years 1 to 9999 are null. A real is read as the double that it is
// exactly. A domain is read as its base type, through any number of domains. Types
// without a counterpart, such as interval and inet, are the text that psql shows;
// char(n) is without the blanks at its end. The flavor pushes contains for texts in
// arrays and jsonb. It leaves to the library what asks for a number within an array,
// and what looks inside json, and contains in databases that are not in UTF-8.
func PostgreSQL() Flavor { return postgres{} }

type postgres struct{}

func (postgres) Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func (postgres) Param(n int) string { return "$" + strconv.Itoa(n) }

func (postgres) Tx() *sql.TxOptions {
	return &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
}

// Session sets what the text of some types depends on, and that all texts are
// UTF-8 on their way, whatever the database's encoding is. No statement depends on
// the time zone.
func (postgres) Session(ctx context.Context, q Queryer) error {
	_, err := q.ExecContext(ctx, "SELECT set_config('IntervalStyle', 'postgres', true), set_config('DateStyle', 'ISO', true), "+
		"set_config('extra_float_digits', '1', true), set_config('bytea_output', 'hex', true), set_config('client_encoding', 'UTF8', true)")
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

// TextParam leaves the placeholder the type of what it is compared with: in a
// database that is not in UTF-8, Text is bytes.
func (postgres) TextParam(param string) string { return param }

func (postgres) Includes(text, param string) string {
	if isBytes(text) {
		return "position(" + param + " in " + text + ") > 0"
	}
	return "strpos(" + text + ", " + param + ") > 0"
}

func (postgres) HasPrefix(text, param string, size int) string {
	if isBytes(text) {
		return "substring(" + text + " from 1 for " + strconv.Itoa(size) + ") = " + param
	}
	return "starts_with(" + text + ", " + param + ")"
}

// isBytes reports whether a Text is bytes, as postgresEncoded makes it.
func isBytes(text string) bool { return strings.HasPrefix(text, "convert_to(") }

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
			if text := err.Error(); strings.Contains(text, "pg_hba.conf") &&
				(strings.Contains(text, "no encryption") || strings.Contains(text, "SSL off")) {
				return ReasonTLSRequired // or nobody may connect from here
			}
			return ReasonRejected
		case "3D000", "57P04":
			return ReasonNoDatabase
		case "42P01", "42703", "3F000":
			return ReasonNoTable
		case "42501":
			return ReasonForbidden
		case "57014", "25P03", "25P04":
			return ReasonTimeout
		case "0A000":
			if strings.Contains(err.Error(), "cached plan") { // of a statement that was prepared before a column changed its type
				return ReasonLocked
			}
		case "40001", "40P01", "55P03", "72000": // 40001 is also what a standby says that gives way to its primary
			return ReasonLocked
		case "22P05", "22021":
			return ReasonEncoding
		case "53300":
			return ReasonBusy
		case "57P01", "57P02", "57P03", "57P05", "08000", "08001", "08003", "08006", "08007":
			return ReasonStarting
		case "25006", "55000": // a view that writes, a materialized view that was never filled
			return ReasonData
		default:
			// Of the statement and the data alone: features, cardinality, data, constraints,
			// routines, syntax, raised by a function, limits of the program.
			if slices.Contains([]string{"0A", "21", "22", "23", "2F", "38", "39", "42", "P0", "54"}, code[:min(2, len(code))]) {
				return ReasonData
			}
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
