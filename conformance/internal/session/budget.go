package session

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/coverage"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/redact"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// budget divides the requests of a run, and the time that they may take, among its checks. What a
// second account adds has requests and time of its own, so that nothing is taken from the first.
type budget struct {
	first, second pool
	current       *pool           // the one that the check being judged sends from
	fixed         bool            // the caller gave the limit, so that checks for which it is too small are left out
	leftOut       map[string]bool // these
	began         time.Time
	cuts          map[judged]cut // by the last time that each was judged
	// starts are those of the last requests, the one after the nth in the place n modulo their number.
	starts [recentRequests]time.Time
}

// cut is what time has taken from a check: the requests that it would have sent besides, and how long they would have
// taken.
type cut struct {
	requests int
	took     time.Duration
}

// judged is a check, and the account that it asks first.
type judged struct {
	id     string
	turned bool
}

// pool is a number of requests that some checks share, and the time that they may take.
type pool struct {
	limit int           // that is shared out; 0: none
	most  int           // that are sent, whatever a check takes besides its share
	few   int           // that are sent however slow the connector is
	time  time.Duration // 0: any
	sent  int
	used  time.Duration // by the checks that are done
	ahead []*Check      // that share what is left
	later int           // the weight of what follows those
	all   int           // the weights of those that it was divided among
}

const (
	// fewRequests is the weight of a check that does not state one.
	fewRequests = 6
	// recentRequests is how many requests show the pace of the connector.
	recentRequests = 30
	// paceRequests is how many requests of a check show its pace.
	paceRequests = 5
	// ofSecond is the part of all requests that a second account has.
	ofSecond = 4
	// mostOfShare is how many times its share of the time a check takes, if the later ones seem to leave it.
	mostOfShare = 3
	// weightOfData is the weight of the checks of a second account's data, beside those about tenants.
	weightOfData = 400
	// mostEnough is the most requests without which a check says nothing.
	mostEnough = 16
)

// wants returns about how many requests the check wants to send.
func (c *Check) wants() int { return cmp.Or(c.Weight, fewRequests) }

// least returns about how many requests the check sends however small its share is.
func (c *Check) least() int {
	switch {
	case c.Least > 0:
		return c.Least
	case c.Watched:
		return 0 // it looks at the requests of others
	case c.Two:
		return 16 // each tenant's answers, alone and in turns
	case c.Phase == 2:
		return 6 // the cases of the corpus
	case c.Weight > 0:
		return 1
	}
	return 2
}

// enough returns how many requests a check needs to say anything, unless it has fewer questions: a
// twelfth of what it wants. One that was cut short before is not judged, rather than passed.
func (c *Check) enough() int { return max(c.least(), min(c.Weight/12, mostEnough)) }

// applies reports whether the check has something to judge, as far as the document and the credentials tell.
func (s *Session) applies(c *Check) bool {
	switch {
	case c.Two && len(s.Tenants) < 2:
		return false
	case c.Open || c.Needs == nil || s.Document == nil:
		return true
	}
	return c.Needs(s.Document) == ""
}

// rank returns when a check is given requests if they are too few for all: the document and the token first, then what
// is judged of rows and of tenants, then what is judged of the protocol's behaviour, and advice last.
func (c *Check) rank() int {
	switch {
	case c.Advice:
		return 3
	case c.Phase < 2:
		return 0
	case c.Phase == 3 && !c.Two:
		return 2
	}
	return 1
}

// divide gives those of the planned checks a number of requests, and those about a second account some of their
// own. If the caller gave the number, it is for all of them, and checks for which it is too small are left out.
func (s *Session) divide(requests int, those func(*Check) bool) {
	b := &s.budget
	b.first, b.second = pool{}, pool{later: weightOfData}
	b.leftOut, b.began, b.cuts = map[string]bool{}, time.Now(), map[judged]cut{}
	for i := range s.Checks {
		if c := &s.Checks[i]; those(c) && s.applies(c) {
			p := s.poolOf(c)
			p.ahead = append(p.ahead, c)
			p.all += c.wants()
		}
	}
	b.current = &b.first
	if requests == 0 {
		return
	}
	first, second := requests, requests/(ofSecond-1)
	if b.fixed && len(b.second.ahead) > 0 {
		wanted := 0
		for _, c := range b.first.ahead {
			wanted += max(c.wants(), c.least())
		}
		first = min(requests-requests/ofSecond, wanted)
		second = requests - first
	}
	b.first.fill(first, s.Time)
	b.second.fill(second, s.Time/(ofSecond-1))
	b.second.limit -= b.second.limit / 20 // for what checks take besides their shares
	if b.fixed {
		b.first.leaveOut(b.leftOut)
		b.second.leaveOut(b.leftOut)
		return
	}
	b.first.limit -= b.first.limit / 30
}

// poolOf returns what a check sends its requests from.
func (s *Session) poolOf(c *Check) *pool {
	if c.Two || s.turned {
		return &s.budget.second
	}
	return &s.budget.first
}

// fill gives a pool its requests and its time.
func (p *pool) fill(requests int, time time.Duration) {
	p.limit, p.most, p.few, p.time = requests, requests, requests*defaults.FewRequests/defaults.Requests, time
}

// leaveOut notes the checks for which a pool has no requests, and shares them out among the others.
func (p *pool) leaveOut(leftOut map[string]bool) {
	left := p.limit
	for rank := range 4 {
		for _, c := range p.ahead {
			if c.rank() != rank {
				continue
			}
			if left -= c.least(); left < 0 {
				leftOut[c.ID] = true
				left += c.least()
			}
		}
	}
	p.ahead = slices.DeleteFunc(p.ahead, func(c *Check) bool { return leftOut[c.ID] })
}

// Plan divides the budget of requests among the planned checks. It reads the document, which says which of them apply,
// and returns the fields that the document requires and that a tenant's credentials lack.
func (s *Session) Plan(ctx context.Context) (missing []wire.CredentialField) {
	if s.readDocument(ctx) == nil {
		missing = slices.DeleteFunc(s.Document.Required(), func(f wire.CredentialField) bool {
			return !slices.ContainsFunc(s.Tenants, func(t redact.Tenant) bool { return strings.TrimSpace(t.Credentials.Get(f.Key)) == "" })
		})
	}
	s.budget.fixed = s.Requests > 0 && !s.Adapt
	s.divide(s.Requests, func(*Check) bool { return true })
	s.Covered.Add(func(c *coverage.Counts) { s.budget.first.sent = c.Requests })
	return missing
}

// Allowance returns how many more requests the check may send within the budget of the run. What a check leaves of its
// share goes to the later ones. A check asks its most telling requests first, and stops when the allowance is used; it
// may send the few requests without which it could judge nothing.
func (run *Run) Allowance() int {
	share := &run.share
	if share.pool == nil || share.pool.limit == 0 {
		return math.MaxInt32
	}
	sent := run.sentHere()
	run.late = 0
	mine := share.of(share.pool.limit)
	if timed := run.affordable(sent); timed < mine {
		timed = max(timed, share.of(share.pool.few))
		run.late, mine = max(0, mine-timed), min(mine, timed)
	}
	return max(0, max(run.Check.least(), mine)-sent-run.reserved)
}

// reserve keeps a part of the requests that the check may still send for what it asks later.
func (run *Run) reserve(part, of int) {
	run.reserved = 0
	if p := run.share.pool; p != nil && p.limit > 0 {
		run.reserved = run.Allowance() * part / of
	}
}

// Spent reports whether the check has judged something, and may not send n more requests. Then it is cut short.
func (run *Run) Spent(n int) bool {
	spent := run.Cases > 0 && run.Allowance() < n
	run.short = run.short || spent
	return spent
}

// left returns how many more requests the check that is judged may send at all.
func (s *Session) left() (left int) {
	s.Covered.Add(func(*coverage.Counts) {
		left = math.MaxInt32
		if p := s.budget.current; p != nil && p.most > 0 {
			left = max(0, p.most-p.sent)
		}
	})
	return left
}

// share is a check's part of the requests and of the time that are left when it begins.
type share struct {
	pool     *pool
	weight   int
	sent     int // from the pool
	weights  int // of the check and of the later ones
	whole    int // requests in a run that time does not cut short
	reserved int // for the few requests that the later ones need
	began    time.Time
	time     time.Duration // that it may take
}

// share returns the share of a check that begins.
func (s *Session) share(c *Check) share {
	p := s.poolOf(c)
	p.ahead = slices.DeleteFunc(p.ahead, func(other *Check) bool { return other.ID == c.ID })
	mine := share{pool: p, weight: c.wants(), weights: c.wants(), began: time.Now()}
	mine.whole = p.limit * mine.weight / max(p.all, mine.weight)
	s.Covered.Add(func(*coverage.Counts) { s.budget.current, mine.sent = p, p.sent })
	mine.weights += p.later
	for _, other := range p.ahead {
		mine.weights += other.wants()
		mine.reserved += other.least()
	}
	left := p.time - p.used
	mine.time = left * time.Duration(mine.weight) / time.Duration(mine.weights)
	if mine.sent >= recentRequests {
		// The time that the later checks do not want is there to be used, but the pace so far is a guess at theirs.
		later := p.used / time.Duration(mine.sent) * time.Duration(mine.weights-mine.weight)
		mine.time = max(mine.time, min(mostOfShare*mine.time, left-later))
	}
	return mine
}

// of returns the check's share of a limit of the pool.
func (mine *share) of(limit int) int {
	left := max(0, limit-mine.sent)
	return min(left*mine.weight/mine.weights, left-mine.reserved)
}

// end takes what a check has used from its pool, and reports whether time has taken any requests from it.
func (run *Run) end() bool {
	p := run.share.pool
	took := time.Since(run.share.began)
	p.used += took
	key := judged{run.Check.ID, run.turned}
	if !run.Check.silent { // it is the verdict of a check that was judged before
		delete(run.budget.cuts, key)
	}
	// What earlier checks did not send is in this one's share too, and is not counted twice.
	sent := run.sentHere()
	if run.late == 0 || !run.short || sent == 0 {
		return false
	}
	lost := max(1, min(run.late, run.share.whole-sent))
	run.budget.cuts[key] = cut{lost, took / time.Duration(sent) * time.Duration(lost)}
	return true
}

// sentHere returns how many requests the check has sent.
func (run *Run) sentHere() (n int) {
	run.Covered.Add(func(*coverage.Counts) { n = run.share.pool.sent - run.share.sent })
	return n
}

// affordable returns how many requests the check can send in its time, at the pace of those that it has sent.
// The requests of other checks say nothing of them: a whole read may take a hundred times as long as a count.
func (run *Run) affordable(sent int) int {
	took := time.Since(run.share.began)
	switch {
	case run.share.pool.time == 0:
		return math.MaxInt32
	case took >= run.share.time:
		return sent
	case sent < paceRequests || took <= 0:
		return math.MaxInt32
	}
	return int(min(float64(sent)*float64(run.share.time)/float64(took), math.MaxInt32))
}

// Again shares out what an account has left among some of its checks, and yields those for which there are time and
// requests to be judged once more. The second account's have the time that the first has left, too.
func (s *Session) Again(checks []*Check) iter.Seq[*Check] {
	return func(yield func(*Check) bool) {
		if len(checks) == 0 {
			return
		}
		p, first := s.poolOf(checks[0]), &s.budget.first
		if p.ahead = slices.Clone(checks); p != first && first.time > first.used {
			p.time += first.time - first.used
			first.time = first.used
		}
		for _, c := range checks {
			if p.time-p.used <= p.time/20 || p.limit-p.sent <= recentRequests || !yield(c) {
				return
			}
		}
	}
}

// Late returns the time with which a run is cut short by nothing, or 0 if time did not cut this one.
func (s *Session) Late() time.Duration {
	b, all := &s.budget, cut{}
	for _, c := range b.cuts {
		all.requests, all.took = all.requests+c.requests, all.took+c.took
	}
	if all.requests == 0 {
		return 0
	}
	whole := time.Since(b.began) + all.took
	return whole + whole/2 // checks ask unevenly, and of a timeout some is for the answers that are awaited at its end
}

// Forecast returns how many requests the run sends in all, if it uses its budget and goes on at its present pace, and
// how long the rest takes. Both are 0 without a limit.
func (s *Session) Forecast() (requests int, left time.Duration) {
	b := &s.budget
	s.Covered.Add(func(c *coverage.Counts) {
		for _, p := range []*pool{&b.first, &b.second} {
			if p.most == 0 || p == &b.second && len(s.Tenants) < 2 {
				continue
			}
			requests += p.most
		}
		first := b.starts[c.Requests%recentRequests]
		if requests == 0 || c.Requests < recentRequests {
			return
		}
		pace := time.Since(first) / recentRequests
		left = pace * time.Duration(max(0, requests-c.Requests))
		if whole := b.first.time + b.second.time; whole > 0 && left > whole-time.Since(b.began) {
			left = max(0, whole-time.Since(b.began))
			requests = min(requests, c.Requests+int(left/max(pace, 1)))
		}
	})
	return requests, left
}

// overspent returns the finding of a check for which there are no requests, that used the last of
// them before it knew, or that was cut short before it could say anything, or nil.
func (run *Run) overspent(found *check.Finding) *check.Finding {
	most := run.share.pool.most
	switch {
	case run.budget.leftOut[run.Check.ID]:
		return check.Skip(check.NotReached, "left out: %d requests are too few for all checks", run.Requests)
	case run.cut.Load() && found.Failure():
		return check.Skip(check.NotReached, "the last of %d requests was used before this was certain: %s", most, found.Detail)
	case run.cut.Load():
		return check.Skip(check.NotReached, "left out: the last of %d requests was used", most)
	case found == nil && run.short && !run.Check.Watched:
		if sent, enough := run.sentHere(), run.Check.enough(); sent < enough {
			return check.Skip(check.NotReached, "not judged: it was cut short after %s, and needs %d",
				phrase.Plural(sent, "request"), enough)
		}
	}
	return found
}

// spend counts a request, and tells who wants to know. It returns why it is not to be sent,
// if the limit of the run is used up.
func (s *Session) spend() (err error) {
	sent := 0
	s.Covered.Add(func(c *coverage.Counts) {
		p := s.budget.current
		if p != nil && p.most > 0 && p.sent >= p.most {
			s.cut.Store(true)
			err = errors.New("it is not asked, because the last request of the run was used")
			return
		}
		if p != nil {
			p.sent++
		}
		s.budget.starts[c.Requests%recentRequests] = time.Now()
		c.Requests++
		sent = c.Requests
	})
	if s.Sent != nil && err == nil {
		s.Sent(sent)
	}
	return err
}
