package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// written returns the content of a file with these rows of one column n.
func written(t *testing.T, ext string, rows string) []byte {
	t.Helper()
	db := testkit.Must(sql.Open("duckdb", ""))(t)
	defer func() { _ = db.Close() }()
	file := filepath.Join(t.TempDir(), "a"+ext)
	testkit.Must(db.Exec("COPY (" + rows + ") TO " + literal(file)))(t)
	return testkit.Must(os.ReadFile(file))(t)
}

// described opens a folder, describes its table a, and returns the connection and the
// column n.
func described(t *testing.T, p *instances, dir string) (*sql.Conn, *sqlengine.Column) {
	t.Helper()
	db := testkit.Must(p.openFolder(dir))(t)
	t.Cleanup(func() { _ = db.Close() })
	conn := Connected(t, db)
	tables, warnings, err := folderFlavor{}.Catalog(t.Context(), conn, "", []string{"a"})
	require.NoError(t, err)
	require.Empty(t, warnings)
	require.Len(t, tables, 1)
	n := folderFlavor{}.Column("n", tables[0].Columns[0])
	n.Decode = n.Decoder()
	return conn, &n
}

var selectN = "SELECT n FROM " + folderFlavor{}.Table("", "a")

// readN reads the column n, and calls after with the number of rows so far.
func readN(ctx context.Context, conn *sql.Conn, n *sqlengine.Column, after func(int)) (rows int, err error) {
	for _, err := range readRows(ctx, conn, selectN, nil, []*sqlengine.Column{n}) {
		if err != nil {
			return rows, err
		}
		rows++
		after(rows)
	}
	return rows, nil
}

// changes are what may be done to a file while it is read. file is its path.
var changes = map[string]func(file string, other []byte) error{
	"truncated":  func(file string, _ []byte) error { return os.Truncate(file, 100) },
	"emptied":    func(file string, _ []byte) error { return os.WriteFile(file, nil, 0o600) },
	"rewritten":  func(file string, other []byte) error { return os.WriteFile(file, other, 0o600) },
	"removed":    func(file string, _ []byte) error { return os.Remove(file) },
	"renamed to": func(file string, other []byte) error { return replaceFile(file, other) },
	"appended to": func(file string, other []byte) error {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.Write(other)
		return errors.Join(err, f.Close())
	},
	"replaced by a link": func(file string, other []byte) error {
		if err := os.Rename(file, file+".moved"); err != nil {
			return err
		}
		return os.Symlink(file+".moved", file)
	},
}

// replaceFile puts another version of a file in place, as whoever serves it should.
func replaceFile(file string, content []byte) error {
	if err := os.WriteFile(file+".new", content, 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// TestChangedUnderRead changes a file after the first rows of it were read, and before a
// count: the answer is an error, and never the rows that were left.
func TestChangedUnderRead(t *testing.T) {
	const rows = 400_000
	kinds := []string{".csv", ".parquet", ".ndjson"}
	if testing.Short() {
		kinds = kinds[:1]
	}
	for _, ext := range kinds {
		content := written(t, ext, fmt.Sprintf("SELECT range AS n FROM range(%d)", rows))
		other := written(t, ext, "SELECT range AS n FROM range(5)")
		for name, change := range changes {
			t.Run(ext+" "+name, func(t *testing.T) {
				t.Parallel()
				p := newInstances(&FolderOptions{Memory: "200MB"})
				dir := t.TempDir()
				file := filepath.Join(dir, "a"+ext)
				require.NoError(t, os.WriteFile(file, content, 0o600))
				conn, n := described(t, p, dir)
				require.Equal(t, rows, testkit.Must(readN(t.Context(), conn, n, func(int) {}))(t))
				_, err := readN(t.Context(), conn, n, func(row int) {
					if row == 10 {
						require.NoError(t, change(file, other))
					}
				})
				require.ErrorContains(t, err, "replaced or changed while it was read")
				var deliberate *wire.Error
				require.ErrorAs(t, err, &deliberate)
				var count int
				err = conn.QueryRowContext(t.Context(), "SELECT count(*) FROM ("+selectN+")").Scan(&count)
				require.ErrorContains(t, err, "replaced or changed while it was read", "%d rows", count)
			})
		}
	}
}

// TestVersions reads a file, replaces it by one of the same size and time, and reads
// again: the next request sees the new one, and so does one of a file that was added.
func TestVersions(t *testing.T) {
	for _, ext := range []string{".csv", ".parquet", ".ndjson"} {
		t.Run(ext, func(t *testing.T) {
			p := newInstances(&FolderOptions{Memory: "200MB"})
			dir := t.TempDir()
			file := filepath.Join(dir, "a"+ext)
			hourAgo := time.Now().Add(-time.Hour).Truncate(time.Second) // the engine does not cache what is new
			for version := range 4 {
				content := written(t, ext, fmt.Sprintf("SELECT range + %d AS n FROM range(1, 6)", 1000*(version+1)))
				require.NoError(t, os.WriteFile(file+".new", content, 0o600))
				require.NoError(t, os.Chtimes(file+".new", hourAgo, hourAgo))
				require.NoError(t, os.Rename(file+".new", file))
				for range 2 {
					conn, _ := described(t, p, dir)
					var sum int
					// What the engine knows of the version before says that no row meets this.
					statement := fmt.Sprintf("SELECT sum(n)::INTEGER FROM (%s) WHERE n > %d", selectN, 1000*(version+1))
					require.NoError(t, conn.QueryRowContext(t.Context(), statement).Scan(&sum))
					require.Equal(t, 15+5000*(version+1), sum)
				}
			}
			require.NoError(t, os.WriteFile(filepath.Join(dir, "b"+ext), written(t, ext, "SELECT 1 AS n"), 0o600))
			conn, _ := described(t, p, dir)
			tables, _, err := folderFlavor{}.Catalog(t.Context(), conn, "", nil)
			require.NoError(t, err)
			require.Len(t, tables, 2)
			require.Len(t, p.byDir, 1)
		})
	}
}

// TestManyAtOnce reads two folders by many requests at once, and puts new versions in
// place meanwhile: each answer is of one version, or an error that says why.
func TestManyAtOnce(t *testing.T) {
	root := t.TempDir()
	p := newInstances(&FolderOptions{Memory: "200MB"})
	contents := map[string][][]byte{}
	for i, name := range []string{"a", "b"} {
		require.NoError(t, os.Mkdir(filepath.Join(root, name), 0o755))
		for version := range 2 {
			contents[name] = append(contents[name], written(t, ".parquet",
				fmt.Sprintf("SELECT %d AS n FROM range(%d)", i*10+version, 1000*(version+1))))
		}
		require.NoError(t, replaceFile(filepath.Join(root, name, "a.parquet"), contents[name][0]))
	}
	for reader := range 6 {
		name := []string{"a", "b"}[reader%2]
		t.Run(fmt.Sprint(reader), func(t *testing.T) {
			t.Parallel()
			answered := 0
			for try := range 40 {
				if reader < 2 && try%8 == 7 {
					require.NoError(t, replaceFile(filepath.Join(root, name, "a.parquet"), contents[name][try/8%2]))
				}
				var answer string
				err := func() error {
					db, err := p.openFolder(filepath.Join(root, name))
					if err != nil {
						return err
					}
					defer func() { _ = db.Close() }()
					conn, err := db.Conn(t.Context())
					if err != nil {
						return err
					}
					defer func() { _ = conn.Close() }()
					if _, _, err := (folderFlavor{}).Catalog(t.Context(), conn, "", []string{"a"}); err != nil {
						return err
					}
					return conn.QueryRowContext(t.Context(), "SELECT min(n) || ' ' || max(n) || ' ' || count(*) FROM ("+selectN+")").Scan(&answer)
				}()
				if err != nil {
					require.ErrorContains(t, err, "replaced or changed")
					continue
				}
				answered++
				want := map[string][]string{"a": {"0 0 1000", "1 1 2000"}, "b": {"10 10 1000", "11 11 2000"}}[name]
				require.Contains(t, want, answer)
			}
			require.Positive(t, answered)
		})
	}
}

// TestOutOfTime discovers a table whose statistics take longer than is allowed. Those
// behind it are read on another connection, which has the views of the first: a busy
// machine is no reason to say that a table no longer exists.
func TestOutOfTime(t *testing.T) {
	dir := t.TempDir()
	large := "SELECT 'text ' || range AS n, md5(range::VARCHAR) AS a, md5(a) AS b, md5(b) AS c, md5(c) AS d FROM range(190000)"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.parquet"), written(t, ".parquet", large), 0o600))
	for _, name := range []string{"b.csv", "c.ndjson", "d.parquet"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), written(t, filepath.Ext(name), "SELECT 1 AS n"), 0o600))
	}
	source := testkit.Must(Folder(dir, &FolderOptions{Source: &sqlsource.Options{Profile: 40 * time.Millisecond}}))(t)
	d := testkit.Must(source.Discover(t.Context(), &wire.DiscoveryRequest{}))(t)
	require.Len(t, d.Tables, 4, "%v", d.Warnings)
	require.NotContains(t, fmt.Sprint(d.Warnings), "exists")
}

// TestSameSizeAndTime writes other rows over a file, and keeps its size and its time of writing, as
// rsync --inplace --times does. Only the time of its last change tells.
func TestSameSizeAndTime(t *testing.T) {
	for _, ext := range []string{".csv", ".parquet"} {
		p, dir, hourAgo := newInstances(&FolderOptions{Memory: "200MB"}), t.TempDir(), time.Now().Add(-time.Hour)
		for version := range 2 {
			file := filepath.Join(dir, "a"+ext)
			content := written(t, ext, fmt.Sprintf("SELECT range + %d AS n FROM range(1, 6)", 1000*(version+1)))
			require.NoError(t, os.WriteFile(file, content, 0o600))
			require.NoError(t, os.Chtimes(file, hourAgo, hourAgo))
			conn, _ := described(t, p, dir)
			var count int
			statement := fmt.Sprintf("SELECT count(*) FROM (%s) WHERE n > %d", selectN, 1000*(version+1))
			require.NoError(t, conn.QueryRowContext(t.Context(), statement).Scan(&count))
			require.Equal(t, 5, count, ext)
		}
	}
}

// TestFreshFiles leases engines for a Parquet file that has just been written to: what an engine keeps of it may be
// of another version within the same tick of a clock, so the next request gets another engine.
func TestFreshFiles(t *testing.T) {
	p, _ := counted()
	file := filepath.Join(t.TempDir(), "a.parquet")
	for _, age := range []time.Duration{time.Second, time.Hour} {
		require.NoError(t, os.WriteFile(file, nil, 0o600))
		require.NoError(t, os.Chtimes(file, time.Now(), time.Now().Add(-age)))
		files := fingerprints{file: testkit.Must(os.Lstat(file))(t)}
		i, e := lease(t, p, "", files)
		again, other := lease(t, p, "", files)
		p.release(i)
		p.release(again)
		require.Equal(t, age > time.Minute, e == other)
	}
}
