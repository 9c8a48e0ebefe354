package sqlsourcetest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"sync"
)

// Statements collects the texts of the statements that went to a database.
type Statements struct {
	mu   sync.Mutex
	list []string
}

// All returns the texts seen so far.
func (s *Statements) All() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

func (s *Statements) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, text)
}

// Record returns a database that records its statements on their way to the
// driver.
func Record(c driver.Connector) (*sql.DB, *Statements) {
	s := &Statements{}
	return Intercept(c, func(text string) error {
		s.add(text)
		return nil
	}), s
}

// Intercept returns a database that shows each statement to a function on its way to
// the driver. If the function returns an error, the statement fails with it: use it to
// see what a source makes of failures.
func Intercept(c driver.Connector, statement func(text string) error) *sql.DB {
	return sql.OpenDB(recorder{c, statement})
}

type recorder struct {
	driver.Connector
	statement func(text string) error
}

func (r recorder) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := r.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &recordedConn{conn, r.statement}, nil
}

// recordedConn passes on what the drivers of SQLite, PostgreSQL and MySQL
// implement.
type recordedConn struct {
	driver.Conn
	statement func(text string) error
}

func (c *recordedConn) Prepare(query string) (driver.Stmt, error) {
	if err := c.statement(query); err != nil {
		return nil, err
	}
	return c.Conn.Prepare(query)
}

func (c *recordedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if p, ok := c.Conn.(driver.ConnPrepareContext); ok {
		if err := c.statement(query); err != nil {
			return nil, err
		}
		return p.PrepareContext(ctx, query)
	}
	return c.Prepare(query)
}

func (c *recordedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	q, ok := c.Conn.(driver.QueryerContext)
	if !ok {
		return nil, driver.ErrSkip
	}
	if err := c.statement(query); err != nil {
		return nil, err
	}
	return q.QueryContext(ctx, query, args)
}

func (c *recordedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	e, ok := c.Conn.(driver.ExecerContext)
	if !ok {
		return nil, driver.ErrSkip
	}
	if err := c.statement(query); err != nil {
		return nil, err
	}
	return e.ExecContext(ctx, query, args)
}

func (c *recordedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if b, ok := c.Conn.(driver.ConnBeginTx); ok {
		return b.BeginTx(ctx, opts)
	}
	return nil, errors.New("sqlsourcetest: the driver has no BeginTx, which read-only transactions need")
}

func (c *recordedConn) CheckNamedValue(v *driver.NamedValue) error {
	if k, ok := c.Conn.(driver.NamedValueChecker); ok {
		return k.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

func (c *recordedConn) ResetSession(ctx context.Context) error {
	if r, ok := c.Conn.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

func (c *recordedConn) IsValid() bool {
	v, ok := c.Conn.(driver.Validator)
	return !ok || v.IsValid()
}
