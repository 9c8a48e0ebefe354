package sqlengine

import (
	"context"
	"database/sql"
	"iter"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Flavor is what one database engine says differently from others: how it lists
// its tables, and in which SQL a value of a column is read, compared and ordered
// exactly as the platform does. Quote, Param, Table, Catalog, Column and Window are required,
// as sqlsource.New says; every other member is optional.
//
// Several requests use a flavor at once, so its functions keep nothing of a session: Catalog
// asks for whatever depends on the server, such as its version, and passes it on in
// [CatalogColumn].Note.
//
// Every SQL text given to or returned by a flavor consists of its own words, of
// identifiers that Quote has quoted, of placeholders, and of integers from the
// catalog. No text of a request is ever among them.
//
// To change a flavor, set members of a copy:
//
//	flavor := sqlsource.SQLite()
//	flavor.Session = nil
type Flavor struct {
	// Name is what messages to people call the engine. Empty: "the expected engine".
	Name string

	// Quote returns a name from the catalog as an identifier, whatever characters
	// it has.
	Quote func(name string) string
	// Param returns the n-th placeholder of a statement, from 1.
	Param func(n int) string
	// Table returns a table of the catalog as FROM has it.
	Table func(schema, name string) string
	// Catalog returns the tables and views that the session may read: all of
	// them, or those whose names are given, to the letter. It omits a name without
	// a table, and warns of what can never be described. Anything else that fails is
	// its error: a table that is omitted is answered as unknown.
	Catalog func(ctx context.Context, q Queryer, schema string, names []string) (tables []*Table, warnings []string, err error)
	// Column returns how a column of the catalog is read and compared. ref is the
	// column, quoted and qualified. c.Want is a type that the host asks for in place of
	// the engine's. A flavor may ignore it: the library then reads the column as that
	// type, and pushes nothing that would change its meaning.
	Column func(ref string, c CatalogColumn) Column
	// Window returns the clause that cuts rows, which ends a SELECT (but see
	// WindowFirst). Each argument is a placeholder, or empty. ordered
	// reports whether the SELECT has ORDER BY, which some engines require.
	Window func(limit, offset string, ordered bool) string

	// Order returns one term of ORDER BY, with nulls last in both directions. Nil:
	// that of standard SQL, which has the words NULLS LAST.
	Order func(expr string, desc, nullable bool) string
	// Includes and HasPrefix return a test of a Column's Text for a substring or a
	// prefix, byte for byte. param is a placeholder bound to it, size its bytes.
	// Nil: the library searches.
	Includes  func(text, param string) string
	HasPrefix func(text, param string, size int) string
	// Bucket returns the first day of the period that the key of a date or
	// datetime column lies in, in UTC, read as text YYYY-MM-DD or as a date.
	// Nil: the library groups by periods.
	Bucket func(c *Column, key string, g wire.Grain) string
	// Sum adds a numeric column's keys exactly. A Sum without Exprs means that the
	// engine would add floats. Nil: the library adds.
	Sum func(c *Column, key string) Sum
	// State returns the SQLSTATE that says what kind of failure an error of the driver
	// is; empty: the library judges it by what it knows of networks. Nil: always empty.
	// An engine without SQLSTATEs names the nearest of these:
	//
	//	28000            the user's name or password is wrong, or the user may not connect
	//	3D000            there is no database of that name, or it cannot be opened
	//	XX001            the file is something else, encrypted or damaged
	//	08004            the server refuses connections without TLS
	//	08T01            the server has no TLS, which was asked for
	//	08P01            who answers does not speak the engine's protocol
	//	08S01            the connection has ended
	//	42P01            a table, a column or a schema no longer exists
	//	42501            the user may not read the table
	//	57014            the statement was ended by its own timeout
	//	53300            no connection is free, of the server or of the user
	//	57P01            the server is starting up or shutting down, or has ended the session
	//	55P03, 40001     another program holds a lock on the database, or had precedence
	//	22021            a text is not in the database's encoding, so it cannot be read
	//	0A000            the engine cannot do this, so the library does it over the rows if it can
	//	22, 42, 54, ...  (their classes) the table cannot be computed, however often it is tried:
	//	                 a view is invalid, or divides by zero
	//
	// Discovery leaves out a table, with a warning, that is gone, forbidden, or cannot
	// be computed. For any other failure it fails, because it would lose tables that
	// are there.
	State func(err error) string

	// Tx says how a transaction begins in which a request reads: read-only where the
	// driver takes that. Nil: the driver's default.
	Tx *sql.TxOptions
	// NoTx reports that the driver has no transactions. A request then reads on one
	// connection without one, and the answers of several statements may be of several
	// moments.
	NoTx bool
	// OwnCatalog reports that what Catalog makes known of a table is the connection's own,
	// such as a view that it has made there. Catalog is then asked again for the tables of
	// a request that goes on with another connection.
	OwnCatalog bool
	// Session prepares a transaction: time zone, limits, and, for an engine that
	// goes on when its client has left, a timeout of the statements by the
	// context's deadline. Nothing it sets may outlive the transaction where the
	// engine can help it. Nil: there is nothing to prepare.
	Session func(ctx context.Context, q Queryer) error
	// Restore is a statement that undoes what Session has set for longer than the
	// transaction, and runs when that has ended. A connection on which it fails is
	// closed. Empty: there is nothing to undo.
	Restore string
	// Kill returns the statement that, on another connection, ends whatever the
	// session is running. It is for a driver that leaves a statement running on the
	// server when its context ends. Nil: the driver ends it.
	Kill func(ctx context.Context, q Queryer) (string, error)

	// ConnectAgain reports whether connecting, which failed with this error, may succeed if it
	// is tried again at once. It is for a driver that fails by chance. Nil: it never may.
	ConnectAgain func(err error) bool
	// Unnamed ends the sentence of the log by which a driver is to be told to prepare no
	// statement by name, where sessions are shared: ", as it is told by NOPREPARE=1". Empty:
	// the sentence says no more.
	Unnamed string

	// HasSchema reports whether there is a schema of this name, to the letter. The
	// empty name is the default schema, as for Catalog. Nil: the flavor cannot tell.
	HasSchema func(ctx context.Context, q Queryer, schema string) (bool, error)
	// Audit returns a warning for each kind of thing in the schema that the session
	// may not read, and says which privilege is missing. It names nothing that the
	// user may not know of. Nil: the flavor cannot tell, or the engine has no
	// privileges; a schema without tables is then warned of as one.
	Audit func(ctx context.Context, q Queryer, schema string) (warnings []string, err error)

	// ReadRows runs a statement within the transaction that is open on conn, and
	// yields its rows: the cells that the columns' Decode would make of them. An
	// error is the last that it yields. It uses the slice again for the next row,
	// but not the texts of the cells. Rows that are left before their end may cost the
	// transaction or the connection, and nothing more is asked in it. Nil: rows are read
	// by database/sql, whose conversions can cost as much as the rest of an answer.
	// Package pgxrows has one.
	ReadRows func(ctx context.Context, conn *sql.Conn, statement string, args []any, columns []*Column) iter.Seq2[[]wire.Value, error]

	// WindowFirst reports that what Window returns stands right behind SELECT, as TOP
	// and FIRST do, and not at its end.
	WindowFirst bool
	// OffsetFirst reports that the offset stands before the limit in what Window returns,
	// as in OFFSET ? LIMIT ?. It matters where placeholders have no numbers.
	OffsetFirst bool
	// Dual is the FROM clause of a SELECT that reads no table, such as FROM DUAL. Empty:
	// such a SELECT needs none.
	Dual string
	// MaxValues is how many values the filters of one statement may bind. The library
	// does the filters beyond that. Zero: as many as the library pushes, which is up to
	// 300 filters and 10,000 members of lists.
	MaxValues int
	// CheapCounts reports that COUNT(*) over a table reads no rows. Discovery then
	// counts tables of any size.
	CheapCounts bool
	// Flat reports that groups and measures are written over the tables themselves. By
	// default they are over a derived table, in which each expression stands once. It is
	// for an engine that sends to other machines only what it finds over a bare table.
	Flat bool
	// DistinctMany returns an expression, such as a subquery in parentheses, that
	// counts the distinct values of expr that are not null, over the rows of from. It
	// is for an engine that counts many distinct values faster in another way than by
	// COUNT(DISTINCT). Nil: it does not.
	DistinctMany func(expr, from string) string
	// CellsFirst reports that the engine computes what a SELECT lists for all rows before
	// it sorts them. The first rows of a sort are then found without their cells.
	CellsFirst bool
	// Once ends a derived table so that the engine computes its expressions once for each
	// row, and not at each place that mentions them. Empty: the engine does that anyway.
	Once string
	// KeepOrder returns the clause that orders a derived table by expr so that the
	// engine keeps to it: ORDER BY, and whatever the engine needs besides. It is for an
	// engine that joins large tables by looking up one row after another, which is fast
	// only in the order of the index. Nil: the engine has other ways.
	KeepOrder func(expr string) string
	// JoinKeys returns expressions of two columns of one Class, or of an integer and a
	// decimal, that are equal exactly when their Keys are. It is for an engine that must
	// be given a cast to compare two of its types, or cannot compare them: it then reports
	// false, and the join is done in memory. Nil: the Keys compare as they are.
	JoinKeys func(a, b *Column) (left, right string, ok bool)
}

// Queryer is where a flavor asks: one transaction of one connection.
type Queryer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Each runs a statement and calls row for every row of its answer. Catalogs are read
// with it.
func Each(ctx context.Context, q Queryer, statement string, args []any, row func(scan func(...any) error) error) error {
	rows, err := q.QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Sum is how an engine adds exactly.
type Sum struct {
	// Exprs are aggregates to be selected. Their values are whatever the driver
	// returns. None: the engine does not add exactly.
	Exprs []string
	// Fold makes the sum of those values. It reports false to decline. Nil: the value of
	// the first is the sum's digits.
	Fold func(cells []any) (wire.Value, bool)
	// Else is asked for where Fold declines, or where the engine fails to compute Exprs, as
	// when a sum overflows: it costs more and adds more. It is for engines whose
	// transaction goes on after such a failure. Nil: the sum is declined.
	Else *Sum
}
