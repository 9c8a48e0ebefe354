package connector

import (
	"errors"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// ErrDecline is what a [Counter] or an [Aggregator] answers for what it cannot
// compute exactly. It is never a failure: the SDK counts by reading, and an
// aggregate is answered 204 (A12, E6).
var ErrDecline = errors.New("declined")

// Sentinels for errors.Is on deliberate errors.
var (
	ErrBadRequest    error = &wire.Error{Code: wire.CodeBadRequest}
	ErrUnauthorized  error = &wire.Error{Code: wire.CodeUnauthorized}
	ErrUnknownEntity error = &wire.Error{Code: wire.CodeUnknownEntity}
	ErrUnsupported   error = &wire.Error{Code: wire.CodeUnsupported}
	ErrTimeout       error = &wire.Error{Code: wire.CodeTimeout}
	ErrCheckFailed   error = &wire.Error{Code: wire.CodeCheckFailed}
)

// The functions below make deliberate errors: the only ones whose text reaches
// the platform. Never put a credential or a cell into one; the SDK cuts
// credential values out all the same.

// BadRequest refuses what the request says (400). Credentials that the
// upstream rejects on any route but /check are this too (G8).
func BadRequest(format string, args ...any) *wire.Error {
	return wire.Errorf(wire.CodeBadRequest, format, args...)
}

// Unauthorized answers 401. The platform reads it as a wrong bearer token, so
// it is hardly ever what a source means: for rejected upstream credentials use
// [CheckFailed] or [BadRequest].
func Unauthorized(format string, args ...any) *wire.Error {
	return wire.Errorf(wire.CodeUnauthorized, format, args...)
}

// UnknownEntity refuses a table or column these credentials do not have (404).
func UnknownEntity(format string, args ...any) *wire.Error {
	return wire.Errorf(wire.CodeUnknownEntity, format, args...)
}

// Unsupported refuses a legal request that the source cannot serve, such as a
// filter on a field it cannot evaluate (422).
func Unsupported(format string, args ...any) *wire.Error {
	return wire.Errorf(wire.CodeUnsupported, format, args...)
}

// Timeout says that the upstream took too long (408). The request's own
// deadline needs no help: the SDK answers it.
func Timeout(format string, args ...any) *wire.Error {
	return wire.Errorf(wire.CodeTimeout, format, args...)
}

// CheckFailed rejects a credential set, on /check. The platform shows the
// message verbatim to the person who typed them: say what to do.
func CheckFailed(format string, args ...any) *wire.Error {
	return wire.Errorf(wire.CodeCheckFailed, format, args...)
}

// cause is an internal error that the SDK found: its text is for the host's
// log only.
type cause string

func (c cause) Error() string { return string(c) }

// failed is an author's error, read once.
type failed struct {
	text       string      // for the log
	deliberate *wire.Error // nil unless the author made one
}

func (f *failed) Error() string { return f.text }

// settled is err as the SDK goes on with it. An author's Error, Is, As and
// Unwrap may panic or never return, so they are called here, in the goroutine
// of his call, and nowhere else.
func settled(err error) error {
	switch err.(type) {
	case nil, cause, *failed:
		return err
	}
	if errors.Is(err, errPanicked) {
		return errPanicked // Options.Around has wrapped it
	}
	f := &failed{}
	var deliberate *wire.Error
	if errors.As(err, &deliberate) {
		if deliberate == nil {
			return cause("the source returned a nil *wire.Error as an error; return nil itself")
		}
		f.deliberate = &wire.Error{Code: deliberate.Code, Message: deliberate.Message}
	}
	f.text = err.Error()
	return f
}
