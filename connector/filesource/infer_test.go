package filesource

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textfile"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// spelled returns a column's cells as they cross the wire.
func spelled(t *testing.T, c column, cells [][]textvalue.Raw, at int) (out []string) {
	t.Helper()
	for _, record := range cells {
		var cell textvalue.Raw
		if at < len(record) {
			cell = record[at]
		}
		v, err := c.value(cell)
		require.NoError(t, err, "a type that was inferred holds every cell")
		b, err := v.AppendJSON(nil)
		require.NoError(t, err)
		out = append(out, string(b))
	}
	return out
}

// TestInferColumns reads the cells of one column. How texts become types and cells is
// tested in package textvalue.
func TestInferColumns(t *testing.T) {
	for _, c := range []struct {
		why      string
		format   string
		declared wire.Type
		cells    []string // of CSV, or values of JSON; "": an empty cell, or no member
		typ      wire.Type
		wire     []string
		null     bool
	}{
		{"an empty cell is null and says nothing of the type", ".csv", "", []string{"1", "", "3"}, "number", []string{"1", "null", "3"}, true},
		{"the widest of a column's fractions", ".csv", "", []string{"2024-01-01T10:00:00.5Z", "2024-01-01 10:00", "2024-01-01T10:00:00.1234Z"},
			"datetime", []string{`"2024-01-01T10:00:00.500000Z"`, `"2024-01-01T10:00:00.000000Z"`, `"2024-01-01T10:00:00.123400Z"`}, false},
		{"one word among numbers makes text, and loses nothing", ".csv", "", []string{"1", "n/a", "2.50"}, "string",
			[]string{`"1"`, `"n/a"`, `"2.50"`}, false},
		{"a blank is a text", ".csv", "", []string{" ", "1"}, "string", []string{`" "`, `"1"`}, false},
		{"nothing but nulls", ".csv", "", []string{"", ""}, "string", []string{"null", "null"}, true},
		{"no rows: nothing is known, null is possible", ".csv", "", nil, "string", nil, true},
		{"the empty string is a value, unlike an empty CSV cell", ".ndjson", "", []string{`""`, "null"}, "string", []string{`""`, "null"}, true},
		{"a missing member is null", ".ndjson", "", []string{"1", ""}, "number", []string{"1", "null"}, true},
		{"a member that comes late was null before", ".ndjson", "", []string{"", "1"}, "number", []string{"null", "1"}, true},
		{"nested values, compact", ".ndjson", "", []string{`[1, [2] , {"a" : null}]`, "[]"}, "array", []string{`"[1,[2],{\"a\":null}]"`, `"[]"`}, false},

		{"a code that looks like a number", ".csv", "string", []string{"1", "2"}, "string", []string{`"1"`, `"2"`}, false},
		{"a number may have leading zeros", ".csv", "number", []string{"007", "+5"}, "number", []string{"7", "5"}, false},
		{"a word is no number: the declaration does not hold", ".csv", "number", []string{"1", "x"}, "string", []string{`"1"`, `"x"`}, false},
		{"declared times keep one width", ".csv", "datetime", []string{"2024-01-01T00:00:00.25Z", "2024-01-01"}, "datetime",
			[]string{`"2024-01-01T00:00:00.250Z"`, `"2024-01-01T00:00:00.000Z"`}, false},
		{"times cannot be served as dates: the time of day would be lost", ".csv", "date", []string{"2024-01-01T10:00:00Z"}, "datetime",
			[]string{`"2024-01-01T10:00:00Z"`}, false},
		{"where there are no values any type holds", ".csv", "date", []string{""}, "date", []string{"null"}, true},
		{"a misfit behind text is still found", ".csv", "date", []string{"x", "2024-01-01"}, "string", []string{`"x"`, `"2024-01-01"`}, false},
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
			all, err := textfile.Open(name, strings.NewReader(b.String()), format, nil)
			require.NoError(t, err)
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
