package session

import (
	"context"
	"maps"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// shelf holds the session of a request between two of its calls: Describe leaves
// it there, and Query, which takes it, need neither connect nor read the catalog
// again. A connection runs one statement at a time, so a session in use is not on
// the shelf, and a second call at the same time opens its own.
type shelf struct {
	ctx context.Context // of the request

	mu      sync.Mutex
	over    bool
	session *Session
}

// newShelf returns the shelf of a request, and a function that clears it.
func newShelf(ctx context.Context) (*shelf, func(), error) {
	s := &shelf{ctx: ctx}
	return s, s.clear, nil
}

// take returns the session on the shelf if it was opened with these credentials,
// or else nil. A source that wraps this one may call it with others.
func (s *shelf) take(creds wire.Credentials) *Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.session
	if x == nil || !maps.Equal(x.creds.Reveal(), creds.Reveal()) {
		return nil
	}
	s.session = nil
	return x
}

// put leaves a session on the shelf. It reports false if there is no place for
// it.
func (s *shelf) put(x *Session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || s.session != nil {
		return false
	}
	s.session = x
	return true
}

// clear disconnects the session on the shelf, when the request is over.
func (s *shelf) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	if s.session != nil {
		s.session.disconnect()
		s.session = nil
	}
}
