package sqlsource

import (
	"context"
	"database/sql"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// SQLite returns the flavor of SQLite 3.37 and later, for any driver.
//
// SQLite's columns have declared types, but each value has a type of its own.
// The flavor reads a column's type off the declared type: one that contains BOOL
// is boolean; JSON json; ARRAY array; DATETIME or TIMESTAMP datetime; DATE date;
// DEC, NUMERIC or MONEY decimal; UUID, GUID, UNIQUEIDENTIFIER or STRING string;
// then, as SQLite itself decides, INT number; CHAR, CLOB or TEXT string; BLOB or
// BINARY string, as base64; REAL, FLOA, DOUB or NUMBER number, and so is NUM.
//
// The first 100 rows decide where the declared type says nothing, as ANY and that
// of most expressions of a view, and where it is wrong, that is, where most of
// their values do not fit it: the column is number if they are numbers, base64 if
// they are blobs, datetime if a DATE column holds datetimes, else string. Each
// request looks at these rows. A view whose first rows take more than two seconds
// has strings where its types are not declared.
// [ColumnOptions] fixes a type.
//
// A value that does not fit the type of its column is null, on every route, and
// discovery warns of it. So is a text or a blob in a column of numbers, a text
// that is no date in a column of dates, a text in a column of blobs, and an
// infinity. In a column of text, a number is the text of its digits, and a blob is
// null. A primary key is not declared if a value of it would be null, or if the
// wire does not tell its values apart. A text that is not valid UTF-8 makes its
// row fail.
//
// What fits:
//
//   - A boolean is an integer, of which 0 is false. A date is the text of a day,
//     YYYY-MM-DD. JSON is a text that json_valid accepts, or a number.
//   - A datetime is a text YYYY-MM-DD or YYYY-MM-DD HH:MM:SS, with T or a blank,
//     and perhaps a fraction and an offset from UTC; an integer, as seconds since
//     1970; a real, as a Julian day (but SQLite stores a whole one, of noon, as
//     an integer). Those with an offset, with more than nine
//     digits of fraction, and numbers are looked for before datetimes are
//     compared. If there are any, the library filters and sorts.
//   - A decimal is an integer, a real, or digits in a column of text affinity,
//     such as DECIMAL_TEXT, which keeps their scale. The engine compares texts of
//     at most 15 digits. A sum is exact where every number is a decimal of at most
//     6 digits of fraction and 15 digits in all; otherwise it is declined.
//   - A real in a column of text is looked for, because SQLite spells its digits
//     otherwise. If there is one, the library filters and sorts.
//
// SQLite enforces foreign keys only for connections that ask for it, so discovery
// counts the values that break them.
//
// An index serves if it begins with the column and has the collation BINARY: for
// ranges, the first rows of a sort, minima and maxima of numbers, texts and dates.
// One instant has many spellings, so for datetimes an index narrows a range to
// days, and a sort or a maximum reads the whole column. A CHECK constraint proves
// nothing, because a connection may ignore it.
//
// In a database whose encoding is UTF-16 the engine compares and sorts no text.
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

// Includes and HasPrefix hold in any encoding of the database, and for texts with
// a NUL, at which most functions stop.
func (sqlite) Includes(text, param string) string { return "instr(" + text + ", " + param + ") > 0" }

func (sqlite) HasPrefix(text, param string, _ int) string {
	part := "CAST(" + param + " AS BLOB)"
	return "substr(CAST(" + text + " AS BLOB), 1, length(" + part + ")) = " + part
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

// Reason reads the error's text: SQLite's messages are the same in all drivers.
func (sqlite) Reason(err error) Reason {
	text := err.Error()
	for _, r := range []struct {
		text   string
		reason Reason
	}{
		{"no such table", ReasonNoTable}, {"no such column", ReasonNoTable},
		{"SQL logic error", ReasonData}, {"no such ", ReasonData}, {"circularly defined", ReasonData}, {"malformed JSON", ReasonData},
		{"integer overflow", ReasonData}, {"string or blob too big", ReasonData},
		{"unable to open database", ReasonNoDatabase}, {"out of memory (14)", ReasonNoDatabase},
		{"not a database", ReasonNotDatabase}, {"disk image is malformed", ReasonNotDatabase},
		{"integer overflow", ReasonData}, {"malformed JSON", ReasonData}, {"too big", ReasonData},
		{"interrupted", ReasonTimeout}, {"database is locked", ReasonLocked}, {"database table is locked", ReasonLocked},
		{"database schema is locked", ReasonLocked}, {"database schema has changed", ReasonLocked}, {"locking protocol", ReasonLocked},
	} {
		if strings.Contains(text, r.text) {
			return r.reason
		}
	}
	return ReasonOther
}
