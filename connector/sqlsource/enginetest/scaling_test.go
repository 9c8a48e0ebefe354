package enginetest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
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
		command.Env = []string{"PORT=0", "PLATFORM_CONNECTOR_TOKEN=" + connectortest.Token}
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
	c := &client{url: behind(t, both[0], both[1]), credentials: db.credentials}
	lock := testkit.Must(db.Conn(t.Context()))(t)
	defer func() { require.NoError(t, lock.Close()) }()
	testkit.Must(lock.ExecContext(t.Context(), `SELECT pg_advisory_lock(42)`))(t)

	answer := c.ask(t.Context(), t, `query {"table": "halting", "fields": ["filler"], "timeoutMs": 120000}`)
	require.Equal(t, http.StatusOK, answer.StatusCode)
	rows := 0
	for _, err := range ndjson.NewReader(answer.Body).Rows() {
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
	db.execute(t, fmt.Sprintf(`CREATE VIEW long AS SELECT generate_series(1, %d) AS id, repeat('x', 1000) AS filler;
		CREATE TABLE short AS SELECT 1 AS id`, total))
	both := replicas(t, 2, "postgres", postgresAddress())
	c := &client{url: behind(t, both[0], both[1]), credentials: db.credentials}
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
		answer := c.ask(t.Context(), t, `query {"table": "long", "fields": ["filler"], "timeoutMs": 600000}`)
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
		answer := c.ask(t.Context(), t, `count {"table": "short", "timeoutMs": 60000}`)
		require.Equal(t, http.StatusOK, answer.StatusCode)
		require.JSONEq(t, `{"count":1}`, string(testkit.Must(io.ReadAll(answer.Body))(t)))
	}
	whole, cut := 0, 0
	for _, stream := range begun {
		rows := 1
		var broken error
		for _, err := range stream.Rows() {
			if broken = err; err == nil {
				rows++
			}
		}
		if broken == nil {
			assert.Equal(t, total, rows, "a stream that looks complete is")
			whole++
			continue
		}
		var line *ndjson.LineError
		require.ErrorAs(t, broken, &line)
		assert.ErrorIs(t, broken, io.ErrUnexpectedEOF)
		assert.Less(t, rows, total)
		cut++
	}
	assert.Equal(t, streams/2, cut, "the killed replica had half of the streams")
	assert.Equal(t, streams/2, whole)
}

// askShards asks the requests of testdata/shards.txtar about a table orders, whose rows are on several
// servers by the column shop, and about a table whole with the same rows: the answers are the same. seen is
// called with the section of each, when orders was asked last; again asks orders once more.
func askShards(t *testing.T, db *database, seen func(t *testing.T, section string, again func())) {
	t.Helper()
	a := &situation.Asking{Tenant: db.caller(t, nil).Unverified()}
	for _, section := range situation.Open(t, "testdata/shards.txtar").Sections {
		asked := situation.Blocks(section.Text, func(r situation.Request) string {
			t.Run(r.Route+" "+r.Body, func(t *testing.T) {
				whole := situation.Request{Route: r.Route, Body: strings.Replace(r.Body, `"orders"`, `"whole"`, 1)}
				want := a.Answer(t, whole)
				require.Regexp(t, `^(\[|\d|shop )`, want, "an answer")
				require.Equal(t, want, a.Answer(t, r))
				seen(t, section.Name, func() { a.Answer(t, r) })
			})
			return ""
		})
		require.NotEmpty(t, asked, section.Name)
	}
}

// TestPostgresShards creates, as the example's SCALING.md says, a table orders that is partitioned by shop over two
// further databases, and a table whole with the same rows. It has aggregates computed by the shards, and compares every
// answer with that of the table in one piece.
func TestPostgresShards(t *testing.T) {
	t.Parallel()
	front := newPostgres(t)
	var without bool
	require.NoError(t, front.QueryRow(`SELECT NOT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'postgres_fdw')`).Scan(&without))
	if without {
		missing(t, "the server has no postgres_fdw; install its contrib package to enable this test")
	}
	var words []string
	for i := range 2 {
		shard := newPostgres(t)
		shard.execute(t, script(t, "shard_postgres"))
		at, password := shard.config, strings.ReplaceAll(shard.config.Password, "'", "''")
		for name, word := range map[string]string{
			"host": at.Host, "port": fmt.Sprint(at.Port), "name": at.Database, "user": at.User, "password": password,
		} {
			words = append(words, fmt.Sprintf("{%s%d}", name, i), word)
		}
	}
	front.execute(t, script(t, "shards_postgres", words...))
	front.execute(t, "ALTER DATABASE "+front.config.Database+" SET enable_partitionwise_aggregate = on")
	db, log := front.logged(t)
	askShards(t, db, func(t *testing.T, section string, _ func()) {
		var asked loggedStatement
		for _, s := range log.take() {
			if strings.Contains(s.query, "orders") {
				asked = s
			}
		}
		if section != "grouped" {
			return
		}
		conn := testkit.Must(db.DB.Conn(t.Context()))(t) // a pooler's sessions may be older than the setting of the database
		defer func() { require.NoError(t, conn.Close()) }()
		testkit.Must(conn.ExecContext(t.Context(), "SET enable_partitionwise_aggregate = on"))(t)
		plan := explained(t, conn, "EXPLAIN (VERBOSE, COSTS OFF) "+asked.query, asked.args)
		assert.Contains(t, plan, "Relations: Aggregate on ", plan)
		assert.Regexp(t, `Remote SQL: SELECT .*count\(\*\).* GROUP BY `, plan)
		const aggregate = `(?m)^QUERY PLAN= *(Group|Hash|Mixed|Partial|Finalize)? ?(Hash|Group)?Aggregate`
		assert.NotRegexp(t, aggregate, plan, "the server in front aggregates nothing")
	})
}

// TestMySQLSpider creates, as the example's SCALING.md says, a table orders of the engine Spider that is partitioned by
// shop over two further servers, and a table whole with the same rows. It has counts and groups computed by the shards,
// compares every answer with that of the table in one piece, and kills a replica of the connector.
func TestMySQLSpider(t *testing.T) {
	const long = 20_000 // rows of the table long
	front := newMySQLServer(t)
	admin := front.database(t, "root", "", "")
	if _, err := admin.Exec("INSTALL SONAME 'ha_spider'"); err != nil {
		var refused *mysql.MySQLError
		require.ErrorAs(t, err, &refused)
		missing(t, "MariaDB has no Spider; apt-get install mariadb-plugin-spider enables this test: %v", err)
	}
	var ports []string
	shards := make([]*mysqlDatabase, 2) // as administrators, to see what they were asked
	for i := range shards {
		server := newMySQLServer(t)
		shards[i] = server.database(t, "root", "", "")
		shards[i].execute(t, script(t, "shard_mysql", "{shop}", fmt.Sprint(3*i+1), "{rows}", fmt.Sprint(long/2)))
		ports = append(ports, fmt.Sprintf("{port%d}", i), fmt.Sprint(server.address.Port))
	}
	admin.execute(t, script(t, "shards_mysql", ports...))
	db := front.database(t, "reader", "typed", "shop")
	askShards(t, &db.database, func(t *testing.T, section string, again func()) {
		for _, shard := range shards {
			shard.execute(t, "TRUNCATE mysql.general_log; SET GLOBAL general_log = 1")
		}
		again()
		var asked []string
		for _, shard := range shards {
			shard.execute(t, "SET GLOBAL general_log = 0")
			asked = append(asked, linesOf(t, shard, "", "SELECT argument FROM mysql.general_log "+
				"WHERE command_type IN ('Query', 'Execute') AND argument LIKE '%`shop`.`orders`%' AND argument LIKE 'select %'")...)
		}
		require.NotEmpty(t, asked)
		t.Log(strings.Join(asked, "\n"))
		for _, statement := range asked {
			if section != "others" {
				assert.Contains(t, statement, "count(", "the shard counts")
			}
			if section == "grouped" {
				assert.Contains(t, statement, " group by ", "the shard groups")
			}
		}
	})
	both := replicas(t, 2, "mysql", front.address.String())
	killOne(t, &client{url: behind(t, both[0], both[1]), credentials: db.credentials}, both, long, func(int) {})
}
