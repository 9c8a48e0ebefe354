package connectortest

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
)

// recorder replaces a *testing.T in a test that must fail: it records failures
// and logs. Everything else, such as cleanups and the context, goes to the real
// test.
type recorder struct {
	testing.TB
	mu     sync.Mutex
	errors []string
	logs   []string
}

// record runs a part with a recorder, in a goroutine, which FailNow may end.
func record(t testing.TB, part func(testing.TB)) *recorder {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		part(r)
	}()
	<-done
	return r
}

func (r *recorder) Helper() {}

func (r *recorder) note(list *[]string, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*list = append(*list, text)
}

func (r *recorder) Logf(format string, args ...any) { r.note(&r.logs, fmt.Sprintf(format, args...)) }
func (r *recorder) Error(args ...any)               { r.note(&r.errors, fmt.Sprint(args...)) }
func (r *recorder) Errorf(format string, args ...any) {
	r.note(&r.errors, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatal(args ...any) {
	r.Error(args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}
