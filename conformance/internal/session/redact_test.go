package session

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestScrub cleans findings of checks that forgot to say how a token was changed.
func TestScrub(t *testing.T) {
	const token, key, pin = "Zq8vRk3nXw7TmB2yLc9dFh4sJg6pKa1e", "Hunter2-hunter3", "8421"
	s, err := New(Config{Base: "https://example.com", Token: token,
		Credentials: []wire.Credentials{wire.NewCredentials(map[string]string{"key": key, "pin": pin})}})
	require.NoError(t, err)
	const note = " (the request cannot be sent again as it is shown: [token] and [redacted] stand for secrets)"
	for _, c := range []struct {
		why, authorization, query, body   string
		wantAuthorization, wantURL, wants string
		note                              string
	}{
		{"a right token", "Bearer " + token, "token=" + token, `{"credentials":{"key":"` + key + `","pin":"` + pin + `"}}`,
			"Bearer $PLATFORM_CONNECTOR_TOKEN", "?token=$PLATFORM_CONNECTOR_TOKEN", `{"credentials":$CONNECTOR_CREDENTIALS}`, ""},
		{"a registered value", "Bearer " + s.Derive(token[:31], check.TokenWithoutLast), "a=b", "{}",
			"Bearer ${PLATFORM_CONNECTOR_TOKEN%?}", "?a=b", "{}", ""},
		{"an unregistered value", "Bearer " + token[1:], "t=" + token[2:20], "{}", "Bearer [token]", "?t=[token]", "{}", note},
		{"too short a piece to tell", "Bearer " + token[:15], "a=b", "{}", "Bearer " + token[:15], "?a=b", "{}", ""},
		{"other credentials", "Bearer x", "a=b", `{"credentials":{"key":"` + key[:14] + `","pin":"` + pin + `"}}`,
			"Bearer x", "?a=b", `{"credentials":{"key":"[redacted]","pin":"[redacted]"}}`, note},
	} {
		call := Call{Method: http.MethodPost, Path: wire.PathCheck, Query: c.query, Body: []byte(c.body),
			Authorization: []string{c.authorization}}
		shown := s.Shown(call)
		f := &check.Finding{Detail: "wrong", Request: shown}
		s.scrub(f)
		require.Equal(t, c.wantAuthorization, f.Request.Header.Get("Authorization"), c.why)
		require.Equal(t, "https://example.com/check"+c.wantURL, f.Request.URL, c.why)
		require.Equal(t, c.wants, f.Request.Body, c.why)
		require.Equal(t, "wrong"+c.note, f.Detail, c.why)
		require.Equal(t, s.Shown(call), shown, "the request that others may quote is left as it was")
	}
}
