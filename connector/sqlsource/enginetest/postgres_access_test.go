//go:build unix

package enginetest

import (
	"crypto/tls"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// hbaOfAccess asks everybody for a password, some users for TLS, and refuses TLS
// to others.
const hbaOfAccess = `
hostssl   all only_tls 127.0.0.1/32 scram-sha-256
hostnossl all never_tls 127.0.0.1/32 scram-sha-256
host      all owner     127.0.0.1/32 scram-sha-256
`

// TestPostgresAccess connects to a server that asks for passwords by SCRAM, without TLS
// and with it. Who may not connect is told why, in words of ours.
func TestPostgresAccess(t *testing.T) {
	own := newPostgresServer(t, hbaOfAccess)
	db := own.database(t)
	for _, role := range []string{"only_tls", "never_tls"} {
		db.execute(t, "CREATE ROLE "+role+" LOGIN PASSWORD '"+superPassword+"'")
	}
	trusted, certificate, key := selfSigned(t)
	encrypted := func(c *pgx.ConnConfig) { c.TLSConfig = &tls.Config{RootCAs: trusted, ServerName: "127.0.0.1"} }
	user := func(name string, more ...func(*pgx.ConnConfig)) func(*pgx.ConnConfig) {
		return func(c *pgx.ConnConfig) {
			c.User = name
			for _, change := range more {
				change(c)
			}
		}
	}
	try := func(why string, change func(*pgx.ConnConfig), want string) {
		t.Run(why, func(t *testing.T) {
			db := db.as(t, change)
			err := db.caller(t, nil).Unverified().Check()
			if want == "" {
				require.NoError(t, err)
				return
			}
			require.Equal(t, wire.CodeCheckFailed, wire.CodeOf(err))
			assert.Contains(t, err.Error(), want)
			for _, inside := range []string{superPassword, "wrong-7f3a", db.config.User, "hba", "SQLSTATE", "x509"} {
				assert.NotContains(t, err.Error(), inside)
			}
		})
	}
	try("the password is right", user(superuser), "")
	try("the password is wrong", user(superuser, func(c *pgx.ConnConfig) { c.Password = "wrong-7f3a" }), "the password")
	try("there is no password", user(superuser, func(c *pgx.ConnConfig) { c.Password = "" }), "the password")
	try("nobody of this name has a line", user("stranger"), "may connect")
	try("the server has no TLS", user(superuser, encrypted), "does not encrypt")

	own.stop(t, syscall.SIGINT)
	own.write(t, "server.crt", certificate)
	own.write(t, "server.key", key)
	own.set(t, "ssl = on")
	own.start(t)
	try("TLS is accepted", user("only_tls", encrypted), "")
	try("TLS is not needed", user(superuser), "")
	try("TLS is required", user("only_tls"), "without encryption")
	try("TLS is refused to the user", user("never_tls", encrypted), "may not connect")
	try("the wrong password by TLS", user("only_tls", encrypted, func(c *pgx.ConnConfig) { c.Password = "wrong-7f3a" }), "the password")
	try("the certificate is unknown", user("only_tls", func(c *pgx.ConnConfig) {
		c.TLSConfig = &tls.Config{ServerName: "127.0.0.1"}
	}), "certificate")
	try("the certificate is another host's", user("only_tls", encrypted, func(c *pgx.ConnConfig) {
		c.TLSConfig.ServerName = "other.test"
	}), "certificate")
}
