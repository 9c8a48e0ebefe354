package session

import (
	"slices"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Asked is a request of the first account.
type Asked struct {
	Path    string
	Request wire.Request
}

// asked are the requests of the first account, each once.
type asked struct {
	mu   sync.Mutex
	list []Asked
	seen map[string]bool
}

// maxAsked is how many requests are kept.
const maxAsked = 4000

// add keeps a request, unless it has timeouts of its own: it is about these.
func (a *asked) add(path string, m wire.Request) {
	own, envelope := ownOf(m)
	if envelope.TimeoutMS != 0 {
		return
	}
	if q, ok := own.(*wire.QueryRequest); ok && q.IdleTimeoutMS+q.MaxTimeoutMS > 0 {
		return
	}
	envelope.TimeoutMS = 1
	body, err := wire.EncodeRequest(own)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil || len(a.list) == maxAsked || a.seen[path+string(body)] {
		return
	}
	if a.seen == nil {
		a.seen = map[string]bool{}
	}
	a.seen[path+string(body)] = true
	a.list = append(a.list, Asked{path, m})
}

// AskedFirst returns the requests that the first of two accounts was asked, with the usual timeouts, each once.
func (s *Session) AskedFirst() []Asked { return s.asked.list }

// Turned reports whether the second account is asked: see [Session.Turn].
func (s *Session) Turned() bool { return s.turned }

// OfFirst returns the rows of a table of the first account while the second is asked, or nil if they are not known.
func (s *Session) OfFirst(table string) *oracle.Table {
	if held := s.otherSnapshots[table]; held != nil && s.otherLost[table] == nil {
		return held.Table
	}
	return nil
}

// Turn swaps the accounts: checks then ask the second one, and use nothing that was learned about the rows of the
// first. The checks share the requests that the second account has left. A second call swaps them back.
func (s *Session) Turn(checks []Check) {
	slices.Reverse(s.Tenants)
	slices.Reverse(s.discovered)
	s.turned = !s.turned
	s.snapshots, s.otherSnapshots = s.otherSnapshots, s.snapshots
	s.Lost, s.otherLost = s.otherLost, s.Lost
	s.Covered.Turn()
	s.budget.second.ahead, s.budget.second.later = nil, 0
	for i := range checks {
		if s.applies(&checks[i]) {
			s.budget.second.ahead = append(s.budget.second.ahead, &checks[i])
		}
	}
}
