package postgres

import (
	"context"
	"crypto/tls"
	"database/sql"
	"encoding/binary"
	"io"
	"net"
	"net/http/httptest"
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

// refuse reads a client's first message, and answers with an error of the server.
func refuse(state, text string) func(net.Conn) {
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

// TestConnect says what is wrong and what to do when a connection cannot be made:
// on /check to the person at the form, and elsewhere with a code that blames
// nobody for what passes.
func TestConnect(t *testing.T) {
	const pass = "secret-7f3a"
	unknown := httptest.NewTLSServer(nil)
	t.Cleanup(unknown.Close)
	for _, c := range []struct {
		why       string
		answer    func(net.Conn)
		tls       bool
		want      string
		elsewhere error
	}{
		{"all connections are taken", refuse("53300", "sorry, too many clients already"), false,
			"no free connection at the moment", connector.ErrTimeout},
		{"all connections of the user are taken", refuse("53300", `too many connections for role "ada"`), false,
			"no free connection at the moment", connector.ErrTimeout},
		{"it starts", refuse("57P03", "the database system is starting up"), false, "starting up or shutting down", connector.ErrTimeout},
		{"it demands TLS", refuse("28000", `no pg_hba.conf entry for host "10.0.0.1", user "ada", database "shop", no encryption`), false,
			"switch TLS on", connector.ErrBadRequest},
		{"a wrong password", refuse("28P01", `password authentication failed for user "ada"`), false,
			"user name or the password", connector.ErrBadRequest},
		{"it has no TLS", func(c net.Conn) { readStart(c); suite.Say("N")(c) }, true, "switch it off in the connector", connector.ErrBadRequest},
		{"a certificate of nobody", func(c net.Conn) {
			readStart(c)
			suite.Say("S")(c)
			_ = tls.Server(c, unknown.TLS).Handshake() // the client ends it
		}, true, "certificate of the server cannot be verified", connector.ErrBadRequest},
		{"a web server", suite.Say("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"), false,
			"it is not PostgreSQL", connector.ErrBadRequest},
		{"a web server, by TLS", suite.Say("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"), true,
			"does not encrypt connections", connector.ErrBadRequest},
		{"MySQL", suite.Say("\x5b\x00\x00\x00\x0a5.5.5-10.11.6-MariaDB\x00"), false, "it is not PostgreSQL", connector.ErrBadRequest},
		{"a proxy without a server", func(c net.Conn) { _ = c.Close() }, false, "it is not PostgreSQL", connector.ErrBadRequest},
		{"silence", func(net.Conn) {}, false, "does not answer as PostgreSQL does", connector.ErrTimeout},
	} {
		t.Run(c.why, func(t *testing.T) {
			t.Parallel()
			config := server(t, suite.Listen(t, c.answer))
			config.User, config.Password, config.Database = "ada", pass, "shop"
			if c.tls {
				config.TLSConfig = &tls.Config{ServerName: "db.test", MinVersion: tls.VersionTLS12}
			}
			config.ConnectTimeout = time.Second // of the driver, for the one that is silent
			src := newSource(t, config, nil)
			envelope := wire.Envelope{Credentials: wire.NewCredentials(credentials(config)), TimeoutMS: 1500}
			caller := connectortest.Start(t, definition, src, nil)
			err := caller.As(credentials(config)).Unverified().Check()
			require.ErrorIs(t, err, connector.ErrCheckFailed)
			assert.Contains(t, err.Error(), c.want)
			_, err = caller.As(credentials(config)).Unverified().Count(wire.CountRequest{Table: "t", Envelope: envelope})
			require.ErrorIs(t, err, c.elsewhere)
			assert.Contains(t, err.Error(), c.want)
			for _, hidden := range []string{pass, "ada", "shop", config.Host} {
				assert.NotContains(t, err.Error(), hidden)
			}
		})
	}
}

// TestFull takes the only connection that a database allows: the next request is
// told so by a code that blames nobody, and served when the connection is free.
func TestFull(t *testing.T) {
	db, own := database(t)
	role := own.Database + "_role"
	_, err := db.Exec("CREATE TABLE t (id bigint PRIMARY KEY); " +
		"CREATE ROLE " + role + " LOGIN PASSWORD 'pass' CONNECTION LIMIT 1; GRANT SELECT ON t TO " + role)
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := db.ExecContext(context.Background(), "DROP OWNED BY "+role+"; DROP ROLE "+role)
		require.NoError(t, err)
	})
	only := own.Copy()
	only.User, only.Password = role, "pass"
	held, err := pgx.ConnectConfig(t.Context(), only)
	require.NoError(t, err)
	caller := tenant(t, only, only)
	require.ErrorContains(t, caller.Check(), "no free connection at the moment")
	_, err = caller.Count(wire.CountRequest{Table: "t"})
	require.ErrorIs(t, err, connector.ErrTimeout)
	require.NoError(t, held.Close(t.Context()))
	// The server frees a connection some time after the client has closed it.
	require.Eventually(t, func() bool { return caller.Check() == nil }, 30*time.Second, 10*time.Millisecond)
	require.Eventually(t, func() bool {
		_, err := caller.Count(wire.CountRequest{Table: "t"})
		return err == nil
	}, 30*time.Second, 10*time.Millisecond)
}

// TestOwnErrors keeps what the function that opens a database says itself.
func TestOwnErrors(t *testing.T) {
	src, err := sqlsource.NewPerTenant(func(context.Context, wire.Credentials) (*sql.DB, error) {
		return nil, connector.CheckFailed("Database is not one of ours.")
	}, sqlsource.PostgreSQL(), nil)
	require.NoError(t, err)
	err = connectortest.Start(t, connector.Definition{Slug: "own"}, src, nil).As(nil).Unverified().Check()
	require.ErrorContains(t, err, "Database is not one of ours.")
}
