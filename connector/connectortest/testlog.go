package connectortest

import (
	"io"
	"sync"
	"testing"
)

// testLog is where a connector's log goes: the test's own, until the test is
// over. A source that outlives its request is reported whenever it returns, and
// a test that is over panics when it is written to.
type testLog struct {
	mu   sync.Mutex
	w    io.Writer
	over bool
}

func newTestLog(t testing.TB) *testLog {
	l := &testLog{w: t.Output()}
	t.Cleanup(func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.over = true
	})
	return l
}

func (l *testLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over {
		return len(p), nil
	}
	return l.w.Write(p)
}
