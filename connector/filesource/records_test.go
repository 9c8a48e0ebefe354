package filesource

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textfile"
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

// TestInferColumns reads the cells of one column. How texts become types and cells is
// tested in package textvalue.
func TestInferColumns(t *testing.T) {
	for _, c := range testkit.Cases[struct {
		Why, Format string
		Declared    wire.Type
		Cells       []string // of CSV, or values of JSON; "": an empty cell, or no member
		Typ         wire.Type
		Wire        json.RawMessage
		Null        bool
	}](t, "testdata/inferred.json") {
		t.Run(c.Why, func(t *testing.T) {
			var b strings.Builder
			if c.Format == ".csv" {
				b.WriteString("k,x\n")
			}
			for _, cell := range c.Cells {
				switch { // a second column keeps blank lines from being skipped
				case c.Format == ".csv":
					b.WriteString(`k,"` + strings.ReplaceAll(cell, `"`, `""`) + "\"\n")
				case cell == "":
					b.WriteString("{\"k\":1}\n")
				default:
					b.WriteString(`{"k":1,"x":` + cell + "}\n")
				}
			}
			files := map[string]string{"acme/t" + c.Format: b.String()}
			if c.Declared != "" {
				files["acme/t.table.json"] = `{"columns":{"x":{"type":"` + string(c.Declared) + `"}}}`
			}
			s, _ := inMemory(t, files)
			d := discovered(t, s, "acme")
			require.Len(t, d.Tables, 1)
			require.Len(t, d.Tables[0].Fields, 2)
			x := d.Tables[0].Fields[1]
			assert.Equal(t, "x", x.Name)
			assert.Equal(t, c.Typ, x.Type)
			assert.Equal(t, c.Null, x.Nullable)
			var cells []string
			for _, row := range rowsOf(t, s, "acme", `"table":"t","and":[],"sort":[],"fields":["x"]`) {
				cells = append(cells, strings.TrimSuffix(strings.TrimPrefix(row, `{"x":`), "}"))
			}
			assert.Equal(t, compact(t, c.Wire), "["+strings.Join(cells, ",")+"]")
			if c.Declared == "" || c.Typ == c.Declared {
				assert.Empty(t, d.Warnings)
			} else {
				require.Len(t, d.Warnings, 1)
				assert.Contains(t, d.Warnings[0], fmt.Sprintf(`t.table.json: column "x" is served as %s and not as %s: t%s line `,
					c.Typ, c.Declared, c.Format))
			}
		})
	}
}
