package connectortest

import (
	"cmp"
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

// Options configures [Run]. A nil *Options suits a source that needs no
// credentials.
type Options struct {
	// Credentials are those of the tenant whose tables Run tests.
	Credentials map[string]string
	// Connector configures the connector, as in [Start].
	Connector *connector.Options
	// RowBudget limits the size of the tables that Run tests; it skips larger ones.
	// Zero means 200,000. For a table of more than some thousand rows, Run sends
	// only a sample of the requests.
	RowBudget int64
	// Seed selects the operands and the sample. Zero means a random seed, which
	// Run logs, so that a failure can be repeated.
	Seed uint64

	work int // rows that the requests of one table may visit in total; 0: defaultWork
}

const defaultWork = 3_000_000

// Run tests a source on the tables that it discovers and verifies every answer.
// It tests each operator on each field, with operands taken from the rows; sorts
// and pages; projections; counts, sizes and measures; aggregates and grains;
// links and joins along the declared foreign keys; unknown names; and concurrent
// calls, for the race detector. It skips what the document does not declare, and
// logs the reason of every skip (go test -v).
//
// Each kind of request is a subtest of its table, so that
//
//	go test -run 'TestSource/orders/filter/nin/amount'
//
// runs only that one. The data must not change during Run. Run only reads.
func Run(t *testing.T, def connector.Definition, src connector.Source, opts *Options) {
	t.Helper()
	run(t, def, src, opts)
}

func run(t testing.TB, def connector.Definition, src connector.Source, opts *Options) {
	t.Helper()
	var o Options
	if opts != nil {
		o = *opts
	}
	o.RowBudget = cmp.Or(o.RowBudget, maxRows)
	o.work = cmp.Or(o.work, defaultWork)
	if o.Seed == 0 {
		o.Seed = rand.Uint64()
	}
	t.Logf("connectortest: Options{Seed: %d} repeats this run", o.Seed)

	tenant := Start(t, def, src, o.Connector).As(o.Credentials)
	seen, err := takeSnapshot(&tenant.client, o.RowBudget)
	if err != nil {
		t.Fatalf("connectortest: %v", err)
	}
	tenant.known, tenant.strict = seen, true
	r := &running{Options: o, tenant: tenant, seen: seen}

	subtest(t, "check", func(t testing.TB) {
		_ = tenant.In(t).Check()
	})
	for i := range seen.discovery.Tables {
		table := &seen.discovery.Tables[i]
		subtest(t, table.Name, func(t testing.TB) { r.exerciseTable(t, table) })
	}
	if len(seen.discovery.Tables) == 0 {
		t.Log("connectortest: discovery lists no table, so Run tested almost nothing")
	}
	subtest(t, "unknown table", r.unknownTable)
	subtest(t, "at once", r.concurrently)
	if seen.doc.Dialect != "" {
		t.Logf("connectortest: Run cannot write statements in the dialect %q: test them with Tenant.QuerySQL", seen.doc.Dialect)
	}
}

// subtest runs a part as a subtest of t, which is a *testing.T or the recorder
// of this package's own tests.
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

// running is the state of one Run.
type running struct {
	Options
	tenant *Tenant
	seen   *snapshot
}

// random returns a generator that depends only on the seed and the parts, so
// that it is the same when a subtest runs alone.
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

// exercise is the state of the tests of one table.
type exercise struct {
	*running
	*reading
	operands []column // the filterable fields, with operands
	share    float64  // the share of the requests that Run sends
}

// exerciseTable tests one table.
func (r *running) exerciseTable(t testing.TB, table *wire.Table) {
	err := r.seen.read(table.Name)
	var open unverifiable
	if errors.As(err, &open) {
		t.Skipf("connectortest: %s: raise Options.Rows to exercise it", string(open))
	}
	if err != nil {
		t.Fatalf("connectortest: %v", err)
	}
	x := &exercise{running: r, reading: r.seen.readings[table.Name]}
	if len(x.rows) == 0 {
		t.Logf("connectortest: table %q has no rows, so Run can test little of it", table.Name)
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
		t.Logf("connectortest: table %q has %d rows: about %.0f %% of the requests are made, picked by the seed",
			table.Name, len(x.rows), 100*x.share)
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

// declared returns a part that is skipped if the document does not list its
// route.
func (x *exercise) declared(e wire.Endpoint, part func(testing.TB)) func(testing.TB) {
	return func(t testing.TB) {
		if !x.declares(e) {
			t.Skipf("connectortest: not declared: the source has no method for /%s", e)
		}
		part(t)
	}
}

// sample returns the share of a subtest's requests that Run sends, and skips the
// subtest if that is none.
func sample[T any](x *exercise, t testing.TB, requests []T) []T {
	if x.share >= 1 {
		return requests
	}
	random := x.random(x.table.Name, t.Name())
	random.Shuffle(len(requests), func(i, j int) { requests[i], requests[j] = requests[j], requests[i] })
	n := int(float64(len(requests))*x.share + random.Float64())
	if n == 0 && len(requests) > 0 {
		t.Skipf("connectortest: the work is bounded, and none of the requests here was picked: table %q has %d rows",
			x.table.Name, len(x.rows))
	}
	return requests[:min(n, len(requests))]
}

// query sends queries until one fails the test.
func (x *exercise) query(t testing.TB, requests []wire.QueryRequest) {
	t.Helper()
	tenant := x.tenant.In(t)
	for _, req := range sample(x, t, requests) {
		if _, err := tenant.Query(req); err != nil || t.Failed() {
			return
		}
	}
}

// all returns a query of the whole table.
func (x *exercise) all() wire.QueryRequest {
	return wire.QueryRequest{Table: x.table.Name, Fields: fieldNames(x.table)}
}

// about returns a query of the primary key, which identifies rows, and of these
// fields. Without a primary key it queries all fields.
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

// read reads the table once more and compares its rows with discovery.
func (x *exercise) read(t testing.TB) {
	if _, err := x.tenant.In(t).Query(x.all()); err != nil || t.Failed() {
		t.Log("connectortest: the same request has just read the table; Run cannot verify data that change")
		return
	}
	if n := x.table.RowCount; n != nil && *n != int64(len(x.rows)) {
		t.Logf("connectortest: discovery states a rowCount of %d, and %d rows were read", *n, len(x.rows))
	}
	if err := checkTable(x.reading); err != nil {
		t.Errorf("connectortest: table %q: %v", x.table.Name, err)
	}
}

// unknownTable asks every route for a table that discovery does not list.
func (r *running) unknownTable(t testing.TB) {
	name := "no-such-table"
	for r.seen.table(name) != nil {
		name += "-"
	}
	c := r.tenant.In(t).client
	refused := func(path string, err error) {
		t.Helper()
		wantRefusal(t, path, "measure-3", "a table that is not there", err, wire.CodeUnknownEntity, "")
	}
	_, err := c.query(&wire.QueryRequest{Table: name, Fields: []string{}, Envelope: c.envelope()}, r.RowBudget)
	refused(wire.PathQuery, err)
	if r.declares(wire.EndpointCount) {
		_, err := c.count(&wire.CountRequest{Table: name, Envelope: c.envelope()})
		refused(wire.PathCount, err)
	}
	if r.declares(wire.EndpointSize) {
		_, err := c.size(&wire.SizeRequest{Table: name, Envelope: c.envelope()})
		refused(wire.PathSize, err)
	}
	if r.declares(wire.EndpointCardinality) {
		_, err := c.cardinality(&wire.CardinalityRequest{Table: name, Columns: []string{"id"}, Envelope: c.envelope()})
		refused(wire.PathCardinality, err)
	}
	if r.declares(wire.EndpointAggregate) {
		_, err := c.aggregate(&wire.AggregateRequest{
			Table: name, Measures: []wire.Measure{{Fn: wire.FnCount, As: "n"}}, Limit: wire.AggregateLimit, Envelope: c.envelope(),
		})
		refused(wire.PathAggregate, err)
	}
	if r.declares(wire.EndpointLinkHitRate) {
		_, err := c.linkHitRate(&wire.LinkHitRateRequest{
			FromTable: name, FromColumn: "id", ToTable: name, ToColumn: "id", Envelope: c.envelope(),
		})
		refused(wire.PathLinkHitRate, err)
	}
}

// wantRefusal fails the test unless err is a refusal with this code and, unless
// name is empty, a message that contains name.
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

// concurrently reads some tables from as many goroutines as the document allows.
// Each must see the same rows.
func (r *running) concurrently(t testing.TB) {
	const maxTableRows, maxTables = 5_000, 8
	var names []string
	for _, table := range r.seen.discovery.Tables {
		// A table that cannot be read has failed or was skipped in its own subtest.
		if r.seen.read(table.Name) == nil && len(r.seen.readings[table.Name].rows) <= maxTableRows && len(names) < maxTables {
			names = append(names, table.Name)
		}
	}
	if len(names) == 0 {
		t.Skipf("connectortest: there is no table of at most %d rows", maxTableRows)
	}
	c := r.tenant.In(t).client
	var wg sync.WaitGroup
	for range r.seen.doc.Capabilities.Limits.Concurrency {
		wg.Go(func() {
			for _, name := range names {
				table := r.seen.table(name)
				req := wire.QueryRequest{Table: name, Fields: fieldNames(table), Envelope: c.envelope()}
				answer, err := c.query(&req, r.RowBudget)
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
