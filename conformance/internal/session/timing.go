package session

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// timed is a legal call that was answered, and how long that lasted.
type timed struct {
	Call
	lasted time.Duration
}

// lasting is what the answers of a route are compared by: the time that they took or, if silent is
// set, their longest time without a byte.
type lasting struct {
	path   string
	silent bool
}

// timing is how an answer came.
type timing struct {
	// Took is the time from the request until the answer was read, or its first
	// 8 KiB: how long more takes may be a matter of the network.
	Took time.Duration
	// Silent is the longest time without a byte.
	Silent time.Duration
}

// timings keeps the calls of the run that show its clocks.
type timings struct {
	mu      sync.Mutex
	longest map[lasting]timed
}

// usualMember returns the member that [Call.WithTimeout] replaces.
func usualMember(path string) []byte { return fmt.Appendf(nil, `"timeoutMs":%d`, usualTimeout(path)) }

// WithTimeout returns the call with another timeoutMs than the usual one, and no
// limit of this side that comes before wait.
func (c Call) WithTimeout(timeout, wait time.Duration) Call {
	c.Body = bytes.Replace(c.Body, usualMember(c.Path), fmt.Appendf(nil, `"timeoutMs":%d`, timeout.Milliseconds()), 1)
	c.Wait = wait
	return c
}

// usual reports whether a call has the usual token and deadline.
func (c Call) usual() bool {
	return c.Method == http.MethodPost && c.Wait == 0 && c.Authorization == nil && c.Query == "" && bytes.Contains(c.Body, usualMember(c.Path))
}

// note remembers a call that was answered with 200.
func (t *timings) note(c Call, took timing) {
	if !c.usual() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for what, lasted := range map[lasting]time.Duration{{c.Path, false}: took.Took, {c.Path, true}: took.Silent} {
		if longest, ok := t.longest[what]; !ok || lasted > longest.lasted {
			t.longest[what] = timed{c, lasted}
		}
	}
}

// Longest returns the call to a route whose answer took longest or, if silent is set, had the longest silence, and
// how long that was. The call has no path if the route has answered none.
func (s *Session) Longest(path string, silent bool) (Call, time.Duration) {
	s.timings.mu.Lock()
	defer s.timings.mu.Unlock()
	longest := s.timings.longest[lasting{path, silent}]
	return longest.Call, longest.lasted
}

// earlyBytes is how much of an answer comes at once over any network, so that its arrival shows when it was written.
const earlyBytes = 8 << 10

// timedBody is the body of an answer. It measures how the body comes and, of a stream, gives it up
// when no line has come for a while.
type timedBody struct {
	io.ReadCloser
	timing
	began time.Time
	bytes int
	timer *time.Timer // nil: lines are waited for as long as the answer
	line  int         // bytes since the last line
}

// limitIdle returns a context that ends when a stream is idle for too long. A call that
// says how long it is waited for, or that has another answer than a stream, has no such limit.
func (b *timedBody) limitIdle(ctx context.Context, c Call, wait time.Duration) context.Context {
	if c.Wait > 0 || c.Path != wire.PathQuery {
		return ctx
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	long := min(wait, silentWait)
	b.timer = time.AfterFunc(long, func() { giveUp(late{long}) })
	return ctx
}

// Read reads on. A line may be long, so many bytes count as much as a line.
func (b *timedBody) Read(p []byte) (int, error) {
	const many = 64 << 10
	waiting := time.Now()
	if b.bytes == 0 {
		waiting = b.began // nothing came before
	}
	n, err := b.ReadCloser.Read(p)
	now := time.Now()
	b.Silent = max(b.Silent, now.Sub(waiting))
	if b.bytes < earlyBytes {
		b.Took = now.Sub(b.began)
	}
	b.bytes += n
	b.line += n
	if b.timer != nil && (b.line >= many || bytes.IndexByte(p[:n], '\n') >= 0) {
		b.line = 0
		b.timer.Reset(silentWait)
	}
	return n, err
}
