package enginetest

import (
	"crypto/tls"
	"encoding/binary"
	"net"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

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
