package restsource

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource/internal/recording"
	"github.com/connectorsdk/connector-sdk-go/internal/netguard"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// statusError says that the API answered with a status that is no success.
type statusError struct {
	table  string // empty: the check
	status int
	why    string // of an answer that API.Judge reads as if it had this status
}

func (e *statusError) Error() string {
	if e.why != "" {
		return fmt.Sprintf("restsource: %s: %s (as with the status %d)", about(e.table), e.why, e.status)
	}
	return fmt.Sprintf("restsource: %s: the API answered with the status %d", about(e.table), e.status)
}

// formError says that an answer is not what the table declares. It never quotes the
// answer, which may hold anything, the token included.
type formError struct{ table, problem string }

func (e *formError) Error() string { return "restsource: " + about(e.table) + ": " + e.problem }

// fault returns the error of an answer that is not what the table declares.
func (t *table) fault(format string, args ...any) error {
	return &formError{t.Name, fmt.Sprintf(format, args...)}
}

// failing returns the error of one of the author's functions. Its text is for the log alone,
// because it may quote anything.
func failing(table, what string, err error) error {
	return &explained{&formError{table, what + " fails; the log has the cause"},
		fmt.Errorf("restsource: %s: %s: %w", about(table), what, err)}
}

// refusedError says that an answer with a good status tells of an error, so that its
// rows, if it has any, are not all [rule error-10].
type refusedError struct{ table, why string }

func (e *refusedError) Error() string { return "restsource: " + about(e.table) + ": " + e.why }

// refusedBy returns the error of an answer with a member that tells of a failure.
func refusedBy(table, path string) error {
	return &refusedError{table, fmt.Sprintf("the answer has a good status and the member %q, so its rows may not be all; "+
		"if that is no error, name the member in Pages.Ignore", path)}
}

// unreachable says that no answer came.
type unreachable struct {
	table  string
	reason string // for the log
	cause  error
}

func (e *unreachable) Error() string {
	return "restsource: " + about(e.table) + ": the API cannot be reached: " + e.reason
}

func (e *unreachable) Unwrap() error { return e.cause }

// reasonOf returns what is wrong with a connection, without an address.
func reasonOf(err error) string {
	var missing *recording.Missing
	var refused *netguard.Error
	var host *net.DNSError
	var number syscall.Errno
	var slow net.Error
	switch {
	case errors.As(err, &missing):
		return missing.Error()
	case errors.As(err, &refused):
		return "its address is " + refused.Kind
	case errors.As(err, &host):
		return "its name cannot be looked up"
	case is[*tls.CertificateVerificationError](err):
		return "its certificate cannot be verified"
	case errors.As(err, &number):
		return number.Error()
	case errors.As(err, &slow) && slow.Timeout():
		return "it does not answer in time"
	}
	return fmt.Sprintf("an error of the type %T", err)
}

func about(table string) string {
	if table == "" {
		return "check"
	}
	return fmt.Sprintf("table %q", table)
}

// explained is an error whose answer is for the platform and whose text, the cause,
// is for the host's log.
type explained struct{ answer, cause error }

func (e *explained) Error() string { return e.cause.Error() }

func (e *explained) Unwrap() []error { return []error{e.answer, e.cause} }

// explaining replaces an error by one with a sentence for those who can do something about
// it, where there are such. All others stay internal errors, whose text only the log has.
func (s *Source) explaining(ctx context.Context, err *error) {
	switch {
	case *err == nil || is[*wire.Error](*err):
	case ctx.Err() != nil:
		*err = context.Cause(ctx)
	default:
		if answer := s.answerTo(*err); answer != nil {
			*err = &explained{answer, *err}
		}
	}
}

// is reports whether an error is, or wraps, one of a type.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// errBusy is the answer when the API's budget of requests is used up.
var errBusy = connector.UpstreamTimeout("The API takes no more requests at the moment. Try again later, or ask for less.")

// answerTo returns the deliberate error for a failure, or nil.
func (s *Source) answerTo(err error) error {
	var status *statusError
	var refused *netguard.Error
	switch {
	case is[*limitError](err):
		return errBusy
	case errors.As(err, &refused):
		return connector.CheckFailed("The address of the API cannot be used, because it is not public: it is %s.", refused.Kind)
	case is[*recording.Missing](err):
		return nil
	case is[*unreachable](err):
		return connector.UpstreamTimeout("The API cannot be reached at the moment. Try again later.")
	case errors.As(err, &status):
		return s.answerToStatus(status)
	}
	return nil
}

func (s *Source) answerToStatus(e *statusError) error {
	switch e.status {
	case http.StatusUnauthorized:
		return connector.CheckFailed("The API does not accept these credentials. Check them; they may have expired.")
	case http.StatusForbidden:
		if e.table == "" {
			return connector.CheckFailed("The API knows these credentials, but they do not give access. " +
				"Ask for the permission, or use others.")
		}
		return connector.CheckFailed("These credentials give no access to table %s.", terms.QuoteName(e.table))
	case http.StatusNotFound, http.StatusGone:
		if e.table != "" {
			return connector.UnknownEntity("The API has no table %s for these credentials.", terms.QuoteName(e.table))
		}
		if s.api.tenants() {
			return connector.CheckFailed("Something answers at this address, but it is not the API. Check the address.")
		}
	case http.StatusTooManyRequests:
		return errBusy
	}
	return nil
}

// forPerson returns the error of a check. What a tenant has typed wrong becomes a
// sentence about it.
func (s *Source) forPerson(err error) error {
	switch {
	case is[*refusedError](err):
		return &explained{connector.CheckFailed("The API answers these credentials with an error. " +
			"Check them; they may have expired, or lack a permission."), err}
	case !s.api.tenants() || is[*netguard.Error](err):
	case is[*unreachable](err):
		return &explained{connector.CheckFailed("Nothing answers at this address. Check the address of the API."), err}
	case is[*formError](err):
		return &explained{connector.CheckFailed("Something answers at this address, but it is not the API. Check the address."), err}
	}
	return err
}
