package platform_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestEchoedCredentials reads the errors of a connector that quotes what it was sent. What
// was typed into a plain text field may stand in a failed check, which the person who typed
// it reads; no other error is theirs alone.
func TestEchoedCredentials(t *testing.T) {
	const schema = `[{"key":"url","label":"URL","type":"text"},{"key":"key","label":"Key","type":"password"},` +
		`{"key":"pem","label":"PEM","type":"textarea"}]`
	credentials := wire.NewCredentials(map[string]string{"url": "https://crm.example.com", "key": "hunter2-hunter2", "pem": "MIIB-line"})
	for _, c := range []struct {
		why      string
		document bool
		code     wire.Code
		want     string
	}{
		{"a failed check, after the document", true, wire.CodeCheckFailed, "https://crm.example.com refuses [redacted] and [redacted]"},
		{"a failed check of a client that does not know which field is a password", false, wire.CodeCheckFailed,
			"[redacted] refuses [redacted] and [redacted]"},
		{"any other refusal", true, wire.CodeUnsupported, "[redacted] refuses [redacted] and [redacted]"},
	} {
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", terms.MediaJSON)
			if r.URL.Path == wire.PathDocument {
				_, _ = io.WriteString(w, `{"protocolVersion":1,"slug":"shop","capabilities":{"operators":[],"dateBucket":false,"sort":"none",`+
					`"offset":false,"join":false,"keysEnforced":false,"limits":{"concurrency":1}},"endpoints":[],"credentialSchema":`+schema+`}`)
				return
			}
			w.WriteHeader(c.code.Status())
			fmt.Fprintf(w, `{"error":{"code":%q,"message":"https://crm.example.com refuses hunter2-hunter2 and MIIB-line"}}`, c.code)
		})
		web, stop := platform.InProcess(handler)
		defer stop()
		client, err := platform.NewClient("https://connector.test", wire.NewBearer(testToken), &platform.Options{HTTP: web})
		require.NoError(t, err)
		if c.document {
			_, err = client.Document(t.Context())
			require.NoError(t, err)
		}
		require.Equal(t, &wire.Error{Code: c.code, Message: c.want}, client.Check(t.Context(), credentials), c.why)
	}
}
