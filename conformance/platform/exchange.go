package platform

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/internal/routes"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// exchange is one request and its answer.
type exchange struct {
	client      *Client
	id          int64
	path        string
	credentials wire.Credentials

	ctx    context.Context
	cancel context.CancelCauseFunc
	sent   time.Time
	late   *time.Timer

	// Of a stream:
	idle   time.Duration // how long it may be silent
	most   time.Duration // how long it may take once it has begun
	silent *time.Timer   // runs while a line is waited for

	response *http.Response
	done     bool
}

// errClosed ends a request whose answer is wanted no more.
var errClosed = errors.New("the answer was closed before it was read")

// clocks are the places of a query's time limits.
type clocks struct {
	envelope  *wire.Envelope
	idle, max *int64
}

// set fills in the limits that the request does not state.
func (c *Client) set(k clocks) {
	fill(&k.envelope.TimeoutMS, c.options.Timeout)
	if k.max != nil {
		fill(k.idle, c.options.Idle)
		fill(k.max, c.options.MaxTimeout)
	}
}

func fill(place *int64, usual time.Duration) {
	if *place <= 0 {
		*place = max(usual.Milliseconds(), 1)
	}
}

// milliseconds returns a time limit of a request as a duration.
func milliseconds(ms int64) time.Duration {
	const most = 1 << 40 // what a duration can hold, and more than any request takes
	return time.Duration(min(ms, most)) * time.Millisecond
}

// begin sends a request and returns once the status of its answer is known. The
// caller ends the exchange.
func (c *Client) begin(
	ctx context.Context, path string, credentials wire.Credentials, k clocks, m wire.Request,
) (*exchange, error) {
	e := &exchange{client: c, id: c.asked.Add(1), path: path, credentials: credentials}
	method, body, shown := http.MethodGet, []byte(nil), []byte(nil)
	wait := c.options.Timeout + grace
	if m != nil {
		c.set(k)
		wait = milliseconds(k.envelope.TimeoutMS) + grace
		if k.max != nil {
			e.idle, e.most = milliseconds(*k.idle), milliseconds(*k.max)+grace
		}
		method = http.MethodPost
		k.envelope.Credentials = wire.Credentials{}
		var err error
		if shown, err = wire.EncodeRequest(m); err != nil {
			return nil, fmt.Errorf("the request of %s cannot be written: %w", path, err)
		}
		k.envelope.Credentials = credentials
		if body, err = wire.EncodeRequest(m); err != nil {
			return nil, fmt.Errorf("the request of %s cannot be written: %w", path, err)
		}
	}
	e.ctx, e.cancel = context.WithCancelCause(ctx)
	e.sent = time.Now()
	e.late = time.AfterFunc(wait, func() { e.cancel(errLate) })
	if e.idle > 0 {
		e.silent = time.AfterFunc(e.idle, func() { e.cancel(errSilent) })
	}
	req, err := http.NewRequestWithContext(e.ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, e.end(&ConnectionError{Path: path, Problem: "the request cannot be made"})
	}
	req.Header.Set("Accept-Encoding", "identity") // or the transport would inflate what is compressed
	if m != nil {
		req.Header.Set("Content-Type", terms.MediaJSON)
		req.Header.Set("Authorization", "Bearer "+c.token.Reveal())
	}
	e.observe(Step{Kind: "sent", Request: shown})
	if e.response, err = c.http.Do(req); err != nil {
		return nil, e.end(e.unreached(err))
	}
	e.observe(Step{Kind: "answered", Status: e.response.StatusCode})
	if coding := e.response.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, e.end(e.fault("Content-Encoding", shape(path), "is not what was asked for: identity"))
	}
	return e, nil
}

// end releases what the exchange holds and returns err, which ended it.
func (e *exchange) end(err error) error {
	if !e.done {
		e.done = true
		e.late.Stop()
		if e.silent != nil {
			e.silent.Stop()
		}
		e.cancel(errClosed)
		if e.response != nil {
			_ = e.response.Body.Close()
		}
		e.observe(Step{Kind: "done", Err: err})
	}
	return err
}

// fault returns the error of a malformed answer.
func (e *exchange) fault(place, rule, problem string) error {
	return &AnswerError{Path: e.path, Place: place, Rule: rule, Problem: problem}
}

// body reads the answer to its end.
func (e *exchange) body(most int, rule string) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(e.response.Body, int64(most)+1))
	if err != nil {
		if stopped := e.stopped(); stopped != nil {
			return nil, stopped
		}
		return nil, &AnswerError{Path: e.path, Place: "body", Rule: shape(e.path), Err: io.ErrUnexpectedEOF, Problem: brokeOff}
	}
	e.showText(body)
	if len(body) > most {
		return nil, e.fault("body", rule, fmt.Sprintf("is longer than %d KiB", most>>10))
	}
	return body, nil
}

// media returns the content type of the answer without its parameters.
func (e *exchange) media() string {
	m, _, err := mime.ParseMediaType(e.response.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return m
}

// refusal returns the error of an answer whose status is not 200.
func (e *exchange) refusal() error {
	status := e.response.StatusCode
	switch {
	case status >= 300 && status < 400:
		return e.fault("status", "error-1", fmt.Sprintf("answered %d; redirects are not followed", status))
	case status < 400:
		return e.fault("status", "route-3", fmt.Sprintf("answered %d; want 200", status))
	}
	body, err := e.body(terms.MaxAnswerBytes, "http-10")
	if err != nil {
		return err
	}
	var answer wire.ErrorAnswer
	if err := wire.DecodeAnswer(body, &answer); err != nil {
		return e.malformed(err, fmt.Sprintf("answered %d without the error envelope: ", status), "error-1")
	}
	return e.judge(&answer.Error, status)
}

// judge returns the connector's own error, or what is wrong with it. The status is 0
// for that of an error line.
func (e *exchange) judge(own *wire.Error, status int) error {
	place := "error.code"
	switch own.Code {
	case wire.CodeCheckFailed:
		if e.path != wire.PathCheck {
			return e.fault(place, "error-3", "check_failed is for /check alone")
		}
		if strings.TrimSpace(own.Message) == "" {
			return e.fault("error.message", "route-8", "is empty; it is for the person who typed the credentials")
		}
	case wire.CodeInternal:
		if own.Message != terms.InternalMessage {
			return e.fault("error.message", "error-8", "an internal error says more than \""+terms.InternalMessage+"\"")
		}
	case wire.CodeBadRequest, wire.CodeUnauthorized, wire.CodeUnknownEntity, wire.CodeTimeout, wire.CodeUnsupported,
		wire.CodeNotFound, wire.CodeMethodNotAllowed:
	default:
		return e.fault(place, "error-1", "is none of the protocol's codes")
	}
	if status != 0 && own.Code.Status() != status {
		return e.fault(place, "http-9", fmt.Sprintf("%s comes with the status %d; it belongs to %d", own.Code, status, own.Code.Status()))
	}
	return &wire.Error{Code: own.Code, Message: e.cleanRefusal(own)}
}

// malformed returns the error of a message that does not decode.
func (e *exchange) malformed(err error, before, rule string) error {
	var fault *wire.MessageError
	if !errors.As(err, &fault) {
		return e.fault("body", rule, before+err.Error())
	}
	return e.fault(fault.Path, rule, before+fault.Problem)
}

// shape returns the rule about the shape of the answer at a path.
func shape(path string) string {
	if r := routes.At(path); r != nil {
		return r.Rule
	}
	return "document-19"
}

// read asks a route that answers JSON, and reads the answer.
func (c *Client) read(
	ctx context.Context, path string, credentials wire.Credentials, envelope *wire.Envelope, req wire.Request, answer wire.Answer,
) error {
	e, err := c.begin(ctx, path, credentials, clocks{envelope: envelope}, req)
	if err != nil {
		return err
	}
	body, err := e.success()
	if err == nil {
		err = e.unmarshal(body, answer)
	}
	return e.end(err)
}

// success returns the body of a 200.
func (e *exchange) success() ([]byte, error) {
	if e.response.StatusCode != http.StatusOK {
		return nil, e.refusal()
	}
	return e.body(terms.MaxAnswerBytes, "http-10")
}

// unmarshal reads the body of the route's answer into m.
func (e *exchange) unmarshal(body []byte, m wire.Answer) error {
	if err := wire.DecodeAnswer(body, m); err != nil {
		return e.malformed(err, "", shape(e.path))
	}
	return nil
}
