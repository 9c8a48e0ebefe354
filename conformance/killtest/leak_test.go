package killtest

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	unescape "html"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// leakTokens are tokens of several shapes.
var leakTokens = map[string]string{
	"mixed case":         "Zq8vRk3nXw7TmB2yLc9dFh4sJg6pKa1e",
	"special characters": `t'0"K$e\n&a=B#c%41+{X}[y]/..;Zq~|(s)!<w>*?^` + "`i`",
	"long hex":           "9f3c1b7ea45d60829f1be37c04d65a8be10f72c39d8467b5ac02f19e6d3b8470",
}

// sampledTokens returns the token that is hardest to write down, and in full all of them.
func sampledTokens() map[string]string {
	if testrun.InFull() {
		return leakTokens
	}
	const hardest = "special characters"
	return map[string]string{hardest: leakTokens[hardest]}
}

// leakCredentials are the credentials of two tenants.
var leakCredentials = []map[string]string{
	{"apiKey": `sK-Live/<8f31+"Xy">&z=1 q%41`, "account": "Acme-Holding-North", "pem": "-----BEGIN\nQUJDREVGR0hJSktMTU5PUA\nEND-----"},
	{"apiKey": "Hunter2-hunter3", "account": "Globex-Holding-South", "pem": "-----BEGIN\nenp6eXl5eHh4d3d3dnZ2dXV1\nEND-----"},
}

// leaker is a connector that tells what it was sent. right reports whether the request has the token.
type leaker struct {
	name  string
	serve func(healthy http.Handler, right bool, token string, w http.ResponseWriter, r *http.Request)
}

// sent returns all of a request that may hold a secret, and leaves the body to be read again.
func sent(r *http.Request) string {
	return strings.Join(r.Header.Values("Authorization"), ",") + " " + r.URL.RawQuery + " " + bodyOf(r)
}

// answersWith returns a leaker that answers with status, and with a text made of the request in the error envelope.
func answersWith(name string, status int, text func(sent string) string) leaker {
	return leaker{name, func(healthy http.Handler, _ bool, _ string, w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			healthy.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", terms.MediaJSON)
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"code":"internal","message":%s}}`, quoteJSON(text(sent(r))))
	}}
}

// streams returns a leaker that answers queries with a line made of the request.
func streams(name, format string) leaker {
	return leaker{name, func(healthy http.Handler, right bool, _ string, w http.ResponseWriter, r *http.Request) {
		if !right || r.URL.Path != wire.PathQuery {
			healthy.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", terms.MediaNDJSON)
		fmt.Fprintf(w, format+"\n", quoteJSON(sent(r)))
	}}
}

func quoteJSON(text string) string { return string(must(wire.Text(text).AppendJSON(nil))) }

var leakers = []leaker{
	{"lets everybody in", func(healthy http.Handler, _ bool, _ string, w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+testToken)
		r.URL.RawQuery = ""
		healthy.ServeHTTP(w, r)
	}},
	{"hangs without the token", func(healthy http.Handler, right bool, _ string, w http.ResponseWriter, r *http.Request) {
		if !right && r.Method == http.MethodPost {
			_ = sent(r)
			<-r.Context().Done()
			return
		}
		healthy.ServeHTTP(w, r)
	}},
	{"hangs after the document", func(healthy http.Handler, _ bool, _ string, w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			_ = sent(r)
			<-r.Context().Done()
			return
		}
		healthy.ServeHTTP(w, r)
	}},
	answersWith("500 with the request", 500, func(s string) string { return s }),
	answersWith("500 in lower case", 500, strings.ToLower),
	answersWith("400 in upper case", 400, strings.ToUpper),
	answersWith("401 with the request", 401, func(s string) string { return s }),
	answersWith("200 with the request", 200, func(s string) string { return s }),
	answersWith("base64", 500, func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }),
	answersWith("base64 for URLs", 500, func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte("ab" + s)) }),
	answersWith("hex", 500, func(s string) string { return hex.EncodeToString([]byte(s)) }),
	answersWith("query escapes", 500, url.QueryEscape),
	answersWith("path escapes", 500, url.PathEscape),
	answersWith("quoted", 500, func(s string) string { return fmt.Sprintf("%q", s) }),
	answersWith("JSON in JSON", 500, quoteJSON),
	answersWith("cut at the end of an excerpt", 500, func(s string) string { return strings.Repeat("-", 230) + s }),
	answersWith("without its ends", 500, func(s string) string { return s[min(len(s)*9/10, 9) : len(s)*9/10] }),
	streams("an error line", `{"error":{"code":"internal","message":%s}}`),
	streams("a line of no kind", `{"wrong":%[1]s,%[1]s:1}`),
	streams("a line that is not JSON", `%s and more`),
	streams("a row", `{"rows":[{"id":%[1]s,%[1]s:1}]}`),
	{"headers", func(healthy http.Handler, _ bool, token string, w http.ResponseWriter, r *http.Request) {
		text := strings.Map(func(c rune) rune {
			if c < ' ' {
				return ' '
			}
			return c
		}, sent(r))
		recorded(w, r, healthy, func(rec *httptest.ResponseRecorder) {
			for _, name := range []string{"Content-Type", "Cache-Control", "Location", "Allow", "X-Request"} {
				rec.Header().Set(name, token+" "+text[:min(len(text), 2000)])
			}
		})
	}},
	{"redirects", func(_ http.Handler, _ bool, token string, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "/"+url.PathEscape(token))
		w.WriteHeader(http.StatusFound)
	}},
	{"breaks HTTP", func(_ http.Handler, _ bool, token string, w http.ResponseWriter, r *http.Request) {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			fmt.Fprintf(conn, "%s %s\r\n\r\n", token, r.Header.Get("Authorization"))
			_ = conn.Close()
		}
	}},
	{"names the token", func(healthy http.Handler, _ bool, token string, w http.ResponseWriter, r *http.Request) {
		name := quoteJSON(token + " " + leakCredentials[0]["apiKey"])
		name = name[1 : len(name)-1]
		withBody(r, []byte(strings.ReplaceAll(bodyOf(r), name, "customers")))
		recorded(w, r, healthy, func(rec *httptest.ResponseRecorder) {
			names := strings.NewReplacer(`"customers"`, `"`+name+`"`, `"fixture"`, `"`+strings.ToLower(token)+`"`)
			rec.Body = bytes.NewBufferString(names.Replace(rec.Body.String()))
		})
	}},
	{"names the token in the document", func(healthy http.Handler, _ bool, token string, w http.ResponseWriter, r *http.Request) {
		recorded(w, r, healthy, func(rec *httptest.ResponseRecorder) {
			rec.Body = bytes.NewBufferString(
				strings.ReplaceAll(rec.Body.String(), `"protocolVersion":`, `"protocolVersion":`+quoteJSON(token)+`,"x":`))
		})
	}},
}

// TestReportsHoldNoSecret grades connectors that tell what they are sent, and
// searches every form of the report for the token and the credentials.
func TestReportsHoldNoSecret(t *testing.T) {
	t.Parallel()
	healthy := func() http.Handler { // one for each bubble: what waits in one must not be woken from another
		return serve(connector.Definition{Credentials: []wire.CredentialField{
			{Key: "apiKey", Label: "API key", Type: wire.CredentialPassword},
			{Key: "account", Label: "Account", Type: wire.CredentialText},
			{Key: "pem", Label: "Key file", Type: wire.CredentialTextarea},
		}}, corpusSource(), nil)
	}
	for shape, token := range sampledTokens() {
		secrets := []string{token}
		for _, set := range leakCredentials {
			secrets = slices.AppendSeq(secrets, maps.Values(set))
		}
		index := indexOf(secrets)
		require.NotEmpty(t, index.find("Basic "+strings.ToUpper(token[1:len(token)-1])), "the search works")
		for i, l := range leakers {
			if !testrun.Runs(i, 24) {
				continue
			}
			t.Run(shape+"/"+l.name, func(t *testing.T) {
				t.Parallel()
				whole := swapped{healthy(), token}
				h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					right := r.Header.Get("Authorization") == "Bearer "+token
					l.serve(whole, right, token, w, r)
				})
				for form, text := range leakReport(t, h, token) {
					found := index.find(text)
					i := max(0, strings.Index(strings.ToLower(text), found))
					require.Empty(t, found, "the %s shows a piece of a secret: ...%s...", form, text[max(0, i-200):min(len(text), i+100)])
				}
			})
		}
	}
}

// swapped serves requests with a token as if they had the connector's own.
type swapped struct {
	http.Handler
	token string
}

func (s swapped) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") == "Bearer "+s.token {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+testToken)
	}
	s.Handler.ServeHTTP(w, r)
}

// leakReport grades a connector and returns everything that is shown of it.
func leakReport(t *testing.T, h http.Handler, token string) map[string]string {
	t.Helper()
	var events strings.Builder
	report := grade(t, h, grading{token: token, credentials: leakCredentials, Options: conformance.Options{
		Timeout: 30 * time.Minute, Requests: testrun.Budget(60), Match: `^(P0|P1|P2\.1|P2\.2|P3\.1|P3\.6|P3\.10|P3\.12|A|T)`,
		Progress: func(e conformance.Event) {
			fmt.Fprintf(&events, "%+v\n", e)
			if e.Done != nil {
				fmt.Fprintf(&events, "%+v %+v\n", *e.Done, e.Done.Request)
			}
		},
	}})
	texts := map[string]string{
		"text": report.Text(false, false), "coloured text": report.Text(true, false), "events": events.String(),
		"error": fmt.Sprint(report.Err()),
	}
	for form, render := range map[string]func() ([]byte, error){"JSON": report.JSON, "JUnit": report.JUnit, "HTML": report.HTML} {
		texts[form] = string(testkit.Must(render())(t))
	}
	return texts
}

// leakIndex holds every piece of 16 characters of some secrets and of their usual
// spellings, in lower case, and the shorter ones whole.
type leakIndex struct {
	pieces map[int]map[string]bool // by length
	begins [1 << 16]bool           // the first two bytes of pieces
}

func indexOf(secrets []string) *leakIndex {
	x := &leakIndex{pieces: map[int]map[string]bool{}}
	for _, secret := range secrets {
		spellings := []string{secret, url.QueryEscape(secret), url.PathEscape(secret), hex.EncodeToString([]byte(secret)),
			strings.Trim(quoteJSON(secret), `"`), strings.Trim(fmt.Sprintf("%q", secret), `"`)}
		for _, part := range []string{secret, secret[1:], secret[2:]} { // as base64 is aligned
			spellings = append(spellings, base64.StdEncoding.EncodeToString([]byte(part[:len(part)/3*3])),
				base64.URLEncoding.EncodeToString([]byte(part[:len(part)/3*3])))
		}
		for _, spelling := range spellings {
			spelling = strings.ToLower(spelling)
			size := min(16, len(spelling))
			if x.pieces[size] == nil {
				x.pieces[size] = map[string]bool{}
			}
			for i := 0; i+size <= len(spelling); i++ {
				x.pieces[size][spelling[i:i+size]] = true
				x.begins[int(spelling[i])<<8|int(spelling[i+1])] = true
			}
		}
	}
	return x
}

// find returns a piece that a text holds in any case, also behind the escapes of HTML and JSON.
func (x *leakIndex) find(text string) string {
	plain := unescape.UnescapeString(text)
	json := strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\u0026`, "&", `\u003c`, "<", `\u003e`, ">").Replace(plain)
	for _, text := range []string{text, plain, json} {
		text = strings.ToLower(text)
		for i := 0; i+1 < len(text); i++ {
			if !x.begins[int(text[i])<<8|int(text[i+1])] {
				continue
			}
			for size, pieces := range x.pieces {
				if i+size <= len(text) && pieces[text[i:i+size]] {
					return text[i : i+size]
				}
			}
		}
	}
	return ""
}

// TestDerivedTokensAreReplayed runs the curl lines of requests whose token a check
// changed, in a real shell, and compares what arrives with what the check sent.
func TestDerivedTokensAreReplayed(t *testing.T) {
	t.Parallel()
	testkit.NeedsShell(t)
	healthy := usual()
	for shape, token := range sampledTokens() {
		for name, accepted := range map[string]string{
			"without its last character": token[:len(token)-1],
			"first half":                 token[:len(token)/2],
			"one character more":         token + "x",
			"lower case":                 strings.ToLower(token),
			"upper case":                 strings.ToUpper(token),
			"query string":               "",
		} {
			if accepted == token {
				continue
			}
			t.Run(shape+"/"+name, func(t *testing.T) {
				t.Parallel()
				var got []string
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					own := r.Header.Get("Authorization")
					inQuery := accepted == "" && r.URL.Query().Get("token") == token
					if own == "Bearer "+token || accepted != "" && own == "Bearer "+accepted || inQuery {
						got = append(got, own+"?"+fmt.Sprint(r.URL.Query()))
						r.Header.Set("Authorization", "Bearer "+testToken)
						r.URL.RawQuery = ""
					}
					healthy.ServeHTTP(w, r)
				}))
				defer server.Close()
				target := conformance.Target{URL: server.URL, Token: wire.NewBearer(token)}
				report, err := gradeAt(t.Context(), target, &conformance.Options{Seed: 1, Match: `^P1\.(2b|3)$`})
				require.NoError(t, err)
				i := slices.IndexFunc(report.Outcomes, func(o conformance.Outcome) bool { return o.Verdict == conformance.Fail })
				require.GreaterOrEqual(t, i, 0, report.Text(false, false))
				o := report.Outcomes[i]
				require.NotContains(t, o.Detail, "cannot be sent again")
				require.Contains(t, report.Text(false, false), "read PLATFORM_CONNECTOR_TOKEN from the environment")
				want := got[len(got)-1]
				got = nil
				require.Contains(t, testkit.Paste(t, o.Request.Curl(), check.EnvToken+"="+token), "HTTP/1.1 200", o.Request.Curl())
				require.Equal(t, []string{want}, got, o.Request.Curl())
			})
		}
	}
}
