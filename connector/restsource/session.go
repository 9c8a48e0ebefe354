package restsource

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource/internal/recording"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// answer is a successful answer of the API.
type answer struct {
	url    *url.URL // that was asked
	status int
	header http.Header
	body   []byte
}

// html reports whether the answer says that it is HTML.
func (a *answer) html() bool {
	media, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	return media == "text/html" || media == "application/xhtml+xml"
}

// refused returns an error if the answer, whatever else it is, tells of one.
func (a *answer) refused(table string) error {
	found, _ := newPicker([]string{"error"}, []string{"errors"}).parse(string(a.body), 2)
	if tellsNothing(found[0]) && tellsNothing(found[1]) {
		return nil
	}
	return &refusedError{table}
}

// at returns the address of a path below the base. The path is escaped already.
func (x *session) at(path string, params url.Values) *url.URL {
	u := *x.address
	u.RawPath = strings.TrimRight(u.EscapedPath(), "/") + path
	if plain, err := url.PathUnescape(u.RawPath); err == nil {
		u.Path = plain
	}
	u.RawQuery = params.Encode()
	return &u
}

// send sends one request with the tenant's credentials and reads the answer. It
// requests nothing beyond the origin of the base, because the credentials are for
// that one alone. A body makes the request a POST.
func (x *session) send(ctx context.Context, table string, u *url.URL, body []byte) (*answer, error) {
	if !sameOrigin(u, x.address) {
		return nil, &formError{table, "an address in the answer leads to another host, which must not see the credentials"}
	}
	known := x.secrets() // a record.Recorder scrubs them
	r := (&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}, Host: u.Host}).
		WithContext(recording.WithSecrets(ctx, known))
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "connector-sdk-go")
	if body != nil {
		r.Method = http.MethodPost
		r.Header.Set("Content-Type", "application/json")
		r.ContentLength = int64(len(body))
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		r.Body, _ = r.GetBody()
	}
	for name, values := range x.api.Header {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	if x.api.Authorize != nil {
		before := r.Clone(ctx)
		err := x.api.Authorize(r, x.creds)
		known.Learn(before, r)
		if err != nil {
			return nil, known.ScrubError(err)
		}
	}
	if !sameOrigin(r.URL, x.address) {
		return nil, &formError{table, "Authorize changed the host of the request"}
	}
	if !sendable(r.Header) {
		return nil, connector.CheckFailed("A credential has a character that cannot be sent, such as a line break. Enter it again.")
	}
	if _, own := r.Header[idempotencyKey]; body != nil && !own {
		r.Header[idempotencyKey] = nil // Table.Body only reads
	}
	res, err := x.transport.RoundTrip(r)
	if err != nil {
		return nil, x.transportError(ctx, table, err, known)
	}
	defer func() { _ = res.Body.Close() }()
	switch {
	case res.StatusCode >= 300 && res.StatusCode < 400:
		return nil, &formError{table, "the API redirects; a redirect is not followed, because the credentials could go elsewhere"}
	case res.StatusCode < 200 || res.StatusCode >= 300:
		return nil, &statusError{table, res.StatusCode}
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		if errors.Is(err, errTooLarge) {
			return nil, &formError{table, "the answer is larger than Options.MaxBody; ask for smaller pages"}
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, &formError{table, "the answer broke off"}
	}
	return &answer{u, res.StatusCode, res.Header, text}, nil
}

// minSegment is the length in bytes from which a segment of the address that has a digit
// is a secret by itself. Others are words, such as "services".
const minSegment = 12

// secrets returns the credentials of the session, what its address has of them, and what
// looks like a secret of the host in the path of API.Base.
func (x *session) secrets() *recording.Secrets {
	s := recording.NewSecrets()
	for _, v := range x.creds.Reveal() {
		s.Add(v)
	}
	_, rest, _ := strings.Cut(x.api.Base, "://")
	_, path, _ := strings.Cut(rest, "/")
	if x.api.typed() {
		path = strings.Trim(x.address.Path, "/")
		s.Add(x.address.Host, x.address.Hostname(), path, strings.Trim(x.address.EscapedPath(), "/"))
	}
	for segment := range strings.SplitSeq(path, "/") {
		if len(segment) >= minSegment && strings.ContainsAny(segment, "0123456789") {
			s.Add(segment)
		}
	}
	return s
}

// sendable reports whether headers have no control characters.
func sendable(h http.Header) bool {
	for _, values := range h {
		for _, v := range values {
			if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
				return false
			}
		}
	}
	return true
}

// transportError returns the error of a request without an answer. Where tenants type
// the address, the log does not have it [rule credential-9].
func (x *session) transportError(ctx context.Context, table string, err error, known *recording.Secrets) error {
	var limited *LimitError
	var deliberate *wire.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &limited) || errors.As(err, &deliberate):
		return err
	}
	why := known.Scrub(err.Error())
	if x.api.tenants() {
		why = reasonOf(err)
	}
	return &unreachable{table, why, err}
}

// credentialed replaces {key} in a path by the tenant's credentials.
func (x *session) credentialed(key string) (string, error) { return credentialSegment(x.creds, key) }
