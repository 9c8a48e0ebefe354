package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const testKey = "key-for-tests"

// upstream answers as the API would: two rows a page.
//
// FILL IN: record the answers of the real API once, with record.Recorder, or
// write here what its documentation says.
func upstream(w http.ResponseWriter, r *http.Request) {
	const rows, perPage = 5, 2
	if r.Header.Get("X-Api-Key") != testKey {
		http.Error(w, `{"message": "unknown key"}`, http.StatusUnauthorized)
		return
	}
	query := r.URL.Query()
	after, _ := strconv.Atoi(query.Get("after"))
	var page []string
	next := "null"
	for id := after + 1; id <= rows; id++ {
		status := [...]string{"open", "paid"}[id%2]
		if wanted := query.Get("status"); wanted != "" && wanted != status {
			continue
		}
		if len(page) == perPage {
			next = strconv.Quote(strconv.Itoa(id - 1))
			break
		}
		page = append(page, fmt.Sprintf(
			`{"id": %d, "customer": {"id": "c%d"}, "status": %q, "total": "%d.50", "updated_at": "2026-01-0%dT09:30:00Z"}`,
			id, id%3, status, id*10, id))
	}
	_, _ = fmt.Fprintf(w, `{"data": [%s], "paging": {"next": %s}}`, strings.Join(page, ","), next)
}

// roundTrip answers requests from a handler, without a port.
type roundTrip http.HandlerFunc

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	f(w, r)
	return w.Result(), nil
}

func testSource(t *testing.T) connector.Source {
	t.Helper()
	source, err := newSource(&restsource.Options{Transport: roundTrip(upstream)})
	require.NoError(t, err)
	return source
}

// TestGraded grades the connector as the platform will after it is connected.
func TestGraded(t *testing.T) {
	connectortest.Run(t, definition, testSource(t), &connectortest.Options{Credentials: map[string]string{"apiKey": testKey}})
}

// TestKnownRow asserts a row that you know: rows that are missing from every answer
// are found by nobody else.
//
// FILL IN a row of yours.
func TestKnownRow(t *testing.T) {
	tenant := connectortest.Start(t, definition, testSource(t), nil).As(map[string]string{"apiKey": testKey})
	answer, err := tenant.Query(wire.QueryRequest{
		Table:  "orders",
		Where:  wire.Where{And: []wire.Filter{{Field: "id", Op: wire.OpEq, Value: wire.Int(5)}}},
		Fields: []string{"customer", "status", "total", "updated"},
	})
	require.NoError(t, err)
	require.JSONEq(t, `[{"customer": "c2", "status": "paid", "total": "50.50", "updated": "2026-01-05T09:30:00Z"}]`, answer.JSON())
}

// TestWrongKey requires a sentence for the person at the connect form.
func TestWrongKey(t *testing.T) {
	err := connectortest.Start(t, definition, testSource(t), nil).As(map[string]string{"apiKey": "another"}).Check()
	require.ErrorIs(t, err, connector.ErrCheckFailed)
}
