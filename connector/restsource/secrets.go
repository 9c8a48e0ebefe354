package restsource

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// secrets are values that no recording and no log may have: a tenant's credentials,
// and what was made of them. Names say nothing about what is secret, values do.
type secrets struct {
	values map[string]string
	params map[string]bool // the query parameters that Authorize has set
}

// secretsKey is the key of a request's *secrets in its context.
type secretsKey struct{}

func newSecrets() *secrets { return &secrets{values: map[string]string{}, params: map[string]bool{}} }

func (s *secrets) add(values ...string) {
	for _, v := range values {
		if v != "" {
			s.values[v] = v
		}
	}
}

// merge adds other secrets, and reports whether there is a new value among them.
func (s *secrets) merge(other *secrets) (grown bool) {
	before := len(s.values)
	for v := range other.values {
		s.add(v)
	}
	for param := range other.params {
		s.params[param] = true
	}
	return len(s.values) > before
}

// scrub returns text without the values.
func (s *secrets) scrub(text string) string { return wire.NewCredentials(s.values).Scrub(text) }

// minSegment is the length in bytes from which a segment of the address that has a digit
// is a secret by itself. Others are words, such as "services".
const minSegment = 12

// secrets returns the credentials of the session, what its address has of them, and what
// looks like a secret of the host in the path of API.Base.
func (x *session) secrets() *secrets {
	s := newSecrets()
	for _, v := range x.creds.Reveal() {
		s.add(v)
	}
	_, rest, _ := strings.Cut(x.api.Base, "://")
	_, path, _ := strings.Cut(rest, "/")
	if x.api.typed() {
		path = strings.Trim(x.address.Path, "/")
		s.add(x.address.Host, x.address.Hostname(), path, strings.Trim(x.address.EscapedPath(), "/"))
	}
	for segment := range strings.SplitSeq(path, "/") {
		if len(segment) >= minSegment && strings.ContainsAny(segment, "0123456789") {
			s.add(segment)
		}
	}
	return s
}

// learn adds what Authorize has put into a request.
func (s *secrets) learn(before, after *http.Request) {
	for name, values := range after.Header {
		if !slices.Equal(values, before.Header[name]) {
			s.addHeader(values)
		}
	}
	known := before.URL.Query()
	for name, values := range after.URL.Query() {
		if !slices.Equal(values, known[name]) {
			s.params[name] = true
			s.add(values...)
		}
	}
	segments := strings.Split(before.URL.Path, "/")
	for segment := range strings.SplitSeq(after.URL.Path, "/") {
		if !slices.Contains(segments, segment) {
			s.add(segment)
		}
	}
	if user := after.URL.User; user != nil {
		password, _ := user.Password()
		s.add(user.Username(), password)
	}
}

var assigned = regexp.MustCompile(`=\s*"?([^",;\s]{8,})`)

// addHeader adds the values of a header, and their parts: what stands behind a scheme
// such as Bearer, what is assigned as in a cookie, and the two of Basic.
func (s *secrets) addHeader(values []string) {
	for _, v := range values {
		s.add(v)
		if _, credentials, ok := strings.Cut(v, " "); ok {
			s.add(strings.TrimSpace(credentials))
		}
		for _, match := range assigned.FindAllStringSubmatch(v, -1) {
			s.add(match[1])
		}
		user, password, _ := (&http.Request{Header: http.Header{"Authorization": {v}}}).BasicAuth()
		s.add(user, password)
	}
}

// scrubbed is an error whose text has no secrets.
type scrubbed struct {
	text string
	error
}

func (e *scrubbed) Error() string { return e.text }

func (e *scrubbed) Unwrap() error { return e.error }

// scrubError returns an error of the author's code without secrets.
func (s *secrets) scrubError(err error) error { return &scrubbed{s.scrub(err.Error()), err} }

// hostPlace stands in a recording for the host of an API whose address is the
// tenant's, so that the addresses in the recording stay addresses.
const hostPlace = "upstream.invalid"

// scrubAnswer returns text of an answer of a host without the values.
func (s *secrets) scrubAnswer(host, text string) string {
	if s.scrub(host) != host {
		text = strings.ReplaceAll(text, host, hostPlace)
	}
	return s.scrub(text)
}

// scrubBody is scrubAnswer for a body. JSON stays JSON: a number that has a value in it
// becomes 0.
func (s *secrets) scrubBody(host, body string) string {
	text := s.scrubAnswer(host, body)
	if !json.Valid([]byte(body)) {
		return text
	}
	return textOrRest.ReplaceAllStringFunc(text, func(token string) string {
		if token[0] == '"' {
			return token
		}
		return "0"
	})
}

// textOrRest finds the texts of JSON, and what is left of a number.
var textOrRest = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[-+.0-9eE]*\[redacted\][-+.0-9eE]*`)
