package enginetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestMySQLGone has a client leave long before the deadline. The driver only stops
// waiting, so the statement is killed.
func TestMySQLGone(t *testing.T) {
	db := newMySQL(t)
	db.execute(t, "CREATE VIEW slow AS SELECT SLEEP(120) AS s")
	source := db.source(t, nil)
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := source.Size(ctx, &wire.SizeRequest{Table: "slow", Envelope: wire.Envelope{Credentials: db.tenant()}})
		ended <- err
	}()
	mariadb.eventuallyRun(t, &db.database, 1, "slow")
	leave()
	require.ErrorIs(t, <-ended, context.Canceled)
	mariadb.eventuallyRun(t, &db.database, 0, "slow") // long before the two minutes are over
}
