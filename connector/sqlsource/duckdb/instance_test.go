package duckdb

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	driver "github.com/duckdb/duckdb-go/v2"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// countedEngine is an engine that says when it is closed.
type countedEngine struct{ closed func() }

func (*countedEngine) Connect(context.Context) (sqldriver.Conn, error) {
	return nil, errors.New("none")
}

func (e *countedEngine) Close() error {
	e.closed()
	return nil
}

// counted returns instances whose open engines are counted, by their folders.
func counted() (p *instances, open func() map[string]int) {
	engines, mu := map[string]int{}, &sync.Mutex{}
	count := func(dir string, more int) {
		mu.Lock()
		defer mu.Unlock()
		if engines[dir] += more; engines[dir] == 0 {
			delete(engines, dir)
		}
	}
	p = newInstances(&FolderOptions{})
	p.open = func(dir string, _ *readings) (engine, error) {
		if dir == "fails" {
			return nil, errors.New("fails")
		}
		count(dir, 1)
		return &countedEngine{func() { count(dir, -1) }}, nil
	}
	return p, func() map[string]int {
		mu.Lock()
		defer mu.Unlock()
		return maps.Clone(engines)
	}
}

func lease(t *testing.T, p *instances, dir string, files fingerprints) (*instance, engine) {
	t.Helper()
	i, e, err := p.lease(dir, files)
	require.NoError(t, err)
	return i, e
}

// TestInstances leases engines as requests do: a folder has one, which is closed when it
// has been idle for a while, or is one idle engine too many, and never in use.
func TestInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, open := counted()
		a, first := lease(t, p, "a", nil)
		again, second := lease(t, p, "a", nil)
		require.Same(t, first, second)
		b, other := lease(t, p, "b", nil)
		require.NotSame(t, first, other)
		p.release(b)
		p.release(again)
		time.Sleep(2 * idleTime)
		require.Equal(t, map[string]int{"a": 1}, open(), "a is in use, b was idle")
		p.release(a)
		time.Sleep(idleTime / 2)
		a, third := lease(t, p, "a", nil)
		require.Same(t, first, third)
		time.Sleep(idleTime) // the timer of the first release has been stopped
		require.Equal(t, map[string]int{"a": 1}, open())
		p.release(a)
		time.Sleep(2 * idleTime)
		require.Empty(t, open())

		for n := range 3 * idleInstances {
			i, _ := lease(t, p, fmt.Sprint(n), nil)
			p.release(i)
			require.LessOrEqual(t, len(open()), idleInstances)
		}
		require.Contains(t, open(), fmt.Sprint(3*idleInstances-1), "the newest stays")
		require.NotContains(t, open(), "0", "the oldest goes")
		time.Sleep(2 * idleTime)
		require.Empty(t, open())
		require.Empty(t, p.byDir)
		require.Empty(t, p.idle)

		_, _, err := p.lease("fails", nil)
		require.Error(t, err)
		require.Empty(t, p.byDir, "the next request tries again")
	})
}

// TestInstancesOfVersions leases an engine for a folder whose files change: one that has
// read another version is used no more, and is closed when its last request has ended.
func TestInstancesOfVersions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, open := counted()
		file := filepath.Join(t.TempDir(), "a")
		version := func(content string) fingerprints {
			require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
			return fingerprints{file: testkit.Must(os.Lstat(file))(t)}
		}
		one := version("1")
		before, first := lease(t, p, "a", one)
		more, second := lease(t, p, "a", fingerprints{file: one[file], "new": one[file]})
		require.Same(t, first, second, "a new file is no new version")
		after, third := lease(t, p, "a", version("12"))
		require.NotSame(t, first, third)
		require.Equal(t, map[string]int{"a": 2}, open())
		p.release(more)
		p.release(after)
		require.Equal(t, map[string]int{"a": 2}, open(), "a request still uses the first")
		p.release(before)
		require.Equal(t, map[string]int{"a": 1}, open())
		broken, _ := lease(t, p, "a", nil)
		p.dismiss(broken)
		last, fourth := lease(t, p, "a", nil)
		require.NotSame(t, third, fourth)
		p.release(broken)
		p.release(last)
		time.Sleep(2 * idleTime)
		require.Empty(t, open())

		many := fingerprints{}
		for n := range forgotten + 2 {
			many[fmt.Sprint(n)] = one[file]
		}
		i, before2 := lease(t, p, "a", many)
		p.release(i)
		i, after2 := lease(t, p, "a", one)
		require.NotSame(t, before2, after2, "nearly all that it knows is gone")
		p.release(i)
		time.Sleep(2 * idleTime)
	})
}

// TestBroken tells an engine that answers nothing any more from one that refuses.
func TestBroken(t *testing.T) {
	for message, want := range map[string]bool{
		"FATAL Error: Failed: database has been invalidated because of a previous fatal error": true,
		"INTERNAL Error: attempted to access index 3":                                          true,
		"Invalid Input Error: FATAL Error: in a value":                                         false,
		"IO Error: gone": false,
	} {
		require.Equal(t, want, isBroken(failure(message)), message)
	}
	require.False(t, isBroken(nil))
	dismissed := false
	c := folderConn{request: &request{}, dismiss: func() { dismissed = true }}
	require.Error(t, c.judge(&driver.Error{Type: driver.ErrorTypeOutOfRange}))
	require.False(t, dismissed)
	require.Error(t, c.judge(failure("FATAL Error: any")))
	require.True(t, dismissed)
}

// TestRequestsShareNothing opens two folders and one of them twice at the same time. What
// a connection makes is seen by no other, and the settings of one connection are all of
// them.
func TestRequestsShareNothing(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a", "b"} {
		require.NoError(t, os.Mkdir(filepath.Join(root, name), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name, "t.csv"), []byte("n\n"+name+"\n"), 0o600))
	}
	p := newInstances(&FolderOptions{Memory: "100MB"})
	opened := func(name string) *sql.DB {
		db := testkit.Must(p.openFolder(filepath.Join(root, name)))(t)
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	a, again, b := opened("a"), opened("a"), opened("b")
	require.Len(t, p.byDir, 2)
	own := Connected(t, a)
	_, _, err := folderFlavor{}.Catalog(t.Context(), own, "", nil)
	require.NoError(t, err)
	view := folderFlavor{}.Table("", "t")
	read := func(q interface {
		QueryRowContext(context.Context, string, ...any) *sql.Row
	}, from string) (n string, err error) {
		err = q.QueryRowContext(t.Context(), "SELECT n FROM "+from).Scan(&n)
		return n, err
	}
	require.Equal(t, "a", testkit.Must(read(own, view))(t))
	for _, other := range []*sql.DB{a, again, b} {
		conn := Connected(t, other)
		_, err := read(conn, view)
		require.ErrorContains(t, err, "does not exist")
		_, _, err = folderFlavor{}.Catalog(t.Context(), conn, "", nil)
		require.NoError(t, err)
		n := testkit.Must(read(conn, view))(t)
		require.Equal(t, map[bool]string{true: "b", false: "a"}[other == b], n)
	}
	for name, db := range map[string]*sql.DB{"a": b, "b": a} {
		_, err := read(db, literal(filepath.Join(root, name, "t.csv")))
		require.ErrorContains(t, err, "Permission Error")
	}
	for name, want := range map[string]string{"lock_configuration": "true", "enable_external_access": "false", "temp_directory": ""} {
		var value string
		require.NoError(t, again.QueryRow("SELECT current_setting("+literal(name)+")::VARCHAR").Scan(&value))
		require.Equal(t, want, value, name)
	}
}

// Connected returns a connection that is closed when the test ends.
func Connected(t testing.TB, db *sql.DB) *sql.Conn {
	t.Helper()
	conn := testkit.Must(db.Conn(context.Background()))(t)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// TestFence runs the statements of testdata/fence.sql, which no request can make: even these read no file
// but the folder's, reach no network and load nothing.
func TestFence(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "inside out")
	for _, folder := range []string{in, out} {
		require.NoError(t, os.Mkdir(folder, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "a.csv"), []byte("n\n1\n"), 0o600))
	}
	db := testkit.Must(newInstances(&FolderOptions{Memory: "100MB"}).openFolder(in))(t)
	defer func() { _ = db.Close() }()
	testkit.Must(db.Exec("SELECT * FROM read_csv(" + literal(filepath.Join(in, "a.csv")) + ")"))(t)
	words := strings.NewReplacer("{in}", in, "{out}", out, "{dir}", dir)
	for statement := range strings.Lines(words.Replace(string(testkit.Must(os.ReadFile("testdata/fence.sql"))(t)))) {
		rows, err := db.Query(statement)
		if err == nil {
			for rows.Next() {
			}
			err = rows.Err()
			_ = rows.Close()
		}
		require.Error(t, err, statement)
	}
}

// TestReaderOptions compares the options that are stated, or left, with those that the
// engine's functions have: a new one is a new guess.
func TestReaderOptions(t *testing.T) {
	db := testkit.Must(newInstances(&FolderOptions{Memory: "100MB"}).openFolder(t.TempDir()))(t)
	defer func() { _ = db.Close() }()
	var tests string
	for _, file := range testkit.Must(filepath.Glob("*_test.go"))(t) {
		tests += string(testkit.Must(os.ReadFile(file))(t))
	}
	for function, list := range map[string][]readerOption{
		"read_csv": csvOptions, "read_json": jsonOptions, "read_parquet": parquetOptions,
	} {
		var has string
		require.NoError(t, db.QueryRow("SELECT string_agg(DISTINCT p, ' ' ORDER BY p) FROM (SELECT unnest(parameters) AS p FROM "+
			"duckdb_functions() WHERE function_name = "+literal(function)+") WHERE p <> 'col0'").Scan(&has))
		var listed []string
		for _, o := range list {
			require.NotEmpty(t, o.why, o.name)
			name, situation, is := strings.Cut(o.test, "/")
			require.Contains(t, tests, "\nfunc "+name+"(t *testing.T)", "%s of %s", o.name, function)
			if is {
				require.FileExists(t, "testdata/situations/"+situation+".txtar", o.name)
			}
			require.NotContains(t, listed, o.name)
			listed = append(listed, o.name)
		}
		slices.Sort(listed)
		require.Equal(t, strings.Fields(has), listed, function)
	}
}
