package filesource

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

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
