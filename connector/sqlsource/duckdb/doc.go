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
// learned it from, and nothing of Parquet files that were written to within two seconds
// before. A request that has read a file which is another one at its end fails rather than
// answer what was left of it.
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
// cells, and what is null as a cell is null in them, such as a NaN or an infinity; so it is
// in a JSON, which may have them in DuckDB. Discovery counts such nulls of cells, but not
// those within values. A STRUCT without names, which row(1, 2) makes, is sent as an array.
// A BLOB is base64. ENUM, UUID, TIME, INTERVAL,
// BIT and UNION are the text that DuckDB casts them to.
//
// Text is compared by its bytes, whatever the column's collation.
//
// # What a file says, and what nobody guesses
//
// The engine takes the first file, or the first rows, for all. This package does not.
//
// The footers of all Parquet files of a table are compared. A column has the least type
// that holds every value of every file exactly: integers with decimals are decimals of
// the digits that both need, dates with timestamps are timestamps, integers with floats
// are floats if the footers state that no integer is beyond 2^53, and whatever has no
// other type is a text. A column, or a member of a struct, that only some files have is
// null in the others. Discovery says each of it. Bytes with a text, or a struct with a
// number, have no common type: the table is left out by the names of both files and the
// column. INT96, and nanoseconds in UTC, are read to the microsecond, which discovery
// says; a decimal of more than 38 digits is left out by name.
//
// CSV and JSON are read once for each version of a file, by the readers of package
// filesource and under its rules: every cell decides, what a type could damage is text,
// and a malformed line is named. A column has the type that it has there, but for what
// the engine does not hold: decimals of more than 38 digits, nanoseconds outside of the
// years 1678 to 2261, and the year 0 are texts, and discovery says so. A decimal has the
// scale of its column.
//
// In a table of CSV files beyond FolderOptions.TypeBudget all columns are texts, and the
// engine reads what follows the headers. Two kinds of files are read once for each version
// all the same, because the engine would answer wrongly without a word: compressed ones,
// whose damage or early end it does not notice, and those of one column, where it counts a
// blank line as a row. In the others it drops blanks that stand beside the quotes of a
// cell, and may refuse line breaks within quotes, and lines of which some end in LF and
// others in CR LF: raise the budget for such files.
//
// The engine reads the rows of a CSV where it was seen to find the same cells. JSON, whose
// numbers are doubles to it, other encodings, decimal commas, dates of another form and
// times with odd offsets are read by this package, and handed to the engine as texts: all
// of the file for each request, in one thread, at about a microsecond for each cell.
//
// How text files are written is said by FolderOptions.Format and by sidecar files, as in
// package filesource; keys, names and samples in them are not applied here.
//
// options.go lists each option of the engine's readers, and why it is set as it is.
//
// Names of folders such as year=2025 are columns. All of them decide the type, and
// __HIVE_DEFAULT_PARTITION__, as Hive and Spark write it, and NULL, as DuckDB does, are
// null. Where an escape of a value cannot be read, as in 5%, or is not UTF-8, as %FF, the
// value is taken as it stands.
package duckdb
