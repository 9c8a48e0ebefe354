package postgres

import (
	"context"
	"database/sql"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/pgxrows"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// patience is how long a test waits for what must happen, on a busy machine.
const patience = time.Minute

// endless has more rows than anyone reads, which come one by one.
const endless = `CREATE VIEW endless AS SELECT generate_series(1, 1000000000) AS id`

// running counts the statements of a database whose text has a part, except the
// one that counts.
func running(t testing.TB, db *sql.DB, part string) (n int) {
	t.Helper()
	require.NoError(t, db.QueryRow(`SELECT count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active' AND strpos(query, $1) > 0`, part).Scan(&n))
	return n
}

// TestClientLeaves ends the statement on the server when the reader has left.
func TestClientLeaves(t *testing.T) {
	db, own := database(t)
	_, err := db.Exec(endless)
	require.NoError(t, err)
	for name, flavor := range map[string]sqlsource.Flavor{"sql": sqlsource.PostgreSQL(), "pgxrows": pgxrows.PostgreSQL()} {
		t.Run(name, func(t *testing.T) {
			c := startFlavor(t, own, flavor, credentials(own))
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			answer, err := c.query(ctx, "endless", "id", 600_000)
			require.NoError(t, err)
			for _, err := range ndjson.NewReader(answer.Body).Rows() {
				require.NoError(t, err)
				break
			}
			require.Equal(t, 1, running(t, db, `"endless"`), "it goes on")
			leave()
			_ = answer.Body.Close()
			require.Eventually(t, func() bool { return running(t, db, `"endless"`) == 0 }, patience, 20*time.Millisecond)
		})
	}
}

// TestLockedOnEveryRoute holds a lock beyond the deadline: every route that reads
// rows answers 408, and no statement waits on.
func TestLockedOnEveryRoute(t *testing.T) {
	db, own := database(t)
	_, err := db.Exec(`CREATE TABLE locked (id bigint PRIMARY KEY)`)
	require.NoError(t, err)
	c := start(t, own, credentials(own))
	lock, err := db.Begin()
	require.NoError(t, err)
	defer func() { require.NoError(t, lock.Rollback()) }()
	_, err = lock.Exec(`LOCK TABLE locked IN ACCESS EXCLUSIVE MODE`)
	require.NoError(t, err)
	envelope := c.envelope(3000)
	for path, message := range map[string]wire.Message{
		wire.PathQuery: &wire.QueryRequest{Table: "locked", Fields: []string{"id"}, Envelope: envelope},
		wire.PathSize:  &wire.SizeRequest{Table: "locked", Envelope: envelope},
		wire.PathAggregate: &wire.AggregateRequest{
			Table: "locked", Measures: []wire.Measure{{Fn: wire.AggCount, As: "n"}}, Limit: wire.AggregateLimit, Envelope: envelope,
		},
		wire.PathCardinality: &wire.CardinalityRequest{Table: "locked", Columns: []string{"id"}, Envelope: envelope},
	} {
		t.Run(path, func(t *testing.T) {
			answer, err := c.post(t.Context(), path, message)
			status, told := refusal(t, answer, err)
			assert.Equal(t, http.StatusRequestTimeout, status)
			assert.Equal(t, wire.CodeTimeout, told.Code)
			require.Eventually(t, func() bool { return running(t, db, `"locked"`) == 0 }, patience, 20*time.Millisecond)
		})
	}
}

// TestWrongPassword tells the person who typed it, and keeps the server's own
// words inside.
func TestWrongPassword(t *testing.T) {
	c := start(t, server(t, refusing(t)), map[string]string{"user": "somebody", "password": "typed-by-hand", "database": "some_database"})
	answer, err := c.post(t.Context(), wire.PathCheck, &wire.CheckRequest{Envelope: c.envelope(30_000)})
	status, told := refusal(t, answer, err)
	assert.Equal(t, http.StatusBadRequest, status)
	assert.Equal(t, wire.CodeCheckFailed, told.Code)
	assert.Contains(t, told.Message, "password")
	for _, inside := range []string{"typed-by-hand", "SQLSTATE", "some", "authentication failed"} {
		assert.NotContains(t, told.Message, inside)
	}
}

// refusing returns the address of a server that asks for a password and refuses
// it as PostgreSQL does. The server that tests use may trust everybody.
func refusing(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	refuse := func(conn net.Conn) {
		defer func() { _ = conn.Close() }()
		backend := pgproto3.NewBackend(conn, conn)
		if _, err := backend.ReceiveStartupMessage(); err != nil {
			return
		}
		backend.Send(&pgproto3.AuthenticationCleartextPassword{})
		if backend.Flush() != nil || backend.SetAuthType(pgproto3.AuthTypeCleartextPassword) != nil {
			return
		}
		asked, err := backend.Receive()
		if password, ok := asked.(*pgproto3.PasswordMessage); err != nil || !ok || password.Password != "typed-by-hand" {
			return
		}
		backend.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: "28P01", Message: `password authentication failed for user "somebody"`})
		_ = backend.Flush()
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go refuse(conn)
		}
	}()
	return listener.Addr().String()
}
