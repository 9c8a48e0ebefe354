package enginetest

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestOneConnection checks that a request opens a tenant's database once, however
// often the library calls the source, and closes it when it ends. The context of
// each call ends with the call.
func TestOneConnection(t *testing.T) {
	onEach(t, func(t *testing.T, e *engine) {
		db := e.create(t)
		db.execute(t, "CREATE TABLE t (id BIGINT PRIMARY KEY); CREATE TABLE u (id BIGINT PRIMARY KEY)")
		var mu sync.Mutex
		var opened []*sql.DB
		src := testkit.Must(sqlsource.NewPerTenant(func(ctx context.Context, c wire.Credentials) (*sql.DB, error) {
			own, err := db.open(ctx, c)
			mu.Lock()
			defer mu.Unlock()
			opened = append(opened, own)
			return own, err
		}, db.flavor, nil))(t)
		options := &connector.Options{Intercept: func(ctx context.Context, _ connector.Call, next func(context.Context) error) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			return next(ctx)
		}}
		caller := connectortest.Start(t, db.definition(), src, options).As(db.credentials).Unverified()
		once := func(why string, do func()) {
			opened = nil
			do()
			mu.Lock()
			defer mu.Unlock()
			if assert.Len(t, opened, 1, why) {
				assert.ErrorContains(t, opened[0].PingContext(t.Context()), "database is closed", why)
			}
		}
		for _, c := range testkit.Table(t, "testdata/one_connection.tsv", 3) {
			once(c[0], func() { assert.Regexp(t, c[1], ask(t, caller, c[2]), c[0]) })
		}
		left, leave := context.WithCancel(t.Context())
		leave()
		for ctx, want := range map[context.Context]error{t.Context(): nil, left: context.Canceled} {
			once("outside of a request", func() {
				_, err := src.Count(ctx, &wire.CountRequest{Table: "t", Envelope: wire.Envelope{Credentials: db.tenant()}})
				assert.ErrorIs(t, err, want)
			})
		}
	})
}

// TestSQLiteConnect says what is wrong with a file and what to do, on /check to the
// person at the form, and elsewhere with a code that blames nobody for what
// passes.
func TestSQLiteConnect(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	good := filepath.Join(dir, "good.sqlite")
	db := openSQLite(t, good, "CREATE TABLE t (id INTEGER PRIMARY KEY)")
	whole := testkit.Must(os.ReadFile(good))(t)
	for _, c := range []struct {
		why, file string
		want      string
		elsewhere wire.Code
	}{
		{"text", write("text", strings.Repeat("no database at all\n", 100)), "not a database of SQLite", wire.CodeBadRequest},
		{"a damaged file", write("damaged", string(whole[:100])+strings.Repeat("\xff", len(whole)-100)),
			"not a database of SQLite", wire.CodeBadRequest},
		{"no file", "file:" + filepath.Join(dir, "none") + "?mode=ro", "no database of this name", wire.CodeBadRequest},
		{"a directory", dir, "no database of this name", wire.CodeBadRequest},
		{"a file that another program writes to", "locked", "Another program holds a lock", wire.CodeTimeout},
	} {
		t.Run(c.why, func(t *testing.T) {
			if c.file == "locked" {
				c.file = good
				conn := testkit.Must(db.Conn(t.Context()))(t)
				testkit.Must(conn.ExecContext(t.Context(), "BEGIN EXCLUSIVE"))(t)
				defer func() {
					testkit.Must(conn.ExecContext(context.Background(), "ROLLBACK"))(t)
					_ = conn.Close()
				}()
			}
			src := testkit.Must(sqlsource.NewPerTenant(func(context.Context, wire.Credentials) (*sql.DB, error) {
				return sql.Open("sqlite", c.file)
			}, sqlsource.SQLite(), nil))(t)
			caller := connectortest.Start(t, db.definition(), src, nil).As(nil).Unverified()
			requireRefusal(t, caller.Check(), wire.CodeCheckFailed, c.want)
			_, err := caller.Size("t")
			requireRefusal(t, err, c.elsewhere, c.want)
		})
	}
}

// TestSQLiteHostsDatabase says in the log what is wrong with a database of the host, and
// nothing of it to a tenant, who could not mend it.
func TestSQLiteHostsDatabase(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text.sqlite")
	require.NoError(t, os.WriteFile(text, []byte(strings.Repeat("no database ", 100)), 0o600))
	for _, c := range []struct{ why, file, log string }{
		{"no file", "file:" + filepath.Join(t.TempDir(), "none") + "?mode=ro", "There is no database of this name, or it cannot be opened"},
		{"another file", text, "This is not a database of SQLite"},
	} {
		t.Run(c.why, func(t *testing.T) {
			db := testkit.Must(sql.Open("sqlite", c.file))(t)
			defer func() { require.NoError(t, db.Close()) }()
			src := testkit.Must(sqlsource.New(db, sqlsource.SQLite(), nil))(t)
			for _, line := range []string{"check", "discovery", `size {"table": "t"}`} {
				var log testkit.Log
				caller := connectortest.Start(t, connector.Definition{Slug: "hosts"}, src, connectors.Logging(&log)).As(nil).Unverified()
				require.Contains(t, ask(t, caller, line), "internal: internal error", line)
				require.Contains(t, log.String(), "level=ERROR", line)
				require.Contains(t, log.String(), "the database of this connector cannot be used: "+c.log, line)
			}
		})
	}
}

// TestSQLiteSpeltAnew refuses an option of the driver that spells texts anew before anybody else sees them.
func TestSQLiteSpeltAnew(t *testing.T) {
	db := openSQLite(t, "file:"+filepath.Join(t.TempDir(), "types.sqlite")+"?_texttotime=1&_timezone=Asia%2FTokyo",
		"CREATE TABLE types (id INTEGER PRIMARY KEY, moment DATETIME); INSERT INTO types VALUES (1, '2024-03-31 02:30:00.123456')")
	_, err := db.pooled(t, &sqlsource.Options{}).Discover(t.Context(), &wire.DiscoveryRequest{})
	require.ErrorContains(t, err, "the driver returns a time.Time for the text of a time")
}
