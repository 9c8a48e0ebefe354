package filesource

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// spelled returns a column's cells as they cross the wire.
func spelled(t *testing.T, c column, cells [][]raw, at int) (out []string) {
	t.Helper()
	for _, record := range cells {
		var cell raw
		if at < len(record) {
			cell = record[at]
		}
		v, ok := c.value(cell)
		require.True(t, ok, "a type that was inferred holds every cell")
		b, err := v.AppendJSON(nil)
		require.NoError(t, err)
		out = append(out, string(b))
	}
	return out
}

func inferText(t *testing.T, parse format, content string, side *sidecar) (columns []column, cells [][]raw, warnings []string) {
	t.Helper()
	all, err := parse("t", strings.NewReader(content), nil)
	require.NoError(t, err)
	columns, _, warnings, err = inferColumns("t", all, side)
	require.NoError(t, err)
	_, cells, _, err = readAll(parse, "t", content)
	require.NoError(t, err)
	return columns, cells, warnings
}

func TestInferCSV(t *testing.T) {
	for _, c := range []struct {
		why   string
		cells []string // of one column; a second one keeps blank lines from being skipped
		typ   wire.Type
		wire  []string
		null  bool
	}{
		{"whole numbers", []string{"1", "-20", "0", "300"}, wire.TypeNumber, []string{"1", "-20", "0", "300"}, false},
		{"an empty cell is null and says nothing of the type", []string{"1", "", "3"}, wire.TypeNumber, []string{"1", "null", "3"}, true},
		{"integers beyond 2^53 stay exact, as digits in a string (cell-1)",
			[]string{"9007199254740991", "9007199254740992", "-9007199254740993"}, wire.TypeNumber,
			[]string{"9007199254740991", `"9007199254740992"`, `"-9007199254740993"`}, false},
		{"so do those beyond 64 bits", []string{"1", "123456789012345678901234567890"}, wire.TypeNumber,
			[]string{"1", `"123456789012345678901234567890"`}, false},
		{"minus zero is zero (filter-6)", []string{"-0", "1"}, wire.TypeNumber, []string{"0", "1"}, false},
		{"a fraction makes a decimal, its scale kept (cell-1b)", []string{"1.50", "10.250", "-0.5"}, wire.TypeDecimal,
			[]string{`"1.50"`, `"10.250"`, `"-0.5"`}, false},
		{"whole numbers among decimals", []string{"1", "1.5"}, wire.TypeDecimal, []string{`"1"`, `"1.5"`}, false},
		{"digits no float holds", []string{"0.1000000000000000055511151231257827"}, wire.TypeDecimal,
			[]string{`"0.1000000000000000055511151231257827"`}, false},
		{"digits with a leading zero are a code", []string{"007", "123"}, wire.TypeString, []string{`"007"`, `"123"`}, false},
		{"also behind a minus", []string{"-01"}, wire.TypeString, []string{`"-01"`}, false},
		{"and before a fraction", []string{"01.5"}, wire.TypeString, []string{`"01.5"`}, false},
		{"zero alone is no leading zero", []string{"0", "0.5"}, wire.TypeDecimal, []string{`"0"`, `"0.5"`}, false},
		{"a plus sign may begin a telephone number", []string{"+5", "+491701234567"}, wire.TypeString,
			[]string{`"+5"`, `"+491701234567"`}, false},
		{"an exponent may be a part number", []string{"1e5", "12E5"}, wire.TypeString, []string{`"1e5"`, `"12E5"`}, false},
		{"digits on both sides of a dot, or it is no number (filter-6a)", []string{".5", "5."}, wire.TypeString, []string{`".5"`, `"5."`}, false},
		{"digits in groups are text", []string{"1,000", "2"}, wire.TypeString, []string{`"1,000"`, `"2"`}, false},
		{"one word among numbers makes text, and loses nothing", []string{"1", "n/a", "2.50"}, wire.TypeString,
			[]string{`"1"`, `"n/a"`, `"2.50"`}, false},
		{"a blank is a text", []string{" ", "1"}, wire.TypeString, []string{`" "`, `"1"`}, false},
		{"NaN is a text", []string{"NaN", "1"}, wire.TypeString, []string{`"NaN"`, `"1"`}, false},
		{"truths in the spellings of programs", []string{"true", "FALSE", "True"}, wire.TypeBoolean, []string{"true", "false", "true"}, false},
		{"ones and zeros are numbers", []string{"1", "0"}, wire.TypeNumber, []string{"1", "0"}, false},
		{"a truth among numbers is text", []string{"true", "1"}, wire.TypeString, []string{`"true"`, `"1"`}, false},
		{"yes and no are text", []string{"yes", "no"}, wire.TypeString, []string{`"yes"`, `"no"`}, false},
		{"dates", []string{"2024-02-29", "0001-01-01"}, wire.TypeDate, []string{`"2024-02-29"`, `"0001-01-01"`}, false},
		{"a day no calendar has is a text", []string{"2023-02-29", "2024-01-01"}, wire.TypeString,
			[]string{`"2023-02-29"`, `"2024-01-01"`}, false},
		{"days of other conventions are text", []string{"31.12.2024", "12/31/2024"}, wire.TypeString,
			[]string{`"31.12.2024"`, `"12/31/2024"`}, false},
		{"times come in UTC with a Z (cell-2a)", []string{"2024-01-01T10:00:00+02:00", "2024-01-01T10:00:00Z", "2024-01-01 10:00"},
			wire.TypeDatetime, []string{`"2024-01-01T08:00:00Z"`, `"2024-01-01T10:00:00Z"`, `"2024-01-01T10:00:00Z"`}, false},
		{"one width for the column, so that byte order is time order (cell-2b)",
			[]string{"2024-01-01T10:00:00.5Z", "2024-01-01T10:00:00Z"}, wire.TypeDatetime,
			[]string{`"2024-01-01T10:00:00.500Z"`, `"2024-01-01T10:00:00.000Z"`}, false},
		{"four digits take the width of six", []string{"2024-01-01T10:00:00.1234Z"}, wire.TypeDatetime,
			[]string{`"2024-01-01T10:00:00.123400Z"`}, false},
		{"nine digits are the most", []string{"2024-01-01T10:00:00.123456789Z"}, wire.TypeDatetime,
			[]string{`"2024-01-01T10:00:00.123456789Z"`}, false},
		{"more would be cut, so they are text", []string{"2024-01-01T10:00:00.1234567891Z"}, wire.TypeString,
			[]string{`"2024-01-01T10:00:00.1234567891Z"`}, false},
		{"a date among times is its midnight (filter-9)", []string{"2024-01-01", "2024-01-01T10:00:00Z"}, wire.TypeDatetime,
			[]string{`"2024-01-01T00:00:00Z"`, `"2024-01-01T10:00:00Z"`}, false},
		{"a year before 0 in UTC has no spelling", []string{"0000-01-01T00:00:00+01:00"}, wire.TypeString,
			[]string{`"0000-01-01T00:00:00+01:00"`}, false},
		{"arrays, compact (cell-3)", []string{`[1, "a"]`, `[]`}, wire.TypeArray, []string{`"[1,\"a\"]"`, `"[]"`}, false},
		{"objects", []string{`{"a": 1}`, `[1]`}, wire.TypeJSON, []string{`"{\"a\":1}"`, `"[1]"`}, false},
		{"brackets that are no JSON are text as it stands", []string{`[draft] x`, `[1, 2]`}, wire.TypeString,
			[]string{`"[draft] x"`, `"[1, 2]"`}, false},
		{"nor is JSON that is read in two ways", []string{`{"a":1,"a":2}`}, wire.TypeString, []string{`"{\"a\":1,\"a\":2}"`}, false},
		{"nothing but nulls", []string{"", ""}, wire.TypeString, []string{"null", "null"}, true},
		{"no rows: nothing is known, null is possible", nil, wire.TypeString, nil, true},
	} {
		t.Run(c.why, func(t *testing.T) {
			var b strings.Builder
			b.WriteString("x,k\n")
			for _, cell := range c.cells {
				b.WriteString(`"` + strings.ReplaceAll(cell, `"`, `""`) + `",k` + "\n")
			}
			columns, cells, _ := inferText(t, openCSV, b.String(), nil)
			assert.Equal(t, c.typ, columns[0].typ)
			assert.Equal(t, c.null, columns[0].nullable)
			assert.Equal(t, c.wire, spelled(t, columns[0], cells, 0))
		})
	}
}

func TestInferNDJSON(t *testing.T) {
	for _, c := range []struct {
		why   string
		cells []string // values of the member x; "": the object lacks it
		typ   wire.Type
		wire  []string
		null  bool
	}{
		{"numbers as they are written", []string{"1", "-2"}, wire.TypeNumber, []string{"1", "-2"}, false},
		{"a fraction is exact, its scale kept", []string{"1.50", "2"}, wire.TypeDecimal, []string{`"1.50"`, `"2"`}, false},
		{"an integer beyond 2^53 keeps its digits, though it was a number", []string{"9007199254740993"}, wire.TypeNumber,
			[]string{`"9007199254740993"`}, false},
		{"an exponent is a float, and says so for the column", []string{"1.5e-7", "0.25", "1e3"}, wire.TypeNumber,
			[]string{`"0.00000015"`, "0.25", "1000"}, false},
		{"a fraction that no float has keeps its digits among floats",
			[]string{"1e3", "0.1000000000000000055511151231257827"}, wire.TypeNumber,
			[]string{"1000", `"0.1000000000000000055511151231257827"`}, false},
		{"a number beyond the doubles is text", []string{"1e999", "1"}, wire.TypeString, []string{`"1e999"`, `"1"`}, false},
		{"a string of digits is a text: its author could have written a number", []string{`"1"`, `"2.50"`}, wire.TypeString,
			[]string{`"1"`, `"2.50"`}, false},
		{"a string true is a text too", []string{`"true"`}, wire.TypeString, []string{`"true"`}, false},
		{"JSON has no dates, so strings are looked at", []string{`"2024-01-01"`}, wire.TypeDate, []string{`"2024-01-01"`}, false},
		{"and no times", []string{`"2024-01-01T10:00:00.5+02:00"`, `"2024-01-01"`}, wire.TypeDatetime,
			[]string{`"2024-01-01T08:00:00.500Z"`, `"2024-01-01T00:00:00.000Z"`}, false},
		{"truths", []string{"true", "false"}, wire.TypeBoolean, []string{"true", "false"}, false},
		{"numbers and strings are text as they were written", []string{"1.50", `"x"`, "true"}, wire.TypeString,
			[]string{`"1.50"`, `"x"`, `"true"`}, false},
		{"the empty string is a value (measure-1), unlike an empty CSV cell", []string{`""`, "null"}, wire.TypeString,
			[]string{`""`, "null"}, true},
		{"a missing member is null", []string{"1", ""}, wire.TypeNumber, []string{"1", "null"}, true},
		{"a member that comes late was null before", []string{"", "1"}, wire.TypeNumber, []string{"null", "1"}, true},
		{"arrays, compact", []string{`[1, [2] , {"a" : null}]`, "[]"}, wire.TypeArray, []string{`"[1,[2],{\"a\":null}]"`, `"[]"`}, false},
		{"objects, compact", []string{`{"a": 1.50}`}, wire.TypeJSON, []string{`"{\"a\":1.50}"`}, false},
		{"arrays and objects", []string{`{}`, `[]`}, wire.TypeJSON, []string{`"{}"`, `"[]"`}, false},
		{"objects and strings are text", []string{`{"a": 1}`, `"x"`}, wire.TypeString, []string{`"{\"a\":1}"`, `"x"`}, false},
		{"nothing but nulls", []string{"null"}, wire.TypeString, []string{"null"}, true},
	} {
		t.Run(c.why, func(t *testing.T) {
			var b strings.Builder
			for _, cell := range c.cells {
				if cell == "" {
					b.WriteString("{\"k\":1}\n")
				} else {
					b.WriteString(`{"k":1,"x":` + cell + "}\n")
				}
			}
			columns, cells, _ := inferText(t, openNDJSON, b.String(), nil)
			require.Len(t, columns, 2)
			assert.Equal(t, "x", columns[1].name)
			assert.Equal(t, c.typ, columns[1].typ)
			assert.Equal(t, c.null, columns[1].nullable)
			assert.Equal(t, c.wire, spelled(t, columns[1], cells, 1))
		})
	}
}

func TestDeclaredTypes(t *testing.T) {
	for _, c := range []struct {
		why      string
		declared wire.Type
		cells    []string
		typ      wire.Type // what is served; another one when the cells do not fit
		wire     []string
	}{
		{"a code that looks like a number", wire.TypeString, []string{"1", "2"}, wire.TypeString, []string{`"1"`, `"2"`}},
		{"a reference is text", wire.TypeReference, []string{"1", "2"}, wire.TypeReference, []string{`"1"`, `"2"`}},
		{"a number may have leading zeros and a plus", wire.TypeNumber, []string{"007", "+5", "-0012"}, wire.TypeNumber,
			[]string{"7", "5", "-12"}},
		{"or an exponent", wire.TypeNumber, []string{"1.5e3", "2E-7", "1"}, wire.TypeNumber, []string{"1500", `"0.0000002"`, "1"}},
		{"or a fraction that is exact in a float", wire.TypeNumber, []string{"1.50", "0.1"}, wire.TypeNumber, []string{"1.5", "0.1"}},
		{"and otherwise keeps its digits", wire.TypeNumber, []string{"1.00000000000000000001"}, wire.TypeNumber,
			[]string{`"1.00000000000000000001"`}},
		{"decimals of whole numbers", wire.TypeDecimal, []string{"1", "+02"}, wire.TypeDecimal, []string{`"1"`, `"2"`}},
		{"a word is no number: the declaration does not hold", wire.TypeNumber, []string{"1", "x"}, wire.TypeString, []string{`"1"`, `"x"`}},
		{"an exponent is no plain decimal", wire.TypeDecimal, []string{"1e3"}, wire.TypeString, []string{`"1e3"`}},
		{"ones and zeros may be truths", wire.TypeBoolean, []string{"1", "0", "TRUE"}, wire.TypeBoolean, []string{"true", "false", "true"}},
		{"but not twos", wire.TypeBoolean, []string{"1", "2"}, wire.TypeNumber, []string{"1", "2"}},
		{"dates may be served as times", wire.TypeDatetime, []string{"2024-01-01"}, wire.TypeDatetime, []string{`"2024-01-01T00:00:00Z"`}},
		{"declared times keep one width", wire.TypeDatetime, []string{"2024-01-01T00:00:00.25Z", "2024-01-01"},
			wire.TypeDatetime, []string{`"2024-01-01T00:00:00.250Z"`, `"2024-01-01T00:00:00.000Z"`}},
		{"times cannot be served as dates: the time of day would be lost", wire.TypeDate, []string{"2024-01-01T10:00:00Z"},
			wire.TypeDatetime, []string{`"2024-01-01T10:00:00Z"`}},
		{"any JSON text", wire.TypeJSON, []string{"1", `"x"`, "[ ]", "null"}, wire.TypeJSON, []string{`"1"`, `"\"x\""`, `"[]"`, `"null"`}},
		{"but JSON it must be", wire.TypeJSON, []string{"x"}, wire.TypeString, []string{`"x"`}},
		{"an array is not any JSON", wire.TypeArray, []string{"[1]", "{}"}, wire.TypeJSON, []string{`"[1]"`, `"{}"`}},
		{"where there are no values any type holds", wire.TypeDate, []string{""}, wire.TypeDate, []string{"null"}},
		{"a misfit behind text is still found", wire.TypeDate, []string{"x", "2024-01-01"}, wire.TypeString, []string{`"x"`, `"2024-01-01"`}},
	} {
		t.Run(c.why, func(t *testing.T) {
			var b strings.Builder
			b.WriteString("x,k\n")
			for _, cell := range c.cells {
				b.WriteString(`"` + strings.ReplaceAll(cell, `"`, `""`) + `",k` + "\n")
			}
			side := &sidecar{file: "t.table.json", Columns: map[string]sidecarColumn{"x": {Type: c.declared}}}
			columns, cells, warnings := inferText(t, openCSV, b.String(), side)
			assert.Equal(t, c.typ, columns[0].typ)
			assert.Equal(t, c.wire, spelled(t, columns[0], cells, 0))
			if c.typ == c.declared {
				assert.Empty(t, warnings)
			} else {
				require.Len(t, warnings, 1)
				assert.Contains(t, warnings[0], `t.table.json: column "x" is served as `+string(c.typ)+" and not as "+string(c.declared)+": t line ")
			}
		})
	}
}

// TestShapesRefuse converts cells that do not fit a shape. Once inferred, only a
// file that changes while it is read has them.
func TestShapesRefuse(t *testing.T) {
	for _, c := range []struct {
		shape shape
		cell  raw
		why   string
	}{
		{shape{typ: wire.TypeDatetime}, raw{"2024-01-01T00:00:00.5Z", rawPlain}, "more digits than the column's width"},
		{shape{typ: wire.TypeDatetime, digits: 9}, raw{"yesterday", rawPlain}, "no time"},
		{shape{typ: wire.TypeDatetime, digits: 9}, raw{"20240101", rawNumber}, "a JSON number is no time"},
		{shape{typ: wire.TypeDate}, raw{"2024-01-01T00:00:00Z", rawPlain}, "a time of day"},
		{shape{typ: wire.TypeDate}, raw{"true", rawBool}, "a truth"},
		{shape{typ: wire.TypeNumber}, raw{"x", rawPlain}, "a word"},
		{shape{typ: wire.TypeNumber}, raw{"1e999", rawPlain}, "beyond the doubles"},
		{shape{typ: wire.TypeNumber}, raw{"1e1.5", rawPlain}, "half an exponent"},
		{shape{typ: wire.TypeNumber}, raw{"[1]", rawArray}, "an array"},
		{shape{typ: wire.TypeDecimal}, raw{"1e3", rawNumber}, "an exponent"},
		{shape{typ: wire.TypeDecimal}, raw{"true", rawBool}, "a truth"},
		{shape{typ: wire.TypeBoolean}, raw{"1", rawNumber}, "a JSON number is no truth"},
		{shape{typ: wire.TypeBoolean}, raw{"true", rawText}, "nor is a JSON string"},
		{shape{typ: wire.TypeArray}, raw{"{}", rawPlain}, "an object"},
		{shape{typ: wire.TypeArray}, raw{"{}", rawObject}, "an object"},
		{shape{typ: wire.TypeArray}, raw{"[1", rawPlain}, "half an array"},
		{shape{typ: wire.TypeJSON}, raw{"{a:1}", rawPlain}, "JavaScript"},
	} {
		_, ok := c.shape.value(c.cell)
		assert.False(t, ok, "%s as %s: %s", c.cell.text, c.shape.typ, c.why)
	}
}

func TestParseInstant(t *testing.T) {
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
		{"2024-00-01", "", "which begin with 1"},
		{"2024-01-00", "", "as do days"},
		{"2024-1-1", "", "two digits each"},
		{"20240101", "", "the basic format reads like a number"},
		{"+02024-01-01", "", "four digits for the year"},
		{"2024-01-01T", "", "a time must follow the T"},
		{"2024-01-01T10", "", "with minutes"},
		{"2024-01-01T10:00", "2024-01-01T10:00:00Z", "seconds may be missing"},
		{"2024-01-01t10:00:00z", "2024-01-01T10:00:00Z", "lower case is allowed by RFC 3339"},
		{"2024-01-01T24:00:00Z", "", "hours end at 23"},
		{"2024-01-01T23:60:00Z", "", "minutes at 59"},
		{"2024-06-30T23:59:60Z", "", "a leap second has no place in a day of 86,400 seconds"},
		{"2024-01-01T10:00:00.", "", "a dot needs digits"},
		{"2024-01-01T10:00:00,5Z", "", "a comma is not guessed at"},
		{"2024-01-01T10:00:00.000000001Z", "2024-01-01T10:00:00.000000001Z", "nanoseconds"},
		{"2024-01-01T10:00:00+0530", "2024-01-01T04:30:00Z", "an offset without a colon"},
		{"2024-01-01T10:00:00-08", "2024-01-01T18:00:00Z", "an offset of hours"},
		{"2024-01-01T10:00+14:00", "2023-12-31T20:00:00Z", "the day before in UTC"},
		{"2024-01-01T10:00:00+24:00", "", "offsets end before a day"},
		{"2024-01-01T10:00:00+1:00", "", "and have two digits"},
		{"2024-01-01T10:00:00 +01:00", "", "no blank before an offset"},
		{"2024-01-01T10:00:00[Europe/Berlin]", "", "zones by name are not known everywhere"},
		{"9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z", "the last second"},
		{"9999-12-31T23:59:59-01:00", "", "one that is in the year 10000 in UTC"},
		{"0000-01-01", "0000-01-01T00:00:00Z", "the first day"},
		{"1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.5Z", "before 1970"},
		{"", "", "nothing"},
		{"2024-01-01T１0:00", "", "digits are ASCII"},
	} {
		at, ok := parseInstant(c.in)
		if assert.Equal(t, c.want != "", ok, "%q: %s", c.in, c.why) && ok {
			assert.Equal(t, c.want, at.time.Format("2006-01-02T15:04:05.999999999Z07:00"), "%q: %s", c.in, c.why)
			assert.Equal(t, len(c.in) == 10, at.bare)
		}
	}
}
