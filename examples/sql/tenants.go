package main

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// tenantDefinition returns the connect form's fields for an engine whose server the host
// has chosen.
func tenantDefinition(more ...wire.CredentialField) connector.Definition {
	return connector.Definition{
		Slug:         "shop-databases",
		KeysEnforced: true,
		Credentials: append([]wire.CredentialField{
			{Key: "user", Label: "User", Type: wire.CredentialText, Help: "A user who may only read: README.md says how to create one."},
			{Key: "password", Label: "Password", Type: wire.CredentialPassword, Optional: true},
			{Key: "database", Label: "Database", Type: wire.CredentialText},
		}, more...),
	}
}

// address is where a database server is.
type address struct {
	host string
	port uint16
}

func (a address) String() string { return net.JoinHostPort(a.host, strconv.Itoa(int(a.port))) }

// parseAddress returns the server that -server names, by default the engine's port
// on this machine.
func parseAddress(given string, usual uint16) (address, error) {
	if given == "" {
		return address{"localhost", usual}, nil
	}
	host, port, err := net.SplitHostPort(given)
	number, notNumber := strconv.ParseUint(port, 10, 16)
	if err != nil || notNumber != nil || strings.ContainsAny(host, "/@") {
		// The text is not repeated: a URL may hold a password.
		return address{}, fmt.Errorf("-server: give host:port, such as db.internal:%d, and no URL; "+
			"user, password and database are credentials of the tenants", usual)
	}
	return address{host, uint16(number)}, nil
}

// nothing closes what an engine keeps open that connects anew for each request.
func nothing() error { return nil }
