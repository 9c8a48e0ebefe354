package wire

import (
	"errors"
	"fmt"
)

// A Code is the machine-readable half of an error envelope.
type Code string

// The codes of the protocol, then two for requests that the platform never
// sends [rule http-2].
const (
	CodeBadRequest    Code = "bad_request"    // 400
	CodeCheckFailed   Code = "check_failed"   // 400, /check only
	CodeUnauthorized  Code = "unauthorized"   // 401
	CodeUnknownEntity Code = "unknown_entity" // 404
	CodeTimeout       Code = "timeout"        // 408
	CodeUnsupported   Code = "unsupported"    // 422
	CodeInternal      Code = "internal"       // 500

	CodeNotFound         Code = "not_found"          // 404: no such route
	CodeMethodNotAllowed Code = "method_not_allowed" // 405
)

// Status returns the HTTP status that carries the code, 500 for an unknown one.
func (c Code) Status() int {
	switch c {
	case CodeBadRequest, CodeCheckFailed:
		return 400
	case CodeUnauthorized:
		return 401
	case CodeUnknownEntity, CodeNotFound:
		return 404
	case CodeMethodNotAllowed:
		return 405
	case CodeTimeout:
		return 408
	case CodeUnsupported:
		return 422
	}
	return 500
}

// Error is a deliberate error: its message reaches the other side. Everything
// else that goes wrong is answered as [CodeInternal] and nothing but "internal
// error" [rule http-9]. Authors make one with connector.BadRequest and its
// siblings; clients get one from an error envelope or an error line.
type Error struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// Error returns the code and the message.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Is reports whether target is an Error of the same code without a message, so
// that &Error{Code: CodeTimeout} is a sentinel for errors.Is.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Message == "" && t.Code == e.Code
}

// CodeOf returns the code of the deliberate error in err's tree, or "".
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok && e != nil {
		return e.Code
	}
	return ""
}

// Errorf returns a deliberate error.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// ErrorAnswer is the envelope of every answer that is not 2xx.
type ErrorAnswer struct {
	answer
	Error Error
}

var errorAnswer = newObject(
	required("error", func(m *ErrorAnswer) *Error { return &m.Error }, errorObject.codec()),
)

func (m *ErrorAnswer) message(d *decoder, e *encoder) error { return process(errorAnswer, m, d, e) }

var errorObject = newObject(
	required("code", func(m *Error) *Code { return &m.Code }, codec[Code]{ // a code that we do not know is read too
		read:  func(d *decoder, p *Code) { *p = Code(d.text()) },
		write: func(e *encoder, p *Code) { e.string(string(*p)) },
	}),
	required("message", func(m *Error) *string { return &m.Message }, text),
)
