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
