package restsource

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
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
}

// Authorize returns the function for API.Authorize.
func (c ClientCredentials) Authorize() Authorize {
	return Token(func(ctx context.Context, creds wire.Credentials) (string, time.Duration, error) {
		id, secret := strings.TrimSpace(creds.Get(c.ID)), strings.TrimSpace(creds.Get(c.Secret))
		form := paramsOf(c.Params, url.Values{"grant_type": {"client_credentials"}})
		if len(c.Scopes) > 0 {
			form.Set("scope", strings.Join(c.Scopes, " "))
		}
		if c.Audience != "" {
			form.Set("audience", c.Audience)
		}
		basic := ""
		if c.InForm {
			form.Set("client_id", id)
			form.Set("client_secret", secret)
		} else {
			basic = "Basic " + base64.StdEncoding.EncodeToString([]byte(url.QueryEscape(id)+":"+url.QueryEscape(secret)))
		}
		return requestToken(ctx, creds, c.TokenURL, form, basic)
	})
}

// tokenAnswer is what a token endpoint answers.
type tokenAnswer struct {
	Token    string      `json:"access_token"`
	Kind     string      `json:"token_type"`
	Lifetime json.Number `json:"expires_in"`
	Error    string      `json:"error"`
}

// requestToken asks a token endpoint for an access token.
func requestToken(
	ctx context.Context, creds wire.Credentials, address string, form url.Values, basic string,
) (token string, lifetime time.Duration, err error) {
	use := tokenUseOf(ctx)
	if use == nil {
		return "", 0, errors.New("restsource: a token can only be asked for by a source")
	}
	u, err := use.session.tokenURL(address, creds)
	if err != nil {
		return "", 0, err
	}
	res, err := use.session.postForm(ctx, u, form, basic)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return "", 0, errors.New("restsource: the answer of the token endpoint broke off")
	}
	var a tokenAnswer
	decodeError := json.Unmarshal(body, &a)
	if err := tokenRefused(res.StatusCode, a.Error); err != nil {
		return "", 0, err
	}
	switch {
	case decodeError != nil:
		return "", 0, errors.New("restsource: the answer of the token endpoint is not the JSON of a token")
	case a.Token == "":
		return "", 0, errors.New("restsource: the answer of the token endpoint has no access_token")
	case a.Kind != "" && !strings.EqualFold(a.Kind, "bearer"):
		return "", 0, errors.New("restsource: the token endpoint gives out tokens of another kind than Bearer")
	}
	seconds, _ := a.Lifetime.Float64() // without one, the token is good until it is refused
	return a.Token, time.Duration(min(max(seconds, 0), maxTokenLifetime.Seconds()) * float64(time.Second)), nil
}

// maxTokenLifetime is longer than any request of the platform.
const maxTokenLifetime = 24 * time.Hour

// postForm sends the request for a token. The token endpoint has a budget of its own.
func (x *session) postForm(ctx context.Context, u *url.URL, form url.Values, basic string) (*http.Response, error) {
	known := x.secrets()
	body := []byte(form.Encode())
	r := (&http.Request{Method: http.MethodPost, URL: u, Host: u.Host, Header: http.Header{
		"Accept":       {"application/json"},
		"Content-Type": {"application/x-www-form-urlencoded"},
		"User-Agent":   {"connector-sdk-go"},
		idempotencyKey: nil, // a token too many does no harm
	}}).WithContext(recording.WithSecrets(ctx, known))
	r.ContentLength = int64(len(body))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.Body, _ = r.GetBody()
	if basic != "" {
		r.Header.Set("Authorization", basic)
	}
	if assertion := form.Get("assertion"); assertion != "" {
		known.Add(assertion)
	}
	transport := &Transport{Base: x.base, Attempts: x.options.Attempts, MaxBody: x.options.MaxBody}
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
	var missing *recording.Missing
	var refused *netguard.Error
	if !errors.As(err, &silent) || errors.As(err, &missing) || errors.As(err, &refused) {
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
		return wrong("These credentials do not have all the scopes that the connector needs. Ask for them, or use other credentials.")
	case "slow_down", "temporarily_unavailable":
		return &explained{errBusy, fmt.Errorf("restsource: the token endpoint answered %q", code)}
	}
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return wrong("The API does not accept the client id, the secret or the key. Check them; they may have expired.")
	case status == http.StatusTooManyRequests:
		return &explained{errBusy, errors.New("restsource: the token endpoint takes no more requests")}
	case status == http.StatusBadGateway || status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout:
		return &explained{connector.UpstreamTimeout("The service that gives out access tokens is not available at the moment. Try again later."),
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
