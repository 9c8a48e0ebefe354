package conformancetest_test

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/conformancetest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
)

const testToken = "conformancetest-8f31c07d2b5e4a96-token"

// graded returns a connector of the three methods over data of its own.
func graded(wrap func(http.Handler) http.Handler) http.Handler {
	h := connectors.Handler(testToken, connectors.ThreeMethods(connectors.Planets()))
	if wrap == nil {
		return h
	}
	return wrap(h)
}

// cached breaks nothing that fails: A.13 advises.
func cached(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(headerWriter{w}, r)
	})
}

type headerWriter struct{ http.ResponseWriter }

func (w headerWriter) WriteHeader(code int) {
	w.Header().Set("Cache-Control", "max-age=60")
	w.ResponseWriter.WriteHeader(code)
}

func (w headerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// unguarded lets every token in.
func unguarded(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+testToken)
		h.ServeHTTP(w, r)
	})
}

// TestSubject shows what a connector's author writes. TestReportsEachCheck runs it in a process of its own, over worse
// connectors too.
func TestSubject(t *testing.T) {
	wraps := map[string]func(http.Handler) http.Handler{"advised": cached, "broken": unguarded}
	name := os.Getenv("CONFORMANCE_SUBJECT")
	target, stop := conformance.InProcess(graded(wraps[name]), testToken)
	defer stop()
	options := &conformance.Options{Mode: conformance.ModeLive, Seed: 42, Timeout: time.Minute}
	conformancetest.Test(t, target, options)
}

// TestReportsEachCheck runs this package's test binary as `go test -run`
// would.
func TestReportsEachCheck(t *testing.T) {
	if os.Getenv("CONFORMANCE_SUBJECT") != "" {
		return
	}
	for _, c := range []struct {
		subject, run string
		why          string
		fails        bool
		has          []string
		hasNot       []string
	}{
		{"good", "TestSubject", "every check is a subtest", false,
			[]string{"--- PASS: TestSubject/Conformance/P0.1", "--- SKIP: TestSubject/Conformance/L3",
				"not declared: endpoints does not list count", "name string  eq "}, []string{"--- FAIL"}},
		{"advised", "TestSubject", "advice fails nothing, and is told", false,
			[]string{"--- PASS: TestSubject/Conformance/A.13", "advice: ", "Cache-Control: max-age=60"}, []string{"--- FAIL"}},
		{"broken", "TestSubject", "a failure tells all that a report does", true,
			[]string{"--- FAIL: TestSubject/Conformance/P1.1", "expected:", "received:", "rule:", "curl:",
				"curl -sSi", "seed:     42"}, []string{testToken}},
		{"broken", "TestSubject/Conformance/P1.1$", "one check is run alone", true,
			[]string{"--- FAIL: TestSubject/Conformance/P1.1"}, []string{"TestSubject/Conformance/P0", "TestSubject/Conformance/P1.2a"}},
		{"good", "TestSubject/Conformance/(P0.1|P0.2)$", "a pattern that is not understood selects all the same", false,
			[]string{"--- PASS: TestSubject/Conformance/P0.1", "--- PASS: TestSubject/Conformance/P0.2"}, []string{"TestSubject/Conformance/P0.3"}},
		{"good", "TestSubject/Other", "nothing is run", false, nil, []string{"TestSubject/Conformance"}},
	} {
		t.Run(c.subject+" "+c.run, func(t *testing.T) {
			t.Parallel()
			exe, err := os.Executable()
			require.NoError(t, err)
			cmd := exec.CommandContext(t.Context(), exe, "-test.v", "-test.run", c.run)
			cmd.Env = append(os.Environ(), "CONFORMANCE_SUBJECT="+c.subject)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			err = cmd.Run()
			require.Equal(t, c.fails, err != nil, "%s", out.String())
			for _, text := range c.has {
				require.Contains(t, out.String(), text)
			}
			for _, text := range c.hasNot {
				require.NotContains(t, out.String(), text)
			}
		})
	}
}

// logged keeps what a test logs.
type logged struct {
	testing.TB
	lines []string
}

func (l *logged) Logf(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

// TestProgress requires a line every five seconds under -v, and none without.
func TestProgress(t *testing.T) {
	verbose := flag.Lookup("test.v").Value
	for _, v := range []string{"true", "false"} {
		before := verbose.String()
		require.NoError(t, verbose.Set(v))
		var l logged
		synctest.Test(t, func(*testing.T) {
			report := conformancetest.Progress(&l)
			for second := range 21 {
				report(conformance.Event{Index: second, Planned: 30, Title: "a title", Requests: 7 * second, Budget: 1500})
				time.Sleep(time.Second)
			}
		})
		require.NoError(t, verbose.Set(before))
		if v == "false" {
			require.Empty(t, l.lines)
			continue
		}
		require.Len(t, l.lines, 4)
		require.Equal(t, "6 of 30: a title; 35 of 1500 requests", l.lines[0])
	}
}
