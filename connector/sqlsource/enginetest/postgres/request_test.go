package postgres

import (
	"context"
	"database/sql"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// BenchmarkRequest measures what a tenant's request costs besides its statement.
//
//	go test -run '^$' -bench Request .
func BenchmarkRequest(b *testing.B) {
	db, own := database(b)
	_, err := db.Exec("CREATE TABLE t (id bigint PRIMARY KEY, name text); INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
	require.NoError(b, err)
	suite.Request(b, definition, newSource(b, own, nil), credentials(own), func() (*sql.DB, error) {
		return stdlib.OpenDB(*own), nil
	})
}

// TestOneConnection connects once for all that a request asks.
func TestOneConnection(t *testing.T) {
	db, own := database(t)
	_, err := db.Exec("CREATE TABLE t (id bigint PRIMARY KEY); CREATE TABLE u (id bigint PRIMARY KEY)")
	require.NoError(t, err)
	suite.OneConnection(t, definition, sqlsource.PostgreSQL(), opener(own), credentials(own))
}

// TestOneMoment answers a request as of one moment, although a row comes between
// its calls.
func TestOneMoment(t *testing.T) {
	db, own := database(t)
	_, err := db.Exec("CREATE TABLE t (id bigint PRIMARY KEY)")
	require.NoError(t, err)
	insert := func(ctx context.Context, call connector.Call, next func(context.Context) error) error {
		err := next(ctx)
		if call.Method == "Describe" {
			_, err = db.ExecContext(ctx, "INSERT INTO t SELECT count(*) FROM t")
		}
		return err
	}
	caller := connectortest.Start(t, definition, newSource(t, own, nil), &connector.Options{Intercept: insert}).As(credentials(own)).Unverified()
	for want := range int64(3) {
		n, err := caller.Count(wire.CountRequest{Table: "t"})
		require.NoError(t, err)
		require.Equal(t, want, n, "the rows of the requests before")
	}
}
