package connector

import (
	"errors"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/internal/lines"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
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
	errNotCalled = fault("Options.Intercept returned without calling next")
	errRunning   = fault("Options.Intercept returned before next did")
	errCalled    = fault("Options.Intercept called next twice")
	errLingering = fault("too many calls of the source are still running after their requests were over")
)

// How a request ends before its source has answered.
const (
	errDeadline = fault("the request's timeout elapsed")
	errIdle     = fault("the source offered no row within the request's idleTimeoutMs")
	errLeft     = fault("the client left, or the host is shutting down")
	errOver     = fault("the request is over")
	errStopping = fault("the server is stopping") // the cause of a context that Serve ends
)

// unsendable says that the data of a source keep a row or an answer from being
// sent [rule error-7a]. The reader and the log are told why: only the host can mend it.
type unsendable struct{ told *wire.Error }

func (u *unsendable) Error() string { return u.told.Message }

// Unwrap returns the deliberate error.
func (u *unsendable) Unwrap() error { return u.told }

// explainUnsendable returns an error of encoding a table's rows, or an answer about
// it, as an [unsendable] if the data are at fault: what is too large, or not UTF-8.
// The table is empty where a request has none.
func explainUnsendable(err error, table string) error {
	of := ""
	if table != "" {
		of = " of table " + terms.QuoteName(table)
	}
	var cell *lines.CellError
	var answer *wire.MessageError
	switch {
	case errors.Is(err, lines.ErrRowTooLarge):
		return &unsendable{wire.Errorf(wire.CodeUnsupported,
			"a row%s needs more than %d MiB, which is all that a line of an answer has: ask for fewer fields",
			of, wire.MaxLineBytes>>20)}
	case errors.As(err, &cell) && cell.Err.Error() == jsontext.ErrUTF8.Error():
		return &unsendable{wire.Errorf(wire.CodeUnsupported,
			"field %s%s has a text that is not valid UTF-8: correct it in the source, or leave the field out",
			terms.QuoteName(cell.Column), of)}
	case errors.As(err, &answer) && answer.Problem == jsontext.ErrUTF8.Error():
		return &unsendable{wire.Errorf(wire.CodeUnsupported,
			"the answer has a text%s that is not valid UTF-8, in %s: correct it in the source, or leave the field out",
			of, answer.Path)}
	}
	return err
}

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
	case nil, fault, *unsendable, *authorError:
		return err
	}
	if errors.Is(err, errPanicked) {
		return errPanicked // Options.Intercept has wrapped it
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

// deliberateError returns the deliberate error that err is, or nil, and what the log
// should have of it that its message lacks.
func deliberateError(err error) (e *wire.Error, cause string) {
	switch err := err.(type) {
	case *wire.Error:
		return err, ""
	case *unsendable:
		return err.told, ""
	case *authorError:
		if e = err.deliberate; e != nil && err.text != e.Error() {
			cause = err.text
		}
	}
	return e, cause
}
