package restsource_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/url"
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
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource/record"
	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var loginCredentials = map[string]string{"user": "ann", "password": "p\"w/of ann&co", "cert": "none"}

var loginDefinition = connector.Definition{Slug: "login", Credentials: []wire.CredentialField{
	{Key: "user", Label: "User", Type: wire.CredentialText},
	{Key: "password", Label: "Password", Type: wire.CredentialPassword},
	{Key: "cert", Label: "Certificate", Type: wire.CredentialTextarea},
}}

// loginCase is a way to obtain a token and to place it.
type loginCase struct {
	Why     string
	Login   restsource.Login
	Client  *restsource.ClientCredentials // in place of Login
	Hosts   []string                      // API.Hosts
	Request string                        // of a login: method, address, user and password, body
	Answer  string                        // to it, with # for its number
	Sent    string                        // what stands before the session in a request, or its parameter
	Host    string                        // that is asked for rows
	Log     string
}

// api returns an API with sessions: each is good for three requests.
func (c *loginCase) api(t *testing.T) *remote {
	var mu sync.Mutex
	used, logins := map[string]int{}, 0
	return &remote{answer: func(r *http.Request) string {
		mu.Lock()
		defer mu.Unlock()
		if r.Method == http.MethodPost {
			logins++
			user, password, ok := r.BasicAuth()
			if ok {
				user += ":" + password
			}
			body := []byte(nil)
			if r.Body != nil {
				body = testkit.Body(r)
			}
			assert.Equal(t, c.Request, fmt.Sprintf("%s %s %s %s", r.Method, r.URL, user, body))
			return strings.ReplaceAll(c.Answer, "#", strconv.Itoa(logins))
		}
		header, before, _ := strings.Cut(c.Sent, ": ")
		id := strings.TrimPrefix(r.Header.Get(header), before)
		if param, ok := strings.CutPrefix(c.Sent, "?"); ok {
			id = r.URL.Query().Get(param)
		}
		if used[id]++; !strings.HasPrefix(id, "session-") && id != "[redacted]" || used[id] > 3 {
			return `401 {"error": "` + id + `"}`
		}
		if r.URL.Query().Get("p") == "2" {
			return `2 "next": null`
		}
		return `1 "next": "https://` + c.Host + `/v1/t?p=2"`
	}}
}

// TestLogins: tokens that are obtained and placed in the ways that public reports tell of, as the judge sees them.
func TestLogins(t *testing.T) {
	for _, c := range testkit.Cases[loginCase](t, "testdata/logins.json") {
		t.Run(c.Why, func(t *testing.T) {
			api, authorize := c.api(t), c.Login.Authorize()
			if c.Client != nil {
				authorize = c.Client.Authorize()
			}
			shop, tables := restsource.API{Base: shopAPI.Base, Authorize: authorize, Hosts: c.Hosts}, declared("login")
			src := testkit.Must(restsource.New(shop, tables, &restsource.Options{Transport: api}))(t)
			connectortest.Run(t, loginDefinition, src, &connectortest.Options{Credentials: loginCredentials, Requests: 60})
			tenant, log := connectAs(t, loginDefinition, loginCredentials, shop, tables, restsource.Options{Transport: api})
			api.asked, api.urls = nil, nil
			assert.Equal(t, []string{"1", "2"}, testkit.Must(read(t, tenant, "t", nil, "id"))(t))
			assert.True(t, strings.HasPrefix(api.asked[0], "POST "))
			require.Len(t, api.urls, 3, "one login in a request, and two pages")
			for _, page := range api.urls[1:] {
				assert.Equal(t, c.Host, testkit.Must(url.Parse(page))(t).Host)
			}
			assert.Contains(t, log.String(), c.Log)
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
			api := atPlaces("/token", `{"access_token": "session-1", "instance_url": "`+named+`"}`)
			tenant, log := connectAs(t, loginDefinition, loginCredentials, restsource.API{
				Base: shopAPI.Base, Hosts: []string{"*.my.sales.example"},
				Authorize: restsource.Login{URL: "https://login.example/token", Answer: restsource.TokenAnswer{Base: "instance_url"}}.Authorize(),
			}, declared("login"), restsource.Options{Transport: api})
			_, err := read(t, tenant, "t", nil, "id")
			require.Error(t, err)
			assert.Equal(t, []string{"POST /token"}, api.takeAsked())
			log.Await(t, "API.Hosts")
			if named != "" {
				assert.NotContains(t, log.String(), strings.TrimPrefix(named, "https://"))
			}
		})
	}
}

// TestRefusedLogin: the person at the form reads that the credentials are wrong, and not what the API says about them.
func TestRefusedLogin(t *testing.T) {
	for status, want := range map[string]string{
		"400": "does not accept", "401": "does not accept", "422": "does not accept", "500": "internal",
	} {
		api := inTurn(status + ` {"message": "no user ann"}`)
		tenant, _ := connectAs(t, loginDefinition, loginCredentials,
			restsource.API{Base: shopAPI.Base, Authorize: restsource.Login{URL: "/login"}.Authorize()},
			declared("login"), restsource.Options{Transport: api})
		err := tenant.Check()
		require.ErrorContains(t, err, want, status)
		assert.NotContains(t, err.Error(), "ann")
		assert.Equal(t, "POST /login", api.asked[0])
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
	src := testkit.Must(restsource.New(api, declared("login"), &restsource.Options{Transport: transport, Attempts: 1}))(t)
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
	src = testkit.Must(restsource.New(api, declared("login"), &restsource.Options{Transport: refusing, Attempts: 1}))(t)
	err = check(src, own)
	requireCode(t, wire.CodeCheckFailed, err)
	require.ErrorContains(t, err, "does not accept the client certificate")
	_, err = restsource.New(api, declared("login"), &restsource.Options{Transport: testkit.Over(nil)})
	require.ErrorContains(t, err, "http.Transport", "what cannot show a certificate is refused")
}

const (
	oauthSecret = "s3cr3t/of the+tenant"
	oauthToken  = "access-token-of-the-api-"
)

var oauthCredentials = map[string]string{"id": "client 7", "secret": oauthSecret, "region": "eu"}

var oauthDefinition = connector.Definition{
	Slug: "shop",
	Credentials: []wire.CredentialField{
		{Key: "id", Label: "Client id", Type: wire.CredentialText},
		{Key: "secret", Label: "Client secret", Type: wire.CredentialPassword},
		{Key: "region", Label: "Region", Type: wire.CredentialText},
	},
}

// oauth returns an API with a token endpoint. A token is good for so many requests, and for so long. Each answer of the API
// takes a while.
func oauth(good int, lifetime, delay time.Duration) *remote {
	var mu sync.Mutex
	left, ends := map[string]int{}, map[string]time.Time{}
	return &remote{answer: func(r *http.Request) string {
		grants := strings.HasSuffix(r.URL.Path, "/token")
		if !grants {
			time.Sleep(delay)
		}
		mu.Lock()
		defer mu.Unlock()
		if grants {
			token := fmt.Sprint(oauthToken, len(left)+1)
			left[token], ends[token] = good, time.Now().Add(lifetime)
			return fmt.Sprintf(`{"access_token": %q, "token_type": "bearer", "expires_in": %d}`, token, int(lifetime.Seconds()))
		}
		token, page := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), r.URL.Query().Get("page")
		if left[token] == 0 || !time.Now().Before(ends[token]) {
			return `401 {"error": "` + secretText + `"}`
		}
		left[token]--
		switch {
		case strings.HasSuffix(r.URL.Path, "/children"):
			return bodyOfRows
		case page == "9":
			return "none"
		}
		return "1" + page + ",2" + page
	}}
}

// granted returns how many tokens an API was asked for.
func (api *remote) granted() int { return strings.Count(strings.Join(api.asked, " "), "/token") }

// oauthTables are a table of eight pages with two rows each, and one of children.
func oauthTables() []restsource.Table {
	pages := restsource.Pages{By: restsource.PagingPage, Param: "page"}
	return append(numbersTable(pages), children(restsource.Column{Name: "x", Type: wire.TypeNumber}))
}

// serveOAuth serves the tables over an API with a token endpoint.
func serveOAuth(t *testing.T, upstream http.RoundTripper, c restsource.ClientCredentials) (*connectortest.Tenant, *testkit.Log) {
	t.Helper()
	api := restsource.API{Base: shopAPI.Base, Authorize: c.Authorize()}
	return connectAs(t, oauthDefinition, oauthCredentials, api, oauthTables(), restsource.Options{Transport: upstream})
}

var clientCredentials = restsource.ClientCredentials{
	TokenURL: "https://{region}.auth.example/token", ID: "id", Secret: "secret", Scopes: []string{"orders:read", "users:read"},
	Audience: "shop",
	Params:   url.Values{"tenant": {"7"}},
}

// TestTokenIsShared: a request of the platform asks for one token, however many calls it
// makes of the API, and nothing is kept until the next.
func TestTokenIsShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := oauth(1000, time.Hour, time.Millisecond)
		tenant, _ := serveOAuth(t, o, clientCredentials)
		for n, ask := range []func() error{
			tenant.Check,
			func() error {
				answer, err := tenant.Query(wire.QueryRequest{Table: "children", Fields: []string{"id", "x"}})
				if err == nil {
					assert.Len(t, answer.Column("x"), 32, "two of each of sixteen rows")
				}
				return err
			},
			func() error { _, err := tenant.Discover(); return err },
		} {
			require.NoError(t, ask())
			assert.Equal(t, n+1, o.granted())
		}
		assert.Greater(t, len(o.asked)-o.granted(), 26)
		assert.Equal(t, url.Values{"grant_type": {"client_credentials"}, "scope": {"orders:read users:read"}, "audience": {"shop"},
			"tenant": {"7"}}, testkit.Must(url.ParseQuery(o.bodies[0]))(t))
		assert.Equal(t, "https://eu.auth.example/token", o.urls[0])
		pair := testkit.Must(base64.StdEncoding.DecodeString(strings.TrimPrefix(o.headers[0].Get("Authorization"), "Basic ")))(t)
		assert.Equal(t, "client+7:"+url.QueryEscape(oauthSecret), string(pair), "both are escaped, as RFC 6749 says")
	})
}

// TestTokenForm: some token endpoints are below the API and take id and secret as parameters.
func TestTokenForm(t *testing.T) {
	o := oauth(1000, time.Hour, 0)
	in := clientCredentials
	in.InForm, in.TokenURL = true, "/oauth/token?v=2"
	tenant, _ := serveOAuth(t, o, in)
	require.NoError(t, tenant.Check())
	form := testkit.Must(url.ParseQuery(o.bodies[0]))(t)
	assert.Equal(t, "client 7", form.Get("client_id"))
	assert.Equal(t, oauthSecret, form.Get("client_secret"))
	assert.Empty(t, o.headers[0].Get("Authorization"))
	assert.Equal(t, "https://shop.example/v1/oauth/token?v=2", o.urls[0])
}

// TestTokenIsRenewed: a token that ends within a long read is replaced, once for each request that it is refused to.
func TestTokenIsRenewed(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/renewed.tsv", 8) {
		testkit.Bubble(t, c[0], func(t *testing.T) {
			lifetime, delay := testkit.Must(time.ParseDuration(c[2]))(t), testkit.Must(time.ParseDuration(c[3]))(t)
			api := oauth(testkit.Must(strconv.Atoi(c[1]))(t), lifetime, delay)
			tenant, _ := serveOAuth(t, api, clientCredentials)
			answer, err := tenant.Query(wire.QueryRequest{Table: c[4], Fields: []string{"id"}, Envelope: wire.Envelope{TimeoutMS: 120_000}})
			assert.Equal(t, c[6], strconv.Itoa(api.granted()))
			if c[7] != "-" {
				assert.Equal(t, c[7], strconv.Itoa(len(api.asked)-api.granted()))
			}
			if c[5] == "" {
				requireCode(t, wire.CodeBadRequest, err)
				assert.Contains(t, err.Error(), "does not accept these credentials")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c[5], strconv.Itoa(len(answer.Column("id"))))
		})
	}
}

// TestTokenEndpoint: what a token endpoint answers becomes a sentence where the person at
// the form can do something, and a timeout where waiting helps. No text of it is quoted.
func TestTokenEndpoint(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/tokens.tsv", 3) {
		testkit.Bubble(t, c[0], func(t *testing.T) {
			tenant, log := serveOAuth(t, inTurn(c[1]), clientCredentials)
			err := tenant.Check()
			synctest.Wait()
			saysAll(t, c[2], err, log.String())
		})
	}
	t.Run("a malformed address", func(t *testing.T) {
		for _, address := range []string{"", "auth.example/token", "{region}", "https://u:p@auth.example/"} {
			in := clientCredentials
			in.TokenURL = address
			tenant, _ := serveOAuth(t, oauth(0, 0, 0), in)
			requireCode(t, wire.CodeInternal, tenant.Check())
		}
	})
	t.Run("a host that is no label", func(t *testing.T) {
		tenant, _ := connectAs(t, oauthDefinition, map[string]string{"id": "a", "secret": "b", "region": "evil.example/"},
			restsource.API{Base: shopAPI.Base, Authorize: clientCredentials.Authorize()}, oauthTables(), restsource.Options{Transport: oauth(0, 0, 0)})
		requireCode(t, wire.CodeCheckFailed, tenant.Check())
	})
}

// keyText returns a private key as a tenant pastes it.
func keyText(t *testing.T, key any, kind string) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if own, ok := key.(*rsa.PrivateKey); ok && kind == "RSA PRIVATE KEY" {
		der = x509.MarshalPKCS1PrivateKey(own)
	} else if own, ok := key.(*ecdsa.PrivateKey); ok && kind == "EC PRIVATE KEY" {
		der, err = x509.MarshalECPrivateKey(own)
	}
	require.NoError(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// TestSignedJWT verifies the tokens with the public key, by the standard library alone.
func TestSignedJWT(t *testing.T) {
	rsaKey := testkit.Must(rsa.GenerateKey(rand.Reader, 2048))(t)
	ecKey := testkit.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	other := testkit.Must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))(t)
	for _, c := range []struct {
		name, key, alg string
		text           string // of the error
	}{
		{"RSA", keyText(t, rsaKey, "PRIVATE KEY"), "RS256", ""},
		{"RSA, in its own format", keyText(t, rsaKey, "RSA PRIVATE KEY"), "RS256", ""},
		{"RSA, as in a file of JSON", strings.ReplaceAll(keyText(t, rsaKey, "PRIVATE KEY"), "\n", `\n`), "RS256", ""},
		{"RSA, typed into one line", strings.ReplaceAll(keyText(t, rsaKey, "PRIVATE KEY"), "\n", ""), "RS256", ""},
		{"elliptic, of which the lines were joined", strings.ReplaceAll(keyText(t, ecKey, "EC PRIVATE KEY"), "\n", " "), "ES256", ""},
		{"elliptic, behind its parameters", "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n" +
			keyText(t, ecKey, "EC PRIVATE KEY"), "ES256", ""},
		{"encrypted", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----", "", "without a passphrase"},
		{"elliptic", keyText(t, ecKey, "PRIVATE KEY"), "ES256", ""},
		{"another curve", keyText(t, other, "PRIVATE KEY"), "", "must be RSA, or elliptic over P-256"},
		{"no key", secretText, "", "The private key cannot be read"},
		{"half a key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "", "The private key cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, tokenURL := range []string{"", "https://auth.example/token"} {
				api := inTurn(bodyOfOne)
				if tokenURL != "" {
					api = inTurn(`{"access_token": "t", "expires_in": 3600}`, bodyOfOne)
				}
				src := testkit.Must(restsource.New(restsource.API{Base: shopAPI.Base, Authorize: restsource.SignedJWT{
					Key: "key", KeyID: "kid", TokenURL: tokenURL, Lifetime: time.Minute,
					Claims: func(credentials wire.Credentials) map[string]any {
						return map[string]any{"iss": credentials.Get("iss")}
					},
				}.Authorize()}, numbersTable(onePage), &restsource.Options{Transport: api}))(t)
				definition := connector.Definition{Slug: "shop", Credentials: []wire.CredentialField{
					{Key: "key", Label: "Key", Type: wire.CredentialTextarea},
					{Key: "kid", Label: "Id of the key", Type: wire.CredentialText}, {Key: "iss", Label: "Issuer", Type: wire.CredentialText},
				}}
				err := connectortest.Start(t, definition, src, connectors.Quiet()).As(map[string]string{"key": c.key, "kid": "k1", "iss": "me"}).Check()
				if c.text != "" {
					requireCode(t, wire.CodeCheckFailed, err)
					assert.Contains(t, err.Error(), c.text)
					assert.NotContains(t, err.Error(), secretText)
					continue
				}
				require.NoError(t, err)
				form := testkit.Must(url.ParseQuery(api.bodies[0]))(t)
				parts := strings.Split(form.Get("assertion")+strings.TrimPrefix(api.headers[0].Get("Authorization"), "Bearer "), ".")
				require.Len(t, parts, 3)
				assert.JSONEq(t, fmt.Sprintf(`{"alg": %q, "kid": "k1", "typ": "JWT"}`, c.alg), decoded(t, parts[0]))
				var claims struct {
					Issuer   string `json:"iss"`
					Iat, Exp int64
				}
				require.NoError(t, json.Unmarshal([]byte(decoded(t, parts[1])), &claims))
				assert.Equal(t, "me", claims.Issuer)
				assert.Equal(t, int64(60), claims.Exp-claims.Iat)
				assert.InDelta(t, time.Now().Unix(), claims.Iat, 60)
				digest, signature := sha256.Sum256([]byte(parts[0]+"."+parts[1])), []byte(decoded(t, parts[2]))
				if c.alg == "RS256" {
					assert.NoError(t, rsa.VerifyPKCS1v15(&rsaKey.PublicKey, crypto.SHA256, digest[:], signature))
					continue
				}
				require.Len(t, signature, 64)
				assert.True(t, ecdsa.Verify(&ecKey.PublicKey, digest[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])))
			}
		})
	}
}

func decoded(t *testing.T, part string) string {
	t.Helper()
	return string(testkit.Must(base64.RawURLEncoding.DecodeString(part))(t))
}

// An API that wants each request signed. The function sees the request as it is sent,
// with its query and, by GetBody, its body.
func ExampleAuthorize() {
	signed := func(r *http.Request, credentials wire.Credentials) error {
		body := []byte{}
		if r.GetBody != nil {
			reader, err := r.GetBody()
			if err != nil {
				return err
			}
			if body, err = io.ReadAll(reader); err != nil {
				return err
			}
		}
		mac := hmac.New(sha256.New, []byte(credentials.Get("secret")))
		fmt.Fprintf(mac, "%s\n%s\n%s", r.Method, r.URL.RequestURI(), body)
		r.Header.Set("X-Key", credentials.Get("key"))
		r.Header.Set("X-Signature", hex.EncodeToString(mac.Sum(nil)))
		return nil
	}
	src, err := restsource.New(restsource.API{Base: "https://shop.example/v1", Authorize: signed}, []restsource.Table{{
		Name: "orders", Pages: onePage, Path: "/orders", Query: "expand=lines", Rows: "data",
		Columns: []restsource.Column{{Name: "id", Type: wire.TypeNumber}},
	}}, &restsource.Options{Transport: testkit.Transport(func(r *http.Request) (*http.Response, error) {
		fmt.Println(r.Header.Get("X-Signature"))
		return reply(200, `{"data": []}`), nil
	})})
	if err != nil {
		fmt.Println(err)
		return
	}
	credentials := wire.NewCredentials(map[string]string{"key": "k1", "secret": "s1"})
	fmt.Println(src.Check(context.Background(), &wire.CheckRequest{Envelope: wire.Envelope{Credentials: credentials}}))
	// Output:
	// 36c415c3fef7b98c75f2748b0ebe3527348efee633e231cd95ffeafe539bcfbf
	// <nil>
}

// TestTokenThatExpiresInTheQueue: a request that waits for its turn takes the token when
// the turn comes, so that it has not expired meanwhile.
func TestTokenThatExpiresInTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := oauth(100, 20*time.Second, 0)
		tenant, _ := connectAs(t, oauthDefinition, oauthCredentials, restsource.API{Base: shopAPI.Base,
			Authorize: clientCredentials.Authorize(), Rate: restsource.Rate{Requests: 1, Per: 30 * time.Second},
		}, oauthTables(), restsource.Options{Transport: o})
		req := allNumbers
		req.TimeoutMS = 600_000
		assert.Len(t, testkit.Must(tenant.Query(req))(t).Column("id"), 16)
		assert.Equal(t, 9, o.granted(), "one for each page")
		assert.Len(t, o.asked, 2*9, "none is refused")
	})
}
