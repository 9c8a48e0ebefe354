package restsource

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource/internal/recording"
	"github.com/connectorsdk/connector-sdk-go/internal/netguard"
)

// Transport is an http.RoundTripper for a rate-limited API. A [Source] uses one for
// each request that it serves. In a source of your own, make one for each request
// too, because it remembers what is left of the tenant's budget: share it between
// the calls of the request by connector.PerRequest.
//
//   - It repeats what is safe to repeat: any request that was refused with 429, and
//     a GET or HEAD that failed with 502, 503, 504 or a broken connection. A POST that
//     only reads is repeated likewise if its header has an entry Idempotency-Key. As
//     in net/http, an entry without values is not sent.
//   - It waits as long as Retry-After or X-RateLimit-Reset say, otherwise half a
//     second, one, two and so on. If the wait would outlast the deadline of the
//     request's context, it fails at once with an error of wire.CodeTimeout.
//   - It reads X-RateLimit-Limit, -Remaining and -Reset, or the same names with
//     X-Rate-Limit- or RateLimit-, or the one header RateLimit. Once less than half
//     of the budget is left, it spreads the rest evenly over the time until the
//     budget is full again.
//   - It limits the bodies of answers.
//
// It follows no redirect, as no RoundTripper does. Give an http.Client around it a
// CheckRedirect that returns http.ErrUseLastResponse: a client that follows
// redirects may take the token along.
//
// It is written here, and is not one of the known modules for repetitions and
// paces, because this module requires four others and no more. It is safe for
// concurrent use. It must not be copied.
type Transport struct {
	// Base makes the requests. Default: http.DefaultTransport, which sends them through the
	// proxy that HTTP_PROXY and HTTPS_PROXY name. The connections of a Source take none.
	Base http.RoundTripper
	// Attempts is how often one request is sent at most. Default: 5.
	Attempts int
	// MaxBody is the largest body of an answer, in bytes. Default: 32 MiB.
	MaxBody int64

	pace pace
	rate *limiter
}

const (
	defaultAttempts = 5
	defaultMaxBody  = 32 << 20
	// maxWait is the longest wait that a request without a deadline takes.
	maxWait = 10 * time.Minute
	// firstBackoff is the wait before the first repetition. Each later one is twice
	// as long.
	firstBackoff = 500 * time.Millisecond
)

// errTooLarge is the error of reading a body beyond Transport.MaxBody.
var errTooLarge = errors.New("restsource: the answer is larger than the connector takes; ask for smaller pages")

// limitError says that the API takes no further request before the deadline.
type limitError struct {
	wait time.Duration // until the API takes one
}

// Error returns how long the API takes no request.
func (e *limitError) Error() string {
	return fmt.Sprintf("restsource: the API takes no further request for %s, and the deadline comes before that",
		e.wait.Round(time.Second))
}

// RoundTrip sends a request as often as it takes, and as is safe. After the last
// attempt it returns the answer as it is.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	res, _, _, err := t.exchange(r, nil, nil)
	var unsent *unsentError
	if errors.As(err, &unsent) {
		err = unsent.error
	}
	if is[*limitError](err) {
		err = &explained{errBusy, err}
	}
	return res, err
}

// exchange sends a request as RoundTrip does. authorize puts the credentials into each
// attempt, and judge judges each answer. exchange returns the body that the judge has
// seen, or nil if there is no judge or the body cannot be read, and the verdict on the
// answer that it returns.
func (t *Transport) exchange(
	r *http.Request, authorize func(*http.Request) error, judge func(res *http.Response, body []byte) Verdict,
) (res *http.Response, body []byte, v Verdict, err error) {
	attempts := cmp.Or(max(t.Attempts, 0), defaultAttempts)
	for attempt := 1; ; attempt++ {
		res, body, v, err = t.once(r, authorize, judge)
		wait := firstBackoff << (attempt - 1)
		if is[*unsentError](err) {
			return nil, nil, v, err
		}
		again := false
		switch {
		case err != nil:
			again = attempt < attempts && idempotent(r) && !lasting(err) && sleep(r.Context(), wait)
		case v.Outcome != unjudged && v.Outcome != OutcomeWait:
			t.pace.state(res)
		case t.pace.learn(res, v, wait): // the pace now knows how long to wait
			again = attempt < attempts && repeatable(r)
		case broke(res):
			again = attempt < attempts && idempotent(r) && sleep(r.Context(), wait)
		case passing(res) && idempotent(r) && attempt < attempts && fits(r.Context(), wait):
			if again = sleep(r.Context(), wait); !again {
				discard(res)
				return nil, nil, v, context.Cause(r.Context())
			}
		}
		if !again {
			return res, body, v, err
		}
		if err == nil {
			discard(res)
		}
	}
}

// unsentError is the error of a request that is not sent.
type unsentError struct{ error }

// once sends a request once, in its turn, and has the answer judged.
func (t *Transport) once(
	r *http.Request, authorize func(*http.Request) error, judge func(res *http.Response, body []byte) Verdict,
) (res *http.Response, body []byte, v Verdict, err error) {
	if err := t.pace.turn(r.Context()); err != nil {
		return nil, nil, v, &unsentError{err}
	}
	if err := t.rate.turn(r.Context()); err != nil {
		return nil, nil, v, &unsentError{err}
	}
	own, err := again(r)
	if err != nil {
		return nil, nil, v, &unsentError{err}
	}
	if authorize != nil {
		own = own.Clone(own.Context())
		if err := authorize(own); err != nil {
			return nil, nil, v, &unsentError{err}
		}
	}
	if res, err = t.base().RoundTrip(own); err != nil {
		return nil, nil, v, err
	}
	res = t.capped(res)
	if judge == nil {
		return res, nil, v, nil
	}
	body, err = io.ReadAll(res.Body)
	if err != nil {
		res.Body = brokenBody{res.Body, err}
		return res, nil, v, nil
	}
	body = bytes.TrimPrefix(body, byteOrderMark)
	return res, body, judge(res, body), nil
}

// brokenBody is a body that broke off when it was read for a judge.
type brokenBody struct {
	io.Closer
	err error
}

// Read returns the error.
func (b brokenBody) Read([]byte) (int, error) { return 0, b.err }

// broke reports whether an answer broke off when it was read for a judge. One that is too large
// will be so the next time.
func broke(res *http.Response) bool {
	b, ok := res.Body.(brokenBody)
	return ok && !errors.Is(b.err, errTooLarge)
}

func (t *Transport) base() http.RoundTripper {
	if t.Base != nil {
		return t.Base
	}
	return http.DefaultTransport
}

// again returns a copy of the request that can be sent, with a new body.
func again(r *http.Request) (*http.Request, error) {
	if r.Body == nil || r.GetBody == nil {
		return r, nil
	}
	own := r.Clone(r.Context())
	var err error
	own.Body, err = r.GetBody()
	return own, err
}

// repeatable reports whether the request can be sent again at all.
func repeatable(r *http.Request) bool { return r.Body == nil || r.GetBody != nil }

// idempotent reports whether sending a request twice does no more than sending it
// once.
func idempotent(r *http.Request) bool {
	_, marked := r.Header[idempotencyKey]
	safe := r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == ""
	return r.Context().Value(onceKey{}) == nil && repeatable(r) && (marked || safe)
}

// onceKey is the key in the context of a request that does something each time that it is
// sent.
type onceKey struct{}

// idempotencyKey is the header that says that a request may be sent twice.
const idempotencyKey = "Idempotency-Key"

// passing reports an answer that another attempt may change. A 500 is not one of
// them: it is more often a fault that stays, and attempts cost budget.
func passing(res *http.Response) bool {
	return res.StatusCode >= http.StatusBadGateway && res.StatusCode <= http.StatusGatewayTimeout
}

// lasting reports whether a failure will be the same next time.
func lasting(err error) bool {
	var host *net.DNSError
	return is[*netguard.Error](err) || is[*recording.Missing](err) || is[*tls.CertificateVerificationError](err) ||
		errors.As(err, &host) && host.IsNotFound
}

// fits reports whether a wait ends before the deadline of ctx.
func fits(ctx context.Context, wait time.Duration) bool {
	deadline, ok := ctx.Deadline()
	if !ok {
		return wait <= maxWait
	}
	return wait < time.Until(deadline)
}

// sleep waits, and reports whether the wait fitted before the end of ctx.
func sleep(ctx context.Context, wait time.Duration) bool {
	if !fits(ctx, wait) {
		return false
	}
	if wait <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// discard reads what is left of a small answer, so that its connection can be used
// again.
func discard(res *http.Response) {
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10)
	_ = res.Body.Close()
}

// capped limits the body of an answer.
func (t *Transport) capped(res *http.Response) *http.Response {
	res.Body = &cappedBody{res.Body, cmp.Or(max(t.MaxBody, 0), defaultMaxBody)}
	return res
}

// cappedBody fails when more than left bytes are read.
type cappedBody struct {
	io.ReadCloser
	left int64
}

// Read reads one byte more than is allowed, to know that there is one.
func (b *cappedBody) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, errTooLarge
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		return n - 1, errTooLarge
	}
	return n, err
}

// newBase returns the connections of a source. It dials the addresses that a tenant
// types through package netguard. The environment configures nothing, proxies
// included [rule tenant-5].
func newBase(typed, local bool) *http.Transport {
	dial := netguard.Dialer{Local: !typed || local}
	return &http.Transport{
		DialContext:            dial.DialContext,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // the size of a body is what was sent
		TLSHandshakeTimeout:    10 * time.Second,
		IdleConnTimeout:        90 * time.Second,
		MaxIdleConnsPerHost:    16,
		MaxResponseHeaderBytes: 1 << 20,
	}
}
