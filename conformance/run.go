package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/checks/protocol"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
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
	return run(ctx, s, p), nil
}

func newSession(target Target, p *plan) (*session.Session, error) {
	base, err := target.base()
	if err != nil {
		return nil, err
	}
	token := target.Token.Reveal()
	switch {
	case token == "":
		return nil, fmt.Errorf("no token; give the bearer token that the connector's host issued, or set %s", EnvToken)
	case strings.ContainsFunc(token, func(r rune) bool { return r < '!' || r > '~' }):
		return nil, errors.New("the token holds a blank, a control character or one beyond ASCII, which no header can carry")
	case len(target.Credentials) > 2:
		return nil, errors.New("more than two sets of credentials; give one, or two to check that two tenants are kept apart")
	}
	c := session.Config{
		Base: base, HTTP: target.client(), InProcess: target.dial != nil, Token: token, Credentials: target.Credentials,
		Rows: p.RowBudget, Seed: p.Seed, Timeout: p.Timeout,
	}
	for i := range p.checks {
		c.Planned = append(c.Planned, p.checks[i].ID)
	}
	return session.New(c)
}

func run(ctx context.Context, s *session.Session, p *plan) *Report {
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	r := &Report{Mode: p.Mode, Endpoint: s.Endpoint(), Seed: s.Seed, Began: time.Now(), Outcomes: make([]Outcome, len(p.checks))}
	stop := protocol.StartSlow(ctx, s)
	results := make([]session.Result, len(p.checks))
	for i := range p.checks {
		c := &p.checks[i]
		p.progress(i, nil)
		results[i] = s.Judge(ctx, c)
		r.Outcomes[i] = newOutcome(c, results[i])
		if !c.Watched {
			p.progress(i, &r.Outcomes[i])
		}
	}
	for i := range p.checks {
		if c := &p.checks[i]; c.Watched {
			r.Outcomes[i] = newOutcome(c, s.JudgeWatched(ctx, c, results[i]))
			p.progress(i, &r.Outcomes[i])
		}
	}
	stop()
	r.Duration = time.Since(r.Began)
	r.Problem = s.Clean(problem(ctx, s))
	if s.Document != nil {
		r.Slug = s.Clean(s.Document.Slug)
	}
	r.Coverage = newCoverage(s, r.Outcomes)
	return r
}

// problem returns why the run does not count, or "".
func problem(ctx context.Context, s *session.Session) string {
	switch {
	case ctx.Err() != nil:
		return s.Interrupted(ctx)
	case s.Bug != "":
		return s.Bug
	case s.Unreached != "":
		return fmt.Sprintf("no answer for the document at %s: %s", s.Endpoint(), s.Unreached)
	}
	return s.Problem
}
