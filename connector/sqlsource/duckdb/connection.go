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
	return sql.OpenDB(&folderConnector{listing: found, engine: e, known: p.known, request: &request{readings: i.readings},
		release: func() { p.release(i) }, dismiss: func() { p.dismiss(i) }}), nil
}

// folderConnector makes a request's connections.
type folderConnector struct {
	listing *listing
	engine  engine
	known   *known
	request *request
	release func() // gives back the engine
	dismiss func() // keeps others from using the engine
}

// request is what a request has asked of a folder: the files that its answers are of,
// and the rows that this package reads for it.
type request struct {
	readings *readings

	mu   sync.Mutex
	open []int64      // readings
	used fingerprints // of the tables that the request has asked for
}

// fault returns what is wrong with the file whose rows led to an error, of which the engine passes on
// the text alone. A request may have met the faults of other tables before.
func (r *request) fault(err error) error {
	if err == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range r.open {
		t := r.readings.get(n)
		if t == nil {
			continue
		}
		if fault := t.fault.Load(); fault != nil && strings.Contains(err.Error(), fault.Error()) {
			return fault
		}
	}
	return nil
}

// close forgets the readings.
func (r *request) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.readings.drop(r.open)
	r.open = nil
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
	return &folderConn{Conn: own, listing: c.listing, known: c.known, request: c.request, dismiss: c.dismiss}, nil
}

func (c *folderConnector) Driver() sqldriver.Driver { return driver.Driver{} }

// Close gives back the engine. database/sql closes the connections before.
func (c *folderConnector) Close() error {
	c.request.close()
	c.release()
	return nil
}

// folderConn is a connection that answers from a folder's files, as its request has found
// them: it fails if a file that it reads has changed meanwhile.
type folderConn struct {
	*driver.Conn
	listing *listing
	known   *known
	request *request
	dismiss func()
}

// use notes that the request reads a table.
func (c *folderConn) use(t *folderTable) {
	c.request.mu.Lock()
	defer c.request.mu.Unlock()
	if c.request.used == nil {
		c.request.used = fingerprints{}
	}
	for _, file := range t.files {
		c.request.used[file] = c.listing.files[file]
	}
}

// changed reports whether a file that the request reads is another one by now.
func (c *folderConn) changed() bool {
	c.request.mu.Lock()
	defer c.request.mu.Unlock()
	return c.request.used.changed()
}

// read returns the number by which the engine reads these rows, for as long as the
// request lasts.
func (c *folderConn) read(r *reading) int64 {
	n := c.request.readings.add(r)
	c.request.mu.Lock()
	defer c.request.mu.Unlock()
	c.request.open = append(c.request.open, n)
	return n
}

// whyLeftOut returns why a table is left out whose files led to an error. It returns the
// error if that may pass: a request given up, an engine broken or out of memory, a file
// that changes.
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
	c.request.mu.Lock()
	defer c.request.mu.Unlock()
	for path := range c.request.used {
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
// file that was changed meanwhile may have seemed to end early.
func (c *folderConn) judge(err error) error {
	if isBroken(err) {
		c.dismiss()
	}
	if c.changed() || errors.Is(err, errChanged) {
		return connector.UpstreamTimeout("A file of the table was replaced or changed while it was read. Ask again. " +
			"If it stays so, put new versions in place less often, and by renaming them.")
	}
	if fault := c.request.fault(err); fault != nil {
		return connector.Unsupported("%s", fault)
	}
	if where := csvPlace(err); where != "" {
		return connector.Unsupported("%s: the record that begins here, or one before it, has another number of cells than the header, a quote "+
			"that is not closed, or text that is not UTF-8; mend it, state how the file is written, or raise FolderOptions.TypeBudget", where)
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
