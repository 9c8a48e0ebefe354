package mysql

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// audit warns if the user sees no table at all: the engine does not say whether
// there are others.
func audit(ctx context.Context, q sqlengine.Queryer, schema string) ([]string, error) {
	var current sql.NullString
	var tables int
	err := q.QueryRowContext(ctx, `SELECT s.name, (SELECT COUNT(*) FROM information_schema.TABLES t WHERE t.TABLE_SCHEMA = s.name)
		FROM (SELECT COALESCE(NULLIF(?, ''), DATABASE()) AS name) s`, schema).Scan(&current, &tables)
	switch {
	case err != nil || tables > 0:
		return nil, err
	case !current.Valid:
		return []string{"No database is chosen, so there are no tables: name one."}, nil
	}
	return []string{fmt.Sprintf("The user may read no table of the database %s, or it has none: GRANT SELECT ON %[1]s.* to the user.",
		terms.QuoteName(current.String))}, nil
}
