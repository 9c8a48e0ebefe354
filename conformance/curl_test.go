package conformance_test

import (
	"io"
	"net/http"
	"net/http/httptest"
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
	authorized := http.Header{"Authorization": {"Bearer $PLATFORM_CONNECTOR_TOKEN"}}
	for _, c := range []struct {
		name string
		why  string
		req  conformance.Request
		body string // what must arrive; empty: as in req
	}{
		{"document", "no body and no token", conformance.Request{Method: "GET", URL: "/.well-known/service/platform.json"}, ""},
		{"empty body", "still a POST", conformance.Request{Method: "POST", URL: "/check", Header: authorized}, ""},
		{"head", "curl would wait for a body", conformance.Request{Method: "HEAD", URL: "/check"}, ""},
		{"other method", "not a POST although it has a body", conformance.Request{Method: "DELETE", URL: "/check", Body: "{}"}, ""},
		{"get with a body", "not a POST", conformance.Request{Method: "GET", URL: "/check", Body: "{}"}, ""},
		{"credentials", "they come from the environment", conformance.Request{Method: "POST", URL: "/check", Header: authorized,
			Body: `{"credentials":$CONNECTOR_CREDENTIALS,"timeoutMs":1}`}, `{"credentials":` + credentials + `,"timeoutMs":1}`},
		{"second tenant", "the longer name of the variable wins", conformance.Request{Method: "POST", URL: "/check", Header: authorized,
			Body: `{"credentials":$CONNECTOR_CREDENTIALS_2,"timeoutMs":1}`}, `{"credentials":` + second + `,"timeoutMs":1}`},
		{"quotes", "a shell would end the argument",
			conformance.Request{Method: "POST", URL: "/query", Body: `'it''s' "x" \ '\'' \' $HOME ` + "`id` $(id) !! !x"}, ""},
		{"at sign", "curl would read a file", conformance.Request{Method: "POST", URL: "/query", Body: `@/etc/hostname`}, ""},
		{"line breaks", "none is lost, also at the end", conformance.Request{Method: "POST", URL: "/query", Body: "{\r\n\t\"a\": 1}\n\n"}, ""},
		{"control characters", "a terminal acts on them",
			conformance.Request{Method: "POST", URL: "/query", Body: "\x01\x1b[31m\x7f7\u009b31m"}, ""},
		{"not UTF-8", "a clipboard would replace it", conformance.Request{Method: "POST", URL: "/query", Body: "\xff\xfe\xc3(7"}, ""},
		{"invisible and turning", "a reader would not see them",
			conformance.Request{Method: "POST", URL: "/query", Body: "a\u202eb\u200bc\u00a0d\ufeff"}, ""},
		{"beyond the basic plane", "shown as it is", conformance.Request{Method: "POST", URL: "/query", Body: "ünï 🐘 漢"}, ""},
		{"NUL", "no argument can hold one",
			conformance.Request{Method: "POST", URL: "/query", Body: "a\x00b 100%s \\n 'x' $CONNECTOR_CREDENTIALS"},
			"a\x00b 100%s \\n 'x' " + credentials},
		{"long", "longer than an argument may be",
			conformance.Request{Method: "POST", URL: "/query", Body: "-" + strings.Repeat("0123456789é'", 40_000) + "%d"}, ""},
		{"slash and dots", "curl would clean the path", conformance.Request{Method: "POST", URL: "/../a/./b//query/..", Body: "{}"}, ""},
		{"braces", "curl would expand them", conformance.Request{Method: "POST", URL: "/query?a={1,2}&b=[1-3]&c='", Body: "{}"}, ""},
		{"header", "empty, quoted and repeated values arrive", conformance.Request{Method: "POST", URL: "/query", Body: "{}",
			Header: http.Header{"X-Empty": {""}, "X-Quote": {`it's "x"`}, "X-Twice": {"a", "b"}, "Content-Type": {"text/plain"}}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
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
			req := c.req
			req.URL = server.URL + c.req.URL
			line := req.Curl()
			require.NotContains(t, line, credentials)
			require.NotRegexp(t, "[\x00-\x1f\x7f\u0080-\u009f\u00a0\u200b\u202e\ufeff]", line, "one line, and every character shows")

			out := testkit.Paste(t, line, conformance.EnvToken+"="+token,
				conformance.EnvCredentials+"="+credentials, conformance.EnvCredentials2+"="+second)
			require.True(t, strings.HasPrefix(out, "HTTP/1.1 200"), "the status is shown: %s", out)
			require.Len(t, got, 1, "one request")
			a := <-got
			require.Equal(t, c.req.Method, a.method)
			require.Equal(t, c.req.URL, a.uri)
			want := c.body
			if want == "" {
				want = c.req.Body
			}
			require.True(t, want == a.body, "want %.200q, got %.200q", want, a.body)
			for name, values := range c.req.Header {
				if name == "Authorization" {
					values = []string{"Bearer " + token}
				}
				require.Equal(t, values, a.header.Values(name), name)
			}
			if _, own := c.req.Header["Content-Type"]; c.req.Method == http.MethodPost && !own {
				require.Equal(t, "application/json", a.header.Get("Content-Type"))
			}
		})
	}
}
