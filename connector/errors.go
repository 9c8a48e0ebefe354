package connector

import (
	"errors"
	"fmt"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// ErrDecline is the error that a [Counter], an [Aggregator] or a [Sizer] returns for what
// it cannot compute exactly or does not know. It is no failure: the library counts by
// reading, answers an aggregate with 204, upon which the platform folds the rows, and a
// size with null.
var ErrDecline = errors.New("declined")

func isDecline(err error) bool { return errors.Is(err, ErrDecline) }

// The functions below make deliberate errors: the only ones whose text reaches
// the platform. Never put a credential or a cell into one; the library removes
// credential values all the same.
//
// A format may end in ": %w" to keep the cause, which is never sent. The request's
// line in the log has it, and errors.Is finds it. wire.CodeOf tells which one an error is:
//
//	return connector.UpstreamTimeout("the vendor does not answer: %w", err)

// BadRequest refuses what the request says (400). Credentials that the
// upstream rejects on any route but /check are this too.
func BadRequest(format string, args ...any) error {
	return deliberate(wire.CodeBadRequest, format, args...)
}

// UnknownEntity refuses a table or column these credentials do not have (404).
func UnknownEntity(format string, args ...any) error {
	return deliberate(wire.CodeUnknownEntity, format, args...)
}

// Unsupported refuses a legal request that the source cannot serve, such as a
// filter on a field it cannot evaluate, or a row that its data keep from being read
// (422).
func Unsupported(format string, args ...any) error {
	return deliberate(wire.CodeUnsupported, format, args...)
}

// UpstreamTimeout answers 408: the upstream took too long. The library answers for the
// request's own deadline.
func UpstreamTimeout(format string, args ...any) error {
	return deliberate(wire.CodeTimeout, format, args...)
}

// CheckFailed rejects a credential set, on /check. The platform shows the
// message verbatim to the person who typed it: name fields by their label and say
// what to do. What was typed into plain text fields may stand in it, such as an
// address; the library removes what was typed into password and textarea fields.
// On other routes CheckFailed is answered as [BadRequest].
func CheckFailed(format string, args ...any) error {
	return deliberate(wire.CodeCheckFailed, format, args...)
}

// causedError is a deliberate error with a cause.
type causedError struct {
	public *wire.Error // what is sent
	whole  error       // of fmt.Errorf, with the cause
}

// Error returns the text for the log.
func (e *causedError) Error() string { return string(e.public.Code) + ": " + e.whole.Error() }

// Unwrap returns both errors, for errors.Is and errors.As.
func (e *causedError) Unwrap() []error { return []error{e.public, e.whole} }

// deliberate returns the error that the functions above make. If the format has a %w
// elsewhere than at its end, the message is empty, so that no cause is ever sent.
func deliberate(code wire.Code, format string, args ...any) error {
	whole := fmt.Errorf(format, args...)
	if !wraps(whole) {
		return &wire.Error{Code: code, Message: whole.Error()}
	}
	public := &wire.Error{Code: code}
	if start, ok := strings.CutSuffix(format, ": %w"); ok {
		if message := fmt.Errorf(start, args[:len(args)-1]...); !wraps(message) {
			public.Message = message.Error()
		}
	}
	return &causedError{public, whole}
}

func wraps(err error) bool {
	switch err.(type) {
	case interface{ Unwrap() error }, interface{ Unwrap() []error }:
		return true
	}
	return false
}
