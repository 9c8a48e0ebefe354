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
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
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

// rulesOf are the rules that the files in testdata name.
var rulesOf = map[string]textvalue.Rules{
	"files": textvalue.Files, "apis": textvalue.APIs, "documents": textvalue.Documents,
	"commas": {HandWritten: true, DecimalComma: true},
}

// TestColumns infers the type of a column from its values, and converts each.
func TestColumns(t *testing.T) {
	deep := strings.Repeat("[", terms.MaxDepth) + strings.Repeat("]", terms.MaxDepth)
	deepObject := strings.Repeat(`{"a":`, terms.MaxDepth-1) + "{}" + strings.Repeat("}", terms.MaxDepth-1)
	type row = []string // its cells as in the file
	for _, c := range append(testkit.Table(t, "testdata/columns.tsv", 6), []row{
		{"the deepest array", "files", "csv", deep, "array", `"` + deep + `"`},
		{"one that is deeper", "files", "csv", "[" + deep + "]", "string", `"[` + deep + `]"`},
		{"the deepest object", "files", "csv", deepObject, "json", strconv.Quote(deepObject)},
		{"one that is deeper", "files", "csv", `{"a":` + deepObject + "}", "string", strconv.Quote(`{"a":` + deepObject + "}")},
	}...) {
		t.Run(c[0], func(t *testing.T) {
			rules, typ, values := rulesOf[c[1]], wire.Type(c[4]), plain(all(c[3])...)
			if c[2] == "json" {
				values = read(t, all(c[3])...)
			}
			mixture := wire.TypeString
			if c[1] == "apis" {
				mixture = wire.TypeJSON
			}
			var class textvalue.Class
			width := 0
			for _, v := range values {
				one, digits := rules.Classify(v)
				class |= one
				width = max(width, (digits+2)/3*3)
			}
			assert.Equal(t, typ, class.Type(mixture))
			var got []string
			for _, v := range values {
				cell, err := rules.Value(v, typ, width)
				require.NoError(t, err, "a type that was inferred holds every value")
				got = append(got, spelled(t, cell))
			}
			assert.Equal(t, all(c[5]), got)
		})
	}
}

// TestValue converts single values to declared types.
func TestValue(t *testing.T) {
	const csv = "csv "
	zeros := strings.Repeat("0", 400)
	deep := strings.Repeat("[", terms.MaxDepth) + strings.Repeat("]", terms.MaxDepth)
	type row = []string // its cells as in the file
	for _, c := range append(testkit.Table(t, "testdata/values.tsv", 4), []row{
		{"files", csv + deep, "array", `"` + deep + `"`},
		{"files", csv + deep, "json", `"` + deep + `"`},
		{"files", csv + "[" + deep + "]", "array", "-"},
		{"files", csv + "[" + deep + "]", "json", "-"},
		{"apis", `1e400`, "number", `"1` + zeros + `"`},
		{"apis", `1e-400`, "decimal", `"0.` + zeros[1:] + `1"`},
		{"apis", `1e-401`, "decimal", `"0.` + zeros + `1"`},
	}...) {
		rules, value, typ, want := rulesOf[c[0]], c[1], wire.Type(c[2]), c[3]
		cell, isCSV := strings.CutPrefix(value, csv)
		v := plain(cell)[0]
		if !isCSV {
			v = read(t, value)[0]
		}
		got, err := rules.Value(v, typ, textvalue.OwnWidth)
		if isCSV && typ == "datetime" {
			got, err = rules.Value(v, typ, map[bool]int{true: 3, false: 0}[strings.Contains(cell, ".")])
		}
		if want == "-" {
			require.Error(t, err, c)
			assert.True(t, got.IsNull())
			continue
		}
		require.NoError(t, err, c)
		assert.Equal(t, want, spelled(t, got), c)
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
