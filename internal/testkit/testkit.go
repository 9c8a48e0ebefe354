// Package testkit has what the tests of several packages need: handlers and transports that
// a test bends, files of cases, and a log that can be read; the sources to bend are in
// package connectors below it. Only tests import it.
package testkit

import (
	"fmt"
	"testing"
)

// Must returns a function that returns v, or ends the test if there is an error. The
// arguments behind the test are the message:
//
//	src := testkit.Must(memsource.New(tables, nil))(t, "two tables")
func Must[T any](v T, err error) func(t testing.TB, message ...any) T {
	return func(t testing.TB, message ...any) T {
		t.Helper()
		if err == nil {
			return v
		}
		if len(message) == 0 {
			t.Fatalf("unexpected error: %v", err)
		}
		if format, ok := message[0].(string); ok {
			message = []any{fmt.Sprintf(format, message[1:]...)}
		}
		t.Fatalf("unexpected error: %v (%v)", err, fmt.Sprint(message...))
		panic("Fatalf returned")
	}
}
