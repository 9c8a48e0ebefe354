package enginetest

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestMySQLBlob reads bytes as they are: as base64, the server takes the square of
// their length.
func TestMySQLBlob(t *testing.T) {
	db := newMySQL(t)
	db.execute(t, "CREATE TABLE t (id INT PRIMARY KEY, body LONGBLOB)")
	large := bytes.Repeat([]byte{0, 0xff, 0x10, 0xab, 'A'}, 1<<20)
	for id, body := range [][]byte{large, []byte("\x00\xfftext"), {}} {
		testkit.Must(db.Exec("INSERT INTO t VALUES (?, ?)", id, body))(t)
	}
	caller := db.caller(t, nil).Unverified()
	start := time.Now()
	answer := testkit.Must(caller.Query(wire.QueryRequest{
		Table: "t", Fields: []string{"body"}, Sort: []wire.SortKey{{Field: "id", Dir: wire.Asc}},
		Envelope: wire.Envelope{TimeoutMS: 120_000}, // for the race detector on a busy machine
	}))(t)
	t.Logf("5 MB in %v", time.Since(start).Round(time.Millisecond))
	require.Equal(t, wire.Bytes(large), answer.Rows[0][0])
	require.Equal(t, "AP90ZXh0", answer.Rows[1][0].Text())
	require.Equal(t, "", answer.Rows[2][0].Text())
}

// TestMySQLUnread warns if the user may read nothing, and of keys that are left out.
func TestMySQLUnread(t *testing.T) {
	db, other := newMySQL(t), newMySQL(t)
	own := db.config.DBName
	db.execute(t, "CREATE TABLE t (id BIGINT PRIMARY KEY)")
	other.execute(t, "CREATE TABLE u (id BIGINT PRIMARY KEY, t BIGINT, FOREIGN KEY (t) REFERENCES "+own+".t (id))")
	_, warnings := other.discover(t, nil, time.Hour)
	assert.Equal(t, `In table "u", the foreign key ("t") is left out `+
		`because the table that it leads to is in a schema that is not served.`, warnings)
	other.execute(t, "DROP TABLE u")

	user, _ := mysqlReader(t, &other.database)
	reader := other.as(t, func(c *mysql.Config) { c.User, c.Passwd, c.DBName = user, "secret", "" })
	tables, warnings := reader.discover(t, &sqlsource.Options{Schemas: func(wire.Credentials) []string { return []string{own} }}, time.Hour)
	assert.Empty(t, tables)
	assert.Contains(t, warnings,
		fmt.Sprintf(`The user may read no table of the database %q, or it has none: GRANT SELECT ON %[1]q.* to the user.`, own))
	_, warnings = reader.discover(t, nil, time.Hour)
	assert.Contains(t, warnings, "No database is chosen, so there are no tables: name one.")
}

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
