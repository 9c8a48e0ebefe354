package mysql

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"net"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/enginetest/internal/suite"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// packet returns a packet of the protocol, the first of a connection.
func packet(body string) string {
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(body)))
	return string(head[:3]) + "\x00" + body
}

// refuse answers with an error of the server in place of its greeting.
func refuse(number uint16, text string) func(net.Conn) {
	return suite.Say(packet("\xff" + string(binary.LittleEndian.AppendUint16(nil, number)) + "#HY000" + text))
}

// greeting is that of a server that has no TLS.
const greeting = "\x0a8.0.0\x00\x01\x00\x00\x0012345678\x00\x0d\xa2\x21\x02\x00\x08\x00\x15" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00123456789012\x00mysql_native_password\x00"

// TestConnect says what is wrong and what to do when a connection cannot be made:
// on /check to the person at the form, and elsewhere with a code that blames
// nobody for what passes.
func TestConnect(t *testing.T) {
	const pass = "secret-7f3a"
	for _, c := range []struct {
		why       string
		answer    func(net.Conn)
		tls       bool
		want      string
		elsewhere error
	}{
		{"all connections are taken", refuse(1040, "Too many connections"), false, "no free connection at the moment", connector.ErrTimeout},
		{"all connections of the user are taken", refuse(1226, "User 'ada' has exceeded the 'max_user_connections' resource"), false,
			"no free connection at the moment", connector.ErrTimeout},
		{"it shuts down", refuse(1053, "Server shutdown in progress"), false, "starting up or shutting down", connector.ErrTimeout},
		{"it demands TLS", refuse(3159, "Connections using insecure transport are prohibited"), false,
			"switch TLS on", connector.ErrBadRequest},
		{"it has no TLS", suite.Say(packet(greeting)), true, "switch it off in the connector", connector.ErrBadRequest},
		{"a web server", func(c net.Conn) {
			suite.Say("HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n")(c)
			_ = c.Close()
		}, false,
			"it is not MySQL or MariaDB", connector.ErrBadRequest},
		{"a shell, which waits for more", suite.Say("SSH-2.0-OpenSSH_9.6\r\n"), false,
			"does not answer as MySQL or MariaDB does", connector.ErrTimeout},
		{"a proxy without a server", func(c net.Conn) { _ = c.Close() }, false, "it is not MySQL or MariaDB", connector.ErrBadRequest},
		{"silence, as of PostgreSQL", func(net.Conn) {}, false, "does not answer as MySQL or MariaDB does", connector.ErrTimeout},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			config := administrator(t).Clone()
			config.Addr = suite.Listen(t, c.answer)
			config.User, config.Passwd, config.DBName = "ada", pass, "shop"
			config.Logger = &mysql.NopLogger{}
			if c.tls {
				config.TLS = &tls.Config{ServerName: "db.test", MinVersion: tls.VersionTLS12}
			}
			src := newSource(t, config, nil)
			envelope := wire.Envelope{Credentials: wire.NewCredentials(credentials(config)), TimeoutMS: 1500}
			ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
			defer cancel()
			err := src.Check(ctx, &wire.CheckRequest{Envelope: envelope})
			require.ErrorIs(t, err, connector.ErrCheckFailed)
			assert.Contains(t, err.Error(), c.want)
			caller := connectortest.Start(t, definition, src, nil).As(credentials(config)).Unverified()
			_, err = caller.Count(wire.CountRequest{Table: "t", Envelope: envelope})
			require.ErrorIs(t, err, c.elsewhere)
			assert.Contains(t, err.Error(), c.want)
			for _, hidden := range []string{pass, "ada", "shop", "127.0.0.1"} {
				assert.NotContains(t, err.Error(), hidden)
			}
		})
	}
}
