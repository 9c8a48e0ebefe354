package enginetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/pgxrows"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
)

// endless has more rows than anyone reads, which come one by one.
const endless = `CREATE VIEW endless AS SELECT generate_series(1, 1000000000) AS id`

// TestPostgresClientLeaves ends the statement on the server when the reader has left.
func TestPostgresClientLeaves(t *testing.T) {
	db := newPostgres(t)
	db.execute(t, endless)
	for name, flavor := range map[string]sqlengine.Flavor{"sql": sqlsource.PostgreSQL(), "pgxrows": pgxrows.PostgreSQL()} {
		t.Run(name, func(t *testing.T) {
			c := db.with(flavor).client(t)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			answer, err := c.query(ctx, "endless", "id", 600_000)
			require.NoError(t, err)
			for _, err := range ndjson.NewReader(answer.Body).Rows() {
				require.NoError(t, err)
				break
			}
			require.Len(t, postgres.statements(t.Context(), t, db.DB, `"endless"`), 1, "it goes on")
			leave()
			_ = answer.Body.Close()
			postgres.eventuallyRun(t, &db.database, 0, `"endless"`)
		})
	}
}
