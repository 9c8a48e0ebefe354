package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const exportToken = "the-token-of-the-tests-of-an-export"

// exported serves tables. The handler counts the queries, and cuts each after so many bytes
// unless that is 0.
func exported(t *testing.T, tables ...memsource.Table) (url string, queries *[]string, cut *int) {
	t.Helper()
	source, err := memsource.New(tables, nil)
	require.NoError(t, err)
	token, err := wire.NewToken(exportToken)
	require.NoError(t, err)
	handler, err := connector.New(connector.Definition{Slug: "shop"}, source, token,
		&connector.Options{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	queries, cut = new([]string), new(int)
	var mu sync.Mutex // several tables are read at once
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == wire.PathQuery {
			body, _ := io.ReadAll(r.Body)
			mu.Lock()
			*queries = append(*queries, string(body))
			mu.Unlock()
			r.Body = io.NopCloser(bytes.NewReader(body))
			if *cut > 0 {
				w = &cutWriter{w, *cut}
			}
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, queries, cut
}

// cutWriter ends a connection after so many bytes.
type cutWriter struct {
	http.ResponseWriter
	left int
}

func (w *cutWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *cutWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		panic(http.ErrAbortHandler)
	}
	return w.ResponseWriter.Write(p)
}

// things is a table with a key of two fields.
func things(n int) memsource.Table {
	t := memsource.Table{Table: wire.Table{Name: "the/things", PrimaryKey: []string{"room", "place"}, Fields: []wire.Field{
		{Name: "note", Type: wire.TypeString, Nullable: true},
		{Name: "place", Type: wire.TypeNumber}, {Name: "room", Type: wire.TypeString},
	}}}
	for i := range n {
		t.Rows = append(t.Rows, []wire.Value{wire.Text(fmt.Sprintf("\"n\",\n%d", i)), wire.Int(int64(i / 3)), wire.Text(fmt.Sprint("r", i%3))})
	}
	return t
}

// exportTo runs the command.
func exportTo(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	err := run(t.Context(), append([]string{"-local", "-export", dir}, args...), func(name string) string {
		if name == check.EnvToken {
			return exportToken
		}
		return ""
	}, &out)
	return out.String(), err
}

// TestExport writes tables as CSV and NDJSON. Null and empty text are told apart.
func TestExport(t *testing.T) {
	table := memsource.Table{Table: wire.Table{Name: "t", PrimaryKey: []string{"id"}, Fields: []wire.Field{
		{Name: "id", Type: wire.TypeNumber}, {Name: "a,b", Type: wire.TypeString, Nullable: true},
		{Name: "price", Type: wire.TypeDecimal}, {Name: "ok", Type: wire.TypeBoolean}}}}
	for i, text := range []wire.Value{wire.Null(), wire.Text(""), wire.Text("a \"b\"\nc"), wire.Text(" x")} {
		table.Rows = append(table.Rows, []wire.Value{wire.Int(int64(i)), text, wire.Decimal("1.50"), wire.Bool(i > 1)})
	}
	empty := memsource.Table{Table: wire.Table{Name: "empty", Fields: table.Fields[:1]}}
	url, queries, _ := exported(t, table, empty)
	dir := t.TempDir()
	for _, format := range []string{"csv", "ndjson"} {
		_, err := exportTo(t, dir, "-format", format, url)
		require.NoError(t, err)
	}
	read := func(name string) string {
		body, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		return string(body)
	}
	require.Equal(t, "id,\"a,b\",price,ok\n"+
		"0,,1.50,false\n1,\"\",1.50,false\n2,\"a \"\"b\"\"\nc\",1.50,true\n3,\" x\",1.50,true\n", read("t.csv"))
	require.Equal(t, `{"id":0,"a,b":null,"price":"1.50","ok":false}`, strings.SplitN(read("t.ndjson"), "\n", 2)[0])
	require.Equal(t, "id\n", read("empty.csv"))
	require.Empty(t, read("empty.ndjson"))

	*queries = nil
	out, err := exportTo(t, dir, url)
	require.NoError(t, err)
	require.Empty(t, *queries, "what is complete is not read again")
	require.Contains(t, out, `"t": complete, 4 rows`)
	_, err = exportTo(t, dir, "-format", "xml", url)
	require.ErrorContains(t, err, "-format takes csv or ndjson")
}

// TestExportGoesOn cuts an export, and runs it again: it asks for the rows behind the last key
// that was noted, and the file is as if nothing had happened.
func TestExportGoesOn(t *testing.T) {
	const rows = 2*saveEvery + 1000
	url, queries, cut := exported(t, things(rows))
	whole, dir := t.TempDir(), t.TempDir()
	_, err := exportTo(t, whole, url)
	require.NoError(t, err)
	want, err := os.ReadFile(filepath.Join(whole, "the%2Fthings.csv"))
	require.NoError(t, err)
	records, err := csv.NewReader(bytes.NewReader(want)).ReadAll()
	require.NoError(t, err)
	require.Len(t, records, rows+1)

	*cut = len(want) * 7 / 4 // of the stream, which is longer: in the second half of the table
	_, err = exportTo(t, dir, url)
	require.ErrorContains(t, err, "Run the same command again to go on")
	got, err := os.ReadFile(filepath.Join(dir, "the%2Fthings.csv"))
	require.NoError(t, err)
	require.Less(t, len(got), len(want))
	*cut, *queries = 0, nil
	_, err = exportTo(t, dir, url)
	require.NoError(t, err)
	got, err = os.ReadFile(filepath.Join(dir, "the%2Fthings.csv"))
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got), "%d bytes, want %d", len(got), len(want))
	require.Len(t, *queries, 1)
	require.Contains(t, (*queries)[0], `"op":"gt"`, "the rows that are there are not read again")

	name := filepath.Join(dir, "the%2Fthings.csv")
	var p progress
	body, err := os.ReadFile(name + ".progress")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(body, &p))
	require.Equal(t, progress{URL: url, Columns: []string{"note string", "place number", "room string"}, Key: []string{"room", "place"},
		Last: p.Last, Rows: rows, Bytes: int64(len(want)), Done: true}, p)
	require.NoError(t, os.Truncate(name, 10))
	p.Done = false
	body, err = json.Marshal(p)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name+".progress", body, 0o600))
	_, err = exportTo(t, dir, url)
	require.NoError(t, err)
	got, err = os.ReadFile(name)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got), "a file that lost rows is begun anew")
}

func TestFileName(t *testing.T) {
	for _, test := range []struct{ why, table, want string }{
		{"an ordinary name is itself", "orders", "orders"},
		{"a slash would be a folder", "the/things", "the%2Fthings"},
		{"so would a backslash on Windows", `the\things`, "the%5Cthings"},
		{"a colon is a stream of another file on Windows", "shop:orders", "shop%3Aorders"},
		{"no name spells another's escape", "shop%3Aorders", "shop%253Aorders"},
		{"Windows has no such characters in names", `<a>|"b"*?`, "%3Ca%3E%7C%22b%22%2A%3F"},
	} {
		if got := fileName(test.table); got != test.want {
			t.Errorf("%s: %q, want %q", test.why, got, test.want)
		}
	}
}
