package killtest

import (
	"bytes"
	"net/http"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// internalError is the body of a 500.
var internalError = map[string]any{"error": map[string]any{"code": wire.CodeInternal, "message": terms.InternalMessage}}

func slowFaults() []fault {
	slow := usual
	patient := func(path string) func() http.Handler {
		return over(slow, bodies(func(body map[string]any) {
			if integer(body, "timeoutMs") > 1 {
				body["timeoutMs"] = 60_000
			}
		}, path))
	}
	return []fault{
		{name: "timeoutMs of a query is ignored", why: "timeoutMs is enforced by the server",
			kills: []string{"P3.5a"}, build: patient(wire.PathQuery)},
		{name: "timeoutMs of a count is ignored", why: "timeoutMs is enforced by the server",
			kills: []string{"P3.5c"}, build: patient(wire.PathCount)},
		{name: "timeoutMs of an aggregate is ignored", why: "timeoutMs is enforced by the server",
			kills: []string{"P3.5c"}, build: patient(wire.PathAggregate)},
		{name: "an elapsed deadline is an internal error", why: "the request's own timeoutMs elapsed is a 408", kills: []string{"P3.5c"},
			build: over(slow, answers(func(body map[string]any, status int) (any, int) {
				if status == http.StatusRequestTimeout {
					return internalError, http.StatusInternalServerError
				}
				return body, status
			}, wire.PathCount))},
		{name: "deadlines are looked at with the heartbeat only",
			why: "a deadline ends a request while it waits, not when there is something to write", kills: []string{"P3.5a"},
			build: over(slow, bodies(func(body map[string]any) {
				if n := integer(body, "timeoutMs"); n > 1 && n < 10_000 {
					body["timeoutMs"] = 10_000
				}
			}, wire.PathQuery))},
		{name: "idleTimeoutMs is ignored", why: "no rows within the idle deadline is an error line timeout", kills: []string{"P3.5b"},
			build: over(slow, bodies(func(body map[string]any) { delete(body, "idleTimeoutMs") }, wire.PathQuery))},
		{name: "never pings", why: "a ping is written after 10 seconds without a batch", kills: []string{"P3.7a"},
			build: over(slow, linesOf("ping", func([]byte, func(...string)) {}))},
		{name: "begins and hangs", why: "neither deadline nor heartbeat waits for the source", kills: []string{"P3.5a", "P3.5b", "P3.7a"},
			client: "stream-5", build: func() http.Handler { return hanging(slow()) }},
		{name: "pings once", why: "a ping is written after every 10 seconds without a batch", kills: []string{"P3.7a"},
			build: func() http.Handler { return pingingOnce(slow()) }},
		{name: "rows are lost while waiting", why: "a stream that waits is as complete as any other", kills: []string{"P3.7a"},
			build: over(slow, lines(func(line []byte, emit func(...string)) {
				if rows := bytes.Contains(line, []byte(`"name":"three"`)); rows {
					line = []byte(`{"rows":[{"id":1,"name":"one"}]}` + "\n")
				}
				emit(string(line))
			}))},
	}
}

// hanging writes the first line of a stream of the table slow, and waits until
// the reader goes.
func hanging(h http.Handler) http.Handler {
	return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
		if r.URL.Path != wire.PathQuery || !bytes.Contains(*body, []byte(`"table":"slow"`)) {
			return false
		}
		stalls(terms.MediaNDJSON, served)(w, r)
		return true
	})(h)
}

// pingingOnce lets the first ping of a stream through.
func pingingOnce(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pinged := false
		linesOf("ping", func(line []byte, emit func(...string)) {
			if !pinged {
				emit(string(line))
			}
			pinged = true
		})(h).ServeHTTP(w, r)
	})
}
