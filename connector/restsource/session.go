package restsource

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
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
	fine   bool // API.Judge says so
}

// html reports whether the answer says that it is HTML.
func (a *answer) html() bool {
	media, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
	return media == "text/html" || media == "application/xhtml+xml"
}

// refused returns an error if the answer, whatever else it is, tells of one.
func (a *answer) refused(name string) error {
	if a.fine {
		return nil
	}
	top := collected{odd: -1}
	_, _ = (&picker{path: []string{}, members: []member{{}}}).parseRows(string(a.body), 0, &top)
	if path := new(table).refusal(top.beside, 1); path != "" {
		return refusedBy(name, path)
	}
	return nil
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

// send sends one request with the tenant's credentials and reads the answer. A body
// makes the request a POST. If the access token is no longer good, send asks for
// another one and sends the request again, once. An answer that is kept is not asked for.
func (x *session) send(ctx context.Context, table string, u *url.URL, body []byte) (*answer, error) {
	key := x.kept.of(table, u, body)
	if a := x.kept.get(key); a != nil {
		return a, nil
	}
	use := &tokenUse{session: x}
	a, v, err := x.sendOnce(ctx, use, table, u, body)
	if err == nil && v.Outcome == OutcomeRenew {
		use.renew = true
		a, v, err = x.sendOnce(ctx, use, table, u, body)
	}
	if err != nil {
		return nil, err
	}
	if err := v.failure(table); err != nil {
		return nil, x.secrets().ScrubError(err)
	}
	x.kept.put(key, a)
	return a, nil
}

// sendOnce sends one request. It returns either an answer that can be read, or what the
// answer means otherwise.
func (x *session) sendOnce(ctx context.Context, use *tokenUse, table string, u *url.URL, body []byte) (*answer, Verdict, error) {
	r, known, err := x.prepare(ctx, use, table, u, body)
	if err != nil {
		return nil, Verdict{}, err
	}
	res, text, v, err := x.transport.exchange(r,
		func(r *http.Request) error { return x.authorize(r, known, table) },
		func(res *http.Response, body []byte) Verdict { return x.judge(table, res, body) })
	var unsent *unsentError
	if errors.As(err, &unsent) {
		return nil, v, unsent.error
	}
	if err != nil {
		return nil, v, x.transportError(ctx, table, err, known)
	}
	defer func() { _ = res.Body.Close() }()
	status := res.StatusCode
	switch {
	case v.Outcome == OutcomeNotThere && table == "":
		return nil, v, &statusError{status: http.StatusNotFound}
	case v.Outcome == OutcomeNotThere:
		return &answer{url: u, status: http.StatusNoContent, header: res.Header}, v, nil
	case v.Outcome == OutcomeFine:
		status = http.StatusOK
	case v.Outcome != unjudged:
		return nil, v, nil
	case status == http.StatusUnauthorized && use.token != "" && !use.renew:
		return nil, Verdict{Outcome: OutcomeRenew}, nil
	case status >= 300 && status < 400:
		return nil, v, &formError{table, "the API redirects; a redirect is not followed, because the credentials could go elsewhere"}
	case limits(res):
		return nil, v, &statusError{table: table, status: http.StatusTooManyRequests}
	case status < 200 || status >= 300:
		return nil, v, &statusError{table: table, status: status}
	}
	if text == nil { // it could not be read to be judged
		if text, err = io.ReadAll(res.Body); err != nil {
			return nil, v, x.bodyError(ctx, table, err)
		}
	}
	return &answer{u, status, res.Header, text, v.Outcome == OutcomeFine}, v, nil
}

// bodyError returns the error of an answer that cannot be read to its end.
func (x *session) bodyError(ctx context.Context, table string, err error) error {
	if errors.Is(err, errTooLarge) {
		return &formError{table, "the answer is larger than Options.MaxBody; ask for smaller pages"}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &formError{table, "the answer broke off"}
}

// prepare returns a request without credentials, and what will be secret in it. It
// requests nothing beyond the origin of the base, because the credentials are for that
// one alone.
func (x *session) prepare(
	ctx context.Context, use *tokenUse, table string, u *url.URL, body []byte,
) (*http.Request, *recording.Secrets, error) {
	if secure := *u; u.Scheme == "http" && x.address.Scheme == "https" {
		if secure.Scheme = "https"; sameOrigin(&secure, x.address) {
			return nil, nil, &formError{table, "an address in the answer begins with http:// and the API's with https://, " +
				"and the credentials must not be sent in the clear; page by a number or a cursor, or replace the address by Unwrap"}
		}
	}
	at := guestOf(ctx)
	if !sameOrigin(u, cmp.Or(at, x.address)) {
		return nil, nil, &formError{table, "an address in the answer leads to another host, which must not see the credentials"}
	}
	known := x.secrets() // a record.Recorder scrubs them
	r := (&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{}, Host: u.Host}).
		WithContext(withTokenUse(recording.WithSecrets(ctx, known), use))
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
		if at == nil {
			r.Header[http.CanonicalHeaderKey(name)] = values
		}
	}
	if _, own := r.Header[idempotencyKey]; body != nil && !own {
		r.Header[idempotencyKey] = nil // Table.Body only reads
	}
	return r, known, nil
}

// authorize puts the tenant's credentials into a request. It is called when the request
// has its turn, because a token may expire while it waits.
func (x *session) authorize(r *http.Request, known *recording.Secrets, table string) error {
	if guestOf(r.Context()) != nil {
		return nil
	}
	if x.api.Authorize != nil {
		before := r.Clone(r.Context())
		err := x.api.Authorize(r, x.creds)
		if known.Learn(before, r); tokenUseOf(r.Context()) != nil {
			known.Add(tokenUseOf(r.Context()).others...)
		}
		if err != nil {
			return known.ScrubError(err)
		}
	}
	if !sameOrigin(r.URL, x.address) {
		return &formError{table, "Authorize changed the host of the request"}
	}
	if !sendable(r.Header) {
		return connector.CheckFailed("A credential has a character that cannot be sent, such as a line break. Enter it again.")
	}
	return nil
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
	s.Tenant = fmt.Sprintf("%q", x.creds.Reveal())
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
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case is[*limitError](err) || is[*wire.Error](err):
		return err
	}
	why := known.Scrub(err.Error())
	if x.api.tenants() || len(x.api.Hosts) > 0 {
		why = reasonOf(err)
	}
	gone := &unreachable{table, why, err}
	switch {
	case x.api.Certificate.Cert == "":
		return gone
	case certificateRefused(err):
		return &explained{connector.CheckFailed("The API does not accept the client certificate."), gone}
	case connectionEnded(err):
		return &explained{connector.UpstreamTimeout("The API ends the connection without an answer. " +
			"Check that it accepts the client certificate; if it does, try again later."), gone}
	}
	return gone
}

// credentialed replaces {key} in a path by the tenant's credentials.
func (x *session) credentialed(key string) (string, error) { return credentialSegment(x.creds, key) }
