package enginetest

import (
	"context"
	"database/sql"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// patience is how long a test waits for what must happen, on a busy machine.
const patience = time.Minute

// serverOf is what tests of servers need to know of one.
type serverOf struct {
	// at returns the database shop of the user ada on a server at an address, which is
	// reached with TLS or without.
	at func(t testing.TB, address string, encrypted bool) *database
	// verifies says that the server that tests use asks for passwords.
	verifies bool
	// lock locks the table t, and unlock frees it.
	lock, unlock string
	// running selects the ids of the statements of others in the database that have a
	// text, and kill ends the session of one.
	running, kill string
	refusals      []refusal
}

// refusal is an answer to a client that connects, and what the connector makes of
// it.
type refusal struct {
	why       string
	answer    func(net.Conn)
	encrypted bool // the client asks for TLS
	want      string
	elsewhere wire.Code // on every route but /check
}

// onServers runs a test on each engine that is a server.
func onServers(t *testing.T, test func(t *testing.T, e *engine)) {
	onEach(t, func(t *testing.T, e *engine) {
		if e.server.at == nil {
			t.Skip("it has no server")
		}
		test(t, e)
	})
}

// statements returns the ids of the statements of others in the database that have
// a text.
func (e *engine) statements(ctx context.Context, t testing.TB, db *sql.DB, text string) (ids []string) {
	rows, err := db.QueryContext(ctx, e.server.running, "%"+text+"%")
	if ctx.Err() != nil {
		return nil
	}
	require.NoError(t, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id string
		require.NoError(t, rows.Scan(&id))
		ids = append(ids, id)
	}
	return ids
}

// eventuallyRun waits until so many statements with a text run.
func (e *engine) eventuallyRun(t testing.TB, db *database, n int, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return len(e.statements(t.Context(), t, db.DB, text)) == n }, patience, 10*time.Millisecond)
}

// TestConnect says what is wrong and what to do when a connection cannot be made:
// on /check to the person at the form, and elsewhere with a code that blames
// nobody for what passes.
func TestConnect(t *testing.T) {
	onServers(t, func(t *testing.T, e *engine) {
		for _, c := range e.server.refusals {
			t.Run(c.why, func(t *testing.T) {
				t.Parallel()
				db := e.server.at(t, listen(t, c.answer), c.encrypted)
				source := db.source(t, nil)
				envelope := wire.Envelope{Credentials: db.tenant(), TimeoutMS: 1500}
				ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
				defer cancel()
				err := source.Check(ctx, &wire.CheckRequest{Envelope: envelope})
				require.Equal(t, wire.CodeCheckFailed, wire.CodeOf(err))
				assert.Contains(t, err.Error(), c.want)
				caller := connectortest.Start(t, db.definition(), source, nil).As(db.credentials).Unverified()
				_, err = caller.Count(wire.CountRequest{Table: "t", Envelope: envelope})
				require.Equal(t, c.elsewhere, wire.CodeOf(err))
				assert.Contains(t, err.Error(), c.want)
				for _, hidden := range []string{adasPassword, "ada", "shop", "127.0.0.1", "SQLSTATE", "authentication failed"} {
					assert.NotContains(t, err.Error(), hidden)
				}
			})
		}
	})
}

// adasPassword is typed by the tenant of serverOf.at.
const adasPassword = "secret-7f3a"

// TestRejected tells the person who typed the credentials what is wrong, on
// /check, and refuses the request on every other route.
func TestRejected(t *testing.T) {
	onServers(t, func(t *testing.T, e *engine) {
		for _, c := range []struct {
			why, key, value string
			want            string
			code            wire.Code // on every other route
		}{
			{"a wrong password", "password", "wrong-password-7f3a", "user name or the password", wire.CodeBadRequest},
			{"no such user", "user", "nobody-of-this-name", "user name or the password", wire.CodeBadRequest},
			{"no such database", "database", "no-database-of-this-name", "no database of this name", wire.CodeBadRequest},
			{"nobody listens", "", "", "cannot be reached", wire.CodeTimeout},
		} {
			t.Run(c.why, func(t *testing.T) {
				db := e.create(t)
				switch c.key {
				case "":
					db = e.server.at(t, "127.0.0.1:1", false)
				case "password":
					if !e.server.verifies {
						t.Skip("this server trusts everybody; TestConnect and a server of our own refuse a password")
					}
				}
				if c.key != "" {
					db.credentials[c.key] = c.value
				}
				caller := db.caller(t, nil).Unverified()
				err := caller.Check()
				require.Equal(t, wire.CodeCheckFailed, wire.CodeOf(err))
				assert.Contains(t, err.Error(), c.want)
				_, err = caller.Size("t")
				assert.Equal(t, c.code, wire.CodeOf(err))
				for _, secret := range []string{"7f3a", "of-this-name", "127.0.0.1"} {
					assert.NotContains(t, err.Error(), secret)
				}
			})
		}
	})
}

// TestBlocked holds a lock beyond the deadline: every route that reads rows answers
// 408, and the statement is gone from the server.
func TestBlocked(t *testing.T) {
	onServers(t, func(t *testing.T, e *engine) {
		db := e.create(t)
		db.execute(t, "CREATE TABLE t (locked BIGINT PRIMARY KEY)")
		conn := testkit.Must(db.Conn(t.Context()))(t)
		defer func() { _ = conn.Close() }()
		testkit.Must(conn.ExecContext(t.Context(), e.server.lock))(t)
		client := db.client(t)
		envelope := client.envelope(1500)
		for path, message := range map[string]wire.Request{
			wire.PathQuery: &wire.QueryRequest{Table: "t", Fields: []string{"locked"}, Envelope: envelope},
			wire.PathCount: &wire.CountRequest{Table: "t", Envelope: envelope},
			wire.PathSize:  &wire.SizeRequest{Table: "t", Envelope: envelope},
			wire.PathAggregate: &wire.AggregateRequest{
				Table: "t", Measures: []wire.Measure{{Fn: wire.AggCount, As: "n"}}, Limit: wire.AggregateLimit, Envelope: envelope,
			},
			wire.PathCardinality: &wire.CardinalityRequest{Table: "t", Columns: []string{"locked"}, Envelope: envelope},
		} {
			t.Run(path, func(t *testing.T) {
				answer, err := client.post(t.Context(), path, message)
				status, told := refused(t, answer, err)
				assert.Equal(t, http.StatusRequestTimeout, status)
				assert.Equal(t, wire.CodeTimeout, told.Code)
				e.eventuallyRun(t, db, 0, "locked")
			})
		}
		testkit.Must(conn.ExecContext(t.Context(), e.server.unlock))(t)
	})
}

// TestDropped drops a table after it was discovered: it does not exist (404). With
// a description that is remembered, the statement finds out.
func TestDropped(t *testing.T) {
	onServers(t, func(t *testing.T, e *engine) {
		db := e.create(t)
		hosts := *db
		hosts.credentials = nil
		for _, caller := range []*connectortest.Tenant{
			db.caller(t, nil).Unverified(), hosts.caller(t, &sqlsource.Options{CatalogTTL: time.Hour}).Unverified(),
		} {
			db.execute(t, "CREATE TABLE t (id BIGINT PRIMARY KEY)")
			query := wire.QueryRequest{Table: "t", Sort: []wire.SortKey{}, Fields: []string{"id"}}
			testkit.Must(caller.Query(query))(t)
			db.execute(t, "DROP TABLE t")
			_, err := caller.Query(query)
			require.Equal(t, wire.CodeUnknownEntity, wire.CodeOf(err))
		}
	})
}

// TestKilled ends the server's session in the middle of a stream: the stream ends
// in an error line, and the next request is served.
func TestKilled(t *testing.T) {
	onServers(t, func(t *testing.T, e *engine) {
		const rows = 131_072
		db := e.create(t)
		db.execute(t, "CREATE TABLE t (id BIGINT, filler VARCHAR(1000)); INSERT INTO t VALUES (1, REPEAT('x', 1000))")
		for range 17 {
			db.execute(t, "INSERT INTO t SELECT * FROM t")
		}
		caller := db.caller(t, nil).Unverified()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		killed := make(chan error, 1)
		go func() {
			for ctx.Err() == nil {
				for _, id := range e.statements(ctx, t, db.DB, "filler") {
					_, err := db.ExecContext(ctx, e.server.kill+" "+id)
					killed <- err
					return
				}
			}
		}()
		answer, err := caller.Query(wire.QueryRequest{Table: "t", Sort: []wire.SortKey{}, Fields: []string{"id", "filler"}})
		require.Equal(t, wire.CodeTimeout, code(err), "%v", err)
		require.NoError(t, <-killed)
		if answer != nil {
			require.Less(t, len(answer.Rows), rows)
		}
		n := testkit.Must(caller.Count(wire.CountRequest{Table: "t"}))(t)
		require.Equal(t, int64(rows), n)
	})
}
