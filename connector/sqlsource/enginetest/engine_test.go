package enginetest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestMain(m *testing.M) { testrun.Main(m) }

// engine is a database engine whose flavor is proved here, with what the tests of
// all engines need to know of it.
type engine struct {
	// name is also that of the corpus's script for it.
	name string
	// create returns an empty database, which is dropped when the test ends. It
	// skips the test if no server answers, and fails it in CI.
	create func(t testing.TB) *database
	// plain returns one whose sessions are as the engine has them.
	plain func(t testing.TB) *database
	// variant returns one that differs by options of CREATE DATABASE. Nil: the engine has none.
	variant func(t testing.TB, options string) *database
	// by returns the database by a connection with these options of the driver. Nil: none are tried.
	by func(t testing.TB, db *database, options string) *database
	// reader creates a user who may read nothing yet, and returns its name and the database as the
	// user has it.
	reader func(t testing.TB, db *database) (user string, read *database)
	// key and text are the SQL types of an integer primary key and of a short text.
	key, text string
	// makeTypes is the script that testdata/types_NAME.jsonl needs; empty: none.
	makeTypes string

	conformance conformanceOf
	discovery   discoveryOf
	plans       plansOf
	schemas     func(t *testing.T) (*database, schemaNames)
	settings    settingsOf
	month       string   // of events.moment, in the engine's own SQL
	server      serverOf // of an engine that is a server
}

// engines are all engines. Each test of all of them has a subtest for each.
var engines = []*engine{&sqlite, &postgres, &mariadb}

// onEach runs a test on each engine, at the same time as on the others and as other
// tests of all engines, because servers work while this process waits.
func onEach(t *testing.T, test func(t *testing.T, e *engine)) {
	t.Helper()
	t.Parallel()
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			test(t, e)
		})
	}
}

// kit returns an empty database for package sqlsourcetest.
func (e *engine) kit(t testing.TB) sqlsourcetest.Engine {
	t.Helper()
	db := e.create(t)
	if e.makeTypes != "" {
		db.execute(t, script(t, e.makeTypes))
	}
	return sqlsourcetest.Engine{Flavor: db.flavor, DB: db.DB, Key: e.key, Types: situation.Types(t, "testdata/types_"+e.name+".jsonl")}
}

// database is a database and how a user reaches it.
type database struct {
	*sql.DB
	flavor sqlengine.Flavor
	// driver reaches the database like DB.
	driver driver.Connector
	// open opens the databases of tenants, and credentials are those of this one.
	// Without credentials the database is the host's.
	open        func(context.Context, wire.Credentials) (*sql.DB, error)
	credentials map[string]string
	// run runs a script of several statements.
	run func(script string) error
}

// execute runs the statements of a script.
func (d *database) execute(t testing.TB, script string) {
	t.Helper()
	if strings.TrimSpace(script) != "" {
		require.NoError(t, d.run(script), "%.300s", script)
	}
}

// script returns a script of testdata/scripts, with other words in place of some.
func script(t testing.TB, name string, words ...string) string {
	t.Helper()
	return strings.NewReplacer(words...).Replace(string(testkit.Must(os.ReadFile("testdata/scripts/" + name + ".sql"))(t)))
}

// withColumn returns a flavor whose columns are changed.
func withColumn(f sqlengine.Flavor, change func(ref string, c sqlengine.CatalogColumn, column *sqlengine.Column)) sqlengine.Flavor {
	own := f.Column
	f.Column = func(ref string, c sqlengine.CatalogColumn) sqlengine.Column {
		column := own(ref, c)
		change(ref, c, &column)
		return column
	}
	return f
}

// withCatalog returns a flavor whose tables are changed.
func withCatalog(f sqlengine.Flavor, change func(*sqlengine.Table)) sqlengine.Flavor {
	own := f.Catalog
	f.Catalog = func(ctx context.Context, q sqlengine.Queryer, schema string, names []string) ([]*sqlengine.Table, []string, error) {
		tables, warnings, err := own(ctx, q, schema, names)
		for _, t := range tables {
			change(t)
		}
		return tables, warnings, err
	}
	return f
}

// with returns the database as another flavor reads it.
func (d *database) with(f sqlengine.Flavor) *database {
	own := *d
	own.flavor = f
	return &own
}

// hosts returns the database as the host's.
func (d *database) hosts() *database {
	own := *d
	own.credentials = nil
	return &own
}

// of returns the database as a tenant who is this user has it.
func (d *database) of(t testing.TB, user, password string) *database {
	t.Helper()
	own := *d
	own.credentials = map[string]string{"user": user, "password": password, "database": d.credentials["database"]}
	own.DB = testkit.Must(d.open(t.Context(), own.tenant()))(t)
	t.Cleanup(func() { _ = own.Close() })
	return &own
}

// definition is the connector whose tenants have the database's credentials, and
// optional ones with these keys.
func (d *database) definition(optional ...string) connector.Definition {
	definition := connector.Definition{Slug: "corpus", KeysEnforced: true}
	if d.credentials != nil {
		definition.Credentials = []wire.CredentialField{
			{Key: "user", Label: "User", Type: wire.CredentialText},
			{Key: "password", Label: "Password", Type: wire.CredentialPassword, Optional: true},
			{Key: "database", Label: "Database", Type: wire.CredentialText},
		}
	}
	for _, key := range optional {
		definition.Credentials = append(definition.Credentials,
			wire.CredentialField{Key: key, Label: key, Type: wire.CredentialText, Optional: true})
	}
	return definition
}

// tenant are the credentials of the database's tenant.
func (d *database) tenant() wire.Credentials { return wire.NewCredentials(d.credentials) }

// source returns a source of the database: of a tenant's if it has credentials.
func (d *database) source(t testing.TB, options *sqlsource.Options) *sqlsource.Source {
	t.Helper()
	if d.credentials == nil {
		return d.pooled(t, options)
	}
	return testkit.Must(sqlsource.NewPerTenant(d.open, d.flavor, options))(t)
}

// pooled returns a source of the database as the host's.
func (d *database) pooled(t testing.TB, options *sqlsource.Options) *sqlsource.Source {
	t.Helper()
	return testkit.Must(sqlsource.New(d.DB, d.flavor, options))(t)
}

// caller asks a connector over the database as its tenant. Every answer is
// verified, unless the test says otherwise.
func (d *database) caller(t testing.TB, options *sqlsource.Options) *connectortest.Tenant {
	t.Helper()
	return connectortest.Start(t, d.definition(), d.source(t, options), nil).As(d.credentials)
}

// discover returns the tables that a source over the pool describes, by their
// names, and all warnings as one text. The request ends after the timeout.
func (d *database) discover(t testing.TB, options *sqlsource.Options, timeout time.Duration) (map[string]*wire.Table, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	found := testkit.Must(d.pooled(t, options).Discover(ctx, &wire.DiscoveryRequest{}))(t)
	tables := map[string]*wire.Table{}
	for i := range found.Tables {
		tables[found.Tables[i].Name] = &found.Tables[i]
	}
	return tables, strings.Join(found.Warnings, "\n")
}

// logged returns the database as the host's, and the statements that go to it.
func (d *database) logged(t testing.TB) (*database, *statementLog) {
	t.Helper()
	log := &statementLog{}
	return d.intercepted(t, log.add), log
}

// intercepted returns the database as the host's. Each statement that goes to it is shown to a function before.
func (d *database) intercepted(t testing.TB, before func(query string, args []driver.NamedValue) error) *database {
	own := d.hosts()
	own.DB = sqlsourcetest.Intercept(d.driver, before)
	t.Cleanup(func() { require.NoError(t, own.Close()) })
	return own
}

// statementLog keeps statements, with their arguments.
type statementLog struct {
	mu   sync.Mutex
	list []loggedStatement
}

type loggedStatement struct {
	query string
	args  []any
}

func (l *statementLog) add(query string, args []driver.NamedValue) error {
	own := make([]any, len(args))
	for i, a := range args {
		own[i] = a.Value
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, loggedStatement{query, own})
	return nil
}

// take returns the statements since it was called last.
func (l *statementLog) take() []loggedStatement {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.list
	l.list = nil
	return list
}

// skipShort skips a test with -short: one that takes minutes under the race
// detector, above all where the engine itself is Go.
func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes minutes under the race detector; run without -short")
	}
}
