package sqlsource

import (
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/mysql"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/postgres"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/sqlite"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
)

// PostgreSQL returns the flavor of PostgreSQL 12 and later, for any driver. With
// pgx, the flavor of package pgxrows reads rows in less processor time.
//
// Every request reads in a read-only transaction, of one snapshot. Discovery
// lists only tables and columns that the user may read.
//
// A pooler may give each transaction another session, as PgBouncer does in transaction mode: the
// flavor keeps nothing in a session that outlives a transaction. The driver must not either, so it
// may prepare no statement by name. For pgx, set ConnConfig.DefaultQueryExecMode to
// pgx.QueryExecModeCacheDescribe, or default_query_exec_mode=cache_describe in the connection
// string. PgBouncer 1.21 and later keeps named statements if max_prepared_statements says so.
//
// Whatever the server, the database, the user or the connection string sets, the session states
// each setting that changes an answer. Views are computed with them: instants are in UTC, and so
// are the days that a view cuts by the session's time zone. What a view itself means is left to
// the database: the order in which it reads 01/02/2024 (DateStyle), the words and signs of lc_time
// and lc_numeric, the digits of money (lc_monetary), the schemas in which its functions look, and
// settings of extensions, such as the pg_trgm.similarity_threshold of a view's operator %.
//
// Text is compared in the order of its bytes, by the collation "C". In a database
// whose encoding is not UTF-8, texts are read and pages are cut, and the library does
// what compares, searches, sorts or groups texts: the session speaks UTF-8 for as long
// as the transaction lasts. A database in SQL_ASCII does not know what its bytes mean:
// they are read as UTF-8, and texts that are not UTF-8 are null. In other encodings
// the server refuses to read a text with bytes that have no character, such as 0x81 in
// WIN1252, and so does the request.
//
// Indexes serve filters, sorts and joins, but for these: a sort or a comparison
// by order of a text needs an index with the collation "C", which the column's
// own index has if the column or the database has that collation; other indexes
// serve equality. So it is with char(n), whose index must be of a column with that
// collation. The indexes of enums, intervals and network addresses serve nothing,
// and those of bytea only equality.
//
// A timestamp without time zone is read as UTC. NaN, infinities, and dates
// outside the years 1 to 9999 are null. A real is read as the double that it is
// exactly. A domain is read as its base type, through any number of domains. Types
// without a counterpart, such as interval and inet, are the text that psql shows;
// char(n) is without the blanks at its end. The flavor pushes contains for texts in
// arrays and jsonb, and declares no primary key with such a column, whose values may be equal
// on the wire alone. It leaves to the library what asks for a number within an array,
// and what looks inside json, and contains in databases that are not in UTF-8.
func PostgreSQL() sqlengine.Flavor { return postgres.Flavor() }

// MySQL returns the flavor of MySQL 8 and MariaDB 10.5 and later, for any driver.
//
// Each session is told the settings that change an answer, whatever the server and the connection
// string say: it speaks utf8mb4, in UTC, without a limit of rows. Views are computed with them.
//
// Text is compared as its bytes in utf8mb4, whatever the column's character set
// and collation. DATETIME is read as UTC; so is TIMESTAMP, which is an instant,
// because the session's time zone is set to UTC. Dates with a month or a day of
// zero are null. A FLOAT is read as the double that it is exactly. ZEROFILL is left
// out of numbers. MariaDB's JSON, a LONGTEXT with a check, is json, if the user
// may see the check: the privilege SELECT on the database shows it, one on a table
// may not. What looks inside json is left to the library. A geometry is its text (WKT),
// without the number of its reference system (SRID), which also decides the order of axes.
//
// BIT(1) is a boolean. TINYINT(1), which is also what BOOLEAN means, is a number,
// because the type allows all numbers of TINYINT and data that has only 0 and 1
// today may have 2 tomorrow. A TINYINT that CHECK (c IN (0, 1)) keeps from other
// numbers is a boolean, unless it is part of a key. So is one whose
// [ColumnOptions.Type] says so: it is true when it is not 0.
//
// Columns that the user may not read do not exist. Neither do keys with such a
// column.
//
// An index serves comparisons and the first rows of a sort by numbers, dates,
// datetimes, and texts in utf8mb4, utf8mb3 or ascii whose collation ends in _bin.
// Other collations have another order than the platform: they find equal texts, but
// their comparisons and sorts read all rows. Bytes are read as they are, but sorted
// and searched as base64, which takes the server seconds for some megabytes.
//
// A statement whose context ends is killed on the server, over another
// connection of the pool: if none is free, it runs on and keeps its own. It also
// has the context's deadline as its own timeout.
//
// The statements that prepare a session change it until it is closed, so a
// database of the host should be a pool of its own.
func MySQL() sqlengine.Flavor { return mysql.Flavor() }

// SQLite returns the flavor of SQLite 3.37 and later, for any driver.
//
// SQLite's columns have declared types, but each value has a type of its own.
// The flavor reads a column's type off the declared type: one that contains BOOL
// is boolean; JSON json; ARRAY array; DATETIME or TIMESTAMP datetime; DATE date;
// DEC, NUMERIC or MONEY decimal; UUID, GUID, UNIQUEIDENTIFIER or STRING string;
// then, as SQLite itself decides, INT number; CHAR, CLOB or TEXT string; BLOB or
// BINARY string, as base64; REAL, FLOA, DOUB or NUMBER number, and so is NUM.
//
// The first 100 rows decide where the declared type says nothing, as ANY and that
// of most expressions of a view, and where it is wrong, that is, where most of
// their values do not fit it: the column is number if they are numbers, base64 if
// they are blobs, datetime if a DATE column holds datetimes, else string. Each
// request looks at these rows. A view whose first rows take more than two seconds
// has strings where its types are not declared.
// [ColumnOptions] fixes a type.
//
// A value that does not fit the type of its column is null, on every route, and
// discovery warns of it. So is a text or a blob in a column of numbers, a text
// that is no date in a column of dates, a text in a column of blobs, and an
// infinity. In a column of text, a number is the text of its digits, and a blob is
// null. A primary key is not declared if a value of it would be null, or if two of
// its rows are equal on the wire or may be: where one datetime is stored in two
// spellings, or is spelled with an offset, and where a column of the key is JSON. With
// datetimes, a key of more than 2,000,000 rows is not declared either, as they are too
// many to look at. A text that is not valid UTF-8 makes its row fail.
//
// What fits:
//
//   - A boolean is an integer, of which 0 is false. A date is the text of a day,
//     YYYY-MM-DD. JSON is a text that json_valid accepts, or a number.
//   - A datetime is a text YYYY-MM-DD or YYYY-MM-DD HH:MM:SS, with T or a blank,
//     and perhaps a fraction and an offset from UTC. Numbers are datetimes only if
//     the declared type contains EPOCH or UNIX, or [ColumnOptions] says datetime:
//     an integer counts the seconds since 1970, a real the days of the Julian
//     calendar (but SQLite stores a whole one, of noon, as an integer). Elsewhere
//     20240101 may be a day, and 1709164800000 milliseconds: a number among
//     datetimes is null, as is a text with digits other than 0 beyond nanoseconds, and
//     a column of numbers is number. Those with an offset, with more than nine
//     digits of fraction, numbers, and what is no datetime are looked for before
//     datetimes are compared. If there are any, the library filters and sorts.
//   - A decimal is an integer, a real, or digits in a column of text affinity,
//     such as DECIMAL_TEXT, which keeps their scale. The engine compares texts of
//     at most 15 digits. A sum is exact where every number is a decimal of at most
//     6 digits of fraction and 15 digits in all; otherwise it is declined. Numbers
//     of at most 2 digits of fraction are tried first, which costs a third.
//   - A real in a column of text is looked for, because SQLite spells its digits
//     otherwise. If there is one, the library filters and sorts.
//
// Which values a column holds is asked in the transaction of each request, and
// never remembered: nothing but a STRICT table keeps a value of another kind from
// being stored after discovery. The question is one pass over the column at most,
// and costs about as much as a count by a condition on it. Columns of integers, of
// reals, and of text affinity have nothing to ask, unless their texts are decimals.
// Discovery warns of such values in a table that is small enough to have statistics.
//
// SQLite enforces foreign keys only for connections that ask for it, so discovery
// counts the values that break them.
//
// An index serves if it begins with the column and has the collation BINARY: for
// ranges, the first rows of a sort, minima and maxima of numbers, texts and dates.
// One instant has many spellings, so for datetimes an index narrows a range to
// days. A page sorted by one is read by the index and ends where all values within
// a day of it are spelled alike; otherwise more of the column is read. A CHECK constraint proves
// nothing, because a connection may ignore it.
//
// In a database whose encoding is UTF-16 the engine compares and sorts no text. A driver that makes
// times of texts, such as modernc.org/sqlite with _texttotime, is refused: what is stored is lost then.
func SQLite() sqlengine.Flavor { return sqlite.Flavor() }
