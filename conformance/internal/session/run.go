package session

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
)

// Check is one row of the tables of checks: a rule that a connector can break, and the function that judges it.
type Check struct {
	ID    string   // stable, such as P3.4c
	Phase int      // 0 to 4
	Title string   // what holds when the check passes
	Rules []string // the rules of docs/protocol.md that it defends, such as query-3
	Fix   string   // what the author of a connector that fails it most likely has to do
	// Advice marks a rule that is not binding. Breaking it is reported and changes no exit code.
	Advice bool

	// Strict marks advice that fails in a strict run.
	Strict bool

	// Open marks a check that runs whether or not there is a document and an accepted token.
	Open bool
	// Needs returns why the document excludes the check, or "". Nil means that the check always applies.
	Needs func(*declared.Document) string
	// Weight is the check's share of the budget of requests: about as many requests as it wants to send. 0 means a few.
	Weight int
	// Least is how many requests the check sends however few it may. 0 means one if it has a Weight, and else two.
	Least int
	// Two marks a check that needs two sets of credentials.
	Two bool
	// Again marks a check that judges the data of a second account too.
	Again bool
	// Wrong marks a check that sends wrong credentials, which not every run may.
	Wrong bool
	// Watched marks a rule that every exchange of the run is judged by. Judge then
	// only makes sure that there are some, and the verdict is given at the end.
	Watched bool
	// Explained lists the checks that find the same fault with less: where one of them has failed,
	// the check is blocked by it instead of failing too.
	Explained []string
	// Facets are the parts of a check that was made by [Merge]. Facet says what a part is about, such as "eq", and
	// Was is the retired id that it had as a check of its own.
	Facets     []Check
	Facet, Was string
	silent     bool // it sends no request
	// Judge returns nil if the check passes.
	Judge func(*Run) *check.Finding
}

// Run is one check being judged. It sends the check's requests and counts what was judged.
type Run struct {
	*Session
	Ctx   context.Context
	Check *Check
	// Last is the request that is quoted when the check fails.
	Last *check.Request
	// Cases counts what was judged, for the report.
	Cases int
	// Rand makes the same choices in each run of the check with the same seed.
	Rand *rand.Rand

	share    share // of the requests
	reserved int   // for what the check asks later
	short    bool  // it would have asked more than it may
	late     int   // requests that were taken from it because there is no time for them
}

// Result is how a check ended.
type Result struct {
	Finding  *check.Finding // nil: it passed
	Cases    int
	Duration time.Duration
	Cut      bool // time has taken requests from it
}

// Judge runs one check.
func (s *Session) Judge(ctx context.Context, c *Check) (result Result) {
	run := &Run{Session: s, Ctx: ctx, Check: c, Rand: s.random(c), share: s.share(c)}
	s.judging = c.ID
	s.timeouts.refused.Store("")
	s.cut.Store(false)
	began := time.Now()
	defer func() {
		// A bug of this program must cost no more than the check.
		if bug := recover(); bug != nil {
			s.Bug = fmt.Sprintf("this program failed in check %s: %v", c.ID, bug)
			result.Finding = check.Skip(check.NotReached, "%s", s.Bug)
		}
		if result.Finding != nil {
			s.scrub(result.Finding)
		}
		result.Cases, result.Duration = run.Cases, time.Since(began)
	}()
	result.Finding = run.overspent(run.unlessDialect(run.judge()))
	result.Cut = run.end()
	if result.Finding.Failure() {
		if f := run.Consequence(result.Finding.Detail); f != nil {
			result.Finding = f
		} else {
			s.failed[c.ID] = true
		}
	}
	if result.Finding != nil && ctx.Err() != nil {
		// Whatever was found, the request that found it was cut short.
		result.Finding = check.Interrupted(ctx, s.Timeout)
	}
	return result
}

// Consequence returns the finding that blocks the check if one that explains its failure has failed, or nil.
func (run *Run) Consequence(detail string) *check.Finding {
	for _, id := range run.Check.Explained {
		if run.failed[id] {
			return check.Block(id, "%s", detail)
		}
	}
	return nil
}

// random returns the source of a check's choices, which depends on nothing but the seed and the check's id.
func (s *Session) random(c *Check) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(c.ID))
	return rand.New(rand.NewPCG(s.Seed, h.Sum64()))
}

func (run *Run) judge() *check.Finding {
	c := run.Check
	if run.Ctx.Err() != nil {
		return check.Interrupted(run.Ctx, run.Timeout)
	}
	if why := run.Stop(); why != "" && !c.silent && !run.timeouts.reports(c.ID) {
		return check.Skip(check.NotReached, "%s", why)
	}
	if run.budget.leftOut[c.ID] || !c.silent && run.left() == 0 && run.applies(c) {
		run.cut.Store(true)
		return nil
	}
	if !c.Open {
		if f := run.begin(); f != nil {
			return run.finalize(f)
		}
		if c.Needs != nil {
			if why := c.Needs(run.Document); why != "" {
				return check.Skip(check.NotDeclared, "%s", why)
			}
		}
	}
	switch {
	case c.Wrong && !run.WrongCredentials:
		return check.Skip(check.NotAsked, "wrong credentials may lock a real account; -wrong-credentials sends them")
	case c.Judge == nil:
		return nil
	}
	return run.finalize(c.Judge(run))
}

// begin reads the document and tries the token, once, and returns what is wrong with them.
func (run *Run) begin() *check.Finding {
	if f := run.readDocument(run.Ctx); f != nil {
		return f
	}
	return run.tryToken(run.Ctx)
}

// finalize completes what a judge returned: a check that is blocked by itself has
// failed, and a failure without a request quotes the last one.
func (run *Run) finalize(f *check.Finding) *check.Finding {
	if f == nil {
		return nil
	}
	own := *f // it may be kept for other checks
	if own.Skip == check.Blocked && own.By == run.Check.ID {
		own.Skip, own.By = "", ""
	}
	if id, _ := run.timeouts.refused.Load().(string); own.Skip == "" && id != "" && id != run.Check.ID {
		own.Skip, own.By = check.Blocked, id // a request was not sent, because another was not answered
	}
	switch own.Skip {
	case "":
		own.From(run.Last)
		own.Failed = max(own.Failed, 1)
	case check.Blocked:
		own.From(run.Last) // it is quoted if the blocking check turns out not to have failed
	}
	return &own
}

// Judged returns nil if the check has judged something, and otherwise the finding that says what it lacks.
func (run *Run) Judged(lacks string, args ...any) *check.Finding {
	if run.Cases > 0 {
		return nil
	}
	return check.Skip(check.NoData, lacks, args...)
}

// RetryIfChanged judges a part of a check that compares answers given at different times. Live data may change in
// between: when the part fails, again reads what it is about once more and names a table that has changed.
// RetryIfChanged returns the failure if the part fails twice without such a change. Otherwise it names the table that
// changed last, or returns "" if the part passed.
func (run *Run) RetryIfChanged(
	part func() *check.Finding, again func() (string, *check.Finding),
) (moved string, f *check.Finding) {
	const tries = 3
	failed := false
	for range tries {
		found := part()
		if !found.Failure() && (found == nil || found.By != run.Check.ID) {
			return "", found
		}
		found = run.finalize(found)
		now, f := again()
		if f != nil {
			return "", f
		}
		if now == "" && failed {
			return "", found
		}
		failed = failed || now == ""
		if now != "" {
			moved = now
		}
	}
	return moved, nil
}

// JudgeWatched gives the verdict on a rule that every exchange of the run was
// judged by; first is what the check's own judge came to.
func (s *Session) JudgeWatched(ctx context.Context, c *Check, first Result) Result {
	seen, fault := s.watch.verdict(c.ID)
	if seen == 0 && first.Finding != nil {
		return first
	}
	if fault != nil {
		ctx = context.WithoutCancel(ctx) // what was seen was seen, however the run ends
	}
	verdict := *c
	verdict.Open, verdict.Needs, verdict.silent = true, nil, true
	verdict.Judge = func(run *Run) *check.Finding {
		run.Cases = seen
		if seen == 0 {
			return check.Skip(check.NoData, "no answer of this run could be judged by it")
		}
		return fault
	}
	result := s.Judge(ctx, &verdict)
	result.Duration = first.Duration
	return result
}

// scrub removes every secret from a finding. Secrets do not get into it on
// purpose, but a connector may echo them. It shows large numbers of rows with the digits that were sent.
func (s *Session) scrub(f *check.Finding) {
	for _, text := range []*string{&f.Detail, &f.Expected, &f.Received, &f.Refused} {
		*text = s.Clean(*text)
	}
	f.Expected, f.Received = s.numbers.asWritten(f.Expected), s.numbers.asWritten(f.Received)
	if f.Request == nil {
		return
	}
	request, changed := s.Scrub(f.Request)
	f.Request = request
	if changed {
		f.Detail += " (the request cannot be sent again as it is shown: [token] and [redacted] stand for secrets)"
	}
}
