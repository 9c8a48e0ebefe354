package filesource

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestOpenRefuses(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "gone"), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = New(os.DirFS(filepath.Join(t.TempDir(), "gone")), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestWhatTheHostSees lists and describes without credentials, and still follows
// no link to another folder.
func TestWhatTheHostSees(t *testing.T) {
	dir, _ := attacked(t)
	src, err := Open(dir, quiet)
	require.NoError(t, err)
	defer func() { _ = src.Close() }()
	tenants, err := src.Tenants()
	require.NoError(t, err)
	assert.Equal(t, []Tenant{
		{Name: "acme", Tables: []string{"data"}},
		{Name: "caf\u00e9", Tables: []string{"x"}},
		{Name: "locked", Protected: true, Tables: []string{"data"}},
	}, tenants)
	table, err := src.Inspect(t.Context(), "locked", "data")
	require.NoError(t, err)
	assert.Equal(t, wire.Int(2), table.Fields[0].Samples[0])
	_, err = src.Inspect(t.Context(), "acme", "x")
	require.ErrorIs(t, err, connector.ErrUnknownEntity)
	for _, name := range []string{"linked", "escape", "nobody", "..", "acme/../locked"} {
		_, err = src.Inspect(t.Context(), name, "data")
		require.Error(t, err, name)
	}
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
	_, err := src.Tenants()
	require.Error(t, err)
}
