package restsource

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Login obtains a token, or a session, by a POST of the tenant's credentials. It is for
// what [ClientCredentials] does not fit: a login with a password, or OAuth's refresh grant
// with a refresh token that stays the same. One login is made in each request of the
// platform, and its calls share the token.
//
//	Authorize: restsource.Login{URL: "/login", JSON: true,
//		Params: url.Values{"user": {"{user}"}, "password": {"{password}"}},
//		Answer: restsource.TokenAnswer{Token: "session.id", Place: "X-Session: {token}"}}.Authorize(),
type Login struct {
	// URL is spelled as ClientCredentials.TokenURL.
	URL string
	// Params are the parameters of the form, or with JSON the members of an object. In a
	// value, {key} stands for the tenant's credential of that key.
	Params url.Values
	JSON   bool
	// User and Password are the keys of credentials that are sent as Basic does, if they are
	// set.
	User, Password string
	// Answer is what the answer has, and where the token is put.
	Answer TokenAnswer
}

// Authorize returns the function for API.Authorize.
func (l Login) Authorize() Authorize {
	return l.Answer.authorize(func(ctx context.Context, creds wire.Credentials) (obtained, error) {
		g := grant{url: l.URL, form: url.Values{}, json: l.JSON, answer: l.Answer, login: true}
		for name, values := range l.Params {
			for _, v := range values {
				v, err := template(v).expand(func(key string) (string, error) { return strings.TrimSpace(creds.Get(key)), nil })
				if err != nil {
					return obtained{}, err
				}
				g.form.Add(name, v)
			}
		}
		g.user, g.password = creds.Get(l.User), creds.Get(l.Password)
		return g.request(ctx, creds)
	})
}

// TokenAnswer says where the token is in the answer of a token endpoint, where it goes, and
// what else the answer says. The zero TokenAnswer is that of OAuth.
type TokenAnswer struct {
	// Token is the member path of the token, a header such as "X-Auth-Token:", or a cookie
	// such as "Set-Cookie: SESSION". Default: "access_token". Lifetime is the member path of
	// the number of seconds for which it is good. Default: "expires_in".
	Token, Lifetime string
	// Place is the header, or the query parameter, that has the token in requests, such as
	// "X-Auth-Token: {token}", "Cookie: SESSION={token}" or "?sid={token}". Default:
	// "Authorization: Bearer {token}".
	Place string
	// Base is the member path of the API's address, such as "instance_url". It takes the
	// place of the scheme and the host of API.Base, and its host must be one of API.Hosts.
	Base string
}

// put puts a token into a request.
func (a *TokenAnswer) put(r *http.Request, token string) error {
	place := cmp.Or(a.Place, "Authorization: Bearer {token}")
	if !strings.Contains(place, "{token}") {
		return errors.New("restsource: TokenAnswer.Place has no {token}")
	}
	if param, value, ok := strings.Cut(strings.TrimPrefix(place, "?"), "="); ok && place[0] == '?' {
		query := r.URL.Query()
		query.Set(param, strings.ReplaceAll(value, "{token}", token))
		r.URL.RawQuery = query.Encode()
		return nil
	}
	name, value, _ := strings.Cut(place, ":")
	value = strings.ReplaceAll(strings.TrimSpace(value), "{token}", token)
	if others := r.Header.Get(name); others != "" && strings.EqualFold(name, "Cookie") {
		value = others + "; " + value
	}
	r.Header.Set(name, value)
	return nil
}

// secretLike are texts in the answer of a token endpoint that may be secrets, such as a
// refresh token, and no names, addresses or lists of scopes.
var secretLike = regexp.MustCompile(`"([^"\s:/]{12,})"\s*[,}\]]`)

// said is what an answer of a token endpoint says beside the token.
type said struct{ code, refresh string }

// read reads the answer of a token endpoint. The error is that of a good status.
func (a *TokenAnswer) read(res *http.Response, body []byte) (t obtained, s said, err error) {
	paths := []string{cmp.Or(a.Token, "access_token"), cmp.Or(a.Lifetime, "expires_in"), cmp.Or(a.Base, "-"),
		"token_type", "error", "refresh_token"}
	split := make([][]string, len(paths))
	for i, path := range paths {
		split[i] = splitPath(path)
	}
	found, err := newPicker(split...).parse(string(body), len(paths))
	text := func(i int) string {
		if r := found[i]; err == nil && (r.Kind == textvalue.Text || i == 1) {
			return r.Text
		}
		return ""
	}
	t.token, t.base, s = text(0), text(2), said{text(4), text(5)}
	for _, match := range secretLike.FindAllSubmatch(body, -1) {
		t.others = append(t.others, string(match[1]))
	}
	if header, cookie, ok := strings.Cut(a.Token, ":"); ok {
		t.token, err = res.Header.Get(header), nil
		if cookie = strings.TrimSpace(cookie); cookie != "" {
			t.token = ""
			for _, c := range res.Cookies() {
				if c.Name == cookie {
					t.token = c.Value
				}
			}
		}
	}
	switch {
	case err != nil:
		err = errors.New("restsource: the answer of the token endpoint is not the JSON of a token")
	case t.token == "":
		err = errors.New("restsource: the answer of the token endpoint has no access_token, or none at TokenAnswer.Token")
	case a.Place == "" && text(3) != "" && !strings.EqualFold(text(3), "bearer"):
		err = errors.New("restsource: the token endpoint gives out tokens of another kind than Bearer; see TokenAnswer.Place")
	}
	seconds, _ := strconv.ParseFloat(text(1), 64) // without one, the token is good until it is refused
	t.lifetime = time.Duration(min(max(seconds, 0), maxTokenLifetime.Seconds()) * float64(time.Second))
	return t, s, err
}

// locate sets the address of the API to the one that the answer of the token endpoint
// names.
func (x *session) locate(ctx context.Context) error {
	use := &tokenUse{session: x}
	r := (&http.Request{Method: http.MethodGet, URL: x.address, Header: http.Header{}}).WithContext(withTokenUse(ctx, use))
	if err := x.authorize(r, x.secrets(), ""); err != nil {
		return err
	}
	text := use.base
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil || !x.listed(u, x.api.Hosts) || u.RawQuery+u.Fragment != "" {
		return &formError{"", "the answer of the token endpoint names no address whose host is one of API.Hosts"}
	}
	x.address = u.JoinPath(x.address.EscapedPath())
	return nil
}

// listed reports whether an address that an answer names has one of these hosts.
func (x *session) listed(u *url.URL, hosts []string) bool {
	secure := u.Scheme == "https" || x.options.AllowPrivate && u.Scheme == "http"
	return secure && u.User == nil && slices.ContainsFunc(hosts, func(pattern string) bool { return matchesHost(pattern, u.Host) })
}

// matchesHost reports whether a host is one that a pattern means.
func matchesHost(pattern, host string) bool {
	want, have := strings.Split(strings.ToLower(pattern), "."), strings.Split(strings.ToLower(host), ".")
	return slices.EqualFunc(want, have, func(a, b string) bool { return a == b || a == "*" && label.MatchString(b) })
}

// Certificate is a certificate that the tenant shows to the API, in PEM. Its connections
// live as long as the request of the platform.
type Certificate struct {
	// Cert is the key of the credential with the certificate, and Key that of the one
	// with its private key; if Key is empty, the first has both.
	Cert, Key string
}

var errNoTLS = errors.New("restsource: API.Certificate needs an Options.Transport that is a *http.Transport, or none")

// shown returns connections that show the certificate of a tenant, and a function that
// closes them. Without a certificate they are those of base.
func (c *Certificate) shown(base http.RoundTripper, creds wire.Credentials) (http.RoundTripper, func(), error) {
	if c.Cert == "" {
		return base, nil, nil
	}
	shared, ok := base.(*http.Transport)
	if !ok {
		return nil, nil, errNoTLS
	}
	pair, err := tls.X509KeyPair(pemText(creds.Get(c.Cert)), pemText(creds.Get(cmp.Or(c.Key, c.Cert))))
	if err != nil {
		return nil, nil, connector.CheckFailed("The client certificate and its private key cannot be read, " +
			"or do not belong together. Paste both whole, from the line -----BEGIN to the line -----END.")
	}
	if time.Now().After(pair.Leaf.NotAfter) {
		return nil, nil, connector.CheckFailed("The client certificate has expired.")
	}
	own := shared.Clone()
	if own.TLSClientConfig == nil {
		own.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	own.TLSClientConfig.Certificates = []tls.Certificate{pair}
	return own, own.CloseIdleConnections, nil
}

// certificateRefused reports whether a server has ended a connection by an alert of TLS,
// which is what it does to certificates that it does not accept.
func certificateRefused(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

// connectionEnded reports whether a server has ended a connection without saying why. A
// server that refuses a certificate does say so, but in TLS 1.3 a client that still writes
// its request may never read it.
func connectionEnded(err error) bool {
	return slices.ContainsFunc([]error{io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE},
		func(end error) bool { return errors.Is(err, end) })
}
