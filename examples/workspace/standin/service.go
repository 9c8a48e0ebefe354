package standin

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// maxBody limits a request body. The documents show no limit.
const maxBody = 10 << 20

// Options configure a Service. The zero value is a complete service.
type Options struct {
	Seed      uint64            // chooses the seeded data and the ids of runs; the same seed gives the same service
	Accounts  []Account         // who may call; nil means DefaultAccounts
	Items     int               // how many items every list has at least; 0 means the usual numbers
	BaseURL   string            // what URLs in answers begin with; empty means the address that the request was sent to
	Step      time.Duration     // how long one step of a run takes; 0 means two seconds
	Heartbeat time.Duration     // the time between two heartbeats of a run stream; 0 means 15 seconds
	Backoff   time.Duration     // the wait before the second attempt of a webhook, doubled after each; 0 means one second
	Callbacks http.RoundTripper // delivers webhooks; nil means a transport that connects to public addresses only
	SignIn    []string          // paths of POST routes with the sign-in budget; the documents show the budget but no path
}

// Account is a user that may call the service with an access token.
type Account struct {
	Token        string
	Organization string   // its id; accounts of one organization see the same data
	PerMinute    int      // the plan's budget: Standard, Professional, or the number of an enterprise; 0 means Standard
	Forbidden    []string // endpoints that answer 403 to this token, as in the table: "GET /api/v2/workflows/{id}"
}

// The budgets of the two plans that have a fixed one, in requests per minute.
const (
	Standard     = 60
	Professional = 300
)

// DefaultAccounts returns the accounts that a Service has when Options name none:
// one on each plan, each in an organization of its own.
func DefaultAccounts() []Account {
	return []Account{
		{Token: "standin-standard-0123456789abcdef", Organization: "org_1", PerMinute: Standard},
		{Token: "standin-professional-0123456789abcdef", Organization: "org_2", PerMinute: Professional},
	}
}

// Service is the stand-in. It is an http.Handler that serves all paths below one
// base URL, and safe for concurrent use. Close it to end its streams and deliveries.
type Service struct {
	options   Options
	endpoints []Endpoint
	swagger   []byte
	budgets   budgets
	secret    []byte // signs download links

	closed context.Context
	close  context.CancelFunc
	tasks  sync.WaitGroup // webhook deliveries

	mu            sync.Mutex // guards everything below and all that it leads to
	random        *rand.Rand
	counters      map[string]int
	accounts      map[string]*account // by token
	organizations map[string]*organization
	keys          map[string]*apiKey // by the hash of the secret
	runs          map[string]*run
}

// New returns a service with seeded data. It panics if an account forbids an
// endpoint that is not in the table, because the account would then be allowed more
// than its author meant.
func New(options Options) *Service {
	if options.Accounts == nil {
		options.Accounts = DefaultAccounts()
	}
	if options.Step == 0 {
		options.Step = 2 * time.Second
	}
	if options.Heartbeat == 0 {
		options.Heartbeat = 15 * time.Second
	}
	if options.Backoff == 0 {
		options.Backoff = time.Second
	}
	if options.Callbacks == nil {
		options.Callbacks = publicTransport()
	}
	s := &Service{
		options:       options,
		endpoints:     endpoints(options.SignIn),
		budgets:       newBudgets(),
		random:        rand.New(rand.NewPCG(options.Seed, 0)),
		counters:      map[string]int{},
		accounts:      map[string]*account{},
		organizations: map[string]*organization{},
		keys:          map[string]*apiKey{},
		runs:          map[string]*run{},
	}
	s.swagger = describe(s.endpoints)
	s.secret = []byte(s.hex(32))
	s.closed, s.close = context.WithCancel(context.Background())
	s.seed()
	return s
}

// Close ends open streams and deliveries. Runs go on, but nobody hears of them.
func (s *Service) Close() {
	s.mu.Lock() // no delivery begins while s.tasks is waited for
	s.close()
	s.mu.Unlock()
	s.tasks.Wait()
}

// Endpoints returns the table of all endpoints.
func (s *Service) Endpoints() []Endpoint { return slices.Clone(s.endpoints) }

// Stored returns all items of a list as the service has them, in no pages, for a
// test to compare with what a reader gets. The path leads to one list, such as
// /api/v2/workflows/workflow_1/runs, and the token is that of an account.
func (s *Service) Stored(token, path string) ([]json.RawMessage, error) {
	request, err := http.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	c := &call{Service: s, request: request, query: request.URL.Query(), now: time.Now(), whole: true}
	if c.endpoint, c.params = match(s.endpoints, request); c.endpoint == nil || !c.endpoint.IsList() {
		return nil, fmt.Errorf("standin: there is no list at %s", path)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.account = s.accounts[token]; c.account == nil {
		return nil, errors.New("standin: no account has this token")
	}
	c.org = s.organizations[c.account.Organization]
	value, err := c.endpoint.handle(c)
	if list, paged := value.(*listPage); err == nil && paged {
		return list.Data, nil
	}
	var items []json.RawMessage
	if err == nil {
		err = json.Unmarshal(encoded(value), &items)
	}
	return items, err
}

// call is one request on its way to an endpoint's handler.
type call struct {
	*Service
	request  *http.Request
	endpoint *Endpoint
	params   map[string]string // from the path
	query    url.Values
	body     []byte
	account  *account // nil on routes without credentials
	key      *apiKey  // set if the request carried a workflow key
	org      *organization
	now      time.Time
	whole    bool // lists are not split into pages
}

// ServeHTTP answers one request. Budgets are counted first, before the body is
// read, so that a request that is refused later has been counted too.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := &call{Service: s, request: r, query: r.URL.Query(), now: time.Now()}
	answer, err := s.serve(c, w)
	var refused *failure
	switch {
	case errors.As(err, &refused):
		writeFailure(w, refused)
	case err != nil:
		writeFailure(w, &failure{Status: http.StatusInternalServerError, Message: "The server failed."})
	default:
		answer(w)
	}
}

// serve takes a request through all checks and returns what writes the answer.
func (s *Service) serve(c *call, w http.ResponseWriter) (func(http.ResponseWriter), error) {
	if err := s.spend(w, c, s.budgets.flood, normalAddress(c.request), s.budgets.flood.limit); err != nil {
		return nil, err
	}
	c.endpoint, c.params = match(s.endpoints, c.request)
	if c.endpoint == nil || c.endpoint.access != open {
		if err := s.authenticate(c); err != nil {
			return nil, err
		}
	}
	if err := s.spendRoute(w, c); err != nil {
		return nil, err
	}
	if c.endpoint == nil {
		return nil, notFound("This path")
	}
	if err := c.permitted(); err != nil {
		return nil, err
	}
	// Reading to the end also lets net/http notice when the client leaves.
	body, err := io.ReadAll(io.LimitReader(c.request.Body, maxBody+1))
	if err != nil {
		return nil, invalid("", "The body could not be read.")
	}
	if len(body) > maxBody {
		return nil, invalid("", "The body has more than %d bytes.", maxBody)
	}
	c.body = body
	return s.handle(c)
}

// handle calls the endpoint's handler under the lock. A panic becomes an error.
func (s *Service) handle(c *call) (answer func(http.ResponseWriter), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			answer, err = nil, fmt.Errorf("the handler panicked: %v", p)
		}
	}()
	value, err := c.endpoint.handle(c)
	if err != nil {
		return nil, err
	}
	return c.endpoint.answer.writer(c.endpoint.Status, value)
}

// permitted reports a failure if the credential is not good for the endpoint.
func (c *call) permitted() error {
	switch access := c.endpoint.access; {
	case c.key != nil && access == byToken:
		return forbidden("A workflow key works for its own workflow only.")
	case c.key == nil && access == byKey:
		return forbidden("This endpoint needs a workflow key.")
	case c.account != nil && slices.Contains(c.account.Forbidden, c.endpoint.name()):
		return forbidden("The token may not use this endpoint.")
	}
	return nil
}

// baseURL returns what absolute URLs in answers begin with.
func (c *call) baseURL() string {
	if c.options.BaseURL != "" {
		return strings.TrimSuffix(c.options.BaseURL, "/")
	}
	if c.request.TLS != nil {
		return "https://" + c.request.Host
	}
	return "http://" + c.request.Host
}

// nextID returns a new id of a kind, such as chat_7.
func (s *Service) nextID(kind string) string {
	s.counters[kind]++
	return fmt.Sprintf("%s_%d", kind, s.counters[kind])
}

// uuid returns a new id in the form of a random UUID.
func (s *Service) uuid() string {
	var b [16]byte
	for i := range b {
		b[i] = byte(s.random.Uint32())
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// hex returns n random bytes in hexadecimal.
func (s *Service) hex(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(s.random.Uint32())
	}
	return hex.EncodeToString(b)
}
