package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/checks/live"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/payload"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Run grades a connector. Nil options mean the defaults. The error says why the run
// could not even begin: an unusable URL, no token, an unknown mode. Everything else
// is in the report, also when ctx ends early: then it holds what was learned so
// far.
//
// Run holds in memory at most the rows of a few tables within the row budget, and
// limits every answer. It never waits longer than Options.Timeout.
func Run(ctx context.Context, target Target, options *Options) (*Report, error) {
	p, err := options.plan()
	if err != nil {
		return nil, err
	}
	s, err := newSession(target, p)
	if err != nil {
		return nil, err
	}
	defer s.HTTP.CloseIdleConnections()
	r := &run{plan: p, session: s}
	return r.grade(ctx), nil
}

func newSession(target Target, p *plan) (*session.Session, error) {
	base, err := target.base()
	if err != nil {
		return nil, err
	}
	token := target.Token.Reveal()
	switch {
	case token == "":
		return nil, fmt.Errorf("no token; give the bearer token that the connector's host issued, or set %s", check.EnvToken)
	case strings.ContainsFunc(token, func(r rune) bool { return r < '!' || r > '~' }):
		return nil, errors.New("the token holds a blank, a control character or one beyond ASCII, which no header can carry")
	case len(target.Credentials) > 2:
		return nil, errors.New("more than two sets of credentials; give one, or two to check that two tenants are kept apart")
	}
	c := session.Config{
		Base: base, HTTP: target.client(), InProcess: target.memory != nil, Token: token, Credentials: target.Credentials,
		Rows: p.RowBudget, Requests: p.Requests, Adapt: p.adapt, Seed: p.Seed, Spacing: p.Pace, Timeout: p.Timeout,
		Tables: p.Tables, WrongCredentials: p.WrongCredentials, Checks: p.checks,
	}
	if c.Time = p.time; len(target.Credentials) > 1 && p.Options.Timeout < defaults.MaxTimeout {
		c.Time -= c.Time / 4 // the second account has a third of it besides
	}
	s, err := session.New(c)
	if err == nil {
		s.Alike = p.Alike
	}
	return s, err
}

// run is one run of a plan.
type run struct {
	*plan
	session  *session.Session
	outcomes []Outcome
	results  []session.Result
	second   []session.Check // that were judged of the second account too
	progress progress
}

func (r *run) grade(ctx context.Context) *Report {
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	s, began := r.session, time.Now()
	r.progress.begin(r)
	s.Stopped = r.lacks(s.Plan(ctx))
	stop := r.clocks.Start(ctx, s)
	r.judge(ctx)
	r.judgeAgain(ctx, false)
	r.judgeAgain(ctx, true)
	stop()
	r.judgeSecond(ctx)
	r.judgeWatched(ctx)
	attribute(r.outcomes)
	return r.report(ctx, began)
}

// lacks returns that credentials which the document requires were not given, or "". Nothing but the document and its
// form can then be judged.
func (r *run) lacks(fields []wire.CredentialField) string {
	if !slices.ContainsFunc(r.checks, func(c session.Check) bool { return c.Phase > 0 }) {
		return ""
	}
	var labels, members []string
	for _, f := range fields {
		labels = append(labels, f.Label)
		members = append(members, payload.Quote(f.Key)+`:"..."`)
	}
	if labels == nil {
		return ""
	}
	return fmt.Sprintf("the document requires credentials that were not given: %s; "+
		"give them for each tenant, as in -credentials '{%s}' or in the variable %s",
		strings.Join(labels, ", "), strings.Join(members, ","), check.EnvCredentials)
}

// judge judges the planned checks.
func (r *run) judge(ctx context.Context) {
	results := make([]session.Result, len(r.checks))
	r.results = results
	for i := range r.checks {
		c := &r.checks[i]
		r.progress.check(i, nil)
		results[i] = r.session.Judge(ctx, c)
		r.outcomes[i] = newOutcome(c, results[i])
		if !c.Watched {
			r.progress.check(i, &r.outcomes[i])
		}
	}
}

// judgeWatched judges what every exchange of the run is judged by.
func (r *run) judgeWatched(ctx context.Context) {
	for i := range r.checks {
		if c := &r.checks[i]; c.Watched {
			r.outcomes[i] = newOutcome(c, r.session.JudgeWatched(ctx, c, r.results[i]))
			r.progress.check(i, &r.outcomes[i])
		}
	}
}

// judgeSecond judges the data of a second account by the checks that judged those of the first, with the requests
// that it has left. What passed before may fail now. Nothing is judged of data that are not this account's own.
func (r *run) judgeSecond(ctx context.Context) {
	s := r.session
	mixedUp := slices.ContainsFunc(r.outcomes, func(o Outcome) bool { return o.ID == "T2" && o.Verdict == Fail })
	if len(s.Tenants) < 2 || s.Alike || mixedUp {
		return
	}
	at := map[string]int{}
	for i := range r.checks {
		at[r.checks[i].ID] = i
	}
	again, _ := live.Checks() // which have learned nothing of the first
	for _, c := range again {
		if i, planned := at[c.ID]; planned && c.Again && r.outcomes[i].Verdict != Fail {
			if !c.Two {
				c.Weight = min(c.Weight, maxWeightOfSecond)
			}
			r.second = append(r.second, c)
		}
	}
	s.Turn(r.second)
	defer s.Turn(nil)
	for n := range r.second {
		c := &r.second[n]
		i := at[c.ID]
		r.progress.check(i, nil)
		after := newOutcome(c, s.Judge(ctx, c))
		before := &r.outcomes[i]
		if before.Duration += after.Duration; after.Verdict == Fail || after.Reason == Blocked {
			after.Detail = "asked with the second credentials: " + after.Detail
			after.Duration = before.Duration
			*before = after
		}
		if c.Two && before.Verdict == Skip { // it is about the second account alone
			before.Verdict, before.Reason, before.Detail = after.Verdict, after.Reason, after.Detail
		}
		before.Cases += after.Cases
		r.progress.check(i, before)
	}
}

// maxWeightOfSecond is the largest weight of a check of the second account, so that each of them asks some.
const maxWeightOfSecond = 24

// judgeAgain judges the checks that time cut short once more, with the time and the requests that the others have left:
// first those that could not say anything, and then those that said what they had seen. A connector may be slow for a
// while only. It judges those about two accounts, or the others.
func (r *run) judgeAgain(ctx context.Context, two bool) {
	s := r.session
	if s.Late() == 0 {
		return
	}
	for _, cut := range []func(i int) bool{
		func(i int) bool { return r.outcomes[i].Reason == NotReached },
		func(i int) bool { return r.outcomes[i].Verdict == Pass && r.results[i].Cut },
	} {
		var again []*session.Check
		at := map[*session.Check]int{}
		for i := range r.checks {
			if c := &r.checks[i]; cut(i) && c.Two == two && !c.Watched {
				again, at[c] = append(again, c), i
			}
		}
		for c := range s.Again(again) {
			i := at[c]
			r.progress.check(i, nil)
			result := s.Judge(ctx, c)
			r.addOutcome(i, newOutcome(c, result))
			r.results[i] = result
		}
	}
}

// addOutcome adds what a check came to when it was judged again. What passed before may fail now, and is not judged
// less if it was cut short.
func (r *run) addOutcome(i int, after Outcome) {
	before := &r.outcomes[i]
	after.Cases += before.Cases
	after.Duration += before.Duration
	if after.Verdict == Skip && after.Reason != Blocked && (before.Verdict == Pass || after.Reason == NotReached) {
		after.Verdict, after.Reason, after.Detail = before.Verdict, before.Reason, before.Detail
	}
	*before = after
	r.progress.check(i, before)
}

// report returns what was found out.
func (r *run) report(ctx context.Context, began time.Time) *Report {
	s := r.session
	report := &Report{
		Mode: r.Mode, Endpoint: s.Endpoint, Seed: r.Seed, Began: began, Duration: time.Since(began),
		Outcomes: r.outcomes, Available: r.available, Tables: r.Tables,
	}
	if s.Document != nil {
		report.Slug = s.Clean(s.Document.Slug)
	}
	report.coverage, report.Whole, report.twoAccounts = s.Coverage(), s.Late(), len(s.Tenants) > 1 && !r.Alike
	report.wrong = r.WrongCredentials
	if r.second != nil {
		s.Turn(nil)
		second := s.Coverage()
		report.coverage.Second = &second
		s.Turn(nil)
	}
	for _, o := range r.outcomes {
		report.coverage.Cases += o.Cases
	}
	report.Requests, report.Judged = report.coverage.Requests, report.coverage.Basis.String()
	report.DialectOnly = s.Clean(s.SQLOnly)
	report.Problem = cmp.Or(s.Clean(problem(ctx, s)), report.refusal(), report.nothingJudged())
	return report
}

// problem returns why the run does not count, or "".
func problem(ctx context.Context, s *session.Session) string {
	switch {
	case ctx.Err() != nil:
		return check.Interrupted(ctx, s.Timeout).Detail
	case s.Bug != "":
		return s.Bug
	case s.SQLOnly != "": // the corpus cannot be read
		return s.Stop()
	case s.Unreached != "":
		return fmt.Sprintf("no answer for the document at %s: %s", s.Endpoint, s.Unreached)
	}
	return cmp.Or(s.Problem, s.Stop())
}
