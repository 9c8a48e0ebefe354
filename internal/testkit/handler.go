package testkit

import (
	"io"
	"net/http"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// JSON answers every request with a status and a body of JSON.
func JSON(status int, body string) http.HandlerFunc { return says(status, terms.MediaJSON, body) }

// NDJSON answers every request with the lines of a stream.
func NDJSON(lines string) http.HandlerFunc { return says(http.StatusOK, terms.MediaNDJSON, lines) }

// says answers a request when it has been read.
func says(status int, media, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", media)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// OnPath answers one route by another handler.
func OnPath(h http.Handler, path string, other http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == path {
			other(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}
