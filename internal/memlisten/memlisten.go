// Package memlisten provides a network listener in memory for tests, and a server and a
// client of HTTP over it.
package memlisten

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// A Listener is a [net.Listener] without a port. [Listener.Dial] passes one end
// of a [net.Pipe] to Accept and returns the other, so that a server can run in a
// testing/synctest bubble.
type Listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// New returns an open listener.
func New() *Listener {
	return &Listener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Serve runs a server over a new listener until stop is called. Then it closes the server
// with its connections and waits until it accepts no more. Calling stop twice is harmless.
func Serve(srv *http.Server) (l *Listener, stop func()) {
	l = New()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
	return l, func() {
		_ = srv.Close()
		<-done
	}
}

// Client returns a client of HTTP whose every request the handler answers, whatever host
// it names. It works until stop is called.
func Client(handler http.Handler) (client *http.Client, stop func()) {
	l, end := Serve(&http.Server{Handler: handler})
	t := l.Route(&http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16, MaxResponseHeaderBytes: 64 << 10})
	return &http.Client{Transport: t}, func() {
		t.CloseIdleConnections()
		end()
	}
}

// Route sends every connection of a transport to the listener, whatever host a
// request names and without TLS, and returns the transport.
func (l *Listener) Route(t *http.Transport) *http.Transport {
	t.Proxy = nil
	t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return l.Dial(ctx) }
	t.DialTLSContext = t.DialContext
	return t
}

// Accept waits for the next dial.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Dial opens a connection. It fails if the listener is closed or ctx ends.
func (l *Listener) Dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close refuses further dials and keeps open connections.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr returns an address that cannot be dialled over a network.
func (l *Listener) Addr() net.Addr { return address{} }

type address struct{}

func (address) Network() string { return "memory" }
func (address) String() string  { return "connector.test:80" }
