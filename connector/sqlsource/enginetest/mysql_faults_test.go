package enginetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestMySQLGone has a client leave long before the deadline. The driver only stops
// waiting, so the statement is killed. It computes: one that sleeps looks now and then
// whether its client is still there.
func TestMySQLGone(t *testing.T) {
	db := newMySQL(t)
	db.execute(t, "CREATE VIEW endless AS SELECT MAX(a.seq * b.seq) AS s FROM seq_1_to_1000000000 a, seq_1_to_1000000000 b")
	source := db.source(t, nil)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	ended := make(chan error, 1)
	go func() {
		_, err := source.Size(ctx, &wire.SizeRequest{Table: "endless", Envelope: wire.Envelope{Credentials: db.tenant()}})
		ended <- err
	}()
	t.Cleanup(func() {
		for _, id := range mariadb.statements(context.Background(), t, db.DB, "endless") {
			_, _ = db.Exec("KILL " + id)
		}
	})
	mariadb.eventuallyRun(t, &db.database, 1, "endless")
	leave()
	require.ErrorIs(t, <-ended, context.Canceled)
	mariadb.eventuallyRun(t, &db.database, 0, "endless")
}
