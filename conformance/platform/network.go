package platform

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/internal/netguard"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// baseURL returns the URL that routes are appended to, or what is wrong with it.
// Its errors do not quote the URL, which may hold a secret.
func baseURL(text string, local bool) (string, error) {
	u, err := url.Parse(text)
	switch {
	case text == "" || err != nil || u.Host == "":
		return "", errors.New("the base URL is something like https://connect.example.com/shop")
	case u.Scheme != "http" && u.Scheme != "https":
		return "", errors.New("the base URL must begin with https://")
	case u.User != nil:
		return "", errors.New("the base URL holds a user name; a connector is authorized by its token alone")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("the base URL has a query or a fragment; give it without")
	case strings.HasSuffix(u.Path, wire.PathDocument):
		return "", errors.New("the base URL is that of the document; give what precedes " + wire.PathDocument)
	case u.Scheme == "http" && !local:
		return "", fmt.Errorf("%w: the base URL must begin with https://", ErrAddress)
	}
	return strings.TrimSuffix(u.String(), "/"), nil
}

// transport returns the platform's own way to a connector. It uses no proxy, behind
// which nobody could judge the address that is dialled, unless it is local.
func transport(local bool) *http.Transport {
	t := &http.Transport{
		DialContext:            netguard.Dialer{Local: local, Net: net.Dialer{KeepAlive: 15 * time.Second}}.DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		MaxIdleConnsPerHost:    terms.MaxConcurrency,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
	if local {
		t.Proxy = http.ProxyFromEnvironment
	}
	return t
}

// client returns an HTTP client that follows no redirect: behind one, another host
// would get the token and the credentials. It keeps nothing of own but its transport.
func client(own *http.Client, local bool) *http.Client {
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if own != nil {
		c.Transport = own.Transport
	} else {
		c.Transport = transport(local)
	}
	return c
}
