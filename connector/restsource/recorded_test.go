package restsource_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource/record"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// derived is a value that is made of a credential, and that nobody finds by looking for the credential.
func derived(credential string) string {
	sum := hmac.New(sha256.New, []byte(credential))
	sum.Write([]byte("what is signed"))
	return hex.EncodeToString(sum.Sum(nil))
}

// TestRecordedDerived: what the credentials hold, and what was made of them, is in no file of a recording and in no
// name of one, wherever it stands. The recording answers with other credentials too.
func TestRecordedDerived(t *testing.T) {
	// It answers with whatever it is sent: in the addresses of pages, in headers, in rows.
	echoes := &remote{answer: func(r *http.Request) string {
		query := r.URL.Query()
		page := query.Get("page")
		query.Set("page", "2")
		next := "https://" + r.Host + r.URL.EscapedPath() + "?" + query.Encode()
		if page == "2" {
			next = ""
		}
		said := []string{derived(recorded), strings.ReplaceAll(r.URL.Path, "/", " / ")}
		for _, sent := range []map[string][]string{r.Header, query} {
			for _, values := range sent {
				said = append(said, values...)
			}
		}
		return fmt.Sprintf(`{Link: <%s>; rel=next} {"rows": [{"id": %s1, "said": %q}], "next": %q, "account": 8847120}`,
			next, page, strings.Join(said, " "), next)
	}}
	param := func(name string) restsource.Authorize { return restsource.KeyParam(name, "token") }
	edit := func(fn func(r *http.Request, token string)) restsource.Authorize {
		return func(r *http.Request, credentials wire.Credentials) error {
			fn(r, credentials.Get("token"))
			return nil
		}
	}
	const fixed = "https://shop.example/v1"
	for _, c := range []struct {
		name, base string
		authorize  restsource.Authorize
		tokens     [2]string // of the recording, and of the replay
		leaks      []string  // beyond the token
	}{
		{"appid", fixed, param("appid"), [2]string{}, nil},
		{"private_token", fixed, param("private_token"), [2]string{}, nil},
		{"hapikey", fixed, param("hapikey"), [2]string{}, nil},
		{"subscription-key", fixed, param("subscription-key"), [2]string{}, nil},
		{"session", fixed, param("session"), [2]string{}, nil},
		{"any name", fixed, param("q"), [2]string{}, nil},
		{"short ones at the replay", fixed, param("q"), [2]string{"", "k"}, nil},
		{"characters that are escaped", fixed, param("q"), [2]string{"a+b/c d=é\"&", ""},
			[]string{"a+b", "c d=", url.QueryEscape("a+b/c d=é\"&")}},
		{"a signature", fixed, edit(func(r *http.Request, token string) {
			query := r.URL.Query()
			query.Set("x", derived(token))
			r.URL.RawQuery = query.Encode()
		}), [2]string{}, []string{derived(recorded)}},
		{"a cookie", fixed, edit(func(r *http.Request, token string) {
			r.AddCookie(&http.Cookie{Name: "a", Value: derived(token)})
			r.AddCookie(&http.Cookie{Name: "b", Value: token})
		}), [2]string{}, []string{derived(recorded)}},
		{"a header with parts", fixed, edit(func(r *http.Request, token string) {
			r.Header.Set("Authorization", `OAuth realm="x", oauth_signature="`+derived(token)+`"`)
		}), [2]string{}, []string{derived(recorded)}},
		{"a header that is plain elsewhere", fixed, edit(func(r *http.Request, token string) {
			r.Header.Set("User-Agent", derived(token))
		}), [2]string{}, []string{derived(recorded)}},
		{"a path of Authorize", fixed, edit(func(r *http.Request, token string) {
			r.URL = r.URL.JoinPath(derived(token))
			r.URL.RawPath = ""
		}), [2]string{}, []string{derived(recorded)}},
		{"user and password", fixed, edit(func(r *http.Request, token string) { r.SetBasicAuth("me", derived(token)) }), [2]string{},
			[]string{derived(recorded)}},
		{"the path of the base", "https://shop.example/bot{token}/v1", nil, [2]string{}, nil},
		{"the path of a base without credentials", "https://shop.example/hooks/T0hidden99place/v1", nil, [2]string{},
			[]string{"T0hidden99place"}},
		{"a path of words", "https://shop.example/organizations", nil, [2]string{}, nil},
		{"the host of the base", "https://{token}.example/v1", nil, [2]string{}, nil},
		{"a typed address", "{token}", nil,
			[2]string{"https://acme.example/services/T0123/B4567-hidden-place", "https://other.example/another/place"},
			[]string{"acme.example", "T0123/B4567", "B4567-hidden-place"}},
		{"a number", fixed, param("account"), [2]string{"8847120", ""}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			read := func(token string, upstream http.RoundTripper) (*connectortest.Answer, error) {
				tenant, _ := connectAs(t, shopDefinition, map[string]string{"token": token}, restsource.API{Base: c.base, Authorize: c.authorize},
					numbersTable(byURL, func(t *restsource.Table) { t.Columns = append(t.Columns, columns(wire.TypeString, "said")...) }),
					restsource.Options{Transport: &record.Recorder{Dir: dir, Upstream: upstream}})
				return tenant.Query(wire.QueryRequest{Table: "numbers", Fields: []string{"id", "said"}})
			}
			live, replayed := c.tokens[0], c.tokens[1]
			if live == "" {
				live = recorded
			}
			if replayed == "" {
				replayed = "another-credential"
			}
			answer := testkit.Must(read(live, echoes))(t)
			assert.Len(t, answer.Column("id"), 2)
			assertClean(t, dir, append(c.leaks, live)...)
			require.Len(t, filesIn(t, dir), 2)
			if strings.HasSuffix(c.base, "organizations") {
				assert.Contains(t, filesIn(t, dir)[0], "organizations", "a word is no secret")
			}
			answer = testkit.Must(read(replayed, nil))(t, "with other credentials, the same requests are made: %s", filesIn(t, dir))
			assert.Len(t, answer.Column("id"), 2)
		})
	}
}

// recorded is a credential of a recording.
const recorded = "credential-5b1f90"

// filesIn returns the names of the files of a directory.
func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	return testkit.Must(fs.Glob(os.DirFS(dir), "*"))(t)
}

// assertClean requires that no file of a directory, and no name of one, has a text.
func assertClean(t *testing.T, dir string, texts ...string) {
	t.Helper()
	for _, name := range filesIn(t, dir) {
		file := testkit.Must(os.ReadFile(filepath.Join(dir, name)))(t)
		for _, text := range texts {
			assert.NotContains(t, strings.ToLower(name+"\n"+string(file)), strings.ToLower(text))
		}
	}
}

// TestRecordedToken: a token that the API gives out is recorded before any request has
// it. Once one has, it is in no file.
func TestRecordedToken(t *testing.T) {
	dir := t.TempDir()
	read := func(secret string, upstream http.RoundTripper) (string, error) {
		recorder := &record.Recorder{Dir: dir, Upstream: upstream}
		api := restsource.API{Base: "https://shop.example/v1", Authorize: func(r *http.Request, credentials wire.Credentials) error {
			form := url.Values{"client_id": {"c"}, "x": {credentials.Get("token")}}
			grant, err := http.NewRequestWithContext(r.Context(), http.MethodPost, "https://shop.example/oauth?"+form.Encode(),
				strings.NewReader(form.Encode()))
			if err != nil {
				return err
			}
			res, err := recorder.RoundTrip(grant)
			if err != nil {
				return err
			}
			token, err := io.ReadAll(res.Body)
			r.Header.Set("Authorization", "Bearer "+strings.Split(string(token), `"`)[3])
			return err
		}}
		tenant, _ := connectAs(t, shopDefinition, map[string]string{"token": secret}, api, numbersTable(onePage),
			restsource.Options{Transport: recorder})
		answer, err := tenant.Query(allNumbers)
		if err != nil {
			return "", err
		}
		return answer.JSON(), nil
	}
	upstream := testkit.Transport(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPost {
			return reply(200, `{"access": "`+derived(recorded)+`", "n": 17}`), nil
		}
		return reply(200, bodyOfOne), nil
	})
	live := testkit.Must(read(recorded, upstream))(t)
	require.Len(t, filesIn(t, dir), 2)
	assertClean(t, dir, recorded, derived(recorded))
	assert.Equal(t, live, testkit.Must(read("another-credential", nil))(t))
	require.NoError(t, os.Remove(filepath.Join(dir, filesIn(t, dir)[0]))) // the page
	_, err := read("another-credential", nil)
	requireCode(t, wire.CodeInternal, err) // a missing recording is not an empty page, and nothing to wait for
}

// TestDerivedInLogs: what Authorize makes of a credential is in no log [rule credential-9], wherever it puts it, and whether
// the transport quotes it, or Authorize itself.
func TestDerivedInLogs(t *testing.T) {
	for place, put := range map[string]func(r *http.Request, secret string){
		"a header": func(r *http.Request, secret string) { r.Header.Set("X-Signature", secret) },
		"a parameter": func(r *http.Request, secret string) {
			r.URL.RawQuery = url.Values{"x": {secret}}.Encode()
		},
		"a path":     func(r *http.Request, secret string) { r.URL.Path += "/" + secret },
		"a password": func(r *http.Request, secret string) { r.URL.User = url.UserPassword("shop", secret) },
	} {
		for name, fails := range map[string][3]error{
			"the transport": {nil, errors.New("Get \"https://shop.example/?x=" + derived(recorded) + "\": no route"), errors.New("timeout")},
			"Authorize":     {errors.New("token " + derived(recorded) + " is refused"), nil, errors.New("is refused")},
		} {
			testkit.Bubble(t, place+" and "+name, func(t *testing.T) {
				var log testkit.Log
				api := restsource.API{Base: "https://shop.example/v1", Authorize: func(r *http.Request, credentials wire.Credentials) error {
					put(r, derived(credentials.Get("token")))
					return fails[0]
				}}
				src := testkit.Must(restsource.New(api, numbersTable(onePage), &restsource.Options{Attempts: 1,
					Transport: testkit.Fails(fails[1])}))(t)
				_, err := connectortest.Start(t, shopDefinition, src, connectors.Logging(&log)).
					As(map[string]string{"token": recorded}).Unverified().Query(allNumbers)
				require.Error(t, err)
				assert.NotContains(t, src.Check(t.Context(), checkOf("token", recorded)).Error(), derived(recorded), "a host may log it")
				synctest.Wait() // the request is logged when it is over
				assert.NotContains(t, log.String()+err.Error(), derived(recorded))
				assert.Contains(t, log.String(), fails[2].Error(), "the rest is there")
			})
		}
	}
}

// TestConvertQuotes: an error of Column.Convert does not take the value into the log.
func TestConvertQuotes(t *testing.T) {
	_, said, err := query(t, numbersTable(onePage, func(t *restsource.Table) {
		t.Columns[0].Convert = func(v any) (wire.Value, error) { return wire.Null(), fmt.Errorf("parsing %q: wrong", v) }
	}), inTurn(`{"rows": [{"id": "`+secretText+`"}]}`), allNumbers)
	requireCode(t, wire.CodeInternal, err)
	assert.NotContains(t, said, secretText)
	assert.Contains(t, said, "parsing")
}
