// Package sqlsource serves any database with a database/sql driver as a complete
// connector: the database's own engine does discovery, filters, sorts, windows
// (the offset and limit of a request), joins, counts, aggregates and measures,
// with the platform's semantics. A connector takes three steps: open the
// database, choose the flavor of its engine, serve.
//
//	package main
//
//	import (
//		"database/sql"
//		"log"
//
//		_ "modernc.org/sqlite" // or another driver
//
//		"github.com/connectorsdk/connector-sdk-go/connector"
//		"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
//		"github.com/connectorsdk/connector-sdk-go/connector/standalone"
//	)
//
//	func main() {
//		db, err := sql.Open("sqlite", "file:shop.sqlite?mode=ro")
//		if err != nil {
//			log.Fatal(err)
//		}
//		src, err := sqlsource.New(db, sqlsource.SQLite(), nil)
//		if err != nil {
//			log.Fatal(err)
//		}
//		standalone.Main(connector.Definition{Slug: "shop", KeysEnforced: true}, src, nil)
//	}
//
// With mode=ro SQLite refuses a file that is not there; otherwise it makes an empty
// one, and the connector has no tables. sql.Open connects to nothing yet: a program
// that should not start without its database calls db.PingContext first.
//
// If each tenant has a database or a user of its own, call [NewPerTenant];
// examples/sql shows how. KeysEnforced is true because
// discovery lists only primary and unique keys that a constraint of the catalog enforces.
//
// # Exactly, or not at all
//
// Engines compare in ways of their own: by collations, with padded blanks, with
// floats, in the session's time zone, with nulls first. The package turns each
// request into one statement that means what the platform means. A part of a
// request that stands in the statement is pushed. What an engine cannot express
// exactly is left out of the statement:
//
//   - The library evaluates a filter that is not pushed, over the rows. The
//     others are pushed all the same, which leaves fewer rows.
//   - The library does a sort that is not pushed.
//   - A count with a filter that is not pushed is declined. The library then
//     counts by reading.
//   - An aggregate is declined with 204, and the platform folds the rows.
//   - The distinct values of a column that the engine cannot compare are
//     answered null.
//   - Keys of a join or a link that cannot be compared, such as a float with a
//     decimal, are compared in memory within 64 MiB.
//
// An operand that a column cannot hold, such as 1.5 for an integer, is rounded
// before it is bound and the operator changed to mean the same, so the engine
// never converts and never overflows. Each flavor lists what it leaves out:
// [SQLite], [PostgreSQL], [MySQL].
//
// Rows are read from a cursor as they are sent, so memory does not grow with the
// answer. The context ends the statement on the server.
//
// # Pages
//
// A request with a window has a total order, with a sort or without: pages of
// the same rows repeat none and lose none, whatever the engine's plan, and
// whatever changes in the columns that are not part of the order. Ties are
// broken by the primary key; without one by another unique key that holds no
// nulls; without any by all columns. Rows that are equal in all columns need no
// order. A table without a key is sorted as a whole for each page: name a key in
// [TableOptions] where the data has one.
//
// The first rows of a sort are read by an index on its first field, if the flavor
// says that there is one ([sqlengine.Index].Sorted): ties then take the direction of the
// last sort key, and the rows without a value are read by a second statement, if
// the first gives too few. The order is the same whether a request has a window
// or not.
//
// Only if its order is total does the engine cut the window. A column of a
// flavor with neither Key nor Tie cannot be ordered. If there is one among those
// that break ties, and no sort, the statement has the order without it, and the
// library cuts the window: pages then compose as long as the engine returns
// equal rows in the same order each time. The three flavors here order every
// column.
//
// # Null on the wire
//
// What cannot be sent is null everywhere alike, in cells, filters, sorts and
// counts: NaN, infinities, dates outside the years that the protocol has, and
// impossible dates of MySQL. Discovery counts them in a warning [rule cell-1d].
//
// # Discovery
//
// What discovery says of a table depends on its rows alone, not on the load of the
// server or on other tables. Each table has a budget of its own in rows and cells,
// and a limit of time as a last resort (see [Options.Profile]). Whatever is left
// out has a warning: tables and keys with the reason, counts and statistics beyond
// the budget, privileges that the user lacks. A count that is an estimate has one
// too. So has a table or a column without a name that can be sent, because it is not
// UTF-8, or empty and [Options].Tables gives none.
//
// A column that the engine keeps from being null is described as not nullable if a
// look at its values shows none that cannot be sent. In tables that are too large
// to be counted, and in Describe, which looks at no value, a column of a type with
// such values is nullable. The columns of a primary key never are: a key with such
// a value, or one that could not be looked at, is not declared.
//
// A foreign key is declared if the engine vouches for it, or if its values were
// counted within the same budget. A warning says how many of them the target lacks; if
// it has none of them, or they were not counted, the key is left out. Counted
// are those of SQLite, which enforces them only for connections that ask for it; keys of
// several nullable columns, since no engine checks a row with one null; and those of
// PostgreSQL that were not validated, whose triggers are off, that inherited rows
// need not keep to, or whose target a policy hides in part.
//
// A table is left out only if the database says that it is gone, closed to the user,
// or cannot ever be computed, as a view that divides by zero. Any other failure, of a
// disk or a connection, fails the discovery, because the table is there
// [rule error-10]. If the time of the request is over, one warning says which tables
// were not read in full; it names ten of them, and how many others there are.
//
// # What reaches a statement
//
// Each request looks its tables and columns up in the catalog, and takes the
// quoted names from there. Every value of a request is bound. No text of a
// request is ever part of a statement.
//
// # Schemas
//
// The engine's default schema is served, or one or several that Options.Schemas names,
// for all tenants or by their credentials:
//
//	&sqlsource.Options{Schemas: func(c wire.Credentials) []string { return strings.Split(c.Get("schema"), ",") }}
//
// With several, the names of tables have the schema before them. Adding a second
// schema therefore renames the tables of the first.
//
// # What the engine was asked
//
// Options.Observe is given a [Plan] for each call: the statements, what was
// pushed, and what was not and why. It has no values, so it may be logged:
//
//	Query of "orders"
//	  pushed: filters
//	  not pushed: The sort by "doc" is left to the library: the engine cannot order its values exactly.
//	  not pushed: The window is cut after the sort, which is not pushed.
//	  statement: SELECT t0."id", t0."doc" FROM "main"."orders" t0 WHERE t0."status" = ?1
//
// # When the database cannot be used
//
// An error of the driver never goes out, because it may hold names and values.
// The flavor tells what it is, and the source says in a sentence what to do.
// On /check that is the answer to the person at the form. Elsewhere credentials and
// settings that are wrong are answered 400; what is likely to pass, such as a
// server without a free connection or a deadlock, 408; and data that keep the
// engine from computing a value, such as a division by zero in a view, 422, with
// the table and the reason [rule error-7a]. With [New], what is wrong with the
// database or its settings is the host's to mend: it is an internal error on every
// route, and the sentence stands in the log.
//
// # Other engines
//
// A [sqlengine.Flavor] says what an engine says differently from others: six functions
// are required. Package sqlengine explains how one is written, and package sqlsourcetest
// proves it. The flavors here see nothing of this package that yours does not.
//
// # Rough edges
//
// With [NewPerTenant] each request connects and reads the catalog, once: some
// milliseconds on most servers. With [New] it does not connect, and with
// Options.CatalogTTL it does not read the catalog either.
//
// Over values that an engine types loosely, SQLite above all, a table may be
// searched for values that SQL would misjudge before a filter or a sort is pushed:
// only among the rows that an index finds for the filters, or for the first rows of
// the sort, where there is one.
//
// Foreign keys of several columns are declared pair by pair, as the protocol has
// no others.
package sqlsource
