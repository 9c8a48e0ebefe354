package sqlsource

import "context"

var (
	_ SchemaFinder = postgres{}
	_ SchemaFinder = mysql{}
	_ SchemaFinder = sqlite{}
)

// HasSchema implements [SchemaFinder].
func (postgres) HasSchema(ctx context.Context, q Queryer, schema string) (found bool, err error) {
	err = q.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname::text = $1::text)", or(schema, "public")).
		Scan(&found)
	return found, err
}

// HasSchema implements [SchemaFinder]. A session without a database has no
// default schema.
func (mysql) HasSchema(ctx context.Context, q Queryer, schema string) (found bool, err error) {
	err = q.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM information_schema.SCHEMATA
		WHERE SCHEMA_NAME = COALESCE(NULLIF(?, ''), DATABASE()))`, schema).Scan(&found)
	return found, err
}

// HasSchema implements [SchemaFinder]. Temporary tables have a schema once there
// is one.
func (sqlite) HasSchema(ctx context.Context, q Queryer, schema string) (found bool, err error) {
	err = q.QueryRowContext(ctx, "SELECT ?1 = 'temp' OR EXISTS (SELECT 1 FROM pragma_database_list WHERE name = ?1)", or(schema, "main")).
		Scan(&found)
	return found, err
}
