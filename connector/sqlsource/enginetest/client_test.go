package enginetest

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/internal/situation"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// request returns a request that is written as in a situation, in one line.
func request(line string) situation.Request {
	route, body, _ := strings.Cut(line, " ")
	return situation.Request{Route: route, Body: body}
}

// ask asks a request that is written as in a situation, and returns the answer as a situation has it.
func ask(t *testing.T, tenant *connectortest.Tenant, line string) string {
	t.Helper()
	return (&situation.Asking{Tenant: tenant}).Answer(t, request(line))
}

// requireRefusal requires an error with a code, whose message has the text want and none of hidden.
func requireRefusal(t *testing.T, err error, code wire.Code, want string, hidden ...string) {
	t.Helper()
	require.Equal(t, code, wire.CodeOf(err), "%v", err)
	assert.ErrorContains(t, err, want)
	for _, text := range hidden {
		assert.NotContains(t, err.Error(), text)
	}
}

// client asks a connector as one tenant, over HTTP.
type client struct {
	url         string
	credentials map[string]string
}

// client serves a database, for its tenant.
func (d *database) client(t testing.TB) *client {
	t.Helper()
	server := httptest.NewServer(d.handler(t, nil))
	t.Cleanup(server.Close)
	return &client{server.URL, d.credentials}
}

// ask sends a request that is written as in a situation. The answer is closed when the test ends.
func (c *client) ask(ctx context.Context, t testing.TB, line string) *http.Response {
	t.Helper()
	own := request(line)
	message := testkit.Must(wire.EncodeRequest(own.As(t, c.credentials)))(t)
	sent := testkit.Must(http.NewRequestWithContext(ctx, http.MethodPost, c.url+own.Path(), bytes.NewReader(message)))(t)
	sent.Header.Set("Authorization", "Bearer "+token)
	answer := testkit.Must(http.DefaultClient.Do(sent))(t, line)
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}
