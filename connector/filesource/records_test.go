package filesource

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textfile"
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
	all, err = textfile.Open(name, strings.NewReader(content), textfile.Format{}, headers)
	require.NoError(t, err)
	var line []byte
	for n := int64(0); ; n++ {
		cells, err := all.Next()
		if err == io.EOF {
			require.Equal(t, rowCount, n)
			return
		}
		require.NoError(t, err)
		for i, c := range cells {
			v, err := columns[i].value(c)
			require.NoError(t, err, "a type that was inferred holds every cell")
			require.Equal(t, c.None(), v.IsNull())
			require.True(t, columns[i].nullable || !v.IsNull())
			line, err = v.AppendJSON(line[:0])
			require.NoError(t, err)
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
