package suite

import (
	"context"
	"database/sql"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// OneConnection checks that a request opens a tenant's database once, however
// often the library calls the source, and closes it when it ends. The context of
// each call ends with the call. The tables t and u of the database have a column
// id; no rows are needed.
func OneConnection(t *testing.T, d connector.Definition, f sqlsource.Flavor, open sqlsource.Open, creds map[string]string) {
	var mu sync.Mutex
	var opened []*sql.DB
	src, err := sqlsource.NewPerTenant(func(ctx context.Context, c wire.Credentials) (*sql.DB, error) {
		db, err := open(ctx, c)
		mu.Lock()
		defer mu.Unlock()
		opened = append(opened, db)
		return db, err
	}, f, nil)
	require.NoError(t, err)
	options := &connector.Options{Intercept: func(ctx context.Context, _ connector.Call, next func(context.Context) error) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		return next(ctx)
	}}
	caller := connectortest.Start(t, d, src, options).As(creds).Unverified()
	envelope := wire.Envelope{Credentials: wire.NewCredentials(creds)}
	left, leave := context.WithCancel(t.Context())
	leave()
	query := wire.QueryRequest{Table: "t", Sort: []wire.SortKey{}, Fields: []string{"id"}}
	joined := query
	joined.Joins = []wire.JoinHop{{FromTable: "t", ToTable: "u", FromField: "id", ToField: "id", Fields: []wire.JoinField{}}}
	unknown := query
	unknown.Fields = []string{"none"}
	for _, c := range []struct {
		why  string
		ask  func() error
		want error
	}{
		{"/check", caller.Check, nil},
		{"/discovery", func() error { _, err := caller.Discover(); return err }, nil},
		{"Describe, then Size", func() error { _, err := caller.Size("t"); return err }, nil},
		{"Describe, then Query", func() error { _, err := caller.Query(query); return err }, nil},
		{"Describe three times, then QueryJoined", func() error { _, err := caller.Query(joined); return err }, nil},
		{"Describe twice, then LinkHitRate", func() error {
			_, err := caller.LinkHitRate(wire.LinkHitRateRequest{FromTable: "t", FromColumn: "id", ToTable: "u", ToColumn: "id"})
			return err
		}, nil},
		{"Describe, then a refusal of the library", func() error { _, err := caller.Query(unknown); return err }, connector.ErrUnknownEntity},
		{"outside of a request", func() error {
			_, err := src.Count(t.Context(), &wire.CountRequest{Table: "t", Envelope: envelope})
			return err
		}, nil},
		{"a client that has left", func() error {
			_, err := src.Count(left, &wire.CountRequest{Table: "t", Envelope: envelope})
			return err
		}, context.Canceled},
		{"an unknown table", func() error { _, err := caller.Size("none"); return err }, connector.ErrUnknownEntity},
	} {
		opened = nil
		assert.ErrorIs(t, c.ask(), c.want, c.why)
		mu.Lock()
		if assert.Len(t, opened, 1, c.why) {
			assert.ErrorContains(t, opened[0].PingContext(t.Context()), "database is closed", c.why)
		}
		mu.Unlock()
	}
}
