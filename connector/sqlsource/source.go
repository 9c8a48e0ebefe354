package sqlsource

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/discover"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/request"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/session"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Source serves a database: every optional route and flag of the protocol but a
// dialect. It is safe for concurrent use.
//
// A source keeps no connection of a tenant and no description between requests
// (but see Options.CatalogTTL). A table that is created, changed or dropped is so
// for the next request. Within one request the calls of the library share one
// connection, one transaction and what they have read of the catalog.
type Source struct{ database *session.Database }

// New returns a source of a database that belongs to the host. All tenants see
// the same tables, so the definition asks for no credentials. Give the source a
// pool of its own, because it sets up the sessions it uses; it does not close
// the pool. New does not connect, and reports every fault of its arguments at
// once.
func New(db *sql.DB, flavor sqlengine.Flavor, options *Options) (*Source, error) {
	return newSource(db, nil, flavor, options)
}

// NewPerTenant returns a source of databases that the tenants' credentials lead
// to. It reports every fault of its arguments at once.
//
// open opens the database of a tenant. It is called once for every request, and
// the source closes what it returns when the request ends: nothing of a tenant is
// kept. Fill a driver's own configuration with the credentials rather than writing
// them into a connection string, where they could say more than they should.
// Opening need not connect. An error that open makes itself should be
// connector.CheckFailed.
func NewPerTenant(
	open func(context.Context, wire.Credentials) (*sql.DB, error), flavor sqlengine.Flavor, options *Options,
) (*Source, error) {
	return newSource(nil, open, flavor, options)
}

func newSource(
	db *sql.DB, open func(context.Context, wire.Credentials) (*sql.DB, error), flavor sqlengine.Flavor, options *Options,
) (*Source, error) {
	if options == nil {
		options = &Options{}
	}
	faults := options.faults()
	for _, member := range []struct {
		name    string
		missing bool
	}{
		{"Quote", flavor.Quote == nil}, {"Param", flavor.Param == nil}, {"Table", flavor.Table == nil},
		{"Catalog", flavor.Catalog == nil}, {"Column", flavor.Column == nil}, {"Window", flavor.Window == nil},
	} {
		if member.missing {
			faults = append(faults, fmt.Errorf("sqlsource: the flavor has no %s, which every engine needs", member.name))
		}
	}
	switch {
	case db == nil && open == nil:
		faults = append(faults, errors.New("sqlsource: no database; pass a *sql.DB to New, or a function that opens one to NewPerTenant"))
	case open != nil && options.CatalogTTL != 0:
		faults = append(faults, errors.New("sqlsource: CatalogTTL needs a database of the host; nothing of a tenant may be kept"))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return &Source{session.NewDatabase(db, open, flavor, options.settings())}, nil
}

// Check connects, which proves the credentials, and looks for the schemas that the
// options name.
func (s *Source) Check(ctx context.Context, req *wire.CheckRequest) error {
	return session.Check(ctx, s.database, req)
}

// Discover describes every table that is served and that these credentials can
// read. Its warnings say what is left out, and why: tables, keys, samples and
// statistics. What one table costs changes nothing of what is said about others
// (see Options.Profile).
func (s *Source) Discover(ctx context.Context, req *wire.DiscoveryRequest) (*wire.Discovery, error) {
	return discover.Discover(ctx, s.database, req)
}

// Describe describes one table as Discover lists it, without samples and
// statistics.
func (s *Source) Describe(ctx context.Context, creds wire.Credentials, table string) (*wire.Table, error) {
	return discover.Describe(ctx, s.database, creds, table)
}

// Query answers rows by one statement, read as they come.
func (s *Source) Query(ctx context.Context, req *connector.Query, out *connector.Rows) error {
	return request.Query(ctx, s.database, req, out)
}

// QueryJoined answers joined rows by one statement. Keys that the engine cannot
// compare exactly, such as a float with a decimal, are joined in memory, within
// 64 MiB.
func (s *Source) QueryJoined(ctx context.Context, req *connector.Query, out *connector.Rows) error {
	return request.QueryJoined(ctx, s.database, req, out)
}

// Size counts a table's rows, or returns the engine's estimate where the host
// prefers it.
func (s *Source) Size(ctx context.Context, req *wire.SizeRequest) (*wire.Size, error) {
	return request.Size(ctx, s.database, req)
}

// Count counts by one statement, or declines: the library then counts what Query
// answers.
func (s *Source) Count(ctx context.Context, req *wire.CountRequest) (int64, error) {
	return request.Count(ctx, s.database, req)
}

// Aggregate groups by one statement, or declines what the engine cannot compute
// exactly. It cuts periods in UTC.
func (s *Source) Aggregate(ctx context.Context, req *wire.AggregateRequest) ([][]wire.Value, error) {
	return request.Aggregate(ctx, s.database, req)
}

// Cardinality counts all columns by few statements. The entry of a column that
// the engine cannot count distinctly is nil.
func (s *Source) Cardinality(ctx context.Context, req *wire.CardinalityRequest) (map[string]*wire.Cardinality, error) {
	return request.Cardinality(ctx, s.database, req)
}

// LinkHitRate measures by one statement if the engine can compare the columns
// exactly, and a second one for the samples if there are orphans. Otherwise it
// measures over the rows.
func (s *Source) LinkHitRate(ctx context.Context, req *wire.LinkHitRateRequest) (*wire.LinkHitRate, error) {
	return request.LinkHitRate(ctx, s.database, req)
}
