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

// session is one call's use of a database: one connection, on which everything
// runs in transactions that only read.
type session struct {
	source *Source
	db     *sql.DB
	conn   *sql.Conn
	tx     *sql.Tx
	disarm func() // ends the watch over the statements
	free   func() // closes a tenant's database
}

// killWait is how long the end of a call waits for a statement to be killed.
const killWait = 5 * time.Second

// open connects with a tenant's credentials and begins.
func (s *Source) open(ctx context.Context, creds wire.Credentials) (*session, error) {
	x := &session{source: s, db: s.config.DB, disarm: func() {}, free: func() {}}
	if s.config.Open != nil {
		db, err := s.config.Open(ctx, creds)
		if err != nil {
			return nil, s.failure(ctx, err, "")
		}
		if db == nil {
			return nil, errors.New("sqlsource: Config.Open answered neither a database nor an error")
		}
		x.db, x.free = db, func() { _ = db.Close() }
	}
	conn, err := x.db.Conn(ctx)
	if err != nil {
		x.free()
		return nil, s.failure(ctx, err, "")
	}
	x.conn = conn
	err = x.arm(ctx)
	if err == nil {
		err = x.begin(ctx)
	}
	if err != nil {
		x.close()
		return nil, s.failure(ctx, err, "")
	}
	return x, nil
}

// begin starts a transaction in place of the one before. With it everything
// that a request reads is of one moment, the catalog included.
func (x *session) begin(ctx context.Context) error {
	if x.tx != nil {
		_ = x.tx.Rollback()
		x.tx = nil
	}
	tx, err := x.conn.BeginTx(ctx, x.source.config.Flavor.Tx())
	if err != nil {
		return err
	}
	x.tx = tx
	return x.source.config.Flavor.Session(ctx, tx)
}

// arm sees to it that a statement ends on the server when the context does,
// where the driver only stops waiting for it.
func (x *session) arm(ctx context.Context) error {
	killer, ok := x.source.config.Flavor.(Killer)
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
		_, _ = x.db.ExecContext(late, kill) // a statement that has ended cannot be killed, which is as well
	})
	x.disarm = func() {
		if !stop() {
			done.Wait()
		}
	}
	return nil
}

// close gives back the connection, and the database where it is the tenant's.
func (x *session) close() {
	// First, or a late kill would hit whoever has the connection next.
	x.disarm()
	if x.tx != nil {
		_ = x.tx.Rollback()
	}
	_ = x.conn.Close()
	x.free()
}

// failure is a driver's error as the SDK takes it. None of its text goes out,
// for it may hold names and values.
func (s *Source) failure(ctx context.Context, err error, table string) error {
	var deliberate *wire.Error
	if err == nil || errors.As(err, &deliberate) {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	switch s.config.Flavor.Reason(err) {
	case ReasonRejected:
		return connector.CheckFailed("The database refused the user name or the password, or the user may not connect to this database. Check them, and ask whoever runs the database if they are right.")
	case ReasonNoDatabase:
		return connector.CheckFailed("The server has no database of this name. Check the name of the database.")
	case ReasonUnreachable:
		return connector.CheckFailed("The database server cannot be reached. It may be down, or not open to this connector: ask whoever runs it.")
	case ReasonNoTable:
		if table == "" {
			return err
		}
		s.forget()
		return connector.UnknownEntity("table %s, or a column of it, is gone", wire.QuoteName(table))
	case ReasonForbidden:
		return connector.BadRequest("The user of the database may not read table %s. Grant it to the user, or leave the table out.", wire.QuoteName(table))
	case ReasonTimeout:
		return connector.Timeout("the database ended the statement because it took too long")
	}
	return err
}
