package enginetest

import (
	"cmp"
	"context"
	"crypto/tls"
	"database/sql"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
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
	by: func(t testing.TB, db *database, options string) *database {
		config := testkit.Must(mysql.ParseDSN("/?" + options))(t)
		config.Net, config.Addr = "tcp", cmp.Or(os.Getenv("SQLSOURCE_MYSQL"), "127.0.0.1:3306")
		config.User, config.Passwd, config.DBName = db.credentials["user"], db.credentials["password"], db.credentials["database"]
		return &mysqlBy(t, config).database
	},
	reader: mysqlReader,
	plans:  mysqlPlans, server: mysqlServer,
	schemas: func(t *testing.T) (*database, schemaNames) {
		db := newMySQL(t)
		names := schemaNames{one: db.config.DBName, two: newMySQL(t).config.DBName, across: true}
		db.execute(t, script(t, "schemas_mysql", "{one}", names.one, "{two}", names.two))
		return &db.database, names
	},
	month: "DATE_FORMAT(moment, '%Y-%m')",
	conformance: conformanceOf{
		casesOf: 10,
		slow: func(t *testing.T, db *database) wire.Credentials {
			db.execute(t, script(t, "slow_mysql", "{slow}", corpus.Slow().Name))
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
	address := cmp.Or(os.Getenv("SQLSOURCE_MYSQL"), "127.0.0.1:3306")
	config := mysqlAt(address, cmp.Or(os.Getenv("SQLSOURCE_MYSQL_USER"), "root"), os.Getenv("SQLSOURCE_MYSQL_PASSWORD"))
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
	refuses: func(number, text string) func(net.Conn) { // in place of the greeting
		return func(conn net.Conn) {
			code, _ := strconv.ParseUint(number, 10, 16)
			body := "\xff" + string(binary.LittleEndian.AppendUint16(nil, uint16(code))) + "#HY000" + text
			_, _ = conn.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...)) // the last byte counts packets
		}
	},
}
