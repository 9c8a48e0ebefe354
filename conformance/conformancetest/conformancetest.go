// Package conformancetest runs the conformance program within a Go test. It is apart from
// package conformance so that programs which grade connectors link no package testing.
package conformancetest

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
)

// Test grades a connector within a test. Nil options mean the defaults. The subtest
// Conformance has one subtest for each check, named by its id. A failed check fails with all that a
// report says of it, a skipped one is skipped with its reason, and advice is
// logged. A run that is red for another reason fails the subtest Conformance.
//
// When -run names a check, only that is run:
//
//	go test -run 'TestConnector/Conformance/P3.4c'
//
// The deadline checks of a connector that serves the corpus's table slow wait
// for real: half a minute. A test in a testing/synctest bubble, where they take
// no time, calls [conformance.Run] in the bubble and [Subtests] outside.
func Test(t *testing.T, target conformance.Target, options *conformance.Options) {
	t.Helper()
	t.Run("Conformance", func(t *testing.T) {
		t.Helper()
		own := conformance.Options{}
		if options != nil {
			own = *options
		}
		if own.Match == "" {
			own.Match = selected(t.Name())
		}
		if own.Progress == nil {
			own.Progress = Progress(t)
		}
		report, err := conformance.Run(t.Context(), target, &own)
		if err != nil {
			t.Fatal(err)
		}
		Subtests(t, report)
	})
}

// Progress returns a [conformance.Options] Progress that logs, every five seconds under go test -v, how far a run is:
// a run takes minutes over a slow source. [Test] sets it; use it where a test calls [conformance.Run] itself.
func Progress(t testing.TB) func(conformance.Event) {
	last := time.Now()
	return func(e conformance.Event) {
		if testing.Verbose() && time.Since(last) >= 5*time.Second {
			last = time.Now()
			t.Logf("%d of %d: %s; %s", e.Index+1, e.Planned, e.Title, e.Spent())
		}
	}
}

// Subtests reports a run as [Test] does, with one subtest for each check.
func Subtests(t *testing.T, report *conformance.Report) {
	t.Helper()
	for i := range report.Outcomes {
		o := &report.Outcomes[i]
		t.Run(o.ID, func(t *testing.T) {
			t.Helper()
			switch o.Verdict {
			case conformance.Fail:
				t.Errorf("%s\n%s", o.Title, report.Finding(o))
			case conformance.Skip:
				t.Skip(check.Legible(fmt.Sprintf("%s: %s", o.Reason, o.Detail)))
			case conformance.Advise:
				t.Logf("advice: %s\n%s", o.Title, report.Finding(o))
			}
		})
	}
	if t.Failed() {
		t.Log(report.Verdict()) // the failures are enough to read
	} else {
		t.Log(report.Text(false, true))
	}
	if err := report.Err(); err != nil && !t.Failed() {
		t.Error(check.Legible(err.Error()))
	}
}

// selected returns the pattern that -run has for the subtests of the test of that
// name, if it can be told, or "" if all of them run.
func selected(name string) string {
	f := flag.Lookup("test.run")
	if f == nil {
		return ""
	}
	pattern := f.Value.String()
	// Between brackets a slash divides nothing, and each alternative has parts of its
	// own. Then all checks run and package testing selects.
	if strings.ContainsAny(pattern, "|()[]\\") {
		return ""
	}
	parts := strings.Split(pattern, "/")
	depth := strings.Count(name, "/") + 1
	if depth >= len(parts) {
		return ""
	}
	return parts[depth]
}
