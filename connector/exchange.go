package connector

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// exchange is one request and its answer.
type exchange struct {
	h       *Handler
	w       http.ResponseWriter
	r       *http.Request
	control *http.ResponseController
	arrived time.Time // every clock starts here (C5)
	route   string
	creds   wire.Credentials
	table   string

	// described are the tables the source has described, for this request
	// (G11). The goroutine of its call alone looks at them.
	described map[string]*wire.Table
}

func newExchange(h *Handler, w http.ResponseWriter, r *http.Request) *exchange {
	return &exchange{h: h, w: w, r: r, control: http.NewResponseController(w), arrived: time.Now()}
}

// bodyWait is how long a request's body may take to arrive.
const bodyWait = time.Minute

// since is the time since the request's arrival.
func (x *exchange) since() time.Duration { return time.Since(x.arrived) }

// body reads the request's body whole, which is also what lets net/http notice
// that the client leaves.
func (x *exchange) body() ([]byte, *wire.Error) {
	for _, encoding := range x.r.Header.Values("Content-Encoding") {
		if encoding != "" && !strings.EqualFold(encoding, "identity") {
			return nil, BadRequest("Content-Encoding: send the body as it is, without compression")
		}
	}
	most := x.h.opts.MaxRequestBytes
	if x.r.ContentLength > most {
		return nil, BadRequest("body: larger than %d bytes", most)
	}
	// A body that trickles must not hold the connection; where the server sees
	// to that itself, its own bound stands.
	if server, ok := x.r.Context().Value(http.ServerContextKey).(*http.Server); !ok || server.ReadTimeout <= 0 {
		_ = x.control.SetReadDeadline(x.arrived.Add(min(bodyWait, x.h.opts.MaxTimeout)))
	}
	data, err := io.ReadAll(io.LimitReader(x.r.Body, most+1))
	if err != nil {
		return nil, BadRequest("body: could not be read to its end")
	}
	// A deadline left standing, the server's ReadTimeout included, would end
	// the request's context in the middle of a long stream.
	_ = x.control.SetReadDeadline(time.Time{})
	if int64(len(data)) > most {
		return nil, BadRequest("body: larger than %d bytes", most)
	}
	return data, nil
}

// decode reads the body into one message.
func (x *exchange) decode(data []byte, m wire.Message) *wire.Error {
	if err := wire.Decode(data, m); err != nil {
		return BadRequest("%s", err)
	}
	return nil
}

// admit keeps the declared credentials and refuses a request that lacks a
// required one (G6).
func (x *exchange) admit(creds *wire.Credentials, table *string) *wire.Error {
	*creds = creds.Only(x.h.keys...)
	if table != nil {
		x.table = *table
	}
	x.creds = *creds
	for _, key := range x.h.required {
		if creds.Get(key) == "" {
			code := wire.CodeBadRequest
			if x.route == wire.PathCheck {
				code = wire.CodeCheckFailed
			}
			return wire.Errorf(code, "credentials.%s: required", key)
		}
	}
	return nil
}

// timeout is a timeout of the request as a duration, cut to the host's own
// ceiling before it is one: milliseconds times a million overflow (G7).
func (x *exchange) timeout(ms int64) time.Duration {
	if most := x.h.opts.MaxTimeout; ms > most.Milliseconds() {
		return most
	}
	return time.Duration(ms) * time.Millisecond
}

// refuse answers an error that is fit for the outside.
func (x *exchange) refuse(e *wire.Error) {
	e = x.outward(e)
	// A cache may keep a 404 or a 405 on its own authority.
	x.w.Header().Set("Cache-Control", "no-store")
	body, err := wire.EncodeAnswer(&wire.ErrorAnswer{Error: *e})
	if err != nil {
		body = []byte(`{"error":{"code":"internal","message":"internal error"}}`)
	}
	x.write(e.Code.Status(), wire.MediaJSON, body)
}

// mostSaid bounds the message of an error: an author may have built it from a
// name in the request, or from a page that the upstream answered.
const mostSaid = 4 << 10

// outward is the error with the tenant's secrets cut out of its message. A
// message there always is.
func (x *exchange) outward(e *wire.Error) *wire.Error {
	text := x.creds.Scrub(strings.ToValidUTF8(e.Message, "\ufffd"))
	if text == "" {
		text = strings.ReplaceAll(string(e.Code), "_", " ")
	}
	if len(text) > mostSaid {
		text = strings.ToValidUTF8(text[:mostSaid], "") + "..."
	}
	return &wire.Error{Code: e.Code, Message: text}
}

// fail answers any error.
func (x *exchange) fail(err error) { x.refuse(x.public(err)) }

func (x *exchange) methodNotAllowed(allow string) {
	x.w.Header().Set("Allow", allow)
	x.refuse(wire.Errorf(wire.CodeMethodNotAllowed, "use %s", allow))
}

func internal() *wire.Error { return wire.Errorf(wire.CodeInternal, wire.InternalMessage) }

// public is the error as the outside sees it. What is not deliberate becomes
// an internal error, and its cause goes to the log (G9).
func (x *exchange) public(err error) *wire.Error {
	switch err {
	case errDeadline:
		return timedOut()
	case errLeft:
		return internal() // nobody reads it, and it is nobody's fault
	case errPanicked:
		return internal() // which is in the log already
	}
	var e *wire.Error
	switch err := err.(type) {
	case *wire.Error:
		e = err
	case *failed:
		e = err.deliberate
	}
	if e != nil {
		switch e.Code {
		case wire.CodeBadRequest, wire.CodeUnauthorized, wire.CodeUnknownEntity, wire.CodeUnsupported, wire.CodeTimeout:
			if x.route != wire.PathCheck {
				return e
			}
		case wire.CodeCheckFailed:
			if x.route == wire.PathCheck {
				return e
			}
			// Rejected upstream credentials on another route (G8).
			return wire.Errorf(wire.CodeBadRequest, "%s", e.Message)
		}
	}
	x.logError("internal error", err)
	return internal()
}

// decline answers 204, which has no body.
func (x *exchange) decline() {
	x.allow(0)
	x.w.WriteHeader(http.StatusNoContent)
}

// write sends a whole answer.
func (x *exchange) write(status int, media string, body []byte) {
	header := x.w.Header()
	header.Set("Content-Type", media)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("X-Content-Type-Options", "nosniff")
	x.w.WriteHeader(status)
	_, _ = x.send(body, 0)
}

// sendPiece is how many bytes a reader must take within Options.WriteStall.
const sendPiece = 64 << 10

// allow sets the deadline of the write that comes next: see send.
func (x *exchange) allow(bound time.Duration) {
	deadline := time.Now().Add(x.h.opts.WriteStall)
	if last := x.arrived.Add(bound); bound > 0 && last.Before(deadline) {
		deadline = last
	}
	_ = x.control.SetWriteDeadline(deadline)
}

// send writes p in pieces, each under a fresh write deadline, so that a slow
// reader is served and one that takes nothing is cut off (C7), whatever the
// server's own WriteTimeout. A bound other than zero is the time since arrival
// after which nothing more may be written.
func (x *exchange) send(p []byte, bound time.Duration) (n int, err error) {
	for len(p) > 0 {
		x.allow(bound)
		piece := p[:min(len(p), sendPiece)]
		m, err := x.w.Write(piece)
		n += m
		if err != nil {
			return n, err
		}
		p = p[len(piece):]
	}
	return n, nil
}
