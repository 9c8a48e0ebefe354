package duckdb

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"fmt"
	"reflect"

	"github.com/duckdb/duckdb-go/mapping"
	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/connectorsdk/connector-sdk-go/connector"
)

// openFolder opens a folder for a request, on the engine that all requests for the
// folder share. Closing the database gives the engine back.
func (p *instances) openFolder(dir string) (*sql.DB, error) {
	found, err := listFolder(dir)
	if err != nil {
		return nil, err
	}
	i, e, err := p.lease(dir, found.files)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(&folderConnector{listing: found, engine: e, release: func() { p.release(i) }, dismiss: func() { p.dismiss(i) }}), nil
}

// folderConnector makes a request's connections.
type folderConnector struct {
	listing *listing
	engine  engine
	release func() // gives back the engine
	dismiss func() // keeps others from using the engine
}

// Connect returns a connection that knows what the folder had when the request began.
func (c *folderConnector) Connect(ctx context.Context) (sqldriver.Conn, error) {
	conn, err := c.engine.Connect(ctx)
	if err != nil {
		return nil, err
	}
	own, ok := conn.(*driver.Conn)
	if !ok {
		return nil, fmt.Errorf("duckdb: the driver returned a %T", conn)
	}
	return &folderConn{Conn: own, listing: c.listing, used: fingerprints{}, dismiss: c.dismiss}, nil
}

func (c *folderConnector) Driver() sqldriver.Driver { return driver.Driver{} }

// Close gives back the engine. database/sql closes the connections before.
func (c *folderConnector) Close() error {
	c.release()
	return nil
}

// folderConn is a connection that answers from a folder's files. What it answers is of
// the files that its request has found: if one of those that it reads is changed
// meanwhile, it fails.
type folderConn struct {
	*driver.Conn
	listing *listing
	used    fingerprints // of the tables that the request has asked for
	dismiss func()
}

// use notes that the request reads a table.
func (c *folderConn) use(t folderTable) {
	for _, file := range t.files {
		c.used[file] = c.listing.files[file]
	}
}

// askFolder is the statement by which the flavor asks a connection for itself. The
// engine does not see it. Its argument is a **folderConn.
const askFolder = "FOLDER"

// CheckNamedValue implements driver.NamedValueChecker.
func (c *folderConn) CheckNamedValue(v *sqldriver.NamedValue) error {
	if _, ok := v.Value.(**folderConn); ok {
		return nil
	}
	return c.Conn.CheckNamedValue(v)
}

// ExecContext implements driver.ExecerContext.
func (c *folderConn) ExecContext(ctx context.Context, statement string, args []sqldriver.NamedValue) (sqldriver.Result, error) {
	if statement == askFolder && len(args) == 1 {
		if to, ok := args[0].Value.(**folderConn); ok {
			*to = c
			return sqldriver.RowsAffected(0), nil
		}
	}
	result, err := c.Conn.ExecContext(ctx, statement, args)
	return result, c.judge(err)
}

// QueryContext implements driver.QueryerContext. The driver returns when the engine has
// computed the whole answer.
func (c *folderConn) QueryContext(ctx context.Context, statement string, args []sqldriver.NamedValue) (sqldriver.Rows, error) {
	rows, err := c.Conn.QueryContext(ctx, statement, args)
	if err := c.judge(err); err != nil {
		if rows != nil {
			_ = rows.Close()
		}
		return nil, err
	}
	return rows, nil
}

// judge returns the error of a statement that has ended with err, which may be nil. A
// file that was changed meanwhile may have shown the engine an end that is none.
func (c *folderConn) judge(err error) error {
	if isBroken(err) {
		c.dismiss()
	}
	if c.used.changed() {
		return connector.UpstreamTimeout("A file of the table was replaced or changed while it was read. Ask again. " +
			"If it stays so, put new versions in place less often, and by renaming them.")
	}
	return err
}

// connectionOf returns the engine's connection of a connection of the driver, which
// does not show it. It reports false for one that something wraps. judge returns the
// error of a statement that has ended with this one.
func connectionOf(own any) (c mapping.Connection, judge func(error) error, ok bool) {
	judge = func(err error) error { return err }
	if f, is := own.(*folderConn); is {
		own, judge = f.Conn, f.judge
	}
	conn, ok := own.(*driver.Conn)
	if !ok {
		return c, judge, false
	}
	field := reflect.ValueOf(conn).Elem().FieldByName("conn")
	if !field.IsValid() || field.Type() != reflect.TypeFor[mapping.Connection]() {
		return c, judge, false
	}
	c.Ptr = field.FieldByName("Ptr").UnsafePointer()
	return c, judge, c.Ptr != nil
}
