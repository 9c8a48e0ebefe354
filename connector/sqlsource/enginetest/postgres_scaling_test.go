package enginetest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// replica is a process of examples/sql.
type replica struct {
	address string
	process *os.Process
}

// example is the directory of examples/sql.
const example = "../../../examples/sql"

// replicas builds the example and starts it n times, for a server of an engine.
func replicas(t *testing.T, n int, engine, server string) []replica {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "sql")
	out, err := exec.Command("go", "build", "-C", example, "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	all := make([]replica, n)
	for i := range all {
		command := exec.Command(binary, "-db", engine, "-server", server)
		command.Env = []string{"PORT=0", "PLATFORM_CONNECTOR_TOKEN=" + token}
		stdout := testkit.Must(command.StdoutPipe())(t)
		started(t, command)
		line := testkit.Must(bufio.NewReader(stdout).ReadString('\n'))(t)
		_, port, err := net.SplitHostPort(strings.TrimSpace(line[strings.LastIndex(line, "/")+1:]))
		require.NoError(t, err, line)
		all[i] = replica{"127.0.0.1:" + port, command.Process}
	}
	return all
}

// behind starts HAProxy before two replicas, with the example's configuration,
// and returns its URL.
func behind(t *testing.T, a, b replica) string {
	t.Helper()
	program, err := exec.LookPath("haproxy")
	if err != nil {
		missing(t, "haproxy is not installed; apt-get install haproxy enables this test")
	}
	listener := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer func() { require.NoError(t, listener.Close()) }()
	file, err := listener.(*net.TCPListener).File() // HAProxy inherits the port, so nobody else can have it
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	command := exec.Command(program, "-db", "-f", filepath.Join(example, "haproxy.cfg"))
	command.ExtraFiles = []*os.File{file}
	command.Env = []string{"CONNECTOR_BIND=fd@3", "CONNECTOR_A=" + a.address, "CONNECTOR_B=" + b.address}
	started(t, command)
	return "http://" + listener.Addr().String()
}

// TestPostgresReplicasStream reads a row before the last one exists.
func TestPostgresReplicasStream(t *testing.T) {
	db := newPostgres(t)
	// The database sends rows on when it has some kilobytes of them. Beyond the
	// first ten, rows wait for a lock.
	db.execute(t, `CREATE VIEW halting AS
		SELECT n AS id, repeat('x', 20000) AS filler FROM generate_series(1, 10) AS n
		UNION ALL SELECT 11, 'last' FROM pg_advisory_xact_lock(42)`)
	both := replicas(t, 2, "postgres", postgresAddress())
	c := &client{url: behind(t, both[0], both[1]), credentials: db.tenant()}
	lock := testkit.Must(db.Conn(t.Context()))(t)
	defer func() { require.NoError(t, lock.Close()) }()
	testkit.Must(lock.ExecContext(t.Context(), `SELECT pg_advisory_lock(42)`))(t)

	answer := testkit.Must(c.query(t.Context(), "halting", "filler", 120_000))(t)
	defer func() { require.NoError(t, answer.Body.Close()) }()
	require.Equal(t, http.StatusOK, answer.StatusCode)
	stream := ndjson.NewReader(answer.Body)
	rows := 0
	for _, err := range stream.Rows() {
		require.NoError(t, err)
		rows++
		if rows == 1 {
			require.Len(t, postgres.statements(t.Context(), t, db.DB, `"halting"`), 1, "the last row does not exist yet")
			testkit.Must(lock.ExecContext(t.Context(), `SELECT pg_advisory_unlock(42)`))(t)
		}
	}
	require.Equal(t, 11, rows)
}

// TestPostgresReplicaKilled kills a replica under load: its streams are cut and the reader
// notices, the other's go on, and new requests succeed.
func TestPostgresReplicaKilled(t *testing.T) {
	const total = 60_000
	db := newPostgres(t)
	_, err := db.Exec(fmt.Sprintf(`CREATE VIEW long AS SELECT generate_series(1, %d) AS id, repeat('x', 1000) AS filler;
		CREATE TABLE short AS SELECT 1 AS id`, total))
	require.NoError(t, err)
	both := replicas(t, 2, "postgres", postgresAddress())
	c := &client{url: behind(t, both[0], both[1]), credentials: db.tenant()}
	killOne(t, c, both, total, func(streams int) {
		require.Len(t, postgres.statements(t.Context(), t, db.DB, `"long"`), streams, "all are in flight")
	})
}

// killOne kills a replica of two while both stream a table long of so many rows, and
// counts a table short of one row meanwhile. begun is told how many streams have begun.
func killOne(t *testing.T, c *client, both []replica, total int, whenBegun func(streams int)) {
	t.Helper()
	const streams = 6
	// Every stream is begun, and none has been read to its end.
	begun := make([]*ndjson.Reader, streams)
	for i := range begun {
		answer := testkit.Must(c.query(t.Context(), "long", "filler", 600_000))(t)
		defer func() { require.NoError(t, answer.Body.Close()) }()
		require.Equal(t, http.StatusOK, answer.StatusCode)
		begun[i] = ndjson.NewReader(answer.Body)
		for _, err := range begun[i].Rows() {
			require.NoError(t, err)
			break
		}
	}
	whenBegun(streams)
	require.NoError(t, both[0].process.Kill())

	for range 20 {
		answer, err := c.post(t.Context(), wire.PathCount, &wire.CountRequest{Table: "short", Envelope: c.envelope(60_000)})
		require.NoError(t, err)
		body := testkit.Must(io.ReadAll(answer.Body))(t)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusOK, answer.StatusCode, "%s", body)
		require.JSONEq(t, `{"count":1}`, string(body))
	}
	whole, cut := 0, 0
	for _, stream := range begun {
		rows, err := drain(stream)
		if err == nil {
			assert.Equal(t, total, rows+1, "a stream that looks complete is")
			whole++
			continue
		}
		var line *ndjson.LineError
		require.ErrorAs(t, err, &line)
		assert.True(t, errors.Is(err, io.ErrUnexpectedEOF), "%v", err)
		assert.Less(t, rows+1, total)
		cut++
	}
	assert.Equal(t, streams/2, cut, "the killed replica had half of the streams")
	assert.Equal(t, streams/2, whole)
}
