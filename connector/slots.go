package connector

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// slots lets as many requests call the source at once as the definition states.
// The others wait: tenants in turn, and the requests of one tenant in the order in
// which they came. A tenant is known by a digest of its credentials, as long as
// one of its requests waits and no longer.
type slots struct {
	seed maphash.Seed

	mu    sync.Mutex
	free  int
	turns []*turn // of the tenants that wait, the next one first
}

// turn is the queue of one tenant.
type turn struct {
	tenant  uint64
	waiting []chan struct{} // closed when the request may go on
}

func newSlots(most int) *slots { return &slots{seed: maphash.MakeSeed(), free: most} }

// enter waits for a slot until ctx ends. leave gives it back.
func (s *slots) enter(ctx context.Context, creds wire.Credentials) (leave func(), err error) {
	if s == nil {
		return func() {}, nil
	}
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return sync.OnceFunc(s.leave), nil
	}
	admitted := s.wait(creds)
	s.mu.Unlock()
	select {
	case <-admitted:
		return sync.OnceFunc(s.leave), nil
	case <-ctx.Done():
	}
	if !s.giveUp(admitted) {
		s.leave() // it was let in at the same moment
	}
	return nil, ctx.Err()
}

// wait puts a request into the queue of its tenant. The lock is held.
func (s *slots) wait(creds wire.Credentials) chan struct{} {
	tenant := s.digest(creds)
	at := slices.IndexFunc(s.turns, func(t *turn) bool { return t.tenant == tenant })
	if at < 0 {
		at = len(s.turns)
		s.turns = append(s.turns, &turn{tenant: tenant})
	}
	admitted := make(chan struct{})
	s.turns[at].waiting = append(s.turns[at].waiting, admitted)
	return admitted
}

// giveUp takes a request out of its queue. It reports false if the request has been
// let in.
func (s *slots) giveUp(admitted chan struct{}) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, t := range s.turns {
		if at := slices.Index(t.waiting, admitted); at >= 0 {
			if t.waiting = slices.Delete(t.waiting, at, at+1); len(t.waiting) == 0 {
				s.turns = slices.Delete(s.turns, i, i+1)
			}
			return true
		}
	}
	return false
}

// leave lets the next request in, or frees the slot if none waits.
func (s *slots) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.turns) == 0 {
		s.free++
		return
	}
	next := s.turns[0]
	s.turns = slices.Delete(s.turns, 0, 1)
	close(next.waiting[0])
	if next.waiting = next.waiting[1:]; len(next.waiting) > 0 {
		s.turns = append(s.turns, next)
	}
}

// digest returns a number for a tenant's credentials. It differs from process to
// process. Two tenants with one digest would share a turn, and nothing else.
func (s *slots) digest(creds wire.Credentials) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	for _, key := range creds.Keys() {
		for _, text := range []string{key, creds.Get(key)} {
			_, _ = h.WriteString(text)
			_ = h.WriteByte(0xff) // in no UTF-8
		}
	}
	return h.Sum64()
}
