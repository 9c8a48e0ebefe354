// Package sqlsource serves any database with a database/sql driver as a
// complete connector: discovery, filters, sorts, windows, joins, counts,
// aggregates and measures are all done by the database's own engine, with the
// platform's semantics. A connector is: open, flavor, serve.
//
//	package main
//
//	import (
//		"database/sql"
//		"log"
//		"net/http"
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
//		src, err := sqlsource.New(sqlsource.Config{DB: db, Flavor: sqlsource.SQLite()})
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
//		log.Fatal(http.ListenAndServe(":8080", h))
//	}
//
// Where each tenant has a database, or a user, of his own, give [Config.Open]
// in place of DB; examples/postgres and examples/mysql show how. KeysEnforced
// holds as long as the tables do: only constraints of the catalog are declared.
//
// # Exactly, or not at all
//
// Engines compare in ways of their own: by collations, with padded blanks, with
// floats, in the session's time zone, with nulls first. Each request is made
// into one statement that means what the platform means (rulings A1 to A11, B1
// to B6, E1 to E6, F1 to F3). What an engine cannot say exactly is left out of
// the statement:
//
//   - A filter that is not pushed is judged by the SDK over the rows; the others
//     are pushed all the same, which leaves fewer of them.
//   - A sort that is not pushed is done by the SDK (B8).
//   - A count with such a filter is declined, and counted by reading.
//   - An aggregate is declined, 204, and the platform folds the rows.
//   - A column that cannot be counted distinctly is answered null.
//   - Keys of a join or a link that cannot be compared, such as a float with a
//     decimal, are compared in memory within [memsource.DefaultBudget].
//
// An operand that a column cannot hold, such as 1.5 for an integer, is rounded
// before it is bound and the operator changed to mean the same, so the engine
// never converts and never overflows. Each flavor says what it leaves out:
// [SQLite], [PostgreSQL], [MySQL].
//
// Rows are read from a cursor as they are sent: memory does not grow with the
// answer. The context ends the statement on the server.
//
// # Null on the wire
//
// What cannot cross the wire is null everywhere alike, in cells, filters, sorts
// and counts: NaN, infinities, dates outside of the years the protocol has, and
// MySQL's dates that are none. Discovery counts them in a warning (D1).
//
// # What reaches a statement
//
// Tables and columns are looked up in the catalog by each request, and quoted
// from there; every value of a request is bound. No text of a request is ever
// part of a statement.
//
// # Other engines
//
// A [Flavor] says in some fifteen methods what an engine says differently. Most
// of the work is Column, which can begin with few types and leave the rest
// opaque: readable, and filtered by the SDK. Package sqlsourcetest asks the
// engine and memory the same, thousands of times, and shows by the smallest
// request what a flavor gets wrong.
//
// # Rough edges
//
// With Config.Open each request connects, and with a [connector.Describer] it
// does so twice: some milliseconds on most servers. The host's own database
// (Config.DB) is spared that, and with Config.Remember the reading of the
// catalog too.
//
// Over values that an engine types loosely, SQLite above all, a table may be
// searched for values of another type before a filter is pushed.
//
// One schema is served. Foreign keys of several columns are declared pair by
// pair, as the protocol has no others.
package sqlsource
