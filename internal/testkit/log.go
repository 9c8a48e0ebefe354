package testkit

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Log keeps what is written to it, by several goroutines at once too.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends to the log.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns all that was written.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Logger returns a logger of lines of text.
func (l *Log) Logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// Await returns the first whole line with a text, and fails the test if no such line comes within
// ten seconds: a request is logged when it is over, which may be after its answer.
func (l *Log) Await(t testing.TB, want string) string {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); time.Now().Before(until); time.Sleep(time.Millisecond) {
		for line := range strings.Lines(l.String()) {
			if strings.Contains(line, want) && strings.HasSuffix(line, "\n") {
				return line
			}
		}
	}
	t.Fatalf("the log has no %q:\n%s", want, l)
	return ""
}
