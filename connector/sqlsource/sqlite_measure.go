package sqlsource

import "context"

var (
	_ DistinctCounter = sqlite{}
	_ Auditor         = sqlite{}
)

// DistinctMany sorts the values. SQLite's COUNT(DISTINCT) puts them into a tree,
// one by one, which is slow once it does not fit the cache.
func (sqlite) DistinctMany(expr, from string) string {
	return "(SELECT COUNT(k) FROM (SELECT " + expr + " AS k FROM " + from + " GROUP BY 1))"
}

// Audit warns of a database without tables: SQLite has no privileges.
func (f sqlite) Audit(ctx context.Context, q Queryer, schema string) ([]string, error) {
	var empty bool
	err := q.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pragma_database_list WHERE name = ?1)
		AND NOT EXISTS (SELECT 1 FROM pragma_table_list
			WHERE schema = ?1 AND type IN ('table', 'view', 'virtual') AND name NOT LIKE 'sqlite\_%' ESCAPE '\')`, or(schema, "main")).Scan(&empty)
	if err != nil || !empty {
		return nil, err
	}
	return []string{"The database has no tables."}, nil
}
