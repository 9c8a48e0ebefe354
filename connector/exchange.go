package connector

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// exchange is one request and its answer.
type exchange struct {
	*service
	r       *http.Request
	conn    conn
	log     requestLog
	calls   caller
	arrived time.Time // every clock starts here
	creds   wire.Credentials

	seen  RequestStats         // what the request's goroutine has seen
	known atomic.Bool          // the source has described the request's table
	rows  atomic.Pointer[Rows] // of the source's call, once there are any

	// described are the tables that the source has described, for this request
	// only. The goroutine of the source's call alone uses it.
	described map[string]*wire.Table
}

func newExchange(s *service, w http.ResponseWriter, r *http.Request, id string) *exchange {
	r = r.WithContext(context.WithValue(r.Context(), requestIDKey{}, id))
	w.Header().Set(headerRequestID, id)
	x := &exchange{
		service: s,
		r:       r,
		conn:    conn{w: w, control: http.NewResponseController(w), stall: s.opts.WriteStall},
		log:     requestLog{logger: s.opts.Logger, ctx: r.Context(), id: id, slug: s.def.Slug},
		arrived: time.Now(),
	}
	x.conn.cannotFlush = func() {
		s.flushless.Do(func() { x.log.cannotFlush(w) })
	}
	x.calls = caller{log: &x.log, lingering: &s.lingering, intercept: s.opts.Intercept, enter: func(ctx context.Context) (func(), error) {
		return s.slots.enter(ctx, x.creds)
	}}
	return x
}

// maxBodyTime limits how long a request's body may take to arrive.
const maxBodyTime = time.Minute

// body reads the request's body to its end. Only then does net/http notice that
// the client leaves.
func (x *exchange) body() ([]byte, error) {
	for _, encoding := range x.r.Header.Values("Content-Encoding") {
		if encoding != "" && !strings.EqualFold(encoding, "identity") {
			return nil, BadRequest("Content-Encoding: send the body as it is, without compression")
		}
	}
	limit := x.opts.MaxRequestBytes
	if x.r.ContentLength > limit {
		return nil, BadRequest("body: larger than %d bytes", limit)
	}
	// A body that trickles must not hold the connection. A server with a
	// ReadTimeout bounds it already.
	if server, ok := x.r.Context().Value(http.ServerContextKey).(*http.Server); !ok || server.ReadTimeout <= 0 {
		_ = x.conn.control.SetReadDeadline(x.arrived.Add(min(maxBodyTime, x.opts.MaxTimeout)))
	}
	data, err := io.ReadAll(io.LimitReader(x.r.Body, limit+1))
	x.seen.BytesRead = int64(len(data))
	if err != nil {
		return nil, BadRequest("body: could not be read to its end")
	}
	// A read deadline that is left, such as the server's ReadTimeout, would end
	// the request's context in the middle of a long stream.
	_ = x.conn.control.SetReadDeadline(time.Time{})
	if int64(len(data)) > limit {
		return nil, BadRequest("body: larger than %d bytes", limit)
	}
	return data, nil
}

// decode reads the body into one message.
func (x *exchange) decode(data []byte, m wire.Request) error {
	if err := wire.Decode(data, m); err != nil {
		return BadRequest("%s", err)
	}
	return nil
}

// admit keeps the declared credentials and refuses a request that lacks a
// required one. On /check the message is for the person at the form.
func (x *exchange) admit(creds *wire.Credentials, table *string) error {
	x.log.secrets = *creds
	*creds = creds.Only(x.keys...)
	x.creds = *creds
	if table != nil {
		x.log.table = *table
	}
	switch field := x.missing(*creds); {
	case field == nil:
		return nil
	case x.log.route == wire.PathCheck:
		return CheckFailed("%s is required.", field.Label)
	default:
		return BadRequest("credentials.%s: required", field.Key)
	}
}

// since returns the time since the request's arrival.
func (x *exchange) since() time.Duration { return time.Since(x.arrived) }

// within runs fn, which calls the source, until the deadline or until the
// client leaves. The error is fit for [exchange.fail].
func (x *exchange) within(timeoutMS int64, fn func(context.Context) error) error {
	ctx, cancel := context.WithDeadline(x.r.Context(), x.arrived.Add(x.timeout(timeoutMS)))
	defer cancel()
	return explainEnd(x.calls.within(ctx, fn), ctx, x.r.Context())
}

// invoke calls the source about the request's table.
func (x *exchange) invoke(ctx context.Context, method string, fn func(context.Context) error) error {
	return x.calls.invoke(ctx, Call{Method: method, Table: x.log.table}, fn)
}

// fail answers any error.
func (x *exchange) fail(err error) {
	e := x.publicError(err)
	x.seen.Fault = x.faultOf(err, e)
	x.refuse(e)
}

// refuse answers a deliberate error.
func (x *exchange) refuse(e *wire.Error) {
	e = x.sendable(e)
	if x.seen.Code = e.Code; x.seen.Fault == "" {
		x.seen.Fault = x.faultOf(nil, e)
	}
	// A cache may keep a 404 or a 405 on its own authority.
	x.conn.w.Header().Set("Cache-Control", "no-store")
	body, err := wire.EncodeAnswer(&wire.ErrorAnswer{Error: *e})
	if err != nil {
		body = []byte(`{"error":{"code":"internal","message":"internal error"}}`)
	}
	x.conn.whole(e.Code.Status(), wire.MediaJSON, body)
}

func (x *exchange) methodNotAllowed(allow string) {
	x.conn.w.Header().Set("Allow", allow)
	x.refuse(wire.Errorf(wire.CodeMethodNotAllowed, "use %s", allow))
}

// publicError returns the error that the platform is told. An error that is not
// deliberate becomes an internal error, and its cause goes to the log, as does that
// of data that cannot be sent.
func (x *exchange) publicError(err error) *wire.Error {
	internal := wire.Errorf(wire.CodeInternal, wire.InternalMessage)
	switch err {
	case errDeadline:
		return wire.Errorf(wire.CodeTimeout, "the request's time is over")
	case errIdle:
		return wire.Errorf(wire.CodeTimeout, "no row came within the request's idleTimeoutMs")
	case errLeft:
		return internal // nobody reads it, and it is nobody's fault
	case errPanicked:
		return internal // the log has the panic already
	}
	if _, ok := err.(*unsendable); ok {
		x.log.dataError(err)
	}
	if e, cause := deliberateError(err); e != nil {
		switch e.Code {
		case wire.CodeBadRequest, wire.CodeUnauthorized, wire.CodeUnknownEntity, wire.CodeUnsupported, wire.CodeTimeout:
			x.log.cause = cause
			return e
		case wire.CodeCheckFailed:
			x.log.cause = cause
			if x.log.route == wire.PathCheck {
				return e
			}
			return wire.Errorf(wire.CodeBadRequest, "%s", e.Message) // the upstream rejects the credentials
		}
	}
	x.log.internalError(err)
	return internal
}

// maxMessageBytes limits the message of an error. Its author may have built it
// from a name in the request, or from a page that the upstream answered.
const maxMessageBytes = 4 << 10

// sendable returns a copy of e whose message has the tenant's secrets removed and
// is never empty. The message of a failed check goes to the person who typed the
// credentials, so what they typed into plain text fields stays in it.
func (x *exchange) sendable(e *wire.Error) *wire.Error {
	secrets := x.log.secrets
	if e.Code == wire.CodeCheckFailed {
		secrets = x.hidden(secrets)
	}
	text := secrets.Scrub(strings.ToValidUTF8(e.Message, "\ufffd"))
	if text == "" {
		text = strings.ReplaceAll(string(e.Code), "_", " ")
	}
	if len(text) > maxMessageBytes {
		text = strings.ToValidUTF8(text[:maxMessageBytes], "") + "..."
	}
	return &wire.Error{Code: e.Code, Message: text}
}
