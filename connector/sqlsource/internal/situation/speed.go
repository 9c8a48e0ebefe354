//go:build unix

package situation

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Benchmark measures the requests of a file as a tenant's, by package sqlsourcetest. Each section is one: a
// request in its first line, and what a program asks the engine itself for the same, which native runs.
func Benchmark(
	b *testing.B, path string, source *sqlsource.Source, credentials map[string]string, words *strings.Replacer, native func(statement string),
) {
	b.Helper()
	for _, own := range Open(b, path).Sections {
		b.Run(own.Name, func(b *testing.B) {
			request, statement, _ := strings.Cut(words.Replace(own.Text), "\n")
			route, body, found := strings.Cut(request, " ")
			require.True(b, found && statement != "", own.Text)
			r := Request{route, body}
			sqlsourcetest.Benchmark(b, source, wire.NewCredentials(credentials), r.Path(), r.As(b, credentials), func() { native(statement) })
		})
	}
}
