//go:build unix

package enginetest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/pgxrows"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// With SQLSOURCE_POOLER, every database of newPostgres is behind a pooler.
func init() {
	if os.Getenv("SQLSOURCE_POOLER") != "" {
		behindPooler = func(t testing.TB, config *pgx.ConnConfig) { pooled(t, config, 20) }
	}
}

// pooled starts PgBouncer before the server that a user reaches so, in transaction mode: each
// transaction has a session of the server that others have had before. It has so many of them. The
// user then reaches the server by it, and prepares no statement by name.
func pooled(t testing.TB, config *pgx.ConnConfig, sessions int) {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		missing(t, "pgbouncer is not installed; apt-get install pgbouncer enables this test")
	}
	owner := serverOwner(t) // PgBouncer refuses to run as root, too
	if config.Password == "" {
		config.Password = superPassword // the pooler asks for one where the server does not
	}
	dir, listener := t.TempDir(), freePort(t)
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		if owner != nil {
			require.NoError(t, os.Chown(path, int(owner.Uid), int(owner.Gid)))
		}
		return path
	}
	users := write("users", fmt.Sprintf("%q %q\n", config.User, config.Password))
	words := strings.NewReplacer("{host}", config.Host, "{port}", fmt.Sprint(config.Port), "{listen}", fmt.Sprint(listener.Port),
		"{users}", users, "{user}", config.User, "{sessions}", fmt.Sprint(sessions))
	settings := write("pgbouncer.ini", words.Replace(string(testkit.Must(os.ReadFile("testdata/pgbouncer.ini"))(t))))
	for path := dir; path != os.TempDir() && path != "/"; path = filepath.Dir(path) {
		require.NoError(t, os.Chmod(path, 0o755))
	}
	command := exec.Command(program, "-q", settings)
	command.SysProcAttr = &syscall.SysProcAttr{Credential: owner}
	started(t, command)
	config.Host, config.Port = "127.0.0.1", uint16(listener.Port)
	config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", listener.String())
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, patience, 10*time.Millisecond)
}

// poolModes are pgx's ways to run a statement. All but the first, which is its default, name none.
var poolModes = []pgx.QueryExecMode{
	pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
	pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
}

// TestPostgresPooled asks through PgBouncer in transaction mode, which has two sessions for many
// clients. A client that knows no better has changed their settings before, and has left tables in them whose types have
// the names of the server's own.
func TestPostgresPooled(t *testing.T) {
	direct := newPostgres(t)
	direct.execute(t, script(t, "pooled_postgres"))
	all := situation.NewSurvey(t, direct.asked(t, nil))
	want := all.Answers(t, direct.asked(t, nil))
	if testing.Short() {
		poolModes = poolModes[:2]
	}
	for _, mode := range poolModes {
		for name, flavor := range map[string]sqlengine.Flavor{"database/sql": sqlsource.PostgreSQL(), "pgxrows": pgxrows.PostgreSQL()} {
			t.Run(mode.String()+" by "+name, func(t *testing.T) {
				db := direct.as(t, func(c *pgx.ConnConfig) {
					pooled(t, c, 2)
					c.DefaultQueryExecMode = mode
				})
				var spoiled sync.WaitGroup
				for range 2 {
					spoiled.Go(func() {
						conn, err := pgx.ConnectConfig(context.Background(), db.config)
						if !assert.NoError(t, err) {
							return
						}
						defer func() { _ = conn.Close(context.Background()) }()
						_, err = conn.Exec(context.Background(), script(t, "spoil_postgres"))
						assert.NoError(t, err)
					})
				}
				spoiled.Wait()
				if mode == pgx.QueryExecModeCacheStatement {
					requireTold(t, db.with(flavor))
					return
				}
				var clients sync.WaitGroup
				for range 3 { // which wait for two sessions
					clients.Go(func() { assert.Empty(t, all.Differences(want, all.Answers(t, db.with(flavor).asked(t, nil)))) })
				}
				clients.Wait()
			})
		}
	}
}

// requireTold requires that a driver which names its statements is told of in the log, to
// whoever runs the connector, and that no table is left out because of it.
func requireTold(t *testing.T, db *database) {
	t.Helper()
	var log testkit.Log
	caller := connectortest.Start(t, db.definition(), db.source(t, nil), log.Options()).As(db.credentials).Unverified()
	var failed error
	var mu sync.Mutex
	var clients sync.WaitGroup
	for range 4 { // side by side, so that each meets what others have left in the two sessions
		clients.Go(func() {
			for range 6 {
				found, err := caller.Discover()
				if err == nil {
					assert.Len(t, found.Tables, 1, "%q", found.Warnings)
					continue
				}
				mu.Lock()
				failed = err
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	require.Equal(t, wire.CodeInternal, wire.CodeOf(failed), "%v", failed)
	require.Contains(t, log.String(), "default_query_exec_mode=cache_describe")
	require.NotContains(t, log.String(), strings.TrimSpace(db.credentials["password"]))
}
