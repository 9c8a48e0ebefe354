package sqlsource

import (
	"context"
	"database/sql"
	"iter"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Flavor is what one database engine says differently from others: how it lists
// its tables, and in which SQL a value of a column is read, compared and ordered
// exactly as the platform does. Write one to bring an engine of your own, and
// prove it with package sqlsourcetest.
//
// A flavor never approximates. What an engine cannot express exactly it leaves
// out (see [Column]), and the library does that part over the rows. Several
// requests use a flavor at once, so it keeps nothing of a session: Catalog asks
// for whatever depends on the server, such as its version, and passes it on in
// [CatalogColumn.Note].
//
// Every SQL text given to or returned by a flavor consists of its own words, of
// identifiers that Quote has quoted, of placeholders, and of integers from the
// catalog. No text of a request is ever among them.
type Flavor interface {
	// Quote returns a name from the catalog as an identifier, whatever characters
	// it has.
	Quote(name string) string
	// Param returns the n-th placeholder of a statement, from 1.
	Param(n int) string
	// Tx returns how a transaction begins in which a request reads: read-only
	// where the driver takes that.
	Tx() *sql.TxOptions
	// Session prepares a transaction: time zone, limits, and, for an engine that
	// goes on when its client has left, a timeout of the statements by the
	// context's deadline. Nothing it sets may outlive the transaction where the
	// engine can help it.
	Session(ctx context.Context, q Queryer) error
	// Catalog returns the tables and views that the session may read: all of
	// them, or those whose names are given, to the letter. It omits a name without
	// a table, and warns of what can never be described. Anything else that fails is
	// its error: a table that is omitted is answered as unknown.
	Catalog(ctx context.Context, q Queryer, schema string, names []string) (tables []Table, warnings []string, err error)
	// Column returns how a column of the catalog is read and compared. ref is the
	// column, quoted and qualified. c.Want is a type that the host asks for in
	// place of the engine's; a flavor that cannot read the column so without
	// changing its meaning returns an opaque column of that type.
	Column(ref string, c CatalogColumn) Column
	// Table returns a table of the catalog as FROM has it.
	Table(schema, name string) string
	// Order returns one term of ORDER BY, with nulls last in both directions.
	Order(expr string, desc, nullable bool) string
	// Window returns the clause that cuts rows. Each argument is a placeholder, or
	// empty.
	Window(limit, offset string) string
	// Includes and HasPrefix return a test of a Column's Text for a substring or a
	// prefix, byte for byte. param is a placeholder bound to it, size its bytes.
	Includes(text, param string) string
	HasPrefix(text, param string, size int) string
	// TextParam returns a placeholder bound to a string as a value to be compared
	// with a Column's Text.
	TextParam(param string) string
	// Bucket returns the first day of the period that the key of a date or
	// datetime column lies in, in UTC, read as text YYYY-MM-DD or as a date.
	Bucket(c *Column, key string, g wire.Grain) string
	// Sum adds a numeric column's keys exactly. It reports false if the engine
	// would add floats.
	Sum(c *Column, key string) (Sum, bool)
	// Reason returns what kind of failure an error of the driver is.
	Reason(err error) Reason
}

// Killer is implemented by a flavor whose driver leaves a statement running on
// the server when its context ends.
type Killer interface {
	// Kill returns the statement that, on another connection, ends whatever the
	// session is running.
	Kill(ctx context.Context, q Queryer) (string, error)
}

// RowReader is implemented by a flavor that reads rows without database/sql,
// whose conversions can cost as much as the rest of an answer. The flavors of
// this package do not, because it knows no driver. Package pgxrows has one.
type RowReader interface {
	Flavor
	// Engine returns the flavor for everything but rows.
	Engine() Flavor
	// ReadRows runs a statement within the transaction that is open on conn, and
	// yields its rows: the cells that the columns' Decode would make of them. An
	// error is the last that it yields. It uses the slice again for the next row,
	// but not the texts of the cells. After it the connection can be used again,
	// or is closed.
	ReadRows(ctx context.Context, conn *sql.Conn, statement string, args []any, columns []*Column) iter.Seq2[[]wire.Value, error]
}

// Auditor is implemented by a flavor that can tell what the user may not read.
type Auditor interface {
	// Audit returns a warning for each kind of thing in the schema that the session
	// may not read, and says which privilege is missing. It names nothing that the
	// user may not know of.
	Audit(ctx context.Context, q Queryer, schema string) (warnings []string, err error)
}

// Queryer is where a flavor asks: one transaction of one connection.
type Queryer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Sum is how an engine adds exactly.
type Sum struct {
	// Exprs are aggregates to be selected. Their values are whatever the driver
	// returns.
	Exprs []string
	// Fold makes the sum of those values. It reports false to decline.
	Fold func(cells []any) (wire.Value, bool)
}

// exactSum returns the sum of an engine whose own is exact. expr is its text.
func exactSum(expr string) Sum {
	return Sum{Exprs: []string{expr}, Fold: func(cells []any) (wire.Value, bool) {
		if cells[0] == nil {
			return wire.Null(), true
		}
		v, err := DecodeDecimal(cells[0])
		return v, err == nil && v.Err() == nil
	}}
}

// Reason is why a database refused.
type Reason uint8

// The reasons. Everything a flavor does not know is ReasonOther, and becomes an
// internal error. Discovery leaves out a table for ReasonNoTable, ReasonForbidden,
// ReasonEncoding and ReasonData, with a warning; for any other it fails, because it
// would lose tables that are there.
const (
	ReasonOther       Reason = iota
	ReasonRejected           // the user's name or password is wrong, or the user may not connect
	ReasonNoDatabase         // there is no database of that name
	ReasonUnreachable        // nobody answers at the server's address
	ReasonNoTable            // a table or column no longer exists
	ReasonForbidden          // the user may not read the table
	ReasonTimeout            // the statement was ended by its own timeout
	ReasonBusy               // no connection is free, of the server or of the user
	ReasonStarting           // the server is starting up or shutting down, or has ended the session
	ReasonLocked             // another program holds a lock on the database, or had precedence
	ReasonNotDatabase        // the file is something else, encrypted or damaged
	ReasonProtocol           // who answers at the address speaks another protocol
	ReasonSilent             // who answers at the address says nothing
	ReasonTLSRequired        // the server refuses connections without TLS
	ReasonTLSRefused         // the server has no TLS
	ReasonCertificate        // the server's certificate cannot be verified
	ReasonEncoding           // a text is not in the database's encoding, so it cannot be read
	ReasonData               // the table cannot be computed, however often it is tried: a view is invalid, or divides by zero
)
