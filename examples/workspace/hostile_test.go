package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/examples/workspace/internal/exchange"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestHostileUpstreams: whatever the API does, a query ends with an error that the
// platform can show. The log has the cause of an internal one. Neither has the token.
// Package restsource has tests of many more.
func TestHostileUpstreams(t *testing.T) {
	const token = "token-of-a-tenant-0123456789"
	for _, row := range testkit.Table(t, "testdata/hostile.tsv", 4) {
		testkit.Bubble(t, row[0], func(t *testing.T) {
			transport, _ := exchange.Answers(t, row[1], "token", token)
			source := testkit.Must(restsource.New(generalAPI, tables, &restsource.Options{Transport: transport}))(t)
			log := &testkit.Log{}
			server := connectortest.Start(t, definition, source, log.Options())
			tenant := server.As(map[string]string{"baseUrl": platform, "token": token}).Unverified()
			_, err := tenant.Query(wire.QueryRequest{Table: "files", Fields: []string{"id", "size"}})
			var failure *wire.Error
			require.True(t, errors.As(err, &failure), "%v", err)
			assert.Equal(t, row[2], string(failure.Code), failure.Message)
			assert.Contains(t, log.String(), strings.TrimPrefix(row[3], "-"))
			assert.NotContains(t, failure.Message+log.String(), token)
		})
	}
}
