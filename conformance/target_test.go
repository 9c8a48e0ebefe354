package conformance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestTargetShowsNoSecret prints, logs and marshals a target and what may hold one.
func TestTargetShowsNoSecret(t *testing.T) {
	target := conformance.Target{
		URL:         "https://connect.example.com/shop",
		Token:       wire.NewBearer(testToken),
		Credentials: []wire.Credentials{wire.NewCredentials(map[string]string{"apiKey": goodKey})},
	}
	holder := struct{ inner *conformance.Target }{&target}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		fmt.Fprintf(&out, verb, target)
		fmt.Fprintf(&out, verb, target.Token)
		fmt.Fprintf(&out, verb, *holder.inner)
	}
	slog.New(slog.NewTextHandler(&out, nil)).Info("graded", "target", target, "token", target.Token)
	body, err := json.Marshal(target.Token)
	require.NoError(t, err)
	out.Write(body)
	require.NotContains(t, out.String(), testToken)
	require.NotContains(t, out.String(), fmt.Sprintf("%x", testToken))
	require.NotContains(t, out.String(), "8f31")
	require.Equal(t, testToken, target.Token.Reveal())
}
