//go:build unix

package situation

import (
	"database/sql"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Benchmark measures the requests of a file as a tenant's, by package sqlsourcetest. Each section is one: a
// request in its first line, and what a program asks the engine itself for the same, on db.
func Benchmark(
	b *testing.B, path string, source *sqlsource.Source, credentials map[string]string, words *strings.Replacer,
	db *sql.DB,
) {
	b.Helper()
	for _, own := range Open(b, path).Sections {
		b.Run(own.Name, func(b *testing.B) {
			request, statement, _ := strings.Cut(words.Replace(own.Text), "\n")
			route, body, found := strings.Cut(request, " ")
			require.True(b, found && statement != "", own.Text)
			r := Request{route, body}
			sqlsourcetest.Benchmark(b, source, wire.NewCredentials(credentials), r.Path(), r.As(b, credentials),
				func() { ReadAll(b, db, statement) })
		})
	}
}

// ProcessorTime returns what this process has used so far.
func ProcessorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// ReadAll reads an answer as database/sql returns it, and returns its number of rows.
func ReadAll(b *testing.B, db *sql.DB, statement string) (n int) {
	b.Helper()
	rows, err := db.QueryContext(b.Context(), statement)
	require.NoError(b, err, statement)
	defer func() { require.NoError(b, rows.Close()) }()
	names, err := rows.Columns()
	require.NoError(b, err)
	cells := make([]any, len(names))
	for i := range cells {
		cells[i] = new(any)
	}
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
			b.Fatal(err)
		}
		n++
	}
	require.NoError(b, rows.Err())
	return n
}
