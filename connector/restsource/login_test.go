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

// TestLogins: tokens that are obtained and placed in the ways that public reports tell of,
// as the judge sees them.
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
			rows := testkit.Must(read(t, tenant, "t", nil, "id"))(t)
			assert.Equal(t, []string{"1", "2"}, rows)
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

// TestRefusedLogin: the person at the form reads that the credentials are wrong, and not
// what the API says about them.
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
