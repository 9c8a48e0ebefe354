package filesource

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textfile"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// fuzzRecords checks what must be true of any file: it is read without a panic,
// or refused with a fault, the same way twice; its types hold each of its cells;
// and every cell can cross the wire.
func fuzzRecords(t *testing.T, name, content string) {
	all, err := textfile.Open(name, strings.NewReader(content), textfile.Format{}, nil)
	var f *textfile.Fault
	if err != nil {
		require.ErrorAs(t, err, &f)
		return
	}
	columns, rowCount, warnings, err := inferColumns("f", all, textfile.Format{}, nil)
	if err != nil {
		require.ErrorAs(t, err, &f)
		return
	}
	for _, w := range warnings {
		require.Contains(t, w, " is read as ", "what the file says of its own format")
	}
	headers := make([]string, len(columns))
	seen := map[string]bool{}
	for i, c := range columns {
		require.NotEmpty(t, c.name)
		require.False(t, seen[c.name], "names are unique")
		seen[c.name] = true
		headers[i] = c.header
	}
	all = testkit.Must(textfile.Open(name, strings.NewReader(content), textfile.Format{}, headers))(t)
	var line []byte
	for n := int64(0); ; n++ {
		cells, err := all.Next()
		if err == io.EOF {
			require.Equal(t, rowCount, n)
			return
		}
		require.NoError(t, err)
		for i, c := range cells {
			v := testkit.Must(columns[i].value(c))(t, "a type that was inferred holds every cell")
			require.Equal(t, c.None(), v.IsNull())
			require.True(t, columns[i].nullable || !v.IsNull())
			line = testkit.Must(v.AppendJSON(line[:0]))(t)
		}
	}
}

func FuzzCSV(f *testing.F) {
	for _, seed := range []string{
		"a,b\n1,2\n", "\ufeff" + "a\n\"x\"\"y\"\n", "a,b\n1.50,-0\n+5,007\n", "d,t\n2024-02-29,2024-02-29T23:59:59.123456789+14:00\n",
		"j,k\n\"[1,{\"\"a\"\":null}]\",\"{\"\"a\"\":1}\"\n", "b\ntrue\nFALSE\n", "a\n99999999999999999999\n", "a;b\n",
		"a,b\n1\n", "a\n\"", "a\xff\n", "a\r\n1\r\r\n", "a\r\n\"\r\n\"\r\n",
		"t\n0000-01-01T00:00+01:00\n", "t\n9999-12-31T23:59:59-01:00\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) { fuzzRecords(t, "t.csv", content) })
}

func FuzzNDJSON(f *testing.F) {
	for _, seed := range []string{
		`{"a":1}`, `{"a":1e400}`, `{"a":1.5E-7,"b":0.1}` + "\n" + `{"b":1e2}`, `{"a":[1,2],"b":{"c":[]}}`,
		`{"a":"2024-01-01"}` + "\n" + `{"a":"2024-01-01 10:00"}`,
		`{"a":1}` + "\n" + `{"b":"x"}`, `{"a":"1"}` + "\n" + `{"a":1}`, `{"a":-0}`, `{"a":"\u0000"}`,
		`{"a":123456789012345678901234567890}`, "[]", `{"a":true,"a":1}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) { fuzzRecords(t, "t.ndjson", content) })
}

// spelled returns a column's cells as they cross the wire.
func spelled(t *testing.T, c column, cells [][]textvalue.Raw, at int) (out []string) {
	t.Helper()
	for _, record := range cells {
		var cell textvalue.Raw
		if at < len(record) {
			cell = record[at]
		}
		v := testkit.Must(c.value(cell))(t, "a type that was inferred holds every cell")
		b := testkit.Must(v.AppendJSON(nil))(t)
		out = append(out, string(b))
	}
	return out
}

// TestInferColumns reads the cells of one column. How texts become types and cells is
// tested in package textvalue.
func TestInferColumns(t *testing.T) {
	for _, c := range []struct {
		why, format string
		declared    wire.Type
		cells       []string // of CSV, or values of JSON; "": an empty cell, or no member
		typ         wire.Type
		wire        []string
		null        bool
	}{
		{"an empty cell is null and says nothing of the type", ".csv", "", []string{"1", "", "3"}, "number", []string{"1", "null", "3"}, true},
		{"the widest of a column's fractions", ".csv", "", []string{"2024-01-01T10:00:00.5Z", "2024-01-01 10:00", "2024-01-01T10:00:00.1234Z"},
			"datetime", []string{`"2024-01-01T10:00:00.500000Z"`, `"2024-01-01T10:00:00.000000Z"`, `"2024-01-01T10:00:00.123400Z"`}, false},
		{"nothing but nulls", ".csv", "", []string{"", ""}, "string", []string{"null", "null"}, true},
		{"no rows: nothing is known, null is possible", ".csv", "", nil, "string", nil, true},
		{"the empty string is a value, unlike an empty CSV cell", ".ndjson", "", []string{`""`, "null"}, "string", []string{`""`, "null"}, true},
		{"a member that comes late was null before", ".ndjson", "", []string{"", "1"}, "number", []string{"null", "1"}, true},

		{"a code that looks like a number", ".csv", "string", []string{"1", "2"}, "string", []string{`"1"`, `"2"`}, false},
		{"a number may have leading zeros", ".csv", "number", []string{"007", "+5"}, "number", []string{"7", "5"}, false},
		{"a word is no number: the declaration does not hold", ".csv", "number", []string{"1", "x"}, "string", []string{`"1"`, `"x"`}, false},
		{"declared times keep one width", ".csv", "datetime", []string{"2024-01-01T00:00:00.25Z", "2024-01-01"}, "datetime",
			[]string{`"2024-01-01T00:00:00.250Z"`, `"2024-01-01T00:00:00.000Z"`}, false},
		{"times cannot be served as dates: the time of day would be lost", ".csv", "date", []string{"2024-01-01T10:00:00Z"}, "datetime",
			[]string{`"2024-01-01T10:00:00Z"`}, false},
		{"where there are no values any type holds", ".csv", "date", []string{""}, "date", []string{"null"}, true},
	} {
		t.Run(c.why, func(t *testing.T) {
			var b strings.Builder
			name := "t" + c.format
			if c.format == ".csv" {
				b.WriteString("k,x\n")
			}
			for _, cell := range c.cells {
				switch { // a second column keeps blank lines from being skipped
				case c.format == ".csv":
					b.WriteString(`k,"` + strings.ReplaceAll(cell, `"`, `""`) + "\"\n")
				case cell == "":
					b.WriteString("{\"k\":1}\n")
				default:
					b.WriteString(`{"k":1,"x":` + cell + "}\n")
				}
			}
			var side *textfile.Sidecar
			if c.declared != "" {
				side = &textfile.Sidecar{File: "t.table.json", Columns: map[string]textfile.SidecarColumn{"x": {Type: c.declared}}}
			}
			format := textfile.Format{}.Of(name, side)
			all := testkit.Must(textfile.Open(name, strings.NewReader(b.String()), format, nil))(t)
			columns, _, warnings, err := inferColumns("t", all, format, side)
			require.NoError(t, err)
			cells := readAll(t, name, b.String())
			require.Len(t, columns, 2)
			assert.Equal(t, "x", columns[1].name)
			assert.Equal(t, c.typ, columns[1].typ)
			assert.Equal(t, c.null, columns[1].nullable)
			assert.Equal(t, c.wire, spelled(t, columns[1], cells, 1))
			if c.declared == "" || c.typ == c.declared {
				assert.Empty(t, warnings)
			} else {
				require.Len(t, warnings, 1)
				assert.Contains(t, warnings[0], `t.table.json: column "x" is served as `+string(c.typ)+" and not as "+string(c.declared)+": t line ")
			}
		})
	}
}
