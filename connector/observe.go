package connector

import (
	"context"
	"log/slog"
	"net/http"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// observe must be called once, when the request is over. It writes the request's
// line to the log and calls [Options].Observe.
func (x *exchange) observe() {
	o := x.finalStats()
	ctx := context.WithoutCancel(x.r.Context())
	if x.service.opts.Logger.Enabled(ctx, slog.LevelInfo) {
		x.reply.log.request(&o)
	}
	if x.service.opts.Observe == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			x.reply.log.observePanicked(p)
		}
	}()
	x.service.opts.Observe(ctx, o)
}

var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodConnect,
	http.MethodOptions, http.MethodTrace,
}

// finalStats returns what became of the request, once it is over.
func (x *exchange) finalStats() RequestStats {
	o := x.reply.stats
	o.RequestID = x.reply.log.scrubbed(x.reply.log.id)
	o.Slug, o.Route = x.reply.log.slug, x.reply.log.route
	if slices.Contains(methods, x.r.Method) {
		o.Method = x.r.Method
	}
	o.Status, o.BytesSent = x.reply.conn.status, x.reply.conn.sent
	o.Duration = x.since()
	known := x.known.Load()
	if rows := x.rows.Load(); rows != nil {
		begun := rows.observe(&o)
		known = known || begun
	}
	if known {
		o.Table = x.reply.log.scrubbed(x.reply.log.table)
	}
	if x.reply.conn.cut {
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
