package killtest

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestBadHostsEndSoon grades connectors that do not answer, or not at once. No run
// waits for them for longer than a minute, and a fault is told on one screen.
func TestBadHostsEndSoon(t *testing.T) {
	t.Parallel()
	everything := func(*http.Request) bool { return true }
	routes := func(paths ...string) func(*http.Request) bool {
		return func(r *http.Request) bool { return slices.Contains(paths, r.URL.Path) }
	}
	posts := func(r *http.Request) bool { return r.Method == http.MethodPost }
	unauthorized := func(r *http.Request) bool {
		return r.Method == http.MethodPost && (r.Header.Get("Authorization") != "Bearer "+testToken || r.URL.RawQuery != "")
	}
	full := func(match func(*http.Request) bool) func(*http.Request) bool {
		return func(r *http.Request) bool { return match(r) && len(bodyOf(r)) > 2 }
	}
	for i, c := range []struct {
		name  string
		match func(*http.Request) bool
		bad   http.HandlerFunc
		exit  int
		fails string // a failure
		most  time.Duration
	}{
		{"nothing is answered", everything, stalls("", ""), 2, "", 16 * time.Second},
		{"only headers are answered", everything, stalls("application/json", " "), 1, "P0.1", 16 * time.Second},
		{"a byte a second", everything, drip, 1, "P0.1", 16 * time.Second},
		{"only the document is answered", posts, stalls("", ""), 1, "P1.6", 21 * time.Second},
		{"routes answer headers", posts, stalls("application/json", " "), 1, "P1.6", 21 * time.Second},
		{"routes drip", posts, drip, 1, "P1.6", 21 * time.Second},
		{"all but /check hang", func(r *http.Request) bool { return posts(r) && r.URL.Path != wire.PathCheck },
			stalls("", ""), 1, "P3.1a", time.Minute},
		{"all but /check hang on real requests", full(func(r *http.Request) bool { return posts(r) && r.URL.Path != wire.PathCheck }),
			stalls("", ""), 1, "P3.1a", time.Minute},
		{"discovery hangs", routes(wire.PathDiscovery), stalls("", ""), 1, "P3.1a", time.Minute},
		{"discovery hangs on real requests", full(routes(wire.PathDiscovery)), stalls("", ""), 1, "", time.Minute},
		{"queries hang", full(routes(wire.PathQuery)), stalls("", ""), 1, "", time.Minute},
		{"queries hang after their first line", full(routes(wire.PathQuery)), stalls(terms.MediaNDJSON, served), 1, "", time.Minute},
		{"queries drip", full(routes(wire.PathQuery)), drip, 1, "", time.Minute},
		{"aggregates hang", full(routes(wire.PathAggregate)), stalls("", ""), 1, "", time.Minute},
		{"measurements hang", full(routes(wire.PathSize, wire.PathCardinality, wire.PathLinkHitRate)), stalls("", ""), 1, "", time.Minute},
		{"callers without the token wait", unauthorized, stalls("", ""), 1, "P1.1", time.Minute},
		{"callers without the token wait on one route",
			func(r *http.Request) bool { return unauthorized(r) && r.URL.Path == wire.PathCount }, stalls("", ""), 1, "P1.1", time.Minute},
	} {
		if !testrun.Runs(i, 4) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			right := untouched()
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_ = bodyOf(r) // a server that has not read it all does not notice that the caller leaves
				if c.match(r) {
					c.bad(w, r)
					return
				}
				right.ServeHTTP(w, r)
			})
			r := grade(t, h, grading{Options: conformance.Options{Mode: conformance.ModeLive, Requests: testrun.Budget(300)}})
			text := r.Text(false, false)
			t.Log(r.Duration, r.Coverage().Requests, "\n"+text)
			require.Equal(t, c.exit, r.Exit())
			require.LessOrEqual(t, r.Duration, c.most)
			require.Less(t, strings.Count(text, "\n"), 60)
			if c.fails != "" {
				require.Equal(t, conformance.Fail, r.Outcome(c.fails).Verdict)
			}
		})
	}
}

// drip answers a byte a second.
func drip(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", terms.MediaJSON)
	for {
		_, _ = w.Write([]byte(" "))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-time.After(time.Second):
		case <-r.Context().Done():
			return
		}
	}
}
