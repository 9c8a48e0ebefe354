package sqlsource

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

var (
	_ OrderedJoiner = mysql{}
	_ Auditor       = mysql{}
)

// KeepOrder adds a limit beyond every table, without which the engine drops the
// order of a derived table.
func (mysql) KeepOrder(expr string) string { return " ORDER BY " + expr + " LIMIT 9223372036854775807" }

// Audit warns if the user sees no table at all: the engine does not say whether
// there are others.
func (mysql) Audit(ctx context.Context, q Queryer, schema string) ([]string, error) {
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
		wire.QuoteName(current.String))}, nil
}
