// Package duckdb serves DuckDB's tables: those of a database file by [Flavor], and a
// folder of Parquet, CSV and JSON files by [Folder].
//
//	db, err := sql.Open("duckdb", "shop.duckdb?access_mode=READ_ONLY")
//	source, err := sqlsource.New(db, duckdb.Flavor(), nil)
//
//	source, err := duckdb.Folder("./lake", nil)
//
// It is a module of its own, because it needs DuckDB's driver, whose engine is linked
// by cgo: building it takes a C and a C++ compiler.
//
// # How files are read
//
// Requests for one folder share an engine in memory, and nothing else: what one of them
// makes there is its connection's own. The engine's settings are locked, and let it
// read that folder alone. A request lists the folder's files when it begins. What the
// engine knows of a file from other requests is used only for the version that it
// learned it from, and a request that has read a file which is another one at its end
// fails rather than answer what was left of it.
//
// # What is left to the library
//
// Filters with a text that has a NUL in it, which the driver cannot bind, and what
// looks inside JSON. A sum of floats is declined. All other filters, sorts, windows,
// joins, groups and measures are DuckDB's.
//
// # Types
//
// Integers of any width are numbers, and so are FLOAT and DOUBLE; a DECIMAL keeps its
// scale. NaN, infinities, and dates outside the years 1 to 9999 are null. A TIMESTAMP
// is read as UTC. A LIST or an ARRAY is an array, a STRUCT or a MAP is json: decimals in
// them are texts, so that they keep their scale, datetimes and bytes are spelled as in
// cells, and a NaN or an infinity is null; so it is in a JSON, which may have them in
// DuckDB. A BLOB is base64. ENUM, UUID, TIME, INTERVAL,
// BIT and UNION are the text that DuckDB casts them to.
//
// Text is compared by its bytes, whatever the column's collation.
//
// The types of a CSV or a JSON file are what DuckDB takes its first rows for. A number
// with a fraction or beyond 64 bits is a DOUBLE there, which may lose digits; a Parquet
// file says what type a column has. A CSV some of whose lines have more or fewer fields
// than others is one column of whole lines.
package duckdb
