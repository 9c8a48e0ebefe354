package mysql

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// tenant returns a tenant of the connector over base.
func tenant(t *testing.T, base *mysql.Config) *connectortest.Tenant {
	t.Helper()
	return connectortest.Start(t, definition, newSource(t, base, nil), nil).As(credentials(base)).Unverified()
}

// TestRejected tells the person who typed the credentials what is wrong, on
// /check, and refuses the request on every other route.
func TestRejected(t *testing.T) {
	_, own := database(t)
	for _, c := range []struct {
		why    string
		change func(*mysql.Config)
		want   string
		code   error // on every other route
	}{
		{"a wrong password", func(c *mysql.Config) { c.Passwd = "secret-7f3a" }, "user name or the password", connector.ErrBadRequest},
		{"no such user", func(c *mysql.Config) { c.User = "nobody-of-this-name" }, "user name or the password", connector.ErrBadRequest},
		{"no such database", func(c *mysql.Config) { c.DBName = "no-database-of-this-name" },
			"no database of this name", connector.ErrBadRequest},
		{"nobody listens", func(c *mysql.Config) { c.Addr = "127.0.0.1:1" }, "cannot be reached", connector.ErrTimeout},
	} {
		t.Run(c.why, func(t *testing.T) {
			wrong := own.Clone()
			c.change(wrong)
			caller := tenant(t, wrong)
			err := caller.Check()
			require.ErrorIs(t, err, connector.ErrCheckFailed)
			assert.Contains(t, err.Error(), c.want)
			_, err = caller.Size("t")
			assert.ErrorIs(t, err, c.code)
			for _, secret := range []string{"secret-7f3a", "nobody-of-this-name", "127.0.0.1", "no-database-of-this-name"} {
				assert.NotContains(t, err.Error(), secret)
			}
		})
	}
}

// running returns how many other sessions run a statement in the database.
func running(t *testing.T, db *sql.DB) (n int) {
	t.Helper()
	require.NoError(t, db.QueryRow(`SELECT COUNT(*) FROM information_schema.PROCESSLIST
		WHERE DB = DATABASE() AND COMMAND <> 'Sleep' AND ID <> CONNECTION_ID()`).Scan(&n))
	return n
}

// TestBlocked holds a lock beyond the deadline: the answer is 408, and the
// statement is gone from the server.
func TestBlocked(t *testing.T) {
	db, own := database(t)
	_, err := db.Exec("CREATE TABLE t (id BIGINT PRIMARY KEY)")
	require.NoError(t, err)
	conn, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = conn.ExecContext(t.Context(), "LOCK TABLES t WRITE")
	require.NoError(t, err)
	_, err = tenant(t, own).Count(wire.CountRequest{Table: "t", Envelope: wire.Envelope{TimeoutMS: 700}})
	require.ErrorIs(t, err, connector.ErrTimeout)
	require.Eventually(t, func() bool { return running(t, db) == 0 }, time.Minute, 10*time.Millisecond)
	_, err = conn.ExecContext(t.Context(), "UNLOCK TABLES")
	require.NoError(t, err)
}

// TestGone has a client leave long before the deadline. The driver only stops
// waiting, so the statement is killed.
func TestGone(t *testing.T) {
	db, own := database(t)
	_, err := db.Exec("CREATE VIEW slow AS SELECT SLEEP(120) AS s")
	require.NoError(t, err)
	src := newSource(t, own, nil)
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		envelope := wire.Envelope{Credentials: wire.NewCredentials(credentials(own))}
		_, err := src.Size(ctx, &wire.SizeRequest{Table: "slow", Envelope: envelope})
		ended <- err
	}()
	require.Eventually(t, func() bool { return running(t, db) == 1 }, time.Minute, 10*time.Millisecond)
	leave()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Eventually(t, func() bool { return running(t, db) == 0 }, time.Minute, 10*time.Millisecond, "long before the two minutes are over")
}

// TestDropped drops a table after it was discovered: it does not exist (404).
func TestDropped(t *testing.T) {
	db, own := database(t)
	_, err := db.Exec("CREATE TABLE t (id BIGINT PRIMARY KEY)")
	require.NoError(t, err)
	caller := tenant(t, own)
	d, err := caller.Discover()
	require.NoError(t, err)
	require.Len(t, d.Tables, 1)
	_, err = db.Exec("DROP TABLE t")
	require.NoError(t, err)
	_, err = caller.Query(wire.QueryRequest{Table: "t", Sort: []wire.SortKey{}, Fields: []string{"id"}})
	require.ErrorIs(t, err, connector.ErrUnknownEntity)
}

// TestKilled ends the server's session in the middle of a stream: the stream
// ends in an error line, and the next request is served.
func TestKilled(t *testing.T) {
	db, own := database(t)
	_, err := db.Exec("CREATE TABLE t (id BIGINT PRIMARY KEY, filler TEXT)")
	require.NoError(t, err)
	_, err = db.Exec("INSERT INTO t SELECT seq, REPEAT('x', 1000) FROM seq_1_to_200000")
	require.NoError(t, err)
	caller := tenant(t, own)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	killed := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			var id string
			err := db.QueryRowContext(ctx, `SELECT ID FROM information_schema.PROCESSLIST WHERE DB = DATABASE()
				AND ID <> CONNECTION_ID() AND COMMAND <> 'Sleep' AND INFO LIKE '%filler%' LIMIT 1`).Scan(&id)
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err == nil {
				_, err = db.ExecContext(ctx, "KILL "+id)
			}
			killed <- err
			return
		}
	}()
	_, err = caller.Query(wire.QueryRequest{Table: "t", Sort: []wire.SortKey{}, Fields: []string{"id", "filler"}})
	require.Equal(t, wire.CodeTimeout, suite.Code(err), "%v", err)
	require.NoError(t, <-killed)
	n, err := caller.Count(wire.CountRequest{Table: "t"})
	require.NoError(t, err)
	require.Equal(t, int64(200000), n)
}
