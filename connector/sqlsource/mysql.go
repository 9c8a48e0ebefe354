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
// and collation. DATETIME is read as UTC; so is TIMESTAMP, which is an instant,
// because the session's time zone is set to UTC. Dates with a month or a day of
// zero are null. A FLOAT is read as the double that it is exactly. ZEROFILL is left
// out of numbers. MariaDB's JSON, a LONGTEXT with a check, is json, if the user
// may see the check: the privilege SELECT on the database shows it, one on a table
// may not. What looks inside json is left to the library.
//
// BIT(1) is a boolean. TINYINT(1), which is also what BOOLEAN means, is a number,
// because the type allows all numbers of TINYINT and data that has only 0 and 1
// today may have 2 tomorrow. A TINYINT that CHECK (c IN (0, 1)) keeps from other
// numbers is a boolean, unless it is part of a key. So is one whose
// [ColumnOptions.Type] says so: it is true when it is not 0.
//
// Columns that the user may not read do not exist. Neither do keys with such a
// column.
//
// An index serves comparisons and the first rows of a sort by numbers, dates,
// datetimes, and texts in utf8mb4, utf8mb3 or ascii whose collation ends in _bin.
// Other collations have another order than the platform: they find equal texts, but
// their comparisons and sorts read all rows. Bytes are read as they are, but sorted
// and searched as base64, which takes the server seconds for some megabytes.
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
// cut, keys of a sort cut, text spelled otherwise. The timeout has another name on
// each server, in a comment that only that server executes.
func (mysql) Session(ctx context.Context, q Queryer) error {
	limit := int64(0) // none
	if deadline, ok := ctx.Deadline(); ok {
		limit = max(1, time.Until(deadline).Milliseconds())
	}
	_, err := q.ExecContext(ctx, fmt.Sprintf("SET SESSION time_zone = '+00:00', sql_select_limit = DEFAULT, sql_mode = '', "+
		"max_sort_length = %d /*M!100100 , max_statement_time = %d.%03d */ /*!80000 , max_execution_time = %d */",
		mysqlSortLength, limit/1000, limit%1000, limit))
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
	case "1045", "1044", "1698", "1130", "1227", "1129", "3118", "4151", "1820", "1862":
		return ReasonRejected // 1820 and 1862: the password has expired; 3118 and 4151: the account is locked
	case "1049":
		return ReasonNoDatabase
	case "1146", "1054", "1356":
		return ReasonNoTable
	case "1142", "1143", "1370":
		return ReasonForbidden
	case "1969", "3024", "1317":
		return ReasonTimeout
	case "1205", "1213", "1020", "1412", "1615": // the last three: a table has changed meanwhile
		return ReasonLocked
	case "1040", "1203", "1226":
		return ReasonBusy
	case "1053", "1047", "1152", "1158", "1159", "1160", "1161", "1184", "1927", "4031": // 1047: a node of a cluster that is not ready
		return ReasonStarting
	case "3159":
		return ReasonTLSRequired
	case "1267", "1270", "1271", "1449", "1525", "1172", "1321", "1339", "1792":
		return ReasonData // of a view: its collations, its definer, a value of it; functions that go wrong, or that write
	}
	// The SQLSTATE follows: of the statement and the data alone.
	for _, class := range []string{" (0A", " (21", " (22", " (23", " (42", " (44", " (45"} {
		if strings.HasPrefix(text[len(number):], class) {
			return ReasonData
		}
	}
	return ReasonOther
}
