package conformance

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/render"
)

// Report is what a run found out. It does not change, and many goroutines may read
// it.
type Report struct {
	Mode     Mode
	Endpoint string // the base URL
	Slug     string // of the connector; empty when the document was not read
	Seed     uint64 // of the generated queries: a run with it asks the same again
	Began    time.Time
	Duration time.Duration
	Outcomes []Outcome // one for each planned check, in order
	// Available is how many checks the mode has. A run of fewer is a selection, which
	// cannot say that the connector is conformant.
	Available int
	// Tables are those that were selected to be judged; empty: all.
	Tables []string
	// DialectOnly is the dialect of SQL in which alone the connector takes queries, so that
	// no row of it could be judged; empty for all others.
	DialectOnly string
	// Requests is how many requests were sent.
	Requests int
	// Judged says in a few words what the outcomes rest on: how many rows of how many tables,
	// fields and operators were judged.
	Judged string
	// Selection is set if only some checks of the mode were planned, or only some tables
	// judged.
	Selection bool
	// Problem says why the run could not happen or did not come to its end; empty
	// when it did.
	Problem string

	coverage coverage
}

// Summary counts the outcomes by verdict.
type Summary struct {
	Planned, Passed, Failed, Skipped, Advised int
	Blocked                                   int // of the skipped
}

// Summary returns the counts of the outcomes.
func (r *Report) Summary() Summary {
	s := Summary{Planned: len(r.Outcomes)}
	for _, o := range r.Outcomes {
		switch o.Verdict {
		case Pass:
			s.Passed++
		case Fail:
			s.Failed++
		case Skip:
			s.Skipped++
			if o.Reason == Blocked {
				s.Blocked++
			}
		case Advise:
			s.Advised++
		}
	}
	return s
}

// Failures returns the outcomes that failed, in order.
func (r *Report) Failures() []Outcome { return r.with(Fail) }

// Advice returns the outcomes that advise, in order.
func (r *Report) Advice() []Outcome { return r.with(Advise) }

func (r *Report) with(v Verdict) (list []Outcome) {
	for _, o := range r.Outcomes {
		if o.Verdict == v {
			list = append(list, o)
		}
	}
	return list
}

// nothingJudged returns a sentence that tells what to do if no row of any table was
// judged, or "".
func (r *Report) nothingJudged() string {
	switch tables := len(r.coverage.Tables); {
	case r.coverage.Basis().Rows > 0:
		return ""
	case tables == 0:
		return "nothing was judged: discovery lists no table; " +
			"give the credentials of an account that has tables, and run again"
	default:
		return fmt.Sprintf("nothing was judged: no row of the %s that discovery lists was read; "+
			"give the credentials of an account that holds rows, and run again", plural(tables, "table"))
	}
}

// Exit returns the code that the program ends with: 1 exactly if a check failed, 2 if the
// run could not happen or judged nothing, else 0.
func (r *Report) Exit() int {
	s := r.Summary()
	switch {
	case s.Failed > 0:
		return render.ExitFail
	case r.Problem != "" || s.Passed+s.Advised == 0:
		return render.ExitNotRun
	}
	return render.ExitPass
}

// Err returns nil when the exit code is 0. Otherwise the error names the failed checks,
// or says why the run could not happen.
func (r *Report) Err() error {
	switch failures := r.Failures(); {
	case r.Exit() == render.ExitPass:
		return nil
	case len(failures) > 0:
		lines := make([]string, len(failures))
		for i, o := range failures {
			lines[i] = fmt.Sprintf("%s %s: %s", o.ID, o.Title, o.Detail)
		}
		return fmt.Errorf("%d of %d checks failed:\n%s", len(failures), len(r.Outcomes), strings.Join(lines, "\n"))
	case r.Problem != "":
		return errors.New(r.Problem)
	}
	return errors.New("nothing was checked")
}
