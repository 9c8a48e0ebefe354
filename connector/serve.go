package connector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// stopCut is how long a request may take to answer with an error after the drain, before
// its connection is cut.
const stopCut = 5 * time.Second

// ServeOptions say how [Serve] serves. Nil options, or the zero value, are the
// defaults.
type ServeOptions struct {
	// Drain is how long requests may go on after a stop begins. Whatever stops the
	// program must wait five seconds longer before it kills it. Default: one second.
	Drain time.Duration
}

// pathHealth is where [Serve] says that it is up.
const pathHealth = "/healthz"

// health knows the connectors that refuse every request for now. Its connectors are those
// below one [Serve], however they are mounted: they find it in the context of a request.
type health struct{ full sync.Map } // of the *service that had too many lingering calls

type healthKey struct{}

// watchHealth reports to the server's health that a connector has too many lingering calls.
// It does nothing without [Serve].
func watchHealth(request context.Context, s *service) {
	if h, ok := request.Value(healthKey{}).(*health); ok {
		h.full.Store(s, nil)
	}
}

// problem returns why the server is not ready, or "".
func (h *health) problem() (why string) {
	h.full.Range(func(key, _ any) bool {
		if s := key.(*service); s.lingering.Load() >= maxLingering {
			why = fmt.Sprintf("not ready: %s refuses requests, because %d calls of its source have not returned", s.def.Slug, maxLingering)
		}
		return why == ""
	})
	return why
}

// around answers GET /healthz and leaves every other request to handler.
func (h *health) around(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != pathHealth || r.Method != http.MethodGet && r.Method != http.MethodHead {
			handler.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		text := "ok"
		if why := h.problem(); why != "" {
			w.WriteHeader(http.StatusServiceUnavailable)
			text = why
		}
		_, _ = io.WriteString(w, text+"\n")
	})
}

// Serve serves handler, which may be a [Handler] or a mux of several, until ctx
// ends, and closes the listener, which may be one of tls.NewListener. It returns nil if
// every request was answered.
//
// When ctx ends, Serve takes no new connections. Requests have the time Drain of
// the options to finish. Then their contexts end: an open stream ends with an error
// line, and any other request is answered with an error. After five more seconds
// Serve cuts the connections that are left and returns an error.
//
// Serve itself answers GET /healthz without a token, for the probes of load balancers: with
// 200 as long as the server takes connections, and with 503 while a [Handler] below it
// refuses every request, because too many calls of its source do not return. Nothing is
// asked of an upstream, because each tenant has another.
//
// The server bounds how long a request may take to arrive, and never how long
// an answer may take: a [Handler] bounds each write itself. On Linux it also keeps
// the kernel from taking megabytes of an answer that its reader does not read
// (TCP_NOTSENT_LOWAT), so that stalled readers slow no other down. Serve installs no
// signal handler; pass it the context of signal.NotifyContext. Use your own
// [http.Server] for anything more, with a ReadHeaderTimeout and without a
// WriteTimeout.
func Serve(ctx context.Context, l net.Listener, handler http.Handler, options *ServeOptions) error {
	drain := time.Second
	if options != nil {
		drain = cmp.Or(options.Drain, drain)
	}
	if drain < 0 {
		return errors.Join(errors.New("ServeOptions.Drain must not be negative"), l.Close())
	}
	own := &health{}
	requests, end := context.WithCancelCause(context.WithValue(context.WithoutCancel(ctx), healthKey{}, own))
	defer end(errStopping)
	server := &http.Server{
		Handler:           own.around(handler),
		BaseContext:       func(net.Listener) context.Context { return requests },
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { limitUnsent(c); return ctx },
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute, // until the body is read; Handler lifts it then
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	defer func() { _ = l.Close() }()
	var failure error
	select {
	case failure = <-failed:
	case <-ctx.Done():
	}
	return errors.Join(failure, stopServer(server, drain, func() { end(errStopping) }))
}

// stopServer lets requests finish for the time drain, ends the contexts of those that are
// still running with endRequests, and cuts what is left.
func stopServer(server *http.Server, drain time.Duration, endRequests func()) error {
	over := time.AfterFunc(drain, endRequests)
	defer over.Stop()
	deadline, cancel := context.WithTimeout(context.Background(), drain+stopCut)
	defer cancel()
	if err := server.Shutdown(deadline); err != nil {
		_ = server.Close()
		return fmt.Errorf("some requests did not end in time and were cut: %w", err)
	}
	return nil
}
