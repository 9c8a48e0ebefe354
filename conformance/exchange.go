package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The timeouts that a judged request carries unless the check is about them:
// the idle timeout is the one the platform sends.
const (
	usualTimeout = 60 * time.Second
	idleTimeout  = wire.PlatformIdleTimeout
)

// call is one request to be made.
type call struct {
	method, path string
	query        string // behind the path, without its question mark
	body         []byte
	header       http.Header
	// authorization is the header to send; nil: the right token. Of no values:
	// none.
	authorization []string
	tenant        int
	// wait is how long the whole answer may take; 0: usualTimeout and grace.
	wait time.Duration
}

// ask is the call of a message, with the tenant's credentials and, unless the
// message states them, the usual timeouts.
func (s *session) ask(path string, m wire.Message, tenant int) call {
	c := s.tenants[tenant].credentials
	ms := usualTimeout.Milliseconds()
	switch m := m.(type) {
	case *wire.CheckRequest:
		m.Credentials, m.TimeoutMS = c, or(m.TimeoutMS, ms)
	case *wire.DiscoveryRequest:
		m.Credentials, m.TimeoutMS = c, or(m.TimeoutMS, ms)
	case *wire.QueryRequest:
		m.Credentials, m.TimeoutMS = c, or(m.TimeoutMS, ms)
		m.IdleTimeoutMS = or(m.IdleTimeoutMS, idleTimeout.Milliseconds())
	case *wire.CountRequest:
		m.Credentials, m.TimeoutMS = c, or(m.TimeoutMS, ms)
	case *wire.AggregateRequest:
		m.Credentials, m.TimeoutMS = c, or(m.TimeoutMS, ms)
	case *wire.SizeRequest:
		m.Credentials, m.TimeoutMS = c, or(m.TimeoutMS, ms)
	case *wire.CardinalityRequest:
		m.Credentials, m.TimeoutMS = c, or(m.TimeoutMS, ms)
	case *wire.LinkHitRateRequest:
		m.Credentials, m.TimeoutMS = c, or(m.TimeoutMS, ms)
	default:
		panic(fmt.Sprintf("conformance: no request of type %T", m))
	}
	body, err := wire.EncodeRequest(m)
	if err != nil {
		panic(fmt.Sprintf("conformance: a request that cannot be encoded: %v", err))
	}
	return call{method: http.MethodPost, path: path, body: body, tenant: tenant}
}

func or(given, usual int64) int64 {
	if given != 0 {
		return given
	}
	return usual
}

// shown is the call as a report shows it.
func (s *session) shown(c call) *Request {
	r := &Request{Method: c.method, URL: s.base + c.path, Header: http.Header{}}
	if c.query != "" {
		r.URL += "?" + strings.ReplaceAll(c.query, url.QueryEscape(s.target.Token), "$"+EnvToken)
	}
	for name, values := range c.header {
		r.Header[name] = values
	}
	for _, value := range s.authorization(c) {
		r.Header.Add("Authorization", strings.ReplaceAll(value, s.target.Token, "$"+EnvToken))
	}
	body := c.body
	for _, t := range s.tenants {
		if len(t.json) > 2 {
			body = bytes.ReplaceAll(body, t.json, []byte("$"+t.slot))
		}
	}
	r.Body = s.clean(strings.ReplaceAll(string(body), s.target.Token, "$"+EnvToken))
	return r
}

// authorization is the header that a call carries.
func (s *session) authorization(c call) []string {
	switch {
	case c.authorization != nil:
		return c.authorization
	case c.path == wire.PathDocument:
		return nil
	}
	return []string{"Bearer " + s.target.Token}
}

// answer is what came back.
type answer struct {
	s       *session
	request *Request
	err     error // no whole answer came; the text is fit to be shown
	status  int
	header  http.Header
	body    []byte // at most one byte more than an answer may have
	elapsed time.Duration
}

// send makes a call and remembers it as the one that produced what follows.
func (x *exam) send(c call) *answer {
	a := x.session.exchange(x.ctx, c)
	x.last = a.request
	return a
}

// post sends a message for the first tenant.
func (x *exam) post(path string, m wire.Message) *answer { return x.send(x.ask(path, m, 0)) }

// exchange makes a call and reads the whole answer, within its limits.
func (s *session) exchange(ctx context.Context, c call) *answer {
	a, resp, done := s.open(ctx, c)
	defer done()
	if a.err != nil {
		return a
	}
	limit := int64(wire.MaxAnswerBytes)
	if c.path == wire.PathDocument {
		limit = wire.MaxDocumentBytes
	}
	a.read(resp, limit)
	s.watch.answer(c, a)
	return a
}

// open makes a call and returns once the status is known. done must be called.
func (s *session) open(ctx context.Context, c call) (a *answer, resp *http.Response, done func()) {
	a = &answer{s: s, request: s.shown(c)}
	wait := c.wait
	if wait == 0 {
		wait = usualTimeout + grace
		if s.silent.dead(c.path) {
			a.err = fmt.Errorf("%s has left %d requests unanswered and is not asked any more", c.path, mostSilence)
			return a, nil, func() {}
		}
	}
	began := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, wait, errLate{wait})
	done = func() {
		a.elapsed = time.Since(began)
		if c.wait == 0 {
			s.silent.note(c.path, ctx)
		}
		if resp != nil {
			_ = resp.Body.Close()
		}
		cancel()
	}
	target := s.base + c.path
	if c.query != "" {
		target += "?" + c.query
	}
	req, err := http.NewRequestWithContext(ctx, c.method, target, bytes.NewReader(c.body))
	if err != nil {
		a.err = errors.New("the request cannot be made")
		return a, nil, done
	}
	for name, values := range c.header {
		req.Header[name] = values
	}
	if c.method == http.MethodPost && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", wire.MediaJSON)
	}
	if values := s.authorization(c); len(values) > 0 {
		req.Header["Authorization"] = values
	}
	s.cover.add(func(c *coverage) { c.requests++ })
	resp, err = s.http.Do(req)
	if err != nil {
		a.err = s.transport(ctx, err)
		return a, nil, done
	}
	a.status, a.header = resp.StatusCode, resp.Header
	return a, resp, done
}

// read takes the body of a JSON answer.
func (a *answer) read(resp *http.Response, limit int64) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	a.body = body
	a.s.cover.add(func(c *coverage) { c.bytes += int64(len(body)) })
	if err != nil {
		a.err = fmt.Errorf("the answer broke off after %d bytes: %w", len(body), a.s.transport(resp.Request.Context(), err))
	}
}

// errLate is why a request of ours was given up.
type errLate struct{ after time.Duration }

func (e errLate) Error() string { return fmt.Sprintf("no answer within %s", e.after) }

// mostSilence is how many requests a route may leave unanswered until the run's
// time is spent on other checks.
const mostSilence = 3

// silence counts the requests in a row that a route has not answered in time.
type silence struct {
	mu     sync.Mutex
	routes map[string]int
}

func (s *silence) dead(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.routes[path] >= mostSilence
}

// note takes down how a request's context stands at its end.
func (s *silence) note(path string, ctx context.Context) {
	var late errLate
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.routes == nil {
		s.routes = map[string]int{}
	}
	if errors.As(context.Cause(ctx), &late) {
		s.routes[path]++
	} else if ctx.Err() == nil {
		s.routes[path] = 0
	}
}

// transport is an error of the way to the connector, in words that quote
// nothing.
func (s *session) transport(ctx context.Context, err error) error {
	var late errLate
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
	return errors.New(s.clean(err.Error()))
}

// media is the answer's content type without parameters.
func (a *answer) media() string {
	m, _, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return m
}

// refusal is the envelope of an answer that is one; nil otherwise.
func (a *answer) refusal() *wire.Error {
	var e wire.ErrorAnswer
	if a.err != nil || a.status < 300 || checkMessage(a.body, "error", &e) != nil {
		return nil
	}
	return &e.Error
}

// describe is a short text of an answer, for what was received.
func (a *answer) describe() string {
	if a.err != nil {
		return a.err.Error()
	}
	return a.s.clean(fmt.Sprintf("%d %s", a.status, excerpt(a.body, 300)))
}

// decode reads a JSON answer of a 200; the finding says why it is not one.
func (a *answer) decode(schema string, m wire.Message) *finding {
	switch {
	case a.err != nil:
		return &finding{detail: a.err.Error(), request: a.request}
	case a.status != http.StatusOK:
		return &finding{detail: fmt.Sprintf("answered %d", a.status), expected: "200", received: a.describe(), request: a.request}
	case len(a.body) > wire.MaxAnswerBytes:
		return &finding{detail: "the answer is longer than 32 MiB", request: a.request}
	}
	f := checkMessage(a.body, schema, m)
	if f != nil {
		f.request = a.request
	}
	return f
}

// excerpt is the beginning of a body, fit for one line.
func excerpt(body []byte, most int) string {
	text := strings.ToValidUTF8(string(body[:min(len(body), most)]), "\uFFFD")
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	if len(body) > most {
		text += fmt.Sprintf("... (%d bytes)", len(body))
	}
	return text
}
