package platform

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/netguard"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// ErrAddress is matched by the error of a base URL or an address that the platform
// would refuse: plain http, or an address that is not public. [Options.Local]
// permits both.
var ErrAddress = errors.New("the platform would refuse this address")

// AnswerError reports an answer that is malformed, too late or cut off. A refusal that the connector words itself is a
// [*wire.Error] instead.
//
// It quotes no cells and no secrets.
type AnswerError struct {
	Path    string // the route, such as /query
	Place   string // where in the answer, such as "line 3, rows[17].amount", or "body" for the whole
	Rule    string // of the rulebook, such as "stream-6"
	Problem string // in words
	Err     error  // the cause, if there is one, such as io.ErrUnexpectedEOF
}

// Error returns the route, the place, the problem and the rule.
func (e *AnswerError) Error() string {
	text := "the answer of " + e.Path + " is refused: " + e.Place + ": " + e.Problem
	if e.Rule != "" {
		text += " (rule " + e.Rule + ")"
	}
	return text
}

// Unwrap returns Err.
func (e *AnswerError) Unwrap() error { return e.Err }

// ConnectionError reports that there was no answer: the connector could not be
// reached, or the connection broke before its status came.
type ConnectionError struct {
	Path    string // the route
	Problem string // in words, without the URL
	Err     error  // the cause, such as ErrAddress
}

// Error returns the route and the problem.
func (e *ConnectionError) Error() string { return "no answer of " + e.Path + ": " + e.Problem }

// Unwrap returns Err.
func (e *ConnectionError) Unwrap() error { return e.Err }

// The reasons for which the client itself ends a request.
var (
	errLate   = errors.New("the connector has not ended a request whose time is over")
	errSilent = errors.New("the connector was silent for longer than the idle timeout")
)

// brokeOff is the problem of an answer that cannot be read to its end.
const brokeOff = "the connection broke off within the answer"

// stopped returns the error of a request that was ended on this side, or nil if it
// was not.
func (e *exchange) stopped() error {
	if e.ctx.Err() == nil {
		return nil
	}
	switch cause := context.Cause(e.ctx); {
	case errors.Is(cause, errLate):
		return &AnswerError{Path: e.path, Place: "body", Rule: "stream-5", Problem: cause.Error(), Err: context.DeadlineExceeded}
	case errors.Is(cause, errSilent):
		return &AnswerError{Path: e.path, Place: "body", Rule: "stream-14", Problem: cause.Error(), Err: context.DeadlineExceeded}
	default:
		return cause // of the caller's context, or errClosed
	}
}

// unreached returns the error of a request without an answer, in words that quote
// no URL.
func (e *exchange) unreached(err error) error {
	if stopped := e.stopped(); stopped != nil {
		return stopped
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	problem := ""
	var (
		refused *netguard.Error
		dns     *net.DNSError
		op      *net.OpError
		cert    *tls.CertificateVerificationError
	)
	switch {
	case errors.As(err, &refused):
		problem, err = refused.Error(), fmt.Errorf("%w: %w", ErrAddress, err)
	case errors.As(err, &dns):
		problem = "the host's name does not resolve"
	case errors.As(err, &cert):
		problem = "the certificate of the host is not trusted: " + cert.Err.Error()
	case errors.As(err, &op) && op.Op == "dial":
		problem = "no connection: " + op.Err.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		problem = "the connection was closed before the answer came"
	default:
		problem = err.Error()
	}
	if text := e.clean(err.Error()); text != err.Error() {
		err = errors.New(text) // nor may a secret be unwrapped
	}
	return &ConnectionError{Path: e.path, Problem: e.clean(problem), Err: err}
}

// clean returns a text without the token and the credentials of the request.
func (e *exchange) clean(text string) string { return e.credentials.Scrub(e.cleanToken(text)) }

// cleanRefusal returns the words of a refusal without the token and the credentials. A failed
// check is shown to the person who typed them: what was typed into the plain text fields of
// the document, if it was read, may stand there [rule credential-9].
func (e *exchange) cleanRefusal(own *wire.Error) string {
	text := e.cleanToken(own.Message)
	visible := e.client.visible.Load()
	if own.Code != wire.CodeCheckFailed || visible == nil {
		return e.credentials.Scrub(text)
	}
	hidden := slices.DeleteFunc(e.credentials.Keys(), func(key string) bool { return slices.Contains(*visible, key) })
	return e.credentials.Only(hidden...).Scrub(text)
}

// cleanToken returns a text without the token.
func (e *exchange) cleanToken(text string) string {
	return strings.Clone(e.client.secret.Scrub(text))
}

// lineFault returns the error of a line as an AnswerError.
func (e *exchange) lineFault(fault *ndjson.LineError) error {
	if stopped := e.stopped(); stopped != nil {
		return stopped
	}
	problem := fault.Problem
	if problem == "reading failed" {
		problem = brokeOff
	}
	return &AnswerError{Path: e.path, Place: linePlace(fault.Line, fault.Path), Rule: lineRule(fault),
		Problem: problem, Err: fault.Err}
}

// lineRule returns the rule that a line breaks.
func lineRule(fault *ndjson.LineError) string {
	switch {
	case fault.Err != nil:
		return "stream-13"
	case strings.HasPrefix(fault.Problem, "longer than"), fault.Path == "rows" && strings.Contains(fault.Problem, "5000 rows"):
		return "stream-6"
	case strings.HasPrefix(fault.Path, "rows"):
		return "cell-5"
	case strings.HasPrefix(fault.Problem, "second served"), strings.HasPrefix(fault.Problem, "served comes"),
		strings.HasPrefix(fault.Problem, "unexpected data after"):
		return "stream-1"
	}
	return "stream-10"
}
