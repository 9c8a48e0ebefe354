package filesource

import (
	"fmt"
	"io"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// reads is how a file is read at a position, given how the file system does it.
type reads func(p []byte, at int64, read func([]byte, int64) (int, error)) (int, error)

// misread is a file system that reads its files in some way of its own while on is
// true. It states their true sizes.
type misread struct {
	fs.FS
	on    *bool
	names string // of the files that are read so
	reads reads
}

func (m misread) Open(name string) (fs.File, error) {
	f, err := m.FS.Open(name)
	if err == nil && name == m.names {
		f = misreadFile{f, m}
	}
	return f, err
}

type misreadFile struct {
	fs.File
	fs misread
}

func (f misreadFile) ReadAt(p []byte, at int64) (int, error) {
	read := f.File.(io.ReaderAt).ReadAt
	if !*f.fs.on {
		return read(p, at)
	}
	return f.fs.reads(p, at, read)
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
				files := misread{mapFS(map[string]string{name: content}), &bad, name, ends}
				s, _ := start(t, fsRoot(files), nil)
				_ = rowsOf(t, s, "acme", `"table":"t","and":[],"sort":[],"fields":["a"]`)

				bad = true
				_, answer := s.Post(wire.PathQuery, body("acme", "", `"table":"t","and":[],"sort":[],"fields":["a"]`))
				assert.NotContains(t, answer, `{"end":1}`)
				assert.Contains(t, answer, `{"code":"internal","message":"internal error"}`)
				for route, members := range map[string]string{
					wire.PathCount:     `"table":"t","and":[{"field":"a","op":"notnull"}]`,
					wire.PathAggregate: `"table":"t","and":[],"groupBy":[],"measures":[{"fn":"sum","field":"a","as":"s"}],"limit":1001`,
				} {
					status, answer := s.Post(route, body("acme", "", members))
					assert.Equal(t, 500, status, "%s %s", route, answer)
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
		on := true
		s, _ := start(t, fsRoot(misread{mapFS(contents), &on, "acme/t.table.json", endsAt(20, err)}), nil)
		status, answer := s.Post(wire.PathDiscovery, body("acme", "", ""))
		assert.Equal(t, 500, status, "%s: half a sidecar says nothing: %s", why, answer)

		s, _ = start(t, fsRoot(misread{mapFS(contents), &on, "globex/.password", endsAt(6, err)}), nil)
		status, answer = s.Post(wire.PathCheck, body("globex", "secret", ""))
		assert.Equal(t, 500, status, "%s: half a password opens no folder: %s", why, answer)
	}
}

// partly lists a part of a folder and then fails.
type partly struct {
	fs.FS
	on *bool
}

func (p partly) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(p.FS, name)
	if *p.on && name != "." {
		return entries[:1], &fs.PathError{Op: "readdirent", Path: name, Err: io.ErrUnexpectedEOF}
	}
	return entries, err
}

// TestAFolderListedInPart requires that no table is said to be missing because its
// folder was listed in part.
func TestAFolderListedInPart(t *testing.T) {
	on := false
	s, _ := start(t, fsRoot(partly{mapFS(map[string]string{"acme/a.csv": "a\n1\n", "acme/b.csv": "a\n1\n"}), &on}), nil)
	assert.Len(t, discovered(t, s, "acme").Tables, 2)
	on = true
	for _, route := range []string{wire.PathDiscovery, wire.PathSize} {
		members := ""
		if route == wire.PathSize {
			members = `"table":"b"`
		}
		status, answer := s.Post(route, body("acme", "", members))
		assert.Equal(t, 500, status, answer)
	}
	on = false
	assert.Len(t, discovered(t, s, "acme").Tables, 2)
}
