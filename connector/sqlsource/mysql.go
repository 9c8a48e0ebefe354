package sqlsource

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// MySQL returns the flavor of MySQL 8 and MariaDB 10.5 and later, for any driver
// whose connections speak utf8mb4, as github.com/go-sql-driver/mysql's do.
//
// Text is compared as its bytes in utf8mb4, whatever the column's character set
// and collation. TINYINT(1) and BIT(1) are booleans, true when not 0. DATETIME
// is read as UTC; so is TIMESTAMP, which is an instant, because the session's
// time zone is set to UTC. Dates with a month or a day of zero are null. A FLOAT
// is read as the double that it is exactly. MariaDB's JSON, a LONGTEXT with a
// check, is json. What looks inside json is left to the library.
//
// A statement whose context ends is killed on the server, over another
// connection; it also has the context's deadline as its own timeout.
//
// The statements that prepare a session change it until it is closed, so a
// database of the host should be a pool of its own.
func MySQL() Flavor { return mysql{} }

type mysql struct{}

func (mysql) Quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func (mysql) Param(int) string { return "?" }

func (mysql) Tx() *sql.TxOptions {
	return &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}
}

// Session sets UTC, and what else a session's own settings could change: rows
// cut, keys of a sort cut, text spelled otherwise.
func (mysql) Session(ctx context.Context, q Queryer) error {
	settings := "SET SESSION time_zone = '+00:00', sql_select_limit = DEFAULT, sql_mode = '', max_sort_length = " +
		strconv.Itoa(mysqlSortLength)
	var version string
	if err := q.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); err != nil {
		return err
	}
	limit := int64(0) // none
	if deadline, ok := ctx.Deadline(); ok {
		limit = max(1, time.Until(deadline).Milliseconds())
	}
	if strings.Contains(version, "MariaDB") {
		settings += fmt.Sprintf(", max_statement_time = %d.%03d", limit/1000, limit%1000)
	} else {
		settings += fmt.Sprintf(", max_execution_time = %d", limit)
	}
	_, err := q.ExecContext(ctx, settings)
	return err
}

// mysqlSortLength is how many bytes of a key the engine compares when it sorts.
// More would take more memory than a server gives a session. The engine does not
// sort by a column with longer values.
const mysqlSortLength = 3072

// Kill returns the statement that ends what the connection runs.
func (mysql) Kill(ctx context.Context, q Queryer) (string, error) {
	var id int64
	err := q.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&id)
	return "KILL QUERY " + strconv.FormatInt(id, 10), err
}

func (f mysql) Table(schema, name string) string {
	if schema == "" {
		return f.Quote(name)
	}
	return f.Quote(schema) + "." + f.Quote(name)
}

func (mysql) Order(expr string, desc, nullable bool) string {
	switch {
	case desc:
		return expr + " DESC" // nulls are lowest, hence last
	case nullable:
		return "(" + expr + ") IS NULL, " + expr
	}
	return expr
}

func (mysql) Window(limit, offset string) string {
	if limit == "" {
		limit = "18446744073709551615"
	}
	if offset == "" {
		return " LIMIT " + limit
	}
	return " LIMIT " + limit + " OFFSET " + offset
}

func (mysql) TextParam(param string) string { return "CAST(" + param + " AS BINARY)" }

func (f mysql) Includes(text, param string) string {
	return "LOCATE(" + f.TextParam(param) + ", " + text + ") > 0"
}

func (f mysql) HasPrefix(text, param string, size int) string {
	return "LEFT(" + text + ", " + strconv.Itoa(size) + ") = " + f.TextParam(param)
}

func (mysql) Bucket(_ *Column, key string, g wire.Grain) string {
	switch g {
	case wire.GrainYear:
		return "DATE_FORMAT(" + key + ", '%Y-01-01')"
	case wire.GrainQuarter:
		return "CONCAT(DATE_FORMAT(" + key + ", '%Y-'), ELT(QUARTER(" + key + "), '01', '04', '07', '10'), '-01')"
	case wire.GrainMonth:
		return "DATE_FORMAT(" + key + ", '%Y-%m-01')"
	}
	return "DATE_FORMAT(" + key + ", '%Y-%m-%d')"
}

// mysqlSumDigits is the most digits a sum has. The engine gives it 22 more than
// its addends.
const mysqlSumDigits = 65

// Sum adds integers and decimals, if their sum has room.
func (mysql) Sum(c *Column, key string) (Sum, bool) {
	if c.Class != ClassInteger && (c.Class != ClassDecimal || c.Precision+22 > mysqlSumDigits) {
		return Sum{}, false
	}
	return exactSum("CAST(SUM(" + key + ") AS CHAR)"), true
}

// Reason reads the number in the error's text: "Error 1045 (28000): ...".
func (mysql) Reason(err error) Reason {
	text, ok := strings.CutPrefix(err.Error(), "Error ")
	if !ok {
		return unreachable(err)
	}
	number := text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
	switch number {
	case "1045", "1044", "1698", "1130", "1227":
		return ReasonRejected
	case "1049":
		return ReasonNoDatabase
	case "1146", "1054", "1356":
		return ReasonNoTable
	case "1142", "1143", "1370":
		return ReasonForbidden
	case "1969", "3024", "1317", "1205":
		return ReasonTimeout
	case "1040", "1203":
		return ReasonUnreachable
	}
	return ReasonOther
}
