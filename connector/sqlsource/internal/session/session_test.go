package session

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/mysql"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/postgres"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqlite"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqltext"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
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
			database := NewDatabase(pool, nil, sqlite.Flavor(), Settings{})
			database.Flavor.Session = nil
			database.Flavor.Kill = func(context.Context, sqlengine.Queryer) (string, error) { return c.kill, nil }
			ctx, leave := context.WithCancel(t.Context())
			x := testkit.Must(database.Open(ctx, wire.Credentials{}, connector.Call{}))(t)
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

// stated is an error as the drivers of PostgreSQL have it.
type stated string

func (s stated) Error() string    { return "secret words (SQLSTATE " + string(s) + ")" }
func (s stated) SQLState() string { return string(s) }

func numbered(n int) error { return fmt.Errorf("Error %d (HY000): secret words", n) }

// TestPassing: what is likely to pass is answered 408, so that the reader tries
// again, and the driver's words are not.
func TestPassing(t *testing.T) {
	during := func(op string, err error) error { return &net.OpError{Op: op, Net: "tcp", Err: err} }
	for _, c := range []struct {
		why    string
		flavor sqlengine.Flavor
		err    error
		says   string // empty: nobody knows, so it is an internal error
	}{
		{"a standby gives way to its primary, or transactions cannot be put in order", postgres.Flavor(), stated("40001"), "had precedence"},
		{"the victim of a deadlock", postgres.Flavor(), stated("40P01"), "had precedence"},
		{"a lock that was not had in time", postgres.Flavor(), stated("55P03"), "holds a lock"},
		{"a snapshot that is too old", postgres.Flavor(), stated("72000"), "had precedence"},
		{"a statement that was cancelled", postgres.Flavor(), stated("57014"), "took too long"},
		{"a transaction that was too long", postgres.Flavor(), stated("25P04"), "took too long"},
		{"an administrator ended the session", postgres.Flavor(), stated("57P01"), "starting up or shutting down"},
		{"the server is starting", postgres.Flavor(), stated("57P03"), "starting up or shutting down"},
		{"a session that was idle", postgres.Flavor(), stated("57P05"), "has ended the session"},
		{"the connection failed", postgres.Flavor(), stated("08006"), "has ended the session"},
		{"the connection does not exist", postgres.Flavor(), stated("08003"), "has ended the session"},
		{"no connection is free", postgres.Flavor(), stated("53300"), "no free connection"},
		{"an error within the server is for the host to see", postgres.Flavor(), stated("XX000"), ""},
		{"a disk that is full is for the host to see", postgres.Flavor(), stated("53100"), ""},

		{"the victim of a deadlock", mysql.Flavor(), numbered(1213), "had precedence"},
		{"a lock that was not had in time", mysql.Flavor(), numbered(1205), "holds a lock"},
		{"a row that changed since the snapshot", mysql.Flavor(), numbered(1020), "had precedence"},
		{"a table that changed since the snapshot", mysql.Flavor(), numbered(1412), "had precedence"},
		{"a table that changed since the statement was prepared", mysql.Flavor(), numbered(1615), "had precedence"},
		{"a statement that was killed", mysql.Flavor(), numbered(1317), "took too long"},
		{"a session that was killed", mysql.Flavor(), numbered(1927), "has ended the session"},
		{"a session that was idle", mysql.Flavor(), numbered(4031), "has ended the session"},
		{"a shutdown", mysql.Flavor(), numbered(1053), "shutting down"},
		{"a node that has not joined its cluster", mysql.Flavor(), numbered(1047), "starting up"},
		{"a network that fails", mysql.Flavor(), numbered(1158), "has ended the session"},
		{"an error of the storage is for the host to see", mysql.Flavor(), numbered(1030), ""},

		{"a writer", sqlite.Flavor(), errors.New("database is locked (5) (SQLITE_BUSY)"), "holds a lock"},
		{"a schema that changes", sqlite.Flavor(), errors.New("database schema has changed (17)"), "had precedence"},
		{"a lock of the write-ahead log", sqlite.Flavor(), errors.New("locking protocol (15)"), "had precedence"},
		{"a disk that fails is for the host to see", sqlite.Flavor(), errors.New("disk I/O error (10)"), ""},

		{"a connection that ended", mysql.Flavor(), io.ErrUnexpectedEOF, "has ended the session"},
		{"a connection that was reset", postgres.Flavor(), during("read", os.NewSyscallError("read", syscall.ECONNRESET)), "has ended the session"},
		{"a network that is gone", postgres.Flavor(), during("read", os.NewSyscallError("read", syscall.EHOSTUNREACH)), "has ended the session"},
		{"a server that is silent", mysql.Flavor(), during("write", os.NewSyscallError("write", syscall.ETIMEDOUT)), "has ended the session"},
		{"a connection that was closed here", mysql.Flavor(), net.ErrClosed, "has ended the session"},
		{"a connection that the pool gave up", postgres.Flavor(), sql.ErrConnDone, "has ended the session"},
		{"a connection that the driver gave up", postgres.Flavor(), driver.ErrBadConn, "has ended the session"},
		{"pgx's word for that", postgres.Flavor(), errors.New("conn closed"), "has ended the session"},
		{"that of go-sql-driver/mysql", mysql.Flavor(), errors.New("invalid connection"), "has ended the session"},
		{"nobody listens", postgres.Flavor(), during("dial", os.NewSyscallError("connect", syscall.ECONNREFUSED)), "cannot be reached"},
	} {
		t.Run(c.why, func(t *testing.T) {
			err := (&Database{Flavor: &c.flavor}).Failure(context.Background(), c.err, "t")
			var deliberate *wire.Error
			if c.says == "" {
				assert.False(t, errors.As(err, &deliberate), "%v", err)
				return
			}
			assert.Equal(t, wire.CodeTimeout, wire.CodeOf(err))
			assert.ErrorContains(t, err, c.says)
			assert.NotContains(t, err.Error(), "secret")
		})
	}
}

// nearBare compares the bare column n with what is bound.
func nearBare(sign string, arg any, bind func(any) string) string {
	return "n " + sign + " " + bind(arg)
}

// TestScope shows among which rows values are looked for that SQL would misjudge:
// all that any filter may select if the engine judged them rightly.
func TestScope(t *testing.T) {
	r := &Relation{byName: map[string]*sqltext.Column{
		"day": {Name: "day", Column: sqlengine.Column{Class: sqlengine.ClassDate, Raw: "d",
			Loose: sqlengine.Loose{Guard: "odd(d)"}, Index: sqlengine.Index{Near: nearBare}}},
		"far":  {Name: "far", Column: sqlengine.Column{Class: sqlengine.ClassDate, Raw: "f", Loose: sqlengine.Loose{Guard: "odd(f)"}}},
		"part": {Name: "part", Column: sqlengine.Column{Class: sqlengine.ClassInteger, Raw: "p"}},
	}}
	on := func(field string, op wire.Op, value wire.Value) wire.Filter {
		return wire.Filter{Field: field, Op: op, Value: value}
	}
	from, part := on("day", wire.OpGte, wire.Text("2024-01-02")), on("part", wire.OpEq, wire.Int(7))
	for _, c := range []struct {
		why   string
		where wire.Where
		want  string
	}{
		{"no filter", wire.Where{}, ""},
		{"a filter that judges every value rightly", wire.Where{And: []wire.Filter{part}}, "p = ?1"},
		{"one that may misjudge values: where the index has it", wire.Where{And: []wire.Filter{from}}, "(n >= ?1)"},
		{"one that may misjudge them and has no index", wire.Where{And: []wire.Filter{on("far", wire.OpGte, wire.Text("2024-01-02"))}}, ""},
		{"inequality", wire.Where{And: []wire.Filter{on("day", wire.OpNeq, wire.Text("2024-01-02"))}}, ""},
		{"several", wire.Where{And: []wire.Filter{from, part}}, "(n >= ?1) AND p = ?2"},
		{"a group of or: a row may meet another", wire.Where{Or: [][]wire.Filter{{from}, {part}}}, ""},
	} {
		flavor := sqlite.Flavor()
		b := &sqltext.Builder{Flavor: &flavor}
		require.Equal(t, c.want, strings.Join(r.Within(c.where).conditions(b), " AND "), c.why)
	}
}

// TestNames finds the table that a request names, and no table that is not
// served.
func TestNames(t *testing.T) {
	o := Settings{
		Only:   []string{"tbl_orders", "customers", "x"},
		Tables: map[string]TableSettings{"tbl_orders": {Name: "orders"}, "orders": {Name: "old orders"}, "x": {Hidden: true}},
	}
	o.index()
	for _, n := range []struct {
		why, name, own string
		served         bool
	}{
		{"by its own name", "customers", "customers", true},
		{"by the name it is given", "orders", "tbl_orders", true},
		{"not by the name it has in the database", "tbl_orders", "", false},
		{"not one that is not listed", "old orders", "", false},
		{"not one that is hidden", "x", "", false},
		{"not one that the options do not name", "secrets", "", false},
	} {
		own, served := o.InDatabase(n.name)
		assert.Equal(t, n.served, served, n.why)
		if n.served {
			assert.Equal(t, n.own, own, n.why)
		}
	}
}
