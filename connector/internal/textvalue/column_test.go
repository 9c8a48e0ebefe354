package textvalue_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/filter"
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
	return string(testkit.Must(v.AppendJSON(nil))(t))
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
				cell := testkit.Must(rules.Value(v, typ, width))(t, "a type that was inferred holds every value")
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
	assert.Equal(t, wire.Int(-120), testkit.Must(textvalue.ParseNumber("-120.00", wire.TypeNumber))(t),
		"a fraction of zeros makes no other value")
	assert.Equal(t, wire.Text("+1.50"), testkit.Must(textvalue.ParseNumber("+1.50", wire.TypeString))(t))
	class, _ := textvalue.Documents.Classify(textvalue.Raw{Text: "x", Kind: textvalue.Number})
	assert.Equal(t, textvalue.ClassText, class)
	_, err = textvalue.APIs.Value(textvalue.Raw{Text: "\xff", Kind: textvalue.Text}, wire.TypeJSON, 0)
	require.Error(t, err, "no JSON spells it")
	_, err = textvalue.ParseNumber("1e401", wire.TypeDecimal)
	require.ErrorIs(t, err, textvalue.ErrRange)
}

// TestInstant reads what people write, and dates as a format says.
func TestInstant(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/instants.tsv", 4) {
		in, format, want, why := c[0], textvalue.DateFormat(c[1]), c[2], c[3]
		rules := textvalue.Files
		if format != "" {
			require.True(t, format.Valid(), format)
			rules = textvalue.Rules{HandWritten: true, DateFormat: format}
		}
		at, ok := rules.Instant(in)
		if assert.Equal(t, want != "", ok, "%s %q: %s", format, in, why) && ok {
			assert.Equal(t, want, at.Time.Format("2006-01-02T15:04:05.999999999Z07:00"), "%s %q: %s", format, in, why)
			assert.Equal(t, len(in) <= 10, at.Date, "%s %q", format, in)
		}
	}
}

// TestDateFormat tells formats from other texts.
func TestDateFormat(t *testing.T) {
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
		v := testkit.Must(textvalue.ParseNumber(text, wire.TypeNumber))(t)
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

// TestReaderFails reads what is not strict JSON.
func TestReaderFails(t *testing.T) {
	many := func(n int) (members string) {
		for i := range n {
			members += fmt.Sprintf(`"m%d": {}, `, i)
		}
		return members
	}
	spelled := strings.NewReplacer("MANY15", many(15), "MANY16", many(16), "MANY20", many(20), `\xff`, "\xff")
	for _, c := range testkit.Table(t, "testdata/strict.tsv", 3) {
		text, want := spelled.Replace(c[1]), strings.TrimPrefix(c[2], "-")
		r := textvalue.Reader{MaxDepth: 4}
		for range 2 { // a reader that is used again remembers nothing
			r.Reset(text)
			v := r.Value(1)
			r.End()
			if want == "" {
				require.NoError(t, r.Err(), text)
				continue
			}
			require.ErrorContains(t, r.Err(), want, text)
			if want == "duplicate member" {
				assert.Contains(t, []string{"a", "b", "m7"}, r.Duplicate)
				assert.True(t, v.None())
			}
		}
		r.Reset("{}")
		assert.Empty(t, r.Duplicate)
		trusted := textvalue.Reader{MaxDepth: 4, Checked: true}
		trusted.Reset(text)
		trusted.Value(1)
		assert.Empty(t, trusted.Duplicate)
	}
}

// TestSamples keeps a few values that differ by type.
func TestSamples(t *testing.T) {
	var s textvalue.Samples
	assert.Equal(t, []wire.Value{}, s.Values())
	long := strings.Repeat("x", textvalue.MaxSampleText)
	for _, v := range []wire.Value{
		wire.Null(), wire.Invalid("no"), wire.Decimal("1.0"), wire.Int(1), wire.Text(long + "x"), wire.Text(long), wire.Int(2), wire.Int(3),
	} {
		assert.False(t, s.Full())
		s.Add(v, filter.AppendKey(nil, v, wire.TypeNumber))
	}
	s.Add(wire.Int(4), []byte("4"))
	assert.True(t, s.Full())
	s.Add(wire.Int(5), []byte("5"))
	assert.Equal(t, []wire.Value{wire.Decimal("1.0"), wire.Text(long), wire.Int(2), wire.Int(3), wire.Int(4)}, s.Values())
}
