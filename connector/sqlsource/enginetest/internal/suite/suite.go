// Package suite has what the tests of all engines share.
package suite

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/bugs"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/internal/casetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Token is the bearer token of connectors under test.
const Token = "a-token-for-tests-0123456789abcdef"

// Differential asks the engine and memory the same. SQLSOURCE_QUERIES makes it
// longer, SQLSOURCE_SEED repeats it.
func Differential(t *testing.T, e sqlsourcetest.Engine) {
	queries, _ := strconv.Atoi(os.Getenv("SQLSOURCE_QUERIES"))
	seed, _ := strconv.ParseUint(os.Getenv("SQLSOURCE_SEED"), 10, 64)
	sqlsourcetest.Run(t, e, &sqlsourcetest.Options{Queries: queries, Seed: seed})
}

// Planted proves that the differential test finds every planted bug. It needs
// the overlay of the command plant, and SQLSOURCE_PLANTED=1 to say that it is
// there.
func Planted(t *testing.T, engine func(testing.TB) sqlsourcetest.Engine) {
	if os.Getenv("SQLSOURCE_PLANTED") == "" {
		t.Skip("needs the overlay of the command plant; see the package documentation of enginetest")
	}
	sqlsourcetest.Planted(t, engine(t), &sqlsourcetest.Options{Queries: 3000, Seed: 7}, bugs.Names(), func(bug string) {
		require.NoError(t, os.Setenv(bugs.Variable, bug))
	})
}

// CorpusTables returns overrides for the types of the corpus that no column of
// some engine has.
func CorpusTables() map[string]sqlsource.TableOptions {
	tables := map[string]sqlsource.TableOptions{}
	for _, table := range corpus.Tables() {
		columns := map[string]sqlsource.ColumnOptions{}
		for _, f := range table.Fields {
			if f.Type == wire.TypeReference || f.Type == wire.TypeArray || f.Type == wire.TypeBoolean {
				columns[f.Name] = sqlsource.ColumnOptions{Type: f.Type}
			}
		}
		tables[table.Name] = sqlsource.TableOptions{Columns: columns}
	}
	return tables
}

// CorpusScript returns the SQL that fills a database of an engine with the
// corpus.
func CorpusScript(t *testing.T, engine string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, corpus.Write(dir))
	script, err := os.ReadFile(filepath.Join(dir, "sql", engine+".sql"))
	require.NoError(t, err)
	return string(script)
}

// Handler returns a connector over a source that declares every operator.
func Handler(t *testing.T, definition connector.Definition, source *sqlsource.Source) *connector.Handler {
	t.Helper()
	token, err := wire.NewToken(Token)
	require.NoError(t, err)
	handler, err := connector.New(definition, source, token, nil)
	require.NoError(t, err)
	var document wire.Document
	require.NoError(t, json.Unmarshal(handler.Document(), &document))
	require.Len(t, document.Capabilities.Operators, 13, "every operator is declared")
	return handler
}

// SkipShort skips a test with -short: one that takes minutes under the race
// detector, above all where the engine itself is Go.
func SkipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes minutes under the race detector; run without -short")
	}
}

// Grade runs the conformance program, reports its checks as subtests, and
// returns what was skipped. It fails on advice that mayAdvise does not expect.
func Grade(
	t *testing.T, target conformance.Target, options *conformance.Options, mayAdvise map[string]string,
) map[string]conformance.Reason {
	t.Helper()
	SkipShort(t)
	report, err := conformance.Run(t.Context(), target, options)
	require.NoError(t, err)
	report.Subtests(t)
	for _, o := range report.Advice() {
		require.Contains(t, mayAdvise, o.ID, o.Detail)
	}
	skipped := map[string]conformance.Reason{}
	for _, o := range report.Outcomes {
		if o.Verdict == conformance.Skip {
			skipped[o.ID] = o.Reason
		}
	}
	return skipped
}

// Cases asks the cases of the corpus as the platform does, which finishes what the
// source leaves to it: one case of so many. Cases of which the protocol leaves the
// answer open are not asked.
func Cases(t *testing.T, handler http.Handler, credentials wire.Credentials, of int) {
	t.Helper()
	SkipShort(t)
	inProcess, stop := platform.InProcess(handler)
	defer stop()
	client, err := platform.NewClient("https://connector.test", wire.NewBearer(Token), &platform.Options{HTTP: inProcess})
	require.NoError(t, err)
	connection, err := platform.Connect(t.Context(), client, credentials, nil)
	require.NoError(t, err)
	for i, test := range corpus.Cases() {
		if i%of != 0 || strings.HasPrefix(test.Check, "A.") {
			continue
		}
		if err := casetest.Ask(t.Context(), connection, test); err != nil {
			t.Errorf("%s (%s): %v", test.Name, test.Why, err)
		}
	}
}

// WholeOptions runs every check. A request costs a server tens of milliseconds, so the
// budget limits those over live data: the checks over the corpus ask all of their cases.
var WholeOptions = &conformance.Options{Mode: conformance.ModeBoth, Requests: 1000}

// SlowChecks are the checks that need the corpus's table slow.
var SlowChecks = []string{"P3.5a", "P3.5b", "P3.5c", "P3.5d", "P3.5e", "P3.5f", "P3.5g", "P3.7a", "A.35"}

// SlowOptions selects the checks that need the corpus's table slow.
var SlowOptions = &conformance.Options{Run: `^P3\.(5[a-g]|7a)`}

// NotAsked returns the checks that cannot be asked of a connector that declares
// everything, with the reason, and those of more.
func NotAsked(more map[string]conformance.Reason) map[string]conformance.Reason {
	all := map[string]conformance.Reason{
		"A.5":    conformance.NotDeclared,
		"A.36":   conformance.NotDeclared,
		"P0.7":   conformance.NotDeclared,
		"P3.8":   conformance.NotDeclared,
		"P3.9":   conformance.NotDeclared,
		"P3.13a": conformance.NotDeclared,
		"P3.16a": conformance.NotDeclared,
		"P3.16b": conformance.NotDeclared,
		"P0.9":   conformance.NotDeclared,
		"P1.7b":  conformance.NotAsked,
		"T5":     conformance.NotAsked,
		"P3.7b":  conformance.NoData, // no stream was silent for long
		"P3.10c": conformance.NoData, // no answer was an internal error
	}
	for id, reason := range more {
		all[id] = reason
	}
	return all
}

// FillTenants fills the databases of two tenants: a table that both have, and
// one that only the first has.
func FillTenants(t *testing.T, first, second *sql.DB) {
	t.Helper()
	for db, statements := range map[*sql.DB][]string{
		first: {
			"CREATE TABLE shared (id BIGINT PRIMARY KEY, name VARCHAR(40))",
			"INSERT INTO shared VALUES (1, 'of the first tenant'), (2, 'x')",
			"CREATE TABLE only_first (id BIGINT PRIMARY KEY)",
		},
		second: {
			"CREATE TABLE shared (id BIGINT PRIMARY KEY, name VARCHAR(40))",
			"INSERT INTO shared VALUES (1, 'of the second tenant'), (3, 'y'), (4, 'z')",
		},
	} {
		for _, statement := range statements {
			_, err := db.Exec(statement)
			require.NoError(t, err)
		}
	}
}

// FillOther fills the database of a second tenant, which the conformance program
// must not see as the first.
func FillOther(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, statement := range []string{
		"CREATE TABLE customers (id BIGINT PRIMARY KEY, only_theirs TEXT)",
		"INSERT INTO customers VALUES (1, 'x')",
		"CREATE TABLE only_theirs (id BIGINT PRIMARY KEY)",
	} {
		_, err := db.Exec(statement)
		require.NoError(t, err)
	}
}

// Code returns the code of a refusal.
func Code(err error) wire.Code {
	var e *wire.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Pages reads a table in pages without a sort, and sorted by its first field, and
// fails if they do not have this number of different rows.
func Pages(t *testing.T, tenant *connectortest.Tenant, table string, rows int, fields ...string) {
	t.Helper()
	for _, sort := range [][]wire.SortKey{{}, {{Field: fields[0], Dir: wire.Desc}}} {
		got := map[string]int{}
		const size = 7
		for offset := int64(0); offset < int64(rows); offset += size {
			answer, err := tenant.Query(wire.QueryRequest{Table: table, Sort: sort, Fields: fields, Offset: offset, Limit: size})
			require.NoError(t, err)
			require.True(t, answer.Served.Window)
			for _, row := range answer.Rows {
				got[fmt.Sprint(row)]++
			}
		}
		require.Len(t, got, rows, "table %s, sorted by %v", table, sort)
	}
}
