package main

import (
	"testing"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
)

// TestHostile keeps R9: no text of a request is ever part of a statement.
func TestHostile(t *testing.T) {
	db, config := database(t)
	sqlsourcetest.Hostile(t, sqlsourcetest.Engine{Flavor: sqlsource.PostgreSQL(), DB: db, Key: "bigint"}, stdlib.GetConnector(*config))
}
