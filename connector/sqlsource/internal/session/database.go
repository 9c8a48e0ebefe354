package session

import (
	"context"
	"database/sql"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Database is what a source is made of: where tenants' databases come from, and how
// their engine is spoken to. It keeps nothing of a tenant between requests.
type Database struct {
	pool       *sql.DB // of the host; nil with openTenant
	openTenant func(context.Context, wire.Credentials) (*sql.DB, error)
	Flavor     *sqlengine.Flavor
	Options    Settings
	cache      tableCache
	shelves    connector.PerRequest[*shelf]
}

// NewDatabase returns the database of a source. One of pool and openTenant is nil.
func NewDatabase(
	pool *sql.DB, openTenant func(context.Context, wire.Credentials) (*sql.DB, error), flavor sqlengine.Flavor, options Settings,
) *Database {
	options.index()
	if flavor.Order == nil {
		flavor.Order = nullsLast
	}
	if flavor.Sum == nil {
		flavor.Sum = func(*sqlengine.Column, string) sqlengine.Sum { return sqlengine.Sum{} }
	}
	if flavor.State == nil {
		flavor.State = func(error) string { return "" }
	}
	return &Database{pool: pool, openTenant: openTenant, Flavor: &flavor, Options: options}
}

// nullsLast returns a term of ORDER BY in standard SQL.
func nullsLast(expr string, desc, nullable bool) string {
	if desc {
		expr += " DESC"
	}
	if nullable {
		expr += " NULLS LAST"
	}
	return expr
}

// OpenTable opens a session for a request about one table, and finds the table. The
// caller closes the session.
func (s *Database) OpenTable(ctx context.Context, creds wire.Credentials, call connector.Call) (*Session, *Relation, error) {
	x, err := s.Open(ctx, creds, call)
	if err != nil {
		return nil, nil, err
	}
	r, err := x.relation(ctx, call.Table)
	if err != nil {
		x.Close()
		return nil, nil, err
	}
	return x, r, nil
}

// Check connects, which proves the credentials, and looks for the schemas that the
// options name.
func Check(ctx context.Context, s *Database, req *wire.CheckRequest) error {
	return forPerson(s.check(ctx, req))
}

func (s *Database) check(ctx context.Context, req *wire.CheckRequest) error {
	x, err := s.Open(ctx, req.Credentials, connector.Call{Method: "Check"})
	if err != nil {
		return err
	}
	defer x.Close()
	for _, schema := range x.Schemas {
		// Some engines look at the file, or at the user's rights, only now.
		if _, _, err := s.Flavor.Catalog(ctx, x.Tx.Queryer, schema, []string{""}); err != nil {
			return s.Failure(ctx, err, "")
		}
		if !x.schemasNamed {
			continue // discovery warns of a default schema that does not exist
		}
		found, err := x.hasSchema(ctx, schema)
		if err != nil {
			return s.Failure(ctx, err, "")
		}
		if !found {
			return connector.CheckFailed("%s", noSchema(schema))
		}
	}
	return nil
}
