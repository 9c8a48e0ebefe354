package conformance

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
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
	Coverage Coverage
	// Problem says why the run could not happen or did not come to its end; empty
	// when it did.
	Problem string
}

// Coverage is what a run has asked for. It tells a green report from an empty one.
type Coverage struct {
	Requests  int   // HTTP requests made
	Streams   int   // requests answered by a stream
	Rows      int64 // rows read
	Bytes     int64 // bytes of answers read
	Cases     int   // cases judged, over all checks
	Generated int   // generated requests judged
	// Decisive is how many of the generated requests kept some rows and dropped others,
	// so that a filter that is applied wrongly can show in the answer.
	Decisive int
	// Filters counts the judged filters by operator and type of field, such as
	// "eq number".
	Filters map[string]int
}

// newCoverage returns what a session has asked.
func newCoverage(s *session.Session, outcomes []Outcome) Coverage {
	counts := s.Covered.Counts
	c := Coverage{
		Requests: counts.Requests, Streams: counts.Streams, Rows: counts.Rows, Bytes: counts.Bytes,
		Generated: counts.Generated, Decisive: counts.Telling, Filters: s.Covered.Filters(),
	}
	for _, o := range outcomes {
		c.Cases += o.Cases
	}
	return c
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

// Outcome returns the outcome of the check with the id, or nil if it was not
// planned.
func (r *Report) Outcome(id string) *Outcome {
	for i := range r.Outcomes {
		if r.Outcomes[i].ID == id {
			return &r.Outcomes[i]
		}
	}
	return nil
}

// The exit codes of the program.
const (
	ExitPass   = 0
	ExitFail   = 1 // a check failed, or was blocked by another's fault
	ExitNotRun = 2 // the run could not happen
)

// Exit returns the code that the program ends with. A failed check beats everything.
func (r *Report) Exit() int {
	s := r.Summary()
	switch {
	case s.Failed > 0:
		return ExitFail
	case r.Problem != "" || s.Passed+s.Advised == 0 && s.Blocked == 0:
		return ExitNotRun
	case s.Blocked > 0:
		return ExitFail
	}
	return ExitPass
}

// Err returns nil when the connector is conformant. Otherwise the error names the
// failed checks, or says why the run could not happen.
func (r *Report) Err() error {
	switch failures := r.Failures(); {
	case r.Exit() == ExitPass:
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
	for _, o := range r.Outcomes {
		if o.Reason == Blocked {
			return fmt.Errorf("%s was %s %s", o.ID, o.Reason, o.Detail)
		}
	}
	return errors.New("nothing was checked")
}
