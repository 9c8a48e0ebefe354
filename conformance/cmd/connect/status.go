package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/cmd/connect/internal/lifecycle"
	"github.com/connectorsdk/connector-sdk-go/internal/rules"
)

// statusView is the status of the source as the page shows it.
type statusView struct {
	lifecycle.Status
	Class    string // of the chip
	Percent  int
	Step     string    // the step of the run that is under way
	Findings []finding // one for each failed check
	Advice   []finding
	Summary  string
	Verdict  string
}

// finding is a check that failed or advises, as the page opens it.
type finding struct {
	conformance.Outcome
	Kept  bool // among the failures that the platform keeps
	Rules []rules.Rule
	Curl  string
}

// follow shows the status of the source, until ctx ends.
func (p *page) follow(ctx context.Context, s *lifecycle.Source) {
	for {
		status, changed := s.Status()
		v := newStatusView(status)
		p.feed.put("chip", p.render("chip.html", v))
		p.feed.put("verdict", p.render("verdict.html", v))
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

func newStatusView(s lifecycle.Status) *statusView {
	v := &statusView{Status: s, Class: strings.Fields(string(s.State))[0]}
	if e := s.Progress; e.Planned > 0 && s.Report == nil {
		v.Percent = 100 * e.Index / e.Planned
		if e.Budget > 0 { // the requests are the work
			v.Percent = 100 * min(e.Requests, e.Budget) / e.Budget
		}
		v.Step = fmt.Sprintf("%s; check %d of %d, %s: %s", e.Spent(), e.Index+1, e.Planned, e.ID, e.Title)
	}
	r := s.Report
	if r == nil {
		return v
	}
	v.Percent = 100
	sum := r.Summary()
	v.Summary = fmt.Sprintf("%d passed, %d failed, %d skipped, %d advise", sum.Passed, sum.Failed, sum.Skipped, sum.Advised)
	if s.Problem == "" { // else the page says what it is
		v.Verdict = r.Verdict()
	}
	for i, o := range r.Failures() {
		v.Findings = append(v.Findings, newFinding(o, i < lifecycle.MaxFailures))
	}
	for _, o := range r.Advice() {
		v.Advice = append(v.Advice, newFinding(o, false))
	}
	return v
}

func newFinding(o conformance.Outcome, kept bool) finding {
	f := finding{Outcome: o, Kept: kept}
	for _, id := range o.Rules {
		if rule, ok := rules.Lookup(id); ok {
			f.Rules = append(f.Rules, rule)
		}
	}
	if o.Request != nil {
		f.Curl = o.Request.Curl()
	}
	return f
}
