// Package memlisten provides a network listener in memory for tests.
package memlisten

import (
	"context"
	"net"
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
