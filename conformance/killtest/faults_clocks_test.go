package killtest

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// routePaths are the paths of all POST routes.
var routePaths = []string{wire.PathCheck, wire.PathDiscovery, wire.PathQuery, wire.PathCount, wire.PathAggregate, wire.PathSize,
	wire.PathCardinality, wire.PathLinkHitRate}

// wholePaths are the paths whose answers are no streams.
var wholePaths = slices.DeleteFunc(append([]string{wire.PathDocument}, routePaths...),
	func(path string) bool { return path == wire.PathQuery })

// clockFaults are connectors that keep time badly over the corpus's table slow.
var clockFaults = []fault{
	broken("a join puts timeoutMs off", "timeoutMs is enforced by the server", "P3.5g",
		over(usual, onlyFor(wire.PathQuery, asks("joins>0"), bodies(sets("timeoutMs", 60_000), wire.PathQuery)))),
	broken("timeoutMs ends with the first line", "a request that takes longer than timeoutMs ends, its stream too", "P3.5e",
		slowWith(sets("maxTimeoutMs", 3_600_000))).refused("stream-5"),
	broken("a ping starts the idle clock anew", "no rows within the idle deadline is a timeout; a ping is no row", "P3.5f",
		slowWith(where(asks("idleTimeoutMs>10000"), drops("idleTimeoutMs")))),
	broken("maxTimeoutMs is ignored", "maxTimeoutMs bounds a stream that has begun", "A.35",
		slowWith(drops("maxTimeoutMs"))),
	broken("timeoutMs in seconds", "it is milliseconds", "P3.5a", slowWith(scaled("timeoutMs", 1000))),
	broken("timeoutMs in minutes", "it is milliseconds", "P3.5a", slowWith(scaled("timeoutMs", 60_000))),
	broken("idleTimeoutMs in seconds", "it is milliseconds", "P3.5b", slowWith(scaled("idleTimeoutMs", 1000))),
	broken("timeoutMs in microseconds", "a timeout is answered when timeoutMs has elapsed", "P3.5a",
		slowWith(func(body map[string]any) { body["timeoutMs"] = max(1, integer(body, "timeoutMs")/1000) })),
	broken("timeoutMs taken for idleTimeoutMs", "the idle clock has a deadline of its own", "P3.5b",
		slowWith(func(body map[string]any) { body["idleTimeoutMs"] = body["timeoutMs"] })),
	broken("the larger of the two clocks counts", "each clock ends the request", "P3.5a, P3.5b",
		slowWith(func(body map[string]any) {
			larger := max(integer(body, "timeoutMs"), integer(body, "idleTimeoutMs"))
			body["timeoutMs"], body["idleTimeoutMs"] = larger, larger
		})),
	broken("an error line of the deadline says internal", "the code of an elapsed deadline is timeout", "P3.5e",
		slowLines(func(line string) []string {
			return []string{strings.Replace(line, `"code":"timeout"`, `"code":"internal"`, 1)}
		})),
	broken("an end follows the deadline's error line", "terminal; no end follows", "P3.5e, P3.6e",
		slowLines(func(line string) []string { return []string{line, `{"end":1}` + "\n"} })),
	broken("a deadline cuts the stream without a word", "an elapsed deadline is an error line", "P3.5e",
		slowLines(func(string) []string { return nil })).refused("stream-13"),
	broken("a deadline ends the stream as if it were whole", "an elapsed deadline is an error line, not an end", "P3.5e",
		slowLines(func(string) []string { return []string{`{"end":1}` + "\n"} })),
	broken("an elapsed deadline counts nothing", "a wrong number is never legal; an elapsed deadline is a 408", "P3.5c",
		over(usual, replacing(http.StatusRequestTimeout, map[string]any{"count": 0}, http.StatusOK, wire.PathCount))),
	broken("an elapsed deadline is a bad gateway", "the request's own timeoutMs elapsed is a 408", "P3.5d",
		over(usual, replacing(http.StatusRequestTimeout, envelope("timeout", "late"), http.StatusGatewayTimeout, wire.PathCardinality))),
	broken("a stream is written when it is whole", "a ping is written after 10 seconds without a batch", "P3.7a",
		over(usual, buffered)),
	ignoredOn(wire.PathSize), ignoredOn(wire.PathCardinality), ignoredOn(wire.PathLinkHitRate),
}

const (
	enforced = "timeoutMs is enforced by the server"
	pinged   = "a ping is written after 10 seconds without a batch"
)

func ignoredOn(path string) fault {
	return broken("timeoutMs of "+path+" is ignored", enforced, "P3.5d", over(usual, bodies(scaled("timeoutMs", 1000), path)))
}

// slowLive returns a fault of the shop that takes its time, in a run that takes as long as it takes.
func slowLive(name, why, kill string, pause time.Duration, l layer) fault {
	return broken(name, why, kill, over(sluggish(pause), l)).graded(func(g *grading) { live(g); g.Timeout = 24 * time.Hour })
}

func hourly(paths ...string) layer { return bodies(sets("timeoutMs", 3_600_000), paths...) }

func hourlyOn(path string) fault {
	return slowLive("timeoutMs of "+path+" is an hour, live", enforced, "P3.5h", 3*time.Second, hourly(path))
}

// liveClockFaults are slow connectors over live data that keep time badly.
var liveClockFaults = []fault{
	slowLive("every timeoutMs is an hour, live", enforced, "P3.5h", 3*time.Second, hourly(routePaths...)),
	slowLive("a deadline is an internal error, live", "an elapsed deadline is a timeout", "P3.5h", time.Second,
		replacing(http.StatusRequestTimeout, internalError, http.StatusInternalServerError, wire.PathAggregate)),
	slowLive("a deadline answers what it has, live", "a wrong number is never legal; an elapsed deadline is a 408", "P3.5h", time.Second,
		replacing(http.StatusRequestTimeout, map[string]any{"count": 1}, http.StatusOK, wire.PathCount)),
	slowLive("a deadline ends a stream as if it were whole, live", "an elapsed deadline is an error line, not an end", "P3.5h", time.Second,
		withStatus(http.StatusRequestTimeout, func(_ *http.Request, rec *httptest.ResponseRecorder) {
			rec.Code = http.StatusOK
			rec.Header().Set("Content-Type", terms.MediaNDJSON)
			rec.Body = bytes.NewBufferString(noRows)
		}, wire.PathQuery)),
	slowLive("deadlines are looked at every ten seconds, live", enforced, "P3.5h", 25*time.Second, bodies(func(body map[string]any) {
		body["timeoutMs"] = (integer(body, "timeoutMs")/10_000 + 1) * 10_000
	}, wire.PathCount, wire.PathSize)),
	slowLive("never pings, live", pinged, "P3.7b", 15*time.Second, linesOf("ping", func([]byte, func(...string)) {})),
	slowLive("a stream is written when it is whole, live", pinged, "P3.7b", 15*time.Second, buffered),
	slowLive("every second ping is lost, live", "a ping is written after every 10 seconds without a batch", "P3.7b",
		25*time.Second, pingingOnce),
	hourlyOn(wire.PathCheck), hourlyOn(wire.PathDiscovery), hourlyOn(wire.PathQuery), hourlyOn(wire.PathCount),
	hourlyOn(wire.PathAggregate), hourlyOn(wire.PathSize), hourlyOn(wire.PathCardinality), hourlyOn(wire.PathLinkHitRate),
}

// slowWith returns the corpus with the table slow, whose queries are changed before they are read.
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

// buffered writes a stream when it is whole.
var buffered = answered(func(*http.Request, *httptest.ResponseRecorder) {}, wire.PathQuery)

// sluggish returns the shop, which takes its time for everything and obeys the context while it does.
func sluggish(pause time.Duration) func() http.Handler {
	return func() http.Handler {
		return serve(connector.Definition{}, liveShop(), &connector.Options{
			Intercept: pausing(func(connector.Call) time.Duration { return pause })})
	}
}

// internalError is the body of a 500.
var internalError = envelope(string(wire.CodeInternal), terms.InternalMessage)

func slowly(name, why, kills string, l layer) fault { return broken(name, why, kills, over(usual, l)) }

func ignoringTimeout(name, kill, path string) fault {
	return slowly(name, enforced, kill, bodies(where(asks("timeoutMs>1"), sets("timeoutMs", 60_000)), path))
}

var slowFaults = []fault{
	ignoringTimeout("timeoutMs of a query is ignored", "P3.5a", wire.PathQuery),
	ignoringTimeout("timeoutMs of a count is ignored", "P3.5c", wire.PathCount),
	ignoringTimeout("timeoutMs of an aggregate is ignored", "P3.5c", wire.PathAggregate),
	slowly("an elapsed deadline is an internal error", "the request's own timeoutMs elapsed is a 408", "P3.5c",
		replacing(http.StatusRequestTimeout, internalError, http.StatusInternalServerError, wire.PathCount)),
	slowly("deadlines are looked at with the heartbeat only",
		"a deadline ends a request while it waits, not when there is something to write", "P3.5a", bodies(
			where(asks("timeoutMs>1", "!timeoutMs>9999"), sets("timeoutMs", 10_000)), wire.PathQuery)),
	slowly("idleTimeoutMs is ignored", "no rows within the idle deadline is an error line timeout", "P3.5b",
		bodies(drops("idleTimeoutMs"), wire.PathQuery)),
	slowly("never pings", "a ping is written after 10 seconds without a batch", "P3.7a", linesOf("ping", func([]byte, func(...string)) {})),
	slowly("begins and hangs", "neither deadline nor heartbeat waits for the source", "P3.5a, P3.5b, P3.7a", hanging).refused("stream-5"),
	slowly("pings once", "a ping is written after every 10 seconds without a batch", "P3.7a", pingingOnce),
	slowly("rows are lost while waiting", "a stream that waits is as complete as any other", "P3.7a",
		lines(func(line []byte, emit func(...string)) {
			if rows := bytes.Contains(line, []byte(`"name":"three"`)); rows {
				line = []byte(`{"rows":[{"id":1,"name":"one"}]}` + "\n")
			}
			emit(string(line))
		})),
}

// hanging writes the first line of a stream of the table slow, and waits until the reader goes.
var hanging = between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
	if r.URL.Path != wire.PathQuery || !bytes.Contains(*body, []byte(`"table":"slow"`)) {
		return false
	}
	stalls(terms.MediaNDJSON, served)(w, r)
	return true
})

// pingingOnce lets the first ping of a stream through.
var pingingOnce = withRequest(func(*http.Request) layer {
	pinged := false
	return linesOf("ping", func(line []byte, emit func(...string)) {
		if !pinged {
			emit(string(line))
		}
		pinged = true
	})
})

// clockIDs are the checks about deadlines and heartbeats.
const clockIDs = `^(P3\.5[a-h]|P3\.7[ab]|A\.35)$`

// TestClocksAreKept grades connectors that keep time, each in its way: none fails.
func TestClocksAreKept(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		name, why string
		options   func(*grading)
		build     func() http.Handler
		judged    string // a check that must have been judged
	}{
		{"the corpus", "it is what the checks are made for", nil, usual, "P3.5a P3.5b P3.5c P3.5d P3.5e P3.5f P3.5g P3.7a A.35"},
		{"the corpus, one request at a time", "limits.concurrency is 1", nil, over(limited(wire.Limits{Concurrency: 1}), oneAtATime),
			"P3.5a P3.5d P3.7a"},
		{"three seconds for everything", "the source obeys its context", live, sluggish(3 * time.Second), "P3.5h"},
		{"a fraction of a second for everything", "a short deadline is kept too", live, sluggish(80 * time.Millisecond), "P3.5h"},
		{"fifteen seconds for everything", "a silent stream pings", live, sluggish(15 * time.Second), "P3.5h P3.7b"},
		{"a far network", "what the network takes is no work of the connector", live,
			over(untouched, delayed(late(300*time.Millisecond))), ""},
		{"two pings", "more pings than are asked for", live, over(sluggish(15*time.Second), linesOf("ping",
			func(line []byte, emit func(...string)) { emit(string(line), string(line)) })), "P3.7b"},
		{"a measurement from a statistic", "what is known needs no waiting", nil, func() http.Handler {
			return serve(connector.Definition{}, corpusSource(), &connector.Options{
				Intercept: func(ctx context.Context, call connector.Call, next func(context.Context) error) error {
					if slices.Contains([]string{"Size", "Cardinality", "LinkHitRate"}, call.Method) {
						return next(ctx)
					}
					return stall(ctx, call, next)
				},
			})
		}, "P3.5c P3.7a"},
		{"now fast, now slow", "an answer may come from somebody's cache", live, func() http.Handler {
			below := chance(1)
			return delayed(func(*http.Request) time.Duration { return time.Duration(below(2)) * time.Second })(untouched())
		}, ""},
		{"a day of hiccups", "a busy machine is no ignored deadline", live, func() http.Handler {
			below := chance(1)
			return delayed(func(*http.Request) time.Duration { return time.Duration(below(400)) * time.Millisecond })(untouched())
		}, ""},
	} {
		if !testrun.Runs(i, 4) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := with(c.options, matching(clockIDs))
			for g.Seed = 1; g.Seed == 1 || testrun.InFull() && g.Seed <= 3; g.Seed++ {
				r := grade(t, c.build(), g)
				r.nothingFound(t, c.why, conformance.Advise, conformance.Blocked)
				r.has(t, conformance.Pass, strings.Fields(c.judged)...)
			}
		})
	}
}

// TestNoSlowTable requires that a run over the corpus without its table slow says
// what it could not judge, and how to have it judged.
func TestNoSlowTable(t *testing.T) {
	t.Parallel()
	r := grade(t, plain(), with(matching(clockIDs)))
	text := strings.Join(strings.Fields(r.Text(false, false)), " ")
	require.Contains(t, text, "the corpus's table slow is not loaded")
	require.Contains(t, text, "P3.5a")
}

// delayed lets every answer wait, as a network does.
func delayed(by func(r *http.Request) time.Duration) layer {
	return between(func(_ http.ResponseWriter, r *http.Request, _ *[]byte) bool {
		select {
		case <-time.After(by(r)):
			return false
		case <-r.Context().Done():
			return true
		}
	})
}

// late returns the same delay for everything.
func late(by time.Duration) func(*http.Request) time.Duration {
	return func(*http.Request) time.Duration { return by }
}

// oneAtATime refuses a request while another is under way.
func oneAtATime(h http.Handler) http.Handler {
	busy := make(chan struct{}, 1)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case busy <- struct{}{}:
			defer func() { <-busy }()
			h.ServeHTTP(w, r)
		default:
			w.WriteHeader(http.StatusTooManyRequests)
		}
	})
}
