package connector

import (
	"errors"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// ErrDecline is the error that a [Counter] or an [Aggregator] returns for what it
// cannot compute exactly. It is no failure: the library counts by reading, and
// answers an aggregate with 204, upon which the platform folds the rows.
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
// the platform. Never put a credential or a cell into one; the library removes
// credential values all the same.

// BadRequest refuses what the request says (400). Credentials that the
// upstream rejects on any route but /check are this too.
func BadRequest(format string, args ...any) *wire.Error {
	return wire.Errorf(wire.CodeBadRequest, format, args...)
}

// Unauthorized answers 401. The platform takes it for a wrong bearer token, so
// a source rarely means it: for credentials that the upstream rejects, use
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

// Timeout answers 408: the upstream took too long. The library answers for the
// request's own deadline.
func Timeout(format string, args ...any) *wire.Error {
	return wire.Errorf(wire.CodeTimeout, format, args...)
}

// CheckFailed rejects a credential set, on /check. The platform shows the
// message verbatim to the person who typed it: name fields by their label and say
// what to do. What was typed into plain text fields may stand in it, such as an
// address; the library removes what was typed into password and textarea fields.
// On other routes CheckFailed is answered as [BadRequest].
func CheckFailed(format string, args ...any) *wire.Error {
	return wire.Errorf(wire.CodeCheckFailed, format, args...)
}
