package connectortest

import (
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

// testLog writes the log of a connector to the log of a test until the test
// ends. A source that outlives its request is logged when it returns, which may
// be after the test, and a test panics if it is written to after its end.
type testLog struct {
	mu    sync.Mutex
	w     io.Writer
	known map[string]bool // if not nil: lines that were written and are not repeated
	over  bool
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
	switch line := string(p); {
	case l.over || l.known[line] || len(l.known) == maxLogLines:
		return len(p), nil
	case l.known != nil && strings.Contains(line, " msg=request "):
		return len(p), nil // every request has such a line, and most of them answer well
	case l.known != nil:
		l.known[line] = true
	}
	return l.w.Write(p)
}

// maxLogLines limits the log of a [Run]. A connector that fails says so in a thousand
// requests.
const maxLogLines = 20

// newTerseLog returns a log that writes no line twice, and not many.
func newTerseLog(t testing.TB) *testLog {
	l := newTestLog(t)
	l.known = map[string]bool{}
	return l
}

// newLogger returns a logger of lines without the time, which differs between lines
// that are otherwise the same.
func newLogger(w io.Writer, level slog.Level) *slog.Logger {
	untimed := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level, ReplaceAttr: untimed}))
}
