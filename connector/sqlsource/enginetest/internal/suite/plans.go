package suite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Plan is a request and what the engine's plans of its statements must be like.
type Plan struct {
	Why string
	// Ask is a *wire.QueryRequest, *wire.AggregateRequest or *wire.LinkHitRateRequest.
	Ask wire.Message
	// Want are regular expressions that the plans of all its statements together
	// match. Never are some that they do not match.
	Want, Never []string
}

// Plans sends requests to the database that c reaches and asks the engine for the
// plan of each statement on a table: explain is what stands before a statement for
// that, on db.
func Plans(t *testing.T, flavor sqlsource.Flavor, c driver.Connector, db *sql.DB, explain string, plans []Plan) {
	log := &statementLog{Connector: c}
	pool := sql.OpenDB(log)
	t.Cleanup(func() { _ = pool.Close() })
	source, err := sqlsource.New(pool, flavor, nil)
	require.NoError(t, err)
	tenant := connectortest.Start(t, connector.Definition{Slug: "plans", KeysEnforced: true}, source, nil).As(nil).Unverified()
	for _, p := range plans {
		t.Run(p.Why, func(t *testing.T) {
			log.take()
			ask(t, tenant.In(t), p.Ask)
			var text strings.Builder
			for _, s := range log.take() {
				if strings.Contains(s.query, " t0") {
					fmt.Fprintf(&text, "%s\n%s\n", s.query, explained(t, db, explain+s.query, s.args))
				}
			}
			for _, want := range p.Want {
				require.Regexp(t, regexp.MustCompile("(?m)"+want), text.String())
			}
			for _, never := range p.Never {
				require.NotRegexp(t, regexp.MustCompile("(?m)"+never), text.String())
			}
		})
	}
}

// ask sends a request.
func ask(t *testing.T, tenant *connectortest.Tenant, request wire.Message) {
	t.Helper()
	var err error
	switch r := request.(type) {
	case *wire.QueryRequest:
		_, err = tenant.Query(*r)
	case *wire.AggregateRequest:
		_, err = tenant.Aggregate(*r)
	case *wire.LinkHitRateRequest:
		_, err = tenant.LinkHitRate(*r)
	}
	require.NoError(t, err)
}

// explained returns the engine's answer to EXPLAIN, a line for each row.
func explained(t *testing.T, db *sql.DB, statement string, args []any) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), statement, args...)
	require.NoError(t, err, statement)
	defer func() { _ = rows.Close() }()
	names, err := rows.Columns()
	require.NoError(t, err)
	cells := make([]sql.NullString, len(names))
	into := make([]any, len(names))
	for i := range cells {
		into[i] = &cells[i]
	}
	var text strings.Builder
	for rows.Next() {
		require.NoError(t, rows.Scan(into...))
		for i, cell := range cells {
			fmt.Fprintf(&text, "%s=%s ", names[i], cell.String)
		}
		text.WriteByte('\n')
	}
	require.NoError(t, rows.Err())
	return text.String()
}

// statementLog keeps the queries that go to a database, with their arguments.
type statementLog struct {
	driver.Connector
	mu   sync.Mutex
	list []loggedStatement
}

type loggedStatement struct {
	query string
	args  []any
}

// take returns the statements since it was called last.
func (l *statementLog) take() []loggedStatement {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.list
	l.list = nil
	return list
}

// Connect implements driver.Connector.
func (l *statementLog) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := l.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &loggedConn{conn, l}, nil
}

// loggedConn passes on what the drivers of SQLite, PostgreSQL and MySQL implement.
type loggedConn struct {
	driver.Conn
	log *statementLog
}

func (c *loggedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	p, ok := c.Conn.(driver.ConnPrepareContext)
	if !ok {
		return c.Prepare(query)
	}
	statement, err := p.PrepareContext(ctx, query)
	return loggedStmt{statement, c.log, query}, err
}

func (c *loggedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	q, ok := c.Conn.(driver.QueryerContext)
	if !ok {
		return nil, driver.ErrSkip
	}
	rows, err := q.QueryContext(ctx, query, args)
	if err != driver.ErrSkip {
		c.log.add(query, args)
	}
	return rows, err
}

func (c *loggedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if e, ok := c.Conn.(driver.ExecerContext); ok {
		return e.ExecContext(ctx, query, args)
	}
	return nil, driver.ErrSkip
}

func (c *loggedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if b, ok := c.Conn.(driver.ConnBeginTx); ok {
		return b.BeginTx(ctx, opts)
	}
	return nil, errors.New("the driver has no BeginTx")
}

func (c *loggedConn) CheckNamedValue(v *driver.NamedValue) error {
	if k, ok := c.Conn.(driver.NamedValueChecker); ok {
		return k.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// loggedStmt is a statement that a driver prepares because it has arguments.
type loggedStmt struct {
	driver.Stmt
	log   *statementLog
	query string
}

func (s loggedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.log.add(s.query, args)
	return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
}

func (s loggedStmt) CheckNamedValue(v *driver.NamedValue) error {
	if k, ok := s.Stmt.(driver.NamedValueChecker); ok {
		return k.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

func (l *statementLog) add(query string, args []driver.NamedValue) {
	own := make([]any, len(args))
	for i, a := range args {
		own[i] = a.Value
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, loggedStatement{query, own})
}
