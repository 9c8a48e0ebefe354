package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestTargetShowsNoSecret prints, logs and marshals a target and what may hold one.
func TestTargetShowsNoSecret(t *testing.T) {
	target := conformance.Target{
		URL:         "https://connect.example.com/shop",
		Token:       wire.NewBearer(testToken),
		Credentials: []wire.Credentials{wire.NewCredentials(map[string]string{"apiKey": `sk-live-<8f31/"x">`})},
	}
	holder := struct{ inner *conformance.Target }{&target}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		fmt.Fprintf(&out, verb, target)
		fmt.Fprintf(&out, verb, target.Token)
		fmt.Fprintf(&out, verb, *holder.inner)
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("graded", "target", target, "token", target.Token)
	out.Write(testkit.Must(json.Marshal(target.Token))(t))
	require.NotContains(t, out.String(), testToken)
	require.NotContains(t, out.String(), fmt.Sprintf("%x", testToken))
	require.NotContains(t, out.String(), "8f31")
	require.Equal(t, testToken, target.Token.Reveal())
}

// TestUnusableTargets requires that no run begins where the address or a secret cannot be used, and that the error has no secret.
func TestUnusableTargets(t *testing.T) {
	for _, c := range []struct {
		why    string
		target conformance.Target
		says   string
	}{
		{"no URL", conformance.Target{Token: wire.NewBearer(testToken)}, "no endpoint URL"},
		{"no scheme", conformance.Target{URL: "localhost:8080", Token: wire.NewBearer(testToken)}, "https:// or http://"},
		{"another scheme", conformance.Target{URL: "ftp://x.test", Token: wire.NewBearer(testToken)}, `not "ftp"`},
		{"no host", conformance.Target{URL: "https:///shop", Token: wire.NewBearer(testToken)}, "has no host"},
		{"does not parse", conformance.Target{URL: "https://x.test/%zz" + testToken, Token: wire.NewBearer(testToken)}, "does not parse"},
		{"a user name", conformance.Target{URL: "https://me:secret@x.test", Token: wire.NewBearer(testToken)}, "holds a user name"},
		{"a query", conformance.Target{URL: "https://x.test?token=secret", Token: wire.NewBearer(testToken)}, "query or a fragment"},
		{"the document's URL", conformance.Target{URL: "https://x.test" + wire.PathDocument,
			Token: wire.NewBearer(testToken)}, "that of the document"},
		{"no token", conformance.Target{URL: "https://x.test"}, conformance.EnvToken},
		{"a token with a line break",
			conformance.Target{URL: "https://x.test", Token: wire.NewBearer("secret\r\nX: y")}, "no header can carry"},
		{"three tenants", conformance.Target{URL: "https://x.test", Token: wire.NewBearer(testToken),
			Credentials: make([]wire.Credentials, 3)}, "more than two"},
	} {
		t.Run(c.why, func(t *testing.T) {
			report, err := conformance.Run(t.Context(), c.target, nil)
			require.Nil(t, report)
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), "secret")
			require.NotContains(t, err.Error(), testToken)
		})
	}
}

// TestPublicTarget grades a connector in a private network as the platform would.
func TestPublicTarget(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()
	target := conformance.Target{URL: server.URL, Token: wire.NewBearer(testToken), Public: true}
	r := testkit.Must(conformance.Run(t.Context(), target, &conformance.Options{Mode: conformance.ModeLive}))(t)
	require.Equal(t, conformance.ExitNotRun, r.Exit())
	require.Contains(t, r.Problem, "the platform would refuse this address: 127.0.0.1 is this host")
	require.Zero(t, asked.Load(), "nothing was sent there")
}
