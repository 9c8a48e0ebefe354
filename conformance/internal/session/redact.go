package session

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// redactor keeps the token, the credentials and what checks make of them out of
// reports. It is safe for concurrent use.
type redactor struct {
	*Cleaner
	mu      sync.Mutex
	derived map[string]string                // a value made of the token, and the shell expression for it
	headers atomic.Pointer[strings.Replacer] // shows the token and the derived values in a header
	body    *strings.Replacer                // shows the token and the credentials in a body
	query   *strings.Replacer                // shows the token in a query string
	base    *strings.Replacer                // shows the token in the endpoint's URL
}

func newRedactor(token string, tenants []Tenant) *redactor {
	var credentials []wire.Credentials
	for _, t := range tenants {
		credentials = append(credentials, t.Credentials)
	}
	r := &redactor{Cleaner: NewCleaner(token, credentials), derived: map[string]string{}}
	variable := "$" + check.EnvToken
	escaped := url.QueryEscape(token)
	inQuery := variable
	if escaped != token {
		inQuery = check.TokenEscaped
	}
	r.query = strings.NewReplacer(escaped, inQuery)
	r.base = strings.NewReplacer(token, variable)
	var inBody []string
	for _, t := range tenants {
		if len(t.JSON) > len("{}") {
			inBody = append(inBody, string(t.JSON), "$"+t.variable)
		}
	}
	r.body = strings.NewReplacer(append(inBody, token, variable)...)
	r.derive(token, variable)
	return r
}

// derive registers a value made of the token, and the shell expression that
// requests show in its place.
func (r *redactor) derive(value, expression string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if value == "" || r.derived[value] != "" {
		return
	}
	r.derived[value] = expression
	var pairs []string
	byLength := func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) }
	for _, value := range slices.SortedFunc(maps.Keys(r.derived), byLength) {
		pairs = append(pairs, value, r.derived[value])
	}
	r.headers.Store(strings.NewReplacer(pairs...)) // the longest value that fits comes first
	r.add(value, redactedToken)
}

// header returns the value of a header as a report shows it.
func (r *redactor) header(value string) string { return r.headers.Load().Replace(value) }

// Derive registers a value that a check makes of the token, together with the
// shell expression that makes it, and returns the value. Every check that sends a
// changed token gets it here, so that no report shows it.
func (s *Session) Derive(value, expression string) string {
	s.redact.derive(value, expression)
	return value
}

// Clean returns text without the token, the credentials and what was made of them.
func (s *Session) Clean(text string) string { return s.redact.Clean(text) }

// Endpoint returns the base URL as a report shows it.
func (s *Session) Endpoint() string { return s.redact.base.Replace(s.Base) }

// scrub removes every secret from a finding. Secrets do not get into it on
// purpose, but a connector may echo them.
func (s *Session) scrub(f *check.Finding) {
	for _, text := range []*string{&f.Detail, &f.Expected, &f.Received, &f.Refused} {
		*text = s.Clean(*text)
	}
	if f.Request == nil {
		return
	}
	request, changed := s.scrubRequest(f.Request)
	f.Request = request
	if changed {
		f.Detail += " (the request cannot be sent again as it is shown: [token] and [redacted] stand for secrets)"
	}
}

// scrubRequest returns a copy of a shown request without the secrets that no
// variable stands for, and reports whether there were any.
func (s *Session) scrubRequest(r *check.Request) (own *check.Request, changed bool) {
	own = &check.Request{Method: r.Method, URL: r.URL, Header: r.Header.Clone(), Body: s.Clean(r.Body)}
	if rest, ok := strings.CutPrefix(r.URL, s.Endpoint()); ok {
		own.URL = s.Endpoint() + s.redact.cleanPieces(rest)
	}
	changed = own.URL != r.URL || own.Body != r.Body
	for _, values := range own.Header {
		for i, value := range values {
			values[i] = s.redact.cleanPieces(value)
			changed = changed || values[i] != value
		}
	}
	return own, changed
}
