package duckdb_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/conformancetest"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/filesource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/duckdb"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
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
		testkit.Must(db.Exec("COPY ("+statement+") TO "+quoted(file)))(t, name)
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

// pages returns the first cells of an answer that is read in pages of so many rows.
func pages(t *testing.T, tenant *connectortest.Tenant, of int64, q wire.QueryRequest) (cells []int64) {
	t.Helper()
	for q.Limit = of; len(cells) == int(q.Offset); q.Offset += of {
		answer := testkit.Must(tenant.Query(q))(t)
		require.True(t, answer.Served.Window)
		for _, row := range answer.Rows {
			cells = append(cells, row[0].Int64())
		}
	}
	return cells
}

// TestFolderPages reads pages without a sort, which are in the order of the files, and
// by a column whose values repeat.
func TestFolderPages(t *testing.T) {
	tenant := serve(t, makeFiles(t, lake), nil).As(nil).In(t)
	want := make([]int64, 1000)
	for i := range want {
		want[i] = int64(1000 - i)
	}
	require.Equal(t, want, pages(t, tenant, 130, wire.QueryRequest{Table: "sales", Sort: []wire.SortKey{}, Fields: []string{"n"}}))
	byKind := []wire.SortKey{{Field: "kind", Dir: wire.Desc}}
	require.Equal(t, append(want[500:], want[:500]...),
		pages(t, tenant, 130, wire.QueryRequest{Table: "sales", Sort: byKind, Fields: []string{"n"}}))
}

// TestFolderIsJudged grades a folder by the conformance program.
func TestFolderIsJudged(t *testing.T) {
	source := testkit.Must(duckdb.Folder(makeFiles(t, lake), nil))(t)
	handler := connectors.New(connectortest.Token, connector.Definition{Slug: "folder"}, source, nil)
	target, done := conformance.InProcess(handler, connectortest.Token)
	defer done()
	conformancetest.Test(t, target, &conformance.Options{Mode: conformance.ModeLive, Requests: 300})
}

// TestFolderHostile asks the requests of testdata/hostile.txtar with each of its texts.
func TestFolderHostile(t *testing.T) {
	dir := makeFiles(t, map[string]string{"in/a.parquet": "SELECT 1 AS n, 'x' AS s", "in/b.parquet": "SELECT 1 AS n",
		"secret.csv": "SELECT 'secret' AS n", "secret.parquet": "SELECT 1 AS n"})
	tenant := serve(t, filepath.Join(dir, "in"), nil).As(nil).In(t).Unverified()
	hostile := situation.Open(t, "testdata/hostile.txtar")
	for line := range strings.Lines(hostile.Section("texts").Text) {
		text := strings.ReplaceAll(strings.TrimSpace(line), "{dir}", dir)
		for section, want := range map[string]string{
			"unknown": `^unknown_entity: `, "refused": `^(declined$|\w+: )`, "empty": `^$`, "answered": `^(\["x"\]\n)?$`,
		} {
			for request := range strings.Lines(hostile.Section(section).Text) {
				request = strings.ReplaceAll(strings.TrimSpace(request), `"{text}"`, text)
				require.Regexp(t, want, ask(t, tenant, request), request)
			}
		}
	}
	var left []string
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(path string, _ fs.DirEntry, err error) error {
		left = append(left, path)
		return err
	}))
	require.Equal(t, []string{".", "in", "in/a.parquet", "in/b.parquet", "secret.csv", "secret.parquet"}, left)
}

// TestOddNames serves files whose names mean something to SQL, to a shell or to a
// pattern: each is the file of that name.
func TestOddNames(t *testing.T) {
	names := []string{
		"x'), read_text('passwd') --", `a"; COPY b TO 'c`, "a{b,c}", `back\slash`, "~", "%41", "a;b", "new\nline", "$HOME", "s3:", "a=b",
		"pg_tables", "duckdb_settings", "temp.main.x", "sqlite_master", "select", "é", "e\u0301", " ", "a.b",
	}
	dir := t.TempDir()
	for i, name := range names {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".csv"), []byte(fmt.Sprintf("n\n%d\n", i)), 0o600))
		sub := filepath.Join(dir, "of "+name, "year="+name)
		require.NoError(t, os.MkdirAll(sub, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(sub, "a.csv"), []byte(fmt.Sprintf("n\n%d\n", i)), 0o600))
	}
	tenant := serve(t, dir, &duckdb.FolderOptions{Memory: "100MB"}).As(nil).In(t).Unverified()
	require.Empty(t, testkit.Must(tenant.Discover())(t).Warnings)
	for i, name := range names {
		for _, table := range []string{name, "of " + name} {
			answer := testkit.Must(tenant.Query(wire.QueryRequest{Table: table, Sort: []wire.SortKey{}, Fields: []string{"n"}}))(t, table)
			require.Equal(t, [][]wire.Value{{wire.Int(int64(i))}}, answer.Rows, table)
		}
	}
}

// TestFolderPerTenant gives each tenant its own folder, and strangers none.
func TestFolderPerTenant(t *testing.T) {
	dir := makeFiles(t, map[string]string{"north/n.parquet": "SELECT 1 AS n", "south/s.parquet": "SELECT 1 AS n"})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "south", ".password"), []byte("warm\n"), 0o600))
	server := serve(t, dir, &duckdb.FolderOptions{PerTenant: true, Threads: 1, Source: &sqlsource.Options{}})
	for _, c := range []struct {
		tenant, password, want string
	}{
		{"north", "", "^n: "},
		{"south", "warm", "^s: "},
		{"south", "cold", "^bad_request: "},
		{"..", "", "^bad_request: "},
		{"north/../south", "", "^bad_request: "},
		{"", "", "^bad_request: "},
	} {
		answer := ask(t, server.As(map[string]string{"tenant": c.tenant, "password": c.password}).In(t).Unverified(), "discovery")
		require.Regexp(t, c.want, answer, c.tenant)
	}
}

// TestFolderRowNumbers sorts files that have columns named as those by which the engine
// numbers rows: pages repeat none.
func TestFolderRowNumbers(t *testing.T) {
	tenant := serve(t, makeFiles(t, map[string]string{
		"a.parquet": "SELECT range AS n, 'same' AS s, 1 AS File_Index, 1 AS file_row_number FROM range(50000)",
	}), nil).As(nil).In(t)
	same := []wire.SortKey{{Field: "s", Dir: wire.Asc}}
	got := pages(t, tenant, 5000, wire.QueryRequest{Table: "a", Sort: same, Fields: []string{"n"}})
	slices.Sort(got)
	require.Len(t, slices.Compact(got), 50_000)
}

// TestFolderRefuses says what is wrong with a folder, or with its options, before anything is served.
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

// TestLongCells reads cells that are longer than what the engine takes for a line.
func TestLongCells(t *testing.T) {
	for _, size := range []int{100, 2_100_000, 9_000_000} {
		dir, long := t.TempDir(), strings.Repeat("x", size)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "t.csv"), []byte("n,s\n1,"+long+"\n2,y\n"), 0o600))
		answer := ask(t, serve(t, dir, nil).As(nil).In(t), `query {"table": "t", "fields": ["n", "s"]}`)
		require.True(t, answer == "[1, \""+long+"\"]\n[2, \"y\"]\n", "%d: %.100s", size, answer)
	}
}

// TestFresh replaces a file again and again by one of the same size, at once: its types
// are those of what is there.
func TestFresh(t *testing.T) {
	dir := t.TempDir()
	tenant := serve(t, dir, nil).As(nil).In(t).Unverified()
	for i, content := range []string{"n\n1.5\n", "n\n007\n", "n\n1e5\n", "n\n1.7\n", "n\nabc\n"} {
		file := filepath.Join(dir, "t.csv")
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		now := time.Now().Truncate(time.Second)
		require.NoError(t, os.Chtimes(file, now, now))
		answer := ask(t, tenant, `query {"table": "t", "fields": ["n"]}`)
		require.Equal(t, content[2:5], strings.Trim(answer, "[]\"\n"), i)
	}
	require.Contains(t, ask(t, tenant, `query {"table": "u", "fields": ["n"]}`), "unknown_entity: ")
}
