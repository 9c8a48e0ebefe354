package filesource

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestOpenRefuses(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "gone"), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = FS(os.DirFS(filepath.Join(t.TempDir(), "gone")), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestClose ends a source over a folder of the disk: nothing is served any more.
func TestClose(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, map[string]string{"acme/t.csv": "a\n1\n"})
	s, src := host(t, dir)
	require.Equal(t, []string{`{"a":1}`}, rowsOf(t, s, "acme", `"table":"t","and":[],"sort":[],"fields":["a"]`))
	require.NoError(t, src.Close())
	for _, path := range []string{wire.PathCheck, wire.PathDiscovery} {
		status, answer := s.Post(path, body("acme", "", ""))
		assert.Equal(t, 500, status, answer)
	}
}

// TestPrepareShowsProgress checks that a host who waits for a large folder reads in
// the log what is being read, and that another reads nothing.
func TestPrepareShowsProgress(t *testing.T) {
	files := mapFS(map[string]string{
		"acme/a.csv": "id\n1\n", "acme/b.csv": "id\n1\n",
		"zeta/c.csv": "id\n1\n",
	})
	for _, c := range []struct {
		why   string
		takes time.Duration // each file
		want  []string
	}{
		{"soon read", time.Second, nil},
		{"a line every five seconds, and one at the end", 4 * time.Second, []string{
			`level=INFO msg="still reading files" tenant=acme file=b.csv number=2 after=5s`,
			`level=INFO msg="still reading files" tenant=zeta file=c.csv number=3 after=10s`,
			`level=INFO msg="no longer reading files" files=3 after=12s`,
		}},
		{"one file that takes long", 9 * time.Second, []string{
			`level=INFO msg="still reading files" tenant=acme file=a.csv number=1 after=5s`,
			`level=INFO msg="still reading files" tenant=acme file=b.csv number=2 after=10s`,
			`level=INFO msg="still reading files" tenant=acme file=b.csv number=2 after=15s`,
			`level=INFO msg="still reading files" tenant=zeta file=c.csv number=3 after=20s`,
			`level=INFO msg="still reading files" tenant=zeta file=c.csv number=3 after=25s`,
			`level=INFO msg="no longer reading files" files=3 after=27s`,
		}},
	} {
		testkit.Bubble(t, c.why, func(t *testing.T) {
			var log strings.Builder
			var known sync.Map
			slow := bent{FS: files, before: func(op, name string) error {
				if _, again := known.LoadOrStore(name, true); op == "open" && !again && strings.HasSuffix(name, ".csv") {
					time.Sleep(c.takes)
				}
				return nil
			}}
			src := newSource(fsRoot(slow), &Options{Logger: slog.New(slog.NewTextHandler(&log,
				&slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
					if a.Key == slog.TimeKey {
						return slog.Attr{}
					}
					return a
				}}))})
			defer func() { require.NoError(t, src.Close()) }()
			src.Prepare(t.Context())
			var lines []string
			for line := range strings.Lines(log.String()) {
				if strings.Contains(line, "reading files") {
					lines = append(lines, strings.TrimSpace(line))
				}
			}
			require.Equal(t, c.want, lines)
		})
	}
}
