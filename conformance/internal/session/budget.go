package session

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
)

// budget divides the requests of a run among its checks.
type budget struct {
	limit atomic.Int64 // of requests of the whole run; 0: none
	most  int          // the limit before it followed the pace of the connector
	// fixed is set if the caller gave the limit. It is kept then, whatever is left out. One that
	// nobody gave follows the pace of the connector instead.
	fixed   bool
	ahead   []*Check        // that share what is left
	leftOut map[string]bool // checks that the limit leaves nothing for
	began   time.Time
	// starts are those of the last requests, the one after the nth in the place n modulo their
	// number.
	starts [recentRequests]time.Time
}

const (
	// fewRequests is the weight of a check that does not state one.
	fewRequests = 6
	// recentRequests is how many requests show the pace of the connector.
	recentRequests = 30
)

// Share returns the check's share of the budget of requests, as a weight.
func (c *Check) Share() int { return cmp.Or(c.Weight, fewRequests) }

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

// applies reports whether the check has something to judge, as far as the document and the
// credentials tell.
func (s *Session) applies(c *Check) bool {
	switch {
	case c.Two && len(s.Tenants) < 2:
		return false
	case c.Open || c.Needs == nil || s.Document == nil:
		return true
	}
	return c.Needs(s.Document) == ""
}

// rank returns when a check is given requests if they are too few for all: the document and
// the token first, then what is judged of rows and of tenants, then what is judged of the
// protocol's behaviour, and advice last.
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

// divide gives those of the planned checks the requests up to a limit. If they are too few for all of
// them, it leaves some out.
func (s *Session) divide(limit int, those func(*Check) bool) {
	b := &s.budget
	b.ahead, b.leftOut, b.began = nil, map[string]bool{}, time.Now()
	if s.Requests > 0 {
		b.limit.Store(int64(limit))
		b.most = limit
	}
	for i := range s.Checks {
		if c := &s.Checks[i]; those(c) && s.applies(c) {
			b.ahead = append(b.ahead, c)
		}
	}
	if !b.fixed {
		return
	}
	left := limit - s.sentRequests()
	for rank := range 4 {
		for _, c := range b.ahead {
			if c.rank() != rank {
				continue
			}
			if left -= c.least(); left < 0 {
				b.leftOut[c.ID] = true
				left += c.least()
			}
		}
	}
	b.ahead = slices.DeleteFunc(b.ahead, func(c *Check) bool { return b.leftOut[c.ID] })
}

// Plan divides the budget of requests among the planned checks. It reads the document, which
// says which of them apply.
func (s *Session) Plan(ctx context.Context) {
	s.readDocument(ctx)
	s.budget.fixed = s.Requests > 0 && !s.Adapt
	s.divide(s.Requests, func(*Check) bool { return true })
}

// Reseed changes the seed, and gives the checks whose requests it makes a budget of their own.
func (s *Session) Reseed(seed uint64) {
	s.Seed = seed
	s.divide(s.sentRequests()+s.Requests, func(c *Check) bool { return c.Seeded })
}

// Allowance returns how many more requests the check may send within the budget of
// the run. What a check leaves of its share goes to the later ones. A check asks its
// most telling requests first, and stops when the allowance is used; it may send the
// few requests without which it could judge nothing.
func (run *Run) Allowance() int {
	share, sent := &run.share, run.sentRequests()
	run.adapt(sent)
	limit := run.Budget()
	if limit == 0 {
		return math.MaxInt32
	}
	left := max(0, limit-share.sent)
	mine := min(left*run.Check.Share()/share.weights, left-share.reserved)
	return max(0, share.sent+max(run.Check.least(), mine)-sent)
}

// Spent reports whether the check has judged something and used its requests.
func (run *Run) Spent() bool { return run.Cases > 0 && run.Allowance() == 0 }

// Left returns how many more requests the run may send at all.
func (s *Session) Left() int {
	if !s.budget.fixed {
		return math.MaxInt32
	}
	return max(0, s.Budget()-s.sentRequests())
}

// share is a check's part of the requests that are left when it begins.
type share struct {
	sent     int // requests of the whole run
	weights  int // of the check and of the later ones
	reserved int // for the few requests that the later ones need
}

// share returns the share of a check that begins.
func (s *Session) share(c *Check) share {
	b := &s.budget
	mine := share{sent: s.sentRequests(), weights: c.Share()}
	b.ahead = slices.DeleteFunc(b.ahead, func(other *Check) bool { return other.ID == c.ID })
	for _, other := range b.ahead {
		mine.weights += other.Share()
		mine.reserved += other.least()
	}
	return mine
}

// Pace returns how long a request takes at present, or 0 if too few were sent to know.
func (s *Session) Pace() (pace time.Duration) {
	s.Covered.Add(func(c *Counts) {
		if first := s.budget.starts[c.Requests%recentRequests]; c.Requests >= recentRequests {
			pace = time.Since(first) / recentRequests
		}
	})
	return pace
}

// adapt sets a limit that nobody gave to what the run can afford if the connector is so slow
// that it would take longer than is usual. A connector that was slow for a while is given
// its requests back.
func (s *Session) adapt(sent int) {
	b, pace := &s.budget, s.Pace()
	if b.fixed || s.Budget() == 0 || pace <= 0 {
		return
	}
	affordable := sent + int(max(0, defaults.Timeout-time.Since(b.began))/pace)
	b.limit.Store(int64(min(b.most, max(affordable, defaults.FewRequests))))
}

// overspent returns the finding of a check for which there are no requests, or that used
// the last of them before it knew, or nil.
func (s *Session) overspent(c *Check, found *check.Finding) *check.Finding {
	switch {
	case s.budget.leftOut[c.ID]:
		return check.Skip(check.NotReached, "left out: %d requests are too few for all checks", s.Requests)
	case s.cut.Load() && found.Failure():
		return check.Skip(check.NotReached, "the last of %d requests was used before this was certain: %s", s.Requests, found.Detail)
	case s.cut.Load():
		return check.Skip(check.NotReached, "left out: the last of %d requests was used", s.Requests)
	}
	return found
}

// sentRequests returns how many requests the whole run has sent.
func (s *Session) sentRequests() (n int) {
	s.Covered.Add(func(c *Counts) { n = c.Requests })
	return n
}

// spend counts a request, and tells who wants to know. It returns why it is not to be sent,
// if the limit of the run is used up.
func (s *Session) spend() (err error) {
	sent := 0
	s.Covered.Add(func(c *Counts) {
		if s.budget.fixed && c.Requests >= s.Budget() {
			s.cut.Store(true)
			err = errors.New("it is not asked, because the last request of the run was used")
			return
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

// Budget returns how many requests the run may send, or 0 if there is no limit.
func (s *Session) Budget() int { return int(s.budget.limit.Load()) }
