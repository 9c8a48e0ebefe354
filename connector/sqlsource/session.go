package sqlsource

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// session is one request's use of a database: one connection, on which
// everything runs in transactions that only read.
type session struct {
	source    *Source
	db        *sql.DB
	conn      *sql.Conn
	tx        *sql.Tx
	stopWatch func() // stops killing statements when the context ends
	closeDB   func() // closes a tenant's database
}

// killWait is how long a request waits for its statement to be killed.
const killWait = 5 * time.Second

// open connects with a tenant's credentials and begins a transaction.
func (s *Source) open(ctx context.Context, creds wire.Credentials) (*session, error) {
	x := &session{source: s, db: s.db, stopWatch: func() {}, closeDB: func() {}}
	if s.openTenant != nil {
		db, err := s.openTenant(ctx, creds)
		if err != nil {
			return nil, s.failure(ctx, err, "")
		}
		if db == nil {
			return nil, errors.New("sqlsource: the function that opens a tenant's database returned neither a database nor an error")
		}
		x.db, x.closeDB = db, func() { _ = db.Close() }
	}
	conn, err := x.db.Conn(ctx)
	if err != nil {
		x.closeDB()
		return nil, s.failure(ctx, err, "")
	}
	x.conn = conn
	err = x.watch(ctx)
	if err == nil {
		err = x.begin(ctx)
	}
	if err != nil {
		x.close()
		return nil, s.failure(ctx, err, "")
	}
	return x, nil
}

// begin starts a transaction in place of the one before. Everything that a
// request reads in it is of one moment, the catalog included.
func (x *session) begin(ctx context.Context) error {
	if x.tx != nil {
		_ = x.tx.Rollback()
		x.tx = nil
	}
	tx, err := x.conn.BeginTx(ctx, x.source.flavor.Tx())
	if err != nil {
		return err
	}
	x.tx = tx
	return x.source.flavor.Session(ctx, tx)
}

// watch kills the session's statement on the server when the context ends, for
// drivers that only stop waiting for it.
func (x *session) watch(ctx context.Context) error {
	killer, ok := x.source.flavor.(Killer)
	if !ok {
		return nil
	}
	kill, err := killer.Kill(ctx, x.conn)
	if err != nil {
		return err
	}
	var done sync.WaitGroup
	done.Add(1)
	stop := context.AfterFunc(ctx, func() {
		defer done.Done()
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), killWait)
		defer cancel()
		_, _ = x.db.ExecContext(late, kill) // fails if the statement has ended, which is fine
	})
	x.stopWatch = func() {
		if !stop() {
			done.Wait()
		}
	}
	return nil
}

// close gives back the connection, and closes a tenant's database.
func (x *session) close() {
	x.stopWatch() // first, or a late kill would hit the connection's next user
	if x.tx != nil {
		_ = x.tx.Rollback()
	}
	_ = x.conn.Close()
	x.closeDB()
}

// builder returns an empty statement.
func (x *session) builder() *builder { return &builder{flavor: x.source.flavor} }

// failure returns a driver's error as the library takes it. None of the driver's
// text goes out, because it may hold names and values.
func (s *Source) failure(ctx context.Context, err error, table string) error {
	var deliberate *wire.Error
	if err == nil || errors.As(err, &deliberate) {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	switch s.flavor.Reason(err) {
	case ReasonRejected:
		return connector.CheckFailed("The database refused the user name or the password, or the user may not connect to this database. " +
			"Check them, and ask whoever runs the database if they are right.")
	case ReasonNoDatabase:
		return connector.CheckFailed("The server has no database of this name. Check the name of the database.")
	case ReasonUnreachable:
		return connector.CheckFailed("The database server cannot be reached. It may be down, or not open to this connector: " +
			"ask whoever runs it.")
	case ReasonNoTable:
		if table == "" {
			return err
		}
		s.cache.clear()
		return connector.UnknownEntity("table %s, or a column of it, no longer exists", wire.QuoteName(table))
	case ReasonForbidden:
		return connector.BadRequest("The user of the database may not read table %s. Grant it to the user, or leave the table out.",
			wire.QuoteName(table))
	case ReasonTimeout:
		return connector.Timeout("the database ended the statement because it took too long")
	}
	return err
}
