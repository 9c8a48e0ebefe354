// Package session is what the checks of one run share: the way to the connector
// and what was learned about it. What is learned is asked for once.
//
// A [Session] lives as long as the run. Each check works with a [Run] of its own,
// through which it sends requests and reads streams and tables. Whatever can end
// a check early is returned as a *check.Finding: nil means to go on.
package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Config is what a session needs to begin.
type Config struct {
	Base        string // the connector's base URL, without a slash at its end
	HTTP        *http.Client
	InProcess   bool // the host's name means nothing
	Token       string
	Credentials []wire.Credentials // of one tenant or of two; none is the empty set
	Planned     []string           // the ids of the checks that will run
	Rows        int                // larger tables are not read whole
	Seed        uint64             // 0: one by chance
	Timeout     time.Duration      // of the run
}

// Session is one run's way to the connector, and what was learned about it.
type Session struct {
	Config
	Tenants []Tenant // at least one
	Watch   *Watch
	Rand    *rand.Rand
	Covered Coverage
	// Document is nil until it was read. The judge of a check that is not Open may
	// rely on it.
	Document *Document
	// Unreached says why no answer at all came for the document.
	Unreached string
	// Problem says why the run does not count, such as that the corpus is not
	// loaded; empty while it does.
	Problem string
	// Bug says how this program failed in a check; empty while it did not.
	Bug string

	redact      *redactor
	unanswered  unanswered
	documentErr *check.Finding // why the document cannot be used
	tokenErr    *check.Finding // why the token cannot be used
	tokenTried  bool
	discovered  []*Discovery // by tenant
	snapshots   map[snapshotKey]*Snapshot
	kept        map[reflect.Type]any
}

// Tenant is one set of credentials.
type Tenant struct {
	Credentials wire.Credentials
	JSON        []byte // as requests carry it
	variable    string // stands for it in what is shown
}

// Document is the capability document.
type Document struct{ wire.Document }

// Has reports whether the document lists an optional route.
func (d *Document) Has(e wire.Endpoint) bool { return slices.Contains(d.Endpoints, e) }

// Declares reports whether the document declares an operator.
func (d *Document) Declares(op wire.Op) bool { return slices.Contains(d.Capabilities.Operators, op) }

// masks reports whether a credential is a secret. A user's name or an address may
// occur in honest data; what the form masks, or takes as a block of text such
// as a key file, may not.
func (d *Document) masks(key string) bool {
	return slices.ContainsFunc(d.CredentialSchema, func(f wire.CredentialField) bool {
		return f.Key == key && f.Type != wire.CredentialText
	})
}

// New returns a session that has not asked anything yet.
func New(c Config) (*Session, error) {
	if c.Seed == 0 {
		c.Seed = rand.Uint64() >> 11 // readable, and exact in JSON
	}
	if len(c.Credentials) == 0 {
		c.Credentials = []wire.Credentials{wire.NewCredentials(nil)}
	}
	s := &Session{
		Config:     c,
		Rand:       rand.New(rand.NewPCG(c.Seed, 0)),
		discovered: make([]*Discovery, len(c.Credentials)),
		snapshots:  map[snapshotKey]*Snapshot{},
		kept:       map[reflect.Type]any{},
	}
	for i, set := range c.Credentials {
		body, err := CredentialsJSON(set)
		if err != nil {
			return nil, fmt.Errorf("the credentials cannot be sent: %w", err)
		}
		variable := []string{check.EnvCredentials, check.EnvCredentials2}[i]
		s.Tenants = append(s.Tenants, Tenant{Credentials: set, JSON: body, variable: variable})
	}
	s.redact = newRedactor(s.Token, s.Tenants)
	s.Watch = newWatch(s)
	return s, nil
}

// CredentialsJSON returns a set of credentials as requests carry it.
func CredentialsJSON(c wire.Credentials) ([]byte, error) {
	body, err := wire.EncodeRequest(&wire.CheckRequest{Envelope: wire.Envelope{Credentials: c, TimeoutMS: 1}})
	if err != nil {
		return nil, err
	}
	body, _ = bytes.CutPrefix(body, []byte(`{"credentials":`))
	body, _ = bytes.CutSuffix(body, []byte(`,"timeoutMs":1}`))
	return body, nil
}

// Keep returns what a theme of checks keeps for the whole run, by its type; make
// makes it when it is first asked for.
func Keep[T any](s *Session, make func() *T) *T {
	key := reflect.TypeFor[T]()
	if kept, ok := s.kept[key]; ok {
		return kept.(*T)
	}
	kept := make()
	s.kept[key] = kept
	return kept
}

// Plans reports whether the check with the id will run.
func (s *Session) Plans(id string) bool { return slices.Contains(s.Planned, id) }

// readDocument fetches the document, once, and parses it.
func (s *Session) readDocument(ctx context.Context) *check.Finding {
	if s.Document != nil || s.documentErr != nil {
		return s.documentErr
	}
	a := s.exchange(ctx, Call{Method: http.MethodGet, Path: wire.PathDocument})
	d := &Document{}
	switch {
	case a.Err != nil:
		s.Unreached = a.Err.Error()
		s.documentErr = check.Block("P0.1", "%s", s.Unreached)
	case a.Status >= 300 && a.Status < 400:
		s.documentErr = check.Block("P0.2", "the document is answered by a redirect")
	case a.Status != http.StatusOK:
		s.documentErr = check.Block("P0.1", "the document is answered with %d", a.Status)
	case len(a.Body) > wire.MaxDocumentBytes:
		s.documentErr = check.Block("P0.4", "the document is too long")
	default:
		if f := message.Check(a.Body, "document", &d.Document); f != nil {
			s.documentErr = check.Block("P0.5", "the document does not parse: %s", f.Detail)
			break
		}
		s.Document = d
	}
	return s.documentErr
}

// tryToken tries, once, whether the token is accepted.
func (s *Session) tryToken(ctx context.Context) *check.Finding {
	if !s.tokenTried {
		s.tokenTried = true
		a := s.exchange(ctx, s.Ask(wire.PathCheck, &wire.CheckRequest{}, 0))
		if a.Err == nil && a.Status == http.StatusUnauthorized {
			s.tokenErr = check.Block("P1.6", check.TokenRejected)
		}
	}
	return s.tokenErr
}

// Interrupted returns why the run ended early.
func (s *Session) Interrupted(ctx context.Context) string {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return fmt.Sprintf("the run took longer than its timeout of %s", s.Timeout)
	}
	return "the run was interrupted"
}
