package connector

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
	"time"
)

// mostLogged bounds one cause in the log: an upstream's error may quote pages.
const mostLogged = 4 << 10

// log writes one line about a request: its route and table and what went
// wrong. Every text that did not come from the SDK is scrubbed of credential
// values first; bodies, headers, parameters and cells never get here (G9).
func (x *exchange) log(level slog.Level, msg string, attrs ...slog.Attr) {
	all := []slog.Attr{slog.String("slug", x.h.def.Slug), slog.String("route", x.route)}
	if x.table != "" {
		all = append(all, slog.String("table", x.scrubbed(x.table)))
	}
	// Lines are written from goroutines of the SDK's own too, where a logger
	// that panics would take the process with it.
	defer func() { _ = recover() }()
	// The request's context may be over, and a handler may refuse those.
	x.h.opts.Logger.LogAttrs(context.WithoutCancel(x.r.Context()), level, msg, append(all, attrs...)...)
}

func (x *exchange) logError(msg string, err error) {
	x.log(slog.LevelError, msg, slog.String("cause", x.scrubbed(err.Error())))
}

func (x *exchange) scrubbed(text string) string {
	text = x.creds.Scrub(text)
	if len(text) > mostLogged {
		text = text[:mostLogged] + "..."
	}
	return text
}

// panicked logs a panic of the source, whether or not anyone still waits for
// its answer, and is the error to go on with.
func (x *exchange) panicked(value any) error {
	x.log(slog.LevelError, "the source panicked",
		slog.String("cause", x.scrubbed(panicText(value))), slog.String("stack", x.scrubbed(string(debug.Stack()))))
	return errPanicked
}

// panicText is the value of a panic as far as it is a message: a struct may
// hold cells and parameters, and only its type is told (G9). Printing an error
// calls the author's code again, which may panic again: fmt contains that.
func panicText(value any) string {
	switch value.(type) {
	case error, fmt.Stringer:
		return fmt.Sprint(value)
	}
	switch reflect.ValueOf(value).Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Array, reflect.Pointer, reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return fmt.Sprintf("a value of type %T", value)
	}
	return fmt.Sprint(value)
}

// late tells the log that a call of the source outlived its request.
func (x *exchange) late(msg string, by time.Duration) {
	x.log(slog.LevelWarn, msg, slog.Duration("after", by.Round(time.Millisecond)))
}
