// Package session is what the checks of one run share: the way to the connector
// and what was learned about it. What is learned is asked for once.
//
// A [Session] lives as long as the run. Each check works with a [Run] of its own, through which it sends requests and
// reads streams and tables. Whatever can end a check early is returned as a *check.Finding: nil means to go on.
//
// # How a run spends its requests
//
// The checks of a run share a number of requests and a time (package defaults). What a second account adds has
// a third of both besides, so that nothing is taken from the first.
//
//   - A check wants Weight requests. Its share is its part of the sum of the weights of the checks that apply;
//     what it leaves goes to the later ones. However small the share, it may send Least, without which it says
//     nothing.
//   - Time limits a share at the pace of the check's own requests. A check that time cuts short is judged again
//     at the end, with what the others left.
//   - Within its share, a check asks its most telling requests first. Tables take turns: each is asked about
//     once, and then those with many columns more often. Tables with the same columns share the turns of one.
//     [Run.Allowance] says how much is left; a check stops there, and is not judged if it had too little to say
//     anything.
//   - If the caller gave the number, it is a cap. Checks for which it is too small are left out: first advice, then
//     the protocol's behavior, then rows and tenants; the document and the token last.
//
// What the document declares and nothing asked about is counted ([coverage.Record]), and the verdict says how far it was.
package session

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/coverage"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/redact"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Config is what a session needs to begin.
type Config struct {
	Base        string // the connector's base URL, without a slash at its end
	HTTP        *http.Client
	InProcess   bool // the host's name means nothing
	Token       string
	Credentials []wire.Credentials // of one tenant or of two; none is the empty set
	Checks      []Check            // that will run
	Rows        int                // larger tables are not read whole
	Requests    int                // the budget of requests; 0: no limit
	Adapt       bool               // Requests is a default and may be lowered
	Seed        uint64             // makes the generated queries
	Spacing     time.Duration      // the least time between the starts of two requests
	Timeout     time.Duration      // of the run
	Time        time.Duration      // in which the requests of the first account are to be asked; 0: any
	Tables      []string           // only these are judged; none means all
	// Sent, when set, is called when a request is sent, with how many there were. It must be safe for concurrent use.
	Sent func(requests int)
	// WrongCredentials allows checks to send so many wrong credentials that the source may take them for an attack.
	WrongCredentials bool
}

// Session is one run's way to the connector, and what was learned about it.
type Session struct {
	Config
	*redact.Redactor
	Tenants []redact.Tenant // at least one
	watch   *watch
	Covered *coverage.Record
	// Document is nil until it was read. The judge of a check that is not Open may rely on it.
	Document *declared.Document
	// Unreached says why no answer at all came for the document.
	Unreached string
	// Planned are the ids of the checks that will run.
	Planned map[string]bool
	// Lost are the findings that block checks about a table of the first tenant, by its name: a whole
	// read of it was found not to answer all rows, so that its rows are compared with no longer.
	Lost map[string]*check.Finding
	// Problem says why the run does not count, such as that the corpus is not loaded; empty while it does.
	Problem string
	// Stopped says why no check is begun any more; empty while they are.
	Stopped string
	// SQLOnly is the dialect of SQL in which alone the connector takes queries, as far as a check has found out.
	SQLOnly string
	// Alike is set if nothing tells the data of two accounts apart, or if the caller says so.
	Alike bool
	// Bug says how this program failed in a check; empty while it did not.
	Bug string

	timeouts    timeouts
	pace        pace
	dialect     dialect
	judging     string // the id of the check that is being judged
	budget      budget
	hopeless    atomic.Int64 // consecutive retries that did not help
	cut         atomic.Bool  // a request of the check that is being judged was not sent for want of budget
	timings     timings
	numbers     largeNumbers
	documentErr *check.Finding // why the document cannot be used
	tokenErr    *check.Finding // why the token cannot be used
	tokenTried  bool
	discovered  []*Discovery         // by tenant
	snapshots   map[string]*Snapshot // by the name of the table
	failed      map[string]bool      // the checks that have failed, by id

	asked asked

	// Of the account that is not asked now: see [Session.Turn].
	turned         bool
	otherSnapshots map[string]*Snapshot
	otherLost      map[string]*check.Finding
}

// New returns a session that has not asked anything yet.
func New(c Config) (*Session, error) {
	if len(c.Credentials) == 0 {
		c.Credentials = []wire.Credentials{wire.NewCredentials(nil)}
	}
	s := &Session{
		Config:     c,
		discovered: make([]*Discovery, len(c.Credentials)),
		Covered:    coverage.NewRecord(),
		timeouts:   timeouts{routes: map[string]*routeState{}},
		timings:    timings{longest: map[lasting]timed{}},
		Planned:    map[string]bool{}, failed: map[string]bool{},
		snapshots: map[string]*Snapshot{}, otherSnapshots: map[string]*Snapshot{},
		Lost: map[string]*check.Finding{}, otherLost: map[string]*check.Finding{},
	}
	for i := range c.Checks {
		s.Planned[c.Checks[i].ID] = true
	}
	for _, set := range c.Credentials {
		tenant, err := redact.NewTenant(set)
		if err != nil {
			return nil, fmt.Errorf("the credentials cannot be sent: %w", err)
		}
		s.Tenants = append(s.Tenants, tenant)
	}
	s.Redactor = redact.NewRedactor(s.Base, s.Token, s.Tenants)
	s.watch = newWatch(s)
	return s, nil
}

// readDocument fetches the document, once, and parses it.
func (s *Session) readDocument(ctx context.Context) *check.Finding {
	if s.Document != nil || s.documentErr != nil {
		return s.documentErr
	}
	a := s.ExchangeWith(ctx, Call{Method: http.MethodGet, Path: wire.PathDocument})
	switch {
	case a.Err != nil && a.Status == 0:
		s.Unreached = a.Err.Error()
		s.documentErr = check.Skip(check.NotReached, "no answer came for the document: %s", s.Unreached)
	case a.Err != nil:
		s.documentErr = check.Block("P0.1", "%s", a.Err)
	case a.Status >= 300 && a.Status < 400:
		s.documentErr = check.Block("P0.2", "the document is answered by a redirect")
	case a.Status != http.StatusOK:
		s.documentErr = check.Block("P0.1", "the document is answered with %d", a.Status)
	case len(a.Body) > terms.MaxDocumentBytes:
		s.documentErr = check.Block("P0.4", "the document is too long")
	default:
		d, f := declared.Parse(a.Body)
		if f != nil {
			s.documentErr = check.Block("P0.5", "the document does not parse: %s", f.Detail)
			break
		}
		s.Document = d
		s.watch.learnSecrets()
	}
	return s.documentErr
}

// tryToken tries, once, whether /check accepts the token and the credentials.
func (s *Session) tryToken(ctx context.Context) *check.Finding {
	if !s.tokenTried {
		s.tokenTried = true
		c := s.Ask(wire.PathCheck, &wire.CheckRequest{Envelope: wire.Envelope{TimeoutMS: checkTimeout.Milliseconds()}}, 0)
		c.Wait = checkWait
		a := s.ExchangeWith(ctx, c)
		switch {
		case a.Late:
			s.refuse(a, "/check: "+a.Err.Error(),
				"Answer /check before the request's timeoutMs has elapsed: with 408 timeout if the source does not answer.")
			s.tokenErr.Refused = "" // no answer is a fault of the connector's
		case a.Err == nil && a.Status == http.StatusUnauthorized:
			s.refuse(a, check.TokenRejected, "Give this run the token that the connector was started with. "+
				"If it was set or changed on the host, redeploy, and look whether a proxy removes the Authorization header.")
		case a.RefusedWith(wire.CodeCheckFailed) == nil:
			s.refuse(a, "the connector refused the credentials: "+message.Excerpt([]byte(a.Refusal().Message), 300),
				"Give this run the credentials of an account that the source accepts, and a source that can be reached; the connector's "+
					"message says what is wrong. If all is right, mend what /check does with them.")
		}
	}
	return s.tokenErr
}

// refuse records that /check did not accept what the run was given: checks that need it are not judged.
func (s *Session) refuse(a *Answer, sentence, fix string) {
	s.tokenErr = check.Block("P1.6", "%s", sentence).From(a.Request)
	s.tokenErr.Refused, s.tokenErr.Fix = sentence, fix
	if a.Err == nil {
		s.tokenErr.Expected, s.tokenErr.Received = "{ ok: true }", a.Describe()
	}
}
