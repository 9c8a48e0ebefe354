package sqlsource

import (
	"context"
	"database/sql"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// database is what a source is made of: where tenants' databases come from, and how
// their engine is spoken to. It keeps nothing of a tenant between requests.
type database struct {
	pool         *sql.DB // of the host; nil with openTenant
	openTenant   func(context.Context, wire.Credentials) (*sql.DB, error)
	flavor       sqlengine.Flavor
	capabilities sqlengine.Capabilities // of the flavor
	options      settings
	cache        tableCache
	shelves      connector.PerRequest[*shelf]
}

// newDatabase returns the database of a source. One of pool and openTenant is nil.
func newDatabase(
	pool *sql.DB, openTenant func(context.Context, wire.Credentials) (*sql.DB, error), flavor sqlengine.Flavor, options settings,
) *database {
	options.index()
	return &database{pool: pool, openTenant: openTenant, flavor: flavor, capabilities: flavor.Capabilities(), options: options}
}

// openTable opens a session for a request about one table, and finds the table. The
// caller closes the session.
func (s *database) openTable(ctx context.Context, creds wire.Credentials, call connector.Call) (*session, *relation, error) {
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

// Check connects, which proves the credentials, and looks for the schemas that the
// options name.
func Check(ctx context.Context, s *database, req *wire.CheckRequest) error {
	return forPerson(s.check(ctx, req))
}

func (s *database) check(ctx context.Context, req *wire.CheckRequest) error {
	x, err := s.open(ctx, req.Credentials, connector.Call{Method: "Check"})
	if err != nil {
		return err
	}
	defer x.close()
	for _, schema := range x.schemas {
		// Some engines look at the file, or at the user's rights, only now.
		if _, _, err := s.flavor.Catalog(ctx, x.tx.Queryer, schema, []string{""}); err != nil {
			return s.failure(ctx, err, "")
		}
		if !x.schemasNamed {
			continue // discovery warns of a default schema that does not exist
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
