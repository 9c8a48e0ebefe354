package lifecycle_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/cmd/connect/internal/lifecycle"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	goodToken  = "good-token-0123456789abcdef-012345"
	otherToken = "other-token-0123456789abcdef-01234"
	base       = "https://connector.test/shop"
)

// host is a connector whose answers to /check a test decides. It records what it was sent.
type host struct {
	check func(credentials map[string]string) (status int, body string)
	// onDocument is called when the document is fetched.
	onDocument func()
	status     int // of the document; 0: it is served

	checked []map[string]string // the credentials of each /check
}

const shopDocument = `{"protocolVersion": 1, "slug": "shop",
	"capabilities": {"operators": [], "dateBucket": false, "sort": "none", "offset": false, "join": false, "keysEnforced": false,
		"limits": {}},
	"credentialSchema": [
		{"key": "apiKey", "label": "API key", "type": "password"},
		{"key": "account", "label": "Account", "type": "text", "required": true},
		{"key": "note", "label": "Note", "type": "textarea", "required": false}],
	"endpoints": [], "later": {"member": "unknown"}}`

const (
	accepted     = `{"ok": true}`
	unauthorized = `{"error": {"code": "unauthorized", "message": "the bearer token is wrong"}}`
	failedCheck  = `{"error": {"code": "check_failed", "message": "The shop says: \"no\".  Ask <Zoë>."}}`
)

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/shop" + wire.PathDocument:
		if h.onDocument != nil {
			h.onDocument()
		}
		testkit.JSON(cmp.Or(h.status, http.StatusOK), shopDocument)(w, r)
	case "/shop" + wire.PathCheck:
		var request struct{ Credentials map[string]string }
		_ = json.Unmarshal(testkit.Body(r), &request)
		h.checked = append(h.checked, request.Credentials)
		status, text := http.StatusUnauthorized, unauthorized
		if r.Header.Get("Authorization") == "Bearer "+goodToken {
			status, text = http.StatusOK, accepted
			if h.check != nil {
				status, text = h.check(request.Credentials)
			}
		}
		testkit.JSON(status, text)(w, r)
	default:
		testkit.JSON(http.StatusNotFound, `{"error": {"code": "not_found", "message": "no such path"}}`)(w, r)
	}
}

// newForm returns a form that reaches the handler under every host name.
func newForm(t *testing.T, h http.Handler) *lifecycle.Form {
	t.Helper()
	client, stop := memlisten.Client(h)
	t.Cleanup(stop)
	return lifecycle.NewForm(&platform.Options{HTTP: client})
}

// read returns a form that has read the document of the connector at a URL.
func read(t *testing.T, h http.Handler, url string) *lifecycle.Form {
	t.Helper()
	f := newForm(t, h)
	f.SetURL(url)
	f.SetToken(goodToken)
	require.NoError(t, f.Read(t.Context()))
	return f
}

// filled returns a form in which the credentials of a host are filled in.
func filled(t *testing.T, h *host) *lifecycle.Form {
	t.Helper()
	f := read(t, h, base)
	f.SetCredential("apiKey", "sk-1")
	f.SetCredential("account", "a-1")
	return f
}

// TestFormRead presses Read connector.
func TestFormRead(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/reads.tsv", 6) {
		name, why, url, token, want := c[0], c[1], strings.Replace(c[2], "GOOD", base, 1), strings.Replace(c[3], "GOOD", goodToken, 1), c[5]
		t.Run(name, func(t *testing.T) {
			h := &host{check: func(map[string]string) (int, string) {
				status, body, _ := strings.Cut(c[4], " ")
				return testkit.Must(strconv.Atoi(status))(t), strings.Replace(body, "FAILED", failedCheck, 1)
			}}
			f := newForm(t, h)
			require.NotEmpty(t, f.WhyNotRead())
			f.SetURL(url)
			require.NotEmpty(t, f.WhyNotRead(), "there is no token")
			f.SetToken(token)
			require.Empty(t, f.WhyNotRead())
			err := f.Read(t.Context())
			if want == "ok" {
				require.NoError(t, err, why)
				require.Equal(t, "shop", f.Document().Slug, why)
				labels := []string{}
				for _, field := range f.Document().CredentialSchema {
					labels = append(labels, field.Label)
				}
				require.Equal(t, []string{"API key", "Account", "Note"}, labels)
				require.Equal(t, []map[string]string{{}}, h.checked, "nothing was typed, so nothing is sent")
				return
			}
			require.Error(t, err, why)
			require.Nil(t, f.Document(), why)
			if want == "REJECTED" {
				require.EqualError(t, err, "The connector rejected the token", why)
				require.ErrorIs(t, err, lifecycle.TokenRejected)
			} else {
				require.Contains(t, err.Error(), want, why)
			}
			require.NotContains(t, err.Error(), goodToken)
		})
	}
}

// TestFormForgets changes what the document was read with.
func TestFormForgets(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*lifecycle.Form)
		reads  bool // the document is kept
		keeps  bool // the typed credentials are kept
		why    string
	}{
		{"another URL", func(f *lifecycle.Form) { f.SetURL(base + "/2") }, false, false,
			"the credentials belong to the other connector"},
		{"another token", func(f *lifecycle.Form) { f.SetToken(otherToken) }, false, true, "it is the same connector"},
		{"the same URL", func(f *lifecycle.Form) { f.SetURL(base) }, true, true, "nothing was changed"},
		{"the same token", func(f *lifecycle.Form) { f.SetToken(goodToken) }, true, true, "nothing was changed"},
		{"another name", func(f *lifecycle.Form) { f.SetName("Shop") }, true, true, "a name reaches no connector"},
		{"the same addresses", func(f *lifecycle.Form) { f.SetLocal(false) }, true, true, "nothing was changed"},
		{"local addresses", func(f *lifecycle.Form) { f.SetLocal(true) }, false, true, "the document was read by other rules"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &host{}
			f := filled(t, h)
			require.Empty(t, f.WhyNotTest())
			c.change(f)
			require.Equal(t, c.reads, f.Document() != nil, c.why)
			require.Equal(t, c.keeps, f.HasCredential("apiKey"), c.why)
			require.Equal(t, c.reads, f.WhyNotTest() == "", c.why)
			if !c.reads {
				require.ErrorContains(t, f.Test(t.Context()), "read the connector first", c.why)
				f.SetURL(base)
				f.SetToken(goodToken)
				require.NoError(t, f.Read(t.Context()))
				require.Equal(t, []map[string]string{{}, {}}, h.checked, "reading tries the token alone")
			}
		})
	}
}

// TestFormGates names what Test connection needs.
func TestFormGates(t *testing.T) {
	h := &host{check: func(map[string]string) (int, string) { return 400, failedCheck }}
	f := newForm(t, h)
	f.SetURL(base)
	f.SetToken(goodToken)
	require.NotEmpty(t, f.WhyNotTest(), "the document has not been read")
	require.NoError(t, f.Read(t.Context()))
	require.NotEmpty(t, f.WhyNotTest(), "two fields are required")
	require.EqualError(t, f.Test(t.Context()), "API key is required.")
	f.SetCredential("apiKey", "sk-1")
	require.NotEmpty(t, f.WhyNotTest(), "one field is required")
	f.SetCredential("account", "")
	require.NotEmpty(t, f.WhyNotTest(), "a blank value is none")
	f.SetCredential("account", "a-1")
	require.Empty(t, f.WhyNotTest(), "the third field is optional")
	f.SetCredential("account", "")
	require.NotEmpty(t, f.WhyNotTest(), "the value was taken away")
	require.Len(t, h.checked, 1, "nothing is posted while a required field is blank")
}

// TestFormShortToken reads a connector that takes any token, against the rules. Test connection
// still wants 32 characters.
func TestFormShortToken(t *testing.T) {
	h := &host{}
	f := newForm(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+goodToken)
		h.ServeHTTP(w, r)
	}))
	f.SetURL(base)
	f.SetCredential("apiKey", "sk-1")
	f.SetCredential("account", "a-1")
	for length, can := range map[int]bool{31: false, 32: true} {
		for _, character := range []string{"x", "é"} {
			f.SetToken(strings.Repeat(character, length))
			require.NoError(t, f.Read(t.Context()))
			require.Equal(t, can, f.WhyNotTest() == "", "%d characters %s", length, character)
			if err := f.Test(t.Context()); !can {
				require.EqualError(t, err, "The token is too short: it has 32 characters or more.")
			}
		}
	}
}

// TestFormTest presses Test connection.
func TestFormTest(t *testing.T) {
	h := &host{}
	f := filled(t, h)
	f.SetCredential("note", "")
	f.SetCredential("forgotten", "of another connector")
	require.NoError(t, f.Test(t.Context()))
	require.Equal(t, map[string]string{"apiKey": "sk-1", "account": "a-1"}, h.checked[1],
		"a blank optional field and what the document does not ask for are not sent")

	h.check = func(map[string]string) (int, string) { return 400, failedCheck }
	require.EqualError(t, f.Test(t.Context()), `The shop says: "no".  Ask <Zoë>.`, "the connector's words, unchanged")
	h.check = func(map[string]string) (int, string) { return 401, unauthorized }
	require.EqualError(t, f.Test(t.Context()), "The connector rejected the token", "it was changed on the host in the meantime")
	h.check = func(map[string]string) (int, string) { return 200, `{"ok": false}` }
	require.Error(t, f.Test(t.Context()), "an answer that the protocol does not know proves nothing")
}

// TestFormsOfTenants fills the form of two tenants: both with the same base URL, each
// with credentials of their own, which alone are sent for them.
func TestFormsOfTenants(t *testing.T) {
	h := &host{check: func(credentials map[string]string) (int, string) {
		if credentials["account"] == "closed" {
			return 400, failedCheck
		}
		return 200, accepted
	}}
	open, closed := filled(t, h), filled(t, h)
	closed.SetCredential("account", "closed")
	h.checked = nil
	require.NoError(t, open.Test(t.Context()))
	require.ErrorContains(t, closed.Test(t.Context()), "Ask <Zoë>.")
	require.NoError(t, open.Test(t.Context()), "what one tenant types is nothing to the other")
	require.Equal(t, []map[string]string{
		{"apiKey": "sk-1", "account": "a-1"}, {"apiKey": "sk-1", "account": "closed"}, {"apiKey": "sk-1", "account": "a-1"},
	}, h.checked)
}

// TestFormEditedWhileReading changes the token while the document is on its way.
func TestFormEditedWhileReading(t *testing.T) {
	h := &host{}
	f := newForm(t, h)
	f.SetURL(base)
	f.SetToken(goodToken)
	h.onDocument = func() { f.SetToken(otherToken) }
	require.ErrorContains(t, f.Read(t.Context()), "changed in the meantime")
	require.Nil(t, f.Document(), "it was read with another token")

	// The answer to the earlier token says nothing of the one that was typed since.
	f.SetToken(otherToken)
	h.onDocument = func() { f.SetToken(goodToken) }
	require.ErrorContains(t, f.Read(t.Context()), "changed in the meantime")
	h.status, h.onDocument = http.StatusNotFound, func() { f.SetToken(otherToken) }
	require.ErrorContains(t, f.Read(t.Context()), "changed in the meantime")
	h.status = 0

	for name, change := range map[string]func(){
		"URL": func() { f.SetURL(base + "/2") }, "rules": func() { f.SetLocal(true) },
	} {
		f.SetURL(base)
		h.onDocument = change
		require.ErrorContains(t, f.Read(t.Context()), "changed in the meantime", name)
		require.Nil(t, f.Document(), name)
	}
}

// TestFormReadAgain reads a connector whose host has changed the token since.
func TestFormReadAgain(t *testing.T) {
	h := &host{}
	f := filled(t, h)
	require.Empty(t, f.WhyNotTest())
	h.check = func(map[string]string) (int, string) { return 401, unauthorized }
	require.ErrorIs(t, f.Read(t.Context()), lifecycle.TokenRejected)
	require.Nil(t, f.Document(), "the token that the form holds reads nothing")
	require.NotEmpty(t, f.WhyNotTest())
	h.check = nil
	require.NoError(t, f.Read(t.Context()))
	h.status = http.StatusNotFound
	require.ErrorContains(t, f.Read(t.Context()), "No connector answers at this address. Check the path: "+wire.PathDocument)
	require.Nil(t, f.Document(), "there is no connector any more")
	require.True(t, f.HasCredential("apiKey"), "what was typed is kept")
}

// TestAddress reads connectors whose addresses were typed as people do.
func TestAddress(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/addresses.tsv", 3) {
		typed := testkit.Must(strconv.Unquote(c[1]))(t)
		f := newForm(t, &host{})
		f.SetLocal(true)
		f.SetURL(typed)
		f.SetToken(goodToken)
		_ = f.Read(t.Context())
		require.Equal(t, strings.TrimPrefix(c[2], "-"), f.URL(), c[0])
	}
}

// TestWrongCredentials connects a form whose credentials the connector rejects. Nothing is graded.
func TestWrongCredentials(t *testing.T) {
	h := &host{}
	f := filled(t, h)
	grades := make(chan string, 4)
	options := func(_ context.Context, asked conformance.Target, _ *conformance.Options) (*conformance.Report, error) {
		grades <- asked.Credentials[0].Get("apiKey")
		return &conformance.Report{}, nil
	}
	s := testkit.Must(lifecycle.Add(t.Context(), f, options))(t)
	defer s.Close()
	good := <-grades
	const said = `The shop says: "no".  Ask <Zoë>.`
	wrong := func(map[string]string) (int, string) { return http.StatusBadRequest, failedCheck }
	h.check = wrong
	_, err := lifecycle.Add(t.Context(), f, options)
	require.EqualError(t, err, said)
	again := s.Reconnect()
	h.check = nil
	require.NoError(t, again.Read(t.Context()))
	again.SetCredential("apiKey", "another")
	again.SetCredential("account", "account-of-a-tenant")
	h.check = wrong
	require.EqualError(t, s.Rebind(t.Context(), again), said)
	_, credentials := s.Client()
	require.Equal(t, good, credentials.Get("apiKey"), "the source is as it was")
	s.Close()
	require.Empty(t, grades)
}

// TestSecondAccount requires that a second account is complete or left out, is tried before a connector is graded with
// it, and is as secret as the first.
func TestSecondAccount(t *testing.T) {
	h := &host{check: func(credentials map[string]string) (int, string) {
		if credentials["apiKey"] == "sk-2-of-another" {
			return http.StatusBadRequest, failedCheck
		}
		return http.StatusOK, accepted
	}}
	f := filled(t, h)
	require.Empty(t, f.WhyNotTest(), "a second account is optional")
	f.SetSecond("apiKey", "sk-2-of-another")
	require.True(t, f.HasSecond("apiKey"))
	require.Equal(t, "Second account: Account is required.", f.WhyNotTest())
	f.SetSecond("account", "a-2")
	require.EqualError(t, f.Test(t.Context()), `Second account: The shop says: "no".  Ask <Zoë>.`)
	require.Equal(t, "[redacted] of a-2", f.Clean("sk-2-of-another of a-2"))
	require.NotContains(t, fmt.Sprintf("%+v", f), "sk-2-of-another")
	f.SetSecond("apiKey", "")
	f.SetSecond("account", "")
	require.NoError(t, f.Test(t.Context()), "what was emptied is left out")
	f.SetSecond("apiKey", "sk-2-of-another")
	f.SetURL(base + "/elsewhere")
	require.False(t, f.HasSecond("apiKey"), "another connector gets nothing of it")
}

// TestClean cuts secrets out of texts: of the form those that its document hides, of the source all.
func TestClean(t *testing.T) {
	f := filled(t, &host{})
	f.SetCredential("apiKey", "sk-0123-4567")
	f.SetCredential("account", "account-of-a-tenant")
	text := fmt.Sprintf(`account-of-a-tenant: SK\u002D0123-4567, %x, %s`, goodToken[:16], "no other-token")
	require.Equal(t, "account-of-a-tenant: [redacted], [token], no other-token", f.Clean(text))
	source := testkit.Must(lifecycle.Add(t.Context(), f, conformance.Run))(t)
	defer source.Close()
	require.Equal(t, "[redacted]: [redacted], [token], no other-token", source.Clean(text))
	require.Equal(t, "account-of-a-tenant", source.Reconnect().Clean("account-of-a-tenant"), "what a form no longer holds")

	unread := lifecycle.NewForm(nil)
	unread.SetCredential("account", "account-of-a-tenant")
	require.Equal(t, "[redacted]", unread.Clean("account-of-a-tenant"), "no document says that it may be shown")
}

// TestFormShowsNoSecret prints a form in every way.
func TestFormShowsNoSecret(t *testing.T) {
	f := filled(t, &host{})
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		text := fmt.Sprintf(verb, f)
		require.NotContains(t, text, goodToken, verb)
		require.NotContains(t, text, "sk-1", verb)
	}
	require.NotContains(t, fmt.Sprintf("%+v", struct{ f *lifecycle.Form }{f}), "sk-1")
}
