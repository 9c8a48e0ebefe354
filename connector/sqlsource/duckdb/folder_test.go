package duckdb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/conformancetest"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/filesource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/duckdb"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// makeFiles writes the answers of statements into files below a folder, and returns it.
func makeFiles(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := testkit.Must(filepath.EvalSymlinks(t.TempDir()))(t)
	db := open(t, "")
	for name, statement := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		testkit.Must(db.Exec("COPY ("+statement+") TO "+quoted(file)[1:len(quoted(file))-1]))(t, name)
	}
	return dir
}

// serve serves a folder.
func serve(t testing.TB, dir string, options *duckdb.FolderOptions) *connectortest.Server {
	t.Helper()
	source := testkit.Must(duckdb.Folder(dir, options))(t)
	def := connector.Definition{Slug: "folder"}
	if options != nil && options.PerTenant {
		def.Credentials = filesource.Credentials()
	}
	return connectortest.Start(t, def, source, nil)
}

// lake are files of all formats, and a folder of partitions.
var lake = map[string]string{
	"people.csv":                    "SELECT range AS id, 'name ' || range AS name FROM range(5)",
	"notes.ndjson":                  "SELECT range AS id, {'a': [range]} AS body FROM range(3)",
	"single.parquet":                "SELECT 9 - range AS n FROM range(10)",
	"it's \"a\" table.parquet":      "SELECT 1 AS \"a\"\"b'c\"",
	"sales/year=2024/a.parquet":     "SELECT 1000 - range AS n, 'x' AS kind, CAST(range AS DECIMAL(10,2)) AS total FROM range(500)",
	"sales/year=2025/a.parquet":     "SELECT 500 - range AS n, 'y' AS kind, CAST(range AS DECIMAL(10,2)) AS total FROM range(500)",
	"sales/year=2025/_part.parquet": "SELECT 'not read' AS n",
}

// TestFolderPages reads pages without a sort, which are in the order of the files, and
// by a column whose values repeat.
func TestFolderPages(t *testing.T) {
	tenant := serve(t, makeFiles(t, lake), nil).As(nil).In(t)
	for _, sort := range [][]wire.SortKey{{}, {{Field: "kind", Dir: wire.Desc}}} {
		var got []int64
		for offset := int64(0); offset < 1000; offset += 130 {
			answer, err := tenant.Query(wire.QueryRequest{Table: "sales", Sort: sort, Fields: []string{"n"}, Limit: 130, Offset: offset})
			require.NoError(t, err)
			require.True(t, answer.Served.Window)
			for _, row := range answer.Rows {
				got = append(got, row[0].Int64())
			}
		}
		want := make([]int64, 1000)
		for i := range want {
			want[i] = int64(1000 - i)
		}
		if len(sort) > 0 {
			want = append(want[500:], want[:500]...)
		}
		require.Equal(t, want, got)
	}
}

// TestFolderIsJudged grades a folder by the conformance program.
func TestFolderIsJudged(t *testing.T) {
	source := testkit.Must(duckdb.Folder(makeFiles(t, lake), nil))(t)
	handler := testkit.New(connectortest.Token, connector.Definition{Slug: "folder"}, source, nil)
	target, done := conformance.InProcess(handler, connectortest.Token)
	defer done()
	conformancetest.Test(t, target, &conformance.Options{Mode: conformance.ModeLive, Requests: 300})
}

// TestFolderNames asks for tables by names that lead out of the folder, or would be
// more than a name.
func TestFolderNames(t *testing.T) {
	dir := makeFiles(t, map[string]string{"in/a.parquet": "SELECT 1 AS n", "in/b.parquet": "SELECT 1 AS n",
		"secret.parquet": "SELECT 1 AS n"})
	tenant := serve(t, filepath.Join(dir, "in"), nil).As(nil).In(t).Unverified()
	for _, name := range []string{
		"../secret", "../secret.parquet", filepath.Join(dir, "secret.parquet"), "a.parquet", "*", "?", "[ab]", "A", "a\x00", "A*",
		"read_text('/etc/passwd')", `a" UNION ALL SELECT * FROM read_text('/etc/passwd') --`, "folder.tables", "tables", "duckdb_settings()",
		"https://example.com/a.parquet", "main.a", "a;", "a' OR '1'='1",
	} {
		for _, try := range []func() error{
			func() error {
				_, err := tenant.Query(wire.QueryRequest{Table: name, Sort: []wire.SortKey{}, Fields: []string{"n"}})
				return err
			},
			func() error { _, err := tenant.Count(wire.CountRequest{Table: name}); return err },
			func() error { _, err := tenant.Cardinality(name, "n"); return err },
		} {
			require.Equal(t, wire.CodeUnknownEntity, wire.CodeOf(try()), "%q", name)
		}
	}
	for _, value := range []string{filepath.Join(dir, "secret.parquet"), "'; COPY a TO '/tmp/x", "../secret.parquet"} {
		answer := testkit.Must(tenant.Query(wire.QueryRequest{Table: "a", Sort: []wire.SortKey{}, Fields: []string{"n"},
			Where: wire.Where{And: []wire.Filter{{Field: "n", Op: wire.OpEq, Value: wire.Text(value)}}}}))(t)
		require.Empty(t, answer.Rows)
	}
}

// TestFolderHostile names files, functions and statements in every other place of a
// request: as columns, sorts, groups, joined tables, labels and values. None of it is
// answered from, and nothing is written.
func TestFolderHostile(t *testing.T) {
	dir := makeFiles(t, map[string]string{"in/a.parquet": "SELECT 1 AS n, 'x' AS s", "secret.csv": "SELECT 'secret' AS n"})
	secret := filepath.Join(dir, "secret.csv")
	tenant := serve(t, filepath.Join(dir, "in"), nil).As(nil).In(t).Unverified()
	for _, text := range []string{
		secret, "../secret.csv", "n FROM read_csv('" + secret + "') --", `n" FROM read_csv('` + secret + `') --`,
		"(SELECT n FROM '" + secret + "')",
		"'; COPY (SELECT 1) TO '" + filepath.Join(dir, "written") + "'; --", "'; INSTALL httpfs; LOAD httpfs; --",
		"'; ATTACH '" + dir + "/written'; --",
		"getenv('HOME')", "read_text('/etc/passwd')", "https://example.com/a.parquet", "$1", "?",
		"\x1ffile", "\x1frow", "filename", "file_row_number",
	} {
		query := func(q wire.QueryRequest) error {
			q.Table = "a"
			if q.Sort == nil {
				q.Sort = []wire.SortKey{}
			}
			if q.Fields == nil {
				q.Fields = []string{"n"}
			}
			_, err := tenant.Query(q)
			return err
		}
		aggregate := func(by []wire.GroupKey, field string) error {
			_, err := tenant.Aggregate(wire.AggregateRequest{Table: "a", GroupBy: by, Measures: []wire.Measure{{Fn: wire.AggMax, Field: field,
				As: "m"}}})
			return err
		}
		join := func(h wire.JoinHop) error { return query(wire.QueryRequest{Joins: []wire.JoinHop{h}}) }
		_, cardinality := tenant.Cardinality("a", text)
		for place, err := range map[string]error{
			"field":       query(wire.QueryRequest{Fields: []string{text}}),
			"filter":      query(wire.QueryRequest{Where: wire.Where{And: []wire.Filter{{Field: text, Op: wire.OpEq, Value: wire.Int(1)}}}}),
			"sort":        query(wire.QueryRequest{Sort: []wire.SortKey{{Field: text, Dir: wire.Asc}}}),
			"group":       aggregate([]wire.GroupKey{{Field: text, As: "g"}}, "n"),
			"measure":     aggregate([]wire.GroupKey{}, text),
			"joined":      join(wire.JoinHop{FromTable: "a", ToTable: text, FromField: "n", ToField: "n"}),
			"join by":     join(wire.JoinHop{FromTable: "a", ToTable: "a", FromField: "n", ToField: text}),
			"cardinality": cardinality,
		} {
			require.Error(t, err, "%s %q", place, text)
		}
		for _, op := range []wire.Op{wire.OpEq, wire.OpIncludes, wire.OpStartsWith, wire.OpGt} {
			answer := testkit.Must(tenant.Query(wire.QueryRequest{Table: "a", Fields: []string{"s"}, Sort: []wire.SortKey{},
				Where: wire.Where{And: []wire.Filter{{Field: "s", Op: op, Value: wire.Text(text)}}}}))(t)
			if op != wire.OpGt {
				require.Empty(t, answer.Rows, "%s %q", op, text)
			}
		}
	}
	var left []string
	for _, in := range []string{dir, filepath.Join(dir, "in")} {
		entries := testkit.Must(os.ReadDir(in))(t)
		for _, e := range entries {
			left = append(left, e.Name())
		}
	}
	require.Equal(t, []string{"in", "secret.csv", "a.parquet"}, left)
}

// TestFolderPerTenant gives each tenant its own folder, and strangers none.
func TestFolderPerTenant(t *testing.T) {
	dir := makeFiles(t, map[string]string{"north/n.parquet": "SELECT 1 AS n", "south/s.parquet": "SELECT 1 AS n"})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "south", ".password"), []byte("warm\n"), 0o600))
	server := serve(t, dir, &duckdb.FolderOptions{PerTenant: true, Threads: 1, Source: &sqlsource.Options{}})
	for _, c := range []struct {
		tenant, password string
		want             []string
	}{{"north", "", []string{"n"}}, {"south", "warm", []string{"s"}}, {"south", "cold", nil}, {"..", "", nil}, {"north/../south", "",
		nil}, {"", "", nil}} {
		d, err := server.As(map[string]string{"tenant": c.tenant, "password": c.password}).In(t).Unverified().Discover()
		if c.want == nil {
			require.Error(t, err, c.tenant)
			continue
		}
		require.NoError(t, err)
		require.Len(t, d.Tables, 1)
		require.Equal(t, c.want[0], d.Tables[0].Name)
	}
}

// TestFolderRowNumbers sorts files that have columns named as those by which the engine
// numbers rows: pages repeat none.
func TestFolderRowNumbers(t *testing.T) {
	tenant := serve(t, makeFiles(t, map[string]string{
		"a.parquet": "SELECT range AS n, 'same' AS s, 1 AS File_Index, 1 AS file_row_number FROM range(50000)",
	}), nil).As(nil).In(t)
	got := map[int64]bool{}
	for offset := int64(0); offset < 50_000; offset += 5000 {
		answer, err := tenant.Query(wire.QueryRequest{Table: "a", Sort: []wire.SortKey{{Field: "s", Dir: wire.Asc}}, Fields: []string{"n"},
			Limit: 5000, Offset: offset})
		require.NoError(t, err)
		for _, row := range answer.Rows {
			got[row[0].Int64()] = true
		}
	}
	require.Equal(t, 50_000, len(got))
}

func TestFolderRefuses(t *testing.T) {
	pattern := filepath.Join(t.TempDir(), "a[b]")
	require.NoError(t, os.Mkdir(pattern, 0o755))
	_, err := duckdb.Folder(pattern, nil)
	require.ErrorContains(t, err, "rename the folder")
	tenants := makeFiles(t, map[string]string{"a[b]/n.parquet": "SELECT 1 AS n", "ab/n.parquet": "SELECT 2 AS n"})
	server := serve(t, tenants, &duckdb.FolderOptions{PerTenant: true})
	d := testkit.Must(server.As(map[string]string{"tenant": "a[b]", "password": ""}).In(t).Discover())(t)
	require.Empty(t, d.Tables)
	require.Contains(t, fmt.Sprint(d.Warnings), "n.parquet is left out: its path has a character")
	_, err = duckdb.Folder(t.TempDir(), &duckdb.FolderOptions{Format: filesource.Format{Encoding: "latin"}})
	require.ErrorContains(t, err, "duckdb: format: Encoding must be one of")
	_, err = duckdb.Folder(filepath.Join(t.TempDir(), "gone"), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = duckdb.Folder(filepath.Join(t.TempDir(), "gone"), &duckdb.FolderOptions{PerTenant: true})
	require.ErrorIs(t, err, os.ErrNotExist)
}
