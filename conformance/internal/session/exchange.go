package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/compare"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/redact"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The timeouts that a request carries unless the check is about them: defaults.QueryTimeout on /query, answerTimeout on
// the other routes. The idle timeout is the one the platform sends.
const (
	answerTimeout = 40 * time.Second
	idleTimeout   = terms.PlatformIdleTimeout
)

// usualTimeout returns the timeoutMs of requests to a route.
func usualTimeout(path string) int64 {
	if path == wire.PathQuery {
		return defaults.QueryTimeout.Milliseconds()
	}
	return answerTimeout.Milliseconds()
}

// Call is one request to be made.
type Call struct {
	Method string // empty: POST
	Path   string
	Query  string // behind the path, without its question mark
	Body   []byte
	Header http.Header
	// Authorization is the header to send. Nil means the right token, an empty list no header at all.
	Authorization []string
	Table         string   // whose rows a /query asks for, unless it joins others
	Members       []string // of the rows that a /query asks for; nil: they are not known
	Most          int      // rows of a stream to keep; 0: the row budget
	// Began, when set, is called once the first rows of a stream were read. The rest is read when it returns.
	Began func()
	// Wait is how long the whole answer may take; 0: what is usual for the route.
	Wait time.Duration
}

// Ask returns the call that sends a message with a tenant's credentials and, unless the message has its own, the usual
// timeouts. The message, which other runs may be asking, stays as it is.
func (s *Session) Ask(path string, m wire.Request, tenant int) Call {
	if len(s.Tenants) > 1 && tenant == 0 && !s.turned {
		s.asked.add(path, m)
	}
	m, envelope := ownOf(m)
	envelope.Credentials = s.Tenants[tenant].Credentials
	if envelope.TimeoutMS == 0 {
		envelope.TimeoutMS = usualTimeout(path)
	}
	c := Call{Path: path}
	if query, ok := m.(*wire.QueryRequest); ok {
		if c.Members = compare.Members(query); len(query.Joins) == 0 {
			c.Table = query.Table
		}
		if query.IdleTimeoutMS == 0 {
			query.IdleTimeoutMS = idleTimeout.Milliseconds()
		}
	}
	var err error
	if c.Body, err = wire.EncodeRequest(m); err != nil {
		panic(fmt.Sprintf("conformance: a request that cannot be encoded: %v", err))
	}
	return c
}

// WithCredentials returns a call of a tenant with another set of credentials, made of those of the run.
func (s *Session) WithCredentials(c Call, tenant int, set map[string]string) Call {
	other, err := redact.NewTenant(wire.NewCredentials(set))
	if err != nil {
		panic(fmt.Sprintf("conformance: credentials made of those of the run cannot be sent: %v", err))
	}
	const member = `"credentials":`
	c.Body = bytes.Replace(c.Body, []byte(member+string(s.Tenants[tenant].JSON)), []byte(member+string(other.JSON)), 1)
	return c
}

// Mistyped returns the credentials of a tenant with mistyped secrets, or nil: see [declared.Document.Mistyped]. No report
// shows them.
func (s *Session) Mistyped(tenant int) map[string]string {
	set := s.Document.Mistyped(s.Tenants[tenant].Credentials.Reveal())
	for _, key := range s.Document.Secrets() {
		s.Hide(set[key])
	}
	return set
}

// ownOf returns a copy of a message, and its envelope, which every request embeds.
func ownOf(m wire.Request) (wire.Request, *wire.Envelope) {
	own := reflect.New(reflect.TypeOf(m).Elem())
	own.Elem().Set(reflect.ValueOf(m).Elem())
	return own.Interface().(wire.Request), own.Elem().FieldByName("Envelope").Addr().Interface().(*wire.Envelope)
}

// Shown returns a call as a report shows it.
func (s *Session) Shown(c Call) *check.Request {
	r := check.Request{Method: cmp.Or(c.Method, http.MethodPost), URL: c.Path, Header: c.Header.Clone(), Body: string(c.Body)}
	for _, value := range s.authorization(c) {
		if r.Header == nil {
			r.Header = http.Header{}
		}
		r.Header.Add("Authorization", value)
	}
	return s.Show(r, c.Query)
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

// Exchange sends a call, reads the whole answer within its limits, a stream line by line, and
// remembers the call as the last one.
func (run *Run) Exchange(c Call) *Answer {
	a := run.Session.ExchangeWith(run.Ctx, c)
	run.Last = a.Request
	return a
}

// Post sends a message for the first tenant.
func (run *Run) Post(path string, m wire.Request) *Answer { return run.Exchange(run.Ask(path, m, 0)) }

// ExchangeWith sends a call that does not belong to a check. It is safe for concurrent use.
func (s *Session) ExchangeWith(ctx context.Context, c Call) *Answer {
	c.Method = cmp.Or(c.Method, http.MethodPost)
	for tries := 0; ; tries++ {
		a := s.exchangeOnce(ctx, c)
		a.Late = errors.As(a.Err, new(late))
		said := a.Refusal()
		if a.Stream != nil && a.Stream.Fault != nil {
			said = a.Stream.Fault
		}
		a.TimedOut = said != nil && said.Code == wire.CodeTimeout && (a.Status == http.StatusOK || a.Status == said.Code.Status())
		if !s.again(ctx, c, a, tries) {
			return a
		}
	}
}

func (s *Session) exchangeOnce(ctx context.Context, c Call) *Answer {
	a, resp, done := s.open(ctx, c)
	defer done()
	if c.Method == http.MethodPost && c.Path == wire.PathQuery {
		a.Stream = newStream(a, c)
	}
	switch {
	case a.Err != nil:
		return a
	case a.streams():
		if c.Wait > 0 {
			ctx = resp.Request.Context() // ends when we stop waiting
		}
		a.Stream.read(ctx, resp.Body, c)
		return a
	}
	limit := int64(terms.MaxAnswerBytes)
	if c.Path == wire.PathDocument {
		limit = terms.MaxDocumentBytes
	}
	a.read(resp, limit)
	s.watch.answer(c, a)
	return a
}

// open sends a call and returns once the status is known. The caller must call done.
func (s *Session) open(ctx context.Context, c Call) (a *Answer, resp *http.Response, done func()) {
	a = &Answer{session: s, path: c.Path, Request: s.Shown(c)}
	wait, err := s.timeouts.wait(c)
	if err == nil {
		err = s.spend()
	}
	if err != nil {
		a.Err = err
		return a, nil, func() {}
	}
	s.pace.wait(ctx, s.Spacing)
	a.began = time.Now()
	body := &timedBody{began: a.began}
	ctx, cancel := context.WithTimeoutCause(ctx, wait, late{wait})
	ctx = body.limitIdle(ctx, c, wait)
	done = func() {
		a.Elapsed, a.timing = time.Since(a.began), body.timing
		if body.timer != nil {
			body.timer.Stop()
		}
		if a.Status == http.StatusOK {
			s.timings.note(c, a.timing)
		}
		if c.Wait == 0 {
			s.timeouts.note(c, ctx, a.Elapsed, s.reporter(c), a.Err)
		}
		if resp != nil {
			_ = resp.Body.Close()
		}
		cancel()
	}
	req, err := s.request(ctx, c)
	if err != nil {
		a.Err = errors.New("the request cannot be made")
		return a, nil, done
	}
	resp, err = s.HTTP.Do(req)
	if err != nil {
		a.Err = s.transport(ctx, err)
		return a, nil, done
	}
	body.ReadCloser, resp.Body = resp.Body, body
	a.Status, a.Header = resp.StatusCode, resp.Header
	if media, _, err := mime.ParseMediaType(a.Header.Get("Content-Type")); err == nil {
		a.Media = media
	}
	s.dialect.noteNative(c, a.Status)
	return a, resp, done
}

// request returns a call as a request.
func (s *Session) request(ctx context.Context, c Call) (*http.Request, error) {
	target := s.Base + c.Path
	if c.Query != "" {
		target += "?" + c.Query
	}
	req, err := http.NewRequestWithContext(ctx, c.Method, target, bytes.NewReader(c.Body))
	if err != nil {
		return nil, err
	}
	for name, values := range c.Header {
		req.Header[name] = values
	}
	if c.Method == http.MethodPost && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", terms.MediaJSON)
	}
	if values := s.authorization(c); len(values) > 0 {
		req.Header["Authorization"] = values
	}
	return req, nil
}

// pace spreads the starts of requests, also of those that are sent at once.
type pace struct {
	mu   sync.Mutex
	next time.Time
}

// wait returns when the next request may start.
func (p *pace) wait(ctx context.Context, least time.Duration) {
	if least <= 0 {
		return
	}
	p.mu.Lock()
	start := time.Now()
	if p.next.After(start) {
		start = p.next
	}
	p.next = start.Add(least)
	p.mu.Unlock()
	select {
	case <-time.After(time.Until(start)):
	case <-ctx.Done():
	}
}

// late is the error of a request that was given up.
type late struct{ after time.Duration }

func (e late) Error() string { return fmt.Sprintf("no answer within %s", e.after) }

// transport returns an error of the way to the connector, in words that quote nothing.
func (s *Session) transport(ctx context.Context, err error) error {
	var gaveUp late
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(context.Cause(ctx), &gaveUp):
		return gaveUp
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
