// Package recording is what a restsource.Source and a record.Recorder tell each
// other: the secrets of a request, which no recording may have, and that there is no
// recording of it. Neither imports the other.
package recording

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Secrets are values that no recording and no log may have: a tenant's credentials,
// and what was made of them. Names say nothing about what is secret, values do.
type Secrets struct {
	values map[string]string
	params map[string]bool // the query parameters that Authorize has set
	// Header is a header of the answer that is read beside the usual ones, or empty.
	Header string
	// Tenant has all credentials of the tenant. It tells tenants apart and is written nowhere.
	Tenant string
}

// NewSecrets returns a set of values. It skips empty ones.
func NewSecrets(values ...string) *Secrets {
	s := &Secrets{values: map[string]string{}, params: map[string]bool{}}
	s.Add(values...)
	return s
}

// secretsKey is the key of a request's *Secrets in its context.
type secretsKey struct{}

// WithSecrets returns a context that carries the secrets of a request.
func WithSecrets(ctx context.Context, s *Secrets) context.Context {
	return context.WithValue(ctx, secretsKey{}, s)
}

// SecretsOf returns the secrets that a context carries, or nil.
func SecretsOf(ctx context.Context) *Secrets {
	s, _ := ctx.Value(secretsKey{}).(*Secrets)
	return s
}

// Add adds the values that are not empty.
func (s *Secrets) Add(values ...string) {
	for _, v := range values {
		if v != "" {
			s.values[v] = v
		}
	}
}

// Merge adds other secrets, and reports whether there is a new value among them.
func (s *Secrets) Merge(other *Secrets) (grown bool) {
	before := len(s.values)
	for v := range other.values {
		s.Add(v)
	}
	for param := range other.params {
		s.params[param] = true
	}
	return len(s.values) > before
}

// HasParam reports whether Authorize has set the query parameter.
func (s *Secrets) HasParam(name string) bool { return s.params[name] }

// Scrub returns text without the values.
func (s *Secrets) Scrub(text string) string { return wire.NewCredentials(s.values).Scrub(text) }

// ScrubError returns an error of the author's code whose text has no values.
func (s *Secrets) ScrubError(err error) error { return &scrubbed{s.Scrub(err.Error()), err} }

// Learn adds what Authorize has put into a request.
func (s *Secrets) Learn(before, after *http.Request) {
	for name, values := range after.Header {
		if !slices.Equal(values, before.Header[name]) {
			s.AddHeader(name, values)
		}
	}
	known := before.URL.Query()
	for name, values := range after.URL.Query() {
		if !slices.Equal(values, known[name]) {
			s.params[name] = true
			s.Add(values...)
		}
	}
	segments := strings.Split(before.URL.Path, "/")
	for segment := range strings.SplitSeq(after.URL.Path, "/") {
		if !slices.Contains(segments, segment) {
			s.Add(segment)
		}
	}
	if user := after.URL.User; user != nil {
		password, _ := user.Password()
		s.Add(user.Username(), password)
	}
}

var assigned = regexp.MustCompile(`=\s*"?([^",;\s]{8,})`)

// AddHeader adds the values of a header, and their parts: what stands behind a scheme
// such as Bearer, what is assigned, and the two of Basic. The names of cookies are no secrets.
func (s *Secrets) AddHeader(name string, values []string) {
	for _, v := range values {
		if cookies, err := http.ParseCookie(v); err == nil && name == "Cookie" {
			for _, c := range cookies {
				s.Add(c.Value)
			}
			continue
		}
		s.Add(v)
		if _, credentials, ok := strings.Cut(v, " "); ok {
			s.Add(strings.TrimSpace(credentials))
		}
		for _, match := range assigned.FindAllStringSubmatch(v, -1) {
			s.Add(match[1])
		}
		user, password, _ := (&http.Request{Header: http.Header{"Authorization": {v}}}).BasicAuth()
		s.Add(user, password)
	}
}

// scrubbed is an error whose text has no secrets.
type scrubbed struct {
	text string
	error
}

func (e *scrubbed) Error() string { return e.text }

func (e *scrubbed) Unwrap() error { return e.error }

// Missing says that a Recorder has no recording of a request.
type Missing struct {
	Request string // its method, path and query, without secrets
	Dir     string
}

// Error returns what to do.
func (e *Missing) Error() string {
	return fmt.Sprintf("record: there is no recording of %s in %s; record it by setting Recorder.Upstream", e.Request, e.Dir)
}
