package killtest

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The credentials of two tenants.
var twoTenants = []map[string]string{{"key": "first-tenants-key"}, {"key": "second-tenants-key"}}

func both(g *grading) { live(g); g.credentials = twoTenants }

// tenants serves two tenants with tables of their own: both have parts, with
// other rows, and each one that the other lacks.
type tenants struct {
	tables        [2][]memsource.Table
	first, second *memsource.Source
	// whose tells whose data a request gets.
	whose func(c wire.Credentials) bool
	// waits is done between asking whose data it is and answering.
	waits func()
	// discovered is called by every discovery.
	discovered func(c wire.Credentials)
}

func newTenants() *tenants {
	table := func(name, mark string, n int) memsource.Table {
		t := memsource.Table{Table: wire.Table{Name: name, SourceDescription: "Parts.", PrimaryKey: []string{"id"},
			Fields: []wire.Field{{Name: "id", Type: wire.TypeString, Unique: true}, {Name: "n", Type: wire.TypeNumber}}}}
		for i := range n {
			t.Rows = append(t.Rows, []wire.Value{wire.Text(fmt.Sprintf("%s-%d", mark, i)), wire.Int(int64(i % 5))})
		}
		return t
	}
	tables := [2][]memsource.Table{
		{table("parts", "a", 12), table("only_first", "a", 3)},
		{table("parts", "b", 17), table("only_second", "b", 4)},
	}
	return &tenants{tables: tables, first: source(tables[0]...), second: source(tables[1]...), whose: isFirst}
}

func isFirst(c wire.Credentials) bool { return c.Get("key") == twoTenants[0]["key"] }

func (s *tenants) of(c wire.Credentials) *memsource.Source {
	first := s.whose(c)
	if s.waits != nil {
		s.waits()
		first = s.whose(wire.Credentials{})
	}
	if first {
		return s.first
	}
	return s.second
}

func (s *tenants) Check(context.Context, *wire.CheckRequest) error { return nil }

func (s *tenants) Discover(ctx context.Context, req *wire.DiscoveryRequest) (*wire.Discovery, error) {
	if s.discovered != nil {
		s.discovered(req.Credentials)
	}
	if isFirst(req.Credentials) {
		return s.first.Discover(ctx, req)
	}
	return s.second.Discover(ctx, req)
}

func (s *tenants) Query(ctx context.Context, req *connector.Query, out *connector.Rows) error {
	return s.of(req.Credentials).Query(ctx, req, out)
}

func (s *tenants) Count(ctx context.Context, req *wire.CountRequest) (int64, error) {
	return s.of(req.Credentials).Count(ctx, req)
}

func (s *tenants) Size(ctx context.Context, req *wire.SizeRequest) (*wire.Size, error) {
	return s.of(req.Credentials).Size(ctx, req)
}

func (s *tenants) serve() http.Handler { return serveTenants(s) }

// serveTenants returns the connector of a source of two tenants. It lets nobody else in.
func serveTenants(src connector.Source) http.Handler {
	return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
		set, ok := credentialsIn(*body)
		stranger := ok && mayAsk(r) && !slices.ContainsFunc(twoTenants, func(own map[string]string) bool { return maps.Equal(own, set) })
		switch {
		case stranger && r.URL.Path == wire.PathCheck:
			refuses(w, http.StatusBadRequest, "check_failed", "The key is wrong.")
		case stranger:
			refuses(w, http.StatusBadRequest, "bad_request", "the key is not accepted")
		}
		return stranger
	})(serve(tenantDefinition, src, nil))
}

var tenantDefinition = connector.Definition{Credentials: []wire.CredentialField{{Key: "key", Label: "Key", Type: wire.CredentialPassword}}}

// sizeCache remembers sizes, whoever asked.
type sizeCache struct {
	*tenants
	sizes sync.Map
}

func (s *sizeCache) Size(ctx context.Context, req *wire.SizeRequest) (*wire.Size, error) {
	if size, ok := s.sizes.Load(req.Table); ok {
		return size.(*wire.Size), nil
	}
	size, err := s.tenants.Size(ctx, req)
	if err == nil {
		s.sizes.Store(req.Table, size)
	}
	return size, err
}

// remembering lists the tables of all discoveries so far.
type remembering struct {
	*tenants
	mu   sync.Mutex
	seen []wire.Table
}

func (s *remembering) Discover(ctx context.Context, req *wire.DiscoveryRequest) (*wire.Discovery, error) {
	d, err := s.tenants.Discover(ctx, req)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range d.Tables {
		if !slices.ContainsFunc(s.seen, func(other wire.Table) bool { return other.Name == t.Name }) {
			s.seen = append(s.seen, t)
		}
	}
	return &wire.Discovery{Tables: slices.Clone(s.seen)}, nil
}

func tenantFaults() []fault {
	return []fault{
		{name: "any tenant reads any table", why: "a table of one tenant answers unknown_entity for another that lacks it",
			kills: []string{"T1"}, options: both,
			build: func() http.Handler {
				s := newTenants()
				every := source(slices.Concat(s.tables[0], s.tables[1][1:])...)
				return serveTenants(&anyTable{s, every})
			}},
		{name: "metadata of the last discovery", why: "a connector keeps nothing about a tenant between calls", kills: []string{"T2"},
			first: "P3.1c", because: "its tables are unknown once the other account has been described", options: both,
			build: func() http.Handler {
				s := newTenants()
				var mu sync.Mutex
				last := true
				s.discovered = func(c wire.Credentials) {
					mu.Lock()
					defer mu.Unlock()
					last = isFirst(c)
				}
				s.whose = func(wire.Credentials) bool {
					mu.Lock()
					defer mu.Unlock()
					return last
				}
				return s.serve()
			}},
		{name: "sizes kept by the name of the table", why: "a connector keeps nothing about a tenant between calls", kills: []string{"T2"},
			options: both, build: func() http.Handler { return serveTenants(&sizeCache{tenants: newTenants()}) }},
		{name: "discovery remembers every table it has seen",
			why: "metadata of one credential set must never be served to a request with another", kills: []string{"T2"}, options: both,
			build: func() http.Handler { return serveTenants(&remembering{tenants: newTenants()}) }},
		{name: "a shared variable for the credentials", why: "data of one credential set must never be served to a request with another",
			kills: []string{"T3"}, options: both,
			build: func() http.Handler {
				s := newTenants()
				var mu sync.Mutex
				current := true
				s.waits = func() { time.Sleep(time.Millisecond) } // what another request may use
				s.whose = func(c wire.Credentials) bool {
					mu.Lock()
					defer mu.Unlock()
					if len(c.Keys()) > 0 {
						current = isFirst(c)
					}
					return current
				}
				return s.serve()
			}},
	}
}

// anyTable answers a table whoever asks, unless both have one of the name.
type anyTable struct {
	*tenants
	every *memsource.Source
}

func (s *anyTable) Query(ctx context.Context, req *connector.Query, out *connector.Rows) error {
	if req.Table != "parts" {
		return s.every.Query(ctx, req, out)
	}
	return s.tenants.Query(ctx, req, out)
}
