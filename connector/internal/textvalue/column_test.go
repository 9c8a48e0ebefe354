package textvalue_test

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// plain returns cells of CSV; the empty one is null.
func plain(texts ...string) (values []textvalue.Raw) {
	for _, text := range texts {
		if text == "" {
			values = append(values, textvalue.Raw{Kind: textvalue.Null})
		} else {
			values = append(values, textvalue.Raw{Text: text, Kind: textvalue.Plain})
		}
	}
	return values
}

// read returns JSON values; the empty text is an absent one.
func read(t *testing.T, texts ...string) []textvalue.Raw {
	t.Helper()
	values := make([]textvalue.Raw, len(texts))
	for i, text := range texts {
		if text != "" {
			r := textvalue.Reader{MaxDepth: terms.MaxDepth}
			r.Reset(text)
			values[i] = r.Value(1)
			r.End()
			require.NoError(t, r.Err(), text)
		}
	}
	return values
}

// spelled returns a cell as it crosses the wire.
func spelled(t *testing.T, v wire.Value) string {
	t.Helper()
	text, err := v.AppendJSON(nil)
	require.NoError(t, err)
	return string(text)
}

// all lists the texts of a test, which are separated by " | ".
func all(texts string) []string {
	if texts == "" {
		return nil
	}
	return strings.Split(texts, " | ")
}

// TestColumns infers the type of a column from its values, and converts each.
func TestColumns(t *testing.T) {
	files, apis, documents := textvalue.Files, textvalue.APIs, textvalue.Documents
	commas := textvalue.Rules{HandWritten: true, DecimalComma: true}
	deep := strings.Repeat("[", terms.MaxDepth) + strings.Repeat("]", terms.MaxDepth)
	deepObject := strings.Repeat(`{"a":`, terms.MaxDepth-1) + "{}" + strings.Repeat("}", terms.MaxDepth-1)
	long := "0.1000000000000000055511151231257827"
	for _, c := range []struct {
		why   string
		rules textvalue.Rules
		csv   bool
		cells string
		typ   wire.Type
		wire  string
	}{
		{"whole numbers", files, true, "1 | -20 | 0 | 300", "number", "1 | -20 | 0 | 300"},
		{"an empty cell is null and says nothing of the type", files, true, "1 |  | 3", "number", "1 | null | 3"},
		{"integers beyond 2^53 stay exact, as digits in a string (cell-1)", files, true,
			"9007199254740991 | 9007199254740992 | -9007199254740993", "number",
			`9007199254740991 | "9007199254740992" | "-9007199254740993"`},
		{"so do those beyond 64 bits", files, true, "1 | 123456789012345678901234567890", "number", `1 | "123456789012345678901234567890"`},
		{"minus zero is zero (filter-6)", files, true, "-0 | 1", "number", "0 | 1"},
		{"a fraction makes a decimal, its scale kept (cell-1b)", files, true, "1.50 | 10.250 | -0.5", "decimal", `"1.50" | "10.250" | "-0.5"`},
		{"whole numbers among decimals", files, true, "1 | 1.5", "decimal", `"1" | "1.5"`},
		{"digits no float holds", files, true, long, "decimal", `"` + long + `"`},
		{"digits with a leading zero are a code", files, true, "007 | 123", "string", `"007" | "123"`},
		{"also behind a minus", files, true, "-01", "string", `"-01"`},
		{"and before a fraction", files, true, "01.5", "string", `"01.5"`},
		{"zero alone is no leading zero", files, true, "0 | 0.5", "decimal", `"0" | "0.5"`},
		{"a plus sign may begin a telephone number", files, true, "+5 | +491701234567", "string", `"+5" | "+491701234567"`},
		{"an exponent may be a part number", files, true, "1e5 | 12E5", "string", `"1e5" | "12E5"`},
		{"digits on both sides of a dot, or it is no number (filter-6a)", files, true, ".5 | 5. | -", "string", `".5" | "5." | "-"`},
		{"no digit is a letter", files, true, "2 | 3 | 4 | 5 | 6 | 7 | 8 | 9", "number", "2 | 3 | 4 | 5 | 6 | 7 | 8 | 9"},
		{"a comma before the fraction, where that is stated", commas, true, "1,50 | 2", "decimal", `"1.50" | "2"`},
		{"a dot could then mean thousands", commas, true, "1.500", "string", `"1.500"`},
		{"and a second comma too", commas, true, "1,500,000", "string", `"1,500,000"`},
		{"digits in groups are text", files, true, "1,000 | 2", "string", `"1,000" | "2"`},
		{"one word among numbers makes text, and loses nothing", files, true, "1 | n/a | 2.50", "string", `"1" | "n/a" | "2.50"`},
		{"NaN is a text", files, true, "NaN | 1", "string", `"NaN" | "1"`},
		{"truths in the spellings of programs", files, true, "true | FALSE | True | TRUE | false | False", "boolean",
			"true | false | true | true | false | false"},
		{"ones and zeros are numbers", files, true, "1 | 0", "number", "1 | 0"},
		{"a truth among numbers is text", files, true, "true | 1", "string", `"true" | "1"`},
		{"yes and no are text", files, true, "yes | no", "string", `"yes" | "no"`},
		{"dates", files, true, "2024-02-29 | 0001-01-01", "date", `"2024-02-29" | "0001-01-01"`},
		{"a day no calendar has is a text", files, true, "2023-02-29 | 2024-01-01", "string", `"2023-02-29" | "2024-01-01"`},
		{"days of other conventions are text", files, true, "31.12.2024 | 12/31/2024", "string", `"31.12.2024" | "12/31/2024"`},
		{"times come in UTC with a Z (cell-2a)", files, true, "2024-01-01T10:00:00+02:00 | 2024-01-01T10:00:00Z | 2024-01-01 10:00",
			"datetime", `"2024-01-01T08:00:00Z" | "2024-01-01T10:00:00Z" | "2024-01-01T10:00:00Z"`},
		{"one width for the column, so that byte order is time order (cell-2b)", files, true,
			"2024-01-01T10:00:00.5Z | 2024-01-01T10:00:00Z", "datetime", `"2024-01-01T10:00:00.500Z" | "2024-01-01T10:00:00.000Z"`},
		{"four digits take the width of six", files, true, "2024-01-01T10:00:00.1234Z", "datetime", `"2024-01-01T10:00:00.123400Z"`},
		{"nine digits are the most", files, true, "2024-01-01T10:00:00.123456789Z", "datetime", `"2024-01-01T10:00:00.123456789Z"`},
		{"more would be cut, so they are text", files, true, "2024-01-01T10:00:00.1234567891Z", "string", `"2024-01-01T10:00:00.1234567891Z"`},
		{"unless they are zeros", files, true, "2024-01-01T10:00:00.12345678900Z", "datetime", `"2024-01-01T10:00:00.123456789Z"`},
		{"a date among times is its midnight (filter-9)", files, true, "2024-01-01 | 2024-01-01T10:00:00Z", "datetime",
			`"2024-01-01T00:00:00Z" | "2024-01-01T10:00:00Z"`},
		{"a null among times", files, true, "2024-01-01T10:00:00Z | ", "datetime", `"2024-01-01T10:00:00Z" | null`},
		{"a year before 0 in UTC has no spelling", files, true, "0000-01-01T00:00:00+01:00", "string", `"0000-01-01T00:00:00+01:00"`},
		{"arrays, compact (cell-3)", files, true, `[1, "a"] | []`, "array", `"[1,\"a\"]" | "[]"`},
		{"objects", files, true, `{"a": 1} | [1]`, "json", `"{\"a\":1}" | "[1]"`},
		{"brackets that are no JSON are text as it stands", files, true, `[draft] x | [1, 2] | {a}`, "string",
			`"[draft] x" | "[1, 2]" | "{a}"`},
		{"nor is JSON that is read in two ways", files, true, `{"a":1,"a":2}`, "string", `"{\"a\":1,\"a\":2}"`},
		{"brackets that are no JSON, alone", files, true, "[draft]", "string", `"[draft]"`},
		{"text behind JSON", files, true, `{"a":1} x`, "string", `"{\"a\":1} x"`},
		{"the deepest array", files, true, deep, "array", `"` + deep + `"`},
		{"one that is deeper", files, true, "[" + deep + "]", "string", `"[` + deep + `]"`},
		{"the deepest object", files, true, deepObject, "json", strconv.Quote(deepObject)},
		{"one that is deeper", files, true, `{"a":` + deepObject + "}", "string", strconv.Quote(`{"a":` + deepObject + "}")},
		{"nothing but nulls", files, true, " | ", "string", "null | null"},

		{"JSON numbers as they are written", files, false, "1 | -2", "number", "1 | -2"},
		{"an integer beyond 2^53 keeps its digits, though it was a number", files, false, "9007199254740993", "number", `"9007199254740993"`},
		{"a fraction of JSON", files, false, "1.5 | 2", "decimal", `"1.5" | "2"`},
		{"an exponent is a float, and says so for the column", files, false, "1.5e-7 | 0.25 | 1e3", "number", `"0.00000015" | 0.25 | 1000`},
		{"a fraction that no float has keeps its digits among floats", files, false, "1e3 | " + long, "number", `1000 | "` + long + `"`},
		{"as do digits before an exponent", files, false, "1.00000000000000000001e3", "number", `"1000.00000000000000001"`},
		{"a number that cannot be spelled is text", files, false, "1e999 | 1", "string", `"1e999" | "1"`},
		{"also alone", files, false, "1e999", "string", `"1e999"`},
		{"for an API a mixture with it", apis, false, "1e999 | 1", "json", `"1e999" | "1"`},
		{"a string of digits is a text: its author could have written a number", files, false, `"1" | "2.50"`, "string", `"1" | "2.50"`},
		{"a string true is a text too", files, false, `"true"`, "string", `"true"`},
		{"JSON has no dates, so strings are looked at", files, false, `"2024-01-01"`, "date", `"2024-01-01"`},
		{"and no times", files, false, `"2024-01-01T10:00:00.5+02:00" | "2024-01-01"`, "datetime",
			`"2024-01-01T08:00:00.500Z" | "2024-01-01T00:00:00.000Z"`},
		{"truths of JSON", files, false, "true | false", "boolean", "true | false"},
		{"numbers and strings are text as they were written", files, false, `1.50 | "x" | true`, "string", `"1.50" | "x" | "true"`},
		{"for an API they are JSON", apis, false, `1.50 | "x" | true`, "json", `"1.50" | "\"x\"" | "true"`},
		{"texts and dates are texts, also for an API", apis, false, `"0017" | "2024-05-01"`, "string", `"0017" | "2024-05-01"`},
		{"the empty string is a value (measure-1), unlike an empty CSV cell", files, false, `"" | null`, "string", `"" | null`},
		{"an absent member is null", files, false, "1 | ", "number", "1 | null"},
		{"arrays of JSON, compact", files, false, `[1, [2] , {"a" : null}] | []`, "array", `"[1,[2],{\"a\":null}]" | "[]"`},
		{"objects of JSON, compact", files, false, `{"a": 1.50}`, "json", `"{\"a\":1.50}"`},
		{"arrays and objects", files, false, `{} | []`, "json", `"{}" | "[]"`},
		{"objects and strings are text", files, false, `{"a": 1} | "x"`, "string", `"{\"a\":1}" | "x"`},
		{"a blank for the T is for what people write", documents, false, `"2024-01-01 10:00"`, "string", `"2024-01-01 10:00"`},
		{"a comma and the hour 24 are not", documents, false, `"2024-01-01T10:00:00,5Z" | "2024-01-01T24:00"`, "datetime",
			`"2024-01-01T10:00:00.500Z" | "2024-01-02T00:00:00.000Z"`},
		{"a time that no cell holds exactly is a text", apis, false, `"2016-12-31T23:59:60Z"`, "string", `"2016-12-31T23:59:60Z"`},
	} {
		t.Run(c.why, func(t *testing.T) {
			values := plain(all(c.cells)...)
			if !c.csv {
				values = read(t, all(c.cells)...)
			}
			mixture := wire.TypeString
			if c.rules == apis {
				mixture = wire.TypeJSON
			}
			var class textvalue.Class
			width := 0
			for _, v := range values {
				one, digits := c.rules.Classify(v)
				class |= one
				width = max(width, (digits+2)/3*3)
			}
			assert.Equal(t, c.typ, class.Type(mixture))
			var got []string
			for _, v := range values {
				cell, err := c.rules.Value(v, c.typ, width)
				require.NoError(t, err, "a type that was inferred holds every value")
				got = append(got, spelled(t, cell))
			}
			assert.Equal(t, all(c.wire), got)
		})
	}
}

// TestValue converts single values to declared types.
func TestValue(t *testing.T) {
	const csv = "csv "
	zeros := strings.Repeat("0", 400)
	deep := strings.Repeat("[", terms.MaxDepth) + strings.Repeat("]", terms.MaxDepth)
	commas := textvalue.Rules{DecimalComma: true}
	for _, c := range []struct {
		rules textvalue.Rules
		value string // JSON, or "csv " and a cell
		typ   wire.Type
		want  string // "": an error
	}{
		{textvalue.Files, csv + "007", "number", "7"},
		{textvalue.Files, csv + "+5", "number", "5"},
		{textvalue.Files, csv + "-0012", "number", "-12"},
		{textvalue.Files, csv + "1.5e3", "number", "1500"},
		{textvalue.Files, csv + "2E-7", "number", `"0.0000002"`},
		{textvalue.Files, csv + "1e+2", "number", "100"},
		{textvalue.Files, csv + "1.50", "number", "1.5"},
		{textvalue.Files, csv + "7.0", "number", "7"},
		{textvalue.Files, csv + "-0.0", "number", "0"},
		{textvalue.Files, csv + "1.00000000000000000001", "number", `"1.00000000000000000001"`},
		{textvalue.Files, csv + "1e1.5", "number", ""},
		{textvalue.Files, csv + "1e", "number", ""},
		{textvalue.Files, csv + "1e+", "number", ""},
		{textvalue.Files, csv + "1e999", "number", ""},
		{textvalue.Files, csv + "1e99999999999999999999", "number", ""},
		{textvalue.Files, csv + "x", "number", ""},
		{textvalue.Files, csv + "1x", "number", ""},
		{textvalue.Files, csv + "1:", "number", ""},
		{textvalue.Files, csv + "1234567890123456.00", "number", "1234567890123456"},
		{textvalue.Files, csv + "1234567890.12345600", "number", "1234567890.123456"},
		{commas, csv + "1,5", "number", "1.5"},
		{commas, csv + "1.5", "number", ""},
		{commas, `1.5`, "number", "1.5"},
		{textvalue.Files, csv + "+-1", "number", ""},
		{textvalue.Files, csv + "-", "number", ""},
		{textvalue.Files, csv + ".5", "number", ""},
		{textvalue.Files, csv + "-5.", "number", ""},
		{textvalue.Files, csv + "1.2.3", "number", ""},
		{textvalue.Files, csv + "-00.50", "number", "-0.5"},
		{textvalue.Files, csv + "-0.0", "number", "0"},
		{textvalue.Files, csv + "1", "decimal", `"1"`},
		{textvalue.Files, csv + "+02", "decimal", `"2"`},
		{textvalue.Files, csv + "00.50", "decimal", `"0.50"`},
		{textvalue.Files, csv + "1e3", "decimal", `"1000"`},
		{textvalue.Files, csv + "1", "boolean", "true"},
		{textvalue.Files, csv + "0", "boolean", "false"},
		{textvalue.Files, csv + "2", "boolean", ""},
		{textvalue.Files, `1`, "boolean", ""},
		{textvalue.Files, `"1"`, "boolean", ""},
		{textvalue.Files, `"TRUE"`, "boolean", ""},
		{textvalue.Files, `"true"`, "boolean", "true"},
		{textvalue.Files, `[1]`, "number", ""},
		{textvalue.Files, `true`, "decimal", ""},
		{textvalue.Files, `""`, "number", ""},
		{textvalue.Files, csv + "2024-01-01", "datetime", `"2024-01-01T00:00:00Z"`},
		{textvalue.Files, csv + "2024-01-01T00:00:00.25Z", "datetime", `"2024-01-01T00:00:00.250Z"`},
		{textvalue.Files, csv + "2024-01-01T10:00:00Z", "date", ""},
		{textvalue.Files, csv + "yesterday", "datetime", ""},
		{textvalue.Files, `20240101`, "datetime", ""},
		{textvalue.Files, `true`, "date", ""},
		{textvalue.Files, csv + "1", "json", `"1"`},
		{textvalue.Files, csv + `"x"`, "json", `"\"x\""`},
		{textvalue.Files, csv + "[ ]", "json", `"[]"`},
		{textvalue.Files, csv + "x", "json", ""},
		{textvalue.Files, csv + "{a:1}", "json", ""},
		{textvalue.Files, csv + " [1]", "array", `"[1]"`},
		{textvalue.Files, csv + "[1", "array", ""},
		{textvalue.Files, csv + "{}", "array", ""},
		{textvalue.Files, csv + deep, "array", `"` + deep + `"`},
		{textvalue.Files, csv + deep, "json", `"` + deep + `"`},
		{textvalue.Files, csv + "[" + deep + "]", "array", ""},
		{textvalue.Files, csv + "[" + deep + "]", "json", ""},
		{textvalue.Files, `{}`, "array", ""},
		{textvalue.Files, csv + "1", "reference", `"1"`},

		{textvalue.APIs, `12345678901234567890.10`, "decimal", `"12345678901234567890.10"`},
		{textvalue.APIs, `12345678901234567890`, "number", `"12345678901234567890"`},
		{textvalue.APIs, `"12.50"`, "decimal", `"12.50"`},
		{textvalue.APIs, `"1e3"`, "number", `1000`},
		{textvalue.APIs, `1.50`, "string", `"1.50"`},
		{textvalue.APIs, `1e400`, "number", `"1` + zeros + `"`},
		{textvalue.APIs, `1e401`, "number", ""},
		{textvalue.APIs, `1e-400`, "decimal", `"0.` + zeros[1:] + `1"`},
		{textvalue.APIs, `1e-401`, "decimal", `"0.` + zeros + `1"`},
		{textvalue.APIs, `1e-402`, "decimal", ""},
		{textvalue.APIs, `15e-1`, "decimal", `"1.5"`},
		{textvalue.APIs, `"n/a"`, "number", ""},
		{textvalue.APIs, `""`, "number", "null"},
		{textvalue.APIs, `""`, "decimal", "null"},
		{textvalue.APIs, `""`, "boolean", "null"},
		{textvalue.APIs, `""`, "date", "null"},
		{textvalue.APIs, `""`, "datetime", "null"},
		{textvalue.APIs, `""`, "string", `""`},
		{textvalue.APIs, `""`, "reference", `""`},
		{textvalue.APIs, `""`, "json", `"\"\""`},
		{textvalue.APIs, `""`, "array", ""},
		{textvalue.APIs, `true`, "number", ""},
		{textvalue.APIs, `"true"`, "boolean", "true"},
		{textvalue.APIs, `"false"`, "boolean", "false"},
		{textvalue.APIs, `1`, "boolean", ""},
		{textvalue.APIs, `false`, "string", `"false"`},
		{textvalue.APIs, `"2024-02-29T23:30:00.120+01:00"`, "datetime", `"2024-02-29T22:30:00.120Z"`},
		{textvalue.APIs, `"2024-02-29T23:30:00-05:00"`, "date", `"2024-02-29"`},
		{textvalue.APIs, `"2024-02-29T23:30:00.1234567891Z"`, "date", `"2024-02-29"`},
		{textvalue.APIs, `"29.02.2024"`, "date", ""},
		{textvalue.APIs, `"2024-02-29, soon"`, "date", ""},
		{textvalue.Documents, `"2024-02-29T23:30:00-05:00"`, "date", `"2024-02-29"`},
		{textvalue.APIs, `1709245800`, "datetime", ""},
		{textvalue.APIs, ` { "a" : [ 1.50 ] } `, "json", `"{\"a\":[1.50]}"`},
		{textvalue.APIs, `"7"`, "json", `"\"7\""`},
		{textvalue.APIs, `[1, "a"]`, "array", `"[1,\"a\"]"`},
		{textvalue.APIs, `"[1]"`, "array", ""},
		{textvalue.APIs, `null`, "array", "null"},
		{textvalue.APIs, `{"a": 1}`, "string", `"{\"a\":1}"`},
		{textvalue.APIs, `[1, 2]`, "string", `"[1,2]"`},
		{textvalue.APIs, `7`, "reference", `"7"`},
		{textvalue.APIs, `7`, "", `"7"`},
		{textvalue.Documents, `""`, "datetime", ""},
	} {
		cell, isCSV := strings.CutPrefix(c.value, csv)
		v := plain(cell)[0]
		if !isCSV {
			v = read(t, c.value)[0]
		}
		got, err := c.rules.Value(v, c.typ, textvalue.OwnWidth)
		if isCSV && c.typ == "datetime" {
			got, err = c.rules.Value(v, c.typ, map[bool]int{true: 3, false: 0}[strings.Contains(cell, ".")])
		}
		if c.want == "" {
			require.Error(t, err, "%s as %s", c.value, c.typ)
			assert.True(t, got.IsNull())
			continue
		}
		require.NoError(t, err, "%s as %s", c.value, c.typ)
		assert.Equal(t, c.want, spelled(t, got), "%s as %s", c.value, c.typ)
	}
	for text, want := range map[string]error{
		"2024-02-29T23:30:00.1234567891Z": textvalue.ErrInexact, "2016-12-31T23:59:60Z": textvalue.ErrInexact, "soon": textvalue.ErrMisfit,
	} {
		_, err := textvalue.APIs.Value(textvalue.Raw{Text: text, Kind: textvalue.Text}, wire.TypeDatetime, textvalue.OwnWidth)
		require.ErrorIs(t, err, want)
	}
	_, err := textvalue.Files.Value(plain("2024-01-01T00:00:00.5Z")[0], wire.TypeDatetime, 0)
	require.ErrorIs(t, err, textvalue.ErrMisfit, "more digits than the column's width")
	whole, err := textvalue.ParseNumber("-120.00", wire.TypeNumber)
	require.NoError(t, err)
	assert.Equal(t, wire.Int(-120), whole, "a fraction of zeros makes no other value")
	text, err := textvalue.ParseNumber("+1.50", wire.TypeString)
	require.NoError(t, err)
	assert.Equal(t, wire.Text("+1.50"), text)
	class, _ := textvalue.Documents.Classify(textvalue.Raw{Text: "x", Kind: textvalue.Number})
	assert.Equal(t, textvalue.ClassText, class)
	_, err = textvalue.APIs.Value(textvalue.Raw{Text: "\xff", Kind: textvalue.Text}, wire.TypeJSON, 0)
	require.Error(t, err, "no JSON spells it")
	_, err = textvalue.ParseNumber("1e401", wire.TypeDecimal)
	require.ErrorIs(t, err, textvalue.ErrRange)
}

// TestInstant reads what people write.
func TestInstant(t *testing.T) {
	for _, c := range []struct {
		in   string
		want string // "": no instant
		why  string
	}{
		{"2024-02-29", "2024-02-29T00:00:00Z", "a leap day"},
		{"1900-02-29", "", "1900 was no leap year"},
		{"2000-02-29", "2000-02-29T00:00:00Z", "2000 was"},
		{"2024-04-31", "", "April has 30 days"},
		{"2024-13-01", "", "there are twelve months"},
		{"2024-1-1", "", "two digits each"},
		{"20240101", "", "the basic format reads like a number"},
		{"+02024-01-01", "", "four digits for the year"},
		{"2024-01-01T", "", "a time must follow the T"},
		{"2024-01-01T10", "", "with minutes"},
		{"2024-01-01T10:00", "2024-01-01T10:00:00Z", "seconds may be missing"},
		{"2024-01-01t10:00:00z", "2024-01-01T10:00:00Z", "lower case is allowed by RFC 3339"},
		{"2024-01-01 10:00:00", "2024-01-01T10:00:00Z", "a blank for the T"},
		{"2024-01-01_10:00:00", "", "nothing else"},
		{"2024-01-01T24:00:00Z", "", "hours end at 23"},
		{"2024-01-01T23:60:00Z", "", "minutes at 59"},
		{"2024-06-30T23:59:60Z", "", "a leap second has no place in a day of 86,400 seconds"},
		{"2024-06-30T23:59:60", "", "nor without an offset"},
		{"2024-01-01T10:00:00.", "", "a dot needs digits"},
		{"2024-01-01T10:00:00,5Z", "", "a comma is not guessed at"},
		{"2024-01-01T10:00:00.000000001Z", "2024-01-01T10:00:00.000000001Z", "nanoseconds"},
		{"2024-01-01T10:00:00+0530", "2024-01-01T04:30:00Z", "an offset without a colon"},
		{"2024-01-01T10:00:00-08", "2024-01-01T18:00:00Z", "an offset of hours"},
		{"2024-01-01T10:00+14:00", "2023-12-31T20:00:00Z", "the day before in UTC"},
		{"2024-01-01T10:00:00+24:00", "", "offsets end before a day"},
		{"2024-01-01T10:00:00 +01:00", "", "no blank before an offset"},
		{"2024-01-01T10:00:00[Europe/Berlin]", "", "zones by name are not known everywhere"},
		{"9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z", "the last second"},
		{"9999-12-31T23:59:59-01:00", "", "one that is in the year 10000 in UTC"},
		{"0000-01-01", "0000-01-01T00:00:00Z", "the first day"},
		{"1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.5Z", "before 1970"},
		{"", "", "nothing"},
		{"2024-01-01T１0:00", "", "digits are ASCII"},
	} {
		at, ok := textvalue.Files.Instant(c.in)
		if assert.Equal(t, c.want != "", ok, "%q: %s", c.in, c.why) && ok {
			assert.Equal(t, c.want, at.Time.Format("2006-01-02T15:04:05.999999999Z07:00"), "%q: %s", c.in, c.why)
			assert.Equal(t, len(c.in) == 10, at.Date)
		}
	}
}

// TestDateFormat reads dates as a format says.
func TestDateFormat(t *testing.T) {
	for _, c := range []struct {
		format textvalue.DateFormat
		in     string
		want   string // "": no instant
		why    string
	}{
		{"DD.MM.YYYY", "31.12.2024", "2024-12-31T00:00:00Z", "two digits each"},
		{"DD.MM.YYYY", "1.02.2024", "", "or it is no date"},
		{"DD.MM.YYYY", "01.2.2024", "", "also in the month"},
		{"DD.MM.YYYY", "31-12-2024", "", "what stands between them stands for itself"},
		{"DD.MM.YYYY", "31.12", "", "all parts are there"},
		{"DD.MM.YYYY.", "31.12.2024", "", "and all that stands between and behind them"},
		{"DD.MM.YYYY", "31.12.20245", "", "the year ends"},
		{"DD.MM.YYYY", "31.12.2024 10:00:00", "2024-12-31T10:00:00Z", "a time may follow"},
		{"DD.MM.YYYY", "2024-12-31", "2024-12-31T00:00:00Z", "ISO 8601 is read all the same"},
		{"D.M.YYYY", "1.2.2024", "2024-02-01T00:00:00Z", "one digit"},
		{"D.M.YYYY", "11.12.2024", "2024-12-11T00:00:00Z", "or two"},
		{"D.M.YYYY", "1.2.24", "", "four for the year"},
		{"M/D/YYYY", "2/1/2024", "2024-02-01T00:00:00Z", "the month first"},
		{"YYYY/MM/DD", "2024/02/01", "2024-02-01T00:00:00Z", "the year first"},
	} {
		require.True(t, c.format.Valid(), c.format)
		at, ok := textvalue.Rules{HandWritten: true, DateFormat: c.format}.Instant(c.in)
		if assert.Equal(t, c.want != "", ok, "%s %q: %s", c.format, c.in, c.why) && ok {
			assert.Equal(t, c.want, at.Time.Format("2006-01-02T15:04:05Z07:00"), "%s %q: %s", c.format, c.in, c.why)
		}
	}
	for _, between := range []string{". ", "/", ":", "@", "`", "[", "{"} {
		assert.True(t, textvalue.DateFormat("DD"+between+"MM"+between+"YYYY").Valid(), between)
	}
	assert.True(t, textvalue.DateFormat("YYYY-MM-DD").Valid())
	for _, format := range []textvalue.DateFormat{"DD.MM", "DD.MM.YY", "DDMMYYYY", "MM/DD/YYYY hh", "D.D.YYYY", "YYYY-DD-MM", "YYYY-D-M",
		"DDaMMaYYYY", "DDzMMzYYYY", "DDAMMAYYYY", "DDZMMZYYYY", "DD0MM0YYYY", "DD9MM9YYYY"} {
		assert.False(t, format.Valid(), format)
	}
}

// TestEveryDigitIsKept spells numbers of as many digits as a double keeps, and a few
// less and more, with the point at every place.
func TestEveryDigitIsKept(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	doubles, decimals := 0, 0
	for range 20_000 {
		digits := strconv.FormatUint(1e18+random.Uint64N(8e18), 10)[1 : 13+random.IntN(7)]
		at := 1 + random.IntN(len(digits)-1)
		text := strings.TrimLeft(digits[:at-1], "0") + digits[at-1:at] + "." + strings.TrimRight(digits[at:], "0") + "1"
		if random.IntN(2) == 0 {
			text = "-" + text
		}
		v, err := textvalue.ParseNumber(text, wire.TypeNumber)
		require.NoError(t, err)
		if got := spelled(t, v); got == text {
			doubles++
		} else {
			require.Equal(t, strconv.Quote(text), got)
			decimals++
		}
	}
	require.Greater(t, doubles, 5_000)
	require.Greater(t, decimals, 500)
}
