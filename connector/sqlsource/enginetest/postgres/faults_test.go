package postgres

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// tenant returns a tenant of the connector over base.
func tenant(t *testing.T, base *pgx.ConnConfig, own *pgx.ConnConfig) *connectortest.Tenant {
	t.Helper()
	return connectortest.Start(t, definition, newSource(t, base, nil), nil).As(credentials(own)).Unverified()
}

// TestRejected tells the person who typed the credentials what is wrong, on
// /check, and refuses the request on every other route.
func TestRejected(t *testing.T) {
	_, own := database(t)
	for _, c := range []struct {
		why    string
		change func(*pgx.ConnConfig)
		want   string
		code   error // on every other route
	}{
		{"no such user", func(c *pgx.ConnConfig) { c.User = "nobody-of-this-name" }, "user name or the password", connector.ErrBadRequest},
		{"no such database", func(c *pgx.ConnConfig) { c.Database = "no-database-of-this-name" },
			"no database of this name", connector.ErrBadRequest},
		{"nobody listens", func(c *pgx.ConnConfig) { c.Port = 1 }, "cannot be reached", connector.ErrTimeout},
	} {
		t.Run(c.why, func(t *testing.T) {
			wrong := own.Copy()
			wrong.Password = "secret-7f3a"
			c.change(wrong)
			caller := tenant(t, wrong, wrong)
			err := caller.Check()
			require.ErrorIs(t, err, connector.ErrCheckFailed)
			assert.Contains(t, err.Error(), c.want)
			_, err = caller.Size("t")
			assert.ErrorIs(t, err, c.code)
			for _, secret := range []string{wrong.Password, wrong.User, wrong.Host, "no-database-of-this-name"} {
				assert.NotContains(t, err.Error(), secret)
			}
		})
	}
}

// TestBlocked holds a lock beyond the deadline: the answer is 408, and the
// statement is gone from the server.
func TestBlocked(t *testing.T) {
	db, own := database(t)
	_, err := db.Exec("CREATE TABLE t (id bigint PRIMARY KEY)")
	require.NoError(t, err)
	tx, err := db.Begin()
	require.NoError(t, err)
	defer func() { _ = tx.Rollback() }()
	_, err = tx.Exec("LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
	require.NoError(t, err)
	_, err = tenant(t, own, own).Count(wire.CountRequest{Table: "t", Envelope: wire.Envelope{TimeoutMS: 700}})
	require.ErrorIs(t, err, connector.ErrTimeout)
	gone := func() bool {
		var n int
		require.NoError(t, db.QueryRow(`SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND state = 'active' AND wait_event_type = 'Lock'`).Scan(&n))
		return n == 0
	}
	require.Eventually(t, gone, time.Minute, 10*time.Millisecond)
}

// TestDropped drops a table after it was discovered: it does not exist (404).
func TestDropped(t *testing.T) {
	db, own := database(t)
	_, err := db.Exec("CREATE TABLE t (id bigint PRIMARY KEY); CREATE TABLE u (id bigint PRIMARY KEY)")
	require.NoError(t, err)
	caller := tenant(t, own, own)
	d, err := caller.Discover()
	require.NoError(t, err)
	require.Len(t, d.Tables, 2)
	_, err = db.Exec("DROP TABLE t")
	require.NoError(t, err)
	_, err = caller.Query(wire.QueryRequest{Table: "t", Sort: []wire.SortKey{}, Fields: []string{"id"}})
	require.ErrorIs(t, err, connector.ErrUnknownEntity)

	// With a description that is remembered, the statement finds out.
	src, err := sqlsource.New(db, sqlsource.PostgreSQL(), &sqlsource.Options{Remember: time.Hour})
	require.NoError(t, err)
	keeper := connectortest.Start(t, connector.Definition{Slug: "keeper"}, src, nil).As(nil).Unverified()
	_, err = keeper.Size("u")
	require.NoError(t, err)
	_, err = db.Exec("DROP TABLE u")
	require.NoError(t, err)
	_, err = keeper.Size("u")
	require.ErrorIs(t, err, connector.ErrUnknownEntity)
}

// TestKilled ends the server's process in the middle of a stream: the stream
// ends in an error line, and the next request is served.
func TestKilled(t *testing.T) {
	db, own := database(t)
	_, err := db.Exec(`CREATE TABLE t (id bigint PRIMARY KEY, filler text);
		INSERT INTO t SELECT n, repeat('x', 1000) FROM generate_series(1, 200000) n`)
	require.NoError(t, err)
	caller := tenant(t, own, own)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	killed := make(chan error, 1)
	go func() {
		for ctx.Err() == nil {
			var n int
			err := db.QueryRowContext(ctx, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
				WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%filler%' AND state = 'active'`).Scan(&n)
			if err != nil || n > 0 {
				killed <- err
				return
			}
		}
	}()
	answer, err := caller.Query(wire.QueryRequest{Table: "t", Sort: []wire.SortKey{}, Fields: []string{"id", "filler"}})
	require.Equal(t, wire.CodeTimeout, suite.Code(err), "%v", err)
	require.NoError(t, <-killed)
	if answer != nil {
		require.Less(t, len(answer.Rows), 200000)
	}
	n, err := caller.Count(wire.CountRequest{Table: "t"})
	require.NoError(t, err)
	require.Equal(t, int64(200000), n)
}

// TestGranted lists what the user may read and nothing else, and warns of a table
// that the host serves but the user may not read.
func TestGranted(t *testing.T) {
	db, own := database(t)
	role := own.Database + "_reader"
	_, err := db.Exec(`CREATE TABLE open (id bigint PRIMARY KEY, secret text, shown text, UNIQUE (secret));
		CREATE TABLE closed (id bigint PRIMARY KEY);
		CREATE TABLE child (a bigint, b bigint, PRIMARY KEY (a, b), closed bigint REFERENCES closed, open bigint REFERENCES open);
		COMMENT ON TABLE open IS 'What is open.'; COMMENT ON COLUMN open.shown IS 'What is shown.';
		CREATE ROLE ` + role + ` LOGIN; GRANT SELECT (id, shown) ON open TO ` + role + `; GRANT SELECT ON child TO ` + role)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := db.ExecContext(context.Background(), "DROP OWNED BY "+role+"; DROP ROLE "+role)
		require.NoError(t, err)
	})
	src := newSource(t, own, &sqlsource.Options{Only: []string{"open", "closed", "child"}})
	caller := connectortest.Start(t, definition, src, nil).As(map[string]string{"user": role, "database": own.Database})
	d, err := caller.Discover()
	require.NoError(t, err)
	require.Len(t, d.Tables, 2)
	child, open := d.Tables[0], d.Tables[1]
	assert.Equal(t, []string{"a", "b"}, child.PrimaryKey)
	assert.Equal(t, []wire.ForeignKey{{Field: "open", TargetTable: "open", TargetField: "id"}}, child.ForeignKeys)
	assert.Equal(t, "What is open.", open.SourceDescription)
	require.Len(t, open.Fields, 2)
	assert.Equal(t, "What is shown.", open.Fields[1].SourceDescription)
	assert.True(t, open.Fields[0].Unique)
	require.Len(t, d.Warnings, 2)
	assert.Contains(t, d.Warnings[0], `These tables are not in this database, or its user may not read them: "closed".`)
	assert.Contains(t, d.Warnings[1], `In table "child", the foreign key ("closed") is left out`)
	_, err = caller.Size("closed")
	require.ErrorIs(t, err, connector.ErrUnknownEntity)
}
