package main

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/cmd/connect/internal/lifecycle"
	"github.com/connectorsdk/connector-sdk-go/internal/rules"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// statusView is the status of the source as the page shows it.
type statusView struct {
	lifecycle.Status
	Class    string // of the chip
	Percent  int
	Spent    string    // requests and time of the run that is under way
	Step     string    // the check that it is at
	Findings []finding // one for each failed check
	Sections []section
	Passed   []conformance.Outcome
	Summary  string
	Verdict  string
	Changes  []change // since the run before
}

// section is a group of the checks that neither passed nor failed.
type section struct {
	Class    string
	Title    string
	Findings []finding
}

// change is a check that has another outcome than in the run before.
type change struct {
	ID, Title, From, To string
}

// finding is a check that failed or advises, as the page opens it.
type finding struct {
	conformance.Outcome
	Kept  bool // among the failures that the platform keeps
	Rules []rules.Rule
	Curl  string
	Cure  string // what to do
}

// reasons are those of checks that were skipped, in the order of the page: in words for who uses the
// page, and with what to do about them. What is blocked has a cure of its own.
var reasons = []struct {
	reason      conformance.Reason
	words, cure string
}{
	{conformance.Blocked, "something else has to be mended first", "Mend what blocks it, then verify again."},
	{conformance.NotReached, "the run ended before them", "Verify again. The program conform takes a larger number of requests."},
	{conformance.DataChanged, "the data changed meanwhile", "Verify again while nobody changes the data."},
	{conformance.NoData, "there is nothing here to try them on",
		"Nothing is wrong. The check runs once there is what it lacks, as said above."},
	{conformance.NotDeclared, "the connector does not offer what they are about",
		"Nothing is wrong. The check runs once the connector declares what it is about."},
	{conformance.NotAsked, "they need an option of the program conform",
		"Nothing is wrong. The check needs an option of the program conform."},
}

// follow shows the status of the source, until ctx ends.
func (p *page) follow(ctx context.Context, s *lifecycle.Source) {
	for {
		status, changed := s.Status()
		v := newStatusView(status)
		p.feed.put("verdict", p.render("verdict.html", v)) // first, as the chip leads to it
		p.feed.put("chip", p.render("chip.html", v))
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
		v.Spent, v.Step = e.Spent(), fmt.Sprintf("%d of %d: %s", e.Index+1, e.Planned, e.Title)
	}
	r := s.Report
	if r == nil {
		return v
	}
	v.Percent = 100
	sum := r.Summary()
	v.Summary = fmt.Sprintf("%d passed, %d failed, %d skipped, %d with advice", sum.Passed, sum.Failed, sum.Skipped, sum.Advised)
	if sum.Blocked > 0 {
		v.Summary += fmt.Sprintf("; a failure blocked %d of the skipped", sum.Blocked)
	}
	if s.Problem == "" { // else the page says what it is
		v.Verdict = r.Verdict()
	}
	for i, o := range r.Failures() {
		v.Findings = append(v.Findings, newFinding(o, i < lifecycle.MaxFailures))
	}
	v.Sections, v.Passed, v.Changes = sections(r), passed(r), changes(s.Previous, r)
	return v
}

// sections groups the checks that neither passed nor failed.
func sections(r *conformance.Report) (list []section) {
	for _, one := range reasons {
		s := section{Class: "skipped"}
		for _, o := range r.Outcomes {
			if o.Verdict == conformance.Skip && o.Reason == one.reason {
				f := newFinding(o, false)
				f.Cure = one.cure
				s.Findings = append(s.Findings, f)
			}
		}
		s.Title = counted(int64(len(s.Findings)), "check", "checks") + " skipped: " + one.words
		list = append(list, s)
	}
	advice := section{Class: "advice"}
	for _, o := range r.Advice() {
		advice.Findings = append(advice.Findings, newFinding(o, false))
	}
	advice.Title = counted(int64(len(advice.Findings)), "piece", "pieces") + " of advice, which change no verdict"
	list = slices.Insert(list, 1, advice) // behind what is blocked
	return slices.DeleteFunc(list, func(s section) bool { return len(s.Findings) == 0 })
}

func passed(r *conformance.Report) []conformance.Outcome {
	return slices.DeleteFunc(slices.Clone(r.Outcomes), func(o conformance.Outcome) bool { return o.Verdict != conformance.Pass })
}

// changes returns the checks with another outcome than in the report before, in the order of the
// checks. The first report has no changes.
func changes(before, now *conformance.Report) (list []change) {
	if before == nil {
		return nil
	}
	words := map[string]string{}
	for i := range before.Outcomes {
		words[before.Outcomes[i].ID] = word(&before.Outcomes[i])
	}
	for i := range now.Outcomes {
		o := &now.Outcomes[i]
		if from := cmp.Or(words[o.ID], "not run"); from != word(o) {
			list = append(list, change{o.ID, o.Title, from, word(o)})
		}
	}
	return list
}

// word returns how a check ended.
func word(o *conformance.Outcome) string {
	if o.Verdict == conformance.Skip {
		return "skipped: " + string(o.Reason)
	}
	return string(o.Verdict)
}

func newFinding(o conformance.Outcome, kept bool) finding {
	f := finding{Outcome: o, Kept: kept}
	for _, id := range o.Rules {
		if rule, ok := rules.Lookup(id); ok {
			f.Rules = append(f.Rules, rule)
		}
	}
	if o.Verdict != conformance.Skip {
		f.Cure = o.Fix
	}
	if o.Request != nil {
		f.Curl = o.Request.Curl()
	}
	return f
}

// verify presses Verify again.
func (p *page) verify(w http.ResponseWriter, _ *http.Request) {
	p.mu.Lock()
	if s := p.source.Load(); s != nil {
		s.Verify()
	}
	p.mu.Unlock()
	answer(w, struct{}{})
}

// report sends the report of the run that has ended, to be saved. It holds no secret: the
// conformance program has left them out.
func (p *page) report(w http.ResponseWriter, r *http.Request) {
	s := p.source.Load()
	var status lifecycle.Status
	if s != nil {
		status, _ = s.Status()
	}
	if status.Report == nil {
		http.Error(w, "no run has ended; wait for its end", http.StatusNotFound)
		return
	}
	kind, form, media := "html", status.Report.HTML, "text/html; charset=utf-8"
	if strings.HasSuffix(r.URL.Path, ".json") {
		kind, form, media = "json", status.Report.JSON, terms.MediaJSON
	}
	body, err := form()
	if err != nil {
		panic(err) // a failure of the program
	}
	w.Header().Set("Content-Type", media)
	w.Header().Set("Content-Disposition", `attachment; filename="conformance.`+kind+`"`)
	_, _ = w.Write(body)
}
