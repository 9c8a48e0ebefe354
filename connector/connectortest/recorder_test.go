package connectortest

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// recorder replaces a *testing.T in a test that must fail: it records failures
// and logs. Everything else, such as cleanups and the context, goes to the real
// test.
type recorder struct {
	testing.TB
	name   string
	parent *recorder
	only   string // the path of the subtests that run, as for go test -run; empty: all

	mu       sync.Mutex
	errors   []string
	logs     []string
	failed   bool
	skipped  bool
	subtests []*recorder
}

// record runs a part with a recorder and returns it. It runs only the subtests
// on the path only and those below it.
func record(t testing.TB, only string, part func(testing.TB)) *recorder {
	r := &recorder{TB: t, only: only}
	r.run(part)
	return r
}

// run runs a part in a goroutine, which FailNow or SkipNow may end.
func (r *recorder) run(part func(testing.TB)) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		part(r)
	}()
	<-done
}

// Run is the method that subtest calls.
func (r *recorder) Run(name string, part func(testing.TB)) bool {
	name = strings.TrimPrefix(r.name+"/"+strings.ReplaceAll(name, " ", "_"), "/")
	if !strings.HasPrefix(r.only+"/", name+"/") && !strings.HasPrefix(name+"/", r.only+"/") && r.only != "" {
		return true
	}
	sub := &recorder{TB: r.TB, name: name, parent: r, only: r.only}
	r.mu.Lock()
	r.subtests = append(r.subtests, sub)
	r.mu.Unlock()
	sub.run(part)
	return !sub.Failed()
}

func (r *recorder) Helper()      {}
func (r *recorder) Name() string { return r.name }

func (r *recorder) Fail() {
	r.mu.Lock()
	r.failed = true
	r.mu.Unlock()
	if r.parent != nil {
		r.parent.Fail()
	}
}

func (r *recorder) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

func (r *recorder) FailNow() {
	r.Fail()
	runtime.Goexit()
}

func (r *recorder) note(list *[]string, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*list = append(*list, text)
}

func (r *recorder) Log(args ...any)                 { r.note(&r.logs, fmt.Sprintln(args...)) }
func (r *recorder) Logf(format string, args ...any) { r.note(&r.logs, fmt.Sprintf(format, args...)) }

func (r *recorder) Error(args ...any) {
	r.note(&r.errors, fmt.Sprintln(args...))
	r.Fail()
}

func (r *recorder) Errorf(format string, args ...any) {
	r.note(&r.errors, fmt.Sprintf(format, args...))
	r.Fail()
}

func (r *recorder) Fatal(args ...any) {
	r.Error(args...)
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}

func (r *recorder) SkipNow() {
	r.mu.Lock()
	r.skipped = true
	r.mu.Unlock()
	runtime.Goexit()
}

func (r *recorder) Skip(args ...any) {
	r.Log(args...)
	r.SkipNow()
}

func (r *recorder) Skipf(format string, args ...any) {
	r.Logf(format, args...)
	r.SkipNow()
}

func (r *recorder) Skipped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.skipped
}

// walk visits the recorder and everything below it.
func (r *recorder) walk(visit func(*recorder)) {
	visit(r)
	for _, sub := range r.subtests {
		sub.walk(visit)
	}
}

// failures returns every error with the name of its test.
func (r *recorder) failures() (list []string) {
	r.walk(func(r *recorder) {
		for _, e := range r.errors {
			list = append(list, r.name+": "+e)
		}
	})
	return list
}

// logged returns everything that was logged.
func (r *recorder) logged() (list []string) {
	r.walk(func(r *recorder) {
		for _, l := range r.logs {
			list = append(list, r.name+": "+l)
		}
	})
	return list
}
