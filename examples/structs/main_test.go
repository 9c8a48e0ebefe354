package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
)

// TestStructs runs the conformance program over the table.
func TestStructs(t *testing.T) {
	source, err := memsource.New([]memsource.Table{memsource.TableOf("orders", orders())}, nil)
	require.NoError(t, err)
	connectortest.Run(t, connector.Definition{Slug: "structs"}, source, nil)
}
