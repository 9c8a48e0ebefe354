package filesource

import (
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestRoutes sends the requests of testdata/routes.json to each route, some of which are refused.
func TestRoutes(t *testing.T) {
	s, _ := inMemory(t, map[string]string{
		"acme/orders.csv": "id,customer,total,placed\n1,A,10.50,2024-01-31T23:30:00-02:00\n2,B,0.25,2024-02-01\n3,,2," +
			"2024-03-05T00:00:00Z\n4,Z,,\n",
		"acme/orders.table.json": `{"primaryKey":["id"]}`,
		"acme/customers.ndjson":  `{"code":"A","name":"Ann","tags":["x","y"]}` + "\n" + `{"code":"B","tags":[]}` + "\n",
		"acme/bad.csv":           "a,b\n1\n",
		"other/x.csv":            "a\n1\n",
	})
	testkit.AskRoutes(t, "testdata/routes.json", map[string]string{CredentialTenant: "acme"}, s.Post)
}

func TestDiscovery(t *testing.T) {
	s, _ := inMemory(t, map[string]string{
		"acme/t.csv": "n,t\n2,x\n1,\n", "acme/bad.csv": "a,a\n", "acme/empty.csv": "a,b\n", "acme/nothing.ndjson": "\n",
	})
	status, answer := s.Post(wire.PathDiscovery, body("acme", "", ""))
	require.Equal(t, 200, status)
	assert.JSONEq(t, string(testkit.Must(os.ReadFile("testdata/discovery.json"))(t)), answer)
}

func TestFilesComeChangeAndGo(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"acme/t.csv": "a\n1\n2\n"})
	s, _ := host(t, dir)
	query := `"table":"t","and":[],"sort":[{"field":"a","dir":"desc"}],"fields":["a"],"limit":2`
	assert.Equal(t, []string{`{"a":2}`, `{"a":1}`}, rowsOf(t, s, "acme", query))
	assert.Equal(t, wire.TypeNumber, discovered(t, s, "acme").Tables[0].Fields[0].Type)

	put(t, dir, map[string]string{"acme/t.csv": "a\n10\n9\nx\n"})
	assert.Equal(t, []string{`{"a":"x"}`, `{"a":"9"}`}, rowsOf(t, s, "acme", query), "the column is text now, and sorts as text")
	assert.Equal(t, wire.TypeString, discovered(t, s, "acme").Tables[0].Fields[0].Type)

	put(t, dir, map[string]string{"acme/t.csv": "b\n1\n"})
	status, answer := s.Post(wire.PathQuery, body("acme", "", query))
	assert.Equal(t, 404, status, "the column is gone: %s", answer)

	put(t, dir, map[string]string{"acme/u.csv": "a\n5\n"})
	assert.Equal(t, []string{`{"a":5}`}, rowsOf(t, s, "acme", strings.ReplaceAll(query, `"t"`, `"u"`)), "a file that came is a table at once")

	require.NoError(t, os.Remove(filepath.Join(dir, "acme", "t.csv")))
	status, answer = s.Post(wire.PathQuery, body("acme", "", query))
	assert.Equal(t, 404, status)
	assert.Equal(t, `{"error":{"code":"unknown_entity","message":"there is no table \"t\""}}`, answer)
	assert.Len(t, discovered(t, s, "acme").Tables, 1)

	put(t, dir, map[string]string{"new/t.csv": "a\n1\n"})
	assert.Equal(t, []string{`{"a":1}`}, rowsOf(t, s, "new", query), "and so is a folder a tenant")
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "new")))
	status, _ = s.Post(wire.PathCheck, body("new", "", ""))
	assert.Equal(t, 400, status)
}

// TestTenantsAreApart serves many tenants whose tables have the same names, with
// every cell marked, and asks for all of them at once.
func TestTenantsAreApart(t *testing.T) {
	const tenants, rounds = 16, 12
	files := map[string]string{}
	for i := range tenants {
		mark := fmt.Sprintf("mark-%02d", i)
		files[mark+"/t.csv"] = fmt.Sprintf("k,v\n1,%s\n2,%s\n", mark, mark)
		files[mark+"/u.ndjson"] = fmt.Sprintf(`{"k":1,"w":["%s"]}`, mark)
		files[mark+"/t.table.json"] = fmt.Sprintf(`{"description":%q,"foreignKeys":[{"field":"k","targetTable":"u","targetField":"k"}]}`, mark)
		files[mark+"/.password"] = "password-of-" + mark
	}
	dir := t.TempDir()
	put(t, dir, files)
	s, _ := host(t, dir)
	requests := map[string]string{
		wire.PathDiscovery: ``,
		wire.PathQuery: `"table":"t","and":[],"sort":[{"field":"k","dir":"desc"}],"fields":["k","v"],"limit":5,` +
			`"joins":[{"fromTable":"t","toTable":"u","fromField":"k","toField":"k","fields":[{"field":"w","as":"w","type":"array"}]}]`,
		wire.PathAggregate:   `"table":"t","and":[],"groupBy":[{"field":"v","as":"v"}],"measures":[{"fn":"count","as":"n"}],"limit":1001`,
		wire.PathLinkHitRate: `"fromTable":"t","fromColumn":"v","toTable":"u","toColumn":"k"`,
	}
	var all sync.WaitGroup
	for i := range tenants {
		all.Go(func() {
			mark := fmt.Sprintf("mark-%02d", i)
			for range rounds {
				for path, members := range requests {
					status, answer := s.Post(path, body(mark, "password-of-"+mark, members))
					assert.Equal(t, 200, status, answer)
					assert.Contains(t, answer, mark)
					assert.NotContains(t, strings.ReplaceAll(answer, mark, ""), "mark-", "%s of %s", path, mark)
				}
				neighbour := fmt.Sprintf("mark-%02d", (i+1)%tenants)
				status, answer := s.Post(wire.PathQuery, body(neighbour, "password-of-"+mark, `"table":"t","and":[],"sort":[],"fields":["v"]`))
				assert.Equal(t, 400, status)
				assert.NotContains(t, answer, neighbour)
			}
		})
	}
	all.Wait()
}

// TestSecretsStayInside looks for passwords in all that is said and logged.
func TestSecretsStayInside(t *testing.T) {
	var logged testkit.Log
	log := slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	dir := t.TempDir()
	put(t, dir, map[string]string{"acme/t.csv": "a\n1\n", "acme/.password": "correct-horse", "broken/.password": "", "broken/t.csv": "a\n"})
	r := testkit.Must(openRoot(dir))(t)
	src := newSource(r, &Options{Logger: log})
	s, _ := start(t, r, &connector.Options{Logger: log})
	for _, tenant := range []string{"acme", "broken", "nobody"} {
		for _, password := range []string{"correct-horse", "typed-by-mistake"} {
			for path, members := range map[string]string{wire.PathCheck: "", wire.PathDiscovery: "",
				wire.PathQuery: `"table":"u","and":[],"sort":[],"fields":[]`} {
				_, answer := s.Post(path, body(tenant, password, members))
				_, _ = logged.Write([]byte(answer))
			}
			_, _ = src.Describe(t.Context(), credentials(tenant, password), "t")
		}
	}
	src.Prepare(t.Context())
	assert.Contains(t, logged.String(), "a tenant's folder cannot be entered", "the host is told what to mend")
	assert.NotContains(t, logged.String(), "correct-horse")
	assert.NotContains(t, logged.String(), "typed-by-mistake")
}

func TestSurveyTellsTheHost(t *testing.T) {
	var logged testkit.Log
	src := newSource(fsRoot(mapFS(map[string]string{"acme/bad.csv": "a,a\n", "good/t.csv": "a\n1\n"})), &Options{Logger: logged.Logger()})
	src.Prepare(t.Context())
	assert.Contains(t, logged.String(),
		`tenant=acme warning="bad.csv line 1: columns 1 and 2 have the same name; rename one; the file is left out"`)
	assert.NotContains(t, logged.String(), "good")
}

// endsAt ends the reads of a file early, with the given error.
func endsAt(end int64, err error) reads {
	return func(p []byte, at int64, read func([]byte, int64) (int, error)) (int, error) {
		if at >= end {
			return 0, err
		}
		return read(p[:min(int64(len(p)), end-at)], at)
	}
}

// TestFilesOfAnotherLength reads files that are not as long as the file system says.
// The first 10 bytes of each are whole records.
func TestFilesOfAnotherLength(t *testing.T) {
	contents := map[string]string{"acme/t.csv": "a,bb\n1,22\n3,4\n", "acme/t.ndjson": "{\"a\":12}\n\n{\"a\":3}\n"}
	for _, c := range []struct {
		why   string
		reads reads
	}{
		{"the end comes early", endsAt(10, io.EOF)},
		{"at once", endsAt(0, io.EOF)},
		{"one byte before the end, which is a line feed", nil},
		{"with an error that is an end to errors.Is alone, as that of a broken connection", endsAt(10, fmt.Errorf("get: %w", io.EOF))},
		{"with an error for an early end", endsAt(10, io.ErrUnexpectedEOF)},
		{"nothing is read, for ever", endsAt(10, nil)},
		{"the bytes and the end come together", func(p []byte, at int64, read func([]byte, int64) (int, error)) (int, error) {
			n, _ := read(p[:min(len(p), 10)], at)
			return n, io.EOF
		}},
		{"there is more than the file system says", func(p []byte, at int64, read func([]byte, int64) (int, error)) (int, error) {
			if n, _ := read(p, at); n > 0 {
				return n, nil
			}
			return copy(p, "5,6\n"), nil
		}},
	} {
		for name, content := range contents {
			t.Run(c.why+" "+name, func(t *testing.T) {
				ends := c.reads
				if ends == nil {
					ends = endsAt(int64(len(content))-1, io.EOF)
				}
				bad := false
				files := bent{FS: mapFS(map[string]string{name: content}), read: func(string) reads {
					if bad {
						return ends
					}
					return nil
				}}
				s, _ := start(t, fsRoot(files), nil)
				_ = rowsOf(t, s, "acme", `"table":"t","and":[],"sort":[],"fields":["a"]`)

				bad = true
				_, answer := s.Post(wire.PathQuery, body("acme", "", `"table":"t","and":[],"sort":[],"fields":["a"]`))
				assert.NotContains(t, answer, `{"end":1}`)
				code, want := `{"code":"internal","message":"internal error"}`, 500
				if strings.Contains(c.why, "there is more") { // as in a file that grows
					code, want = `{"code":"timeout","message":"the file changed`, 408
				}
				assert.Contains(t, answer, code)
				for route, members := range map[string]string{
					wire.PathCount:     `"table":"t","and":[{"field":"a","op":"notnull"}]`,
					wire.PathAggregate: `"table":"t","and":[],"groupBy":[],"measures":[{"fn":"sum","field":"a","as":"s"}],"limit":1001`,
				} {
					status, answer := s.Post(route, body("acme", "", members))
					assert.Equal(t, want, status, "%s %s", route, answer)
				}

				s, _ = start(t, fsRoot(files), nil) // which knows nothing of the file
				status, answer := s.Post(wire.PathDiscovery, body("acme", "", ""))
				if status == 200 {
					assert.Regexp(t, `^{"tables":\[\],"warnings":\["t\.\w+ is left out: the file changed`, answer)
				} else {
					assert.Equal(t, 500, status, "no discovery leaves out a file that may be whole: %s", answer)
				}
				bad = false
				assert.Len(t, discovered(t, s, "acme").Tables, 1, "what passed is forgotten")
			})
		}
	}
}

// TestSmallFilesOfAnotherLength reads a sidecar and a password in part: nothing that
// the rest could contradict is taken from it.
func TestSmallFilesOfAnotherLength(t *testing.T) {
	contents := map[string]string{
		"acme/t.csv": "a\n1\n1\n", "acme/t.table.json": `{"description":"x"}` + "\n" + `x`,
		"globex/u.csv": "a\n1\n", "globex/.password": "secret-and-more",
	}
	for why, err := range map[string]error{"the end": io.EOF, "nothing, for ever": nil} {
		half := func(name string, end int64) bent {
			return bent{FS: mapFS(contents), read: func(read string) reads {
				if read == name {
					return endsAt(end, err)
				}
				return nil
			}}
		}
		s, _ := start(t, fsRoot(half("acme/t.table.json", 20)), nil)
		status, answer := s.Post(wire.PathDiscovery, body("acme", "", ""))
		assert.Equal(t, 500, status, "%s: half a sidecar says nothing: %s", why, answer)

		s, _ = start(t, fsRoot(half("globex/.password", 6)), nil)
		status, answer = s.Post(wire.PathCheck, body("globex", "secret", ""))
		assert.Equal(t, 500, status, "%s: half a password opens no folder: %s", why, answer)
	}
}

// TestAFolderListedInPart requires that no table is said to be missing because its
// folder was listed in part.
func TestAFolderListedInPart(t *testing.T) {
	on := false
	files := bent{FS: mapFS(map[string]string{"acme/a.csv": "a\n1\n", "acme/b.csv": "a\n1\n"}),
		list: func(name string, entries []fs.DirEntry) ([]fs.DirEntry, error) {
			if on && name != "." {
				return entries[:1], &fs.PathError{Op: "readdirent", Path: name, Err: io.ErrUnexpectedEOF}
			}
			return entries, nil
		}}
	s, _ := start(t, fsRoot(files), nil)
	assert.Len(t, discovered(t, s, "acme").Tables, 2)
	on = true
	for route, members := range map[string]string{wire.PathDiscovery: "", wire.PathSize: `"table":"b"`} {
		status, answer := s.Post(route, body("acme", "", members))
		assert.Equal(t, 500, status, answer)
	}
	on = false
	assert.Len(t, discovered(t, s, "acme").Tables, 2)
}

// TestAFileThatGrows asks for a file that is longer each time it is opened, as a log is.
func TestAFileThatGrows(t *testing.T) {
	dir, rows := t.TempDir(), 1
	put(t, dir, map[string]string{"acme/t.csv": "a\n1\n"})
	r := testkit.Must(openRoot(dir))(t)
	enter := r.enter
	r.enter = func(name string) (*folder, error) {
		f, err := enter(name)
		f.files = bent{FS: f.files, before: func(op, file string) error {
			if op == "open" && file == "t.csv" {
				rows++
				put(t, dir, map[string]string{"acme/t.csv": "a\n" + strings.Repeat("1\n", rows)})
			}
			return nil
		}}
		return f, err
	}
	s, _ := start(t, r, nil)
	for path, members := range map[string]string{
		wire.PathSize: `"table":"t"`, wire.PathQuery: `"table":"t","and":[],"sort":[],"fields":["a"]`,
	} {
		status, answer := s.Post(path, body("acme", "", members))
		require.Equal(t, 408, status, answer)
		require.Contains(t, answer, "the file changed while it was read")
	}
}

// TestSameSizeAndTime writes another content over a file, and keeps its size and its time of writing, as
// rsync --inplace --times does. Only the time of its last change tells.
func TestSameSizeAndTime(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"acme/t.csv": "a\n1\n2\n", "acme/t.table.json": `{"primaryKey":["a"]}`})
	s, _ := host(t, dir)
	require.Equal(t, []string{"a"}, discovered(t, s, "acme").Tables[0].PrimaryKey)
	put(t, dir, map[string]string{"acme/t.csv": "a\n1\n1\n"})
	require.Empty(t, discovered(t, s, "acme").Tables[0].PrimaryKey)
}
