package restsource

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/internal/hostlog"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource/internal/recording"
	"github.com/connectorsdk/connector-sdk-go/internal/netguard"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// ClientCredentials obtains access tokens by OAuth's client credentials, with the
// client id and the secret of the tenant. One token is asked for in each request of the
// platform, and its calls share it.
//
//	Authorize: restsource.ClientCredentials{
//		TokenURL: "https://auth.example.com/oauth/token", ID: "clientId", Secret: "clientSecret",
//	}.Authorize(),
//
// If the token endpoint refuses the credentials, the person at the form reads so. If it
// does not answer, that is a timeout and says nothing about them.
type ClientCredentials struct {
	// TokenURL is the token endpoint. A path such as "/oauth/token" is below API.Base.
	// In a whole address, {key} stands for the tenant's credential of that key, which is
	// one label of the host or one segment of the path.
	TokenURL string
	// ID and Secret are the keys of the credentials with the client's id and secret.
	ID, Secret string
	// Scopes and Audience are asked for, if they are set.
	Scopes   []string
	Audience string
	// Params are further parameters of the request.
	Params url.Values
	// InForm sends id and secret as parameters. By default they are sent as Basic does,
	// which every token endpoint should take.
	InForm bool
	// Answer is what the answer says beyond OAuth, and where the token is put.
	Answer TokenAnswer
}

// Authorize returns the function for API.Authorize.
func (c ClientCredentials) Authorize() Authorize {
	return c.Answer.authorize(func(ctx context.Context, creds wire.Credentials) (obtained, error) {
		id, secret := strings.TrimSpace(creds.Get(c.ID)), strings.TrimSpace(creds.Get(c.Secret))
		form := paramsOf(c.Params, url.Values{"grant_type": {"client_credentials"}})
		g := grant{url: c.TokenURL, answer: c.Answer, form: form}
		if len(c.Scopes) > 0 {
			g.form.Set("scope", strings.Join(c.Scopes, " "))
		}
		if c.Audience != "" {
			g.form.Set("audience", c.Audience)
		}
		if c.InForm {
			g.form.Set("client_id", id)
			g.form.Set("client_secret", secret)
		} else {
			g.user, g.password = url.QueryEscape(id), url.QueryEscape(secret)
		}
		return g.request(ctx, creds)
	})
}

// grant is a request for a token.
type grant struct {
	url            string
	form           url.Values
	user, password string // for Basic, if there is a user
	json, login    bool   // the form is sent as JSON; it is a login of the API's own
	answer         TokenAnswer
}

// request asks a token endpoint for an access token.
func (g *grant) request(ctx context.Context, creds wire.Credentials) (t obtained, err error) {
	use := tokenUseOf(ctx)
	if use == nil {
		return t, errors.New("restsource: a token can only be asked for by a source")
	}
	u, err := use.session.tokenURL(g.url, creds)
	if err != nil {
		return t, err
	}
	res, err := use.session.post(ctx, u, g)
	if err != nil {
		return t, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return t, errors.New("restsource: the answer of the token endpoint broke off")
	}
	t, said, err := g.answer.read(res, body)
	status := res.StatusCode
	if g.login && said.code == "" && (status == http.StatusBadRequest || status == http.StatusUnprocessableEntity) {
		status = http.StatusUnauthorized // of a login, these are about what was typed
	}
	if err := tokenRefused(status, said.code); err != nil {
		return t, err
	}
	if err != nil {
		return t, err
	}
	if old := g.form.Get("refresh_token"); said.refresh != "" && old != "" && said.refresh != old {
		hostlog.Warn(ctx, "restsource: the token endpoint answers another refresh token, which cannot be kept; "+
			"if the one of the tenant is good only once, no further request will be")
	}
	return t, nil
}

// maxTokenLifetime is longer than any request of the platform.
const maxTokenLifetime = 24 * time.Hour

// post sends the request for a token. The token endpoint has a budget of its own.
func (x *session) post(ctx context.Context, u *url.URL, g *grant) (*http.Response, error) {
	known := x.secrets()
	body, media := []byte(g.form.Encode()), "application/x-www-form-urlencoded"
	if g.json {
		members := map[string]string{}
		for name := range g.form {
			members[name] = g.form.Get(name)
		}
		body, _ = json.Marshal(members) // a map of texts has a spelling
		media = "application/json"
	}
	r := (&http.Request{Method: http.MethodPost, URL: u, Host: u.Host, Header: http.Header{
		"Accept":       {"application/json"},
		"Content-Type": {media},
		"User-Agent":   {"connector-sdk-go"},
		idempotencyKey: nil, // a token too many does no harm
	}}).WithContext(recording.WithSecrets(ctx, known))
	r.ContentLength = int64(len(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.Body, _ = r.GetBody()
	if g.user != "" {
		r.SetBasicAuth(g.user, g.password)
	}
	known.Header, _, _ = strings.Cut(g.answer.Token, ":")
	if assertion := g.form.Get("assertion"); assertion != "" {
		known.Add(assertion)
	}
	transport := &Transport{Base: x.transport.Base, Attempts: x.options.Attempts, MaxBody: x.options.MaxBody}
	res, err := transport.RoundTrip(r)
	if err != nil {
		return nil, x.tokenError(ctx, err, known)
	}
	return res, nil
}

// tokenError returns the error of a token endpoint that does not answer. That is no
// fault of the credentials.
func (x *session) tokenError(ctx context.Context, err error, known *recording.Secrets) error {
	err = x.transportError(ctx, "", err, known)
	var silent *unreachable
	if !errors.As(err, &silent) || is[*recording.Missing](err) || is[*netguard.Error](err) {
		return err
	}
	return &explained{
		connector.UpstreamTimeout("The service that gives out access tokens cannot be reached at the moment. Try again later."),
		fmt.Errorf("restsource: the token endpoint cannot be reached: %s", silent.reason),
	}
}

// tokenRefused returns the error of an answer without a token, or nil. The codes are
// those of RFC 6749; no other text of the answer is used.
func tokenRefused(status int, code string) error {
	wrong := func(sentence string) error {
		return &explained{connector.CheckFailed("%s", sentence),
			fmt.Errorf("restsource: the token endpoint refuses the credentials (status %d)", status)}
	}
	switch code {
	case "invalid_client", "unauthorized_client", "invalid_grant", "access_denied", "incorrect_client_credentials":
		return wrong("The API does not accept the client id, the secret or the key. Check them; they may have expired.")
	case "invalid_scope":
		return wrong("These credentials do not have all the scopes that the connector needs. " +
			"Ask for them, or use other credentials.")
	case "slow_down", "temporarily_unavailable":
		return &explained{errBusy, fmt.Errorf("restsource: the token endpoint answered %q", code)}
	}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return wrong("The API does not accept the client id, the secret or the key. Check them; they may have expired.")
	case status == http.StatusTooManyRequests:
		return &explained{errBusy, errors.New("restsource: the token endpoint takes no more requests")}
	case status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout:
		return &explained{connector.UpstreamTimeout(
			"The service that gives out access tokens is not available at the moment. Try again later."),
			fmt.Errorf("restsource: the token endpoint answered with the status %d", status)}
	case code == "invalid_request" || code == "unsupported_grant_type" || code == "invalid_target":
		return fmt.Errorf("restsource: the token endpoint answered %q: it does not take what the connector asks", code)
	case status < 200 || status >= 300 || code != "":
		return fmt.Errorf("restsource: the token endpoint answered with the status %d and no token; check TokenURL", status)
	}
	return nil
}

// tokenURL returns the address of a token endpoint.
func (x *session) tokenURL(address string, creds wire.Credentials) (*url.URL, error) {
	if path, query, _ := strings.Cut(address, "?"); strings.HasPrefix(path, "/") {
		params, err := url.ParseQuery(query)
		return x.at(path, params), err
	}
	host := API{Base: cmp.Or(address, "none")}
	if faults := host.faults(); len(faults) > 0 || host.typed() {
		return nil, errors.New("restsource: TokenURL must be a path, or an address such as https://auth.example.com/oauth/token")
	}
	return host.base(creds, x.options.AllowPrivate)
}
