package filesource

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
