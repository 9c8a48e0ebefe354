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

// session is a request's use of a database: one connection, on which everything
// runs in transactions that only read. The calls of a request use it one after
// the other (see shelf).
type session struct {
	database     *database
	creds        wire.Credentials // that it was opened with
	schemas      []string         // that are served
	schemasNamed bool             // the options name them
	shelf        *shelf
	db           *sql.DB
	conn         *sql.Conn
	tx           *reading
	kill         string            // the statement that ends what the session runs; empty: none is needed
	known        map[string]*table // of the catalog, that the request has asked for
	closeDB      func()            // closes a tenant's database

	// The call that uses the session sets these.
	report    *report     // nil: nobody wants it
	keep      bool        // the request may go on with the session after this call
	stopWatch func() bool // stops killing statements when the context ends; false: it has ended
	release   func()      // gives back the shelf
}

// killWait is how long a request waits for its statement to be killed.
const killWait = 5 * time.Second

// open returns the session of a request, in a transaction. If the request has
// none yet, or another call uses it, open connects with the tenant's credentials.
func (s *database) open(ctx context.Context, creds wire.Credentials, call connector.Call) (*session, error) {
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
	x.keep, x.release = false, release
	if observe := s.options.observe; observe != nil {
		report := &report{Call: call}
		x.report = report
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
func (s *database) connect(ctx context.Context, creds wire.Credentials) (*session, error) {
	opening := ctx
	if s.openTenant != nil {
		var cancel context.CancelFunc
		opening, cancel = limitConnect(ctx)
		defer cancel()
	}
	x := &session{database: s, creds: creds, db: s.pool, closeDB: func() {}, known: map[string]*table{}}
	x.schemas, x.schemasNamed = s.options.chosenSchemas(creds)
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
		if err == nil || !mayBeChance(err) {
			break
		}
		conn, err = x.db.Conn(opening)
	}
	if err != nil {
		x.closeDB()
		return nil, err
	}
	x.conn = conn
	if s.capabilities.Kill != nil {
		x.kill, err = s.capabilities.Kill(ctx, conn)
	}
	if err == nil {
		err = x.begin(ctx, ctx)
	}
	if err != nil {
		x.disconnect()
		return nil, err
	}
	return x, nil
}

// begin starts a transaction in place of the one before, which ends with life at the
// latest. Everything that a request reads in it is of one moment, the catalog
// included. The deadline of ctx limits its statements.
func (x *session) begin(ctx, life context.Context) error {
	if x.tx != nil {
		x.tx.end()
		x.tx = nil
	}
	able := &x.database.capabilities
	x.tx = &reading{Queryer: x.conn, end: func() {}, session: x}
	if !able.NoTx {
		tx, err := x.conn.BeginTx(life, able.Tx)
		if err != nil {
			x.tx = nil
			return err
		}
		x.tx.Queryer, x.tx.end = tx, func() { _ = tx.Rollback() }
	}
	if able.Session == nil {
		return nil
	}
	return able.Session(ctx, x.tx.Queryer)
}

// watch kills the session's statement on the server when the context of a call
// ends, for drivers that only stop waiting for it.
func (x *session) watch(ctx context.Context) {
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

// close ends a call's use of the session. It disconnects unless the request may
// go on with the session.
func (x *session) close() {
	release := x.release
	calm := x.stopWatch() // first, or a late kill would hit the connection's next user
	if !x.keep || !calm || !x.shelf.put(x) {
		x.disconnect()
	}
	release()
}

// disconnect gives back the connection, and closes a tenant's database.
func (x *session) disconnect() {
	if x.tx != nil {
		x.tx.end()
	}
	_ = x.conn.Close()
	x.closeDB()
}

// builder returns an empty statement.
func (x *session) builder() *builder {
	return &builder{flavor: x.database.flavor, windowFirst: x.database.capabilities.WindowFirst}
}
