package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
)

// demo are the credentials that the stand-in accepts.
var demo = map[string]string{"accessToken": "demo-token"}

// standIn answers the query of the table orders, two rows a page. It reads the query's
// variables alone, and answers every field whether it is asked for or not.
//
// FILL IN: record the answers of the real API once, with package restsource/record, or
// write here what its documentation says.
func standIn(w http.ResponseWriter, r *http.Request) {
	const rows, perPage = 5, 2
	var asked struct {
		Variables struct {
			After, Status *string
		}
	}
	switch {
	case r.Header.Get("X-Access-Token") != demo["accessToken"]:
		http.Error(w, `{"errors": [{"message": "unknown token"}]}`, http.StatusUnauthorized)
		return
	case json.NewDecoder(r.Body).Decode(&asked) != nil:
		http.Error(w, `{"errors": [{"message": "the body is no query"}]}`, http.StatusBadRequest)
		return
	}
	after := 0
	if cursor := asked.Variables.After; cursor != nil {
		after, _ = strconv.Atoi(*cursor)
	}
	var nodes []string
	last, more := 0, false
	for id := after + 1; id <= rows; id++ {
		status := [...]string{"OPEN", "PAID"}[id%2]
		if wanted := asked.Variables.Status; wanted != nil && *wanted != status {
			continue
		}
		if more = len(nodes) == perPage; more {
			break
		}
		last = id
		nodes = append(nodes, fmt.Sprintf(`{"id": "o%d", "customer": {"id": "c%d"}, "status": %q,
			"total": {"amount": "%d.50"}, "updatedAt": "2026-01-0%dT09:30:00Z"}`, id, id%3, status, id*10, id))
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"data": {"orders": {"nodes": [%s], "pageInfo": {"hasNextPage": %t, "endCursor": "%d"}}}}`,
		strings.Join(nodes, ","), more, last)
}

// roundTrip answers requests from a handler, without a port.
type roundTrip http.HandlerFunc

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	f(w, r)
	return w.Result(), nil
}
