package connector

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// exchange is one request and what belongs to it alone. A request passes through it
// once: receive.go reads it, a route asks the source (describe.go, call.go), and
// reply.go answers.
type exchange struct {
	service *service // of the connector
	reply   reply    // the way back
	r       *http.Request
	arrived time.Time // every clock starts here
	calls   caller
	creds   wire.Credentials // those that the connector declares

	known atomic.Bool          // the source has described the request's table
	rows  atomic.Pointer[Rows] // of the source's call, once there are any

	// described are the tables that the source has described, for this request
	// only. The goroutine of the source's call alone uses it.
	described map[string]*wire.Table
}

func newExchange(s *service, w http.ResponseWriter, r *http.Request, id string) *exchange {
	r = r.WithContext(context.WithValue(r.Context(), requestIDKey{}, id))
	w.Header().Set(headerRequestID, id)
	_, served := r.Context().Value(http.ServerContextKey).(*http.Server)
	x := &exchange{
		service: s,
		reply: reply{
			conn: conn{w: w, control: http.NewResponseController(w), stall: s.opts.WriteStall, served: served, http2: r.ProtoMajor > 1},
			log:  requestLog{logger: s.opts.Logger, ctx: r.Context(), id: id, slug: s.def.Slug},
			form: &s.connectForm,
		},
		r:       r,
		arrived: time.Now(),
	}
	x.reply.conn.cannot = func(what string) {
		s.wrapped.Do(func() { x.reply.log.cannot(what, w) })
	}
	x.calls = caller{
		log:       &x.reply.log,
		lingering: &s.lingering,
		full:      func() { watchHealth(x.r.Context(), s) },
		intercept: s.opts.Intercept,
		enter:     func(ctx context.Context) (func(), error) { return s.admission.enter(ctx, x.creds) },
	}
	return x
}

// since returns the time since the request's arrival.
func (x *exchange) since() time.Duration { return time.Since(x.arrived) }

// invoke calls the source about the request's table.
func (x *exchange) invoke(ctx context.Context, method string, fn func(context.Context) error) error {
	return x.calls.invoke(ctx, Call{Method: method, Table: x.reply.log.table}, fn)
}
