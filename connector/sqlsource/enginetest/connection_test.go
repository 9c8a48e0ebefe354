package enginetest

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
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestOneConnection checks that a request opens a tenant's database once, however
// often the library calls the source, and closes it when it ends. The context of
// each call ends with the call.
func TestOneConnection(t *testing.T) {
	onEach(t, func(t *testing.T, e *engine) {
		db := e.create(t)
		db.execute(t, "CREATE TABLE t (id BIGINT PRIMARY KEY); CREATE TABLE u (id BIGINT PRIMARY KEY)")
		connectOnce(t, db)
	})
}

func connectOnce(t *testing.T, d *database) {
	var mu sync.Mutex
	var opened []*sql.DB
	src := testkit.Must(sqlsource.NewPerTenant(func(ctx context.Context, c wire.Credentials) (*sql.DB, error) {
		db, err := d.open(ctx, c)
		mu.Lock()
		defer mu.Unlock()
		opened = append(opened, db)
		return db, err
	}, d.flavor, nil))(t)
	options := &connector.Options{Intercept: func(ctx context.Context, _ connector.Call, next func(context.Context) error) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		return next(ctx)
	}}
	caller := connectortest.Start(t, d.definition(), src, options).As(d.credentials).Unverified()
	envelope := wire.Envelope{Credentials: d.tenant()}
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
		{"Describe, then a refusal of the library", func() error { _, err := caller.Query(unknown); return err }, &wire.Error{Code: wire.CodeUnknownEntity}},
		{"outside of a request", func() error {
			_, err := src.Count(t.Context(), &wire.CountRequest{Table: "t", Envelope: envelope})
			return err
		}, nil},
		{"a client that has left", func() error {
			_, err := src.Count(left, &wire.CountRequest{Table: "t", Envelope: envelope})
			return err
		}, context.Canceled},
		{"an unknown table", func() error { _, err := caller.Size("none"); return err }, &wire.Error{Code: wire.CodeUnknownEntity}},
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

// BenchmarkRequest measures what a tenant's request costs besides its statement: one
// /count, against the driver that opens the same database and counts the same rows.
//
//	go test -run '^$' -bench Request .
func BenchmarkRequest(b *testing.B) {
	for _, e := range []*engine{&postgres, &mariadb} {
		b.Run(e.name, func(b *testing.B) { measureRequest(b, e.create(b)) })
	}
}

func measureRequest(b *testing.B, d *database) {
	d.execute(b, "CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT); INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
	asked := d.asked(b, nil)
	count := &wire.CountRequest{Table: "t", Envelope: wire.Envelope{Credentials: d.tenant(), TimeoutMS: 30_000}}
	b.Run("connector", func(b *testing.B) {
		for b.Loop() {
			require.JSONEq(b, `{"count":3}`, asked.Post(b, wire.PathCount, count).Body.String())
		}
	})
	b.Run("driver", func(b *testing.B) {
		for b.Loop() {
			db := testkit.Must(d.open(b.Context(), d.tenant()))(b)
			var n int64
			require.NoError(b, db.QueryRowContext(b.Context(), "SELECT COUNT(*) FROM t").Scan(&n))
			require.NoError(b, db.Close())
			require.Equal(b, int64(3), n)
		}
	})
}
