// Package firebird_test proves that the door for engines fits Firebird 3, which differs
// from the engines of sqlsource more than these do from each other: its window stands
// behind SELECT, every SELECT needs a table, texts are compared with padding, and one
// statement binds little. It is a test of docs/engines.md, by which the flavor was
// written, and not a product.
//
// The tests start a server of their own. Without Firebird (Debian's packages
// firebird3.0-server and firebird3.0-utils) they are skipped; with CI=true they fail.
package firebird_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	_ "github.com/nakagami/firebirdsql"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// installed is where Debian puts what a server reads besides its own directory.
const installed = "/usr/lib/x86_64-linux-gnu/firebird/3.0"

// password is that of the server's only user.
const password = "masterkey"

// start starts a server with an empty database, and returns the database's address.
func start(t *testing.T) string {
	t.Helper()
	for _, program := range []string{"firebird", "isql-fb"} {
		if _, err := exec.LookPath(program); err != nil {
			message := "needs " + program + "; install firebird3.0-server and firebird3.0-utils to enable this test"
			if os.Getenv("CI") == "true" {
				t.Fatal(message)
			}
			t.Skip(message)
		}
	}
	home := t.TempDir()
	listener := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	_, port, _ := strings.Cut(address, ":")
	settings := "SecurityDatabase = " + filepath.Join(home, "security3.fdb") + "\nRemoteServicePort = " + port +
		"\nRemoteBindAddress = 127.0.0.1\n"
	require.NoError(t, os.WriteFile(filepath.Join(home, "firebird.conf"), []byte(settings), 0o600))
	for _, name := range []string{"plugins.conf", "firebird.msg"} {
		require.NoError(t, os.Symlink(filepath.Join(installed, name), filepath.Join(home, name)))
	}
	// The server does not load character sets by a link.
	require.NoError(t, os.CopyFS(filepath.Join(home, "intl"), os.DirFS(filepath.Join(installed, "intl"))))
	environment := append(os.Environ(), "FIREBIRD="+home, "FIREBIRD_LOCK="+home, "FIREBIRD_TMP="+home)
	script := exec.Command("isql-fb", "-q", "-user", "SYSDBA")
	script.Env = environment
	script.Stdin = strings.NewReader("CREATE DATABASE '" + filepath.Join(home, "security3.fdb") + "';\n" +
		"CREATE USER SYSDBA PASSWORD '" + password + "';\nCOMMIT;\n")
	out, err := script.CombinedOutput()
	require.NoError(t, err, "%s", out)
	server := exec.Command("firebird")
	server.Env = environment
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	// Srp256 is not in version 3's default list of ways to authenticate.
	dsn := "SYSDBA:" + password + "@" + address + filepath.Join(home, "test.fdb") + "?charset=UTF8&auth_plugin_name=Srp"
	created := testkit.Must(sql.Open("firebirdsql_createdb", dsn))(t)
	defer func() { require.NoError(t, created.Close()) }()
	require.Eventually(t, func() bool { err = created.Ping(); return err == nil }, 20*time.Second, 50*time.Millisecond, "the server starts")
	return dsn
}

// open opens the database.
func open(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	db := testkit.Must(sql.Open("firebirdsql", dsn))(t)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// quoted returns a text in SQL, as the bytes of its UTF-8.
func quoted(s string) string { return fmt.Sprintf("_UTF8 x'%x'", s) }

// each returns a literal for each text, quoted in SQL, with the cell that is made of it.
func each(cell func(string) wire.Value, texts ...string) []sqlsourcetest.Literal {
	var list []sqlsourcetest.Literal
	for _, s := range texts {
		list = append(list, sqlsourcetest.Literal{SQL: "'" + s + "'", Cell: cell(s)})
	}
	return list
}

func literal(sql string, cell wire.Value) sqlsourcetest.Literal {
	return sqlsourcetest.Literal{SQL: sql, Cell: cell}
}

func integer(s string) wire.Value {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		panic(err)
	}
	return wire.Int(n)
}

func float(s string) wire.Value {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(err)
	}
	return wire.Float(f)
}

func day(s string) wire.Value {
	at, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return wire.Date(at)
}

func moment(s string) wire.Value {
	at, err := time.Parse("2006-01-02 15:04:05.9999", s)
	if err != nil {
		panic(err)
	}
	return wire.DatetimeWidth(at, 6)
}

var texts = sqlsourcetest.Texts(quoted, "", " ", "a", "A", "a ", "a  ", "ab", "abc", "é", "e\u0301", "ß", "z", "Z", "%", "a%b", "a_b", `\`, "'",
	`"`, "1", "1.0", "01", "true", "null", "2024-02-29", "😀", "\uffff", "a\nb", "a\x00b", "\x00", "a\x00", "a\x00\x00", "a\x00\x01", "a\x01")

var columns = []sqlsourcetest.Type{
	{Name: "text", SQL: "VARCHAR(40)", Type: wire.TypeString, Literals: texts},
	{Name: "nocase", SQL: "VARCHAR(40) CHARACTER SET UTF8 COLLATE UNICODE_CI", Type: wire.TypeString, Literals: texts},
	{Name: "latin", SQL: "VARCHAR(20) CHARACTER SET WIN1252", Type: wire.TypeString,
		Literals: sqlsourcetest.Texts(quoted, "", "a", "é", "€", "ß", "a ", "Z")},
	{Name: "padded", SQL: "CHAR(5)", Type: wire.TypeString, Literals: append(sqlsourcetest.Texts(quoted, "", "a", "abcde"),
		literal("'a '", wire.Text("a")))},
	{Name: "long", SQL: "VARCHAR(8000)", Type: wire.TypeString, Literals: sqlsourcetest.Texts(quoted, "a", "b ", "é")},
	{Name: "memo", SQL: "BLOB SUB_TYPE TEXT", Type: wire.TypeString, Literals: sqlsourcetest.Texts(quoted, "a", "", "é", "a ")},
	{Name: "small", SQL: "SMALLINT", Type: wire.TypeNumber, Literals: each(integer, "0", "1", "-1", "-32768", "32767")},
	{Name: "whole", SQL: "INTEGER", Type: wire.TypeNumber, Literals: each(integer, "0", "1", "-1", "2", "10", "9", "-2147483648")},
	{Name: "big", SQL: "BIGINT", Type: wire.TypeNumber, Literals: each(integer, "0", "1", "-1", "9007199254740993", "9007199254740992",
		"9223372036854775807", "-9223372036854775808")},
	{Name: "money", SQL: "NUMERIC(12,2)", Type: wire.TypeDecimal, Literals: each(wire.Decimal, "0.00", "1.50", "-1.50", "10.25",
		"9999999999.99", "-9999999999.99", "0.05", "-0.05", "100.00")},
	{Name: "cents", SQL: "DECIMAL(4,4)", Type: wire.TypeDecimal, Literals: each(wire.Decimal, "0.0000", "0.0001", "-0.9999", "0.5000")},
	{Name: "thousands", SQL: "NUMERIC(9,0)", Type: wire.TypeDecimal, Literals: each(wire.Decimal, "0", "1", "-1", "999999999", "10")},
	{Name: "exact", SQL: "NUMERIC(18,9)", Type: wire.TypeDecimal, Literals: each(wire.Decimal, "0.000000000", "1.500000000",
		"999999999.999999999", "-999999999.999999999", "0.000000001")},
	{Name: "fine", SQL: "NUMERIC(18,17)", Type: wire.TypeDecimal, Literals: each(wire.Decimal, "0.00000000000000000", "1.50000000000000000")},
	{Name: "wide", SQL: "NUMERIC(18,2)", Type: wire.TypeDecimal, Literals: each(wire.Decimal, "0.00", "9999999999999999.99",
		"92233720368547758.07", "-92233720368547758.08")},
	{Name: "real", SQL: "DOUBLE PRECISION", Type: wire.TypeNumber, Literals: append(each(float, "0", "0.1", "0.3", "1.5", "-1.5", "1e-7",
		"1e21", "1e23", "9007199254740992", "10"), literal("-0e0", wire.Float(0)))},
	{Name: "single", SQL: "FLOAT", Type: wire.TypeNumber, Literals: each(float, "0", "1.5", "-1.5", "16777216", "999.99", "0.1")},
	{Name: "flag", SQL: "BOOLEAN", Type: wire.TypeBoolean, Literals: []sqlsourcetest.Literal{
		literal("TRUE", wire.Bool(true)), literal("FALSE", wire.Bool(false)),
	}},
	{Name: "day", SQL: "DATE", Type: wire.TypeDate, Literals: each(day,
		"2024-02-29", "2024-03-01", "2023-12-31", "2024-01-01", "0001-01-01", "9999-12-31", "1969-12-31", "2024-10-01")},
	{Name: "moment", SQL: "TIMESTAMP", Type: wire.TypeDatetime, Literals: each(moment, "2024-02-29 00:00:00", "2024-02-28 23:59:59",
		"2023-12-31 23:30:00", "2024-02-29 00:00:00.0001", "0001-01-01 00:00:00", "9999-12-31 23:59:59.9999", "1969-12-31 23:59:59")},
	{Name: "clock", SQL: "TIME", Type: wire.TypeString, Literals: []sqlsourcetest.Literal{
		literal("'12:00:00'", wire.Text("12:00:00.0000")), literal("'23:59:59.5'", wire.Text("23:59:59.5000")),
	}},
	{Name: "bytes", SQL: "VARCHAR(30) CHARACTER SET OCTETS", Type: wire.TypeString, Literals: []sqlsourcetest.Literal{
		literal("x'00ff'", wire.Bytes([]byte{0, 255})), literal("''", wire.Text("")), literal("x'00'", wire.Bytes([]byte{0})),
		literal("x'0000'", wire.Bytes([]byte{0, 0})), literal("'abc'", wire.Text("YWJj")), literal("x'fbff'", wire.Text("+/8=")),
	}},
	{Name: "file", SQL: "BLOB SUB_TYPE BINARY", Type: wire.TypeString, Literals: []sqlsourcetest.Literal{
		literal("x'00ff'", wire.Bytes([]byte{0, 255})), literal("'abc'", wire.Text("YWJj")),
	}},
}

// insert returns blocks of INSERTs: the engine inserts one row by one of them.
func insert(table string, rows []string) []string {
	var blocks []string
	for some := range slices.Chunk(rows, 250) {
		blocks = append(blocks, "EXECUTE BLOCK AS BEGIN INSERT INTO "+table+" VALUES "+
			strings.Join(some, "; INSERT INTO "+table+" VALUES ")+"; END")
	}
	return blocks
}

// long reports whether the tests of minutes run, too.
func long() bool { return os.Getenv("SQLSOURCE_FIREBIRD_LONG") != "" }

// TestDifferential asks the engine and memory the same. SQLSOURCE_QUERIES makes it
// longer, SQLSOURCE_SEED repeats it, SQLSOURCE_FIREBIRD_LONG adds the joins of large tables.
func TestDifferential(t *testing.T) {
	options := &sqlsourcetest.Options{Queries: 400, Without: []string{"large joins"}}
	if n, err := strconv.Atoi(os.Getenv("SQLSOURCE_QUERIES")); err == nil {
		options.Queries = n
	}
	if long() {
		options.Without = nil
	}
	options.Seed, _ = strconv.ParseUint(os.Getenv("SQLSOURCE_SEED"), 10, 64)
	kit := sqlsourcetest.Engine{Flavor: newFlavor(), DB: open(t, start(t)), Key: "BIGINT", Types: columns, Insert: insert}
	sqlsourcetest.Run(t, kit, options)
}

// TestHostile sends hostile texts in every place of a request.
func TestHostile(t *testing.T) {
	if !long() {
		t.Skip("reads the catalog for thousands of requests, which takes minutes; set SQLSOURCE_FIREBIRD_LONG=1 to enable this test")
	}
	dsn := start(t)
	db := open(t, dsn)
	sqlsourcetest.Hostile(t, sqlsourcetest.Engine{Flavor: newFlavor(), DB: db, Key: "BIGINT"}, connector{db.Driver(), dsn})
}

// connector opens connections of a database.
type connector struct {
	driver driver.Driver
	dsn    string
}

func (c connector) Driver() driver.Driver { return c.driver }

func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
