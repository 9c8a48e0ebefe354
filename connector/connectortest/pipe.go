package connectortest

import (
	"context"
	"net"
	"sync"
)

// Pipe is a [net.Listener] without a port: [Pipe.Dial] hands one end of a
// [net.Pipe] to Accept and keeps the other. Nothing leaves the process, and all
// of it runs in a testing/synctest bubble. [Start] uses one; use your own to
// test a host that brings its own [http.Server].
type Pipe struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// NewPipe makes a listener that takes connections until it is closed.
func NewPipe() *Pipe {
	return &Pipe{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept waits for the next dial.
func (p *Pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Dial connects. It fails when the listener is closed and when ctx ends.
func (p *Pipe) Dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close refuses further dials; open connections stay.
func (p *Pipe) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr is a name and a port that nothing listens on.
func (p *Pipe) Addr() net.Addr { return address{} }

type address struct{}

func (address) Network() string { return "pipe" }
func (address) String() string  { return "connector.test:80" }
