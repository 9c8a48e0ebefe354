package sqlsourcetest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
)

// Intercept returns a database that calls a function with each statement and its
// arguments before the driver executes it. If the function returns an error, the
// statement fails with it. Use it to look at statements, and to see what a source
// makes of failures.
func Intercept(c driver.Connector, statement func(query string, args []driver.NamedValue) error) *sql.DB {
	return sql.OpenDB(interceptor{c, statement})
}

type interceptor struct {
	driver.Connector
	statement func(query string, args []driver.NamedValue) error
}

func (i interceptor) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := i.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &interceptedConn{Conn: conn, statement: i.statement}, nil
}

// interceptedConn passes on what drivers may implement. Where a driver does not,
// it behaves as if it were not there.
type interceptedConn struct {
	driver.Conn
	statement func(query string, args []driver.NamedValue) error
	// skipped is a statement that the function has seen and that the driver wants to
	// prepare first. A connection is used by one goroutine at a time.
	skipped string
}

// PrepareContext implements driver.ConnPrepareContext.
func (c *interceptedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	prepare := func() (driver.Stmt, error) { return c.Prepare(query) }
	if p, ok := c.Conn.(driver.ConnPrepareContext); ok {
		prepare = func() (driver.Stmt, error) { return p.PrepareContext(ctx, query) }
	}
	prepared, err := prepare()
	if err != nil {
		return nil, err
	}
	seen := c.skipped == query
	c.skipped = ""
	return &interceptedStmt{Stmt: prepared, query: query, statement: c.statement, seen: seen}, nil
}

// QueryContext implements driver.QueryerContext.
func (c *interceptedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	q, ok := c.Conn.(driver.QueryerContext)
	if !ok {
		return nil, driver.ErrSkip
	}
	if err := c.statement(query, args); err != nil {
		return nil, err
	}
	rows, err := q.QueryContext(ctx, query, args)
	c.skip(query, err)
	return rows, err
}

// ExecContext implements driver.ExecerContext.
func (c *interceptedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	e, ok := c.Conn.(driver.ExecerContext)
	if !ok {
		return nil, driver.ErrSkip
	}
	if err := c.statement(query, args); err != nil {
		return nil, err
	}
	result, err := e.ExecContext(ctx, query, args)
	c.skip(query, err)
	return result, err
}

// skip remembers a statement that the driver wants to prepare first.
func (c *interceptedConn) skip(query string, err error) {
	if errors.Is(err, driver.ErrSkip) {
		c.skipped = query
	}
}

// BeginTx implements driver.ConnBeginTx.
func (c *interceptedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if b, ok := c.Conn.(driver.ConnBeginTx); ok {
		return b.BeginTx(ctx, opts)
	}
	return nil, errors.New("sqlsourcetest: the driver has no BeginTx, which read-only transactions need")
}

// CheckNamedValue implements driver.NamedValueChecker.
func (c *interceptedConn) CheckNamedValue(v *driver.NamedValue) error {
	if k, ok := c.Conn.(driver.NamedValueChecker); ok {
		return k.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// ResetSession implements driver.SessionResetter.
func (c *interceptedConn) ResetSession(ctx context.Context) error {
	if r, ok := c.Conn.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

// IsValid implements driver.Validator.
func (c *interceptedConn) IsValid() bool {
	v, ok := c.Conn.(driver.Validator)
	return !ok || v.IsValid()
}

// interceptedStmt is a prepared statement.
type interceptedStmt struct {
	driver.Stmt
	query     string
	statement func(query string, args []driver.NamedValue) error
	seen      bool // by the function, before it was prepared
}

// intercept calls the function, unless it has seen this execution.
func (s *interceptedStmt) intercept(args []driver.NamedValue) error {
	if s.seen {
		s.seen = false
		return nil
	}
	return s.statement(s.query, args)
}

// QueryContext implements driver.StmtQueryContext.
func (s *interceptedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if err := s.intercept(args); err != nil {
		return nil, err
	}
	if q, ok := s.Stmt.(driver.StmtQueryContext); ok {
		return q.QueryContext(ctx, args)
	}
	//lint:ignore SA1019 some drivers have no other method
	return s.Stmt.Query(values(args))
}

// ExecContext implements driver.StmtExecContext.
func (s *interceptedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if err := s.intercept(args); err != nil {
		return nil, err
	}
	if e, ok := s.Stmt.(driver.StmtExecContext); ok {
		return e.ExecContext(ctx, args)
	}
	//lint:ignore SA1019 some drivers have no other method
	return s.Stmt.Exec(values(args))
}

// CheckNamedValue implements driver.NamedValueChecker.
func (s *interceptedStmt) CheckNamedValue(v *driver.NamedValue) error {
	if k, ok := s.Stmt.(driver.NamedValueChecker); ok {
		return k.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// values returns arguments for drivers that know no context.
func values(args []driver.NamedValue) []driver.Value {
	list := make([]driver.Value, len(args))
	for i, a := range args {
		list[i] = a.Value
	}
	return list
}
