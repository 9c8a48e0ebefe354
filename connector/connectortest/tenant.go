package connectortest

import (
	"errors"
	"math"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Tenant calls a [Server] with one set of credentials, as the platform would
// for one tenant. [Server.As] makes one.
//
// A call fills in the request's credentials, and 30 seconds where TimeoutMS is
// zero. What the connector refuses comes back as a *wire.Error: compare it with
// connector.ErrUnknownEntity and its like, or look at its Code and Message. A
// transport that fails and an answer that breaks the protocol's shapes end the
// test.
//
// Every answer is verified: what it says is held against all rows of the table,
// which are discovered and read through the same connector just before the
// call. A claim that does not hold fails the test with the ruling it breaks,
// and the call returns the answer all the same. Tables of more than 200,000
// rows are not verified; the test's log says so. Where the extra calls are in
// the way, use [Tenant.Unverified].
//
// A Tenant is for the test's own goroutine.
type Tenant struct {
	t          testing.TB
	client     client
	shown      wire.Credentials // for messages: the keys without the values
	unverified bool
	strict     bool      // a refusal fails the test
	known      *snapshot // nil: read anew for every call
}

// As is a tenant with these credentials, which may be nil.
func (s *Server) As(credentials map[string]string) *Tenant {
	marks := make(map[string]string, len(credentials))
	for key := range credentials {
		marks[key] = "..."
	}
	return &Tenant{
		t:      s.t,
		client: client{server: s, ctx: s.t.Context(), creds: wire.NewCredentials(credentials)},
		shown:  wire.NewCredentials(marks),
	}
}

// In is the same tenant reporting to a subtest.
func (n *Tenant) In(t testing.TB) *Tenant {
	own := *n
	own.t = t
	own.client.ctx = t.Context()
	return &own
}

// Unverified is the same tenant, whose answers are taken as they are. Use it
// where the upstream's fake counts the calls it gets, or where its data move
// between calls.
func (n *Tenant) Unverified() *Tenant {
	own := *n
	own.unverified = true
	return &own
}

// Check posts to /check; nil when the credentials are accepted.
func (n *Tenant) Check() error {
	n.t.Helper()
	req := wire.CheckRequest{}
	x := n.begin(wire.PathCheck, &req, &req.Credentials, &req.TimeoutMS)
	return x.outcome(n.client.check(&req))
}

// Discover posts to /discovery.
func (n *Tenant) Discover() (*wire.Discovery, error) {
	n.t.Helper()
	req := wire.DiscoveryRequest{}
	x := n.begin(wire.PathDiscovery, &req, &req.Credentials, &req.TimeoutMS)
	found, err := n.client.discover(&req)
	if err != nil {
		return nil, x.outcome(err)
	}
	return found, nil
}

// Query posts a native query to /query and reads the answer to its end. What
// the served line claims, and the members of the rows, are verified. An error
// line comes back as an error, with the rows before it.
func (n *Tenant) Query(req wire.QueryRequest) (*Answer, error) {
	n.t.Helper()
	x := n.begin(wire.PathQuery, &req, &req.Credentials, &req.TimeoutMS)
	x.look(tables(req.Table, req.Joins)...)
	answer, err := n.client.query(&req, math.MaxInt64)
	if err != nil {
		return answer, x.outcome(err)
	}
	x.judge(func(p *snapshot) error { return checkQuery(p, &req, answer) })
	return answer, nil
}

// tables are the tables that a request touches.
func tables(base string, joins []wire.JoinHop) []string {
	names := []string{base}
	for _, j := range joins {
		names = append(names, j.ToTable)
	}
	return names
}

// QuerySQL posts a statement to /query, for a connector with a dialect (C9).
// What it answers is taken as it is: only the source knows the dialect.
func (n *Tenant) QuerySQL(req wire.SQLRequest) (*Answer, error) {
	n.t.Helper()
	x := n.begin(wire.PathQuery, &req, &req.Credentials, &req.TimeoutMS)
	answer, err := n.client.stream(&req, nil, math.MaxInt64)
	return answer, x.outcome(err)
}

// Count posts to /count. The number is verified.
func (n *Tenant) Count(req wire.CountRequest) (int64, error) {
	n.t.Helper()
	x := n.begin(wire.PathCount, &req, &req.Credentials, &req.TimeoutMS)
	x.look(req.Table)
	count, err := n.client.count(&req)
	if err != nil {
		return 0, x.outcome(err)
	}
	x.judge(func(p *snapshot) error { return checkCount(p, &req, count) })
	return count, nil
}

// Aggregate posts to /aggregate; a Limit of zero is sent as the platform's
// 1001. The groups and their numbers are verified. A 204 comes back as
// connector.ErrDecline.
func (n *Tenant) Aggregate(req wire.AggregateRequest) ([]map[string]wire.Value, error) {
	n.t.Helper()
	if req.Limit == 0 {
		req.Limit = wire.AggregateLimit
	}
	x := n.begin(wire.PathAggregate, &req, &req.Credentials, &req.TimeoutMS)
	x.look(tables(req.Table, req.Joins)...)
	rows, err := n.client.aggregate(&req)
	if err != nil {
		return nil, x.outcome(err)
	}
	x.judge(func(p *snapshot) error { return checkAggregate(p, &req, rows) })
	return rows, nil
}

// Size posts to /size; nil is an unknown size. One that calls itself exact is
// verified.
func (n *Tenant) Size(table string) (*wire.Size, error) {
	n.t.Helper()
	req := wire.SizeRequest{Table: table}
	x := n.begin(wire.PathSize, &req, &req.Credentials, &req.TimeoutMS)
	x.look(table)
	size, err := n.client.size(&req)
	if err != nil {
		return nil, x.outcome(err)
	}
	x.judge(func(p *snapshot) error { return checkSize(p, table, size) })
	return size, nil
}

// Cardinality posts to /cardinality; a nil entry is a column that cannot be
// counted. The counts are verified.
func (n *Tenant) Cardinality(table string, columns ...string) (map[string]*wire.Cardinality, error) {
	n.t.Helper()
	req := wire.CardinalityRequest{Table: table, Columns: columns}
	x := n.begin(wire.PathCardinality, &req, &req.Credentials, &req.TimeoutMS)
	x.look(table)
	counts, err := n.client.cardinality(&req)
	if err != nil {
		return nil, x.outcome(err)
	}
	x.judge(func(p *snapshot) error { return checkCardinality(p, &req, counts) })
	return counts, nil
}

// LinkHitRate posts to /linkHitRate. The numbers and samples are verified.
func (n *Tenant) LinkHitRate(req wire.LinkHitRateRequest) (*wire.LinkHitRate, error) {
	n.t.Helper()
	x := n.begin(wire.PathLinkHitRate, &req, &req.Credentials, &req.TimeoutMS)
	x.look(req.FromTable, req.ToTable)
	rate, err := n.client.linkHitRate(&req)
	if err != nil {
		return nil, x.outcome(err)
	}
	x.judge(func(p *snapshot) error { return checkLink(p, &req, rate) })
	return rate, nil
}

// asking is one call of a tenant, from the request to the verdict.
type asking struct {
	n       *Tenant
	path    string
	request string    // as JSON, without the values of the credentials
	seen    *snapshot // what to verify against; nil: nothing
	blind   error     // why there is nothing
}

// begin completes a request.
func (n *Tenant) begin(path string, req wire.Message, creds *wire.Credentials, timeoutMS *int64) *asking {
	n.t.Helper()
	if *timeoutMS == 0 {
		*timeoutMS = defaultTimeoutMS
	}
	*creds = n.shown
	request, err := wire.EncodeRequest(req)
	if err != nil {
		n.t.Fatalf("connectortest: POST %s: the request cannot be sent: %v", path, err)
	}
	*creds = n.client.creds
	return &asking{n: n, path: path, request: string(request)}
}

// look reads the tables to verify against, before the call is made: the last
// call that an upstream sees is the one under test.
func (x *asking) look(tables ...string) {
	if x.n.unverified {
		return
	}
	seen := x.n.known
	if seen == nil {
		if seen, x.blind = takeSnapshot(&x.n.client, mostRows); x.blind != nil {
			return
		}
	}
	if x.blind = seen.read(tables...); x.blind == nil {
		x.seen = seen
	}
}

// judge verifies an answer.
func (x *asking) judge(check func(*snapshot) error) {
	x.n.t.Helper()
	err := x.blind
	if x.seen != nil {
		err = check(x.seen)
	}
	x.report(err)
}

// report tells the test of a verdict.
func (x *asking) report(err error) {
	x.n.t.Helper()
	var open unverifiable
	switch {
	case err == nil:
	case errors.As(err, &open):
		x.n.t.Logf("connectortest: POST %s: %v\n\trequest:  %s", x.path, err, x.request)
	case err == x.blind:
		x.n.t.Errorf("connectortest: POST %s: the answer cannot be verified (see Tenant.Unverified): %v\n\trequest:  %s", x.path, err, x.request)
	default:
		x.n.t.Errorf("connectortest: POST %s: %v\n\trequest:  %s", x.path, err, x.request)
	}
}

// outcome passes on what the connector says, and ends the test for what it
// should not.
func (x *asking) outcome(err error) error {
	x.n.t.Helper()
	var refused *wire.Error
	switch {
	case err == nil || errors.Is(err, connector.ErrDecline):
		return err
	case errors.As(err, &refused):
		if x.n.strict {
			x.n.t.Errorf("connectortest: POST %s: a legal request is refused: %v\n\trequest:  %s", x.path, err, x.request)
		}
		return err
	}
	x.n.t.Fatalf("connectortest: POST %s: %v\n\trequest:  %s", x.path, err, x.request)
	return err
}
