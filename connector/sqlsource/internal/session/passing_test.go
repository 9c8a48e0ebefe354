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
	"syscall"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/mysql"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/postgres"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqlite"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

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
		{"a standby gives way to its primary, or transactions cannot be put in order", postgres.Flavor{}, stated("40001"), "had precedence"},
		{"the victim of a deadlock", postgres.Flavor{}, stated("40P01"), "had precedence"},
		{"a lock that was not had in time", postgres.Flavor{}, stated("55P03"), "holds a lock"},
		{"a snapshot that is too old", postgres.Flavor{}, stated("72000"), "had precedence"},
		{"a statement that was cancelled", postgres.Flavor{}, stated("57014"), "took too long"},
		{"a transaction that was too long", postgres.Flavor{}, stated("25P04"), "took too long"},
		{"an administrator ended the session", postgres.Flavor{}, stated("57P01"), "starting up or shutting down"},
		{"the server is starting", postgres.Flavor{}, stated("57P03"), "starting up or shutting down"},
		{"a session that was idle", postgres.Flavor{}, stated("57P05"), "has ended the session"},
		{"the connection failed", postgres.Flavor{}, stated("08006"), "has ended the session"},
		{"the connection does not exist", postgres.Flavor{}, stated("08003"), "has ended the session"},
		{"no connection is free", postgres.Flavor{}, stated("53300"), "no free connection"},
		{"an error within the server is for the host to see", postgres.Flavor{}, stated("XX000"), ""},
		{"a disk that is full is for the host to see", postgres.Flavor{}, stated("53100"), ""},

		{"the victim of a deadlock", mysql.Flavor{}, numbered(1213), "had precedence"},
		{"a lock that was not had in time", mysql.Flavor{}, numbered(1205), "holds a lock"},
		{"a row that changed since the snapshot", mysql.Flavor{}, numbered(1020), "had precedence"},
		{"a table that changed since the snapshot", mysql.Flavor{}, numbered(1412), "had precedence"},
		{"a table that changed since the statement was prepared", mysql.Flavor{}, numbered(1615), "had precedence"},
		{"a statement that was killed", mysql.Flavor{}, numbered(1317), "took too long"},
		{"a session that was killed", mysql.Flavor{}, numbered(1927), "has ended the session"},
		{"a session that was idle", mysql.Flavor{}, numbered(4031), "has ended the session"},
		{"a shutdown", mysql.Flavor{}, numbered(1053), "shutting down"},
		{"a node that has not joined its cluster", mysql.Flavor{}, numbered(1047), "starting up"},
		{"a network that fails", mysql.Flavor{}, numbered(1158), "has ended the session"},
		{"an error of the storage is for the host to see", mysql.Flavor{}, numbered(1030), ""},

		{"a writer", sqlite.Flavor{}, errors.New("database is locked (5) (SQLITE_BUSY)"), "holds a lock"},
		{"a schema that changes", sqlite.Flavor{}, errors.New("database schema has changed (17)"), "had precedence"},
		{"a lock of the write-ahead log", sqlite.Flavor{}, errors.New("locking protocol (15)"), "had precedence"},
		{"a disk that fails is for the host to see", sqlite.Flavor{}, errors.New("disk I/O error (10)"), ""},

		{"a connection that ended", mysql.Flavor{}, io.ErrUnexpectedEOF, "has ended the session"},
		{"a connection that was reset", postgres.Flavor{}, during("read", os.NewSyscallError("read", syscall.ECONNRESET)), "has ended the session"},
		{"a network that is gone", postgres.Flavor{}, during("read", os.NewSyscallError("read", syscall.EHOSTUNREACH)), "has ended the session"},
		{"a server that is silent", mysql.Flavor{}, during("write", os.NewSyscallError("write", syscall.ETIMEDOUT)), "has ended the session"},
		{"a connection that was closed here", mysql.Flavor{}, net.ErrClosed, "has ended the session"},
		{"a connection that the pool gave up", postgres.Flavor{}, sql.ErrConnDone, "has ended the session"},
		{"a connection that the driver gave up", postgres.Flavor{}, driver.ErrBadConn, "has ended the session"},
		{"pgx's word for that", postgres.Flavor{}, errors.New("conn closed"), "has ended the session"},
		{"that of go-sql-driver/mysql", mysql.Flavor{}, errors.New("invalid connection"), "has ended the session"},
		{"nobody listens", postgres.Flavor{}, during("dial", os.NewSyscallError("connect", syscall.ECONNREFUSED)), "cannot be reached"},
	} {
		t.Run(c.why, func(t *testing.T) {
			err := (&Database{Flavor: c.flavor}).Failure(context.Background(), c.err, "t")
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
