package session

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// What a report shows in the place of a secret that no variable stands for.
const (
	redactedToken      = "[token]"
	redactedCredential = "[redacted]"
)

// maxPiece is the length from which a piece of a secret is removed. Of shorter
// secrets, three quarters are.
const maxPiece = 16

// maxIndexed limits the memory that a long secret takes. Pieces beyond it are
// recognised only as a part of the whole secret.
const maxIndexed = 16 << 10

// redactor keeps the token, the credentials and what checks make of them out of
// reports. It is safe for concurrent use.
type redactor struct {
	mu      sync.RWMutex
	secrets map[string]string         // all of them, for wire.Credentials.Scrub
	pieces  map[int]map[string]string // by length and in lower case: what to show instead
	derived map[string]string         // a value made of the token, and the shell expression for it
	headers *strings.Replacer         // shows the token and the derived values in a header
	body    *strings.Replacer         // shows the token and the credentials in a body
	query   *strings.Replacer         // shows the token in a query string
	base    *strings.Replacer         // shows the token in the endpoint's URL
}

func newRedactor(token string, tenants []Tenant) *redactor {
	r := &redactor{secrets: map[string]string{}, pieces: map[int]map[string]string{}, derived: map[string]string{}}
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
	if len(token) < minSecret {
		r.index(token, len(token), redactedToken)
	}
	for _, t := range tenants {
		for _, value := range t.Credentials.Reveal() {
			r.add(value, redactedCredential)
		}
	}
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
	r.headers = strings.NewReplacer(pairs...) // the longest value that fits comes first
	r.add(value, redactedToken)
}

// add registers a secret that clean replaces by placeholder.
func (r *redactor) add(secret, placeholder string) {
	r.secrets[strconv.Itoa(len(r.secrets))] = secret
	if len(secret) < minSecret {
		return // wire.Credentials.Scrub removes it, if it is not too short to be a secret
	}
	for _, spelling := range disguises(secret[:min(len(secret), maxIndexed)]) {
		r.index(spelling, min(maxPiece, max(minSecret, len(spelling)*3/4)), placeholder)
	}
}

// index adds every piece of a text that has the length size.
func (r *redactor) index(text string, size int, placeholder string) {
	if r.pieces[size] == nil {
		r.pieces[size] = map[string]string{}
	}
	text = lowerASCII(text)
	for i := 0; i+size <= len(text); i++ {
		if r.pieces[size][text[i:i+size]] == "" {
			r.pieces[size][text[i:i+size]] = placeholder
		}
	}
}

// header returns the value of a header as a report shows it.
func (r *redactor) header(value string) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.headers.Replace(value)
}

// clean returns text without the secrets, in any case and in the usual encodings,
// and without long pieces of them.
func (r *redactor) clean(text string) string {
	if text == "" {
		return text
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	return wire.NewCredentials(r.secrets).Scrub(r.cut(text))
}

// cleanPieces does what clean does, but leaves secrets of less than minSecret
// bytes: texts of this program, such as a path, may hold them by chance.
func (r *redactor) cleanPieces(text string) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.cut(text)
}

// cut replaces every run of pieces by the placeholder of the first.
func (r *redactor) cut(text string) string {
	type span struct {
		start, end  int
		placeholder string
	}
	var spans []span
	lower := lowerASCII(text)
	for size, pieces := range r.pieces {
		for i := 0; i+size <= len(lower); i++ {
			if placeholder := pieces[lower[i:i+size]]; placeholder != "" {
				spans = append(spans, span{i, i + size, placeholder})
			}
		}
	}
	if len(spans) == 0 {
		return text
	}
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.placeholder, b.placeholder))
	})
	var b strings.Builder
	done := 0
	for i := 0; i < len(spans); {
		first := spans[i]
		end := first.end
		for i++; i < len(spans) && spans[i].start < end; i++ {
			end = max(end, spans[i].end)
		}
		b.WriteString(text[done:first.start] + first.placeholder)
		done = end
	}
	b.WriteString(text[done:])
	return b.String()
}

// disguises returns the forms in which a secret tends to appear in what a
// connector answers and in what this program quotes of it. Their case does not
// matter.
func disguises(secret string) []string {
	list := []string{
		secret,
		strings.ToLower(secret),
		strings.ToUpper(secret),
		inside(strconv.Quote(secret)),
		inside(strconv.QuoteToASCII(secret)),
		html.EscapeString(secret),
		url.QueryEscape(secret),
		url.PathEscape(secret),
		hex.EncodeToString([]byte(secret)),
		strings.Map(func(c rune) rune { // as excerpts show it
			if c < ' ' || c == 0x7f {
				return ' '
			}
			return c
		}, secret),
	}
	for _, escapeHTML := range []bool{false, true} {
		once := insideJSON(secret, escapeHTML)
		list = append(list, once, insideJSON(once, escapeHTML)) // JSON in JSON
	}
	var percent, unicode strings.Builder
	for i := range len(secret) {
		fmt.Fprintf(&percent, "%%%02x", secret[i])
		fmt.Fprintf(&unicode, `\u%04x`, secret[i])
	}
	list = append(list, percent.String(), unicode.String())
	// In base64, a character depends on its neighbours. Those that the secret shares
	// with the text around it are left out.
	for before := range 3 {
		raw := base64.RawStdEncoding.EncodeToString(append(make([]byte, before), secret...))
		if before > 0 {
			raw = raw[before+1:]
		}
		if (before+len(secret))%3 != 0 {
			raw = raw[:len(raw)-1]
		}
		list = append(list, raw, strings.NewReplacer("+", "-", "/", "_").Replace(raw))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// inside returns a quoted text without its quotes.
func inside(quoted string) string { return quoted[1 : len(quoted)-1] }

// insideJSON returns a text as it appears between the quotes of a JSON string.
func insideJSON(text string, escapeHTML bool) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(escapeHTML)
	_ = e.Encode(text) // a string always encodes
	return inside(strings.TrimSuffix(b.String(), "\n"))
}

// lowerASCII returns a text of the same length, with ASCII letters in lower case.
func lowerASCII(text string) string {
	b := []byte(text)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + ('a' - 'A')
		}
	}
	return string(b)
}

// Derive registers a value that a check makes of the token, together with the
// shell expression that makes it, and returns the value. Every check that sends a
// changed token gets it here, so that no report shows it.
func (s *Session) Derive(value, expression string) string {
	s.redact.derive(value, expression)
	return value
}

// Clean returns text without the token, the credentials and what was made of them.
func (s *Session) Clean(text string) string { return s.redact.clean(text) }

// Endpoint returns the base URL as a report shows it.
func (s *Session) Endpoint() string { return s.redact.base.Replace(s.Base) }

// scrub removes every secret from a finding. Secrets do not get into it on
// purpose, but a connector may echo them.
func (s *Session) scrub(f *check.Finding) {
	for _, text := range []*string{&f.Detail, &f.Expected, &f.Received} {
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
