package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// client asks a connector as one tenant.
type client struct {
	url         string
	credentials wire.Credentials
}

// client serves a database, for its tenant.
func (d *database) client(t testing.TB) *client {
	t.Helper()
	server := httptest.NewServer(d.handler(t, nil))
	t.Cleanup(server.Close)
	return &client{server.URL, d.tenant()}
}

func (c *client) envelope(timeoutMS int64) wire.Envelope {
	return wire.Envelope{Credentials: c.credentials, TimeoutMS: timeoutMS}
}

func (c *client) post(ctx context.Context, path string, message wire.Request) (*http.Response, error) {
	body, err := wire.EncodeRequest(message)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	return http.DefaultClient.Do(request)
}

// query asks for all rows of a table, one column of them.
func (c *client) query(ctx context.Context, table, field string, timeoutMS int64) (*http.Response, error) {
	return c.post(ctx, wire.PathQuery, &wire.QueryRequest{Table: table, Fields: []string{field}, Envelope: c.envelope(timeoutMS)})
}

// refused returns the status and the error of a refused request.
func refused(t testing.TB, answer *http.Response, err error) (int, wire.Error) {
	t.Helper()
	require.NoError(t, err)
	defer func() { require.NoError(t, answer.Body.Close()) }()
	var envelope struct{ Error wire.Error }
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&envelope))
	return answer.StatusCode, envelope.Error
}

// drain reads a stream to its end, and returns the number of rows and the error
// that broke it off.
func drain(stream *ndjson.Reader) (rows int, err error) {
	for _, err := range stream.Rows() {
		if err != nil {
			return rows, err
		}
		rows++
	}
	return rows, nil
}
