package standin

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Budget names what an endpoint counts requests against.
type Budget string

// The budgets. Every request also counts against the global flood protection.
const (
	PlanBudget    Budget = "plan"            // the plan's requests per minute, for each user
	TriggerBudget Budget = "trigger"         // 60 per minute for each user, shared by trigger and run stream
	ContactBudget Budget = "contact"         // 10 per minute for each selected address
	PrivacyBudget Budget = "privacy-request" // 3 per hour for each selected address
	SignInBudget  Budget = "sign-in"         // 5 per 15 seconds for each selected address
	WakeBudget    Budget = "desktop-wake"    // 5 per minute for each selected address
	NoBudget      Budget = ""                // flood protection only
)

// budgets are all limiters of a service. A route with the sign-in budget has a
// limiter of its own, because addresses that are missing share a budget per route.
type budgets struct {
	flood   *limiter
	plan    *limiter
	trigger *limiter
	mu      sync.Mutex
	routes  map[*Endpoint]*limiter
}

func newBudgets() budgets {
	return budgets{
		flood:   newLimiter(6000, time.Minute),
		plan:    newLimiter(Standard, time.Minute),
		trigger: newLimiter(60, time.Minute),
		routes:  map[*Endpoint]*limiter{},
	}
}

// route returns the limiter of an endpoint that is limited by address.
func (b *budgets) route(e *Endpoint) *limiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	l := b.routes[e]
	if l == nil {
		switch e.Budget {
		case ContactBudget:
			l = newLimiter(10, time.Minute)
		case PrivacyBudget:
			l = newLimiter(3, time.Hour)
		case SignInBudget:
			l = newLimiter(5, 15*time.Second)
		default: // WakeBudget
			l = newLimiter(5, time.Minute)
		}
		b.routes[e] = l
	}
	return l
}

// spendRoute counts a request against the budget of its endpoint. A path that
// does not exist counts against the plan.
func (s *Service) spendRoute(w http.ResponseWriter, c *call) error {
	budget := PlanBudget
	if c.endpoint != nil {
		budget = c.endpoint.Budget
	}
	switch budget {
	case NoBudget:
		return nil
	case PlanBudget:
		return s.spend(w, c, s.budgets.plan, c.account.user.ID, c.account.PerMinute)
	case TriggerBudget:
		return s.spend(w, c, s.budgets.trigger, c.account.user.ID, s.budgets.trigger.limit)
	}
	address := normalAddress(c.request)
	switch budget {
	case PrivacyBudget:
		address = privacyAddress(c.request)
	case WakeBudget:
		address = connectionAddress(c.request)
	}
	l := s.budgets.route(c.endpoint)
	return s.spend(w, c, l, address, l.limit)
}

// spend counts a request and writes what is left into the headers. The last
// budget that a request is counted against is the one that the headers show.
func (s *Service) spend(w http.ResponseWriter, c *call, l *limiter, key string, limit int) error {
	left, reset, ok := l.take(key, limit, c.now)
	h := w.Header()
	h.Set("X-RateLimit-Limit", strconv.Itoa(limit))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(left))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(reset.Unix(), 10))
	if !ok {
		return &failure{Status: http.StatusTooManyRequests, Message: "Too many requests. Wait before you try again."}
	}
	return nil
}

// limiter allows a number of requests in a window of time, for each key. A
// window begins with the first request after the last one has ended.
type limiter struct {
	limit  int
	period time.Duration

	mu      sync.Mutex
	windows map[string]*window
}

type window struct {
	end  time.Time
	used int
}

func newLimiter(limit int, period time.Duration) *limiter {
	return &limiter{limit: limit, period: period, windows: map[string]*window{}}
}

// take counts one request of key. It returns how many are left, when the window
// ends in whole seconds, and whether the request is within the limit.
func (l *limiter) take(key string, limit int, now time.Time) (left int, reset time.Time, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.windows[key]
	if w == nil || !now.Before(w.end) {
		if len(l.windows) > 10_000 { // many addresses: forget those that start afresh anyway
			for k, old := range l.windows {
				if !now.Before(old.end) {
					delete(l.windows, k)
				}
			}
		}
		// Rounded up, so that a client that waits until the reset it was shown has waited long enough.
		end := now.Add(l.period)
		if rounded := end.Truncate(time.Second); rounded.Before(end) {
			end = rounded.Add(time.Second)
		}
		w = &window{end: end}
		l.windows[key] = w
	}
	if w.used >= limit {
		return 0, w.end, false
	}
	w.used++
	return limit - w.used, w.end, true
}
