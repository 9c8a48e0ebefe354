package restsource

import (
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
//     request's context, it fails at once with a [*LimitError].
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
	// Base makes the requests. Default: http.DefaultTransport.
	Base http.RoundTripper
	// Attempts is how often one request is sent at most. Default: 5.
	Attempts int
	// MaxBody is the largest body of an answer, in bytes. Default: 32 MiB.
	MaxBody int64

	pace pace
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

// LimitError says that the API takes no further request before the deadline.
type LimitError struct {
	Wait time.Duration // until the API takes one
}

// Error returns how long the API takes no request.
func (e *LimitError) Error() string {
	return fmt.Sprintf("restsource: the API takes no further request for %s, and the deadline comes before that",
		e.Wait.Round(time.Second))
}

// RoundTrip sends a request as often as it takes, and as is safe. After the last
// attempt it returns the answer as it is.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	attempts := t.Attempts
	if attempts <= 0 {
		attempts = defaultAttempts
	}
	for attempt := 1; ; attempt++ {
		if err := t.pace.turn(r.Context()); err != nil {
			return nil, err
		}
		own, err := again(r)
		if err != nil {
			return nil, err
		}
		res, err := t.base().RoundTrip(own)
		wait := firstBackoff << (attempt - 1)
		switch {
		case err != nil:
			if attempt == attempts || !idempotent(r) || lasting(err) || !sleep(r.Context(), wait) {
				return nil, err
			}
		case t.pace.learn(res, wait) && repeatable(r):
			if attempt == attempts {
				return t.capped(res), nil
			}
			discard(res) // the pace has learned how long to wait
		case failing(res) && idempotent(r):
			if attempt == attempts || !fits(r.Context(), wait) {
				return t.capped(res), nil
			}
			discard(res)
			if !sleep(r.Context(), wait) {
				return nil, context.Cause(r.Context())
			}
		default:
			return t.capped(res), nil
		}
	}
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
	return repeatable(r) && (marked || r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == "")
}

// idempotencyKey is the header that says that a request may be sent twice.
const idempotencyKey = "Idempotency-Key"

// failing reports an answer that another attempt may change. A 500 is not one of
// them: it is more often a fault that stays, and attempts cost budget.
func failing(res *http.Response) bool {
	switch res.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// lasting reports whether a failure will be the same next time.
func lasting(err error) bool {
	var refused *netguard.Error
	var missing *recording.Missing
	var certificate *tls.CertificateVerificationError
	var host *net.DNSError
	return errors.As(err, &refused) || errors.As(err, &missing) || errors.As(err, &certificate) ||
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
	most := t.MaxBody
	if most <= 0 {
		most = defaultMaxBody
	}
	res.Body = &cappedBody{res.Body, most}
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
