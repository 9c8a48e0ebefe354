package restsource

import (
	"bytes"
	"cmp"
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
)

// Budget says where the body of an answer states what is left of a budget of requests.
// All are member paths of numbers. Requests are then sent so that the budget is not
// exceeded, within the deadline. What the headers state needs no declaration.
type Budget struct {
	// Remaining is what is left, and Limit what a full budget has.
	Remaining, Limit string
	// Restore is how much comes back in a second. The source waits until there is as much
	// as Cost, which is the cost of the request that was answered: the next one of a
	// read costs about the same. Without Cost a request costs 1.
	Restore, Cost string
	// Reset is when the budget is full again, for one that does not come back bit by bit: a
	// number of seconds, or a time in seconds since 1970.
	Reset string
}

// costBudget is the budget of many GraphQL APIs. It is read without being declared.
var costBudget = Budget{
	Remaining: "extensions.cost.throttleStatus.currentlyAvailable",
	Limit:     "extensions.cost.throttleStatus.maximumAvailable",
	Restore:   "extensions.cost.throttleStatus.restoreRate",
	Cost:      "extensions.cost.requestedQueryCost",
}

// Rate is a rate of requests that the author of a connector knows. Zero is no limit.
type Rate struct {
	// Requests are sent in each Per, evenly. Per is a second if it is zero.
	Requests int
	Per      time.Duration
	// Each says that the API counts the requests of each tenant. They are then counted for
	// each request of the platform, because a connector remembers nothing about
	// a tenant. By default all requests of the connector are counted together.
	Each bool
}

// limiter gives requests their turns at a fixed rate.
type limiter struct {
	interval time.Duration

	mu   sync.Mutex
	next time.Time
}

// newLimiter returns the limiter of a rate, or nil for the zero Rate.
func newLimiter(r Rate) *limiter {
	if r.Requests <= 0 {
		return nil
	}
	return &limiter{interval: cmp.Or(max(r.Per, 0), time.Second) / time.Duration(r.Requests)}
}

// turn waits until the next request may be sent. A turn that comes after the deadline
// is not taken, so that it is another's.
func (l *limiter) turn(ctx context.Context) error {
	if l == nil {
		return nil
	}
	wait, taken := l.take(ctx, time.Now())
	if !taken {
		return &limitError{wait}
	}
	if wait > 0 && !sleep(ctx, wait) {
		return context.Cause(ctx)
	}
	return nil
}

func (l *limiter) take(ctx context.Context, now time.Time) (wait time.Duration, taken bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next.Before(now) {
		l.next = now
	}
	wait = l.next.Sub(now)
	if wait > 0 && !fits(ctx, wait) {
		return wait, false
	}
	l.next = l.next.Add(l.interval)
	return wait, true
}

// level is a budget as an answer states it.
type level struct {
	remaining, limit, restore, cost float64
	reset                           time.Duration
}

// levelOf reads a budget from a body. It reports false for a body without one.
func (b *Budget) levelOf(body []byte) (l level, ok bool) {
	names := splitPath(b.Remaining)
	if len(names) == 0 || !bytes.Contains(body, []byte(`"`+names[len(names)-1]+`"`)) {
		return l, false
	}
	var paths [][]string
	for _, path := range []string{b.Remaining, b.Limit, b.Restore, b.Cost, b.Reset} {
		if path == "" {
			paths = append(paths, nil)
		} else {
			paths = append(paths, splitPath(path))
		}
	}
	found, err := newPicker(paths...).parse(string(body), len(paths))
	if err != nil || found[0].Kind != textvalue.Number {
		return l, false // reading the rows will say what is wrong with the JSON
	}
	reset := 0.0
	for i, n := range []*float64{&l.remaining, &l.limit, &l.restore, &l.cost, &reset} {
		*n, _ = strconv.ParseFloat(strings.TrimSpace(found[i].Text), 64)
	}
	if l.cost <= 0 {
		l.cost = 1
	}
	if at, ok := resetOf(int64(reset), time.Now(), time.Now()); ok && reset > 0 {
		l.reset = time.Until(at)
	}
	return l, l.restore > 0 || l.reset > 0
}

// wait returns how long it takes until there is enough for a request of the same cost.
func (l level) wait() time.Duration {
	if l.restore <= 0 {
		return max(0, l.reset)
	}
	need := l.cost
	if l.limit > 0 {
		need = min(need, l.limit)
	}
	return seconds((need - l.remaining) / l.restore)
}

// seconds returns a duration that is not negative and not longer than a day, rounded up.
func seconds(s float64) time.Duration {
	const day = 24 * 3600
	if !(s > 0) {
		return 0
	}
	return (time.Duration(min(s, day)*float64(time.Second)) + time.Millisecond).Truncate(time.Millisecond)
}

// fill keeps what an answer states of a budget that comes back bit by bit.
func (p *pace) fill(l level) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.restore > 0 {
		p.level, p.levelAt = l, time.Now()
		return
	}
	p.remaining, p.limit, p.reset = int64(l.remaining), max(int64(l.limit), int64(l.remaining)+1), time.Now().Add(l.reset)
}

// spend returns how long it takes until the level has enough for a request, and takes
// the cost from it if that is now. The caller holds the lock.
func (p *pace) spend(now time.Time) time.Duration {
	l := &p.level
	if l.restore <= 0 {
		return 0
	}
	l.remaining += now.Sub(p.levelAt).Seconds() * l.restore
	if l.limit > 0 {
		l.remaining = min(l.remaining, l.limit)
	}
	p.levelAt = now
	if wait := l.wait(); wait > 0 {
		return wait
	}
	l.remaining -= l.cost
	return 0
}
