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
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// overtaken answers the requests that match in the place of a connector, as an attacker does who has taken over a part of it.
// It has read them: a server that has not does not notice that the caller leaves.
func overtaken(match func(r *http.Request) bool, bad http.HandlerFunc) layer {
	return between(func(w http.ResponseWriter, r *http.Request, _ *[]byte) bool {
		if !match(r) {
			return false
		}
		bad(w, r)
		return true
	})
}

func anything(*http.Request) bool { return true }

// askedFor returns what matches the requests to some paths.
func askedFor(paths ...string) func(*http.Request) bool {
	return func(r *http.Request) bool { return slices.Contains(paths, r.URL.Path) }
}

func text(status int, media, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { sends(w, status, media, body) }
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

// patient are the options of a run that waits for every answer, and readers those of one of all checks that read such answers.
var (
	patient = conformance.Options{Timeout: 100 * time.Hour}
	readers = conformance.Options{Match: `^P(0|1|3[.]1|3[.]6)`}
)

const (
	served = `{"served":{"filters":true,"sort":true,"window":true}}` + "\n"
	row    = `{"id":1,"text":"x"}`
)

// TestHostileConnectors grades connectors that do anything but answer. Each run must end by itself, with the right exit
// code and a line that says what was found, within bounded memory.
func TestHostileConnectors(t *testing.T) {
	testrun.Long(t)
	for _, c := range []struct {
		name, why string
		at        func(*http.Request) bool
		bad       http.HandlerFunc
		exit      int
		fails     string // checks
		problem   string
		options   conformance.Options
	}{
		{name: "HTML everywhere", why: "a login page, or a host that has no connector", at: anything, bad: html, exit: 1, fails: "P0.3 P0.5"},
		{name: "502 everywhere", why: "a proxy whose upstream is down", at: anything, exit: 1, fails: "P0.1",
			bad: text(502, "text/html", "<h1>Bad Gateway</h1>")},
		{name: "an endless document", why: "is read to its limit", at: askedFor(wire.PathDocument), exit: 1, fails: "P0.4",
			bad: endless("application/json", `{"protocolVersion":1,"slug":"`, "x")},
		{name: "a document that stalls", why: "every wait has an end", at: askedFor(wire.PathDocument), exit: 1, fails: "P0.1",
			bad: stalls("application/json", `{"protocolVersion":1`)},
		{name: "a document nested for ever", why: "no recursion without a bound", at: askedFor(wire.PathDocument), exit: 1, fails: "P0.5",
			bad: text(200, "application/json", strings.Repeat("[", 60_000))},
		{name: "an answer that never comes", why: "the overall timeout ends it", at: anything, bad: stalls("", ""), exit: 2},
		{name: "no HTTP", why: "another protocol on the port", at: anything, exit: 2, problem: "no answer for the document",
			bad: raw("SSH-2.0-OpenSSH_9.6\r\n", "")},
		{name: "an endless header", why: "is read to its limit", at: anything, exit: 2, problem: "no answer for the document",
			bad: raw("HTTP/1.1 200 OK\r\n", "X-Y: "+strings.Repeat("z", 1000)+"\r\n")},
		{name: "endless informational answers", why: "are not waited for for ever", at: anything, exit: 2,
			problem: "no answer for the document", bad: raw("", "HTTP/1.1 103 Early Hints\r\n\r\n")},
		{name: "an endless discovery", why: "is read to its limit", at: askedFor(wire.PathDiscovery), exit: 1, fails: "P3.1a", options: readers,
			bad: endless("application/json", `{"tables":[],"warnings":["`, "x")},
		{name: "a discovery that stalls", why: "every wait has an end", at: askedFor(wire.PathDiscovery), exit: 1, fails: "P3.1a",
			options: patient, bad: stalls("application/json", `{"tables":[`)},
		{name: "rows for ever", why: "no more are read than the row budget", at: askedFor(wire.PathQuery), exit: 1,
			options: conformance.Options{RowBudget: 2_000}, bad: endless(terms.MediaNDJSON, served, `{"rows":[`+row+`]}`+"\n")},
		{name: "long rows for ever", why: "no more are held than memory allows", at: askedFor(wire.PathQuery), exit: 0,
			options: conformance.Options{Match: `^P3\.6c$`}, // which its batches obey
			bad:     endless(terms.MediaNDJSON, served, `{"rows":[{"id":1,"text":"`+strings.Repeat("x", 100_000)+`"}]}`+"\n")},
		{name: "a batch without an end", why: "a line has a limit", at: askedFor(wire.PathQuery), exit: 1, fails: "P3.6d", options: readers,
			bad: endless(terms.MediaNDJSON, served+`{"rows":[`+row, ","+row)},
		{name: "pings for ever", why: "a stream of nothing ends too", at: askedFor(wire.PathQuery), exit: 1, options: readers,
			bad: endless(terms.MediaNDJSON, served, `{"ping":1}`+"\n")},
		{name: "empty lines for ever", why: "and one of less", at: askedFor(wire.PathQuery), exit: 1, options: readers,
			bad: endless(terms.MediaNDJSON, served, "\n")},
		{name: "a stream that stops", why: "in time, although the connection stays", at: askedFor(wire.PathQuery), exit: 1, fails: "P3.6g",
			options: patient, bad: stalls(terms.MediaNDJSON, served+`{"rows":[`+row+`]}`+"\n")},
		{name: "a stream that stops in a row", why: "in time, although the connection stays", at: askedFor(wire.PathQuery), exit: 1,
			fails: "P3.6g", options: patient, bad: stalls(terms.MediaNDJSON, served+`{"rows":[{"id":1,`)},
		{name: "a stream nested for ever", why: "no recursion without a bound", at: askedFor(wire.PathQuery), exit: 1, options: readers,
			bad: endless(terms.MediaNDJSON, served+`{"rows":[{"id":`, "[")},
		{name: "everything else is HTML", why: "the document alone is one", at: askedFor(routePaths...), bad: html, exit: 1, fails: "P1.1 P1.6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var report *result
			options := c.options
			options.Mode = conformance.ModeBoth
			peak := heap(t, func() { report = grade(t, overtaken(c.at, c.bad)(usual()), grading{Options: options}) })
			require.Equal(t, c.exit, report.Exit(), report.Text(false, false))
			report.has(t, conformance.Fail, strings.Fields(c.fails)...)
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
		require.NotContains(t, string(testkit.Must(form())(t)), testToken)
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
		why, fails string
		at         func(*http.Request) bool
	}{
		{"everything is elsewhere", "P0.2", anything},
		{"the token would travel", "P1.6", askedFor(wire.PathCheck)},
		{"the credentials would travel", "P0.6", askedFor(wire.PathQuery)},
	} {
		t.Run(c.why, func(t *testing.T) {
			report := gradeOverTCP(t, overtaken(c.at, redirect)(usual()), with(matching(`^P[01]\.`)))
			require.Equal(t, check.ExitFail, report.Exit())
			report.has(t, conformance.Fail, c.fails)
			require.Zero(t, followed.Load())
		})
	}
}

func TestUnreachable(t *testing.T) {
	l := testkit.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
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
		testkit.Bubble(t, fmt.Sprintf("after %d checks", after), func(t *testing.T) {
			target, stop := conformance.InProcess(usual(), testToken)
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
			target, stop := conformance.InProcess(overtaken(askedFor(wire.PathQuery), stalls(terms.MediaNDJSON, served))(usual()), testToken)
			defer stop()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.interrupted > 0 {
				time.AfterFunc(c.interrupted, cancel)
			}
			report := testkit.Must(gradeAt(ctx, target, &c.options))(t)
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
		{"nothing is answered", anything, stalls("", ""), 2, "", 16 * time.Second},
		{"only headers are answered", anything, stalls("application/json", " "), 1, "P0.1", 16 * time.Second},
		{"a byte a second", anything, drip, 1, "P0.1", 16 * time.Second},
		{"only the document is answered", posts, stalls("", ""), 1, "P1.6", 21 * time.Second},
		{"routes answer headers", posts, stalls("application/json", " "), 1, "P1.6", 21 * time.Second},
		{"routes drip", posts, drip, 1, "P1.6", 21 * time.Second},
		{"all but /check hang", func(r *http.Request) bool { return posts(r) && r.URL.Path != wire.PathCheck },
			stalls("", ""), 1, "P3.1a", time.Minute},
		{"all but /check hang on real requests", full(func(r *http.Request) bool { return posts(r) && r.URL.Path != wire.PathCheck }),
			stalls("", ""), 1, "P3.1a", time.Minute},
		{"discovery hangs", askedFor(wire.PathDiscovery), stalls("", ""), 1, "P3.1a", time.Minute},
		{"discovery hangs on real requests", full(askedFor(wire.PathDiscovery)), stalls("", ""), 1, "", time.Minute},
		{"queries hang", full(askedFor(wire.PathQuery)), stalls("", ""), 1, "", time.Minute},
		{"queries hang after their first line", full(askedFor(wire.PathQuery)), stalls(terms.MediaNDJSON, served), 1, "", time.Minute},
		{"queries drip", full(askedFor(wire.PathQuery)), drip, 1, "", time.Minute},
		{"aggregates hang", full(askedFor(wire.PathAggregate)), stalls("", ""), 1, "", time.Minute},
		{"measurements hang", full(askedFor(wire.PathSize, wire.PathCardinality, wire.PathLinkHitRate)), stalls("", ""), 1, "", time.Minute},
		{"callers without the token wait", unauthorized, stalls("", ""), 1, "P1.1", time.Minute},
		{"callers without the token wait on one route",
			func(r *http.Request) bool { return unauthorized(r) && r.URL.Path == wire.PathCount }, stalls("", ""), 1, "P1.1", time.Minute},
	} {
		if !testrun.Runs(i, 4) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := grade(t, overtaken(c.match, c.bad)(untouched()), with(live, atMost(testrun.Budget(300))))
			text := r.Text(false, false)
			t.Log(r.Duration, r.Coverage().Requests, "\n"+text)
			require.Equal(t, c.exit, r.Exit())
			require.LessOrEqual(t, r.Duration, c.most)
			require.Less(t, strings.Count(text, "\n"), 60)
			r.has(t, conformance.Fail, strings.Fields(c.fails)...)
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
