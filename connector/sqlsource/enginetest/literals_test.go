package enginetest

import (
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// commonTexts are texts that engines may compare in their own ways.
var commonTexts = []string{
	"", " ", "a", "A", "a ", "ab", "abc", "é", "e\u0301", "ß", "z", "Z", "%", "a%b", "a_b", "\\", "'", `"`,
	"1", "1.0", "01", "true", "null", "2024-02-29", "😀", "\uffff", "a\nb", "[1]", `["a","b"]`, `["a",1]`,
}

// nulTexts are texts that some engines cannot hold.
var nulTexts = []string{"a\x00b", "\x00"}

// commonMoments are instants at which time zones and calendars go wrong.
var commonMoments = []string{
	"2024-02-29T00:00:00Z", "2024-02-28T23:59:59Z", "2023-12-31T23:30:00Z", "2024-01-01T01:00:00Z",
	"2024-03-31T00:59:59Z", "2024-07-01T02:00:00Z",
}

// literal returns a value in SQL and the cell it must be read as.
func literal(sql string, cell wire.Value) sqlsourcetest.Literal {
	return sqlsourcetest.Literal{SQL: sql, Cell: cell}
}

// text returns a value in SQL that must be read as a text.
func text(sql, text string) sqlsourcetest.Literal { return literal(sql, wire.Text(text)) }

// literals returns a literal for each of list: quoted in SQL, as a cell.
func literals[T any](list []T, spell func(T) string, cell func(T) wire.Value) []sqlsourcetest.Literal {
	all := make([]sqlsourcetest.Literal, len(list))
	for i, v := range list {
		all[i] = literal("'"+spell(v)+"'", cell(v))
	}
	return all
}

func same(s string) string { return s }

// nulls returns values in SQL that must be read as null.
func nulls(list ...string) []sqlsourcetest.Literal {
	return literals(list, same, func(string) wire.Value { return wire.Null() })
}

// integers returns integers.
func integers(list ...int64) []sqlsourcetest.Literal {
	return literals(list, func(n int64) string { return strconv.FormatInt(n, 10) }, wire.Int)
}

// decimals returns decimals with their scales.
func decimals(list ...string) []sqlsourcetest.Literal { return literals(list, same, wire.Decimal) }

// floats returns floats.
func floats(list ...float64) []sqlsourcetest.Literal {
	return literals(list, func(f float64) string { return strconv.FormatFloat(f, 'e', -1, 64) }, wire.Float)
}

// singles returns floats of 32 bits, whose cells have the shortest digits of that width.
func singles(list ...float32) []sqlsourcetest.Literal {
	return literals(list, func(f float32) string { return strconv.FormatFloat(float64(f), 'e', -1, 32) }, func(f float32) wire.Value {
		wide, _ := strconv.ParseFloat(strconv.FormatFloat(float64(f), 'g', -1, 32), 64)
		return wire.Float(wide)
	})
}

// days returns dates.
func days(list ...string) []sqlsourcetest.Literal {
	return literals(list, same, func(s string) wire.Value { return wire.Date(parse(time.DateOnly, s)) })
}

// instants returns datetimes, in SQL by a layout, as cells of so many digits of
// fraction.
func instants(layout string, digits int, list ...string) []sqlsourcetest.Literal {
	return literals(list,
		func(s string) string { return instant(s).Format(layout) },
		func(s string) wire.Value { return wire.DatetimeWidth(instant(s), digits) })
}

// instant parses a datetime in UTC.
func instant(s string) time.Time { return parse(time.RFC3339Nano, s) }

func parse(layout, s string) time.Time {
	at, err := time.Parse(layout, s)
	if err != nil {
		panic(err)
	}
	return at
}

// quoted returns a text as a literal of standard SQL.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
