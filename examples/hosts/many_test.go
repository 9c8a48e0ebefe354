package main

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const secret = "a-secret-of-the-host-for-tests-0123456789"

// TestMany: each connector answers under its own path and token, and no other, in
// every router.
func TestMany(t *testing.T) {
	list, err := handlers(secret)
	require.NoError(t, err)
	for name, host := range hosts {
		t.Run(name, func(t *testing.T) {
			handler := host(list)
			for _, c := range []struct {
				why, method, path, token string
				status                   int
				contains                 string
			}{
				{"a document needs no token", "GET", "/peaks/.well-known/service/platform.json", "", 200, `"slug":"peaks"`},
				{"each path has its own document", "GET", "/oceans/.well-known/service/platform.json", "", 200, `"slug":"oceans"`},
				{"its own token", "POST", "/peaks/discovery", derive(secret, "/peaks"), 200, `"summit"`},
				{"its own token", "POST", "/oceans/discovery", derive(secret, "/oceans"), 200, `"deepest"`},
				{"the neighbour's token", "POST", "/peaks/discovery", derive(secret, "/oceans"), 401, `"unauthorized"`},
				{"the host's secret is nobody's token", "POST", "/peaks/discovery", secret, 401, `"unauthorized"`},
				{"nothing at the root", "POST", "/discovery", derive(secret, "/peaks"), 404, ""},
				{"an escaped path is another path, refused in the envelope", "POST", "/peaks/%64iscovery", derive(secret, "/peaks"), 404, `"not_found"`},
			} {
				r := httptest.NewRequest(c.method, c.path, strings.NewReader(`{"credentials":{},"timeoutMs":5000}`))
				if c.token != "" {
					r.Header.Set("Authorization", "Bearer "+c.token)
				}
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r)
				require.Equal(t, c.status, w.Code, c.why)
				require.Contains(t, w.Body.String(), c.contains, c.why)
			}
		})
	}
	_, err = handlers("short")
	require.ErrorContains(t, err, "PLATFORM_CONNECTOR_TOKEN")
}
