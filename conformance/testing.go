package conformance

import (
	"cmp"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/render"
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
// no time, calls [Run] in the bubble and [Report.Subtests] outside.
func Test(t *testing.T, target Target, options *Options) {
	t.Helper()
	t.Run("Conformance", func(t *testing.T) {
		t.Helper()
		own := Options{}
		if options != nil {
			own = *options
		}
		if own.Run == "" {
			own.Run = selected(t.Name())
		}
		report, err := Run(t.Context(), target, &own)
		if err != nil {
			t.Fatal(err)
		}
		report.Subtests(t)
	})
}

// Subtests reports a run as [Test] does, with one subtest for each check.
func (r *Report) Subtests(t *testing.T) {
	t.Helper()
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		t.Run(o.ID, func(t *testing.T) {
			t.Helper()
			o.report(t, cmp.Or(o.Seed, r.Seed))
		})
	}
	if t.Failed() {
		t.Log(r.rendered().Coverage.Basis.Text) // the failures are enough to read
	} else {
		t.Log(r.rendered().CoverageText())
	}
	if !t.Failed() && r.Exit() != ExitPass {
		t.Error(render.Legible(r.Err().Error()))
	}
}

// report reports an outcome to a subtest.
func (o *Outcome) report(t *testing.T, seed uint64) {
	t.Helper()
	switch o.Verdict {
	case Fail:
		t.Errorf("%s\n%s", o.Title, rendered(o).Lines(seed))
	case Skip:
		t.Skip(render.Legible(fmt.Sprintf("%s: %s", o.Reason, o.Detail)))
	case Advise:
		t.Logf("advice: %s\n%s", o.Title, rendered(o).Lines(seed))
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
