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
	"time"

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

// TestPassing: what is likely to pass is answered 408, so that the reader tries
// again, and the driver's words are not.
func TestPassing(t *testing.T) {
	during := func(op string, err error) error { return &net.OpError{Op: op, Net: "tcp", Err: err} }
	type failure struct {
		why    string
		flavor sqlengine.Flavor
		err    error
		says   string // "-": nobody knows, so it is an internal error
	}
	all := []failure{
		{"a connection that ended", mysql.Flavor(), io.ErrUnexpectedEOF, "has ended the session"},
		{"a connection that was reset", postgres.Flavor(), during("read", os.NewSyscallError("read", syscall.ECONNRESET)),
			"has ended the session"},
		{"a network that is gone", postgres.Flavor(), during("read", os.NewSyscallError("read", syscall.EHOSTUNREACH)), "has ended the session"},
		{"a server that is silent", mysql.Flavor(), during("write", os.NewSyscallError("write", syscall.ETIMEDOUT)), "has ended the session"},
		{"a connection that was closed here", mysql.Flavor(), net.ErrClosed, "has ended the session"},
		{"a connection that the pool gave up", postgres.Flavor(), sql.ErrConnDone, "has ended the session"},
		{"a connection that the driver gave up", postgres.Flavor(), driver.ErrBadConn, "has ended the session"},
		{"nobody listens", postgres.Flavor(), during("dial", os.NewSyscallError("connect", syscall.ECONNREFUSED)), "cannot be reached"},
	}
	for _, row := range testkit.Table(t, "testdata/passing.tsv", 4) {
		said, f := row[1], failure{why: row[2], says: row[3]}
		switch row[0] {
		case "postgres":
			f.flavor, f.err = postgres.Flavor(), stated(said)
		case "mysql":
			f.flavor, f.err = mysql.Flavor(), fmt.Errorf("Error %s (HY000): secret words", said)
		default:
			f.flavor = sqlite.Flavor()
		}
		if strings.Contains(said, " ") {
			f.err = errors.New(said)
		}
		all = append(all, f)
	}
	for _, c := range all {
		t.Run(c.why, func(t *testing.T) {
			err := (&Database{Flavor: &c.flavor}).Failure(context.Background(), c.err, "t")
			var deliberate *wire.Error
			if c.says == "-" {
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
	for why, n := range map[string]struct{ name, own string }{
		"by its own name":                        {"customers", "customers"},
		"by the name it is given":                {"orders", "tbl_orders"},
		"not by the name it has in the database": {"tbl_orders", ""},
		"not one that is not listed":             {"old orders", ""},
		"not one that is hidden":                 {"x", ""},
		"not one that the options do not name":   {"secrets", ""},
	} {
		own, served := o.InDatabase(n.name)
		assert.Equal(t, n.own != "", served, why)
		if served {
			assert.Equal(t, n.own, own, why)
		}
	}
}

// TestCacheIsBounded: tables of ever new schemas do not fill the memory.
func TestCacheIsBounded(t *testing.T) {
	var c tableCache
	now := time.Now()
	table := &Table{Table: sqlengine.Table{Name: "orders"}}
	schemas := func(n int) []string { return []string{"sales", fmt.Sprint("tenant", n)} }
	for n := range 2*maxCached + 1 {
		c.store(schemas(n), []*Table{table}, now.Add(time.Hour))
	}
	require.LessOrEqual(t, len(c.tables), maxCached)
	known, _ := c.lookup(schemas(2*maxCached), []string{"orders"}, now)
	require.Equal(t, []*Table{table}, known)
}
