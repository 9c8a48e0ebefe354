package enginetest

import (
	"context"
	"crypto/tls"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var mariadb = engine{
	name: "mysql", key: "BIGINT", text: "VARCHAR(20)",
	create: func(t testing.TB) *database { return &newMySQL(t).database },
	plain: func(t testing.TB) *database { // its sessions are as the server has them
		return &newMySQL(t).as(t, func(c *mysql.Config) { c.Params = nil }).database
	},
	by: mysqlWith, reader: mysqlReader,
	schemas: mysqlSchemas, plans: mysqlPlans, server: mysqlServer,
	month: "DATE_FORMAT(moment, '%Y-%m')",
	conformance: conformanceOf{
		casesOf: 10,
		slow: func(t *testing.T, db *database) wire.Credentials {
			db.execute(t, `CREATE VIEW `+corpus.Slow().Name+` AS SELECT words.id, words.name
				FROM (SELECT 1 AS id, 'one' AS name UNION ALL SELECT 2, 'two' UNION ALL SELECT 3, 'three') AS words
				JOIN (SELECT SLEEP(25) AS waited) AS stall ON stall.waited = 0`)
			return db.tenant()
		},
		lingering: `CREATE VIEW lingering AS SELECT words.id, words.name
			FROM (SELECT 1 AS id, 'one' AS name UNION ALL SELECT 2, 'two') AS words JOIN (SELECT SLEEP(1) AS waited) AS stall ON stall.waited = 0`,
	},
	discovery: discoveryOf{
		wide:     []int{350, 700, 900},
		slow:     "SELECT 1 AS n, SLEEP(600) AS s",
		broken:   "SELECT seq AS i, CASE WHEN seq >= 150 THEN (SELECT 1 UNION SELECT 2) END AS x FROM seq_1_to_152",
		aboutAll: "information_schema",
	},
}

// mysqlSchemas returns a database beside another one.
func mysqlSchemas(t *testing.T) (*database, schemaNames) {
	db := newMySQL(t)
	names := schemaNames{one: db.config.DBName, two: newMySQL(t).config.DBName, across: true}
	db.execute(t, strings.NewReplacer("{1}", names.one, "{2}", names.two).Replace(`
		CREATE TABLE {1}.people (id BIGINT PRIMARY KEY); INSERT INTO {1}.people VALUES (1);
		CREATE TABLE {2}.people (id BIGINT PRIMARY KEY);
		CREATE TABLE {2}.orders (id BIGINT PRIMARY KEY, person BIGINT, FOREIGN KEY (person) REFERENCES {1}.people (id));
		INSERT INTO {2}.orders VALUES (1, 1)`))
	return &db.database, names
}

var mysqlPlans = plansOf{
	explain:  "EXPLAIN ",
	searched: `table=t0 .*key=%s `,
	ordered:  `table=t0 .*key=%s `,
	scans:    []string{`table=t0 type=ALL`, `type=index .*Using where`},
	sorts:    []string{`filesort`},
}

// mysqlDatabase is a database of MySQL or MariaDB, and how its user connects.
type mysqlDatabase struct {
	database
	config *mysql.Config
}

// mysqlAt returns how a user reaches a server.
func mysqlAt(address, user, password string) *mysql.Config {
	config := mysql.NewConfig()
	config.Net, config.Addr, config.Timeout = "tcp", address, 10*time.Second
	config.User, config.Passwd = user, password
	return config
}

// mysqlBy returns a database of a server, which need not exist.
func mysqlBy(t testing.TB, config *mysql.Config) *mysqlDatabase {
	t.Helper()
	driver := testkit.Must(mysql.NewConnector(config))(t)
	db := sql.OpenDB(driver)
	t.Cleanup(func() { _ = db.Close() })
	return &mysqlDatabase{config: config, database: database{
		DB: db, flavor: sqlsource.MySQL(), driver: driver,
		credentials: map[string]string{"user": config.User, "password": config.Passwd, "database": config.DBName},
		open: func(_ context.Context, c wire.Credentials) (*sql.DB, error) { // as examples/sql does
			own := config.Clone()
			own.User, own.Passwd, own.DBName = c.Get("user"), c.Get("password"), c.Get("database")
			driver, err := mysql.NewConnector(own)
			if err != nil {
				return nil, err
			}
			return sql.OpenDB(driver), nil
		},
		run: func(script string) error {
			several := config.Clone()
			several.Params, several.MultiStatements = nil, true
			driver, err := mysql.NewConnector(several)
			if err != nil {
				return err
			}
			db := sql.OpenDB(driver)
			defer func() { _ = db.Close() }()
			_, err = db.Exec(script)
			return err
		},
	}}
}

// newMySQL creates an empty database and drops it when the test ends. Its
// collation ignores case, and sessions have settings that would spoil answers.
func newMySQL(t testing.TB) *mysqlDatabase {
	t.Helper()
	address := setting("SQLSOURCE_MYSQL", "127.0.0.1:3306")
	config := mysqlAt(address, setting("SQLSOURCE_MYSQL_USER", "root"), os.Getenv("SQLSOURCE_MYSQL_PASSWORD"))
	admin := mysqlBy(t, config)
	if err := admin.PingContext(t.Context()); err != nil {
		missing(t, "no MySQL or MariaDB server answers at %s; set SQLSOURCE_MYSQL to its host:port, and SQLSOURCE_MYSQL_USER "+
			"and SQLSOURCE_MYSQL_PASSWORD to a user who may create databases: %v", address, err)
	}
	name := fmt.Sprintf("sqlsource_test_%016x", rand.Uint64())
	testkit.Must(admin.Exec("CREATE DATABASE " + name + " CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci"))(t)
	t.Cleanup(func() {
		testkit.Must(admin.ExecContext(context.Background(), "DROP DATABASE "+name))(t)
	})
	own := config.Clone()
	own.DBName = name
	own.Params = map[string]string{
		"time_zone": "'-03:30'", "sql_select_limit": "3", "sql_mode": "'ANSI,PAD_CHAR_TO_FULL_LENGTH,ALLOW_INVALID_DATES'",
	}
	return mysqlBy(t, own)
}

// as returns the same database as somebody else connects to it.
func (d *mysqlDatabase) as(t testing.TB, change func(*mysql.Config)) *mysqlDatabase {
	t.Helper()
	config := d.config.Clone()
	change(config)
	return mysqlBy(t, config)
}

// mysqlWith returns a database as a connection has it whose string has these options.
func mysqlWith(t testing.TB, db *database, options string) *database {
	t.Helper()
	config := testkit.Must(mysql.ParseDSN("/?" + options))(t)
	config.Net, config.Addr = "tcp", setting("SQLSOURCE_MYSQL", "127.0.0.1:3306")
	config.User, config.Passwd, config.DBName = db.credentials["user"], db.credentials["password"], db.credentials["database"]
	return &mysqlBy(t, config).database
}

// mysqlReader creates a user without privileges, and drops it when the test ends. It returns the
// user's name and the database as the user has it.
func mysqlReader(t testing.TB, db *database) (string, *database) {
	t.Helper()
	name := fmt.Sprintf("test_%016x", rand.Uint64())
	execute := func(statement string) {
		testkit.Must(db.ExecContext(context.Background(), statement))(t, statement)
	}
	execute("CREATE USER " + name + " IDENTIFIED BY 'secret'")
	t.Cleanup(func() { execute("DROP USER " + name) })
	return name, db.of(t, name, "secret")
}

// mysqlPacket returns a packet of the protocol, the first of a connection.
func mysqlPacket(body string) string {
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(body)))
	return string(head[:3]) + "\x00" + body
}

// mysqlRefuses answers with an error of the server in place of its greeting.
func mysqlRefuses(number uint16, text string) func(net.Conn) {
	return say(mysqlPacket("\xff" + string(binary.LittleEndian.AppendUint16(nil, number)) + "#HY000" + text))
}

// mysqlGreeting is that of a server that has no TLS.
const mysqlGreeting = "\x0a8.0.0\x00\x01\x00\x00\x0012345678\x00\x0d\xa2\x21\x02\x00\x08\x00\x15" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00123456789012\x00mysql_native_password\x00"

var mysqlServer = serverOf{
	at: func(t testing.TB, address string, encrypted bool) *database {
		config := mysqlAt(address, "ada", adasPassword)
		config.DBName = "shop"
		config.Logger = &mysql.NopLogger{}
		if encrypted {
			config.TLS = &tls.Config{ServerName: "db.test", MinVersion: tls.VersionTLS12}
		}
		return &mysqlBy(t, config).database
	},
	verifies: true,
	lock:     "LOCK TABLES t WRITE",
	unlock:   "UNLOCK TABLES",
	running: `SELECT ID FROM information_schema.PROCESSLIST
		WHERE DB = DATABASE() AND COMMAND <> 'Sleep' AND ID <> CONNECTION_ID() AND INFO LIKE ?`,
	kill: "KILL",
	refusals: []refusal{
		{"all connections are taken", mysqlRefuses(1040, "Too many connections"), false,
			"no free connection at the moment", wire.CodeTimeout},
		{"all connections of the user are taken", mysqlRefuses(1226, "User 'ada' has exceeded the 'max_user_connections' resource"), false,
			"no free connection at the moment", wire.CodeTimeout},
		{"it shuts down", mysqlRefuses(1053, "Server shutdown in progress"), false, "starting up or shutting down", wire.CodeTimeout},
		{"it demands TLS", mysqlRefuses(3159, "Connections using insecure transport are prohibited"), false,
			"switch TLS on", wire.CodeBadRequest},
		{"it has no TLS", say(mysqlPacket(mysqlGreeting)), true, "switch it off in the connector", wire.CodeBadRequest},
		{"a web server", func(c net.Conn) {
			say("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n")(c)
			_ = c.Close()
		}, false, "it is not MySQL or MariaDB", wire.CodeBadRequest},
		{"a shell, which waits for more", say("SSH-2.0-OpenSSH_9.6\r\n"), false,
			"does not answer as MySQL or MariaDB does", wire.CodeTimeout},
		{"a proxy without a server", func(c net.Conn) { _ = c.Close() }, false, "it is not MySQL or MariaDB", wire.CodeBadRequest},
		{"silence, as of PostgreSQL", func(net.Conn) {}, false, "does not answer as MySQL or MariaDB does", wire.CodeTimeout},
	},
}
