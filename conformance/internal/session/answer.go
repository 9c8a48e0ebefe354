package session

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/coverage"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/internal/routes"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Answer is what a request was answered.
type Answer struct {
	session *Session
	path    string
	Request *check.Request
	Err     error // no whole answer came; the text may be shown
	Late    bool  // it was given up
	// TimedOut is set if the answer says that the deadline has elapsed: by its status, or in an error line.
	TimedOut bool
	Status   int
	Header   http.Header
	Media    string  // the content type, without parameters
	Body     []byte  // at most one byte more than an answer may have; empty if it is a stream
	Stream   *Stream // the lines of an answer to /query, none of a refusal; nil for other routes
	Elapsed  time.Duration
	timing

	began time.Time // when the request was sent
}

// read reads the body of a JSON answer.
func (a *Answer) read(resp *http.Response, limit int64) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	a.Body = body
	a.session.Covered.Add(func(c *coverage.Counts) { c.Bytes += int64(len(body)) })
	if err != nil {
		a.Err = fmt.Errorf("the answer broke off after %d bytes: %w", len(body), a.session.transport(resp.Request.Context(), err))
	}
}

// Refusal returns the error of an answer that is the error envelope, or nil.
func (a *Answer) Refusal() *wire.Error {
	var e wire.ErrorAnswer
	if a.Err != nil || a.Status < 300 || message.Check(a.Body, "error", &e) != nil {
		return nil
	}
	return &e.Error
}

// Describe returns a short text of the answer, for what was received.
func (a *Answer) Describe() string {
	if a.Err != nil {
		return a.Err.Error()
	}
	if a.streams() {
		return fmt.Sprintf("200 and a stream of %s", phrase.Plural(len(a.Stream.Table.Rows), "row"))
	}
	return a.session.Clean(fmt.Sprintf("%d %s", a.Status, message.Excerpt(a.Body, 300)))
}

// streams reports whether the answer is a stream.
func (a *Answer) streams() bool { return a.Stream != nil && a.Err == nil && a.Status == http.StatusOK }

// Decode reads the JSON answer of a 200 as its route answers, and returns why it cannot. The answer is never nil.
func (a *Answer) Decode() (wire.Answer, *check.Finding) {
	if a.path == wire.PathDocument {
		m := &wire.Document{}
		return m, a.decode("document", m)
	}
	route := routes.At(a.path)
	m := route.Answer()
	return m, a.decode(route.Schema, m)
}

func (a *Answer) decode(schema string, m wire.Answer) *check.Finding {
	switch {
	case a.Err != nil:
		return check.Fail("%s", a.Err).From(a.Request)
	case a.Status != http.StatusOK:
		return check.Differs("200", a.Describe(), "answered %d", a.Status).From(a.Request)
	case len(a.Body) > terms.MaxAnswerBytes:
		return check.Fail("the answer is longer than 32 MiB").From(a.Request)
	}
	return message.Check(a.Body, schema, m).From(a.Request)
}

// Declined reports whether an aggregate was declined, which is always legal.
func (a *Answer) Declined() bool { return a.Err == nil && a.Status == http.StatusNoContent }

// Denied reports whether a request that is right but for its credentials was refused because of them.
func (a *Answer) Denied() bool {
	return a.Err == nil && slices.Contains([]int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden}, a.Status)
}

// RefusedWith returns what is wrong with an answer that must be a refusal with
// one of the codes, under the status of that code and in the envelope.
func (a *Answer) RefusedWith(codes ...wire.Code) *check.Finding {
	var list []string
	for _, code := range codes {
		list = append(list, fmt.Sprintf("%d %s", code.Status(), code))
	}
	expected := strings.Join(list, " or ")
	if a.Err != nil {
		return (&check.Finding{Detail: a.Err.Error(), Expected: expected}).From(a.Request)
	}
	e := a.Refusal()
	for _, code := range codes {
		if a.Status == code.Status() && e != nil && e.Code == code {
			return nil
		}
	}
	detail := fmt.Sprintf("answered %d", a.Status)
	switch {
	case a.Status >= 400 && e == nil:
		detail += " without the error envelope"
	case e != nil:
		detail += fmt.Sprintf(" with code %s", terms.QuoteName(string(e.Code)))
	}
	return check.Differs(expected, a.Describe(), "%s", detail).From(a.Request)
}
