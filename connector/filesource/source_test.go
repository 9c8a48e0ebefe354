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
	for _, c := range testkit.Cases[struct {
		Why   string
		Takes testkit.Duration // each file
		Want  []string
	}](t, "testdata/progress.json") {
		testkit.Bubble(t, c.Why, func(t *testing.T) {
			var log strings.Builder
			var known sync.Map
			slow := bent{FS: files, before: func(op, name string) error {
				if _, again := known.LoadOrStore(name, true); op == "open" && !again && strings.HasSuffix(name, ".csv") {
					time.Sleep(c.Takes.Duration)
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
			require.Equal(t, c.Want, lines)
		})
	}
}
