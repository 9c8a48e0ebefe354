package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The codes of errors that the document shows. It does not show which status each
// goes with, and there may be others.
const (
	CodeValidation   = "VALIDATION_ERROR"
	CodeUnauthorized = "UNAUTHORIZED"
	CodeForbidden    = "FORBIDDEN"
	CodeNotFound     = "NOT_FOUND"
	CodeRateLimited  = "RATE_LIMITED"
	CodeInternal     = "INTERNAL_ERROR"
)

// Error is the answer of the API that a call failed. Get it by errors.As.
type Error struct {
	Endpoint string
	Status   int
	// Code and Message are the API's own. They are empty if the body was not the
	// error envelope of the document.
	Code    string
	Message string
	// Field is the member details.field, which a validation error can have.
	Field   string
	Details map[string]json.RawMessage

	meaning string // of the status
}

// Error returns the endpoint, the status and what the API said.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: status %d", e.Endpoint, e.Status)
	if e.Code != "" {
		fmt.Fprintf(&b, " %s", e.Code)
	}
	if e.Message != "" {
		fmt.Fprintf(&b, ": %s", e.Message)
	} else {
		fmt.Fprintf(&b, ": %s", e.meaning)
	}
	if e.Field != "" {
		fmt.Fprintf(&b, " (field %s)", e.Field)
	}
	return b.String()
}

// AnswerError says that an answer is not what the document shows. It never quotes
// the answer, which may hold anything, the token included.
type AnswerError struct {
	Endpoint string
	Problem  string
}

// Error returns the endpoint and the problem.
func (e *AnswerError) Error() string { return e.Endpoint + ": " + e.Problem }

// unanswered is the error of a call without an answer. Its text has no token.
type unanswered struct {
	text  string
	cause error
}

func (e *unanswered) Error() string { return e.text }
func (e *unanswered) Unwrap() error { return e.cause }

// failed returns the error of a call without an answer.
func (c *Client) failed(ctx context.Context, e Endpoint, args *Args, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	text := e.Name() + ": no answer: " + clean(err.Error(), c.secrets(args))
	if e.Method != http.MethodGet {
		text += "; the API may have done what was asked"
	}
	return &unanswered{text, err}
}

// secrets returns what no error of a call may show: the token, and the address that
// an answer gave, because it may be signed.
func (c *Client) secrets(args *Args) wire.Credentials {
	if args.URL == "" {
		return c.token
	}
	values := c.token.Reveal()
	values["url"] = args.URL
	if u, err := url.Parse(args.URL); err == nil {
		values["query"] = u.RawQuery
		for name, all := range u.Query() {
			values["query "+name] = all[0]
		}
	}
	return wire.NewCredentials(values)
}

// maxErrorBody is how much of an error's body is read.
const maxErrorBody = 64 << 10

// refusal reads the error envelope of an answer.
func refusal(e Endpoint, res *http.Response, secrets wire.Credentials) error {
	failure := &Error{Endpoint: e.Name(), Status: res.StatusCode, meaning: statuses[res.StatusCode]}
	if !slices.Contains(e.Errors(), res.StatusCode) {
		failure.meaning = "the document does not name this status here; is the base address that of the API?"
	}
	var body struct {
		Error struct {
			Code    string                     `json:"code"`
			Message string                     `json:"message"`
			Details map[string]json.RawMessage `json:"details"`
		} `json:"error"`
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	if err != nil || json.Unmarshal(text, &body) != nil {
		return failure // its status says enough
	}
	failure.Code, failure.Message = clean(body.Error.Code, secrets), clean(body.Error.Message, secrets)
	for name, value := range body.Error.Details {
		if failure.Details == nil {
			failure.Details = map[string]json.RawMessage{}
		}
		failure.Details[clean(name, secrets)] = rewritten(value, secrets)
		var field string
		if name == "field" && json.Unmarshal(value, &field) == nil {
			failure.Field = clean(field, secrets)
		}
	}
	return failure
}

// maxMessage limits a text of the API in an error.
const maxMessage = 500

// clean returns a text of the API for an error: without secrets, on one line and not
// longer than maxMessage.
func clean(text string, secrets wire.Credentials) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, secrets.Scrub(text))
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + "..."
	}
	return text
}

// rewritten returns a JSON value without secrets, whichever way they were escaped.
func rewritten(value json.RawMessage, secrets wire.Credentials) json.RawMessage {
	var decoded any
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	if decoder.Decode(&decoded) != nil {
		return nil
	}
	var plain bytes.Buffer
	encoder := json.NewEncoder(&plain)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(decoded) // what was decoded can be encoded
	return json.RawMessage(strings.TrimSpace(secrets.Scrub(plain.String())))
}
