package killtest

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// hostile returns a connector over the corpus, parts of which an attacker has taken over.
func hostile(routes map[string]http.HandlerFunc) http.Handler {
	good := usual()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h, ok := routes[r.URL.Path]; ok {
			h(w, r)
			return
		}
		if h, ok := routes["*"]; ok {
			h(w, r)
			return
		}
		good.ServeHTTP(w, r)
	})
}

func text(status int, media, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// endless writes a beginning and then the same part for ever.
func endless(media, begin, part string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", media)
		part := []byte(strings.Repeat(part, 1+(32<<10)/len(part)))
		_, err := io.WriteString(w, begin)
		for err == nil {
			_, err = w.Write(part)
		}
	}
}

// stalls writes a beginning and then nothing until the client leaves.
func stalls(media, begin string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", media)
		if begin != "" {
			_, _ = io.WriteString(w, begin)
			_ = http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
	}
}

// raw answers with bytes that are no HTTP, or HTTP without an end.
func raw(begin, part string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		_, err = io.WriteString(conn, begin)
		for err == nil && part != "" {
			_, err = io.WriteString(conn, part)
		}
	}
}

// patient are the options of a run that waits for every answer.
var patient = conformance.Options{Timeout: 100 * time.Hour}

const (
	served = `{"served":{"filters":true,"sort":true,"window":true}}` + "\n"
	row    = `{"id":1,"text":"x"}`
)

// longRows is the hostile connector of which most is read.
const longRows = "long rows for ever"

// TestHostileConnectors grades connectors that do anything but answer. Each run must end by itself, with the right exit
// code and a line that says what was found, within bounded memory.
func TestHostileConnectors(t *testing.T) {
	testrun.Long(t)
	for _, c := range []struct {
		name, why string
		routes    map[string]http.HandlerFunc
		exit      int
		fails     []string // checks
		problem   string
		options   conformance.Options
	}{
		{"HTML everywhere", "a login page, or a host that has no connector",
			map[string]http.HandlerFunc{"*": text(200, "text/html", "<!doctype html><title>Sign in</title>")},
			1, []string{"P0.3", "P0.5"}, "", conformance.Options{}},
		{"502 everywhere", "a proxy whose upstream is down",
			map[string]http.HandlerFunc{"*": text(502, "text/html", "<h1>Bad Gateway</h1>")}, 1, []string{"P0.1"}, "",
			conformance.Options{}},
		{"an endless document", "is read to its limit",
			map[string]http.HandlerFunc{wire.PathDocument: endless("application/json",
				`{"protocolVersion":1,"slug":"`, "x")}, 1, []string{"P0.4"}, "", conformance.Options{}},
		{"a document that stalls", "every wait has an end",
			map[string]http.HandlerFunc{wire.PathDocument: stalls("application/json", `{"protocolVersion":1`)}, 1,
			[]string{"P0.1"}, "", conformance.Options{}},
		{"a document nested for ever", "no recursion without a bound",
			map[string]http.HandlerFunc{wire.PathDocument: text(200, "application/json",
				strings.Repeat("[", 60_000))}, 1, []string{"P0.5"}, "", conformance.Options{}},
		{"an answer that never comes", "the overall timeout ends it",
			map[string]http.HandlerFunc{"*": stalls("", "")}, 2, nil, "", conformance.Options{}},
		{"no HTTP", "another protocol on the port",
			map[string]http.HandlerFunc{"*": raw("SSH-2.0-OpenSSH_9.6\r\n", "")}, 2, nil,
			"no answer for the document", conformance.Options{}},
		{"an endless header", "is read to its limit",
			map[string]http.HandlerFunc{"*": raw("HTTP/1.1 200 OK\r\n", "X-Y: "+strings.Repeat("z", 1000)+"\r\n")}, 2,
			nil, "no answer for the document", conformance.Options{}},
		{"endless informational answers", "are not waited for for ever",
			map[string]http.HandlerFunc{"*": raw("", "HTTP/1.1 103 Early Hints\r\n\r\n")}, 2, nil,
			"no answer for the document", conformance.Options{}},
		{"an endless discovery", "is read to its limit",
			map[string]http.HandlerFunc{wire.PathDiscovery: endless("application/json", `{"tables":[],"warnings":["`,
				"x")}, 1, []string{"P3.1a"}, "", conformance.Options{Match: `^P3[.]1a$`}},
		{"a discovery that stalls", "every wait has an end",
			map[string]http.HandlerFunc{wire.PathDiscovery: stalls("application/json", `{"tables":[`)}, 1,
			[]string{"P3.1a"}, "", patient},
		{"rows for ever", "no more are read than the row budget",
			map[string]http.HandlerFunc{wire.PathQuery: endless(terms.MediaNDJSON, served, `{"rows":[`+row+`]}`+"\n")},
			1, nil, "", conformance.Options{RowBudget: 2_000}},
		{longRows, "no more are held than memory allows",
			map[string]http.HandlerFunc{wire.PathQuery: endless(terms.MediaNDJSON, served,
				`{"rows":[{"id":1,"text":"`+strings.Repeat("x", 100_000)+`"}]}`+"\n")},
			0, nil, "", conformance.Options{Match: `^P3\.6c$`}}, // which its batches obey
		{"a batch without an end", "a line has a limit",
			map[string]http.HandlerFunc{wire.PathQuery: endless(terms.MediaNDJSON, served+`{"rows":[`+row, ","+row)},
			1, []string{"P3.6d"}, "", conformance.Options{Match: `^P3[.]6d$`}},
		{"pings for ever", "a stream of nothing ends too",
			map[string]http.HandlerFunc{wire.PathQuery: endless(terms.MediaNDJSON, served, `{"ping":1}`+"\n")}, 1, nil,
			"", conformance.Options{Match: `^P3[.]6[cg]$`}},
		{"empty lines for ever", "and one of less",
			map[string]http.HandlerFunc{wire.PathQuery: endless(terms.MediaNDJSON, served, "\n")}, 1, nil, "",
			conformance.Options{Match: `^P3[.]6[cg]$`}},
		{"a stream that stops", "in time, although the connection stays",
			map[string]http.HandlerFunc{wire.PathQuery: stalls(terms.MediaNDJSON, served+`{"rows":[`+row+`]}`+"\n")},
			1, []string{"P3.6g"}, "", patient},
		{"a stream that stops in a row", "in time, although the connection stays",
			map[string]http.HandlerFunc{wire.PathQuery: stalls(terms.MediaNDJSON, served+`{"rows":[{"id":1,`)}, 1,
			[]string{"P3.6g"}, "", patient},
		{"a stream nested for ever", "no recursion without a bound",
			map[string]http.HandlerFunc{wire.PathQuery: endless(terms.MediaNDJSON, served+`{"rows":[{"id":`, "[")}, 1,
			nil, "", conformance.Options{Match: `^P3[.]6[a-g]$`}},
		{"everything else is HTML", "the document alone is one", map[string]http.HandlerFunc{
			wire.PathCheck: html, wire.PathDiscovery: html, wire.PathQuery: html, wire.PathCount: html, wire.PathAggregate: html,
			wire.PathSize: html, wire.PathCardinality: html, wire.PathLinkHitRate: html}, 1, []string{"P1.1", "P1.6"}, "", conformance.Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var report *result
			options := c.options
			options.Mode = conformance.ModeBoth
			if options.Match != "" && c.name != longRows {
				options.Match = `^P(0|1|3[.]1|3[.]6)` // what reads such an answer, all of it
			}
			peak := heap(t, func() { report = grade(t, hostile(c.routes), grading{Options: options}) })
			require.Equal(t, c.exit, report.Exit(), report.Text(false, false))
			for _, id := range c.fails {
				require.Equal(t, conformance.Fail, report.Outcome(id).Verdict, "%s: %s", id, report.Outcome(id).Detail)
			}
			require.Contains(t, report.Problem, c.problem)
			require.LessOrEqual(t, report.Duration, max(c.options.Timeout, defaults.Timeout)+time.Minute)
			sound(t, report)
			require.Less(t, peak, uint64(3<<29), "memory is bounded: several times what is held, until the collector comes")
		})
	}
}

var html = text(200, "text/html", "<!doctype html><title>Sign in</title>")

// sound requires what is true of every report.
func sound(t *testing.T, report *result) {
	t.Helper()
	s := report.Summary()
	require.Equal(t, s.Planned, s.Passed+s.Failed+s.Skipped+s.Advised)
	for _, o := range report.Outcomes {
		require.NotEmpty(t, o.Verdict, o.ID)
		if o.Verdict == conformance.Skip {
			require.NotEmpty(t, o.Reason, o.ID)
			require.NotEmpty(t, o.Detail, o.ID)
		}
		require.LessOrEqual(t, len(o.Detail)+len(o.Expected)+len(o.Received), 8<<10, "%s: short enough to be read", o.ID)
	}
	require.NotContains(t, report.Text(true, false), testToken)
	for _, form := range []func() ([]byte, error){report.JSON, report.JUnit, report.HTML} {
		body, err := form()
		require.NoError(t, err)
		require.NotContains(t, string(body), testToken)
	}
}

// heap returns the most memory that was in use while f ran, beyond what was before.
func heap(t *testing.T, f func()) uint64 {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // what users have
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before, peak := m.HeapAlloc, uint64(0)
	stop := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
			}
		}
	})
	f()
	close(stop)
	done.Wait()
	return peak - min(peak, before)
}

func TestRedirectsAreNeverFollowed(t *testing.T) {
	var followed atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		followed.Add(1)
		usual().ServeHTTP(w, r)
	}))
	defer elsewhere.Close()
	redirect := func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusTemporaryRedirect)
	}
	for _, c := range []struct {
		why    string
		routes map[string]http.HandlerFunc
		fails  string
	}{
		{"everything is elsewhere", map[string]http.HandlerFunc{"*": redirect}, "P0.2"},
		{"the token would travel", map[string]http.HandlerFunc{wire.PathCheck: redirect}, "P1.6"},
		{"the credentials would travel", map[string]http.HandlerFunc{wire.PathQuery: redirect}, "P0.6"},
	} {
		t.Run(c.why, func(t *testing.T) {
			server := httptest.NewServer(hostile(c.routes))
			defer server.Close()
			report, err := gradeAt(t.Context(),
				conformance.Target{URL: server.URL, Token: wire.NewBearer(testToken)}, &conformance.Options{Match: `^P[01]\.`})
			require.NoError(t, err)
			require.Equal(t, check.ExitFail, report.Exit())
			require.Equal(t, conformance.Fail, report.Outcome(c.fails).Verdict)
			require.Zero(t, followed.Load())
		})
	}
}

func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	for _, url := range []string{"http://" + l.Addr().String(), "http://no-such-host.invalid", "https://" + l.Addr().String()} {
		report, err := gradeAt(t.Context(), conformance.Target{URL: url, Token: wire.NewBearer(testToken)}, nil)
		require.NoError(t, err)
		require.Equal(t, check.ExitNotRun, report.Exit(), report.Text(false, false))
		require.Contains(t, report.Problem, "no answer for the document at "+url)
		sound(t, report)
	}
}

// TestInterrupt ends a run at each of many moments: what was learned until then is reported.
func TestInterrupt(t *testing.T) {
	for _, after := range []int{0, 1, 5, 20, 60} {
		if after > 20 && !testrun.InFull() {
			continue // most of a run
		}
		t.Run(fmt.Sprintf("after %d checks", after), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				target, stop := conformance.InProcess(hostile(nil), testToken)
				defer stop()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				done := 0
				if after == 0 {
					cancel()
				}
				report, err := gradeAt(ctx, target, &conformance.Options{Seed: 1, Progress: func(e conformance.Event) {
					if e.Done != nil {
						if done++; done == after {
							cancel()
						}
					}
				}})
				require.NoError(t, err)
				require.Equal(t, "the run was interrupted", report.Problem)
				require.Equal(t, check.ExitNotRun, report.Exit(), report.Text(false, false))
				s := report.Summary()
				require.LessOrEqual(t, s.Passed, after)
				if after > 5 {
					require.Positive(t, s.Passed, "what was learned is told")
				}
				require.Equal(t, conformance.NotReached, report.Outcomes[len(report.Outcomes)-1].Reason)
				sound(t, report)
			})
		})
	}
}

// TestEndWhileWaiting ends a run while the connector lets it wait.
func TestEndWhileWaiting(t *testing.T) {
	for _, c := range []struct {
		problem     string
		interrupted time.Duration // 0: it is not
		options     conformance.Options
	}{
		{"the run was interrupted", 5 * time.Second, conformance.Options{Seed: 1}},
		{"the run took longer than its timeout of 20s", 0, conformance.Options{Seed: 1, Timeout: 20 * time.Second}},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := hostile(map[string]http.HandlerFunc{wire.PathQuery: stalls(terms.MediaNDJSON, served)})
			target, stop := conformance.InProcess(h, testToken)
			defer stop()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.interrupted > 0 {
				time.AfterFunc(c.interrupted, cancel)
			}
			report, err := gradeAt(ctx, target, &c.options)
			require.NoError(t, err)
			require.Contains(t, report.Problem, c.problem)
			require.LessOrEqual(t, report.Duration, max(c.interrupted, c.options.Timeout)+time.Second)
			require.Equal(t, conformance.Pass, report.Outcome("P0.1").Verdict, "what was learned is told")
			sound(t, report)
		})
	}
}

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
