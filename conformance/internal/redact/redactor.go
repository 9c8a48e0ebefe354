package redact

import (
	"bytes"
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Tenant is one set of credentials.
type Tenant struct {
	Credentials wire.Credentials
	JSON        []byte // as requests carry it
}

// NewTenant returns the tenant of a set of credentials, or why no request can carry it.
func NewTenant(c wire.Credentials) (Tenant, error) {
	body, err := wire.EncodeRequest(&wire.CheckRequest{Envelope: wire.Envelope{Credentials: c, TimeoutMS: 1}})
	if err != nil {
		return Tenant{}, err
	}
	body, _ = bytes.CutPrefix(body, []byte(`{"credentials":`))
	body, _ = bytes.CutSuffix(body, []byte(`,"timeoutMs":1}`))
	return Tenant{c, body}, nil
}

// Redactor shows the requests of a run in reports. It is safe for concurrent use.
type Redactor struct {
	*Cleaner
	Endpoint string // the base URL as a report shows it

	mu      sync.Mutex
	derived map[string]string                // a value made of the token, and the shell expression for it
	headers atomic.Pointer[strings.Replacer] // shows the token and the derived values in a header
	body    *strings.Replacer                // shows the token and the credentials in a body
	query   *strings.Replacer                // shows the token in a query string
}

// NewRedactor returns what shows requests to a base URL, with a token, of one tenant or of two.
func NewRedactor(base, token string, tenants []Tenant) *Redactor {
	var credentials []wire.Credentials
	for _, t := range tenants {
		credentials = append(credentials, t.Credentials)
	}
	r := &Redactor{Cleaner: New(token, credentials), derived: map[string]string{}}
	variable := "$" + check.EnvToken
	escaped := url.QueryEscape(token)
	inQuery := variable
	if escaped != token {
		inQuery = check.TokenEscaped
	}
	r.query = strings.NewReplacer(escaped, inQuery)
	r.Endpoint = strings.NewReplacer(token, variable).Replace(base)
	var inBody []string
	for i, t := range tenants {
		if len(t.JSON) > len("{}") {
			inBody = append(inBody, string(t.JSON), "$"+[]string{check.EnvCredentials, check.EnvCredentials2}[i])
		}
	}
	r.body = strings.NewReplacer(append(inBody, token, variable)...)
	r.Derive(token, variable)
	return r
}

// Derive registers a value that a check makes of the token, together with the shell expression that makes it, and
// returns the value. Every check that sends a changed token gets it here, so that no report shows it.
func (r *Redactor) Derive(value, expression string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if value == "" || r.derived[value] != "" {
		return value
	}
	r.derived[value] = expression
	var pairs []string
	byLength := func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) }
	for _, value := range slices.SortedFunc(maps.Keys(r.derived), byLength) {
		pairs = append(pairs, value, r.derived[value])
	}
	r.headers.Store(strings.NewReplacer(pairs...)) // the longest value that fits comes first
	r.add(value, redactedToken)
	return value
}

// Show returns a request as a report shows it, with variables and expressions for a shell in the place of the token
// and the credentials. The request has a path and no query in the place of its URL. What the variables do not cover is
// removed by [Redactor.Scrub].
func (r *Redactor) Show(request check.Request, query string) *check.Request {
	own := &check.Request{Method: request.Method, URL: r.Endpoint + request.URL, Header: http.Header{}, Body: r.body.Replace(request.Body)}
	if query != "" {
		own.URL += "?" + r.query.Replace(query)
	}
	for name, values := range request.Header {
		for _, value := range values {
			own.Header[name] = append(own.Header[name], r.headers.Load().Replace(value))
		}
	}
	return own
}

// Scrub returns a copy of a shown request without the secrets that no
// variable stands for, and reports whether there were any.
func (r *Redactor) Scrub(request *check.Request) (own *check.Request, changed bool) {
	own = &check.Request{Method: request.Method, URL: request.URL, Header: request.Header.Clone(), Body: r.Clean(request.Body)}
	if rest, ok := strings.CutPrefix(request.URL, r.Endpoint); ok {
		own.URL = r.Endpoint + r.cleanPieces(rest)
	}
	changed = own.URL != request.URL || own.Body != request.Body
	for _, values := range own.Header {
		for i, value := range values {
			values[i] = r.cleanPieces(value)
			changed = changed || values[i] != value
		}
	}
	return own, changed
}
