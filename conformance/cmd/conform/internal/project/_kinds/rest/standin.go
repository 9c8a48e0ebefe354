package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
)

// demo are the credentials that the stand-in accepts.
var demo = map[string]string{"apiKey": "demo-key"}

// standIn answers as the API would: two rows a page.
//
// FILL IN: record the answers of the real API once, with package restsource/record, or
// write here what its documentation says.
func standIn(w http.ResponseWriter, r *http.Request) {
	const rows, perPage = 5, 2
	if r.Header.Get("X-Api-Key") != demo["apiKey"] {
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
