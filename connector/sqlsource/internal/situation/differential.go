package situation

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
)

// Questions returns the options of a differential test of so many requests. SQLSOURCE_QUERIES makes it longer,
// SQLSOURCE_SEED repeats it.
func Questions(queries int, without ...string) *sqlsourcetest.Options {
	if n, err := strconv.Atoi(os.Getenv("SQLSOURCE_QUERIES")); err == nil {
		queries = n
	}
	seed, _ := strconv.ParseUint(os.Getenv("SQLSOURCE_SEED"), 10, 64)
	return &sqlsourcetest.Options{Queries: queries, Seed: seed, Without: without}
}

// Bugs returns the bugs that the command plant of enginetest has planted, which name themselves in the environment. It
// skips a test without any.
func Bugs(t *testing.T) []string {
	t.Helper()
	bugs := os.Getenv("SQLSOURCE_BUGS")
	if bugs == "" {
		require.Empty(t, os.Getenv("SQLSOURCE_PLANTED"), "no bug is planted: the overlay of the command plant is missing")
		t.Skip("needs the overlay of the command plant; see the package documentation of enginetest")
	}
	return strings.Split(bugs, "\n")
}

// Planted proves that the differential test finds each of these bugs, one after the other: a bug is active in the whole
// process.
func Planted(t *testing.T, e sqlsourcetest.Engine, bugs []string, without ...string) {
	t.Helper()
	options := &sqlsourcetest.Options{Queries: 3000, Seed: 7, Without: without}
	sqlsourcetest.Planted(t, e, options, bugs, func(bug string) { require.NoError(t, os.Setenv("SQLSOURCE_BUG", bug)) })
}
