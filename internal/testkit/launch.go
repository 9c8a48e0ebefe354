package testkit

import (
	"context"
	"fmt"
	"io"
	"sync"
	"testing"
)

// Launch runs a program in the process of the test and returns what it prints, its error in
// the end. The program ends with the test, or when stop is called, which it has to do without
// an error.
func Launch(t testing.TB, run func(ctx context.Context, out io.Writer) error) (printed *Log, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	printed = &Log{}
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, printed)
		if err != nil {
			_, _ = fmt.Fprintln(printed, err)
		}
		ended <- err
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the program ended with an error: %v", err)
		}
	})
	t.Cleanup(stop)
	return printed, stop
}
