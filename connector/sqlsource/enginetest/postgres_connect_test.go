package enginetest

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// postgresRefuses reads a client's first message, and answers with an error of the server.
func postgresRefuses(state, text string) func(net.Conn) {
	return func(conn net.Conn) {
		if !readStart(conn) {
			return
		}
		body := "SFATAL\x00VFATAL\x00C" + state + "\x00M" + text + "\x00\x00"
		_, _ = conn.Write(append(binary.BigEndian.AppendUint32([]byte("E"), uint32(len(body)+4)), body...))
	}
}

// readStart reads a message that has a length and no type.
func readStart(conn net.Conn) bool {
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return false
	}
	_, err := io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(size[:]))-4)
	return err == nil
}

// postgresUnknown answers with a certificate that nobody trusts.
func postgresUnknown(c net.Conn) {
	unknown := httptest.NewTLSServer(nil)
	defer unknown.Close()
	readStart(c)
	say("S")(c)
	_ = tls.Server(c, unknown.TLS).Handshake() // the client ends it
}

var postgresServer = serverOf{
	at: func(t testing.TB, address string, encrypted bool) *database {
		config := postgresAt(t, address)
		config.User, config.Password, config.Database = "ada", adasPassword, "shop"
		if encrypted {
			config.TLSConfig = &tls.Config{ServerName: "db.test", MinVersion: tls.VersionTLS12}
		}
		config.ConnectTimeout = time.Second // of the driver, for the one that is silent
		return &postgresBy(t, config).database
	},
	lock:   "BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE",
	unlock: "ROLLBACK",
	running: `SELECT pid FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active' AND query LIKE $1`,
	kill: "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid =",
	refusals: []refusal{
		{"all connections are taken", postgresRefuses("53300", "sorry, too many clients already"), false,
			"no free connection at the moment", wire.CodeTimeout},
		{"all connections of the user are taken", postgresRefuses("53300", `too many connections for role "ada"`), false,
			"no free connection at the moment", wire.CodeTimeout},
		{"it starts", postgresRefuses("57P03", "the database system is starting up"), false, "starting up or shutting down", wire.CodeTimeout},
		{"it demands TLS", postgresRefuses("28000", `no pg_hba.conf entry for host "10.0.0.1", user "ada", database "shop", no encryption`), false,
			"switch TLS on", wire.CodeBadRequest},
		{"a wrong password", postgresRefuses("28P01", `password authentication failed for user "ada"`), false,
			"user name or the password", wire.CodeBadRequest},
		{"it has no TLS", func(c net.Conn) { readStart(c); say("N")(c) }, true, "switch it off in the connector", wire.CodeBadRequest},
		{"a certificate of nobody", postgresUnknown, true, "certificate of the server cannot be verified", wire.CodeBadRequest},
		{"a web server", say("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"), false,
			"it is not PostgreSQL", wire.CodeBadRequest},
		{"a web server, by TLS", say("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"), true,
			"does not encrypt connections", wire.CodeBadRequest},
		{"MySQL", say("\x5b\x00\x00\x00\x0a5.5.5-10.11.6-MariaDB\x00"), false, "it is not PostgreSQL", wire.CodeBadRequest},
		{"a proxy without a server", func(c net.Conn) { _ = c.Close() }, false, "it is not PostgreSQL", wire.CodeBadRequest},
		{"silence", func(net.Conn) {}, false, "does not answer as PostgreSQL does", wire.CodeTimeout},
	},
}
