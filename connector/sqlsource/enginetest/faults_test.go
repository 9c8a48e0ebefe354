package enginetest

import (
	"context"
	"crypto/tls"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
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
	// refuses answers a client that connects with an error of the server.
	refuses func(code, text string) func(net.Conn)
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

// answers returns what answers a client that connects, as testdata/refusals.tsv says it.
func (s *serverOf) answers(t *testing.T, how string) func(net.Conn) {
	word, rest, _ := strings.Cut(how, " ")
	if code, text, _ := strings.Cut(rest, " "); word == "refuses" {
		return s.refuses(code, text)
	}
	if word == "encrypts" { // PostgreSQL, with a certificate that nobody trusts
		return func(conn net.Conn) {
			unknown := httptest.NewTLSServer(nil)
			defer unknown.Close()
			readStart(conn)
			_, _ = conn.Write([]byte("S"))
			_ = tls.Server(conn, unknown.TLS).Handshake() // the client ends it
		}
	}
	text := testkit.Must(strconv.Unquote(rest))(t, rest)
	return func(conn net.Conn) {
		if word == "reads" {
			readStart(conn)
		}
		_, _ = conn.Write([]byte(text))
		if word == "closes" {
			_ = conn.Close()
		}
	}
}

// TestConnect says what is wrong and what to do when a connection cannot be made:
// on /check to the person at the form, and elsewhere with a code that blames
// nobody for what passes.
func TestConnect(t *testing.T) {
	refusals := testkit.Table(t, "testdata/refusals.tsv", 6)
	onServers(t, func(t *testing.T, e *engine) {
		for _, c := range refusals {
			if c[0] != e.name {
				continue
			}
			t.Run(c[1], func(t *testing.T) {
				t.Parallel()
				db := e.server.at(t, listen(t, e.server.answers(t, c[2])), c[3] == "TLS")
				ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
				defer cancel()
				envelope := wire.Envelope{TimeoutMS: 1500, Credentials: db.tenant()}
				requireRefusal(t, db.source(t, nil).Check(ctx, &wire.CheckRequest{Envelope: envelope}), wire.CodeCheckFailed, c[4])
				_, err := db.caller(t, nil).Unverified().Count(wire.CountRequest{Table: "t", Envelope: wire.Envelope{TimeoutMS: 1500}})
				requireRefusal(t, err, wire.Code(c[5]), c[4], adasPassword, "ada", "shop", "127.0.0.1", "SQLSTATE", "authentication failed")
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
				if c.key == "" {
					db = e.server.at(t, "127.0.0.1:1", false)
				} else if db.credentials[c.key] = c.value; c.key == "password" && !e.server.verifies {
					t.Skip("this server trusts everybody; TestConnect and a server of our own refuse a password")
				}
				caller := db.caller(t, nil).Unverified()
				requireRefusal(t, caller.Check(), wire.CodeCheckFailed, c.want)
				_, err := caller.Size("t")
				requireRefusal(t, err, c.code, "", "7f3a", "of-this-name", "127.0.0.1")
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
		for _, line := range []string{
			`query {"table": "t", "fields": ["locked"], "timeoutMs": 1500}`,
			`count {"table": "t", "timeoutMs": 1500}`,
			`size {"table": "t", "timeoutMs": 1500}`,
			`aggregate {"table": "t", "measures": [{"fn": "count", "as": "n"}], "timeoutMs": 1500}`,
			`cardinality {"table": "t", "columns": ["locked"], "timeoutMs": 1500}`,
		} {
			t.Run(request(line).Route, func(t *testing.T) {
				answer := client.ask(t.Context(), t, line)
				assert.Equal(t, http.StatusRequestTimeout, answer.StatusCode)
				assert.Contains(t, string(testkit.Must(io.ReadAll(answer.Body))(t)), `"code":"timeout"`)
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
		for _, caller := range []*connectortest.Tenant{
			db.caller(t, nil).Unverified(), db.hosts().caller(t, &sqlsource.Options{CatalogTTL: time.Hour}).Unverified(),
		} {
			db.execute(t, "CREATE TABLE t (id BIGINT PRIMARY KEY)")
			require.Empty(t, ask(t, caller, `query {"table": "t", "fields": ["id"]}`))
			db.execute(t, "DROP TABLE t")
			require.Contains(t, ask(t, caller, `query {"table": "t", "fields": ["id"]}`), "unknown_entity: ")
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
		codes := []wire.Code{wire.CodeTimeout}
		if e == &postgres && os.Getenv("SQLSOURCE_POOLER") != "" {
			// PgBouncer writes its error into the middle of the row that it was passing on: the driver cannot read on, by an
			// error that says nothing of the connection. To ask the connection is no way out: a ping waits until the request's end.
			codes = append(codes, wire.CodeInternal)
		}
		require.Contains(t, codes, wire.CodeOf(err), "%v", err)
		require.NoError(t, <-killed)
		if answer != nil {
			require.Less(t, len(answer.Rows), rows)
		}
		require.Equal(t, fmt.Sprintln(rows), ask(t, caller, `count {"table": "t"}`))
	})
}

// TestFailures makes each statement of each route fail once, as it does when a disk
// or a connection fails. The request then fails as such, or its answer is whole:
// nothing is left out, and no table that is there is called unknown [rule error-10].
func TestFailures(t *testing.T) {
	skipShort(t)
	failures := situation.Open(t, "testdata/failures.txtar").Sections
	onEach(t, func(t *testing.T, e *engine) {
		db := e.create(t)
		db.execute(t, script(t, "failures"))
		var seen, fails int
		var failure error
		asked := db.intercepted(t, func(string, []driver.NamedValue) error {
			if seen++; seen == fails {
				return failure
			}
			return nil
		}).asked(t, nil)
		for _, c := range failures {
			r := request(c.Text)
			answered := func() string { // a line has as many rows as were there in time
				return strings.ReplaceAll(asked.Post(t, r.Path(), r.As(t, nil)).Body.String(), "]}\n{\"rows\":[", ",")
			}
			for _, failure = range []error{errors.New("disk I/O error (10)"), driver.ErrBadConn} {
				t.Run(fmt.Sprintf("%s, %v", c.Name, failure), func(t *testing.T) {
					seen, fails = 0, 0
					whole := answered()
					require.NotContains(t, whole, `"error"`)
					allowed := "internal|timeout"
					if r.Route == "check" {
						allowed += "|check_failed"
					}
					for last := seen; fails < last; {
						seen, fails = 0, fails+1
						if answer := answered(); answer != whole {
							assert.Regexp(t, `"code":"(`+allowed+`)"`, answer, "statement %d of %d", fails, last)
						}
					}
				})
			}
		}
	})
}
