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
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// plenty is a budget that a test does not use up.
var plenty = standin.Budget{Most: 1e9, Restore: 1e9}

func source(t *testing.T, budget standin.Budget) (connector.Source, *standin.Shop) {
	t.Helper()
	shop := standin.New(budget)
	s, err := restsource.New(api, tables, &restsource.Options{Transport: shop})
	require.NoError(t, err)
	return s, shop
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
	for _, c := range []struct {
		name string
		ask  wire.QueryRequest
		want string
	}{
		{"an order", wire.QueryRequest{Table: "orders", Fields: []string{"customer", "status", "total", "updated"}, Where: wire.Where{
			And: []wire.Filter{{Field: "id", Op: wire.OpEq, Value: wire.Text("O0-004")}}}},
			`[{"customer": "C0-22", "status": "OPEN", "total": "60.02", "updated": "2026-01-01T17:00:00Z"}]`},
		{"its lines", wire.QueryRequest{Table: "lines", Fields: []string{"position", "sku", "quantity"}, Where: wire.Where{
			And: []wire.Filter{{Field: "order", Op: wire.OpEq, Value: wire.Text("O0-004")}, {Field: "status", Op: wire.OpEq,
				Value: wire.Text("OPEN")}}}},
			`[{"position": 1, "sku": "SKU-3", "quantity": 1}, {"position": 2, "sku": "SKU-4", "quantity": 2},
				{"position": 3, "sku": "SKU-5", "quantity": 3}]`},
		{"a customer without an address", wire.QueryRequest{Table: "customers", Fields: []string{"name", "city"}, Where: wire.Where{
			And: []wire.Filter{{Field: "id", Op: wire.OpEq, Value: wire.Text("C0-04")}}}}, `[{"name": "Customer 4", "city": null}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer, err := north.Query(c.ask)
			require.NoError(t, err)
			require.JSONEq(t, c.want, answer.JSON())
		})
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
	text, err := os.ReadFile("main.go")
	require.NoError(t, err)
	lines := 0
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			lines++
		}
	}
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	require.Equal(t, 63, lines)
	require.Contains(t, string(readme), "63 lines")
}
