// Package sqlengine is what package sqlsource must know of a database engine: a
// [Flavor], which says in six required functions, and in optional members, what an
// engine says differently from others. PostgreSQL, MySQL and SQLite are served by flavors
// that use this package alone; write one of your own in the same way, pass it to
// sqlsource.New, and prove it with package sqlsourcetest, which sends thousands of requests
// to the engine and shows by the smallest of them what the flavor gets wrong.
// docs/engines.md says in which order.
//
// Most of the work is [Flavor].Column: how a value of a column is read, compared and
// ordered. It can begin with few types and leave the rest opaque: readable, and
// filtered by the library. A first flavor sets Type, Class, Cell, Raw, Key and Text
// of a column; whatever stays empty, the library does over the rows.
//
// A flavor never approximates. What an engine cannot express exactly it leaves out, be
// it an expression of a column or a member of the flavor.
package sqlengine
