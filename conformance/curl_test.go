package conformance_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
)

// TestCurlWorksAsPasted runs the lines that reports show, in a real shell, and
// compares what arrives byte by byte.
func TestCurlWorksAsPasted(t *testing.T) {
	t.Parallel()
	testkit.NeedsShell(t)
	const token, credentials, second = `t'0 "k"$e\n`, `{"key":"it's $HOME \"x\" \\ ` + "`id`" + `"}`, `{"key":"other"}`
	headers := map[string]http.Header{
		"header": {"X-Empty": {""}, "X-Quote": {`it's "x"`}, "X-Twice": {"a", "b"}, "Content-Type": {"text/plain"}},
	}
	for _, name := range []string{"empty body", "credentials", "second tenant"} {
		headers[name] = http.Header{"Authorization": {"Bearer $PLATFORM_CONNECTOR_TOKEN"}}
	}
	spelled := strings.NewReplacer("CREDENTIALS", credentials, "SECOND", second)
	long := strings.NewReplacer("LONG", strings.Repeat("0123456789é'", 40_000))
	for _, c := range testkit.Table(t, "testdata/curl.tsv", 6) {
		t.Run(c[0], func(t *testing.T) {
			t.Parallel()
			want := long.Replace(testkit.Must(strconv.Unquote(c[4]))(t))
			req := conformance.Request{Method: c[2], Header: headers[c[0]], Body: want}
			if c[5] != "=" {
				want = spelled.Replace(testkit.Must(strconv.Unquote(c[5]))(t))
			}
			type arrived struct {
				method, uri, body string
				header            http.Header
			}
			got := make(chan arrived, 2)
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got <- arrived{r.Method, r.RequestURI, string(body), r.Header}
			}))
			defer server.Close()
			req.URL = server.URL + c[3]
			line := req.Curl()
			require.NotContains(t, line, credentials)
			require.NotRegexp(t, "[\x00-\x1f\x7f\u0080-\u009f\u00a0\u200b\u202e\ufeff]", line, "one line, and every character shows")

			out := testkit.Paste(t, line, conformance.EnvToken+"="+token,
				conformance.EnvCredentials+"="+credentials, conformance.EnvCredentials2+"="+second)
			require.True(t, strings.HasPrefix(out, "HTTP/1.1 200"), "the status is shown: %s", out)
			require.Len(t, got, 1, "one request")
			a := <-got
			require.Equal(t, c[2], a.method, c[1])
			require.Equal(t, c[3], a.uri, c[1])
			require.True(t, want == a.body, "%s: want %.200q, got %.200q", c[1], want, a.body)
			for name, values := range req.Header {
				if name == "Authorization" {
					values = []string{"Bearer " + token}
				}
				require.Equal(t, values, a.header.Values(name), name)
			}
			if _, own := req.Header["Content-Type"]; req.Method == http.MethodPost && !own {
				require.Equal(t, "application/json", a.header.Get("Content-Type"))
			}
		})
	}
}
