package main

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/pgxrows"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var postgresDefinition = tenantDefinition(wire.CredentialField{
	Key: "schema", Label: "Schema", Type: wire.CredentialText, Optional: true,
	Help: "Whose tables are read. Several are separated by commas; their tables are then named schema.table.",
})

// openPostgreSQL serves the databases of a server, each to the tenants who have a
// user for it. It does not connect before a request asks for one.
func openPostgreSQL(_ context.Context, s settings) (*served, error) {
	at, err := parseAddress(s.server, 5432)
	if err != nil {
		return nil, err
	}
	server, err := postgresServer(at, s.tls)
	if err != nil {
		return nil, err
	}
	open := func(_ context.Context, c wire.Credentials) (*sql.DB, error) {
		own := server.Copy()
		own.User, own.Password, own.Database = c.Get("user"), c.Get("password"), c.Get("database")
		return stdlib.OpenDB(*own), nil
	}
	byHost := s.options.Schemas
	s.options.Schemas = func(c wire.Credentials) []string {
		if chosen := names(c.Get("schema")); len(chosen) > 0 {
			return chosen
		}
		if byHost == nil {
			return nil
		}
		return byHost(c)
	}
	source, err := sqlsource.NewPerTenant(open, pgxrows.PostgreSQL(), &s.options)
	if err != nil {
		return nil, err
	}
	return &served{postgresDefinition, source, "the databases of " + at.String(), nothing}, nil
}

// postgresServer returns how the server is reached, and nothing of a tenant. It
// ignores users, passwords and service files of the host's environment.
func postgresServer(at address, tls bool) (*pgx.ConnConfig, error) {
	mode := "disable"
	if tls {
		mode = "verify-full"
	}
	const fixed = "host=localhost user=none password=none dbname=none connect_timeout=10 passfile=/dev/null servicefile=/dev/null"
	config, err := pgx.ParseConfig(fixed + " sslmode=" + mode)
	if err != nil {
		return nil, err
	}
	config.Host, config.Port, config.Fallbacks = at.host, at.port, nil
	// Statements without names work through a pooler, and a connection of one request gains nothing by names.
	config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	if config.TLSConfig != nil {
		config.TLSConfig.ServerName = at.host
	}
	return config, nil
}
