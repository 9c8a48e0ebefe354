// Package enginetest holds the tests that prove the flavors of package sqlsource
// on their engines, each in a package of its own. They are a module of their own
// because they need the engines' drivers.
//
// The tests create and drop databases on the servers that these variables name:
//
//   - SQLSOURCE_POSTGRES (host:port), SQLSOURCE_POSTGRES_USER and
//     SQLSOURCE_POSTGRES_PASSWORD; default: postgres at 127.0.0.1:5432
//   - SQLSOURCE_MYSQL (host:port), SQLSOURCE_MYSQL_USER and
//     SQLSOURCE_MYSQL_PASSWORD; default: root at 127.0.0.1:3306
//
// Without a server its tests are skipped; with CI=true they fail.
// SQLSOURCE_QUERIES=100000 makes the differential tests longer, SQLSOURCE_SEED
// repeats one.
//
//	go test ./...                                                  # all engines
//	go test -run '^$' -bench Connector -benchtime 1x ./postgres    # what a flavor costs
//	go run ./plant >/tmp/overlay.json &&
//		SQLSOURCE_PLANTED=1 go test -overlay /tmp/overlay.json -count=1 -run Planted ./...
package enginetest
