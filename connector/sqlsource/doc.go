// Package sqlsource serves any database with a database/sql driver as a complete
// connector: the database's own engine does discovery, filters, sorts, windows
// (the offset and limit of a request), joins, counts, aggregates and measures,
// with the platform's semantics. A connector takes three steps: open the
// database, choose the flavor of its engine, serve.
//
//	package main
//
//	import (
//		"context"
//		"database/sql"
//		"log"
//		"os"
//
//		_ "modernc.org/sqlite" // or another driver
//
//		"github.com/connectorsdk/connector-sdk-go/connector"
//		"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
//		"github.com/connectorsdk/connector-sdk-go/wire"
//	)
//
//	func main() {
//		db, err := sql.Open("sqlite", "shop.sqlite")
//		if err != nil {
//			log.Fatal(err)
//		}
//		src, err := sqlsource.New(db, sqlsource.SQLite(), nil)
//		if err != nil {
//			log.Fatal(err)
//		}
//		token, err := wire.NewToken(os.Getenv("PLATFORM_CONNECTOR_TOKEN"))
//		if err != nil {
//			log.Fatal(err)
//		}
//		h, err := connector.New(connector.Definition{Slug: "shop", KeysEnforced: true}, src, token, nil)
//		if err != nil {
//			log.Fatal(err)
//		}
//		log.Fatal(connector.ListenAndServe(context.Background(), ":8080", h))
//	}
//
// If each tenant has a database or a user of its own, call [NewPerTenant];
// examples/postgres and examples/mysql show how. KeysEnforced is true because
// discovery lists only keys that a constraint of the catalog enforces.
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
//     decimal, are compared in memory within [memsource.DefaultBudget].
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
// # What reaches a statement
//
// Each request looks its tables and columns up in the catalog, and takes the
// quoted names from there. Every value of a request is bound. No text of a
// request is ever part of a statement.
//
// # Other engines
//
// A [Flavor] says in some fifteen methods what an engine says differently. Most
// of the work is Column, which can begin with few types and leave the rest
// opaque: readable, and filtered by the library. Package sqlsourcetest sends the
// same requests to the engine and to an evaluation in memory, thousands of them,
// and shows by the smallest request what a flavor gets wrong.
//
// # Rough edges
//
// With [NewPerTenant] each request connects, and with a [connector.Describer] it
// does so twice: some milliseconds on most servers. With [New] it does not, and
// with Options.Remember it does not read the catalog either.
//
// Over values that an engine types loosely, SQLite above all, a table may be
// searched for values of another type before a filter is pushed.
//
// One schema is served. Foreign keys of several columns are declared pair by
// pair, as the protocol has no others.
package sqlsource
