package conformance

import (
	"context"
	"fmt"
	"time"
)

// Run grades a connector. The error says why it could not even begin: an
// unusable URL, no token, an unknown mode. Everything else is in the report,
// also when ctx ends early: then it holds what was learned so far.
//
// Run holds in memory at most the rows of a few tables within the row budget,
// and bounds every answer; it never waits beyond Options.Timeout.
func Run(ctx context.Context, target Target, options Options) (*Report, error) {
	p, err := options.plan()
	if err != nil {
		return nil, err
	}
	s, err := newSession(target, p)
	if err != nil {
		return nil, err
	}
	defer s.http.CloseIdleConnections()
	return s.run(ctx), nil
}

func (s *session) run(ctx context.Context) *Report {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	r := &Report{Mode: s.Mode, Endpoint: s.base, Seed: s.Seed, Began: time.Now()}
	s.prepare(ctx)
	outcomes := make([]Outcome, len(s.checks))
	for i := range s.checks {
		c := &s.checks[i]
		s.progress(i, nil)
		outcomes[i] = s.judge(ctx, c)
		if !c.watched {
			s.progress(i, &outcomes[i])
		}
	}
	for i := range s.checks {
		if s.checks[i].watched {
			outcomes[i] = s.watched(ctx, outcomes[i])
			s.progress(i, &outcomes[i])
		}
	}
	s.slow.stop()
	r.Outcomes = outcomes
	r.Duration = time.Since(r.Began)
	r.Problem = s.problem(ctx)
	if s.doc != nil {
		r.Slug = s.doc.Slug
	}
	r.Coverage = s.coverage(outcomes)
	return r
}

// watched passes the verdict on a rule that all exchanges were held against.
func (s *session) watched(ctx context.Context, o Outcome) Outcome {
	seen, f := s.watch.verdict(o.ID)
	if seen == 0 && o.Verdict != Pass {
		return o
	}
	if f != nil {
		ctx = context.WithoutCancel(ctx) // what was seen was seen, however the run ends
	}
	c := o.Check
	c.open, c.needs = true, nil
	c.judge = func(x *exam) {
		x.cases = seen
		x.found(f)
		if seen == 0 {
			x.skip(NoData, "no answer of this run could be held against it")
		}
	}
	judged := s.judge(ctx, &c)
	judged.Check, judged.Duration = o.Check, o.Duration
	return judged
}

func (s *session) progress(i int, done *Outcome) {
	if s.Progress != nil {
		s.Progress(Event{ID: s.checks[i].ID, Title: s.checks[i].Title, Index: i, Planned: len(s.checks), Done: done})
	}
}

// problem says why the run does not count (I1a).
func (s *session) problem(ctx context.Context) string {
	switch {
	case ctx.Err() != nil:
		return s.interrupted(ctx)
	case s.fault != "":
		return s.fault
	case s.unreached != "":
		return fmt.Sprintf("no answer for the document at %s: %s", s.base, s.unreached)
	case s.noCorpus != "":
		return s.noCorpus
	}
	return ""
}

func (s *session) coverage(outcomes []Outcome) Coverage {
	c := Coverage{Requests: s.cover.requests, Streams: s.cover.streams, Rows: s.cover.rows, Bytes: s.cover.bytes,
		Generated: s.cover.generated, Telling: s.cover.telling, Filters: s.cover.pairs}
	for _, o := range outcomes {
		c.Cases += o.Cases
	}
	return c
}
