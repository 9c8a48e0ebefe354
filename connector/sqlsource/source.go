package sqlsource

import (
	"context"
	"database/sql"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Source serves a database: every optional route and flag of the protocol but a
// dialect. It is safe for concurrent use.
//
// A source keeps no connection of a tenant and no description between requests
// (but see Options.Remember). A table that is created, changed or dropped is so
// for the next request. Within one request the calls of the library share one
// connection, one transaction and what they have read of the catalog.
type Source struct {
	db         *sql.DB // of the host; nil with openTenant
	openTenant Open
	flavor     Flavor
	rows       RowReader // nil: rows are read by database/sql
	options    settings
	cache      tableCache
	shelves    connector.PerRequest[*shelf]
}

var (
	_ connector.Source              = (*Source)(nil)
	_ connector.Describer           = (*Source)(nil)
	_ connector.Sizer               = (*Source)(nil)
	_ connector.Counter             = (*Source)(nil)
	_ connector.Aggregator          = (*Source)(nil)
	_ connector.CardinalityMeasurer = (*Source)(nil)
	_ connector.LinkMeasurer        = (*Source)(nil)
	_ connector.Joiner              = (*Source)(nil)
)

// New returns a source of a database that belongs to the host. All tenants see
// the same tables, so the definition asks for no credentials. Give the source a
// pool of its own, because it sets up the sessions it uses; it does not close
// the pool. New does not connect, and reports every fault of its arguments at
// once.
func New(db *sql.DB, flavor Flavor, options *Options) (*Source, error) {
	return newSource(&Source{db: db, flavor: flavor}, options)
}

// NewPerTenant returns a source of databases that the tenants' credentials lead
// to. It reports every fault of its arguments at once.
func NewPerTenant(open Open, flavor Flavor, options *Options) (*Source, error) {
	return newSource(&Source{openTenant: open, flavor: flavor}, options)
}

// Check connects, which proves the credentials.
func (s *Source) Check(ctx context.Context, req *wire.CheckRequest) error {
	return forPerson(s.check(ctx, req))
}

func (s *Source) check(ctx context.Context, req *wire.CheckRequest) error {
	x, err := s.open(ctx, req.Credentials, connector.Call{Method: "Check"})
	if err != nil {
		return err
	}
	defer x.close()
	for _, schema := range x.schemas {
		// Some engines look at the file, or at the user's rights, only now.
		if _, _, err := s.flavor.Catalog(ctx, x.tx.Tx, schema, []string{""}); err != nil {
			return s.failure(ctx, err, "")
		}
		if s.options.SchemasOf == nil {
			continue // discovery warns the host of a schema that does not exist
		}
		found, err := x.hasSchema(ctx, schema)
		if err != nil {
			return s.failure(ctx, err, "")
		}
		if !found {
			return connector.CheckFailed("%s", noSchema(schema))
		}
	}
	return nil
}

// Describe describes one table as Discover lists it, without samples and
// statistics.
func (s *Source) Describe(ctx context.Context, creds wire.Credentials, table string) (*wire.Table, error) {
	x, r, err := s.openTable(ctx, creds, connector.Call{Method: "Describe", Table: table})
	if err != nil {
		return nil, err
	}
	defer x.close()
	x.keep = true
	return s.describe(r), nil
}

// openTable opens a session for a request about one table, and finds the table. The
// caller closes the session.
func (s *Source) openTable(ctx context.Context, creds wire.Credentials, call connector.Call) (*session, *relation, error) {
	x, err := s.open(ctx, creds, call)
	if err != nil {
		return nil, nil, err
	}
	r, err := x.relation(ctx, call.Table)
	if err != nil {
		x.close()
		return nil, nil, err
	}
	return x, r, nil
}
