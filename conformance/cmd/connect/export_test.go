package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const exportToken = "the-token-of-the-tests-of-an-export"

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
	table := cells.TableOf(t, "t", `id:number* a,b:string? price:decimal ok:boolean | 0 null decimal:1.50 false
		| 1 "" decimal:1.50 false | 2 "a \"b\"\nc" decimal:1.50 true | 3 " x" decimal:1.50 true`)
	p := newPier(t, wire.Limits{}, table, cells.TableOf(t, "empty", "id:number"))
	server := httptest.NewServer(p)
	defer server.Close()
	url, dir := server.URL, t.TempDir()
	for _, format := range []string{"csv", "ndjson"} {
		testkit.Must(exportTo(t, dir, "-format", format, url))(t)
	}
	read := func(name string) string {
		body := testkit.Must(os.ReadFile(filepath.Join(dir, name)))(t)
		return string(body)
	}
	require.Equal(t, "id,\"a,b\",price,ok\n"+
		"0,,1.50,false\n1,\"\",1.50,false\n2,\"a \"\"b\"\"\nc\",1.50,true\n3,\" x\",1.50,true\n", read("t.csv"))
	require.Equal(t, `{"id":0,"a,b":null,"price":"1.50","ok":false}`, strings.SplitN(read("t.ndjson"), "\n", 2)[0])
	require.Equal(t, "id\n", read("empty.csv"))
	require.Empty(t, read("empty.ndjson"))

	p.queries = nil
	out := testkit.Must(exportTo(t, dir, url))(t)
	require.Empty(t, p.queries, "what is complete is not read again")
	require.Contains(t, out, `"t": complete, 4 rows`)
	_, err := exportTo(t, dir, strings.TrimPrefix(url, "http://"))
	require.NoError(t, err, "an address of this machine is completed as on the page")
	_, err = exportTo(t, dir, "-format", "xml", url)
	require.ErrorContains(t, err, "-format takes csv or ndjson")
}

func TestFileName(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/names.tsv", 3) {
		table, want := testkit.Must(strconv.Unquote(c[1]))(t), testkit.Must(strconv.Unquote(c[2]))(t)
		require.Equal(t, want, fileName(table), c[0])
	}
}
