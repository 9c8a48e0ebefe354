package connectortest

import (
	"io"
	"sync"
	"testing"
)

// testLog writes the log of a connector to the log of a test until the test
// ends. A source that outlives its request is logged when it returns, which may
// be after the test, and a test panics if it is written to after its end.
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
