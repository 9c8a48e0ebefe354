// Package memo computes what is costly to know of a file once for each version of it.
package memo

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Memo computes values once and keeps each for as long as its basis stays the
// same. A caller that asks while a value is computed waits for it.
type Memo[K comparable, B Basis[B], V any] struct {
	Slots chan struct{} // bounds how many are computed at once

	mu      sync.Mutex
	entries map[K]*entry[B, V]
}

// Basis is what a value is computed from.
type Basis[B any] interface {
	Same(now B) bool // as far as can be told
	Settled() bool   // what can be told is enough
}

type entry[B, V any] struct {
	basis B
	done  chan struct{}
	value V
	err   error
}

// Get returns the value for a key. The caller's wait ends with ctx; the
// computation goes on for the next caller. A failed computation is forgotten.
func (m *Memo[K, B, V]) Get(ctx context.Context, key K, now B, compute func() (V, error)) (V, error) {
	m.mu.Lock()
	e := m.entries[key]
	if e == nil || !e.basis.Same(now) || e.over() && !e.basis.Settled() {
		e = &entry[B, V]{basis: now, done: make(chan struct{})}
		if m.entries == nil {
			m.entries = map[K]*entry[B, V]{}
		}
		m.entries[key] = e
		go m.run(key, e, compute)
	}
	m.mu.Unlock()
	select {
	case <-e.done:
		return e.value, e.err
	case <-ctx.Done():
		var none V
		return none, context.Cause(ctx)
	}
}

// over reports whether the computation has ended.
func (e *entry[B, V]) over() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

func (m *Memo[K, B, V]) run(key K, e *entry[B, V], compute func() (V, error)) {
	e.err = errors.New("the computation did not return")
	defer func() {
		// A panic over one file must not end the service of all others.
		if p := recover(); p != nil {
			e.err = fmt.Errorf("panic: %v", p)
		}
		if e.err != nil {
			m.mu.Lock()
			if m.entries[key] == e {
				delete(m.entries, key)
			}
			m.mu.Unlock()
		}
		close(e.done)
	}()
	m.Slots <- struct{}{}
	defer func() { <-m.Slots }()
	e.value, e.err = compute()
}

// Drop forgets the entries whose keys are gone.
func (m *Memo[K, B, V]) Drop(gone func(K) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key := range m.entries {
		if gone(key) {
			delete(m.entries, key)
		}
	}
}

// Len returns how many values are kept or computed.
func (m *Memo[K, B, V]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.entries)
}
