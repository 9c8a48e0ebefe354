package conformance

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// session is what the checks of one run share: the way to the connector, and
// what was learned of it. What is learned is asked for once.
type session struct {
	*plan
	target Target
	base   string
	http   *http.Client

	tenants []tenant // at least one
	watch   *watch
	silent  silence
	rand    *rand.Rand

	doc       *document // nil until it was read
	docWhy    string    // why it can not be read
	docBy     string    // the check that says so
	unreached string    // why no answer at all came for the document
	noCorpus  string    // why the fixture checks cannot be run (I1a)
	fault     string    // of this program
	asked     bool      // for the document
	tokenWhy  *string   // "" when the token is accepted; nil before it was tried
	found     []*discovered
	snapshots map[snapshotKey]*snapshot
	fixture   *fixture     // what phase 2 knows; nil until it is wanted
	known     *knownTables // of the generated queries; nil until they are wanted
	slow      slowProbes
	cover     coverage
}

// tenant is one set of credentials.
type tenant struct {
	credentials wire.Credentials
	json        []byte // as requests carry it
	slot        string // the variable that stands for it in what is shown
}

// document is the capability document, as it was read.
type document struct {
	wire.Document
	bytes int
}

func (d *document) has(e wire.Endpoint) bool { return slices.Contains(d.Endpoints, e) }

func (d *document) operator(op wire.Op) bool { return slices.Contains(d.Capabilities.Operators, op) }

// discovered is the discovery of one tenant.
type discovered struct {
	wire.Discovery
	tables map[string]*wire.Table
	why    string // why there is none
}

func newSession(target Target, p *plan) (*session, error) {
	base, err := target.base()
	if err != nil {
		return nil, err
	}
	switch {
	case target.Token == "":
		return nil, fmt.Errorf("no token; give the bearer token that the connector's host issued, or set %s", EnvToken)
	case strings.ContainsFunc(target.Token, func(r rune) bool { return r < '!' || r > '~' }):
		return nil, errors.New("the token holds a blank, a control character or one beyond ASCII, which no header can carry")
	case len(target.Credentials) > 2:
		return nil, errors.New("more than two sets of credentials; give one, or two to hold two tenants apart")
	}
	s := &session{plan: p, target: target, base: base, http: target.client(), snapshots: map[snapshotKey]*snapshot{}}
	if s.Seed == 0 {
		s.Seed = rand.Uint64() >> 11 // readable, and exact in JSON
	}
	s.rand = rand.New(rand.NewPCG(s.Seed, 0))
	sets := target.Credentials
	if len(sets) == 0 {
		sets = []map[string]string{{}}
	}
	for i, set := range sets {
		c := wire.NewCredentials(set)
		body, err := credentialsJSON(c)
		if err != nil {
			return nil, fmt.Errorf("the credentials cannot be sent: %w", err)
		}
		s.tenants = append(s.tenants, tenant{credentials: c, json: body, slot: []string{EnvCredentials, EnvCredentials2}[i]})
	}
	s.found = make([]*discovered, len(s.tenants))
	s.watch = newWatch(s)
	return s, nil
}

// document is the capability document; the check is blocked without one.
func (x *exam) document() *document {
	s := x.session
	if !s.asked {
		s.asked = true
		s.readDocument(x.ctx)
	}
	if s.doc == nil {
		x.blocked(s.docBy, s.docWhy)
	}
	return s.doc
}

// readDocument fetches and parses it.
func (s *session) readDocument(ctx context.Context) {
	a := s.exchange(ctx, call{method: http.MethodGet, path: wire.PathDocument})
	switch {
	case a.err != nil:
		s.docBy, s.docWhy, s.unreached = "P0.1", a.err.Error(), a.err.Error()
	case a.status >= 300 && a.status < 400:
		s.docBy, s.docWhy = "P0.2", "the document is answered by a redirect"
	case a.status != http.StatusOK:
		s.docBy, s.docWhy = "P0.1", fmt.Sprintf("the document is answered with %d", a.status)
	case len(a.body) > wire.MaxDocumentBytes:
		s.docBy, s.docWhy = "P0.4", "the document is too long"
	default:
		var d document
		if f := checkMessage(a.body, "document", &d.Document); f != nil {
			s.docBy, s.docWhy = "P0.5", "the document does not parse: "+f.detail
			return
		}
		d.bytes = len(a.body)
		s.doc = &d
	}
}

// rejected is what the platform says of a token that is refused.
const rejected = "The connector rejected the token"

// authorized makes sure that the token is accepted; the check is blocked
// otherwise.
func (x *exam) authorized() {
	x.document()
	if x.tokenWhy == nil {
		why := ""
		if a := x.session.exchange(x.ctx, x.session.ask(wire.PathCheck, &wire.CheckRequest{}, 0)); a.err == nil && a.status == http.StatusUnauthorized {
			why = rejected
		}
		x.tokenWhy = &why
	}
	if *x.tokenWhy != "" {
		x.blocked("P1.6", *x.tokenWhy)
	}
}

// discovery is what a tenant's data holds; the check is blocked without it.
func (x *exam) discovery(tenant int) *discovered {
	s := x.session
	if s.found[tenant] == nil {
		s.found[tenant] = s.discover(x.ctx, tenant)
	}
	if why := s.found[tenant].why; why != "" {
		x.blocked("P3.1a", why)
	}
	return s.found[tenant]
}

func (s *session) discover(ctx context.Context, tenant int) *discovered {
	d := &discovered{tables: map[string]*wire.Table{}}
	a := s.exchange(ctx, s.ask(wire.PathDiscovery, &wire.DiscoveryRequest{}, tenant))
	if f := a.decode("discovery-answer", &d.Discovery); f != nil {
		d.why = "/discovery: " + f.detail
		return d
	}
	for i := range d.Tables {
		d.tables[d.Tables[i].Name] = &d.Tables[i]
	}
	return d
}

// shape is a discovered table without rows, for the oracle.
func shape(t *wire.Table) *oracle.Table {
	return &oracle.Table{Name: t.Name, Columns: t.Columns(), PrimaryKey: t.PrimaryKey}
}

// interrupted says why the run ended early.
func (s *session) interrupted(ctx context.Context) string {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return fmt.Sprintf("the run took longer than its timeout of %s", s.Timeout)
	}
	return "the run was interrupted"
}

// scrub takes every secret out of what is reported. Secrets never get into it
// on purpose, but a connector may echo them.
func (s *session) scrub(o *Outcome) {
	for _, text := range []*string{&o.Detail, &o.Expected, &o.Received} {
		*text = s.clean(*text)
	}
}

func (s *session) clean(text string) string {
	if text == "" {
		return text
	}
	text = strings.ReplaceAll(text, s.target.Token, "[token]")
	for _, t := range s.tenants {
		text = t.credentials.Scrub(text)
	}
	return text
}

// coverage counts what a run has asked.
type coverage struct {
	mu        sync.Mutex
	requests  int
	streams   int
	rows      int64
	bytes     int64
	generated int
	telling   int            // of them
	pairs     map[string]int // "eq number" -> filters judged
}

func (c *coverage) add(part func(*coverage)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	part(c)
}

// filters counts the predicates of a judged request by operator and type.
func (c *coverage) filters(t *oracle.Table, and []wire.Filter, or [][]wire.Filter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pairs == nil {
		c.pairs = map[string]int{}
	}
	for _, group := range append([][]wire.Filter{and}, or...) {
		for _, f := range group {
			kind := wire.Type("undeclared")
			if i := t.Index(f.Field); i >= 0 && t.Columns[i].Type != "" {
				kind = t.Columns[i].Type
			}
			c.pairs[string(f.Op)+" "+string(kind)]++
		}
	}
}

// grace is how long beyond a deadline of its own an answer is waited for.
const grace = 10 * time.Second
