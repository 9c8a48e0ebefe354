package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The timeouts that a request carries unless the check is about them. The idle
// timeout is the one the platform sends.
const (
	UsualTimeout = 60 * time.Second
	IdleTimeout  = wire.PlatformIdleTimeout
)

// Grace is how long an answer is waited for beyond a deadline.
const Grace = 10 * time.Second

// Call is one request to be made.
type Call struct {
	Method, Path string
	Query        string // behind the path, without its question mark
	Body         []byte
	Header       http.Header
	// Authorization is the header to send. Nil means the right token, an empty
	// list no header at all.
	Authorization []string
	Tenant        int
	// Wait is how long the whole answer may take; 0: UsualTimeout and Grace.
	Wait time.Duration
}

// Ask returns the call that sends a message with a tenant's credentials and,
// unless the message has its own, the usual timeouts.
func (s *Session) Ask(path string, m wire.Message, tenant int) Call {
	envelope := envelopeOf(m)
	envelope.Credentials = s.Tenants[tenant].Credentials
	if envelope.TimeoutMS == 0 {
		envelope.TimeoutMS = UsualTimeout.Milliseconds()
	}
	if query, ok := m.(*wire.QueryRequest); ok && query.IdleTimeoutMS == 0 {
		query.IdleTimeoutMS = IdleTimeout.Milliseconds()
	}
	body, err := wire.EncodeRequest(m)
	if err != nil {
		panic(fmt.Sprintf("conformance: a request that cannot be encoded: %v", err))
	}
	return Call{Method: http.MethodPost, Path: path, Body: body, Tenant: tenant}
}

func envelopeOf(m wire.Message) *wire.Envelope {
	switch m := m.(type) {
	case *wire.CheckRequest:
		return &m.Envelope
	case *wire.DiscoveryRequest:
		return &m.Envelope
	case *wire.QueryRequest:
		return &m.Envelope
	case *wire.CountRequest:
		return &m.Envelope
	case *wire.AggregateRequest:
		return &m.Envelope
	case *wire.SizeRequest:
		return &m.Envelope
	case *wire.CardinalityRequest:
		return &m.Envelope
	case *wire.LinkHitRateRequest:
		return &m.Envelope
	}
	panic(fmt.Sprintf("conformance: no request of type %T", m))
}

// Shown returns a call as a report shows it, with variables and expressions for
// a shell in the place of the token and the credentials. What they do not cover is
// removed when the check ends.
func (s *Session) Shown(c Call) *check.Request {
	r := &check.Request{Method: c.Method, URL: s.Endpoint() + c.Path, Header: http.Header{}}
	if c.Query != "" {
		r.URL += "?" + s.redact.query.Replace(c.Query)
	}
	for name, values := range c.Header {
		for _, value := range values {
			r.Header[name] = append(r.Header[name], s.redact.header(value))
		}
	}
	for _, value := range s.authorization(c) {
		r.Header.Add("Authorization", s.redact.header(value))
	}
	r.Body = s.redact.body.Replace(string(c.Body))
	return r
}

// authorization returns the Authorization headers of a call.
func (s *Session) authorization(c Call) []string {
	switch {
	case c.Authorization != nil:
		return c.Authorization
	case c.Path == wire.PathDocument:
		return nil
	}
	return []string{"Bearer " + s.Token}
}

// Exchange sends a call, reads the whole answer within its limits, and remembers
// the call as the last one.
func (run *Run) Exchange(c Call) *Answer {
	a := run.Session.exchange(run.Ctx, c)
	run.Last = a.Request
	return a
}

// Post sends a message for the first tenant.
func (run *Run) Post(path string, m wire.Message) *Answer { return run.Exchange(run.Ask(path, m, 0)) }

func (s *Session) exchange(ctx context.Context, c Call) *Answer {
	a, resp, done := s.open(ctx, c)
	defer done()
	if a.Err != nil {
		return a
	}
	limit := int64(wire.MaxAnswerBytes)
	if c.Path == wire.PathDocument {
		limit = wire.MaxDocumentBytes
	}
	a.read(resp, limit)
	s.Watch.answer(c, a)
	return a
}

// ExchangeWith sends a call that does not belong to a check. It is safe for
// concurrent use.
func (s *Session) ExchangeWith(ctx context.Context, c Call) *Answer { return s.exchange(ctx, c) }

// open sends a call and returns once the status is known. The caller must call
// done.
func (s *Session) open(ctx context.Context, c Call) (a *Answer, resp *http.Response, done func()) {
	a = &Answer{session: s, Request: s.Shown(c)}
	wait := c.Wait
	if wait == 0 {
		wait = UsualTimeout + Grace
		if s.unanswered.tooMany(c.Path) {
			a.Err = fmt.Errorf("%s has left %d requests unanswered and is not asked any more", c.Path, maxUnanswered)
			return a, nil, func() {}
		}
	}
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, wait, Late{wait})
	done = func() {
		a.Elapsed = time.Since(began)
		if c.Wait == 0 {
			s.unanswered.note(c.Path, ctx)
		}
		if resp != nil {
			_ = resp.Body.Close()
		}
		cancel()
	}
	target := s.Base + c.Path
	if c.Query != "" {
		target += "?" + c.Query
	}
	req, err := http.NewRequestWithContext(ctx, c.Method, target, bytes.NewReader(c.Body))
	if err != nil {
		a.Err = errors.New("the request cannot be made")
		return a, nil, done
	}
	for name, values := range c.Header {
		req.Header[name] = values
	}
	if c.Method == http.MethodPost && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", wire.MediaJSON)
	}
	if values := s.authorization(c); len(values) > 0 {
		req.Header["Authorization"] = values
	}
	s.Covered.Add(func(c *Counts) { c.Requests++ })
	resp, err = s.HTTP.Do(req)
	if err != nil {
		a.Err = s.transport(ctx, err)
		return a, nil, done
	}
	a.Status, a.Header = resp.StatusCode, resp.Header
	return a, resp, done
}

// Late is the error of a request that was given up.
type Late struct{ after time.Duration }

func (e Late) Error() string { return fmt.Sprintf("no answer within %s", e.after) }

// maxUnanswered is how many requests a route may leave unanswered. After them the
// run's time is spent on other checks.
const maxUnanswered = 3

// unanswered counts the requests in a row that a route has not answered in time.
type unanswered struct {
	mu     sync.Mutex
	routes map[string]int
}

func (u *unanswered) tooMany(path string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.routes[path] >= maxUnanswered
}

// note records how the context of a request ended.
func (u *unanswered) note(path string, ctx context.Context) {
	var late Late
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.routes == nil {
		u.routes = map[string]int{}
	}
	if errors.As(context.Cause(ctx), &late) {
		u.routes[path]++
	} else if ctx.Err() == nil {
		u.routes[path] = 0
	}
}

// transport returns an error of the way to the connector, in words that quote
// nothing.
func (s *Session) transport(ctx context.Context, err error) error {
	var late Late
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(context.Cause(ctx), &late):
		return late
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("the connection was closed before the answer was complete")
	case errors.As(err, &dns):
		return errors.New("the host's name does not resolve")
	case errors.As(err, &op) && op.Op == "dial":
		return fmt.Errorf("no connection: %w", op.Err)
	}
	// url.Error quotes the URL.
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return errors.New(s.Clean(err.Error()))
}
