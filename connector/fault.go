package connector

import (
	"errors"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// fault is an internal error that the library found. Its text is for the host's
// log only.
type fault string

func (f fault) Error() string { return string(f) }

func faultf(format string, args ...any) fault { return fault(fmt.Sprintf(format, args...)) }

const (
	errGoexit    = fault("the source ended its goroutine (runtime.Goexit)")
	errPanicked  = fault("the source panicked") // the log has said more
	errNotCalled = fault("Options.Around returned without calling next")
	errRunning   = fault("Options.Around returned before next did")
	errCalled    = fault("Options.Around called next twice")
	errLingering = fault("too many calls of the source are still running after their requests were over")
)

// How a request ends before its source has answered.
const (
	errDeadline = fault("the request's timeout elapsed")
	errIdle     = fault("the source offered no row within the request's idleTimeoutMs")
	errLeft     = fault("the client left, or the host is shutting down")
	errOver     = fault("the request is over")
)

// authorError is an author's error, read once.
type authorError struct {
	text       string      // for the log
	deliberate *wire.Error // nil unless the author made one
}

func (e *authorError) Error() string { return e.text }

// freeze copies err's text and code now, because its methods are the author's
// code and may panic or block. It must be called in the goroutine of the author's
// call, and nothing else calls those methods.
func freeze(err error) error {
	switch err.(type) {
	case nil, fault, *authorError:
		return err
	}
	if errors.Is(err, errPanicked) {
		return errPanicked // Options.Around has wrapped it
	}
	e := &authorError{}
	var deliberate *wire.Error
	if errors.As(err, &deliberate) {
		if deliberate == nil {
			return fault("the source returned a nil *wire.Error as an error; return nil itself")
		}
		e.deliberate = &wire.Error{Code: deliberate.Code, Message: deliberate.Message}
	}
	e.text = err.Error()
	return e
}

// deliberateError returns the deliberate error that err is, or nil.
func deliberateError(err error) *wire.Error {
	switch err := err.(type) {
	case *wire.Error:
		return err
	case *authorError:
		return err.deliberate
	}
	return nil
}
