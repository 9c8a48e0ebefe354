package sqlsource

import (
	"context"
	"database/sql"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Flavor is what one database engine says differently from others: how it
// lists its tables, and in which SQL a value of a column is read, compared and
// ordered exactly as the platform does (A2 to A9). Write one to bring an engine
// of your own, and prove it with package sqlsourcetest.
//
// A flavor is never asked to approximate: what an engine cannot say exactly it
// leaves out (see [Column]), and the SDK does that part over the rows. It is
// used by several requests at once, and keeps nothing of a session: whatever
// depends on the server, such as its version, is asked by Catalog and travels
// in [CatalogColumn.Note].
//
// Every SQL text given to or made by a flavor consists of its own words, of
// identifiers that Quote has quoted, of placeholders, and of integers from the
// catalog. No text of a request is ever among them.
type Flavor interface {
	// Quote is a name from the catalog as an identifier, whatever characters
	// it has.
	Quote(name string) string
	// Param is the n-th placeholder of a statement, from 1.
	Param(n int) string
	// Tx is how a transaction begins in which a request reads; read-only where
	// the driver takes that.
	Tx() *sql.TxOptions
	// Session prepares a transaction: time zone, limits, and where the engine
	// goes on when its client has left, a timeout of the statements by the
	// context's deadline. Nothing it sets may outlive the transaction where
	// the engine can help it.
	Session(ctx context.Context, q Queryer) error
	// Catalog is the tables and views that the session may read, all of them
	// or those whose names are given, to the letter. A name without a table is
	// left out. What cannot be described is a warning.
	Catalog(ctx context.Context, q Queryer, schema string, names []string) (tables []Table, warnings []string, err error)
	// Column says how a column of the catalog is read and compared. ref is the
	// column, quoted and qualified. c.Want is a type that the host asks for in
	// place of the engine's; a flavor that cannot read the column so without
	// changing its meaning answers an opaque column of that type.
	Column(ref string, c CatalogColumn) Column
	// Table is a table of the catalog in FROM.
	Table(schema, name string) string
	// Order is one term of ORDER BY, with nulls last in both directions (B1).
	Order(expr string, desc, nullable bool) string
	// Window is the clause that cuts rows. Each is a placeholder, or empty.
	Window(limit, offset string) string
	// Includes and HasPrefix test a Column's Text for a part, byte for byte
	// (A5). param is a placeholder bound to the part, size its bytes.
	Includes(text, param string) string
	HasPrefix(text, param string, size int) string
	// TextParam is a placeholder bound to a string, as a value to be compared
	// with a Column's Text.
	TextParam(param string) string
	// Bucket is the first day of the period that the key of a date or datetime
	// column lies in, in UTC (E4), read as text YYYY-MM-DD or as a date.
	Bucket(c *Column, key string, g wire.Grain) string
	// Sum adds a numeric column's keys exactly; false where the engine would
	// add floats (E6).
	Sum(c *Column, key string) (Sum, bool)
	// Reason tells what kind of failure an error of the driver is.
	Reason(err error) Reason
}

// Killer is implemented by a flavor whose driver leaves a statement running on
// the server when its context ends.
type Killer interface {
	// Kill is the statement that, on another connection, ends whatever the
	// session is running.
	Kill(ctx context.Context, q Queryer) (string, error)
}

// Queryer is where a flavor asks: one transaction of one connection.
type Queryer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Sum is how an engine adds exactly.
type Sum struct {
	// Exprs are aggregates to be selected, read as whatever the driver makes of
	// them.
	Exprs []string
	// Fold makes the sum of what was selected; false declines it (E6).
	Fold func(cells []any) (wire.Value, bool)
}

// Reason is why a database refused.
type Reason uint8

// The reasons. Everything a flavor does not know is ReasonOther, and becomes
// an internal error.
const (
	ReasonOther       Reason = iota
	ReasonRejected           // the user's name or password is wrong, or he may not connect
	ReasonNoDatabase         // there is no database of that name, or it is not one
	ReasonUnreachable        // nobody answers at the server's address
	ReasonNoTable            // a table or column has gone since it was described
	ReasonForbidden          // the user may not read the table
	ReasonTimeout            // the statement was ended by its own timeout
)
