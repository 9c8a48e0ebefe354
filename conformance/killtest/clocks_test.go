package killtest

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// clockIDs are the checks about deadlines and heartbeats.
const clockIDs = `^(P3\.5[a-h]|P3\.7[ab]|A\.35)$`

// TestClocksAreKept grades connectors that keep time, each in its way: none fails.
func TestClocksAreKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, why string
		options   func(*grading)
		build     func() http.Handler
		judged    string // a check that must have been judged
	}{
		{"the corpus", "it is what the checks are made for", nil, usual, "P3.5a P3.5b P3.5c P3.5d P3.5e P3.5f P3.5g P3.7a A.35"},
		{"the corpus, one request at a time", "limits.concurrency is 1", nil, func() http.Handler {
			return oneAtATime(serve(connector.Definition{Limits: wire.Limits{Concurrency: 1}}, corpusSource(), nil))
		}, "P3.5a P3.5d P3.7a"},
		{"three seconds for everything", "the source obeys its context", live, func() http.Handler { return sluggish(3 * time.Second) },
			"P3.5h"},
		{"a fraction of a second for everything", "a short deadline is kept too", live,
			func() http.Handler { return sluggish(80 * time.Millisecond) }, "P3.5h"},
		{"fifteen seconds for everything", "a silent stream pings", live, func() http.Handler { return sluggish(15 * time.Second) },
			"P3.5h P3.7b"},
		{"a far network", "what the network takes is no work of the connector", live,
			func() http.Handler { return distant(untouched()) }, ""},
		{"two pings", "more pings than are asked for", live, func() http.Handler {
			return linesOf("ping", func(line []byte, emit func(...string)) { emit(string(line), string(line)) })(sluggish(15 * time.Second))
		}, "P3.7b"},
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
			return delayed(func(string) time.Duration { return time.Duration(below(2)) * time.Second })(untouched())
		}, ""},
		{"a day of hiccups", "a busy machine is no ignored deadline", live, func() http.Handler {
			below := chance(1)
			return delayed(func(string) time.Duration { return time.Duration(below(400)) * time.Millisecond })(untouched())
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := grading{Options: conformance.Options{Match: clockIDs}}
			if c.options != nil {
				c.options(&g)
			}
			for g.Seed = 1; g.Seed <= 3; g.Seed++ {
				r := grade(t, c.build(), g)
				for _, o := range r.Outcomes {
					t.Log(o.ID, o.Verdict, o.Reason, o.Cases, o.Detail)
					require.NotContains(t, []conformance.Verdict{conformance.Fail, conformance.Advise}, o.Verdict, "%s, but %s: %s\n%s\n%s",
						c.why, o.ID, o.Detail, o.Expected, o.Received)
					require.NotEqual(t, conformance.Blocked, o.Reason, "%s %s", o.ID, o.Detail)
				}
				for _, id := range strings.Fields(c.judged) {
					require.Equal(t, conformance.Pass, r.Outcome(id).Verdict, "%s %s", id, r.Outcome(id).Detail)
				}
			}
		})
	}
}

// TestNoSlowTable requires that a run over the corpus without its table slow says
// what it could not judge, and how to have it judged.
func TestNoSlowTable(t *testing.T) {
	t.Parallel()
	r := grade(t, everything(nil), grading{Options: conformance.Options{Match: clockIDs}})
	text := strings.Join(strings.Fields(r.Text(false, false)), " ")
	require.Contains(t, text, "the corpus's table slow is not loaded")
	require.Contains(t, text, "P3.5a")
}

// delayed lets every answer wait, as a network does.
func delayed(by func(path string) time.Duration) layer {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(by(r.URL.Path))
			h.ServeHTTP(w, r)
		})
	}
}

// distant is 300 ms away.
func distant(h http.Handler) http.Handler {
	return delayed(func(string) time.Duration { return 300 * time.Millisecond })(h)
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
