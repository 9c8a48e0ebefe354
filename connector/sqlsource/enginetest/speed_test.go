//go:build unix

package enginetest

import (
	"strconv"
	"strings"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
)

// linkRows is how many rows each of the tables places and visits has.
const linkRows = 100_000

// BenchmarkSpeed measures the requests of testdata/speed.txtar, which an index serves, joins, links and
// measurements, against the same asked of the driver. The table events has SQLSOURCE_ROWS rows.
//
//	go test -run '^$' -bench Speed/postgres -benchtime 1x .
func BenchmarkSpeed(b *testing.B) {
	for _, e := range engines {
		b.Run(e.name, func(b *testing.B) {
			db := e.plain(b)
			size := strings.NewReplacer("ROWS", setting("SQLSOURCE_ROWS", "1000000"), "LINKS", strconv.Itoa(linkRows))
			db.execute(b, size.Replace(script(b, "speed_"+e.name)))
			db = reader(b, db)
			situation.Benchmark(b, "testdata/speed.txtar", db.source(b, nil), db.credentials,
				strings.NewReplacer("{month}", e.month), db.DB)
		})
	}
}

// reader returns a database as one who only reads it opens it.
func reader(b *testing.B, db *database) *database {
	b.Helper()
	if file, ok := db.driver.(fileConnector); ok {
		return openSQLite(b, "file:"+file.name+"?mode=ro&_pragma=query_only(1)", "")
	}
	return db
}
