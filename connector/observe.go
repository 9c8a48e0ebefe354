package connector

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// RequestStats says what became of one request. [Options].Observe gets one after
// each, refused or answered.
//
// It holds no credential. Every text in it except RequestID is one of a few: a
// name that a caller has made up is never among them, so all may be labels of
// metrics.
type RequestStats struct {
	// RequestID is the id of the request, as [RequestID] returns it.
	RequestID string
	// Slug is the connector's.
	Slug string
	// Method is the HTTP method, or "" if HTTP knows no such method.
	Method string
	// Route is the path below the mount, such as "/query", or "" for a path that
	// the connector does not have.
	Route string
	// Table is the request's table, once the source has shown that it has it: it
	// described the table, or began rows of it. Otherwise it is "".
	Table string

	// Status is the HTTP status that was answered. A stream that fails after its
	// first line has the status 200: look at Code or Fault.
	Status int
	// Code is that of the error that was answered, as a status or as an error
	// line, or "".
	Code wire.Code
	// Fault says on whose side the reason lies, or "" if the answer is complete.
	Fault Fault
	// End says how a stream ended. It is "" for an answer that is no stream.
	End StreamEnd

	// Asked says which parts a query has: filters, a sort, a window. It is set
	// too where the library counts by reading. Claimed are those of them that the
	// source has applied itself, and Served those that the stream says are
	// applied: by the source or by the library. Asked and not claimed means: not
	// pushed to the upstream.
	Asked, Claimed, Served wire.Served
	// RowsRead is the number of rows that the source offered, and RowsSent of
	// those that were written.
	RowsRead, RowsSent int64
	// BytesRead and BytesSent are the sizes of the bodies, of the request and of
	// the answer.
	BytesRead, BytesSent int64
	// FirstRow is when the first rows had been written, and Duration when the
	// answer was over, both since the request's arrival. FirstRow is zero without
	// rows.
	FirstRow, Duration time.Duration
}

// Fault says on whose side the reason lies for which a request was not answered
// in full.
type Fault string

const (
	// FaultCaller: the request was refused for what it says, its token or its
	// credentials included.
	FaultCaller Fault = "caller"
	// FaultSource: the source failed, broke a rule, or did not finish in time,
	// alone or because of its upstream.
	FaultSource Fault = "source"
	// FaultReader: whoever asked left, or took nothing of the answer.
	FaultReader Fault = "reader"
	// FaultHost: the server stopped while the request was open.
	FaultHost Fault = "host"
)

// StreamEnd says how a stream ended.
type StreamEnd string

const (
	// EndComplete: with the line that makes the answer complete.
	EndComplete StreamEnd = "end"
	// EndError: with an error line.
	EndError StreamEnd = "error"
	// EndCut: without a last line, because the reader was gone.
	EndCut StreamEnd = "cut"
)

// observe must be called once, when the request is over. It writes the request's
// line to the log and calls [Options].Observe.
func (x *exchange) observe() {
	o := x.stats()
	ctx := context.WithoutCancel(x.r.Context())
	if x.opts.Logger.Enabled(ctx, slog.LevelInfo) {
		x.log.request(&o)
	}
	if x.opts.Observe == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			x.log.observePanicked(p)
		}
	}()
	x.opts.Observe(ctx, o)
}

var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodConnect,
	http.MethodOptions, http.MethodTrace,
}

func (x *exchange) stats() RequestStats {
	o := x.seen
	o.RequestID = x.log.scrubbed(x.log.id)
	o.Slug, o.Route = x.log.slug, x.log.route
	if slices.Contains(methods, x.r.Method) {
		o.Method = x.r.Method
	}
	o.Status, o.BytesSent = x.conn.status, x.conn.sent
	o.Duration = x.since()
	known := x.known.Load()
	if rows := x.rows.Load(); rows != nil {
		begun := rows.observe(&o)
		known = known || begun
	}
	if known {
		o.Table = x.log.scrubbed(x.log.table)
	}
	if x.conn.cut {
		o.Fault = FaultReader
	}
	return o
}

// observe fills in what the source has claimed and offered. It reports whether
// the source has begun with columns that were accepted.
func (r *Rows) observe(o *RequestStats) (begun bool) {
	r.handoff.Lock()
	defer r.handoff.Unlock()
	q := r.plan.Request
	o.Asked = wire.Served{Filters: q.HasFilters(), Sort: len(q.Sort) > 0, Window: q.Offset > 0 || q.Limit > 0}
	o.Claimed = both(o.Asked, r.served)
	o.Served = both(o.Asked, o.Served)
	o.RowsRead = r.writer.read
	return r.writer.columns != nil
}

// both returns the parts that are in a and in b.
func both(a, b wire.Served) wire.Served {
	return wire.Served{Filters: a.Filters && b.Filters, Sort: a.Sort && b.Sort, Window: a.Window && b.Window}
}

// faultOf returns on whose side the reason for an error lies. e is what is
// answered for it.
func (x *exchange) faultOf(err error, e *wire.Error) Fault {
	_, data := err.(*unsendable)
	switch {
	case err == errLeft && context.Cause(x.r.Context()) == errStopping:
		return FaultHost
	case err == errLeft:
		return FaultReader
	case data, e.Code == wire.CodeInternal, e.Code == wire.CodeTimeout:
		return FaultSource
	}
	return FaultCaller
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
	add("end", string(o.End))
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
