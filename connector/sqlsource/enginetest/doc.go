// Package enginetest holds the tests that prove the flavors of package sqlsource
// on their engines. They are a module of their own because they need the engines'
// drivers.
//
// A test of what all engines must do has a subtest for each, which is named after
// it: sqlite, postgres, mysql. What only one of them has is in files and tests that
// are named after it. The table of engines is in engine_test.go; to add one, describe
// it as sqlite_test.go does.
//
// Most tests are files of testdata/situations: a schema, requests and their answers. A
// report of a bug becomes one. Tests in Go inject faults, count statements, or start servers.
//
// The tests create and drop databases on the servers that these variables name:
//
//   - SQLSOURCE_POSTGRES (host:port), SQLSOURCE_POSTGRES_USER and
//     SQLSOURCE_POSTGRES_PASSWORD; default: postgres at 127.0.0.1:5432
//   - SQLSOURCE_MYSQL (host:port), SQLSOURCE_MYSQL_USER and
//     SQLSOURCE_MYSQL_PASSWORD; default: root at 127.0.0.1:3306
//
// Without a server its tests are skipped; with CI=true they fail. Tests that restart a
// server, or shard a table by Spider, start servers of their own.
//
// SQLSOURCE_POOLER=1 puts PgBouncer before every database of PostgreSQL, in transaction mode,
// which TestPostgresPooled does anyway.
//
// Folder firebird proves a flavor that was written by docs/engines.md, on a server that
// it starts.
//
// SQLSOURCE_QUERIES=100000 makes the differential tests longer, SQLSOURCE_SEED
// repeats one. SQLSOURCE_ROWS changes the size of the tables of BenchmarkSpeed.
//
//	go test .                                                      # all engines
//	go test -run 'Postgres|/postgres' .                            # PostgreSQL alone
//	SQLSOURCE_POOLER=1 go test -run 'Postgres|/postgres' .         # behind a pooler
//	go test -run '^$' -bench Connector -benchtime 1x .             # what a flavor costs
//	go run ./plant >/tmp/overlay.json &&
//		SQLSOURCE_PLANTED=1 go test -overlay /tmp/overlay.json -count=1 -run Planted .
package enginetest
