// Package session is a request's use of a database: the connection and its transaction,
// the tables of the catalog as they are served, and what the failures of a database are
// answered by.
package session

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqltext"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Session is a request's use of a database: one connection, on which everything
// runs in transactions that only read. The calls of a request use it one after
// the other (see shelf).
type Session struct {
	Database     *Database
	creds        wire.Credentials // that it was opened with
	Schemas      []string         // that are served
	schemasNamed bool             // the options name them
	shelf        *shelf
	db           *sql.DB
	conn         *sql.Conn
	Tx           *reading
	kill         string            // the statement that ends what the session runs; empty: none is needed
	killed       bool              // it was sent
	Known        map[string]*Table // of the catalog, that the request has asked for
	closeDB      func()            // closes a tenant's database

	// The call that uses the session sets these.
	Report    *Report     // nil: nobody wants it
	Keep      bool        // the request may go on with the session after this call
	stopWatch func() bool // stops killing statements when the context ends; false: it has ended
	release   func()      // gives back the shelf
}

// killWait is how long a request waits for its statement to be killed.
const killWait = 5 * time.Second

// Open returns the session of a request, in a transaction. If the request has
// none yet, or another call uses it, open connects with the tenant's credentials.
func (s *Database) Open(ctx context.Context, creds wire.Credentials, call connector.Call) (*Session, error) {
	on, release, err := s.shelves.Get(ctx, newShelf)
	if err != nil {
		return nil, err
	}
	x := on.take(creds)
	if x == nil {
		// The session may outlive this call, so the context is the request's.
		if x, err = s.connect(on.ctx, creds); err != nil {
			release()
			return nil, s.unconnected(ctx, err)
		}
		x.shelf = on
	}
	x.Keep, x.release = false, release
	if observe := s.Options.Observe; observe != nil {
		report := &Report{Call: call}
		x.Report = report
		x.release = func() {
			release()
			if len(report.Statements)+len(report.Left) > 0 {
				observe(ctx, *report)
			}
		}
	}
	x.watch(ctx)
	return x, nil
}

// connect opens a database and begins a transaction.
func (s *Database) connect(ctx context.Context, creds wire.Credentials) (*Session, error) {
	opening := ctx
	if s.openTenant != nil {
		var cancel context.CancelFunc
		opening, cancel = limitConnect(ctx)
		defer cancel()
	}
	x := &Session{Database: s, creds: creds, db: s.pool, closeDB: func() {}, Known: map[string]*Table{}}
	x.Schemas, x.schemasNamed = s.Options.chosenSchemas(creds)
	if s.openTenant != nil {
		db, err := s.openTenant(opening, creds)
		if err != nil {
			return nil, err
		}
		if db == nil {
			return nil, errors.New("sqlsource: the function that opens a tenant's database returned neither a database nor an error")
		}
		x.db, x.closeDB = db, func() { _ = db.Close() }
	}
	conn, err := x.db.Conn(opening)
	for range retriedConnects {
		if err == nil || s.Flavor.ConnectAgain == nil || !s.Flavor.ConnectAgain(err) {
			break
		}
		conn, err = x.db.Conn(opening)
	}
	if err != nil {
		x.closeDB()
		return nil, err
	}
	x.conn = conn
	if s.Flavor.Kill != nil {
		x.kill, err = s.Flavor.Kill(ctx, conn)
	}
	if err == nil {
		err = x.Begin(ctx, ctx)
	}
	if err != nil {
		x.disconnect()
		return nil, err
	}
	return x, nil
}

// Begin starts a transaction in place of the one before, which ends with life at the
// latest. A request reads everything in it as of one moment, the catalog
// included. The deadline of ctx limits its statements.
func (x *Session) Begin(ctx, life context.Context) error {
	if x.Tx != nil {
		x.Tx.end()
		x.Tx = nil
	}
	able := x.Database.Flavor
	x.Tx = &reading{Queryer: x.conn, end: func() {}, session: x}
	if !able.NoTx {
		tx, err := x.conn.BeginTx(life, able.Tx)
		if err != nil {
			x.Tx = nil
			return err
		}
		x.Tx.Queryer, x.Tx.end = tx, func() { _ = tx.Rollback() }
	}
	if able.Session == nil {
		return nil
	}
	if able.Restore != "" {
		end := x.Tx.end
		x.Tx.end = func() {
			end()
			x.restore(life)
		}
	}
	return able.Session(ctx, x.Tx.Queryer)
}

// restore undoes what the flavor has set on the connection, also if the request was given up.
func (x *Session) restore(life context.Context) {
	late, cancel := context.WithTimeout(context.WithoutCancel(life), killWait)
	defer cancel()
	if _, err := x.conn.ExecContext(late, x.Database.Flavor.Restore); err != nil {
		_ = x.conn.Raw(func(any) error { return driver.ErrBadConn })
	}
}

// watch kills the session's statement on the server when the context of a call
// ends, for drivers that only stop waiting for it.
func (x *Session) watch(ctx context.Context) {
	var done sync.WaitGroup
	done.Add(1)
	stop := context.AfterFunc(ctx, func() {
		defer done.Done()
		if x.kill == "" {
			return
		}
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), killWait)
		defer cancel()
		_, _ = x.db.ExecContext(late, x.kill) // fails if the statement has ended, which is fine
	})
	x.stopWatch = func() bool {
		if stop() {
			return true
		}
		done.Wait()
		return false
	}
}

// Close ends a call's use of the session. It disconnects unless the request may
// go on with the session.
func (x *Session) Close() {
	release := x.release
	calm := x.stopWatch() // first, or a late kill would hit the connection's next user
	x.killed = !calm && x.kill != ""
	if !x.Keep || !calm || !x.shelf.put(x) {
		x.disconnect()
	}
	release()
}

// disconnect gives back the connection, and closes a tenant's database.
func (x *Session) disconnect() {
	if x.Tx != nil {
		x.Tx.end()
	}
	if x.killed {
		// The kill may have hit the rollback that the end of the context caused: the
		// transaction would still be open for whom the pool gives the connection to.
		_ = x.conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	_ = x.conn.Close()
	x.closeDB()
}

// Builder returns an empty statement.
func (x *Session) Builder() *sqltext.Builder {
	return &sqltext.Builder{Flavor: x.Database.Flavor}
}
