package main

import (
	"bytes"
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/filesource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/duckdb"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var tenants = []map[string]string{{"tenant": "north"}, {"tenant": "south", "password": southPassword}}

var definition = connector.Definition{Slug: "lake", Credentials: filesource.Credentials()}

func folder(t *testing.T, dir string) *sqlsource.Source {
	source, err := duckdb.Folder(dir, &duckdb.FolderOptions{PerTenant: true})
	require.NoError(t, err)
	return source
}

// TestGraded grades the bundled data of each tenant.
func TestGraded(t *testing.T) {
	for _, credentials := range tenants {
		t.Run(credentials["tenant"], func(t *testing.T) {
			connectortest.Run(t, definition, folder(t, bundled()), &connectortest.Options{Credentials: credentials, Requests: 100})
		})
	}
}

// TestMade describes the bundled data as what the script makes: tables, counts, samples
// and statistics. If the script was changed, run it.
func TestMade(t *testing.T) {
	made := t.TempDir()
	t.Chdir(made) // and back, because makeData goes into the folder
	require.NoError(t, makeData(t.Context(), made))
	for _, credentials := range tenants {
		var described []*wire.Discovery
		for _, dir := range []string{bundled(), made} {
			d, err := connectortest.Start(t, definition, folder(t, dir), nil).As(credentials).In(t).Discover()
			require.NoError(t, err)
			require.NotEmpty(t, d.Tables)
			described = append(described, d)
		}
		require.Equal(t, described[0], described[1])
	}
}

// TestRun prints what serves the bundled data, and ends with its context.
func TestRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out bytes.Buffer
	port := func(name string) (string, bool) { return "0", name == "PORT" }
	require.NoError(t, run(ctx, nil, port, &out))
	require.Contains(t, out.String(), "curl ")
	require.ErrorContains(t, run(ctx, []string{"-dir", "/no/such/folder"}, port, &out), "-dir: ")
	require.ErrorContains(t, run(ctx, []string{"folder"}, port, &out), "-dir names the folder")
}
