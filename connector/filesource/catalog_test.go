package filesource

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textfile"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// shelf returns a catalog over one tenant's folder on the disk.
func shelf(t *testing.T, files map[string]string) (dir string, l *catalog, find func(table string) *description) {
	t.Helper()
	dir = t.TempDir()
	put(t, dir, map[string]string{"acme/.keep": ""})
	acme := filepath.Join(dir, "acme")
	put(t, acme, files)
	r := testkit.Must(openRoot(dir))(t)
	life, end := context.WithCancel(context.Background())
	t.Cleanup(end)
	l = newCatalog(life, r, textfile.Format{})
	return acme, l, func(table string) *description {
		t.Helper()
		f := testkit.Must(r.enter("acme"))(t)
		defer func() { _ = f.close() }()
		return testkit.Must(l.find(context.Background(), f, table))(t)
	}
}

func TestADescriptionLastsAsLongAsItsFiles(t *testing.T) {
	acme, _, find := shelf(t, map[string]string{"t.csv": "a\n1\n"})
	first := find("t")
	assert.Equal(t, wire.TypeNumber, first.columns[0].typ)
	assert.Same(t, first, find("t"), "nothing changed, so nothing is read again")

	put(t, acme, map[string]string{"t.table.json": `{"description":"new"}`})
	second := find("t")
	assert.NotSame(t, first, second, "a sidecar came")
	assert.Equal(t, "new", second.discovered().SourceDescription)
	put(t, acme, map[string]string{"t.table.json": `{"description":"old"}`})
	assert.Equal(t, "old", find("t").discovered().SourceDescription, "a sidecar of the same size and time")
	require.NoError(t, os.Remove(filepath.Join(acme, "t.table.json")))
	assert.Equal(t, "The rows of the file t.csv.", find("t").discovered().SourceDescription, "and it went")

	put(t, acme, map[string]string{"t.csv": "a\nx\nxyz\n"})
	d := find("t")
	assert.Equal(t, wire.TypeString, d.columns[0].typ, "the file has another size")
	assert.Equal(t, int64(2), d.rowCount)

	put(t, acme, map[string]string{"new.csv": "a\n1\n234\n"})
	require.NoError(t, os.Rename(filepath.Join(acme, "new.csv"), filepath.Join(acme, "t.csv")))
	assert.Equal(t, wire.TypeNumber, find("t").columns[0].typ, "a file of the same size and time in its place is another file")

	later := rested.Add(time.Minute)
	require.NoError(t, os.Chtimes(filepath.Join(acme, "t.csv"), later, later))
	before := find("t")
	require.NoError(t, os.Chtimes(filepath.Join(acme, "t.csv"), rested, rested))
	assert.NotSame(t, before, find("t"), "another time means another content")

	require.NoError(t, os.Remove(filepath.Join(acme, "t.csv")))
	assert.Nil(t, find("t"), "a file that went is no table")
}

func TestAFileJustWrittenIsNotTrusted(t *testing.T) {
	acme, _, find := shelf(t, nil)
	path := filepath.Join(acme, "t.csv")
	now := time.Now()
	write := func(content string, at time.Time) {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		require.NoError(t, os.Chtimes(path, at, at))
	}
	write("a\n1\n", now)
	assert.Equal(t, wire.TypeNumber, find("t").columns[0].typ)
	write("a\nx\n", now) // within one tick of a coarse clock
	assert.Equal(t, wire.TypeString, find("t").columns[0].typ)
	write("a\n1\n", now.Add(time.Hour))
	d := find("t")
	assert.Equal(t, wire.TypeNumber, d.columns[0].typ)
	assert.Same(t, d, find("t"), "a time in the future would never come to rest")
}

func TestForget(t *testing.T) {
	acme, l, find := shelf(t, map[string]string{
		"t.csv": "a\n1\n", "u.csv": "a\n1\n", "t.table.json": `{"foreignKeys":[{"field":"a","targetTable":"u","targetField":"a"}]}`,
	})
	src := &tables{root: l.root, catalog: l}
	discover := func() *wire.Discovery {
		f := testkit.Must(l.root.enter("acme"))(t)
		return testkit.Must(src.discover(context.Background(), f, func(string, string) {}))(t)
	}
	require.Len(t, discover().Tables[0].ForeignKeys, 1)
	require.NotNil(t, find("t"))
	assert.Equal(t, 2, l.tables.Len())
	assert.Equal(t, 1, l.links.Len())
	require.NoError(t, os.Remove(filepath.Join(acme, "t.csv")))
	d := discover()
	assert.Equal(t, 1, l.tables.Len(), "what is known of a file goes with it")
	assert.Zero(t, l.links.Len())
	assert.Equal(t, []string{"t.table.json describes no table: there is no t.csv or t.ndjson to serve beside it"}, d.Warnings)
}

func TestForeignKeysAreCheckedAgain(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{
		"acme/t.csv": "a\n1\n2\n", "acme/u.csv": "a\n1\n",
		"acme/t.table.json": `{"foreignKeys":[{"field":"a","targetTable":"u","targetField":"a"}]}`,
	})
	s, _ := host(t, dir)
	d := discovered(t, s, "acme")
	assert.Empty(t, d.Tables[0].ForeignKeys)
	assert.Equal(t, []string{
		"t.table.json: foreign key a to u.a is not declared: 1 of 2 values are not there, the first on line 3",
	}, d.Warnings)
	put(t, dir, map[string]string{"acme/u.csv": "a\n1\n2\n"})
	d = discovered(t, s, "acme")
	assert.Len(t, d.Tables[0].ForeignKeys, 1, "the other table changed")
	assert.Empty(t, d.Warnings)
}

func TestListing(t *testing.T) {
	f := &folder{name: "acme", files: mapFS(map[string]string{
		"b.csv": "", "a.CSV": "", "c.ndjson": "", "d.csv": "", "d.ndjson": "", "e.txt": "", "README.md": "", ".h.csv": "", "sub/f.csv": "",
		"b.table.json": "", "g.table.json": "", "dots.in.name.csv": "",
	})}
	l := testkit.Must(f.list())(t)
	var names []string
	for _, table := range l.tables {
		names = append(names, table.table+" "+table.file)
	}
	assert.Equal(t, []string{"a a.CSV", "b b.csv", "c c.ndjson", "dots.in.name dots.in.name.csv"}, names)
	assert.Equal(t, []string{
		"sub is not served: what is in a folder of the tenant's is no table",
		"README.md and e.txt are not served: what is served has the extension .csv, .jsonl, .ndjson or .tsv",
		"d.csv and d.ndjson are left out: they would be one table; rename one of them",
		"g.table.json describes no table: there is no g.csv or g.ndjson to serve beside it",
	}, l.warnings)
}

// TestAFileWrittenToWhileItIsRead reads a file that changes under the reader.
func TestAFileWrittenToWhileItIsRead(t *testing.T) {
	content := "a,b\n" + strings.Repeat("1,some text to fill the buffers of the readers\n", 20_000)
	read := func(t *testing.T, change func(path string) error) (n int, err error) {
		acme, l, _ := shelf(t, map[string]string{"t.csv": content})
		f := testkit.Must(l.root.enter("acme"))(t)
		defer func() { _ = f.close() }()
		d, opened, err := l.open(context.Background(), f, "t")
		require.NoError(t, err)
		defer opened.close()
		for _, err := range d.all(context.Background(), opened) {
			if err != nil {
				return n, err
			}
			if n++; n == 10 {
				require.NoError(t, change(filepath.Join(acme, "t.csv")))
			}
		}
		return n, nil
	}
	const changed = "the file changed while it was read"
	write := func(path, content string) error { return os.WriteFile(path, []byte(content), 0o644) }
	for _, c := range []struct {
		why    string
		change func(path string) error
		rows   int    // 0: not all of them
		err    string // "": the reader has the old version to its end
	}{
		{"overwritten in place", func(path string) error { return write(path, strings.ReplaceAll(content, "1,", "x,")) }, 0, changed},
		{"overwritten in place by rows of the same types: a mixture of two versions is never passed off as one",
			func(path string) error { return write(path, strings.ReplaceAll(content, "1,", "2,")) }, 0, changed},
		{"cut short", func(path string) error { return os.Truncate(path, 1000) }, 0, changed},
		{"appended to: rows are read to the length the file had", func(path string) error { return write(path, content+"2,more\n") },
			20_000, changed},
		{"replaced by renaming", func(path string) error { return errors.Join(write(path+".new", "a\n"), os.Rename(path+".new", path)) },
			20_000, ""},
		{"removed", os.Remove, 20_000, ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			n, err := read(t, c.change)
			if c.err == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.err)
			}
			if c.rows > 0 {
				assert.Equal(t, c.rows, n)
			}
		})
	}
}

// TestAFileReplacedWhileItIsOpened replaces a file between its description and
// the opening of its rows.
func TestAFileReplacedWhileItIsOpened(t *testing.T) {
	for _, c := range []struct {
		why   string
		times int
		want  error
	}{{"once: it is described anew", 1, nil}, {"again and again: the request fails", 100, errChanged}} {
		acme, l, _ := shelf(t, map[string]string{"t.csv": "a\n1\n"})
		f := testkit.Must(l.root.enter("acme"))(t)
		swaps := 0
		f.files = bent{FS: f.files, before: func(op, name string) error {
			if op == "open" && name == "t.csv" && swaps < c.times {
				swaps++
				put(t, acme, map[string]string{"t.csv": "a\n" + strings.Repeat("x\n", 1+swaps)})
			}
			return nil
		}}
		d, opened, err := l.open(t.Context(), f, "t")
		require.ErrorIs(t, err, c.want, c.why)
		if c.want == nil {
			assert.Equal(t, wire.TypeString, d.columns[0].typ, c.why)
			opened.close()
		}
		require.NoError(t, f.close())
	}
}

// TestALinkOfStaleDescriptions checks a foreign key against files that are no
// longer what was described.
func TestALinkOfStaleDescriptions(t *testing.T) {
	for _, changed := range []string{"t.csv", "u.csv"} {
		acme, l, find := shelf(t, map[string]string{"t.csv": "a\n1\n", "u.csv": "a\n1\n"})
		from, to := find("t"), find("u")
		key := wire.ForeignKey{Field: "a", TargetTable: "u", TargetField: "a"}
		require.Empty(t, testkit.Must(l.checkLink("acme", key, from, to))(t))
		put(t, acme, map[string]string{changed: "a\n1\n\n1\n"})
		_, err := l.checkLink("acme", key, from, to)
		assert.ErrorIs(t, err, errChanged, changed)
	}
}
