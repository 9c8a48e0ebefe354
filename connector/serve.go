package connector

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

const (
	// stopDrain is how long requests may go on after a stop begins.
	stopDrain = time.Second
	// stopCut is how long a request may then take to answer with an error,
	// before its connection is cut.
	stopCut = 5 * time.Second
)

// errStopping is the reason for which requests end when the server does.
var errStopping = errors.New("the server is stopping")

// ListenAndServe listens on a TCP address, such as ":8080", and calls [Serve]. If
// addr is empty, it listens on the port that the environment variable PORT names,
// else on port 8080.
func ListenAndServe(ctx context.Context, addr string, handler http.Handler) error {
	listener, err := listen(ctx, addr)
	if err != nil {
		return err
	}
	return Serve(ctx, listener, handler)
}

// ListenAndServeTLS does what [ListenAndServe] does over TLS, with HTTP/2. The files hold the
// certificate, followed by those that lead to its root, and its key, as PEM. It
// reads them once: restart it when the certificate is renewed. For anything more,
// such as client certificates, give [Serve] a listener of [tls.NewListener].
func ListenAndServeTLS(ctx context.Context, addr, certFile, keyFile string, handler http.Handler) error {
	certificate, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	listener, err := listen(ctx, addr)
	if err != nil {
		return err
	}
	return Serve(ctx, tls.NewListener(listener, &tls.Config{
		Certificates: []tls.Certificate{certificate},
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"h2", "http/1.1"},
	}), handler)
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	if addr == "" {
		addr = ":" + cmp.Or(os.Getenv("PORT"), "8080")
	}
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", addr)
}

// pathHealth is where [Serve] says that it is up.
const pathHealth = "/healthz"

// withHealth answers GET /healthz and leaves every other request to handler.
func withHealth(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != pathHealth || r.Method != http.MethodGet && r.Method != http.MethodHead {
			handler.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "ok\n")
	})
}

// Serve serves handler, which may be a [Handler] or a mux of several, until ctx
// ends, and closes the listener. It returns nil if every request was answered.
//
// When ctx ends, Serve takes no new connections. Requests have one second to
// finish. Then their contexts end: an open stream ends with an error line, and
// any other request is answered with an error. After five more seconds Serve
// cuts the connections that are left and returns an error.
//
// Serve itself answers GET /healthz, with 200 and without a token, for the probes of
// load balancers: as long as the server takes connections it is up. Nothing is
// asked of an upstream, because each tenant has another.
//
// The server bounds how long a request may take to arrive, and never how long
// an answer may take: a [Handler] bounds each write itself. Serve installs no
// signal handler; pass it the context of signal.NotifyContext. Use your own
// [http.Server] for anything more, with a ReadHeaderTimeout and without a
// WriteTimeout.
func Serve(ctx context.Context, l net.Listener, handler http.Handler) error {
	requests, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(errStopping)
	server := &http.Server{
		Handler:           withHealth(handler),
		BaseContext:       func(net.Listener) context.Context { return requests },
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
	return errors.Join(failure, stopServer(server, func() { end(errStopping) }))
}

// stopServer lets requests finish, ends the contexts of those that are still
// running with endRequests, and cuts what is left.
func stopServer(server *http.Server, endRequests func()) error {
	drain := time.AfterFunc(stopDrain, endRequests)
	defer drain.Stop()
	deadline, cancel := context.WithTimeout(context.Background(), stopDrain+stopCut)
	defer cancel()
	if err := server.Shutdown(deadline); err != nil {
		_ = server.Close()
		return fmt.Errorf("some requests did not end in time and were cut: %w", err)
	}
	return nil
}
