package connector_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestSecrets checks that whatever an author does with a credential in an error, a panic or a deliberate message, it is
// in no answer and no log. Package internal/secret knows more spellings.
func TestSecrets(t *testing.T) {
	secrets := []string{
		"sk-live-0123456789abcdef",
		"p@ss/w+rd=\"ü<&>'%5c\\ö~",
		"-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n\t/+==\n-----END KEY-----\n",
	}
	actions := map[string]func(text string) error{
		"an error":           func(text string) error { return fmt.Errorf("upstream said %s, sorry", text) },
		"a deliberate error": func(text string) error { return connector.Unsupported("upstream said %s, sorry", text) },
		"one for the person": func(text string) error { return connector.CheckFailed("upstream said %s, sorry", text) },
		"a wrapped error": func(text string) error {
			return fmt.Errorf("%s: %w", text, connector.BadRequest("said %s", text))
		},
		"a panic with a text":   func(text string) error { panic("upstream said " + text) },
		"a panic with an error": func(text string) error { panic(errors.New(text)) },
	}
	var places []hook
	for _, h := range hooks() {
		switch h.name {
		case "Check", "Discover", "Query", "Count", "Describe for /size", "Query" + afterRows:
			places = append(places, h)
		}
	}
	require.Len(t, places, 6)
	redactions := 0
	for _, secret := range secrets {
		quoted := testkit.Must(json.Marshal(secret))(t)
		spellings := []string{secret, string(quoted[1 : len(quoted)-1]), base64.StdEncoding.EncodeToString([]byte(secret))}
		for what, do := range actions {
			for i, spelled := range spellings {
				for _, h := range places[:len(places)/(i+1)] { // how it is spelled does not depend on the place
					synctest.Test(t, func(t *testing.T) {
						s := serve(t, h.source(func(context.Context) error { return do(spelled) }), nil)
						body := strings.Replace(h.body, `{"apiKey":"s3cr3t-5f2e-9a77"}`, `{"apiKey":`+string(quoted)+`}`, 1)
						require.NotEqual(t, h.body, body)
						a := s.post(h.path, body)
						shown := a.body + fmt.Sprint(a.header) + s.log.String() + fmt.Sprint(s.log.each())
						// What the answer says once its JSON is read.
						var e wire.ErrorAnswer
						if wire.Decode([]byte(a.body), &e) == nil {
							shown += e.Error.Message
						}
						for _, text := range spellings {
							assert.NotContains(t, shown, text, "%s in %s", what, h.name)
						}
						redactions += strings.Count(shown, "[redacted]")
					})
				}
			}
		}
	}
	assert.Positive(t, redactions)
}

// TestFormShowsPlainText checks that what was typed into a plain text field may be shown to the person who typed it, in
// the message of a failed check and in a warning of discovery, and nowhere else. Passwords, text areas and values of unknown fields are shown
// nowhere.
func TestFormShowsPlainText(t *testing.T) {
	const (
		base    = "https://acme.example.com/v1"
		pass    = "p4ssw0rd-0123"
		key     = "-----BEGIN KEY-----\nMIIEvQ\n-----END KEY-----"
		unknown = "typed-elsewhere"
	)
	def := connector.Definition{Slug: "forms", Credentials: []wire.CredentialField{
		{Key: "base", Label: "Base URL", Type: wire.CredentialText},
		{Key: "pass", Label: "Password", Type: wire.CredentialPassword, Optional: true},
		{Key: "key", Label: "Private key", Type: wire.CredentialTextarea, Optional: true},
	}}
	for _, c := range []struct {
		why   string
		err   error
		check string // the message on /check
		other string // the message on /discovery
	}{
		{"the address may be shown to who typed it", connector.CheckFailed("Nothing answers at %s.", base),
			"Nothing answers at " + base + ".", "Nothing answers at [redacted]."},
		{"secrets never", connector.CheckFailed("%s refuses %s and %s and %s.", base, pass, key, unknown),
			base + " refuses [redacted] and [redacted] and [redacted].",
			"[redacted] refuses [redacted] and [redacted] and [redacted]."},
		{"any other error is for the platform", connector.UpstreamTimeout("Nothing answers at %s.", base),
			"Nothing answers at [redacted].", "Nothing answers at [redacted]."},
		{"a cause is for the log",
			fmt.Errorf("dial %s with %s and %s", base, pass, unknown), "internal error", "internal error"},
	} {
		s := serveAs(t, def, failing(c.err), nil)
		body := testkit.Must(json.Marshal(map[string]any{
			"credentials": map[string]string{"base": base, "pass": pass, "key": key, "other": unknown},
			"timeoutMs":   60000,
		}))(t)
		for path, want := range map[string]string{"/check": c.check, "/discovery": c.other} {
			var e wire.ErrorAnswer
			require.NoError(t, wire.Decode([]byte(s.post(path, string(body)).body), &e), "%s: %s", c.why, path)
			assert.Equal(t, want, e.Error.Message, "%s: %s", c.why, path)
		}
		for _, value := range []string{base, pass, key, unknown} {
			assert.NotContains(t, s.log.String(), value, c.why)
		}
		found := &wire.Discovery{Warnings: []string{"A table is left out: " + c.err.Error()}}
		warns := connectors.Source{OnDiscover: func(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) { return found, nil }}
		a := serveAs(t, def, warns, nil).post("/discovery", string(body))
		shown := found.Warnings[0] // the source's own are as they were
		for _, value := range []string{pass, key, unknown} {
			shown = strings.ReplaceAll(shown, value, "[redacted]")
		}
		assert.Equal(t, `{"tables":[],"warnings":[`+strconv.Quote(shown)+`]}`, a.body, c.why)
	}
}

// TestFormKeepsPasswordsInText checks that a password that is also a part of a
// plain text value, or equal to it, is removed from the message all the same.
func TestFormKeepsPasswordsInText(t *testing.T) {
	for _, base := range []string{secret, "https://user:" + secret + "@host"} {
		s := serve(t, failing(connector.CheckFailed("Nothing answers at %s.", base)), nil)
		a := s.post(asked(`/check "SECRET"} => "SECRET","region":"` + base + `"}`))
		a.refuses(t, 400, wire.CodeCheckFailed, "Nothing answers at "+strings.ReplaceAll(base, secret, "[redacted]")+".")
		s.keepsSecrets(a)
	}
}

// TestTenantsAtOnce sends requests of many tenants with the same table names, each of whose cells carries the tenant's
// mark, interleaved, failing and leaving. No answer shows another tenant's mark.
func TestTenantsAtOnce(t *testing.T) {
	const tenants, requests, workers = 16, 2000, 16
	mark := func(creds wire.Credentials) string { return "mark<" + creds.Get("apiKey")[:2] + ">" }
	var failures atomic.Int64
	// act sometimes fails in the tenant's name.
	act := func(creds wire.Credentials) error {
		n := rand.IntN(10)
		if n < 3 {
			failures.Add(1)
		}
		switch n {
		case 0:
			return connector.BadRequest("no, %s", mark(creds))
		case 1:
			return errors.New(mark(creds))
		case 2:
			panic(mark(creds))
		case 3:
			time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond)
		}
		return nil
	}
	table := func(creds wire.Credentials) *wire.Table {
		return &wire.Table{Name: "items", SourceDescription: mark(creds), Fields: []wire.Field{
			{Name: "id", Type: wire.TypeString, Samples: []wire.Value{wire.Text(mark(creds))}},
			{Name: mark(creds), Type: wire.TypeString}}}
	}
	query := func(_ context.Context, req *connector.Query, out *connector.Rows) error {
		w := out.Begin([]wire.Column{{Name: "id"}, {Name: mark(req.Credentials)}})
		buffer := []byte(mark(req.Credentials)) // reused for every row, as authors may
		for i := range 200 {
			if i == 150 {
				if err := act(req.Credentials); err != nil {
					return err
				}
			}
			if err := w.Row(wire.Text(string(buffer)), wire.Int(int64(i))); err != nil {
				return err
			}
		}
		return nil
	}
	src := connectors.Described{Endpoints: connectors.Endpoints{
		Source: connectors.Source{
			OnCheck: func(_ context.Context, req *wire.CheckRequest) error { return act(req.Credentials) },
			OnDiscover: func(_ context.Context, req *wire.DiscoveryRequest) (*wire.Discovery, error) {
				found := &wire.Discovery{Tables: []wire.Table{*table(req.Credentials)}, Warnings: []string{mark(req.Credentials)}}
				return found, act(req.Credentials)
			},
			OnQuery: query,
		},
		Sizer: func(_ context.Context, req *wire.SizeRequest) (*wire.Size, error) { return nil, act(req.Credentials) },
		Aggregator: func(_ context.Context, req *wire.AggregateRequest) ([][]wire.Value, error) {
			return [][]wire.Value{{wire.Text(mark(req.Credentials))}}, act(req.Credentials)
		},
		Linker: func(_ context.Context, req *wire.LinkHitRateRequest) (*wire.LinkHitRate, error) {
			rate := &wire.LinkHitRate{FromNonNull: 1, OrphanCount: 1, OrphanSamples: []string{mark(req.Credentials)}}
			return rate, act(req.Credentials)
		},
		Counter: counts(0, connector.ErrDecline),
	}, Describer: func(_ context.Context, creds wire.Credentials, _ string) (*wire.Table, error) {
		return table(creds), act(creds)
	}}
	s := serve(t, src, nil)
	s.Client.Transport.(*http.Transport).MaxIdleConnsPerHost = workers
	marks := regexp.MustCompile(`mark(?:<|\\u003c)(..)>`)
	var own, foreign, left, next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= requests {
					return
				}
				tenant := fmt.Sprintf("%02d", n%tenants)
				route := routes[n/tenants%len(routes)]
				body := strings.NewReplacer(secret, tenant+"-key", `{"fn":"count","as":"n"}`, `{"fn":"min","field":"id","as":"n"}`,
					`"sort":[]`, `"sort":[{"field":"mark<`+tenant+`>","dir":"desc"}],"limit":180`).Replace(route.body)
				ctx, cancel := context.WithCancel(context.Background())
				if n%7 == 0 {
					time.AfterFunc(time.Duration(rand.IntN(1500))*time.Microsecond, cancel)
				}
				res, err := s.Client.Do(s.Request(ctx, route.path, body))
				if err != nil {
					left.Add(1)
					cancel()
					continue
				}
				data, err := io.ReadAll(res.Body)
				_ = res.Body.Close()
				if err != nil {
					left.Add(1)
				}
				for _, m := range marks.FindAllStringSubmatch(string(data), -1) {
					if m[1] == tenant {
						own.Add(1)
					} else {
						foreign.Add(1)
					}
				}
				cancel()
			}
		})
	}
	wg.Wait()
	assert.Zero(t, foreign.Load(), "marks of other tenants")
	assert.Greater(t, own.Load(), int64(10_000), "marks of the tenant's own")
	assert.Positive(t, failures.Load())
	assert.Positive(t, left.Load())
}

// TestLongCauses checks that a cause is cut to a length, and only after the secrets
// are out of it: half of one at the cut would be half a secret.
func TestLongCauses(t *testing.T) {
	const most = 4096
	for _, c := range []struct {
		why, cause, want string
	}{
		{"as long as a cause may be", strings.Repeat("x", most), strings.Repeat("x", most)},
		{"one byte more", strings.Repeat("x", most+1), strings.Repeat("x", most) + "..."},
		{"a secret across the cut", strings.Repeat("x", most-5) + secret, strings.Repeat("x", most-5) + "[reda..."},
	} {
		s := serve(t, failing(errors.New(c.cause)), nil)
		s.post(asked("/check")).is(t, "500")
		_, cause, _ := strings.Cut(s.log.String(), "cause=")
		assert.Equal(t, c.want, cause, c.why)
	}
}

// TestSecretInAStack checks that a credential that is the name of a function is not in the stack of a panic either.
func TestSecretInAStack(t *testing.T) {
	const name = "TestSecretInAStack"
	s := serve(t, connectors.Source{OnCheck: func(context.Context, *wire.CheckRequest) error { panic("boom") }}, nil)
	s.post(asked("/check SECRET => "+name)).is(t, "500")
	assert.Contains(t, s.log.String(), "connector_test.[redacted].")
	assert.NotContains(t, s.log.String(), name)
}

// TestLogAfterTheRequest checks that the line of a request whose context is over is still written.
func TestLogAfterTheRequest(t *testing.T) {
	log := &logbook{}
	h := newHandler(connectors.Source{}, &connector.Options{Logger: slog.New(log)})
	ctx, leave := context.WithCancel(t.Context())
	leave()
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, wire.PathDocument, nil).WithContext(ctx))
	assert.Len(t, log.each(), 1)
}
