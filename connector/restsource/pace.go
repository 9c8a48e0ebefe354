package restsource

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// pace knows what an API has said about its budget of requests, and gives each
// request its turn. The zero pace knows nothing and lets all requests through.
type pace struct {
	mu        sync.Mutex
	limit     int64        // of a full budget
	remaining int64        // of this budget
	reset     time.Time    // when the budget is full again
	next      time.Time    // the turn of the next request
	closed    time.Time    // the API refuses all requests before it
	refused   atomic.Int64 // how often it has

	level   level // of a budget that comes back bit by bit
	levelAt time.Time
}

// turn waits until the next request may be sent. If that is after the deadline, it
// fails with a *limitError.
func (p *pace) turn(ctx context.Context) error {
	for {
		wait, must := p.take(time.Now())
		if wait <= 0 {
			return context.Cause(ctx)
		}
		if must && !fits(ctx, wait) {
			return &limitError{wait}
		}
		// A wait that only spreads requests is a courtesy. If it would outlast the
		// deadline, the request goes at once.
		if !sleep(ctx, wait) {
			return context.Cause(ctx)
		}
		if !must {
			return nil
		}
		// The budget is full again, and others have waited for it too.
	}
}

// take returns how long the next request has to wait. must says that the API
// demands it, and that the request has no turn yet.
func (p *pace) take(now time.Time) (wait time.Duration, must bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if left := p.closed.Sub(now); left > 0 {
		return left, true
	}
	if wait := p.spend(now); wait > 0 {
		return wait, true
	}
	left := p.reset.Sub(now)
	switch {
	case left <= 0:
		return 0, false
	case p.remaining <= 0:
		return left, true
	case 2*p.remaining >= p.limit:
		p.remaining--
		return 0, false
	}
	if p.next.Before(now) || p.next.After(p.reset) { // After: of a budget that the API no longer states
		p.next = now
	}
	wait = p.next.Sub(now)
	p.next = p.next.Add(p.reset.Sub(p.next) / time.Duration(p.remaining))
	p.remaining--
	return wait, false
}

// learn reads the headers of an answer, and reports whether the request was
// refused for want of budget, as its status or the verdict says. A refusal that does not
// say for how long counts as one for the given wait.
func (p *pace) learn(res *http.Response, v Verdict, otherwise time.Duration) (refused bool) {
	now := time.Now()
	reset, resets := resetTime(res.Header, now)
	after, waits := retryAfter(res.Header, now)
	refused = limits(res) || res.StatusCode == http.StatusServiceUnavailable && waits
	if v.Outcome == OutcomeWait {
		refused = true
		if v.Wait > 0 {
			after, waits = v.Wait, true
		}
	}
	if !refused {
		p.state(res)
		return false
	}
	switch {
	case waits && after > 0:
		reset = now.Add(after)
	case waits || !resets || !reset.After(now):
		reset = now.Add(otherwise)
	}
	p.refused.Add(1)
	p.mu.Lock()
	defer p.mu.Unlock()
	// Answers that were under way together arrive in any order.
	if reset.After(p.closed) {
		p.closed = reset
	}
	return true
}

// limits reports whether the status of an answer means a limit of requests. A 403 does if it
// says when to come back, or that nothing is left of a budget.
func limits(res *http.Response) bool {
	_, waits := retryAfter(res.Header, time.Now())
	left, err := strconv.ParseInt(headerOf(res.Header, "Remaining"), 10, 64)
	limited := waits || err == nil && left <= 0
	return res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusForbidden && limited
}

// state keeps what the headers of an answer state of the budget.
func (p *pace) state(res *http.Response) {
	p.mu.Lock()
	defer p.mu.Unlock()
	reset, resets := resetTime(res.Header, time.Now())
	remaining, err := strconv.ParseInt(headerOf(res.Header, "Remaining"), 10, 64)
	if err != nil || !resets {
		return
	}
	// Of such answers, the one with the smallest number is the newest.
	if p.reset.After(time.Now()) && p.remaining < remaining && reset.Sub(p.reset).Abs() <= time.Second {
		remaining = p.remaining
	}
	p.remaining, p.reset = remaining, reset
	if limit, err := strconv.ParseInt(headerOf(res.Header, "Limit"), 10, 64); err == nil {
		p.limit = limit
	} else {
		p.limit = max(p.limit, remaining+1) // as far as this request has seen
	}
}

// headerOf returns what an answer says of its budget: Limit, Remaining or Reset.
func headerOf(h http.Header, name string) string {
	for _, prefix := range []string{"X-RateLimit-", "RateLimit-", "X-Rate-Limit-"} {
		if v := strings.TrimSpace(h.Get(prefix + name)); v != "" {
			return v
		}
	}
	return oneHeader(h)[name]
}

// oneHeader reads the header of the drafts for HTTP, in which several budgets may
// stand, and returns the one of which the least is left:
//
//	RateLimit: limit=100, remaining=50, reset=30
//
//	RateLimit-Policy: "burst";q=100;w=60, "day";q=1000;w=86400
//	RateLimit: "burst";r=5;t=3, "day";r=900;t=40000
func oneHeader(h http.Header) map[string]string {
	found := map[string]string{}
	quotas := map[string]string{}
	for _, policy := range itemsOf(h, "RateLimit-Policy") {
		quotas[policy[""]] = policy["q"]
	}
	least := int64(math.MaxInt64)
	for _, item := range itemsOf(h, "RateLimit") {
		for _, name := range []string{"Limit", "Remaining", "Reset"} {
			if v, ok := item[strings.ToLower(name)]; ok {
				found[name] = v
			}
		}
		if left, err := strconv.ParseInt(item["r"], 10, 64); err == nil && left < least {
			least = left
			found["Limit"], found["Remaining"], found["Reset"] = quotas[item[""]], item["r"], item["t"]
		}
	}
	return found
}

// itemsOf returns the parameters of each item of a header, with the name of the item
// under "".
func itemsOf(h http.Header, name string) (items []map[string]string) {
	for text := range strings.SplitSeq(strings.Join(h.Values(name), ","), ",") {
		item := map[string]string{}
		for parameter := range strings.SplitSeq(text, ";") {
			if key, value, ok := strings.Cut(strings.TrimSpace(parameter), "="); ok {
				item[key] = value
			} else {
				item[""] = key
			}
		}
		items = append(items, item)
	}
	return items
}

// resetTime returns when the budget is full again: the header is a number of
// seconds, or a time in seconds or milliseconds since 1970. The time is read by the
// API's own clock if the answer has a Date.
func resetTime(h http.Header, now time.Time) (time.Time, bool) {
	n, ok := numberOf(headerOf(h, "Reset"))
	if !ok {
		return time.Time{}, false
	}
	theirs, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		theirs = now
	}
	return resetOf(int64(math.Ceil(min(max(n, -1), 1e15))), now, theirs)
}

// numberOf reads a number of a header. Some APIs state a fraction where the standard has none.
func numberOf(text string) (float64, bool) {
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && terms.IsDecimal(text)
}

// resetOf returns a time that is stated as a number of seconds from now, or as one of
// seconds or milliseconds since 1970 by their clock.
func resetOf(n int64, now, theirs time.Time) (time.Time, bool) {
	const epoch, millis = 30 * 24 * 3600, 1e11 // in seconds: no budget lasts a month; no clock shows the year 5138
	if n < epoch {
		return now.Add(time.Duration(n) * time.Second), true
	}
	at := time.Unix(min(n, millis), 0)
	if n > millis {
		at = time.UnixMilli(n)
	}
	return now.Add(at.Sub(theirs)), true
}

// retryAfter returns the wait that Retry-After demands, in seconds or as a date.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	text := strings.TrimSpace(h.Get("Retry-After"))
	if n, ok := numberOf(text); ok {
		return time.Duration(math.Ceil(min(max(n, 0), 1<<31)*1000)) * time.Millisecond, n >= 0
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	if theirs, err := http.ParseTime(h.Get("Date")); err == nil {
		now = theirs
	}
	return max(0, at.Sub(now)), true
}
