package connectortest

import (
	"context"
	"log"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var hostedDefinition = connector.Definition{Slug: "hosted", Credentials: []wire.CredentialField{
	{Key: "account", Label: "Account", Type: wire.CredentialText},
	{Key: "key", Label: "Key", Type: wire.CredentialPassword},
}}

var (
	tenantA = map[string]string{"account": "acme", "key": "a-s3cret/1+?"}
	tenantB = map[string]string{"account": "bolt", "key": "b-s3cret/2+?"}
)

// host is a source of several tenants.
type host struct {
	connectors.Source
	connectors.Counter
	connectors.Aggregator
	known map[string]connectors.Described // by account and key
}

// newHost has a table that both tenants have, with other rows, one that is
// the same for both, and one that only the first has.
func newHost(t testing.TB) *host {
	known := map[string]connectors.Described{
		"acme/a-s3cret/1+?": connectors.Bend(shop(t, tablesIn("testdata/acme.json")...)),
		"bolt/b-s3cret/2+?": connectors.Bend(shop(t, tablesIn("testdata/bolt.json")...)),
	}
	// of returns the tenant's source, or one that refuses whoever has no such key.
	of := func(creds wire.Credentials) connectors.Described {
		if src, ok := known[creds.Get("account")+"/"+creds.Get("key")]; ok {
			return src
		}
		refused := connector.BadRequest("account %s has no such key", creds.Get("account"))
		var src connectors.Described
		src.OnCheck = func(context.Context, *wire.CheckRequest) error {
			return connector.CheckFailed("the key does not open this account: copy it anew from the console")
		}
		src.OnDiscover = func(context.Context, *wire.DiscoveryRequest) (*wire.Discovery, error) { return nil, refused }
		src.OnQuery = func(context.Context, *connector.Query, *connector.Rows) error { return refused }
		return src
	}
	return &host{
		connectors.Source{
			OnCheck: func(ctx context.Context, req *wire.CheckRequest) error { return of(req.Credentials).Check(ctx, req) },
			OnDiscover: func(ctx context.Context, req *wire.DiscoveryRequest) (*wire.Discovery, error) {
				return of(req.Credentials).Discover(ctx, req)
			},
			OnQuery: func(ctx context.Context, req *connector.Query, out *connector.Rows) error {
				return of(req.Credentials).Query(ctx, req, out)
			},
		},
		func(ctx context.Context, req *wire.CountRequest) (int64, error) {
			return of(req.Credentials).Count(ctx, req)
		},
		func(ctx context.Context, req *wire.AggregateRequest) ([][]wire.Value, error) {
			return of(req.Credentials).Aggregate(ctx, req)
		},
		known,
	}
}

func TestIsolation(t *testing.T) {
	before, output := slog.Default(), log.Writer()
	Isolation(t, hostedDefinition, newHost(t), tenantA, tenantB)
	assert.Same(t, before, slog.Default(), "the process's logger is put back")
	assert.Equal(t, output, log.Writer(), "and so is the older one's output")
}

// leaks changes the n-th query of any tenant, or fails it.
func leaks(change func(n int64, own *connector.Query) error) func(*host) {
	return func(h *host) {
		var calls atomic.Int64
		honest := h.OnQuery
		h.OnQuery = func(ctx context.Context, req *connector.Query, out *connector.Rows) error {
			own := *req
			if err := change(calls.Add(1), &own); err != nil {
				return err
			}
			return honest(ctx, &own, out)
		}
	}
}

// tells changes what the n-th discovery of any tenant answers.
func tells(change func(n int64, creds wire.Credentials, d *wire.Discovery)) func(*host) {
	return func(h *host) {
		var calls atomic.Int64
		h.OnDiscover = after(h.OnDiscover, func(req *wire.DiscoveryRequest, d *wire.Discovery) *wire.Discovery {
			change(calls.Add(1), req.Credentials, d)
			return d
		})
	}
}

// isolationTests are sources with a shared field, which can have each of these leaks.
// The tests of package conformance have more that its checks find.
var isolationTests = []struct {
	name, why, want string
	bend            func(*host)
}{
	{"the same data", "two tenants that see the same prove nothing", "both tenants see the same rows in every table",
		func(h *host) { h.known["bolt/b-s3cret/2+?"] = h.known["acme/a-s3cret/1+?"] }},
	{"rows kept by table", "whoever comes first is served to all", "connectortest: T1: ", func(h *host) {
		var first sync.Map
		leaks(func(_ int64, own *connector.Query) error {
			kept, _ := first.LoadOrStore(own.Table, own.Credentials)
			own.Credentials = kept.(wire.Credentials)
			return nil
		})(h)
	}},
	{"another's rows at times", "a row of one tenant never reaches the other", "connectortest: T2: /query",
		leaks(func(n int64, own *connector.Query) error {
			if n > 20 && n%3 == 0 && own.Credentials.Get("account") == "bolt" {
				own.Credentials = wire.NewCredentials(tenantA)
			}
			return nil
		})},
	{"no rows at times", "a tenant keeps what it has, whatever the other does",
		"beside other requests, does not answer tenant b as it did alone",
		leaks(func(n int64, own *connector.Query) error {
			if n > 20 && n%2 == 0 && own.Credentials.Get("account") == "bolt" {
				return connector.UnknownEntity("there is no table %q", own.Table)
			}
			return nil
		})},
	{"another's name in discovery", "a table's name is data of the tenant that has it",
		"POST /discovery, beside other requests, does not answer tenant b as it did alone",
		tells(func(n int64, creds wire.Credentials, d *wire.Discovery) {
			if n > 2 && creds.Get("account") == "bolt" { // each has asked alone by then
				d.Tables[0].SourceDescription = "leads"
			}
		})},
	{"a table that goes", "a tenant keeps its tables, whatever the other does",
		"POST /discovery, beside other requests, does not answer tenant a as it did alone",
		tells(func(n int64, _ wire.Credentials, d *wire.Discovery) {
			if n > 2 {
				d.Tables = d.Tables[:1]
			}
		})},
	{"another's value as a group", "a group's key is a cell",
		"POST /aggregate of table \"orders\", beside other requests, does not answer tenant b", func(h *host) {
			h.Aggregator = after(h.Aggregator, func(req *wire.AggregateRequest, groups [][]wire.Value) [][]wire.Value {
				if req.Credentials.Get("account") == "bolt" {
					groups = append(groups, []wire.Value{wire.Text("acme two"), wire.Int(1)})
				}
				return groups
			})
		}},
	{"key in discovery", "a description is an answer", `P3.12: an answer holds the credential "key"`,
		tells(func(_ int64, creds wire.Credentials, d *wire.Discovery) {
			d.Tables[0].SourceDescription = "read with " + creds.Get("key")
		})},
	{"a wrong key in discovery", "what a stranger typed is no less secret", `the wrong credential "key"`, func(h *host) {
		honest := h.OnDiscover
		h.OnDiscover = func(ctx context.Context, req *wire.DiscoveryRequest) (*wire.Discovery, error) {
			found, err := honest(ctx, req)
			if err != nil {
				about := "nothing for " + req.Credentials.Get("key")
				return &wire.Discovery{Tables: []wire.Table{{Name: "nothing", SourceDescription: about}}}, nil
			}
			return found, nil
		}
	}},
	{"key in the source's log", "a source must not log what was typed", `is in the log`,
		tells(func(_ int64, creds wire.Credentials, _ *wire.Discovery) {
			slog.Debug("discovering", "key", creds.Get("key"))
		})},
	{"key in the older log", "nor by package log", `is in the log`,
		tells(func(_ int64, creds wire.Credentials, _ *wire.Discovery) {
			log.Printf("GET https://example.com/?key=%s", creds.Get("key"))
		})},
	{"account in the log", "a text credential is a credential", `credential "account", or an encoding of it, is in the log`,
		tells(func(_ int64, creds wire.Credentials, _ *wire.Discovery) {
			slog.Info("discovering", "account", creds.Get("account"))
		})},
}

func TestIsolationFindsLeaks(t *testing.T) {
	for i, c := range isolationTests {
		if !testrun.Runs(i, 5) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			source := newHost(t)
			c.bend(source)
			r := record(t, func(tb testing.TB) { Isolation(tb, hostedDefinition, source, tenantA, tenantB) })
			require.NotEmpty(t, r.errors, c.why)
			assert.Contains(t, strings.Join(r.errors, "\n"), c.want, c.why)
		})
	}
}

// Wrong credentials end the test with the message of the connector.
func TestIsolationNeedsCredentials(t *testing.T) {
	r := record(t, func(tb testing.TB) {
		Isolation(tb, hostedDefinition, newHost(t), tenantA, map[string]string{"account": "bolt", "key": "no"})
	})
	require.Len(t, r.errors, 1)
	assert.Contains(t, r.errors[0], "tenant b: discovering the tables: bad_request: account [redacted] has no such key")
	assert.Contains(t, strings.Join(r.logs, "\n"),
		`tenant b's credential "key" is shorter than four bytes, so Isolation does not search for it`)
}

// A short credential is part of a random id once in some thousand requests.
func TestWatchLetsRandomIDsPass(t *testing.T) {
	for _, c := range []struct {
		why, line string
		errors    int
	}{
		{"an id that the library made", "level=INFO msg=request slug=hosted request=qevz62yerj4acme4fcyi6sps6r status=404", 0},
		{"a measure", "level=INFO msg=request slug=hosted bytes=20261 duration=1.2026ms", 0},
		{"an id that a caller sent", "level=INFO msg=request slug=hosted request=acme status=404", 1},
		{"another attribute", "level=INFO msg=request slug=hosted table=acme bytes=95", 1},
		{"a number that a source logs", "level=INFO msg=opened code=2026", 1},
	} {
		r := record(t, func(tb testing.TB) {
			w := newWatch(tb, hostedDefinition, map[string]string{"account": "acme", "key": "2026"}, tenantB)
			defer w.restore()
			testkit.Must(w.Write([]byte(c.line + "\n")))(t)
			w.searchLog()
		})
		assert.Len(t, r.errors, c.errors, c.why)
	}
}

// The value of a text field may appear in data; the library removes it from errors. The slug is public,
// and stands in each line of the log.
func TestIsolationLetsNamesPass(t *testing.T) {
	def := hostedDefinition
	def.Slug = tenantA["account"]
	require.Greater(t, len(def.Slug), 3, "else nobody searches for it")
	source := newHost(t)
	tells(func(_ int64, creds wire.Credentials, d *wire.Discovery) {
		d.Tables[0].SourceDescription = "orders of " + creds.Get("account")
	})(source)
	r := record(t, func(tb testing.TB) { Isolation(tb, def, source, tenantA, tenantB) })
	assert.Empty(t, r.errors)
}
