package connector

import (
	"context"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// admission limits the requests that call the source at once to the number that the document
// states: those of all tenants together if the definition states a number, else those of each.
type admission struct {
	all *slots // nil if the definition states none
	own *tenants
}

// newAdmission returns the admission to the source of a definition that states a number, or 0.
func newAdmission(stated int, form []wire.CredentialField) admission {
	who := digester{maphash.MakeSeed(), form}
	if stated == 0 {
		return admission{own: &tenants{who: who, open: map[uint64]*tenant{}}}
	}
	return admission{all: &slots{who: who, free: stated}}
}

// enter waits until one more request of a tenant may call the source, or until ctx ends. leave
// must be called once, when the call is over.
func (a admission) enter(ctx context.Context, creds wire.Credentials) (leave func(), err error) {
	if a.all == nil {
		return a.own.enter(ctx, creds)
	}
	if err := a.all.take(ctx, creds); err != nil {
		return nil, err
	}
	return a.all.leave, nil
}

// tenants has slots for each tenant that has a request under way, and forgets them with its last.
// A tenant is known by a digest of its credentials. Requests without credentials are not limited:
// they may come from any number of connections, which nothing tells apart.
type tenants struct {
	who digester

	mu   sync.Mutex
	open map[uint64]*tenant
}

type tenant struct {
	slots    slots
	requests int // that are under way
}

func (t *tenants) enter(ctx context.Context, creds wire.Credentials) (leave func(), err error) {
	digest, some := t.who.digest(creds)
	if !some {
		return func() {}, nil
	}
	t.mu.Lock()
	own := t.open[digest]
	if own == nil {
		own = &tenant{slots: slots{who: t.who, free: defaultConcurrency}}
		t.open[digest] = own
	}
	own.requests++
	t.mu.Unlock()
	if err := own.slots.take(ctx, creds); err != nil {
		t.forget(digest, own)
		return nil, err
	}
	return func() {
		own.slots.leave()
		t.forget(digest, own)
	}, nil
}

// forget notes that a request of a tenant is over.
func (t *tenants) forget(digest uint64, own *tenant) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if own.requests--; own.requests == 0 {
		delete(t.open, digest)
	}
}

// slots lets a number of requests call the source at once.
// The others wait: tenants in turn, and the requests of one tenant in the order in
// which they came. A tenant is known by a digest of its credentials, as long as
// one of its requests waits and no longer.
type slots struct {
	who digester

	mu    sync.Mutex
	free  int
	turns []*turn // of the tenants that wait, the next one first
}

// turn is the queue of one tenant.
type turn struct {
	tenant  uint64
	waiting []chan struct{} // closed when the request may go on
}

// take waits for a slot until ctx ends.
func (s *slots) take(ctx context.Context, creds wire.Credentials) error {
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return nil
	}
	admitted := s.wait(creds)
	s.mu.Unlock()
	select {
	case <-admitted:
		return nil
	case <-ctx.Done():
	}
	if !s.giveUp(admitted) {
		s.leave() // it was let in at the same moment
	}
	return ctx.Err()
}

// wait puts a request into the queue of its tenant. The lock is held.
func (s *slots) wait(creds wire.Credentials) chan struct{} {
	tenant, _ := s.who.digest(creds)
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

// leave gives a slot to the next request, or frees it if none waits.
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

// digester tells tenants apart by their credentials.
type digester struct {
	seed maphash.Seed
	form []wire.CredentialField
}

// digest returns a number for a tenant's credentials, and reports whether there are any. The
// number differs from process to process. Two tenants with one number would wait for each
// other, and share nothing else.
func (d *digester) digest(creds wire.Credentials) (digest uint64, some bool) {
	var h maphash.Hash
	h.SetSeed(d.seed)
	for i := range d.form {
		value := creds.Get(d.form[i].Key)
		some = some || value != ""
		_, _ = h.WriteString(value)
		_ = h.WriteByte(0xff) // in no UTF-8
	}
	return h.Sum64(), some
}
