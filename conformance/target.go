package conformance

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
	"github.com/connectorsdk/connector-sdk-go/internal/netguard"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Target is the connector under test and what is needed to talk to it. Printing a
// target shows no secret.
type Target struct {
	// URL is the connector's base URL; every route is relative to it.
	URL string
	// Token is the bearer token that the connector's host issued.
	Token wire.Bearer
	// Credentials are the upstream credentials of one tenant, or of two: then the
	// checks T1 to T7 judge that the two are kept apart. None is the empty set.
	Credentials []wire.Credentials
	// Public refuses to dial an address that is not public, as the platform does. A name may
	// lead to one that is, when it is looked up first, and to another later. Without it the
	// program grades a connector wherever it is [rule verdict-15].
	Public bool

	// memory, when set, replaces the network: see [InProcess].
	memory *memlisten.Listener
}

// InProcess returns a target without a port. An [http.Server] of its own serves
// handler over in-memory connections, so that a connector's own tests can grade it,
// in a testing/synctest bubble too, where the deadline checks take no time. The
// server lives until close is called.
func InProcess(handler http.Handler, token string) (target Target, close func()) {
	l, stop := memlisten.Serve(&http.Server{Handler: handler})
	return Target{URL: "https://in-process.test", Token: wire.NewBearer(token), memory: l}, stop
}

// base returns the URL that routes are appended to, or what is wrong with it.
func (t *Target) base() (string, error) {
	if t.URL == "" {
		return "", errors.New("no endpoint URL; give the connector's base URL, such as https://connect.example.com/shop")
	}
	u, err := url.Parse(t.URL)
	switch {
	case err != nil:
		// The error of url.Parse quotes the URL, which may hold a secret.
		return "", errors.New("the endpoint URL does not parse; it is something like https://connect.example.com/shop")
	case u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("the endpoint URL must begin with https:// or http://, not %q", u.Scheme)
	case u.Host == "":
		return "", errors.New("the endpoint URL has no host; it is something like https://connect.example.com/shop")
	case u.User != nil:
		return "", errors.New("the endpoint URL holds a user name; a connector is authorized by its token alone")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("the endpoint URL has a query or a fragment; give the base URL alone")
	}
	if strings.HasSuffix(u.Path, "/.well-known/service/platform.json") {
		return "", errors.New("the endpoint URL is that of the document; give the base URL before /.well-known")
	}
	return strings.TrimSuffix(u.String(), "/"), nil
}

// client returns a client that talks to the target and to nobody else. It follows no
// redirect, uses no proxy for an in-process target, and takes answers as they come.
func (t *Target) client() *http.Client {
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DisableCompression:  true,
		MaxIdleConnsPerHost: 16,
		// A header may be hostile too.
		MaxResponseHeaderBytes: 64 << 10,
	}
	if t.Public {
		transport.Proxy = nil // behind a proxy nobody here judges the address
		transport.DialContext = netguard.Dialer{}.DialContext
	}
	if t.memory != nil {
		t.memory.Route(transport)
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
