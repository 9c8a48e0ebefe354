package main

import (
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlsourcetest"
)

// TestHostile keeps R9: no text of a request is ever part of a statement.
func TestHostile(t *testing.T) {
	db, config := database(t)
	driver, err := mysql.NewConnector(config)
	require.NoError(t, err)
	sqlsourcetest.Hostile(t, sqlsourcetest.Engine{Flavor: sqlsource.MySQL(), DB: db, Key: "BIGINT"}, driver)
}
