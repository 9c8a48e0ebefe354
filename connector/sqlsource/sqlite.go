package sqlsource

import (
	"context"
	"database/sql"
	"math/big"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// SQLite returns the flavor of SQLite 3.37 and later, for any driver.
//
// SQLite's columns have declared types, but each value has a type of its own.
// The flavor reads a column's type off the declared type: one that contains BOOL
// is boolean; JSON json; DATETIME or TIMESTAMP datetime; DATE date; DEC, NUMERIC
// or MONEY decimal; then, as SQLite itself decides, INT number; CHAR, CLOB, TEXT
// or UUID string; BLOB, and none, string; REAL, FLOA or DOUB number.
//
// Values that are not of that type are told apart in every comparison, or looked
// for before one is pushed. If there are any, the library filters and sorts:
//
//   - Dates and datetimes are texts YYYY-MM-DD and YYYY-MM-DD HH:MM:SS with T or
//     a blank, at most nine digits of fraction and perhaps a Z. An integer in
//     such a column is read as seconds since 1970, a real as a Julian day, as
//     SQLite's own functions do.
//   - Decimals are integers, reals, or digits in a column of text affinity, such
//     as DECIMAL_TEXT, which keeps their scale. SQLite has no arithmetic for
//     them, so a sum is declined.
//   - Text that is stored as a blob in a column of text is text.
//
// In a database whose encoding is UTF-16 the engine compares no text.
func SQLite() Flavor { return sqlite{} }

type sqlite struct{}

func (sqlite) Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Param numbers placeholders, so that statements of one shape are one text.
func (sqlite) Param(n int) string { return "?" + strconv.Itoa(n) }

func (sqlite) Tx() *sql.TxOptions { return nil }

// Session does nothing: SQLite has no session time zone, and drivers interrupt a
// statement when its context ends.
func (sqlite) Session(context.Context, Queryer) error { return nil }

func (f sqlite) Table(schema, name string) string {
	return f.Quote(or(schema, "main")) + "." + f.Quote(name)
}

func (sqlite) Order(expr string, desc, nullable bool) string {
	return orderNullsLast(expr, desc, nullable)
}

// orderNullsLast returns a term of ORDER BY in standard SQL.
func orderNullsLast(expr string, desc, nullable bool) string {
	if desc {
		expr += " DESC"
	}
	if nullable {
		expr += " NULLS LAST"
	}
	return expr
}

func (sqlite) Window(limit, offset string) string {
	if limit == "" {
		limit = "-1"
	}
	if offset == "" {
		return " LIMIT " + limit
	}
	return " LIMIT " + limit + " OFFSET " + offset
}

func (sqlite) TextParam(param string) string { return param }

// Includes compares blobs, because text functions stop at a NUL.
func (sqlite) Includes(text, param string) string {
	return "instr(CAST(" + text + " AS BLOB), CAST(" + param + " AS BLOB)) > 0"
}

func (sqlite) HasPrefix(text, param string, size int) string {
	return "substr(CAST(" + text + " AS BLOB), 1, " + strconv.Itoa(size) + ") = CAST(" + param + " AS BLOB)"
}

func (sqlite) Bucket(_ *Column, key string, g wire.Grain) string {
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

// sumBase splits integers for a sum that cannot overflow: SQLite's own fails
// beyond 64 bits.
const sumBase = 1_000_000_000

// Sum adds integers. SQLite would add reals and digits as floats.
func (sqlite) Sum(c *Column, key string) (Sum, bool) {
	if c.Class != ClassInteger && c.Class != ClassMixed {
		return Sum{}, false
	}
	base := strconv.Itoa(sumBase)
	return Sum{
		Exprs: []string{
			"SUM(" + key + " / " + base + ")", "SUM(" + key + " % " + base + ")",
			"MAX(typeof(" + key + ") = 'real')",
		},
		Fold: func(cells []any) (wire.Value, bool) {
			high, ok1 := cells[0].(int64)
			low, ok2 := cells[1].(int64)
			switch {
			case cells[0] == nil:
				return wire.Null(), true
			case !ok1, !ok2, cells[2] != int64(0):
				return wire.Null(), false
			}
			return sumOfParts(high, low), true
		},
	}, true
}

// sumOfParts returns high times sumBase plus low, exactly.
func sumOfParts(high, low int64) wire.Value {
	n := new(big.Int).Mul(big.NewInt(high), big.NewInt(sumBase))
	return wire.Decimal(n.Add(n, big.NewInt(low)).String())
}

// Reason reads the error's text: SQLite's messages are the same in all drivers.
func (sqlite) Reason(err error) Reason {
	text := err.Error()
	for _, r := range []struct {
		text   string
		reason Reason
	}{
		{"no such table", ReasonNoTable}, {"no such column", ReasonNoTable},
		{"unable to open database", ReasonNoDatabase}, {"not a database", ReasonNoDatabase}, {"out of memory (14)", ReasonNoDatabase},
		{"interrupted", ReasonTimeout}, {"database is locked", ReasonTimeout},
	} {
		if strings.Contains(text, r.text) {
			return r.reason
		}
	}
	return ReasonOther
}
