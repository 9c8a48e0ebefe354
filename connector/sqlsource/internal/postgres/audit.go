package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// audit counts the tables that the user may not read, without their names.
func audit(ctx context.Context, q sqlengine.Queryer, schema string) ([]string, error) {
	schema = cmp.Or(schema, "public")
	var usable bool
	var tables, unread int
	err := q.QueryRowContext(ctx, `SELECT has_schema_privilege(n.oid, 'USAGE'), count(c.oid),
		count(CASE WHEN NOT has_any_column_privilege(c.oid, 'SELECT') THEN 1 END)
		FROM pg_catalog.pg_namespace n
		LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
		WHERE n.nspname = $1::text::name GROUP BY n.oid`, schema).Scan(&usable, &tables, &unread)
	name := terms.QuoteName(schema)
	warning := ""
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil // there is no such schema
	case err != nil:
		return nil, err
	case tables == 0:
		warning = fmt.Sprintf("The schema %s has no tables.", name)
	case !usable:
		warning = fmt.Sprintf("The user may read no table of the schema %s: "+
			"GRANT USAGE ON SCHEMA %[1]s to the user, and SELECT on its tables.", name)
	case unread == tables:
		warning = fmt.Sprintf("The user may read no table of the schema %s: GRANT SELECT ON ALL TABLES IN SCHEMA %[1]s to the user.", name)
	case unread > 0:
		warning = fmt.Sprintf("Of the tables and views in the schema %s, %d are left out because the user may not read them: "+
			"GRANT SELECT on those that are to be served.", name, unread)
	default:
		return nil, nil
	}
	return []string{warning}, nil
}

// omittedKeys adds the primary keys that keys leaves out, with the reason.
func omittedKeys(ctx context.Context, q sqlengine.Queryer, visible string, args []any, tables map[string]*sqlengine.Table) error {
	statement := `SELECT ` + nameBytes("c.relname") + `, i.indimmediate, ` + nameBytes("a.attname") + `
		FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
		JOIN pg_catalog.pg_index i ON i.indrelid = c.oid AND i.indisprimary
		CROSS JOIN LATERAL unnest(i.indkey::smallint[]) WITH ORDINALITY u(col, at)
		JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.col
		WHERE ` + visible + ` AND u.at <= i.indnkeyatts AND (NOT i.indimmediate OR c.relkind = 'r'
			AND EXISTS (SELECT 1 FROM pg_catalog.pg_inherits h WHERE h.inhparent = c.oid))
		ORDER BY c.relname, u.at`
	return sqlengine.Each(ctx, q, statement, args, func(scan func(...any) error) error {
		var table, column string
		var immediate bool
		if err := scan(&table, &immediate, &column); err != nil {
			return err
		}
		reason := "other tables inherit from the table, and it does not bind their rows"
		if !immediate {
			reason = "it is deferrable, so that a transaction may see it broken"
		}
		if t := tables[table]; t != nil {
			t.Keys = append(t.Keys, sqlengine.Key{Kind: sqlengine.PrimaryKey, Columns: []string{column}, Omitted: reason})
		}
		return nil
	})
}
