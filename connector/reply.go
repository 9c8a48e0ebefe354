package connector

import (
	"context"
	"net/http"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// reply is the way back of one request. It writes the answer, or the error that
// takes its place, and keeps what the log and [Options].Observe are told at the end.
type reply struct {
	conn  conn
	log   requestLog
	form  *form        // of the connector
	stats RequestStats // what the request's goroutine has seen
}

// answer writes a whole answer of JSON.
func (y *reply) answer(body []byte) { y.conn.whole(http.StatusOK, terms.MediaJSON, body) }

// fail answers any error.
func (y *reply) fail(err error) { y.writeError(y.explain(err)) }

// refuse answers a request that no route takes.
func (y *reply) refuse(e *wire.Error) {
	y.stats.Code, y.stats.Fault = e.Code, FaultCaller
	y.writeError(y.sendable(e))
}

func (y *reply) methodNotAllowed(allow string) {
	y.conn.w.Header().Set("Allow", allow)
	y.refuse(wire.Errorf(wire.CodeMethodNotAllowed, "use %s", allow))
}

func (y *reply) writeError(e *wire.Error) {
	// A cache may keep a 404 or a 405 on its own authority.
	y.conn.w.Header().Set("Cache-Control", "no-store")
	body, err := wire.EncodeAnswer(&wire.ErrorAnswer{Error: *e})
	if err != nil {
		body = []byte(`{"error":{"code":"internal","message":"internal error"}}`)
	}
	y.conn.whole(e.Code.Status(), terms.MediaJSON, body)
}

// explain returns what the platform is told of an error, and notes its code and on
// whose side the reason lies. The log gets what the platform is not told.
func (y *reply) explain(err error) *wire.Error {
	e := y.publicError(err)
	y.stats.Code, y.stats.Fault = e.Code, faultOf(err, e, y.log.ctx)
	return y.sendable(e)
}

// publicError returns the error that the platform is told. An error that the author did not
// choose becomes an internal error. Its cause, and that of unsendable data, goes to the log.
func (y *reply) publicError(err error) *wire.Error {
	internal := wire.Errorf(wire.CodeInternal, terms.InternalMessage)
	switch err {
	case errDeadline:
		return wire.Errorf(wire.CodeTimeout, "the request's time is over")
	case errIdle:
		return wire.Errorf(wire.CodeTimeout, "no row came within the request's idleTimeoutMs")
	case errLeft:
		if context.Cause(y.log.ctx) == errStopping {
			return wire.Errorf(wire.CodeTimeout, "the request ended before its time, because the connector is stopping; ask again")
		}
		return wire.Errorf(wire.CodeTimeout, "the request ended because its client closed the connection") // or a half of it, and reads on
	case errPanicked:
		return internal // the log has the panic already
	}
	if _, ok := err.(*unsendable); ok {
		y.log.dataError(err)
	}
	if e, cause := deliberateError(err); e != nil {
		switch e.Code {
		case wire.CodeBadRequest, wire.CodeUnauthorized, wire.CodeUnknownEntity, wire.CodeUnsupported, wire.CodeTimeout:
			y.log.cause = cause
			return e
		case wire.CodeCheckFailed:
			y.log.cause = cause
			if y.log.route == wire.PathCheck {
				return e
			}
			return wire.Errorf(wire.CodeBadRequest, "%s", e.Message) // the upstream rejects the credentials
		}
	}
	y.log.internalError(err)
	return internal
}

// maxMessageBytes limits the message of an error, or a warning. Its author may have built it
// from a name in the request, or from a page that the upstream answered.
const maxMessageBytes = 4 << 10

// sendable returns a copy of e whose message has the tenant's secrets removed and
// is never empty. The message of a failed check goes to the person who typed the
// credentials, so what they typed into plain text fields stays in it.
func (y *reply) sendable(e *wire.Error) *wire.Error {
	secrets := y.log.secrets
	if e.Code == wire.CodeCheckFailed {
		secrets = y.form.hidden(secrets)
	}
	text := message(e.Message, secrets)
	if text == "" {
		text = strings.ReplaceAll(string(e.Code), "_", " ")
	}
	return &wire.Error{Code: e.Code, Message: text}
}

// message returns a text that an author wrote, without these secrets and not too long.
func message(text string, secrets wire.Credentials) string {
	text = secrets.Scrub(strings.ToValidUTF8(text, "\ufffd"))
	if len(text) > maxMessageBytes {
		text = strings.ToValidUTF8(text[:maxMessageBytes], "") + "..."
	}
	return text
}

// faultOf returns on whose side the reason for an error lies. e is what is
// answered for it, and request is the request's context.
func faultOf(err error, e *wire.Error, request context.Context) Fault {
	_, data := err.(*unsendable)
	switch {
	case err == errLeft && context.Cause(request) == errStopping:
		return FaultHost
	case err == errLeft:
		return FaultReader
	case data, e.Code == wire.CodeInternal, e.Code == wire.CodeTimeout:
		return FaultSource
	}
	return FaultCaller
}
