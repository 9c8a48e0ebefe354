package connector

import (
	"context"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/hostlog"
)

// PerRequest makes a value once in a request and shares it between the calls of
// that request: a token that an upstream gives out, a connection, the catalog of
// a database. Make it a field of the source. Each PerRequest is a value of its
// own, so it must not be copied. It is safe for concurrent use.
//
// Nothing is shared between requests, and so nothing between tenants.
type PerRequest[T any] struct {
	_ byte // values of size zero may have one address
}

// Get returns the value that the request of ctx has, and calls create if it has
// none yet. An error is not kept: the next Get calls create again. The context of
// create lives as long as the request, because the value may need it for as long.
//
// create returns with the value a function that closes it, or nil. The values of a
// request are closed when the source has answered, the last one first, in the
// goroutine in which the source was called: after the last row of a stream, and
// after an error, a panic or a cancelled context. If a method runs past
// the deadline, its values are closed when it returns.
//
// The caller calls release when it no longer uses the value. In a request that
// does nothing. Outside of one, as where a test calls a source directly, each
// Get makes a value of its own and release closes it. release is never nil.
func (p *PerRequest[T]) Get(
	ctx context.Context, create func(context.Context) (value T, closeValue func(), err error),
) (value T, release func(), err error) {
	s, _ := ctx.Value(hostlog.Key{}).(*scope)
	slot := s.slot(p)
	if slot == nil {
		return alone(ctx, create)
	}
	select {
	case slot.turn <- struct{}{}:
	case <-ctx.Done():
		return value, func() {}, ctx.Err()
	}
	defer func() { <-slot.turn }()
	if kept, ok := slot.value.(*T); ok {
		return *kept, func() {}, nil
	}
	value, release, err = alone(lifetime{s.ctx, ctx}, create)
	if err == nil && s.keep(slot, &value, release) {
		release = func() {}
	}
	return value, release, err
}

// alone returns a new value, which its caller closes.
func alone[T any](
	ctx context.Context, create func(context.Context) (T, func(), error),
) (value T, release func(), err error) {
	value, closeValue, err := create(ctx)
	if err != nil || closeValue == nil {
		return value, func() {}, err
	}
	return value, sync.OnceFunc(closeValue), nil
}

// lifetime is a context that ends with the first and has the values of the other.
type lifetime struct {
	context.Context
	values context.Context
}

func (l lifetime) Value(key any) any { return l.values.Value(key) }

// scope is what the calls of one request share.
type scope struct {
	ctx context.Context // of the request
	log *requestLog

	mu      sync.Mutex
	over    bool
	slots   map[any]*slot // by the *PerRequest
	closers []func()
}

// Warn logs what the source has noticed. [hostlog.Warn] calls it.
func (s *scope) Warn(text string) { s.log.warn(text) }

// slot is the place of one value.
type slot struct {
	turn  chan struct{} // holds an element while a Get looks at the value
	value any           // a pointer to the value; nil before there is one
}

// slot returns the place of a value, or nil outside of a request.
func (s *scope) slot(key any) *slot {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return nil
	}
	if s.slots[key] == nil {
		if s.slots == nil {
			s.slots = map[any]*slot{}
		}
		s.slots[key] = &slot{turn: make(chan struct{}, 1)}
	}
	return s.slots[key]
}

// keep puts a value into its place. It reports false if the request is over: the
// value is then its caller's.
func (s *scope) keep(to *slot, value any, closeValue func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return false
	}
	to.value = value
	s.closers = append(s.closers, closeValue)
	return true
}

// end closes the values, the last one first. One that panics or ends its
// goroutine keeps no other from being closed.
func (s *scope) end() {
	s.mu.Lock()
	s.over = true
	closers := s.closers // keep adds no more
	s.mu.Unlock()
	for _, closeValue := range closers {
		defer func() {
			defer func() {
				if p := recover(); p != nil {
					s.log.panicked(p)
				}
			}()
			closeValue()
		}()
	}
}
