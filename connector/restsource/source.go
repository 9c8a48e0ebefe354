package restsource

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Source is a connector.Source over the endpoints of a REST API. It describes its
// tables, counts and joins. It keeps nothing between requests but open connections,
// and is safe for concurrent use.
type Source struct {
	api     API
	options Options
	base    http.RoundTripper
	catalog
	rate *limiter // of all requests together

	transport *connector.PerRequest[*Transport]
	catalogs  *connector.PerRequest[*catalog] // of the tenants
}

// Options are what a host may set. Nil, and every zero member, is the default.
type Options struct {
	// Transport makes the requests to the API: a record.Recorder in tests, or the host's own
	// http.Transport, for instance for a proxy. The source puts a [Transport] around
	// it. It must follow no redirects, and is responsible for the addresses that it
	// dials. Default: a http.Transport that ignores the environment and, if API.Base is
	// a placeholder, dials public addresses only.
	Transport http.RoundTripper
	// AllowPrivate lets tenants type addresses of private networks and of this machine, and
	// http addresses. It is meant for tests.
	AllowPrivate bool
	// Attempts and MaxBody are those of [Transport].
	Attempts int
	MaxBody  int64
	// Concurrency is how many endpoints of a child table, or pages of an endpoint whose places
	// are known, are asked at the same time. Default: 4.
	Concurrency int
	// TablesOf returns the tables that a tenant has beside the declared ones, such as custom
	// objects. It is called at discovery, and once in each request that concerns a table
	// which is not declared; nothing of it is kept. A table may have its columns from
	// ColumnsOf, which is called for the tables that a request concerns. A faulty one is left
	// out of discovery with a warning.
	TablesOf func(ctx context.Context, call *Call) ([]Table, error)
	// JoinBudget bounds the memory for the tables that a join leads to, in bytes.
	// Default: 64 MiB.
	JoinBudget int64
}

// New returns a source of the tables of an API. The error names every fault of the
// declarations at once.
func New(api API, tables []Table, opts *Options) (*Source, error) {
	s := &Source{api: api, transport: new(connector.PerRequest[*Transport]), catalogs: new(connector.PerRequest[*catalog])}
	if opts != nil {
		s.options = *opts
	}
	s.options.Concurrency = cmp.Or(max(s.options.Concurrency, 0), 4)
	s.rate = newLimiter(api.Rate)
	faults := api.faults()
	var own []*faultError
	s.catalog, own = newCatalog(tables)
	for _, f := range own {
		faults = append(faults, f)
	}
	if len(tables) == 0 && (s.options.TablesOf == nil || api.Check == "") {
		faults = append(faults, errors.New("restsource: there is no table, or none and no API.Check beside Options.TablesOf"))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	if s.base = s.options.Transport; s.base == nil {
		s.base = newBase(api.typed() || len(api.Hosts) > 0 || s.downloads(), s.options.AllowPrivate)
	}
	if _, _, err := api.Certificate.shown(s.base, wire.Credentials{}); errors.Is(err, errNoTLS) {
		return nil, err
	}
	return s, nil
}

// CredentialKeys returns the keys of the credentials that stand in requests or prove a connection. connector.New
// checks that the form has them.
func (s *Source) CredentialKeys() []string {
	keys := slices.Concat(template(s.api.Base).names(), template(s.api.Check).names())
	for _, t := range s.order {
		for _, name := range t.placeholders() {
			if name != t.Partitions.Column && (t.parent == nil || t.parent.place(name) < 0) {
				keys = append(keys, name)
			}
		}
		for _, value := range t.Partitions.Values {
			keys = append(keys, template(value).names()...)
		}
	}
	for _, key := range []string{s.api.Certificate.Cert, s.api.Certificate.Key} {
		if key != "" {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// session is the access of one request to the API, with a tenant's credentials.
type session struct {
	*Source
	catalog
	creds     wire.Credentials
	address   *url.URL
	transport *Transport
	shown     map[string]*shown   // what the answers for a table have shown
	slots     chan struct{}       // the requests for pages that are under way
	kept      *kept               // of a join or a discovery, or nil
	together  map[*table][]*table // of a join or a discovery, the embedded tables by their base
}

// open returns a session. The calls of one request share what the API said about its
// budget of requests.
func (s *Source) open(ctx context.Context, creds wire.Credentials) (*session, error) {
	address, err := s.api.base(creds, s.options.AllowPrivate)
	if err != nil {
		return nil, err
	}
	transport, _, err := s.transport.Get(ctx, func(context.Context) (*Transport, func(), error) {
		rate := s.rate
		if s.api.Rate.Each {
			rate = newLimiter(s.api.Rate)
		}
		base, closeBase, err := s.api.Certificate.shown(s.base, creds)
		return &Transport{Base: base, Attempts: s.options.Attempts, MaxBody: s.options.MaxBody, rate: rate}, closeBase, err
	})
	x := &session{Source: s, catalog: s.catalog, creds: creds, address: address, transport: transport,
		shown: map[string]*shown{},
		slots: make(chan struct{}, s.options.Concurrency)}
	if err == nil && len(s.api.Hosts) > 0 {
		err = x.locate(ctx)
	}
	return x, err
}

// openTable returns a session, and one of its tables.
func (s *Source) openTable(ctx context.Context, creds wire.Credentials, name string) (*session, *table, error) {
	x, err := s.open(ctx, creds)
	if err != nil {
		return nil, nil, err
	}
	t, err := x.table(ctx, name)
	return x, t, err
}

// Check asks the endpoint API.Check.
func (s *Source) Check(ctx context.Context, req *wire.CheckRequest) (err error) {
	defer s.explaining(ctx, &err)
	return s.forPerson(s.check(ctx, req.Credentials))
}

func (s *Source) check(ctx context.Context, creds wire.Credentials) error {
	x, err := s.open(ctx, creds)
	if err != nil {
		return err
	}
	if s.api.Check == "" {
		_, err := x.firstPage(ctx, s.order[0])
		if status, ok := errors.AsType[*statusError](err); ok {
			return &statusError{status: status.status, why: status.why} // it is about the credentials, not about the table
		}
		return err
	}
	path, query, _ := strings.Cut(s.api.Check, "?")
	params, err := url.ParseQuery(query)
	if err != nil {
		return &formError{"", "API.Check has a malformed query"}
	}
	for _, values := range params {
		for i, v := range values {
			values[i], _ = template(v).expand(func(key string) (string, error) { return creds.Get(key), nil })
		}
	}
	if path, err = template(path).expand(x.credentialed); err != nil {
		return err
	}
	a, err := x.send(ctx, "", x.at(path, params), nil)
	if err != nil {
		return err
	}
	if a.html() {
		return &formError{"", "the API answered with HTML"}
	}
	return a.refused("")
}

// Describe returns a table as it was declared, without asking the API, except for the
// columns of Table.ColumnsOf.
func (s *Source) Describe(ctx context.Context, creds wire.Credentials, name string) (_ *wire.Table, err error) {
	defer s.explaining(ctx, &err)
	_, t, err := s.openTable(ctx, creds, name)
	if err != nil {
		return nil, err
	}
	described := t.described
	return &described, nil
}

// Size returns the number of rows that the API states, or declines if it states none.
func (s *Source) Size(ctx context.Context, req *wire.SizeRequest) (_ *wire.Size, err error) {
	defer s.explaining(ctx, &err)
	x, t, err := s.openTable(ctx, req.Credentials, req.Table)
	if err != nil {
		return nil, err
	}
	if !t.counts() || t.split() {
		return nil, connector.ErrDecline
	}
	n, err := x.total(ctx, t, push{})
	return &wire.Size{Rows: n, Exact: true}, err
}
