package connectortest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The limits of what is asked together: tables of each tenant, and rows of a table.
const (
	maxTables    = 8
	maxTableRows = 5_000
)

// repeater asks the same as before, and expects the same answers.
type repeater struct {
	t           testing.TB
	name        string // of the tenant, for messages
	client      *platform.Client
	credentials wire.Credentials
	alone       *snapshot // what the tenant was answered alone
	described   []string  // by discovery
	reported    sync.Map  // the routes of which a wrong answer was reported
}

// newRepeater reads some tables of a tenant.
func newRepeater(t testing.TB, server *Server, name string, credentials map[string]string) *repeater {
	t.Helper()
	r := &repeater{t: t, name: name, client: server.platform(platform.Options{}), credentials: wire.NewCredentials(credentials)}
	var err error
	if r.alone, err = look(t.Context(), r.client, r.credentials); err != nil {
		t.Fatalf("connectortest: %s: %v", name, err)
	}
	r.described = described(r.alone.discovery)
	for i := range r.alone.discovery.Tables {
		table := &r.alone.discovery.Tables[i]
		if len(r.alone.tables) == maxTables {
			break
		}
		// A table that is too large, or cannot be read, is left to the checks.
		if read, err := readTable(t.Context(), r.client, r.credentials, table, maxTableRows); err == nil {
			r.alone.tables[table.Name] = read
		}
	}
	return r
}

// described returns the names and the descriptions of a discovery.
func described(d *wire.Discovery) (texts []string) {
	for _, t := range d.Tables {
		texts = append(texts, fmt.Sprintf("table %q: %s", t.Name, t.SourceDescription))
		for _, f := range t.Fields {
			texts = append(texts, fmt.Sprintf("field %q of table %q: %s", f.Name, t.Name, f.SourceDescription))
		}
	}
	slices.Sort(texts)
	return texts
}

// together lets each ask so many times at once.
func together(all []*repeater, times int) {
	var wg sync.WaitGroup
	for _, r := range all {
		for range times {
			wg.Go(func() { r.ask(r.t.Context()) })
		}
	}
	wg.Wait()
}

// ask discovers, reads and groups, and verifies each answer. Any goroutine may call it.
func (r *repeater) ask(ctx context.Context) {
	found, err := r.client.Discover(ctx, r.credentials)
	if err == nil {
		if now := described(found); !slices.Equal(now, r.described) {
			err = wrong("discovery describes other tables or fields", without(r.described, now), without(now, r.described))
		}
	}
	r.judge(wire.PathDiscovery, "", err)
	for _, name := range slices.Sorted(maps.Keys(r.alone.tables)) {
		table := r.alone.table(name)
		read, err := readTable(ctx, r.client, r.credentials, table, maxTableRows)
		if err == nil {
			err = differs(oracle.Verify(r.alone.tables, wholeOf(table), read.Rows))
		}
		r.judge(wire.PathQuery, name, err)

		groups := &wire.AggregateRequest{Table: name, Measures: []wire.Measure{{Fn: wire.AggCount, As: "n"}}, Limit: wire.AggregateLimit}
		for _, f := range table.Fields[:min(3, len(table.Fields))] {
			groups.GroupBy = []wire.GroupKey{{Field: f.Name, As: "g"}}
			// It may be declined, or refused for its many groups.
			if rows, err := aggregate(ctx, r.client, r.credentials, groups); err == nil {
				r.judge(wire.PathAggregate, name, r.alone.aggregate(groups, rows))
			}
		}
	}
}

// without returns the texts that are not among the others.
func without(texts, others []string) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(text string) bool { return slices.Contains(others, text) })
}

// judge fails the test if err is not nil, once for each route.
func (r *repeater) judge(path, table string, err error) {
	if err == nil {
		return
	}
	if _, again := r.reported.LoadOrStore(path, true); again {
		return
	}
	if table != "" {
		path += " of table " + terms.QuoteName(table)
	}
	r.t.Errorf("connectortest: POST %s, beside other requests, does not answer %s as it did alone: %v", path, r.name, err)
}
