package connector

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// maxBodyTime limits how long a request's body may take to arrive.
const maxBodyTime = time.Minute

// body reads the request's body to its end. Only then does net/http notice that
// the client leaves.
func (x *exchange) body() ([]byte, error) {
	for _, encoding := range x.r.Header.Values("Content-Encoding") {
		if encoding != "" && !strings.EqualFold(encoding, "identity") {
			return nil, BadRequest("Content-Encoding: send the body as it is, without compression")
		}
	}
	limit := x.service.opts.MaxRequestBytes
	if x.r.ContentLength > limit {
		return nil, BadRequest("body: larger than %d bytes", limit)
	}
	// A body that trickles must not hold the connection. A server with a
	// ReadTimeout bounds it already.
	if server, ok := x.r.Context().Value(http.ServerContextKey).(*http.Server); !ok || server.ReadTimeout <= 0 {
		_ = x.reply.conn.control.SetReadDeadline(x.arrived.Add(min(maxBodyTime, x.service.opts.MaxTimeout)))
	}
	data, err := io.ReadAll(io.LimitReader(x.r.Body, limit+1))
	x.reply.stats.BytesRead = int64(len(data))
	if err != nil {
		return nil, BadRequest("body: could not be read to its end")
	}
	// A read deadline that is left, such as the server's ReadTimeout, would end
	// the request's context in the middle of a long stream.
	_ = x.reply.conn.control.SetReadDeadline(time.Time{})
	if int64(len(data)) > limit {
		return nil, BadRequest("body: larger than %d bytes", limit)
	}
	return data, nil
}

// accept decodes a body into a request, which creds and table are parts of, and
// admits the request. Table is nil if the request has none.
func (x *exchange) accept(body []byte, req wire.Request, creds *wire.Credentials, table *string) error {
	if err := x.decode(body, req); err != nil {
		return err
	}
	return x.admit(creds, table)
}

func (x *exchange) decode(body []byte, req wire.Request) error {
	err := wire.Decode(body, req)
	if err == nil {
		return nil
	}
	var wrong *wire.MessageError
	if errors.As(err, &wrong) && wrong.Path == "credentials" {
		if key := x.service.connectForm.noText(body); key != "" {
			return BadRequest("credentials.%s: must be a string", key)
		}
	}
	return BadRequest("%s", err)
}

// admit keeps the declared credentials and refuses a request that lacks a
// required one. On /check the message is for the person at the form.
func (x *exchange) admit(creds *wire.Credentials, table *string) error {
	x.reply.log.secrets = *creds
	*creds = x.service.connectForm.declared(*creds)
	x.creds = *creds
	if table != nil {
		x.reply.log.table = *table
	}
	switch field := x.service.connectForm.missing(*creds); {
	case field == nil:
		return nil
	case x.reply.log.route == wire.PathCheck:
		return CheckFailed("%s is required.", field.Label)
	default:
		return BadRequest("credentials.%s: required", field.Key)
	}
}
