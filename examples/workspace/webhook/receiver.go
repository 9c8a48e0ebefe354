package webhook

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
)

// Options are what a user of the receiver may set. Nil, and every zero member, is the
// default.
type Options struct {
	// MaxBody is the largest body that is read, in bytes. The document shows no bound.
	// Default: 1 MiB.
	MaxBody int64
	// Remember is how many deliveries the receiver recognises when they come again.
	// The oldest are forgotten first. Default: 10,000.
	Remember int
}

const (
	defaultMaxBody  = 1 << 20
	defaultRemember = 10_000
)

// Receiver is the http.Handler of a callback address. It is safe for concurrent use.
type Receiver struct {
	secrets []Secret
	handle  func(ctx context.Context, d Delivery, body []byte) error
	options Options

	mu    sync.Mutex
	known map[Key]*handling
	order []Key // of known, the oldest first
}

// handling is the work on one delivery. Repetitions wait for it: the service gives up
// on an attempt after 30 seconds and tries again, whatever is still running here.
type handling struct {
	done chan struct{}
	err  error
}

// NewReceiver returns a receiver for the deliveries that one of the secrets has
// signed.
//
// It calls handle for each delivery, with the body it was read from. An error is
// answered with 500, so that the service tries again, up to five times in all. A
// delivery that was handled is not handled again. handle should be quick, because the
// service waits for 30 seconds.
func NewReceiver(secrets []Secret, handle func(ctx context.Context, d Delivery, body []byte) error, options *Options) (*Receiver, error) {
	if len(secrets) == 0 || handle == nil {
		return nil, errors.New("webhook: a receiver needs a secret and a function that handles deliveries")
	}
	r := &Receiver{secrets: secrets, handle: handle, known: map[Key]*handling{}}
	if options != nil {
		r.options = *options
	}
	if r.options.MaxBody <= 0 {
		r.options.MaxBody = defaultMaxBody
	}
	if r.options.Remember <= 0 {
		r.options.Remember = defaultRemember
	}
	return r, nil
}

// ServeHTTP answers a delivery: 204 when it has been handled, now or earlier; 401 for
// a wrong signature; 413 for a body that is too large; 400 for a signed body that is
// no delivery; 500 when handle failed.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(io.LimitReader(req.Body, r.options.MaxBody+1))
	switch {
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
		return
	case int64(len(body)) > r.options.MaxBody:
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	case !r.signed(req.Header.Values(HeaderSignature), body):
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	delivery, err := Parse(body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if err := r.once(req.Context(), delivery, body); err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// signed reports whether one of the secrets has signed the body. Of several headers,
// none is believed.
func (r *Receiver) signed(headers []string, body []byte) bool {
	if len(headers) != 1 {
		return false
	}
	matches := false
	for _, s := range r.secrets {
		if s.Verify(headers[0], body) == nil {
			matches = true // the others are tried too: how long it takes tells nothing
		}
	}
	return matches
}

// Remember marks a delivery as handled, for instance in an earlier run of the program.
func (r *Receiver) Remember(k Key) {
	done := make(chan struct{})
	close(done)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(k, &handling{done: done})
}

// once handles a delivery unless it has been handled. A repetition that comes while
// it is being handled waits for the outcome.
func (r *Receiver) once(ctx context.Context, d Delivery, body []byte) error {
	k := d.Key()
	r.mu.Lock()
	if h, ok := r.known[k]; ok {
		r.mu.Unlock()
		select {
		case <-h.done:
			return h.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	h := &handling{done: make(chan struct{}), err: errors.New("webhook: the handler did not return")}
	r.add(k, h)
	r.mu.Unlock()
	defer func() {
		if h.err != nil {
			r.forget(k, h)
		}
		close(h.done) // also when handle panics
	}()
	// The service's giving up on this attempt does not stop the work: the next attempt
	// finds it done.
	h.err = r.handle(context.WithoutCancel(ctx), d, body)
	return h.err
}

// add remembers a delivery, and forgets the oldest if there are too many. The caller
// holds the lock.
func (r *Receiver) add(k Key, h *handling) {
	if _, ok := r.known[k]; !ok {
		r.order = append(r.order, k)
	}
	r.known[k] = h
	if len(r.order) > r.options.Remember {
		delete(r.known, r.order[0])
		r.order = r.order[1:]
	}
}

// forget lets a delivery be handled when it comes again.
func (r *Receiver) forget(k Key, h *handling) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[k] == h {
		delete(r.known, k)
		r.order = slices.DeleteFunc(r.order, func(other Key) bool { return other == k })
	}
}
