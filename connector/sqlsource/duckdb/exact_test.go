package duckdb_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestLongCells reads cells that are longer than what the engine takes for a line.
func TestLongCells(t *testing.T) {
	for _, size := range []int{100, 2_100_000, 9_000_000} {
		dir, long := t.TempDir(), strings.Repeat("x", size)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "t.csv"), []byte("n,s\n1,"+long+"\n2,y\n"), 0o600))
		answer := testkit.Must(serve(t, dir, nil).As(nil).In(t).Query(wire.QueryRequest{
			Table: "t", Sort: []wire.SortKey{}, Fields: []string{"n", "s"},
		}))(t)
		require.Equal(t, [][]wire.Value{{wire.Int(1), wire.Text(long)}, {wire.Int(2), wire.Text("y")}}, answer.Rows)
	}
}

// TestFresh replaces a file again and again by one of the same size, at once: its types
// are those of what is there.
func TestFresh(t *testing.T) {
	dir := t.TempDir()
	tenant := serve(t, dir, nil).As(nil).In(t).Unverified()
	for i, content := range []string{"n\n1.5\n", "n\n007\n", "n\n1e5\n", "n\n1.7\n", "n\nabc\n"} {
		file := filepath.Join(dir, "t.csv")
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		now := time.Now().Truncate(time.Second)
		require.NoError(t, os.Chtimes(file, now, now))
		answer := testkit.Must(tenant.Query(wire.QueryRequest{Table: "t", Sort: []wire.SortKey{}, Fields: []string{"n"}}))(t, i)
		require.Len(t, answer.Rows, 1)
		require.Equal(t, content[2:5], answer.Rows[0][0].String())
	}
	_, err := tenant.Query(wire.QueryRequest{Table: "u", Sort: []wire.SortKey{}, Fields: []string{"n"}})
	require.Equal(t, wire.CodeUnknownEntity, wire.CodeOf(err))
}
