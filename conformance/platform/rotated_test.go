package platform_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestRotated changes the token and the credentials while an answer is read. Its first page
// and its last come, and what is asked through the new connection carries the new ones.
func TestRotated(t *testing.T) {
	t.Parallel()
	const newToken = "the-token-that-comes-after-the-first-one"
	var mu sync.Mutex
	var tokens, keys []string
	h := tabled(numbered(20, true), wire.Limits{PageSizeMax: 10, Concurrency: 1}, connector.Omit{})
	conn := connectTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		own := r.Clone(r.Context())
		own.Header.Set("Authorization", "Bearer "+testToken)
		bodies(h, func(_ string, body map[string]any) {
			mu.Lock()
			defer mu.Unlock()
			tokens = append(tokens, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
			key, _ := body["credentials"].(map[string]any)["apiKey"].(string)
			keys = append(keys, key)
		}).ServeHTTP(w, own)
	}), nil)
	tokens, keys = nil, nil
	answer, err := conn.Query(t.Context(), &wire.QueryRequest{Table: "numbered", Fields: []string{"id"}})
	require.NoError(t, err)
	n := 0
	var next *platform.Connection
	for _, err := range answer.All() {
		require.NoError(t, err)
		if n++; n == 1 {
			next = conn.Rotated(wire.NewBearer(newToken), wire.NewCredentials(map[string]string{"apiKey": "new-key"}))
		}
	}
	require.Equal(t, 20, n)
	_, _, err = next.Size(t.Context(), "numbered")
	require.NoError(t, err)
	_, err = next.Refresh(t.Context())
	require.NoError(t, err)
	require.Equal(t, slices.Repeat([]string{testToken}, len(tokens)-2), tokens[:len(tokens)-2])
	require.Equal(t, []string{newToken, newToken}, tokens[len(tokens)-2:])
	require.Equal(t, []string{"", "new-key", "new-key"}, keys[len(keys)-3:])
}

// TestCopiesHideTheToken answers with the token, which no error and no step has to show
// through a connection that was made from another one.
func TestCopiesHideTheToken(t *testing.T) {
	t.Parallel()
	h := tabled(numbered(20, true), wire.Limits{}, connector.Omit{})
	conn := connectTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != wire.PathSize {
			h.ServeHTTP(w, r)
			return
		}
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"code":"bad_request","message":"you sent `+token+`"}}`)
	}), nil)
	var shown []string
	show := func(s platform.Step) { shown = append(shown, s.Text) }
	const newToken = "the-token-that-comes-after-the-first-one"
	for _, c := range []*platform.Connection{conn, conn.Observed(show),
		conn.Rotated(wire.NewBearer(newToken), wire.Credentials{}).Observed(show)} {
		_, _, err := c.Size(t.Context(), "numbered")
		require.ErrorContains(t, err, "you sent")
		require.NotContains(t, err.Error(), testToken)
		require.NotContains(t, err.Error(), newToken)
	}
	require.NotEmpty(t, shown)
	require.NotContains(t, strings.Join(shown, "\n"), testToken)
	require.NotContains(t, strings.Join(shown, "\n"), newToken)
}
