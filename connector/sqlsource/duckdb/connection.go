package duckdb

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"

	"github.com/duckdb/duckdb-go/mapping"
	driver "github.com/duckdb/duckdb-go/v2"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
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
	return sql.OpenDB(&folderConnector{listing: found, engine: e, known: p.known, views: &views{readings: i.readings},
		release: func() { p.release(i) }, dismiss: func() { p.dismiss(i) }}), nil
}

// folderConnector makes a request's connections.
type folderConnector struct {
	listing *listing
	engine  engine
	known   *known
	views   *views
	release func() // gives back the engine
	dismiss func() // keeps others from using the engine
}

// views are the views that a request has made, and the readings that they are of. They
// are one connection's own: another connection of the same request, as after a statement
// that took too long, is made them again.
type views struct {
	readings *readings

	mu         sync.Mutex
	names      []string
	statements map[string]string // by the names of the tables
	open       []int64           // readings
	used       fingerprints      // of the tables that the request has asked for
}

func (v *views) add(table, statement string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.statements == nil {
		v.statements = map[string]string{}
	}
	if v.statements[table] == "" {
		v.names = append(v.names, table)
	}
	v.statements[table] = statement
}

// make makes the views on another connection.
func (v *views) make(ctx context.Context, conn *driver.Conn) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, table := range v.names {
		if _, err := conn.ExecContext(ctx, v.statements[table], nil); err != nil {
			return err
		}
	}
	return nil
}

// fault returns what is wrong with a file that was read for the engine, which passes on
// no more than a text.
func (v *views) fault() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, n := range v.open {
		if r := v.readings.get(n); r != nil {
			if fault := r.fault.Load(); fault != nil {
				return fault
			}
		}
	}
	return nil
}

// close forgets the readings.
func (v *views) close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.readings.drop(v.open)
	v.open = nil
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
	if err := c.views.make(ctx, own); err != nil {
		_ = own.Close()
		return nil, err
	}
	return &folderConn{Conn: own, listing: c.listing, known: c.known, views: c.views, dismiss: c.dismiss}, nil
}

func (c *folderConnector) Driver() sqldriver.Driver { return driver.Driver{} }

// Close gives back the engine. database/sql closes the connections before.
func (c *folderConnector) Close() error {
	c.views.close()
	c.release()
	return nil
}

// folderConn is a connection that answers from a folder's files. What it answers is of
// the files that its request has found: if one of those that it reads is changed
// meanwhile, it fails.
type folderConn struct {
	*driver.Conn
	listing *listing
	known   *known
	views   *views
	dismiss func()
}

// use notes that the request reads a table.
func (c *folderConn) use(t *folderTable) {
	c.views.mu.Lock()
	defer c.views.mu.Unlock()
	if c.views.used == nil {
		c.views.used = fingerprints{}
	}
	for _, file := range t.files {
		c.views.used[file] = c.listing.files[file]
	}
}

// changed reports whether a file that the request reads is another one by now.
func (c *folderConn) changed() bool {
	c.views.mu.Lock()
	defer c.views.mu.Unlock()
	return c.views.used.changed()
}

// read returns the number by which the engine reads these rows, for as long as the
// request lasts.
func (c *folderConn) read(r *reading) int64 {
	n := c.views.readings.add(r)
	c.views.mu.Lock()
	defer c.views.mu.Unlock()
	c.views.open = append(c.views.open, n)
	return n
}

// whyLeftOut returns why a table is left out whose files led to an error, or the error if
// they are not the reason: a request that was given up, an engine that is broken or has
// too little memory, and a file that changes, may all pass.
func (c *folderConn) whyLeftOut(ctx context.Context, err error) (string, error) {
	var deliberate *wire.Error
	var reason *leftOutError
	var own *driver.Error
	switch {
	case ctx.Err() != nil, errors.As(err, &deliberate), isBroken(err):
		return "", err
	case errors.As(err, &reason):
		return reason.why, nil
	case errors.Is(err, errChanged), c.changed():
		return "", c.judge(errChanged)
	case errors.Is(err, fs.ErrPermission):
		return "the connector has no permission to read its files", nil
	case errors.As(err, &own) && (own.Type == driver.ErrorTypeOutOfMemory || own.Type == driver.ErrorTypeInterrupt):
		return "", err
	case errors.As(err, &own) && (own.Type != driver.ErrorTypeIO || c.readable()):
		return "the engine cannot read its files; they may be damaged", nil
	}
	return "", err
}

// readable reports whether the files that the request reads can be opened and read. An
// error of the engine is then about what is in them.
func (c *folderConn) readable() bool {
	c.views.mu.Lock()
	defer c.views.mu.Unlock()
	for path := range c.views.used {
		file, err := os.Open(path)
		if err != nil {
			return false
		}
		_, err = file.Read(make([]byte, 1))
		_ = file.Close()
		if err != nil && !errors.Is(err, io.EOF) {
			return false
		}
	}
	return true
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
	if c.changed() || errors.Is(err, errChanged) {
		return connector.UpstreamTimeout("A file of the table was replaced or changed while it was read. Ask again. " +
			"If it stays so, put new versions in place less often, and by renaming them.")
	}
	if fault := c.views.fault(); err != nil && fault != nil {
		return connector.Unsupported("%s", fault)
	}
	if where := csvPlace(err); where != "" {
		return connector.Unsupported("%s: the record that begins here, or one before it, has another number of cells than the header, "+
			"a quote that is not closed, or text that is not UTF-8; mend it, or state how the file is written", where)
	}
	return err
}

// placeText finds where the engine's CSV reader has failed. The message has the line
// itself, too, which is nobody's to see.
var placeText = regexp.MustCompile(`(?s)CSV Error on Line: (\d+).*\n\s*file = ([^\n]+)`)

// csvPlace returns the file and the line at which the engine's CSV reader has failed;
// empty: it has not.
func csvPlace(err error) string {
	var own *driver.Error
	if !errors.As(err, &own) {
		return ""
	}
	m := placeText.FindStringSubmatch(own.Msg)
	if m == nil {
		return ""
	}
	return strings.ToValidUTF8(filepath.Base(m[2]), "\ufffd") + " line " + m[1]
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
