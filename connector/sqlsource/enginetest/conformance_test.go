package enginetest

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/conformancetest"
	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
	"github.com/connectorsdk/connector-sdk-go/internal/casetest"
	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// conformanceOf is what the conformance program makes of a connector over an
// engine.
type conformanceOf struct {
	// slow creates the corpus's table slow, and returns a tenant for whom it waits.
	// Nil: no statement of the engine waits.
	slow func(t *testing.T, db *database) wire.Credentials
	// lingering creates a view of a server, of which every answer takes a second.
	lingering string
	// casesOf says that the platform asks one case of so many.
	casesOf int
}

// filled returns a database with the corpus, and a connector over it.
func (e *engine) filled(t *testing.T) (*database, http.Handler) {
	t.Helper()
	skipShort(t)
	dir := t.TempDir()
	require.NoError(t, corpus.Write(dir))
	db := e.create(t)
	db.execute(t, string(testkit.Must(os.ReadFile(filepath.Join(dir, "sql", e.name+".sql")))(t)))
	// What no column of some engine says: types of the corpus, and the key of a view.
	tables := map[string]sqlsource.TableOptions{corpus.Slow().Name: {PrimaryKey: []string{"id"}}}
	for _, table := range corpus.Tables() {
		columns := map[string]sqlsource.ColumnOptions{}
		for _, f := range table.Fields {
			if f.Type == wire.TypeReference || f.Type == wire.TypeArray || f.Type == wire.TypeBoolean {
				columns[f.Name] = sqlsource.ColumnOptions{Type: f.Type}
			}
		}
		tables[table.Name] = sqlsource.TableOptions{Columns: columns}
	}
	return db, db.asked(t, &sqlsource.Options{Tables: tables}).Handler
}

// asked returns a connector over the database for its tenant. It declares every operator, and logs internal errors alone.
func (d *database) asked(t testing.TB, options *sqlsource.Options) situation.Asked {
	t.Helper()
	logger := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	handler := connectors.New(connectortest.Token, d.definition(), d.source(t, options), &connector.Options{Logger: logger})
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, wire.PathDocument, nil))
	var document wire.Document
	require.NoError(t, wire.Decode(w.Body.Bytes(), &document))
	require.Len(t, document.Capabilities.Operators, 13, "every operator is declared")
	return situation.Asked{Handler: handler, Credentials: d.credentials}
}

// connected returns the platform's connection of a tenant to a connector.
func connected(t *testing.T, handler http.Handler, tenant wire.Credentials) *platform.Connection {
	t.Helper()
	inProcess, stop := memlisten.Client(handler)
	t.Cleanup(stop)
	options := &platform.Options{HTTP: inProcess}
	client := testkit.Must(platform.NewClient("https://connector.test", wire.NewBearer(connectortest.Token), options))(t)
	return testkit.Must(platform.Connect(t.Context(), client, tenant, &platform.ConnectionOptions{DiscoverOnly: true}))(t)
}

// slowChecks are the checks that need the corpus's table slow.
var slowChecks = []string{"P3.5a", "P3.5b", "P3.5c", "P3.5d", "P3.5e", "P3.5f", "P3.5g", "P3.7a", "A.35"}

// expected returns the checks of testdata/skipped.tsv that are not judged of an engine, or may give advice.
func (e *engine) expected(t *testing.T, advice bool) map[string]conformance.Reason {
	t.Helper()
	all := map[string]conformance.Reason{}
	for _, cells := range testkit.Table(t, "testdata/skipped.tsv", 4) {
		if (cells[0] == "all" || cells[0] == e.name) && advice == (cells[2] == "may advise") {
			all[cells[1]] = conformance.Reason(cells[2])
		}
	}
	return all
}

// TestConformance grades a connector over the corpus: on a server beside a second
// tenant's database, which the conformance program must not see as the first.
func TestConformance(t *testing.T) {
	onEach(t, func(t *testing.T, e *engine) {
		db, handler := e.filled(t)
		target, done := conformance.InProcess(handler, connectortest.Token)
		defer done()
		if db.credentials != nil {
			other := e.create(t)
			other.execute(t, `CREATE TABLE customers (id BIGINT PRIMARY KEY, only_theirs TEXT);
				INSERT INTO customers VALUES (1, 'x'); CREATE TABLE only_theirs (id BIGINT PRIMARY KEY)`)
			target.Credentials = []wire.Credentials{db.tenant(), other.tenant()}
		}
		// A request costs a server tens of milliseconds, so fewer are asked over live data. The
		// checks over the corpus, some 1,500 requests, ask all of their cases, and a second account has a quarter.
		skipped := e.grade(t, target, &conformance.Options{Mode: conformance.ModeBoth, Requests: 4500})
		for _, id := range slowChecks { // they come below, when nothing else reads the table slow
			require.Equal(t, conformance.NoData, skipped[id], id)
			delete(skipped, id)
		}
		if e.conformance.lingering != "" {
			delete(skipped, "P3.5h") // it needs an answer that takes long, and comes below with one
		}
		require.Equal(t, e.expected(t, false), skipped, "what is skipped")
		if e.conformance.slow != nil {
			target.Credentials = []wire.Credentials{e.conformance.slow(t, db)}
			require.Empty(t, e.grade(t, target, &conformance.Options{Match: `^P3\.(5[a-g]|7a)`}), "deadlines and heartbeats")
		}
		if e.conformance.lingering != "" {
			long := e.create(t)
			long.execute(t, e.conformance.lingering)
			target.Credentials = []wire.Credentials{long.tenant()}
			require.Empty(t, e.grade(t, target, &conformance.Options{Mode: conformance.ModeLive, Match: `^P3\.5h`}), "the slowest calls")
		}
	})
}

// grade runs the conformance program, reports its checks as subtests, and
// returns what was skipped. It fails on advice that is not expected.
func (e *engine) grade(t *testing.T, target conformance.Target, options *conformance.Options) map[string]conformance.Reason {
	t.Helper()
	report := testkit.Must(conformance.Run(t.Context(), target, options))(t)
	conformancetest.Subtests(t, report)
	skipped := map[string]conformance.Reason{}
	for _, o := range report.Outcomes {
		switch {
		case o.Verdict == conformance.Advise && o.ID == "A.37": // of keys that the corpus breaks, and of odd cells
			require.NotRegexp(t, "left out|not served|cannot be read", o.Detail)
		case o.Verdict == conformance.Advise:
			require.Contains(t, e.expected(t, true), o.ID, o.Detail)
		}
		if o.Verdict == conformance.Skip {
			skipped[o.ID] = o.Reason
		}
	}
	return skipped
}

// TestPlatform asks the cases of the corpus as the platform does, which finishes
// what the source leaves to it. Cases of which the protocol leaves the answer open
// are not asked.
func TestPlatform(t *testing.T) {
	onEach(t, func(t *testing.T, e *engine) {
		db, handler := e.filled(t)
		connection := connected(t, handler, db.tenant())
		for i, test := range corpus.Cases() {
			if i%e.conformance.casesOf != 0 || strings.HasPrefix(test.Check, "A.") {
				continue
			}
			assert.NoError(t, casetest.Ask(t.Context(), connection, test), "%s (%s)", test.Name, test.Why)
		}
	})
}

// TestTenants keeps two tenants apart, each with a database of its own. It replaces
// the loggers of the process, so nothing else runs beside it.
func TestTenants(t *testing.T) {
	for _, e := range []*engine{&postgres, &mariadb} {
		t.Run(e.name, func(t *testing.T) {
			one, two := e.create(t), e.create(t)
			one.execute(t, `CREATE TABLE shared (id BIGINT PRIMARY KEY, name VARCHAR(40));
				INSERT INTO shared VALUES (1, 'of the first tenant'), (2, 'x'); CREATE TABLE only_first (id BIGINT PRIMARY KEY)`)
			two.execute(t, `CREATE TABLE shared (id BIGINT PRIMARY KEY, name VARCHAR(40));
				INSERT INTO shared VALUES (1, 'of the second tenant'), (3, 'y'), (4, 'z')`)
			connectortest.Isolation(t, one.definition(), one.source(t, nil), one.credentials, two.credentials)
		})
	}
}
