// Package mysql is the flavor of MySQL and MariaDB.
package mysql

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Flavor returns the flavor of MySQL 8 and MariaDB 10.5 and later. sqlsource.MySQL says what
// it does.
func Flavor() sqlengine.Flavor {
	f := flavor{}
	return sqlengine.Flavor{
		Name: "MySQL or MariaDB",

		Quote: f.Quote, Param: f.Param, Table: f.Table, Catalog: f.Catalog, Column: f.Column, Window: f.Window,
		Order: f.Order, Includes: f.Includes, HasPrefix: f.HasPrefix, Bucket: f.Bucket, Sum: f.Sum, State: f.State,

		Tx:      &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead},
		Session: prepare,
		Kill:    kill,
		// go-sql-driver takes the challenge of MariaDB's ed25519 for malformed if its last byte is
		// zero, as that of one in 256 is. No password was sent then.
		ConnectAgain: func(err error) bool { return strings.Contains(err.Error(), "malformed packet") },
		HasSchema:    hasSchema,
		Audit:        audit,
		Flat:         true, // Spider sends its shards no aggregates over a derived table
		// Without a limit beyond every table the engine drops the order of a derived table.
		KeepOrder: func(expr string) string { return " ORDER BY " + expr + " LIMIT 9223372036854775807" },
	}
}

// flavor has the functions of the flavor as methods.
type flavor struct{}

func (flavor) Quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func (flavor) Param(int) string { return "?" }

// kill returns the statement that ends what the connection runs.
func kill(ctx context.Context, q sqlengine.Queryer) (string, error) {
	var id int64
	err := q.QueryRowContext(ctx, "SELECT CONNECTION_ID()").Scan(&id)
	return "KILL QUERY " + strconv.FormatInt(id, 10), err
}

// hasSchema reports whether there is a database of this name. A session without a
// database has no default schema.
func hasSchema(ctx context.Context, q sqlengine.Queryer, schema string) (found bool, err error) {
	err = q.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM information_schema.SCHEMATA
		WHERE SCHEMA_NAME = COALESCE(NULLIF(?, ''), DATABASE()))`, schema).Scan(&found)
	return found, err
}

func (f flavor) Table(schema, name string) string {
	if schema == "" {
		return f.Quote(name)
	}
	return f.Quote(schema) + "." + f.Quote(name)
}

func (flavor) Order(expr string, desc, nullable bool) string {
	switch {
	case desc:
		return expr + " DESC" // nulls are lowest, hence last
	case nullable:
		return "(" + expr + ") IS NULL, " + expr
	}
	return expr
}

func (flavor) Window(limit, offset string, _ bool) string {
	if limit == "" {
		limit = "18446744073709551615"
	}
	if offset == "" {
		return " LIMIT " + limit
	}
	return " LIMIT " + limit + " OFFSET " + offset
}

// asBytes returns a placeholder as the bytes of a text, which texts are compared as.
func asBytes(param string) string { return "CAST(" + param + " AS BINARY)" }

func (flavor) Includes(text, param string) string {
	return "LOCATE(" + asBytes(param) + ", " + text + ") > 0"
}

func (flavor) HasPrefix(text, param string, size int) string {
	return "LEFT(" + text + ", " + strconv.Itoa(size) + ") = " + asBytes(param)
}

func (flavor) Bucket(_ *sqlengine.Column, key string, g wire.Grain) string {
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

// sumDigits is the most digits a sum has. The engine gives it 22 more than
// its addends.
const sumDigits = 65

// Sum adds integers and decimals, if their sum has room.
func (flavor) Sum(c *sqlengine.Column, key string) sqlengine.Sum {
	if c.Class != sqlengine.ClassInteger && (c.Class != sqlengine.ClassDecimal || c.Precision+22 > sumDigits) {
		return sqlengine.Sum{}
	}
	return sqlengine.Sum{Exprs: []string{"CAST(SUM(" + key + ") AS CHAR)"}}
}

// driverSays is what go-sql-driver says for itself, with the SQLSTATE that says the same.
var driverSays = []struct{ text, state string }{
	{"server does not support TLS", "08T01"}, {"invalid connection", "08S01"},
	{"malformed packet", "08P01"}, {"commands out of sync", "08P01"}, {"unsupported protocol version", "08P01"},
}

// State reads the number and the SQLSTATE in the error's text: "Error 1045 (28000): ...".
// Of most failures only the number says which it is.
func (flavor) State(err error) string {
	text, ok := strings.CutPrefix(err.Error(), "Error ")
	if !ok {
		for _, known := range driverSays {
			if strings.Contains(text, known.text) {
				return known.state
			}
		}
		return ""
	}
	number := text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
	switch number {
	case "1045", "1044", "1698", "1130", "1227", "1129", "3118", "4151", "1820", "1862":
		return "28000" // 1820 and 1862: the password has expired; 3118 and 4151: the account is locked
	case "1049":
		return "3D000"
	case "1146", "1054", "1356":
		return "42P01"
	case "1142", "1143", "1370":
		return "42501"
	case "1969", "3024", "1317":
		return "57014"
	case "1205", "1213", "1020", "1412", "1615": // the last three: a table has changed meanwhile
		return "40001"
	case "1040", "1203", "1226":
		return "53300"
	case "1053", "1047", "1152", "1158", "1159", "1160", "1161", "1184", "1927", "4031": // 1047: a node of a cluster that is not ready
		return "57P01"
	case "3159":
		return "08004"
	case "1267", "1270", "1271", "1449", "1525", "1172", "1321", "1339", "1792":
		return "42000" // of a view: its collations, its definer, a value of it; functions that go wrong, or that write
	}
	state, _, _ := strings.Cut(strings.TrimPrefix(text[len(number):], " ("), ")")
	for _, class := range []string{"0A", "21", "22", "23", "42", "44", "45"} { // of the statement and the data alone
		if len(state) == 5 && strings.HasPrefix(state, class) {
			return state
		}
	}
	return ""
}
