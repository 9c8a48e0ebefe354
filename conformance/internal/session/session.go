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
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/message"
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
	// Sent, when set, is called when a request is sent, with how many there were. It must be
	// safe for concurrent use.
	Sent func(requests int)
	// WrongCredentials allows checks to send credentials that the source may take for
	// an attack.
	WrongCredentials bool
}

// Session is one run's way to the connector, and what was learned about it.
type Session struct {
	Config
	Tenants []Tenant // at least one
	Watch   *Watch
	Covered Record
	// Document is nil until it was read. The judge of a check that is not Open may
	// rely on it.
	Document *Document
	// Unreached says why no answer at all came for the document.
	Unreached string
	// Problem says why the run does not count, such as that the corpus is not
	// loaded; empty while it does.
	Problem string
	// Stopped says why no check is begun any more; empty while they are.
	Stopped string
	// Alike is set if nothing tells the data of two accounts apart.
	Alike bool
	// Bug says how this program failed in a check; empty while it did not.
	Bug string

	redact      *redactor
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

	// Of the account that is not asked now: see [Session.Turn].
	turned         bool
	otherSnapshots map[string]*Snapshot
	otherHeard     heard
}

// Tenant is one set of credentials.
type Tenant struct {
	Credentials wire.Credentials
	JSON        []byte // as requests carry it
	variable    string // stands for it in what is shown
}

// Document is the capability document.
type Document struct {
	wire.Document
	// EmptyDialect is set if there is a dialect, and it is empty.
	EmptyDialect bool
}

// hasEmptyDialect reports whether a document has a dialect that is empty.
func hasEmptyDialect(body []byte) bool {
	var d struct{ Dialect *string }
	return json.Unmarshal(body, &d) == nil && d.Dialect != nil && strings.TrimSpace(*d.Dialect) == ""
}

// Has reports whether the document lists an optional route.
func (d *Document) Has(e wire.Endpoint) bool { return slices.Contains(d.Endpoints, e) }

// Declares reports whether the document declares all of some operators.
func (d *Document) Declares(ops ...wire.Op) bool {
	return !slices.ContainsFunc(ops, func(op wire.Op) bool { return !slices.Contains(d.Capabilities.Operators, op) })
}

// SortKeys returns how many sort keys a query may have at most.
func (d *Document) SortKeys() int {
	switch d.Capabilities.Sort {
	case wire.SortSingle:
		return 1
	case wire.SortMulti:
		return math.MaxInt
	}
	return 0
}

// Window returns the limit and the offset that are nearest to some and that the document allows.
func (d *Document) Window(limit, offset int64) (int64, int64) {
	if most := d.Capabilities.Limits.PageSizeMax; most > 0 {
		limit = min(limit, most)
	}
	if most := d.Capabilities.Limits.OffsetMax; most > 0 {
		offset = min(offset, most)
	}
	if !d.Capabilities.Offset {
		offset = 0
	}
	return limit, offset
}

// Allows reports whether the document declares what a query asks for besides its filters: as many sort
// keys, such a window, and joins.
func (d *Document) Allows(req *wire.QueryRequest) bool {
	limit, offset := d.Window(req.Limit, req.Offset)
	return len(req.Sort) <= d.SortKeys() && limit == req.Limit && offset == req.Offset && (d.Capabilities.Join || len(req.Joins) == 0)
}

// Required returns the credential fields that must be given.
func (d *Document) Required() []wire.CredentialField {
	return slices.DeleteFunc(slices.Clone(d.CredentialSchema), func(f wire.CredentialField) bool { return f.Optional })
}

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
	if len(c.Credentials) == 0 {
		c.Credentials = []wire.Credentials{wire.NewCredentials(nil)}
	}
	s := &Session{
		Config:     c,
		discovered: make([]*Discovery, len(c.Credentials)),
		Covered:    Record{heard: newHeard()},
		timeouts:   timeouts{routes: map[string]*routeState{}},
		timings:    timings{slowest: map[string]Timed{}},
		snapshots:  map[string]*Snapshot{}, otherSnapshots: map[string]*Snapshot{}, otherHeard: newHeard(),
		failed: map[string]bool{},
	}
	for i, set := range c.Credentials {
		body, err := credentialsJSON(set)
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

// credentialsJSON returns a set of credentials as requests carry it.
func credentialsJSON(c wire.Credentials) ([]byte, error) {
	body, err := wire.EncodeRequest(&wire.CheckRequest{Envelope: wire.Envelope{Credentials: c, TimeoutMS: 1}})
	if err != nil {
		return nil, err
	}
	body, _ = bytes.CutPrefix(body, []byte(`{"credentials":`))
	body, _ = bytes.CutSuffix(body, []byte(`,"timeoutMs":1}`))
	return body, nil
}

// WrongCredential stands for a secret in wrong credentials.
const WrongCredential = "conformance-wrong-credential"

// NotAskedFor returns the finding of a check that sends wrong credentials in a run
// that must not.
func NotAskedFor() *check.Finding {
	return check.Skip(check.NotAsked, "wrong credentials may lock a real account; -wrong-credentials sends them")
}

// Plans reports whether the check with the id will run.
func (s *Session) Plans(id string) bool {
	return slices.ContainsFunc(s.Checks, func(c Check) bool { return c.ID == id })
}

// readDocument fetches the document, once, and parses it.
func (s *Session) readDocument(ctx context.Context) *check.Finding {
	if s.Document != nil || s.documentErr != nil {
		return s.documentErr
	}
	a := s.ExchangeWith(ctx, Call{Method: http.MethodGet, Path: wire.PathDocument})
	d := &Document{}
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
		if f := message.Check(a.Body, "document", &d.Document); f != nil {
			s.documentErr = check.Block("P0.5", "the document does not parse: %s", f.Detail)
			break
		}
		d.EmptyDialect = hasEmptyDialect(a.Body)
		s.Document = d
		s.Watch.learnSecrets()
	}
	return s.documentErr
}

// MissingCredentials returns the required fields of the document that a tenant's
// credentials lack. It reads the document, and knows of none without it.
func (s *Session) MissingCredentials(ctx context.Context) (fields []wire.CredentialField) {
	if s.readDocument(ctx) != nil {
		return nil
	}
	for _, field := range s.Document.Required() {
		missing := func(t Tenant) bool { return strings.TrimSpace(t.Credentials.Get(field.Key)) == "" }
		if slices.ContainsFunc(s.Tenants, missing) {
			fields = append(fields, field)
		}
	}
	return fields
}

// tryToken tries, once, whether /check accepts the token and the credentials.
func (s *Session) tryToken(ctx context.Context) *check.Finding {
	if !s.tokenTried {
		s.tokenTried = true
		c := s.Ask(wire.PathCheck, &wire.CheckRequest{Envelope: wire.Envelope{TimeoutMS: checkTimeout.Milliseconds()}}, 0)
		c.Wait = checkWait
		a := s.ExchangeWith(ctx, c)
		var late Late
		switch {
		case errors.As(a.Err, &late):
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

// refuse records that /check did not accept what the run was given: checks that need it
// are not judged.
func (s *Session) refuse(a *Answer, sentence, fix string) {
	s.tokenErr = check.Block("P1.6", "%s", sentence).From(a.Request)
	s.tokenErr.Refused, s.tokenErr.Fix = sentence, fix
	if a.Err == nil {
		s.tokenErr.Expected, s.tokenErr.Received = "{ ok: true }", a.Describe()
	}
}

// Interrupted returns why the run ended early.
func (s *Session) Interrupted(ctx context.Context) string {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return fmt.Sprintf("the run took longer than its timeout of %s", s.Timeout)
	}
	return "the run was interrupted"
}
