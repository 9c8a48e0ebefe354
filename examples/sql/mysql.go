package main

import (
	"context"
	"crypto/tls"
	"database/sql"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var mysqlDefinition = tenantDefinition()

// openMySQL serves the databases of a MySQL or MariaDB server, each to the tenants
// who have a user for it. It does not connect before a request asks for one.
func openMySQL(_ context.Context, s settings) (*served, error) {
	at, err := parseAddress(s.server, 3306)
	if err != nil {
		return nil, err
	}
	server := mysqlServer(at, s.tls)
	open := func(_ context.Context, c wire.Credentials) (*sql.DB, error) {
		own := server.Clone()
		own.User, own.Passwd, own.DBName = c.Get("user"), c.Get("password"), c.Get("database")
		driver, err := mysql.NewConnector(own)
		if err != nil {
			return nil, err
		}
		return sql.OpenDB(driver), nil
	}
	source, err := sqlsource.NewPerTenant(open, sqlsource.MySQL(), &s.options)
	if err != nil {
		return nil, err
	}
	return &served{mysqlDefinition, source, "the databases of " + at.String(), nothing}, nil
}

// mysqlServer returns how the server is reached, and nothing of a tenant.
func mysqlServer(at address, encrypt bool) *mysql.Config {
	config := mysql.NewConfig()
	config.Net, config.Addr, config.Timeout = "tcp", at.String(), 10*time.Second
	config.Logger = &mysql.NopLogger{} // its lines could hold what the server says of a tenant
	if encrypt {
		config.TLS = &tls.Config{ServerName: at.host, MinVersion: tls.VersionTLS12}
	}
	return config
}
