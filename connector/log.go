package connector

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"runtime/debug"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// maxCauseBytes limits one text in the log: an upstream's error may quote pages.
const maxCauseBytes = 4 << 10

// requestLog writes lines about one request: its route and table, and what went
// wrong. It removes credential values from every text that did not come from the
// library. Bodies, headers, parameters and cells are never logged.
type requestLog struct {
	logger  *slog.Logger
	ctx     context.Context // the request's
	id      string          // the request's
	slug    string
	route   string
	table   string           // or ""
	secrets wire.Credentials // every credential the request carries
	cause   string           // of a deliberate error, as its author wrapped it
}

func (l *requestLog) write(level slog.Level, msg string, attrs ...slog.Attr) {
	all := []slog.Attr{slog.String("slug", l.slug), slog.String("route", l.route), slog.String("request", l.scrubbed(l.id))}
	if l.table != "" {
		all = append(all, slog.String("table", l.scrubbed(l.table)))
	}
	l.emit(level, msg, append(all, attrs...)...)
}

func (l *requestLog) emit(level slog.Level, msg string, attrs ...slog.Attr) {
	// Some lines come from goroutines of the library, where a logger that panics
	// would end the process.
	defer func() { _ = recover() }()
	// The request's context may be over, and a handler may refuse those.
	l.logger.LogAttrs(context.WithoutCancel(l.ctx), level, msg, attrs...)
}

// internalError logs the cause of an internal error.
func (l *requestLog) internalError(err error) {
	l.write(slog.LevelError, "internal error", slog.String("cause", l.scrubbed(err.Error())))
}

// warn logs what the source has noticed without failing.
func (l *requestLog) warn(text string) {
	l.write(slog.LevelWarn, "the source warns", slog.String("cause", l.scrubbed(text)))
}

// dataError logs why data of the source cannot be sent.
func (l *requestLog) dataError(err error) {
	l.write(slog.LevelError, "the source has data that cannot be sent", slog.String("cause", l.scrubbed(err.Error())))
}

// panicked logs a panic of the source. It must be called while the panic unwinds.
func (l *requestLog) panicked(value any) { l.panic("the source panicked", value) }

// observePanicked logs a panic of [Options].Observe, while it unwinds.
func (l *requestLog) observePanicked(value any) { l.panic("Options.Observe panicked", value) }

func (l *requestLog) panic(msg string, value any) {
	l.write(slog.LevelError, msg,
		slog.String("cause", l.scrubbed(panicText(value))), slog.String("stack", l.scrubbed(string(debug.Stack()))))
}

// late logs that a call of the source outlived its request by some time.
func (l *requestLog) late(msg string, by time.Duration) {
	l.write(slog.LevelWarn, msg, slog.Duration("after", by.Round(time.Millisecond)))
}

// cannot logs what a wrapper around the server's ResponseWriter keeps from the connector, and what
// to do about it.
func (l *requestLog) cannot(what string, w http.ResponseWriter) {
	l.write(slog.LevelWarn, "the ResponseWriter cannot "+what,
		slog.String("writer", fmt.Sprintf("%T", w)),
		slog.String("cure", "mount the connector outside of http.TimeoutHandler and of middleware that collects answers; "+
			"a ResponseWriter that wraps another needs the method Unwrap"))
}

// scrubbed returns text without credential values, cut to a length.
func (l *requestLog) scrubbed(text string) string {
	text = l.secrets.Scrub(text)
	if len(text) > maxCauseBytes {
		text = text[:maxCauseBytes] + "..."
	}
	return text
}

// panicText returns the text of a panic's value. A struct or a map may hold cells
// and parameters, so of those it returns only the type. Printing an error calls
// the author's code, which may panic again: fmt contains that.
func panicText(value any) string {
	switch value.(type) {
	case error, fmt.Stringer:
		return fmt.Sprint(value)
	}
	switch reflect.ValueOf(value).Kind() {
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Array, reflect.Pointer, reflect.Interface, reflect.Func,
		reflect.Chan, reflect.UnsafePointer:
		return fmt.Sprintf("a value of type %T", value)
	}
	return fmt.Sprint(value)
}

// request writes the one line that every request has.
func (l *requestLog) request(o *RequestStats) {
	attrs := make([]slog.Attr, 0, 16)
	attrs = append(attrs,
		slog.String("slug", o.Slug),
		slog.String("route", o.Route),
		slog.String("request", o.RequestID))
	add := func(key, value string) {
		if value != "" {
			attrs = append(attrs, slog.String(key, value))
		}
	}
	add("table", o.Table)
	attrs = append(attrs, slog.Int("status", o.Status))
	add("code", string(o.Code))
	add("fault", string(o.Fault))
	if l.cause != "" {
		add("cause", l.scrubbed(l.cause))
	}
	add("end", o.End)
	add("asked", parts(o.Asked))
	add("claimed", parts(o.Claimed))
	if o.End != "" || o.RowsRead > 0 {
		attrs = append(attrs,
			slog.Int64("rowsRead", o.RowsRead),
			slog.Int64("rowsSent", o.RowsSent))
		if o.RowsSent > 0 {
			attrs = append(attrs, slog.Duration("firstRow", o.FirstRow))
		}
	}
	attrs = append(attrs, slog.Int64("bytes", o.BytesSent), slog.Duration("duration", o.Duration))
	l.emit(slog.LevelInfo, "request", attrs...)
}

// parts names the parts of a query, such as "filters,sort".
func parts(s wire.Served) string {
	text := ""
	for _, part := range []struct {
		set  bool
		name string
	}{{s.Filters, ",filters"}, {s.Sort, ",sort"}, {s.Window, ",window"}} {
		if part.set {
			text += part.name
		}
	}
	if text == "" {
		return ""
	}
	return text[1:]
}
