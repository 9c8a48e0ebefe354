package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/defaults"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// How long answers are waited for, unless a call says it.
const (
	// promptWait is for what needs no source: the document, a wrong token, an empty body.
	promptWait = 15 * time.Second
	// checkWait is for the first /check, which states checkTimeout.
	checkWait    = checkTimeout + 5*time.Second
	checkTimeout = 15 * time.Second
	// answerWait is for JSON answers, which state answerTimeout.
	answerWait = answerTimeout + 5*time.Second
	// streamWait is for whole streams, and silentWait for the next line of one: the platform waits no longer.
	streamWait = defaults.QueryTimeout + defaults.Grace
	silentWait = terms.PlatformIdleTimeout
	// retryWait is for a route that has answered before and then left a request unanswered.
	retryWait = 5 * time.Second
	// maxWaited is how long a run waits for answers that do not come, in all.
	maxWaited = 55 * time.Second
)

// timeouts limits how long a run waits for answers that do not come.
type timeouts struct {
	mu     sync.Mutex
	waited time.Duration          // for answers that did not come
	routes map[string]*routeState // by path; of all routes without the right token, by ""
	// refused is the check that saw the route not answer because of which a call was not made,
	// since the check being judged began. It is a string, or nothing yet.
	refused atomic.Value
}

// routeState is how a route has answered.
type routeState struct {
	answered   bool   // ever
	unanswered int    // requests in a row
	check      string // that was being judged when the first of them was sent
	err        error  // of the last of them
}

// route returns the state of the route of a call. Without the right token, a call is to be refused
// whatever its route is, so all routes have one state. The caller holds the lock.
func (t *timeouts) route(c Call) *routeState {
	key := c.Path
	if c.Authorization != nil {
		key = ""
	}
	if t.routes[key] == nil {
		t.routes[key] = &routeState{}
	}
	return t.routes[key]
}

// wait returns how long the answer to a call is waited for, or why it is not made: the
// route is known not to answer when it is asked so.
func (t *timeouts) wait(c Call) (time.Duration, error) {
	if c.Wait > 0 {
		return c.Wait, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	h := t.route(c)
	if h.unanswered > 1 || h.unanswered == 1 && (!h.answered || c.Authorization != nil) {
		t.refused.Store(h.check)
		if c.Authorization != nil {
			return 0, fmt.Errorf("a request without the token is left unanswered: %w", h.err)
		}
		return 0, fmt.Errorf("%s is not asked any more: %w", c.Path, h.err)
	}
	wait := answerWait
	switch {
	case h.unanswered > 0:
		wait = retryWait
	case c.Path == wire.PathDocument, c.Authorization != nil, len(c.Body) <= len("{}"):
		wait = promptWait
	case c.Path == wire.PathQuery:
		wait = streamWait
	}
	if h.answered && h.unanswered == 0 {
		return wait, nil // all the time that the request states: the source may be slow today
	}
	return min(wait, max(maxWaited-t.waited, retryWait)), nil
}

// note records how a call ended.
func (t *timeouts) note(c Call, ctx context.Context, took time.Duration, check string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	h := t.route(c)
	var gaveUp late
	switch {
	case errors.As(context.Cause(ctx), &gaveUp):
		if h.unanswered == 0 {
			h.check = check
		}
		h.unanswered++
		h.err = gaveUp
		if err != nil {
			h.err = err
		}
		t.waited += took
	case ctx.Err() == nil:
		h.answered, h.unanswered = true, 0
	}
}

// reporter returns the check that reports that a call was not answered: the one being
// judged or, for a call that is made before all checks, the one that makes it too.
func (s *Session) reporter(c Call) string {
	switch {
	case s.Planned[s.judging]:
		return s.judging
	case c.Path == wire.PathDiscovery:
		return "P3.1a"
	case c.Path == wire.PathCheck:
		return "P1.6"
	}
	return "P0.1"
}

// Stop returns why no check is begun any more, or "".
func (s *Session) Stop() string {
	s.timeouts.mu.Lock()
	defer s.timeouts.mu.Unlock()
	if s.Stopped == "" && s.timeouts.waited >= maxWaited {
		return fmt.Sprintf("the connector has left requests unanswered for %s in all, and is not waited for any longer", maxWaited)
	}
	return s.Stopped
}

// reports reports whether a check is the one to tell that a route does not answer.
func (t *timeouts) reports(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, h := range t.routes {
		if h.check == id {
			return true
		}
	}
	return false
}
