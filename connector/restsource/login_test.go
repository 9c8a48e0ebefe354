package restsource_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource/record"
	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var loginCredentials = map[string]string{"user": "ann", "password": "p\"w/of ann&co", "cert": "none"}

var loginDefinition = connector.Definition{Slug: "login", Credentials: []wire.CredentialField{
	{Key: "user", Label: "User", Type: wire.CredentialText},
	{Key: "password", Label: "Password", Type: wire.CredentialPassword},
	{Key: "cert", Label: "Certificate", Type: wire.CredentialTextarea},
}}

var loginTable = restsource.Table{Name: "t", Path: "/t", Rows: "rows", Key: []string{"id"}, Columns: columns(wire.TypeNumber, "id"),
	Pages: restsource.Pages{By: restsource.PagingURL, Next: "next"}}

// session is an API with sessions: each is good for three requests.
type session struct {
	login func(r *http.Request, n int) *http.Response // answers the n-th login
	sent  func(r *http.Request) string                // returns the session of a request
	next  string                                      // the base of the second page

	mu     sync.Mutex
	logins int
	hosts  []string
	used   map[string]int
}

func (s *session) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodPost {
		s.logins++
		return s.login(r, s.logins), nil
	}
	s.hosts = append(s.hosts, r.URL.Host)
	id := s.sent(r)
	if s.used == nil {
		s.used = map[string]int{}
	}
	if s.used[id]++; !strings.HasPrefix(id, "session-") && id != "[redacted]" || s.used[id] > 3 {
		return reply(401, `{"error": "`+id+`"}`), nil
	}
	if r.URL.Query().Get("p") == "2" {
		return reply(200, `{"rows": [{"id": 2}], "next": null}`), nil
	}
	return reply(200, fmt.Sprintf(`{"rows": [{"id": 1}], "next": "%s/t?p=2"}`, s.next)), nil
}

func form(t *testing.T, r *http.Request) url.Values {
	t.Helper()
	body := testkit.Must(io.ReadAll(r.Body))(t)
	return testkit.Must(url.ParseQuery(string(body)))(t)
}

// TestLogins: tokens that are obtained and placed in the ways that public reports tell of,
// as the judge sees them.
func TestLogins(t *testing.T) {
	bodyOf := func(t *testing.T, r *http.Request) string {
		body := testkit.Must(io.ReadAll(r.Body))(t)
		return string(body)
	}
	ofHeader := func(name string) func(*http.Request) string {
		return func(r *http.Request) string { return r.Header.Get(name) }
	}
	bearer := func(r *http.Request) string { return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") }
	refresh := restsource.Login{URL: "https://auth.example/token", Params: url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {"{password}"}, "client_id": {"id-{user}"}}}
	for _, c := range []struct {
		name      string
		authorize restsource.Authorize
		hosts     []string // API.Hosts
		login     func(t *testing.T, r *http.Request, n int) *http.Response
		sent      func(r *http.Request) string
		host      string // that is asked for rows
		log       string
	}{
		{
			"a session in a header: airbytehq/airbyte#26341",
			restsource.Login{URL: "/login?v=2", JSON: true, Params: url.Values{"user": {"{user}"}, "password": {"{password}"}},
				Answer: restsource.TokenAnswer{Token: "session.id", Place: "X-Session: {token}"}}.Authorize(), nil,
			func(t *testing.T, r *http.Request, n int) *http.Response {
				assert.Equal(t, "/v1/login?v=2", r.URL.RequestURI())
				assert.JSONEq(t, `{"user": "ann", "password": "p\"w/of ann&co"}`, bodyOf(t, r))
				return reply(200, fmt.Sprintf(`{"session": {"id": "session-%d"}}`, n))
			},
			ofHeader("X-Session"), "shop.example", "",
		},
		{
			"a session in a cookie, and an answer without a body: odpi/egeria#1698",
			restsource.Login{URL: "/login", User: "user", Password: "password",
				Answer: restsource.TokenAnswer{Token: "Set-Cookie: SID", Place: "Cookie: SID={token}"}}.Authorize(), nil,
			func(t *testing.T, r *http.Request, n int) *http.Response {
				user, password, _ := r.BasicAuth()
				assert.Equal(t, []string{"ann", `p"w/of ann&co`}, []string{user, password})
				return reply(204, "", "Set-Cookie: other=1", fmt.Sprintf("Set-Cookie: SID=session-%d; Path=/; HttpOnly", n))
			},
			func(r *http.Request) string {
				cookie, err := r.Cookie("SID")
				if err != nil {
					return ""
				}
				return cookie.Value
			}, "shop.example", "",
		},
		{
			"a token in a header of the answer, and in a parameter",
			restsource.Login{URL: "/login", Params: url.Values{"u": {"{user}"}},
				Answer: restsource.TokenAnswer{Token: "X-Subject-Token:", Place: "?sid={token}"}}.Authorize(), nil,
			func(t *testing.T, r *http.Request, n int) *http.Response {
				assert.Equal(t, url.Values{"u": {"ann"}}, form(t, r))
				return reply(201, "welcome", fmt.Sprintf("X-Subject-Token: session-%d", n))
			},
			func(r *http.Request) string { return r.URL.Query().Get("sid") }, "shop.example", "",
		},
		{
			"a refresh token that stays the same", refresh.Authorize(), nil,
			func(t *testing.T, r *http.Request, n int) *http.Response {
				assert.Equal(t, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {`p"w/of ann&co`}, "client_id": {"id-ann"}}, form(t, r))
				return reply(200, fmt.Sprintf(`{"access_token": "session-%d", "expires_in": 3600, "token_type": "Bearer"}`, n))
			},
			bearer, "shop.example", "",
		},
		{
			"one that changes is told of: PrefectHQ/fastmcp#4264", refresh.Authorize(), nil,
			func(_ *testing.T, _ *http.Request, n int) *http.Response {
				return reply(200, fmt.Sprintf(`{"access_token": "session-%d", "refresh_token": "the-next-one-7f3a91"}`, n))
			},
			bearer, "shop.example", "answers another refresh token",
		},
		{
			"the answer names the address: k-capehart/go-salesforce#83, forcedotcom/Salesforce-CDP-jdbc#167",
			restsource.ClientCredentials{TokenURL: "https://login.example/token", ID: "user", Secret: "password",
				Answer: restsource.TokenAnswer{Base: "instance_url"}}.Authorize(), []string{"*.my.sales.example"},
			func(_ *testing.T, _ *http.Request, n int) *http.Response {
				return reply(200, fmt.Sprintf(`{"access_token": "session-%d", "instance_url": "https://acme7.my.sales.example"}`, n))
			},
			bearer, "acme7.my.sales.example", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			api := &session{sent: c.sent, next: "https://" + c.host + "/v1"}
			api.login = func(r *http.Request, n int) *http.Response { return c.login(t, r, n) }
			shop, tables := restsource.API{Base: shopAPI.Base, Authorize: c.authorize, Hosts: c.hosts}, []restsource.Table{loginTable}
			src := testkit.Must(restsource.New(shop, tables, &restsource.Options{Transport: api}))(t)
			connectortest.Run(t, loginDefinition, src, &connectortest.Options{Credentials: loginCredentials, Requests: 60})
			tenant, log := connectAs(t, loginDefinition, loginCredentials, shop, tables, restsource.Options{Transport: api})
			api.logins, api.hosts = 0, nil
			rows := testkit.Must(read(t, tenant, "t", nil, "id"))(t)
			assert.Equal(t, []string{"1", "2"}, rows)
			assert.Equal(t, []string{c.host, c.host}, api.hosts)
			assert.Equal(t, 1, api.logins, "one login in a request")
			assert.Contains(t, log.String(), c.log)
			for _, secret := range []string{"session-", "acme7", "the-next-one-7f3a91", "ann&co"} {
				assert.NotContains(t, log.String(), secret)
			}
			dir := t.TempDir()
			for _, upstream := range []http.RoundTripper{api, nil} { // a recording has what it takes, without secrets
				recorder := &record.Recorder{Dir: dir, Upstream: upstream}
				tenant, _ := connectAs(t, loginDefinition, loginCredentials, shop, tables, restsource.Options{Transport: recorder})
				assert.Equal(t, []string{"1", "2"}, testkit.Must(read(t, tenant, "t", nil, "id"))(t))
			}
			assertClean(t, dir, "session-", "the-next-one-7f3a91", loginCredentials["password"], url.QueryEscape(loginCredentials["password"]))
		})
	}
}

// TestNamedAddress: an address that an answer names is used if its host is on the author's
// list, and nothing is sent to any other.
func TestNamedAddress(t *testing.T) {
	for _, named := range []string{
		"https://acme.evil.example", "https://my.sales.example", "https://a.b.my.sales.example", "https://acme.my.sales.example.evil.example",
		"http://acme.my.sales.example", "https://user@acme.my.sales.example", "https://acme.my.sales.example:8443",
		"https://acme.my.sales.example?x=1", "https://.my.sales.example", "ftp://acme.my.sales.example",
		"https://evil.example/acme.my.sales.example", "https://evil.example\\\\.my.sales.example", "https://169.254.169.254", "",
	} {
		t.Run(named, func(t *testing.T) {
			api := &session{
				login: func(*http.Request, int) *http.Response {
					return reply(200, fmt.Sprintf(`{"access_token": "session-1", "instance_url": "%s"}`, named))
				},
				sent: func(r *http.Request) string { return "" },
			}
			tenant, log := connectAs(t, loginDefinition, loginCredentials, restsource.API{
				Base: shopAPI.Base, Hosts: []string{"*.my.sales.example"},
				Authorize: restsource.Login{URL: "https://login.example/token", Answer: restsource.TokenAnswer{Base: "instance_url"}}.Authorize(),
			}, []restsource.Table{loginTable}, restsource.Options{Transport: api})
			_, err := read(t, tenant, "t", nil, "id")
			require.Error(t, err)
			assert.Empty(t, api.hosts)
			log.Await(t, "API.Hosts")
			if named != "" {
				assert.NotContains(t, log.String(), strings.TrimPrefix(named, "https://"))
			}
		})
	}
}

// TestRefusedLogin: the person at the form reads that the credentials are wrong, and not
// what the API says about them.
func TestRefusedLogin(t *testing.T) {
	for status, want := range map[int]string{400: "does not accept", 401: "does not accept", 422: "does not accept", 500: "internal"} {
		api := &session{login: func(*http.Request, int) *http.Response { return reply(status, `{"message": "no user ann"}`) }}
		tenant, _ := connectAs(t, loginDefinition, loginCredentials,
			restsource.API{Base: shopAPI.Base, Authorize: restsource.Login{URL: "/login"}.Authorize()},
			[]restsource.Table{loginTable}, restsource.Options{Transport: api})
		err := tenant.Check()
		require.ErrorContains(t, err, want, status)
		assert.NotContains(t, err.Error(), "ann")
	}
}

// certificate returns a certificate with its key, in PEM.
func certificate(t *testing.T, ends time.Time) (text string, leaf *x509.Certificate) {
	t.Helper()
	key := testkit.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "shop.example"}, DNSNames: []string{"shop.example"}, NotAfter: ends,
		IsCA: true, BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der := testkit.Must(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))(t)
	leaf = testkit.Must(x509.ParseCertificate(der))(t)
	secret := testkit.Must(x509.MarshalPKCS8PrivateKey(key))(t)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})) +
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})), leaf
}

// TestCertificate: the API wants a certificate of the tenant, which was silently not shown
// in opensearch-project/ml-commons#4971.
func TestCertificate(t *testing.T) {
	later := time.Now().Add(time.Hour)
	own, ownLeaf := certificate(t, later)
	stranger, _ := certificate(t, later)
	expired, _ := certificate(t, time.Now().Add(-time.Hour))
	serverPEM, serverLeaf := certificate(t, later)
	pair := testkit.Must(tls.X509KeyPair([]byte(serverPEM), []byte(serverPEM)))(t)
	clients, roots := x509.NewCertPool(), x509.NewCertPool()
	clients.AddCert(ownLeaf)
	roots.AddCert(serverLeaf)
	listener := memlisten.New()
	var open sync.Map
	var rude atomic.Bool
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			assert.True(t, r.TLS.PeerCertificates[0].Equal(ownLeaf))
			if rude.Load() {
				panic(http.ErrAbortHandler)
			}
			_, _ = w.Write([]byte(`{"rows": [{"id": 1}], "next": null}`))
		}),
		ErrorLog:  slog.NewLogLogger(slog.DiscardHandler, slog.LevelInfo),
		ConnState: func(c net.Conn, s http.ConnState) { open.Store(c, s) },
	}
	go func() {
		_ = server.Serve(tls.NewListener(listener, &tls.Config{
			Certificates: []tls.Certificate{pair}, ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS13}))
	}()
	t.Cleanup(func() { _ = server.Close() })
	transport := &http.Transport{
		DialContext:     func(ctx context.Context, _, _ string) (net.Conn, error) { return listener.Dial(ctx) },
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13},
	}
	api := restsource.API{Base: shopAPI.Base, Certificate: restsource.Certificate{Cert: "cert"}}
	src := testkit.Must(restsource.New(api, []restsource.Table{loginTable}, &restsource.Options{Transport: transport, Attempts: 1}))(t)
	check := func(src connector.Source, cert string) error {
		credentials := map[string]string{"user": "u", "password": "p", "cert": cert}
		return connectortest.Start(t, loginDefinition, src, nil).As(credentials).Unverified().Check()
	}
	oneLine := strings.ReplaceAll(own, "\n", `\n`)
	for _, c := range []struct{ cert, err string }{
		{own, ""}, {oneLine, ""}, {stranger, "the client certificate"}, {expired, "has expired"},
		{"", "is required"}, {own[:len(own)/2], "cannot be read"},
	} {
		err := check(src, c.cert)
		if c.err == "" {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, c.err)
	}
	rude.Store(true)
	err := check(src, own)
	require.ErrorContains(t, err, "Check that it accepts the client certificate", "an end without a word may be a refusal")
	rude.Store(false)
	connectortest.Run(t, loginDefinition, src, &connectortest.Options{
		Credentials: map[string]string{"user": "u", "password": "p", "cert": own}, Requests: 60})
	require.Eventually(t, func() bool {
		left := 0
		open.Range(func(_, s any) bool {
			if s != http.StateClosed {
				left++
			}
			return true
		})
		return left == 0
	}, 5*time.Second, time.Millisecond, "no connection outlives its request")
	refusing := &http.Transport{DialTLSContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "remote error", Err: errors.New("tls: unknown certificate authority")} // the alert, as it is read in time
	}}
	src = testkit.Must(restsource.New(api, []restsource.Table{loginTable}, &restsource.Options{Transport: refusing, Attempts: 1}))(t)
	err = check(src, own)
	requireCode(t, wire.CodeCheckFailed, err)
	require.ErrorContains(t, err, "does not accept the client certificate")
	_, err = restsource.New(api, []restsource.Table{loginTable}, &restsource.Options{Transport: testkit.Over(nil)})
	require.ErrorContains(t, err, "http.Transport", "what cannot show a certificate is refused")
}
