package suite

import (
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Texts are texts that engines may compare in their own ways.
var Texts = []string{
	"", " ", "a", "A", "a ", "ab", "abc", "é", "e\u0301", "ß", "z", "Z", "%", "a%b", "a_b", "\\", "'", `"`,
	"1", "1.0", "01", "true", "null", "2024-02-29", "😀", "\uffff", "a\nb", "[1]", `["a","b"]`, `["a",1]`,
}

// NULTexts are texts that some engines cannot hold.
var NULTexts = []string{"a\x00b", "\x00"}

// Moments are instants at which time zones and calendars go wrong.
var Moments = []string{
	"2024-02-29T00:00:00Z", "2024-02-28T23:59:59Z", "2023-12-31T23:30:00Z", "2024-01-01T01:00:00Z",
	"2024-03-31T00:59:59Z", "2024-07-01T02:00:00Z",
}

// Literal returns a value in SQL and the cell it must be read as.
func Literal(sql string, cell wire.Value) sqlsourcetest.Literal {
	return sqlsourcetest.Literal{SQL: sql, Cell: cell}
}

// Text returns a value in SQL that must be read as a text.
func Text(sql, text string) sqlsourcetest.Literal { return Literal(sql, wire.Text(text)) }

// literals returns a literal for each of list: quoted in SQL, as a cell.
func literals[T any](list []T, spell func(T) string, cell func(T) wire.Value) []sqlsourcetest.Literal {
	all := make([]sqlsourcetest.Literal, len(list))
	for i, v := range list {
		all[i] = Literal("'"+spell(v)+"'", cell(v))
	}
	return all
}

func same(s string) string { return s }

// Nulls returns values in SQL that must be read as null.
func Nulls(list ...string) []sqlsourcetest.Literal {
	return literals(list, same, func(string) wire.Value { return wire.Null() })
}

// Integers returns integers.
func Integers(list ...int64) []sqlsourcetest.Literal {
	return literals(list, func(n int64) string { return strconv.FormatInt(n, 10) }, wire.Int)
}

// Decimals returns decimals with their scales.
func Decimals(list ...string) []sqlsourcetest.Literal { return literals(list, same, wire.Decimal) }

// Floats returns floats.
func Floats(list ...float64) []sqlsourcetest.Literal {
	return literals(list, func(f float64) string { return strconv.FormatFloat(f, 'e', -1, 64) }, wire.Float)
}

// Days returns dates.
func Days(list ...string) []sqlsourcetest.Literal {
	return literals(list, same, func(s string) wire.Value { return wire.Date(parse(time.DateOnly, s)) })
}

// Instants returns datetimes, in SQL by a layout, as cells of so many digits of
// fraction.
func Instants(layout string, digits int, list ...string) []sqlsourcetest.Literal {
	return literals(list,
		func(s string) string { return Instant(s).Format(layout) },
		func(s string) wire.Value { return wire.DatetimeWidth(Instant(s), digits) })
}

// Instant parses a datetime in UTC.
func Instant(s string) time.Time { return parse(time.RFC3339Nano, s) }

func parse(layout, s string) time.Time {
	at, err := time.Parse(layout, s)
	if err != nil {
		panic(err)
	}
	return at
}

// Quoted returns a text as a literal of standard SQL.
func Quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
