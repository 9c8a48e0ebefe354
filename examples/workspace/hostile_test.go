package main

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"

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
	file := func(i string) string {
		return fmt.Sprintf(`{"id":"file_%s","name":"n","type":"t","size":1,"folder_id":"","created_at":null,"updated_at":null}`, i)
	}
	answer := func(status int, contentType, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	tests := []struct {
		name    string
		handler http.HandlerFunc
		code    wire.Code
		cause   string // in the log
	}{
		{"hangs", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, wire.CodeTimeout, ""},
		{"500 with the token", answer(500, "text/plain", "Bearer "+token), wire.CodeInternal, "status 500"},
		{"HTML", answer(200, "text/html", "<html>"+token), wire.CodeInternal, "HTML"},
		{"a wrong type", answer(200, "application/json", `{"data":[{"id":"1","size":"`+token+`"}]}`), wire.CodeInternal, `column \"size\"`},
		{"rows that move", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Get("offset") == "0" {
				answer(200, "application/json", `{"data":[`+file("1")+","+file("2")+`]}`)(w, r)
				return
			}
			answer(200, "application/json", `{"data":[`+file("4")+`]}`)(w, r)
		}, wire.CodeInternal, "moved"},
		{"429 for ever",
			answer(429, "application/json", `{"error":{"code":"RATE_LIMITED","message":"`+token+`"}}`), wire.CodeTimeout, ""},
		{"a token that expired",
			answer(401, "application/json", `{"error":{"code":"UNAUTHORIZED","message":"`+token+`"}}`), wire.CodeBadRequest, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				source, err := restsource.New(generalAPI, tables, &restsource.Options{Transport: exchange.Serve(t, tt.handler)})
				require.NoError(t, err)
				log := &testkit.Log{}
				server := connectortest.Start(t, definition, source, log.Options())
				tenant := server.As(map[string]string{"baseUrl": platform, "token": token}).Unverified()
				_, err = tenant.Query(wire.QueryRequest{Table: "files", Fields: []string{"id", "size"}})
				var failure *wire.Error
				require.True(t, errors.As(err, &failure), "%v", err)
				assert.Equal(t, tt.code, failure.Code, failure.Message)
				assert.Contains(t, log.String(), tt.cause)
				assert.NotContains(t, failure.Message+log.String(), token)
			})
		})
	}
}
