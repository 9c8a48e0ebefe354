package enginetest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestPostgresOneMoment answers a request as of one moment, although a row comes between
// its calls.
func TestPostgresOneMoment(t *testing.T) {
	db := newPostgres(t)
	db.execute(t, "CREATE TABLE t (id bigint PRIMARY KEY)")
	insert := func(ctx context.Context, call connector.Call, next func(context.Context) error) error {
		err := next(ctx)
		if call.Method == "Describe" {
			_, err = db.ExecContext(ctx, "INSERT INTO t SELECT count(*) FROM t")
		}
		return err
	}
	caller := connectortest.Start(t, db.definition(), db.source(t, nil), &connector.Options{Intercept: insert}).
		As(db.credentials).Unverified()
	for want := range int64(3) {
		n, err := caller.Count(wire.CountRequest{Table: "t"})
		require.NoError(t, err)
		require.Equal(t, want, n, "the rows of the requests before")
	}
}
