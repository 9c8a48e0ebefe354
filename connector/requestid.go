package connector

import (
	"context"
	"crypto/rand"
	"net/http"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// headerRequestID is the header in which a request's id comes and goes.
const headerRequestID = "X-Request-ID"

// maxRequestID limits an id that a caller sends.
const maxRequestID = 128

type requestIDKey struct{}

// RequestID returns the id of the request that a source is called for, or "". The
// library takes it from the header X-Request-ID, else from the trace id of
// traceparent, else it makes one. Every answer has it in the header X-Request-ID,
// and every line of the log under the key "request".
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// requestID returns the id that a request has or gets. An id that could be a
// token, or that no log should have to hold, is not taken.
func requestID(r *http.Request, token wire.Token) string {
	if ids := r.Header[http.CanonicalHeaderKey(headerRequestID)]; len(ids) == 1 && isRequestID(ids[0]) && !token.Matches(ids[0]) {
		return ids[0]
	}
	if parents := r.Header["Traceparent"]; len(parents) == 1 {
		if id := traceID(parents[0]); id != "" {
			return id
		}
	}
	return strings.ToLower(rand.Text())
}

// isRequestID reports whether an id is short and of letters, digits, '-', '_',
// '.' and ':' only.
func isRequestID(id string) bool {
	if id == "" || len(id) > maxRequestID {
		return false
	}
	for i := range len(id) {
		switch c := id[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-_.:", c) >= 0:
		default:
			return false
		}
	}
	return true
}

// traceID returns the trace id of a W3C traceparent, or "" if it is malformed.
func traceID(parent string) string {
	fields := strings.Split(parent, "-")
	if len(fields) < 4 || len(fields[0]) != 2 || len(fields[1]) != 32 || len(fields[2]) != 16 || len(fields[3]) != 2 {
		return ""
	}
	for _, field := range fields[:4] {
		if strings.Trim(field, "0123456789abcdef") != "" {
			return ""
		}
	}
	if strings.Trim(fields[1], "0") == "" {
		return ""
	}
	return fields[1]
}
