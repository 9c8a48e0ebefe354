package main

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/examples/graphql/standin"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// plenty is a budget that a test does not use up.
var plenty = standin.Budget{Most: 1e9, Restore: 1e9}

func source(t *testing.T, budget standin.Budget) (connector.Source, *standin.Shop) {
	t.Helper()
	shop := standin.New(budget)
	return testkit.Must(restsource.New(api, tables, &restsource.Options{Transport: shop}))(t), shop
}

func tenant(t *testing.T, credentials map[string]string) *connectortest.Tenant {
	t.Helper()
	s, _ := source(t, plenty)
	return connectortest.Start(t, definition, s, nil).As(credentials)
}

// TestGraded grades the connector for each tenant, and the two beside each other.
func TestGraded(t *testing.T) {
	for _, credentials := range []map[string]string{standin.North, standin.South} {
		s, _ := source(t, plenty)
		connectortest.Run(t, definition, s, &connectortest.Options{Credentials: credentials, Requests: 100})
	}
	s, _ := source(t, plenty)
	connectortest.Isolation(t, definition, s, standin.North, standin.South)
}

// TestKnownRows asserts rows that are known from the data, because rows that are missing
// from every answer are found by nobody else.
func TestKnownRows(t *testing.T) {
	north := tenant(t, standin.North)
	for _, c := range testkit.Table(t, "testdata/known.tsv", 3) {
		var ask wire.QueryRequest
		cells.Decode(t, c[1], &ask)
		ask.TimeoutMS = 0 // as long as it takes
		require.JSONEq(t, c[2], testkit.Must(north.Query(ask))(t, c[0]).JSON(), c[0])
	}
	for table, rows := range map[string]int{"customers": 40, "orders": 230, "lines": 57*6 + 1} {
		answer, err := north.Query(wire.QueryRequest{Table: table, Fields: []string{map[bool]string{true: "order",
			false: "id"}[table == "lines"]}})
		require.NoError(t, err)
		assert.Len(t, answer.Rows, rows, table)
	}
}

// TestThrottled reads all orders with a budget of three pages and a token of a minute: in
// virtual time the read takes as long as the budget needs, and loses nothing.
func TestThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		s, shop := source(t, standin.Budget{Most: 12, Restore: 0.1})
		answer, err := connectortest.Start(t, definition, s, nil).As(standin.North).Unverified().Query(wire.QueryRequest{
			Table: "orders", Fields: []string{"id"}, Envelope: wire.Envelope{TimeoutMS: 600_000}})
		require.NoError(t, err)
		assert.Len(t, answer.Column("id"), 230)
		assert.Greater(t, time.Since(begun), 2*time.Minute, "33 are needed, 12 are there, and 6 come back in a minute")
		assert.Greater(t, shop.Tokens, 1, "the first token was good for a minute")
		assert.Zero(t, shop.Throttle, "the connector waits before it asks")
	})
}

// TestWrongSecret requires a sentence for the person at the connect form.
func TestWrongSecret(t *testing.T) {
	err := tenant(t, map[string]string{"clientId": "north", "clientSecret": "another"}).Check()
	require.Equal(t, wire.CodeCheckFailed, wire.CodeOf(err))
	require.ErrorContains(t, err, "does not accept the client id")
}

// TestSize keeps the README's number of lines.
func TestSize(t *testing.T) {
	text := testkit.Must(os.ReadFile("main.go"))(t)
	lines := 0
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			lines++
		}
	}
	readme := testkit.Must(os.ReadFile("README.md"))(t)
	require.Equal(t, 63, lines)
	require.Contains(t, string(readme), "63 lines")
}
