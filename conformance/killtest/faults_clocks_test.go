package killtest

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// routePaths are the paths of all POST routes.
var routePaths = []string{wire.PathCheck, wire.PathDiscovery, wire.PathQuery, wire.PathCount, wire.PathAggregate, wire.PathSize,
	wire.PathCardinality, wire.PathLinkHitRate}

// clocksFaults returns connectors that keep time badly: first over the corpus's
// table slow, then over live data that takes its time.
func clocksFaults() []fault {
	list := []fault{
		{name: "a join puts timeoutMs off", why: "timeoutMs is enforced by the server", kills: []string{"P3.5g"},
			build: slowWith(func(body map[string]any) {
				if joins, _ := body["joins"].([]any); len(joins) > 0 {
					body["timeoutMs"] = 60_000
				}
			})},
		{name: "timeoutMs ends with the first line", why: "a request that takes longer than timeoutMs ends, its stream too",
			kills: []string{"P3.5e"}, client: "stream-5", build: slowWith(func(body map[string]any) { body["maxTimeoutMs"] = 3_600_000 })},
		{name: "a ping starts the idle clock anew", why: "no rows within the idle deadline is a timeout; a ping is no row",
			kills: []string{"P3.5f"}, build: slowWith(func(body map[string]any) {
				if integer(body, "idleTimeoutMs") > 10_000 {
					delete(body, "idleTimeoutMs")
				}
			})},
		{name: "maxTimeoutMs is ignored", why: "maxTimeoutMs bounds a stream that has begun", kills: []string{"A.35"},
			build: slowWith(func(body map[string]any) { delete(body, "maxTimeoutMs") })},
		{name: "timeoutMs in seconds", why: "it is milliseconds", kills: []string{"P3.5a"}, build: slowWith(scaled("timeoutMs", 1000))},
		{name: "timeoutMs in minutes", why: "it is milliseconds", kills: []string{"P3.5a"}, build: slowWith(scaled("timeoutMs", 60_000))},
		{name: "idleTimeoutMs in seconds", why: "it is milliseconds", kills: []string{"P3.5b"}, build: slowWith(scaled("idleTimeoutMs", 1000))},
		{name: "timeoutMs in microseconds", why: "a timeout is answered when timeoutMs has elapsed", kills: []string{"P3.5a"},
			build: slowWith(func(body map[string]any) { body["timeoutMs"] = max(1, integer(body, "timeoutMs")/1000) })},
		{name: "timeoutMs taken for idleTimeoutMs", why: "the idle clock has a deadline of its own", kills: []string{"P3.5b"},
			build: slowWith(func(body map[string]any) { body["idleTimeoutMs"] = body["timeoutMs"] })},
		{name: "the larger of the two clocks counts", why: "each clock ends the request", kills: []string{"P3.5a", "P3.5b"},
			build: slowWith(func(body map[string]any) {
				larger := max(integer(body, "timeoutMs"), integer(body, "idleTimeoutMs"))
				body["timeoutMs"], body["idleTimeoutMs"] = larger, larger
			})},
		{name: "an error line of the deadline says internal", why: "the code of an elapsed deadline is timeout", kills: []string{"P3.5e"},
			build: slowLines(func(line string) []string {
				return []string{strings.Replace(line, `"code":"timeout"`, `"code":"internal"`, 1)}
			})},
		{name: "an end follows the deadline's error line", why: "terminal; no end follows", kills: []string{"P3.5e", "P3.6e"},
			build: slowLines(func(line string) []string { return []string{line, `{"end":1}` + "\n"} })},
		{name: "a deadline cuts the stream without a word", why: "an elapsed deadline is an error line",
			kills: []string{"P3.5e"}, client: "stream-13",
			build: slowLines(func(string) []string { return nil })},
		{name: "a deadline ends the stream as if it were whole", why: "an elapsed deadline is an error line, not an end",
			kills: []string{"P3.5e"}, build: slowLines(func(string) []string { return []string{`{"end":1}` + "\n"} })},
		{name: "an elapsed deadline counts nothing", why: "a wrong number is never legal; an elapsed deadline is a 408",
			kills: []string{"P3.5c"}, build: over(usual, timeouts(map[string]any{"count": 0}, http.StatusOK, wire.PathCount))},
		{name: "an elapsed deadline is a bad gateway", why: "the request's own timeoutMs elapsed is a 408", kills: []string{"P3.5d"},
			build: over(usual, timeouts(map[string]any{"error": map[string]any{"code": "timeout", "message": "late"}},
				http.StatusGatewayTimeout, wire.PathCardinality))},
		{name: "a stream is written when it is whole", why: "a ping is written after 10 seconds without a batch", kills: []string{"P3.7a"},
			build: func() http.Handler { return buffered(usual()) }},
	}
	for _, path := range []string{wire.PathSize, wire.PathCardinality, wire.PathLinkHitRate} {
		list = append(list, fault{name: "timeoutMs of " + path + " is ignored", why: "timeoutMs is enforced by the server",
			kills: []string{"P3.5d"}, build: over(usual, bodies(scaled("timeoutMs", 1000), path))})
	}
	return append(list, liveClocksFaults()...)
}

// liveClocksFaults returns slow connectors over live data that keep time badly.
func liveClocksFaults() []fault {
	hour := func(paths ...string) func() http.Handler {
		return func() http.Handler {
			return bodies(func(body map[string]any) { body["timeoutMs"] = 3_600_000 }, paths...)(sluggish(3 * time.Second))
		}
	}
	list := []fault{
		{name: "every timeoutMs is an hour, live", why: "timeoutMs is enforced by the server",
			kills: []string{"P3.5h"}, options: unhurried, build: hour(routePaths...)},
		{name: "a deadline is an internal error, live", why: "an elapsed deadline is a timeout", kills: []string{"P3.5h"}, options: unhurried,
			build: func() http.Handler {
				return timeouts(internalError, http.StatusInternalServerError, wire.PathAggregate)(sluggish(time.Second))
			}},
		{name: "a deadline answers what it has, live", why: "a wrong number is never legal; an elapsed deadline is a 408",
			kills: []string{"P3.5h"}, options: unhurried,
			build: func() http.Handler {
				return timeouts(map[string]any{"count": 1}, http.StatusOK, wire.PathCount)(sluggish(time.Second))
			}},
		{name: "a deadline ends a stream as if it were whole, live", why: "an elapsed deadline is an error line, not an end",
			kills: []string{"P3.5h"}, options: unhurried,
			build: func() http.Handler { return endingEarly(sluggish(time.Second)) }},
		{name: "deadlines are looked at every ten seconds, live", why: "timeoutMs is enforced by the server",
			kills: []string{"P3.5h"}, options: unhurried,
			build: func() http.Handler {
				return bodies(func(body map[string]any) {
					body["timeoutMs"] = (integer(body, "timeoutMs")/10_000 + 1) * 10_000
				}, wire.PathCount, wire.PathSize)(sluggish(25 * time.Second))
			}},
		{name: "never pings, live", why: "a ping is written after 10 seconds without a batch", kills: []string{"P3.7b"}, options: unhurried,
			build: func() http.Handler {
				return linesOf("ping", func([]byte, func(...string)) {})(sluggish(15 * time.Second))
			}},
		{name: "a stream is written when it is whole, live", why: "a ping is written after 10 seconds without a batch",
			kills: []string{"P3.7b"}, options: unhurried,
			build: func() http.Handler { return buffered(sluggish(15 * time.Second)) }},
		{name: "every second ping is lost, live", why: "a ping is written after every 10 seconds without a batch",
			kills: []string{"P3.7b"}, options: unhurried,
			build: func() http.Handler { return pingingOnce(sluggish(25 * time.Second)) }},
	}
	for _, path := range routePaths {
		list = append(list, fault{name: "timeoutMs of " + path + " is an hour, live", why: "timeoutMs is enforced by the server",
			kills: []string{"P3.5h"}, options: unhurried, build: hour(path)})
	}
	return list
}

// unhurried lets a run over live data take as long as it takes.
func unhurried(g *grading) {
	live(g)
	g.Timeout = 24 * time.Hour
}

// slowWith returns the corpus with the table slow, whose queries are changed before
// they are read.
func slowWith(edit func(body map[string]any)) func() http.Handler {
	return over(usual, bodies(edit, wire.PathQuery))
}

// slowLines returns the corpus with the table slow, whose error lines are replaced.
func slowLines(edit func(line string) []string) func() http.Handler {
	return over(usual, linesOf("error", func(line []byte, emit func(...string)) { emit(edit(string(line))...) }))
}

// scaled takes a clock's milliseconds for longer units.
func scaled(clock string, by int64) func(body map[string]any) {
	return func(body map[string]any) {
		if n := integer(body, clock); n > 1 {
			body[clock] = n * by
		}
	}
}

// timeouts replaces the 408s of a path.
func timeouts(answer any, status int, path string) layer {
	return answers(func(body map[string]any, was int) (any, int) {
		if was == http.StatusRequestTimeout {
			return answer, status
		}
		return body, was
	}, path)
}

// buffered writes a stream when it is whole.
func buffered(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != wire.PathQuery {
			h.ServeHTTP(w, r)
			return
		}
		recorded(w, r, h, func(*httptest.ResponseRecorder) {})
	})
}

// endingEarly answers a query whose deadline has elapsed with a whole stream of no
// rows.
func endingEarly(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != wire.PathQuery {
			h.ServeHTTP(w, r)
			return
		}
		recorded(w, r, h, func(rec *httptest.ResponseRecorder) {
			if rec.Code == http.StatusRequestTimeout {
				rec.Code = http.StatusOK
				rec.Header().Set("Content-Type", terms.MediaNDJSON)
				rec.Body = bytes.NewBufferString(served + `{"end":1}` + "\n")
			}
		})
	})
}

// sluggish returns the shop, which takes its time for everything and obeys the
// context while it does.
func sluggish(pause time.Duration) http.Handler {
	wait := func(ctx context.Context, call connector.Call, next func(context.Context) error) error {
		if call.Method != "Describe" {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return next(ctx)
	}
	return serve(connector.Definition{}, liveShop(), &connector.Options{Intercept: wait})
}
