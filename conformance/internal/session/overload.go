package session

import (
	"context"
	"net/http"
	"strconv"
	"time"
)

const (
	// maxAgain is how often a call is sent again, and maxHopeless how many calls are sent again
	// for nothing before the connector is believed that it cannot answer.
	maxAgain    = 2
	maxHopeless = 1
	// usualPause is how long to wait before, unless the answer says it. Budgets are often those of a minute.
	usualPause = 61 * time.Second
	maxPause   = 5 * time.Minute
)

// again reports whether to send a call once more, after a pause, because the connector can do no more
// at present: its source allows so many requests a minute, say. The call was answered that there is no
// time for it, by 408 or an error line, or by a gateway that there were too many requests. A call with
// a deadline of its own wants to know that. tries counts the times that it was sent again before.
func (s *Session) again(ctx context.Context, c Call, a *Answer, tries int) bool {
	busy := a.Status == http.StatusTooManyRequests || a.TimedOut
	hopeless := s.hopeless.Load()
	switch {
	case !busy && a.Err == nil && tries > 0:
		s.hopeless.Store(0)
	case busy && tries == maxAgain:
		s.hopeless.Add(1)
	}
	slowest, _ := s.Longest(c.Path, false)
	answers := slowest.Path != "" // the route has answered before
	if !busy || !answers || !c.usual() || tries == maxAgain || hopeless >= maxHopeless || s.left() == 0 {
		return false
	}
	pause := usualPause
	if n, err := strconv.Atoi(a.Header.Get("Retry-After")); err == nil && n > 0 {
		pause = min(time.Duration(n)*time.Second, maxPause)
	}
	select {
	case <-time.After(pause):
		return true
	case <-ctx.Done():
		return false
	}
}
