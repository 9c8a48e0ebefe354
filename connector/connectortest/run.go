package connectortest

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Config says how [Run] exercises a source. The zero Config is good for a
// source that needs no credentials.
type Config struct {
	// Credentials of the tenant whose tables are exercised.
	Credentials map[string]string
	// Options the connector is made with, as in [Start].
	Options *connector.Options
	// Rows is how many rows a table may have to be exercised; a larger one is
	// skipped. Zero means 200,000. A table of more than some thousand rows is
	// exercised by a sample of the requests, so that the work stays bounded.
	Rows int64
	// Seed picks the operands and the sample. Zero means another one each
	// time; the log tells it, so that a failure can be had again.
	Seed uint64

	work int // rows that a table's requests may visit in all; 0: defaultWork
}

const defaultWork = 3_000_000

// Run exercises a source on the tables that it discovers and verifies every
// answer: each operator on each field, with operands taken from the rows; sorts
// and pages; projections; counts, sizes and measures; aggregates and grains;
// links and joins along the declared foreign keys; unknown names; and calls at
// once, which the race detector watches. What the document does not declare is
// skipped, and every skip says why (go test -v).
//
// Each request is a subtest of the table's, so that
//
//	go test -run 'TestSource/orders/filter/nin/amount'
//
// runs only that. The data must not change while it runs. Everything is read
// and nothing is written.
func Run(t *testing.T, def connector.Definition, src connector.Source, cfg Config) {
	t.Helper()
	run(t, def, src, cfg)
}

func run(t testing.TB, def connector.Definition, src connector.Source, cfg Config) {
	t.Helper()
	if cfg.Rows == 0 {
		cfg.Rows = mostRows
	}
	if cfg.work == 0 {
		cfg.work = defaultWork
	}
	if cfg.Seed == 0 {
		cfg.Seed = rand.Uint64()
	}
	t.Logf("connectortest: Config{Seed: %d} repeats this run", cfg.Seed)

	tenant := Start(t, def, src, cfg.Options).As(cfg.Credentials)
	seen, err := takeSnapshot(&tenant.client, cfg.Rows)
	if err != nil {
		t.Fatalf("connectortest: %v", err)
	}
	tenant.known, tenant.strict = seen, true
	r := &running{Config: cfg, tenant: tenant, seen: seen}

	subtest(t, "check", func(t testing.TB) {
		_ = tenant.In(t).Check()
	})
	for i := range seen.discovery.Tables {
		table := &seen.discovery.Tables[i]
		subtest(t, table.Name, func(t testing.TB) { r.exerciseTable(t, table) })
	}
	if len(seen.discovery.Tables) == 0 {
		t.Log("connectortest: discovery lists no table, so hardly anything was exercised")
	}
	subtest(t, "unknown table", r.unknownTable)
	subtest(t, "at once", r.atOnce)
	if seen.doc.Dialect != "" {
		t.Logf("connectortest: only you can write statements in the dialect %q: see Tenant.QuerySQL", seen.doc.Dialect)
	}
}

// subtest runs a part under a name of its own, where t can: a *testing.T, or
// what this package's own tests use in its place.
func subtest(t testing.TB, name string, part func(testing.TB)) {
	switch t := t.(type) {
	case *testing.T:
		t.Run(name, func(t *testing.T) { part(t) })
	case interface {
		Run(name string, part func(testing.TB)) bool
	}:
		t.Run(name, part)
	}
}

// running is a run under way.
type running struct {
	Config
	tenant *Tenant
	seen   *snapshot
}

// random is a source of choices that depends on the seed and on what is chosen
// for, so that selecting a subtest does not change it.
func (r *running) random(parts ...string) *rand.Rand {
	h := fnv.New64a()
	for _, p := range parts {
		fmt.Fprintf(h, "%q", p)
	}
	return rand.New(rand.NewPCG(r.Seed, h.Sum64()))
}

func (r *running) declares(e wire.Endpoint) bool {
	return slices.Contains(r.seen.doc.Endpoints, e)
}

// exercise is a table being exercised.
type exercise struct {
	*running
	*reading
	operands []column // the filterable fields, with operands
	share    float64  // of the requests that the work allows
}

// exerciseTable exercises one table.
func (r *running) exerciseTable(t testing.TB, table *wire.Table) {
	err := r.seen.read(table.Name)
	var open unverifiable
	if errors.As(err, &open) {
		t.Skipf("connectortest: %s: raise Config.Rows to exercise it", string(open))
	}
	if err != nil {
		t.Fatalf("connectortest: %v", err)
	}
	x := &exercise{running: r, reading: r.seen.readings[table.Name]}
	if len(x.rows) == 0 {
		t.Logf("connectortest: table %q has no rows, so little of it can be exercised", table.Name)
	}
	for at, f := range table.Fields {
		if is(f.Filterable, false) {
			continue
		}
		var cells []wire.Value
		for _, row := range x.rows {
			cells = append(cells, row[at])
		}
		x.operands = append(x.operands, newColumn(f, cells, r.random(table.Name, f.Name)))
	}
	requests := 200 + 100*len(table.Fields) // about
	x.share = min(1, float64(r.work)/float64(requests*(len(x.rows)+1)))
	if x.share < 1 {
		t.Logf("connectortest: table %q has %d rows: about %.0f %% of the requests are made, picked by the seed", table.Name, len(x.rows), 100*x.share)
	}

	subtest(t, "rows", x.read)
	subtest(t, "filter", x.filters)
	subtest(t, "sort", x.sorts)
	subtest(t, "page", x.pages)
	subtest(t, "fields", x.projections)
	subtest(t, "unknown field", x.unknownField)
	subtest(t, "count", x.declared(wire.EndpointCount, x.counts))
	subtest(t, "size", x.declared(wire.EndpointSize, x.sizes))
	subtest(t, "cardinality", x.declared(wire.EndpointCardinality, x.cardinalities))
	subtest(t, "aggregate", x.declared(wire.EndpointAggregate, x.aggregates))
	subtest(t, "link", x.declared(wire.EndpointLinkHitRate, x.links))
	subtest(t, "join", x.joins)
}

// declared is a part that is skipped where the document does not list its
// route.
func (x *exercise) declared(e wire.Endpoint, part func(testing.TB)) func(testing.TB) {
	return func(t testing.TB) {
		if !x.declares(e) {
			t.Skipf("connectortest: not declared: the source has no method for /%s", e)
		}
		part(t)
	}
}

// sample is the part of a subtest's requests that the work allows; the subtest
// is skipped when that is none.
func sample[T any](x *exercise, t testing.TB, requests []T) []T {
	if x.share >= 1 {
		return requests
	}
	random := x.random(x.table.Name, t.Name())
	random.Shuffle(len(requests), func(i, j int) { requests[i], requests[j] = requests[j], requests[i] })
	n := int(float64(len(requests))*x.share + random.Float64())
	if n == 0 && len(requests) > 0 {
		t.Skipf("connectortest: the work is bounded, and none of the requests here was picked: table %q has %d rows", x.table.Name, len(x.rows))
	}
	return requests[:min(n, len(requests))]
}

// query makes queries until one fails the test.
func (x *exercise) query(t testing.TB, requests []wire.QueryRequest) {
	t.Helper()
	tenant := x.tenant.In(t)
	for _, req := range sample(x, t, requests) {
		if _, err := tenant.Query(req); err != nil || t.Failed() {
			return
		}
	}
}

// all is a query of the whole table.
func (x *exercise) all() wire.QueryRequest {
	return wire.QueryRequest{Table: x.table.Name, Fields: fieldNames(x.table)}
}

// about is a query of the primary key, which tells rows apart, and of these
// fields; of everything where there is no key.
func (x *exercise) about(names ...string) wire.QueryRequest {
	req := x.all()
	if len(x.table.PrimaryKey) == 0 {
		return req
	}
	req.Fields = nil
	for _, name := range append(slices.Clone(x.table.PrimaryKey), names...) {
		if !slices.Contains(req.Fields, name) {
			req.Fields = append(req.Fields, name)
		}
	}
	return req
}

// read reads the table once more, and holds its rows against discovery.
func (x *exercise) read(t testing.TB) {
	if _, err := x.tenant.In(t).Query(x.all()); err != nil || t.Failed() {
		t.Log("connectortest: the table was just read with the same request; data that change meanwhile cannot be verified")
		return
	}
	if n := x.table.RowCount; n != nil && *n != int64(len(x.rows)) {
		t.Logf("connectortest: discovery states a rowCount of %d, and %d rows were read", *n, len(x.rows))
	}
	if err := checkTable(x.reading); err != nil {
		t.Errorf("connectortest: table %q: %v", x.table.Name, err)
	}
}

// unknownTable asks every route for a table that was not discovered (F3).
func (r *running) unknownTable(t testing.TB) {
	name := "no-such-table"
	for r.seen.table(name) != nil {
		name += "-"
	}
	c := r.tenant.In(t).client
	refused := func(path string, err error) {
		t.Helper()
		wantRefusal(t, path, "F3", "a table that is not there", err, wire.CodeUnknownEntity, "")
	}
	_, err := c.query(&wire.QueryRequest{Table: name, Fields: []string{}, Envelope: wire.Envelope{Credentials: c.creds, TimeoutMS: defaultTimeoutMS}}, r.Rows)
	refused(wire.PathQuery, err)
	if r.declares(wire.EndpointCount) {
		_, err := c.count(&wire.CountRequest{Table: name, Envelope: wire.Envelope{Credentials: c.creds, TimeoutMS: defaultTimeoutMS}})
		refused(wire.PathCount, err)
	}
	if r.declares(wire.EndpointSize) {
		_, err := c.size(&wire.SizeRequest{Table: name, Envelope: wire.Envelope{Credentials: c.creds, TimeoutMS: defaultTimeoutMS}})
		refused(wire.PathSize, err)
	}
	if r.declares(wire.EndpointCardinality) {
		_, err := c.cardinality(&wire.CardinalityRequest{Table: name, Columns: []string{"id"}, Envelope: wire.Envelope{Credentials: c.creds, TimeoutMS: defaultTimeoutMS}})
		refused(wire.PathCardinality, err)
	}
	if r.declares(wire.EndpointAggregate) {
		_, err := c.aggregate(&wire.AggregateRequest{
			Table: name, Measures: []wire.Measure{{Fn: wire.FnCount, As: "n"}}, Limit: wire.AggregateLimit,
			Envelope: wire.Envelope{Credentials: c.creds, TimeoutMS: defaultTimeoutMS},
		})
		refused(wire.PathAggregate, err)
	}
	if r.declares(wire.EndpointLinkHitRate) {
		_, err := c.linkHitRate(&wire.LinkHitRateRequest{
			FromTable: name, FromColumn: "id", ToTable: name, ToColumn: "id", Envelope: wire.Envelope{Credentials: c.creds, TimeoutMS: defaultTimeoutMS},
		})
		refused(wire.PathLinkHitRate, err)
	}
}

// wantRefusal is the test of what must be refused, with a code and, unless it
// is empty, with a name in the message.
func wantRefusal(t testing.TB, path, rule, what string, err error, code wire.Code, name string) {
	t.Helper()
	got := "an answer"
	var refused *wire.Error
	switch {
	case errors.As(err, &refused):
		if refused.Code == code && (name == "" || strings.Contains(refused.Message, name)) {
			return
		}
		got = err.Error()
	case err != nil:
		got = err.Error()
	}
	expected := fmt.Sprintf("%d %s", code.Status(), code)
	if name != "" {
		expected += fmt.Sprintf(", the message naming %q", name)
	}
	t.Errorf("connectortest: POST %s: %v", path, &violation{rule, "the request names " + what, expected, got})
}

// atOnce reads some tables from several goroutines, as many as the document
// allows. Every one must see the same rows.
func (r *running) atOnce(t testing.TB) {
	const small, most = 5_000, 8
	var names []string
	for _, table := range r.seen.discovery.Tables {
		// What cannot be read has failed or was skipped under its own name.
		if r.seen.read(table.Name) == nil && len(r.seen.readings[table.Name].rows) <= small && len(names) < most {
			names = append(names, table.Name)
		}
	}
	if len(names) == 0 {
		t.Skipf("connectortest: there is no table of at most %d rows", small)
	}
	c := r.tenant.In(t).client
	var wg sync.WaitGroup
	for range r.seen.doc.Capabilities.Limits.Concurrency {
		wg.Go(func() {
			for _, name := range names {
				table := r.seen.table(name)
				req := wire.QueryRequest{Table: name, Fields: fieldNames(table), Envelope: wire.Envelope{Credentials: c.creds, TimeoutMS: defaultTimeoutMS}}
				answer, err := c.query(&req, r.Rows)
				if err == nil {
					err = checkQuery(r.seen, &req, answer)
				}
				if err != nil {
					t.Errorf("connectortest: POST %s for table %q, several at once: %v", wire.PathQuery, name, err)
				}
			}
		})
	}
	wg.Wait()
}
