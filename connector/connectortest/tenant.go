package connectortest

import (
	"errors"
	"math"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A Tenant calls a [Server] with one set of credentials, as the platform does
// for one tenant. [Server.As] returns one.
//
// A call sets the credentials of the request, and a TimeoutMS of 30 seconds if it
// is zero. It returns a refusal of the connector as a *wire.Error: compare it with
// connector.ErrUnknownEntity and the other errors, or use its Code and Message. A
// transport that fails, or an answer of the wrong shape, ends the test.
//
// Every answer is verified: the call compares it with all rows of the table, which
// it discovers and reads through the same connector just before. A wrong answer
// fails the test with the rule that it breaks; the call returns the answer anyway.
// Tables of more than 200,000 rows are not verified, which is logged. If the extra
// calls disturb a test, use [Tenant.Unverified].
//
// Use a Tenant only from the goroutine of the test.
type Tenant struct {
	t          testing.TB
	client     client
	shown      wire.Credentials // for messages: the keys without the values
	unverified bool
	strict     bool      // a refusal fails the test
	known      *snapshot // nil: read anew for every call
}

// As returns a tenant with these credentials, which may be nil.
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

// In returns the same tenant for use in a subtest.
func (n *Tenant) In(t testing.TB) *Tenant {
	own := *n
	own.t = t
	own.client.ctx = t.Context()
	return &own
}

// Unverified returns the same tenant without verification of its answers. Use it
// if a fake upstream counts its calls, or if its data change between calls.
func (n *Tenant) Unverified() *Tenant {
	own := *n
	own.unverified = true
	return &own
}

// Check posts to /check. It returns nil if the credentials are accepted.
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

// Query posts a native query to /query and reads the answer to its end. It
// verifies what the served line claims and the members of the rows. It returns an
// error line as an error, together with the rows before it.
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

// tables returns the names of the tables that a request uses.
func tables(base string, joins []wire.JoinHop) []string {
	names := []string{base}
	for _, j := range joins {
		names = append(names, j.ToTable)
	}
	return names
}

// QuerySQL posts an SQL statement to /query of a connector with a dialect. It
// does not verify the answer, because only the source knows the dialect.
func (n *Tenant) QuerySQL(req wire.SQLRequest) (*Answer, error) {
	n.t.Helper()
	x := n.begin(wire.PathQuery, &req, &req.Credentials, &req.TimeoutMS)
	answer, err := n.client.stream(&req, nil, math.MaxInt64)
	return answer, x.outcome(err)
}

// Count posts to /count and verifies the number.
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

// Aggregate posts to /aggregate and verifies the groups and their numbers. It
// sends a Limit of zero as 1001, as the platform does. It returns
// connector.ErrDecline for a 204.
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

// Size posts to /size. It returns nil for an unknown size, and verifies an exact
// one.
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

// Cardinality posts to /cardinality and verifies the counts. A nil entry is a
// column that cannot be counted.
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

// LinkHitRate posts to /linkHitRate and verifies the numbers and samples.
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

// call is one call of a tenant, from the request to the verdict.
type call struct {
	n       *Tenant
	path    string
	request string    // as JSON, without the values of the credentials
	seen    *snapshot // what to verify against; nil: nothing
	blind   error     // why there is nothing
}

// begin sets the credentials and the timeout of a request.
func (n *Tenant) begin(path string, req wire.Message, creds *wire.Credentials, timeoutMS *int64) *call {
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
	return &call{n: n, path: path, request: string(request)}
}

// look reads the tables to verify against. It runs before the call, so that the
// call under test is the last one that an upstream sees.
func (x *call) look(tables ...string) {
	if x.n.unverified {
		return
	}
	seen := x.n.known
	if seen == nil {
		if seen, x.blind = takeSnapshot(&x.n.client, maxRows); x.blind != nil {
			return
		}
	}
	if x.blind = seen.read(tables...); x.blind == nil {
		x.seen = seen
	}
}

// judge verifies an answer.
func (x *call) judge(check func(*snapshot) error) {
	x.n.t.Helper()
	err := x.blind
	if x.seen != nil {
		err = check(x.seen)
	}
	x.report(err)
}

// report logs a verdict or fails the test with it.
func (x *call) report(err error) {
	x.n.t.Helper()
	var open unverifiable
	switch {
	case err == nil:
	case errors.As(err, &open):
		x.n.t.Logf("connectortest: POST %s: %v\n\trequest:  %s", x.path, err, x.request)
	case err == x.blind:
		x.n.t.Errorf("connectortest: POST %s: the answer cannot be verified (see Tenant.Unverified): %v\n\trequest:  %s",
			x.path, err, x.request)
	default:
		x.n.t.Errorf("connectortest: POST %s: %v\n\trequest:  %s", x.path, err, x.request)
	}
}

// outcome returns a refusal of the connector, and ends the test for every other
// error.
func (x *call) outcome(err error) error {
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
