package sqlite

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestConnect says what is wrong with a file and what to do, on /check to the
// person at the form, and elsewhere with a code that blames nobody for what
// passes.
func TestConnect(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	good := filepath.Join(dir, "good.sqlite")
	db := open(t, good, "CREATE TABLE t (id INTEGER PRIMARY KEY)")
	whole, err := os.ReadFile(good)
	require.NoError(t, err)
	for _, c := range []struct {
		why, file string
		want      string
		elsewhere error
	}{
		{"text", write("text", strings.Repeat("no database at all\n", 100)), "not a database of SQLite", connector.ErrBadRequest},
		{"a damaged file", write("damaged", string(whole[:100])+strings.Repeat("\xff", len(whole)-100)),
			"not a database of SQLite", connector.ErrBadRequest},
		{"no file", "file:" + filepath.Join(dir, "none") + "?mode=ro", "no database of this name", connector.ErrBadRequest},
		{"a directory", dir, "no database of this name", connector.ErrBadRequest},
		{"a file that another program writes to", "locked", "Another program holds a lock", connector.ErrTimeout},
	} {
		t.Run(c.why, func(t *testing.T) {
			if c.file == "locked" {
				c.file = good
				conn, err := db.Conn(t.Context())
				require.NoError(t, err)
				_, err = conn.ExecContext(t.Context(), "BEGIN EXCLUSIVE")
				require.NoError(t, err)
				defer func() {
					_, err := conn.ExecContext(context.Background(), "ROLLBACK")
					require.NoError(t, err)
					_ = conn.Close()
				}()
			}
			src, err := sqlsource.NewPerTenant(func(context.Context, wire.Credentials) (*sql.DB, error) {
				return sql.Open("sqlite", c.file)
			}, sqlsource.SQLite(), nil)
			require.NoError(t, err)
			caller := connectortest.Start(t, definition, src, nil).As(nil).Unverified()
			err = caller.Check()
			require.ErrorIs(t, err, connector.ErrCheckFailed)
			require.ErrorContains(t, err, c.want)
			_, err = caller.Count(wire.CountRequest{Table: "t"})
			require.ErrorIs(t, err, c.elsewhere)
			require.ErrorContains(t, err, c.want)
		})
	}
}
