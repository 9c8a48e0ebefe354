package session

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqlite"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// server makes connections, as a driver does that keeps one whose transaction was rolled
// back.
type server struct {
	mu     sync.Mutex
	made   int
	closed []int    // the numbers of connections
	ran    []string // statements
}

func (s *server) Connect(context.Context) (driver.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	return &serverConn{s, s.made}, nil
}

func (s *server) Driver() driver.Driver { return nil }

type serverConn struct {
	*server
	number int
}

func (c *serverConn) Prepare(string) (driver.Stmt, error) {
	return nil, errors.New("not prepared here")
}
func (c *serverConn) Begin() (driver.Tx, error)              { return c, nil }
func (c *serverConn) Commit() error                          { return nil }
func (c *serverConn) Rollback() error                        { return nil }
func (c *serverConn) ResetSession(ctx context.Context) error { return nil }
func (c *serverConn) IsValid() bool                          { return true }

func (c *serverConn) ExecContext(_ context.Context, statement string, _ []driver.NamedValue) (driver.Result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ran = append(c.ran, statement)
	return driver.RowsAffected(0), nil
}

func (c *serverConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = append(c.closed, c.number)
	return nil
}

// TestKilled ends the context of a call between two statements. The kill that is sent then
// may hit the rollback, so nobody is given the connection any more.
func TestKilled(t *testing.T) {
	for _, c := range []struct {
		why    string
		leaves bool
		kill   string
		ran    []string
		closed []int
	}{
		{"the call returns before its context ends: nothing is sent", false, "KILL 1", nil, nil},
		{"the context ends", true, "KILL 1", []string{"KILL 1"}, []int{1}},
		{"the driver ends statements", true, "", nil, nil},
	} {
		t.Run(c.why, func(t *testing.T) {
			s := &server{}
			pool := sql.OpenDB(s)
			database := NewDatabase(pool, nil, sqlite.Flavor{}, Settings{})
			database.Capabilities.Session = nil
			database.Capabilities.Kill = func(context.Context, sqlengine.Queryer) (string, error) { return c.kill, nil }
			ctx, leave := context.WithCancel(t.Context())
			x, err := database.Open(ctx, wire.Credentials{}, connector.Call{})
			require.NoError(t, err)
			if c.leaves {
				leave()
			}
			x.Close()
			s.mu.Lock()
			require.Equal(t, c.ran, s.ran)
			require.Equal(t, c.closed, s.closed)
			s.mu.Unlock()
			leave()
			require.NoError(t, pool.Close())
		})
	}
}
