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
// fails the test and says what is right; the call returns the answer anyway.
// Tables of more than 200,000 rows are not verified, which is logged. If the extra
// calls disturb a test, use [Tenant.Unverified].
//
// Use a Tenant only from the goroutine of the test.
type Tenant struct {
	t          testing.TB
	client     client
	shown      wire.Credentials // for messages: the keys without the values
	unverified bool
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
	return n.call(&call{path: wire.PathCheck, request: &req, envelope: &req.Envelope, answer: new(wire.CheckAnswer)})
}

// Discover posts to /discovery.
func (n *Tenant) Discover() (*wire.Discovery, error) {
	n.t.Helper()
	req, found := wire.DiscoveryRequest{}, new(wire.Discovery)
	if err := n.call(&call{path: wire.PathDiscovery, request: &req, envelope: &req.Envelope, answer: found}); err != nil {
		return nil, err
	}
	return found, nil
}

// Query posts a native query to /query and reads the answer to its end. It
// verifies what the served line claims and the members of the rows. It returns an
// error line as an error, together with the rows before it.
func (n *Tenant) Query(req wire.QueryRequest) (*Answer, error) {
	n.t.Helper()
	var answer *Answer
	err := n.call(&call{
		path: wire.PathQuery, request: &req, envelope: &req.Envelope, tables: tables(req.Table, req.Joins),
		send: func() (err error) {
			answer, err = n.client.query(&req, math.MaxInt64)
			return err
		},
		verify: func(s *snapshot) error { return s.query(&req, answer) },
	})
	return answer, err
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
	var answer *Answer
	err := n.call(&call{path: wire.PathQuery, request: &req, envelope: &req.Envelope, send: func() (err error) {
		answer, err = n.client.stream(&req, nil, math.MaxInt64)
		return err
	}})
	return answer, err
}

// Count posts to /count and verifies the number.
func (n *Tenant) Count(req wire.CountRequest) (int64, error) {
	n.t.Helper()
	var answer wire.CountAnswer
	err := n.call(&call{
		path: wire.PathCount, request: &req, envelope: &req.Envelope, answer: &answer, tables: []string{req.Table},
		verify: func(s *snapshot) error { return s.count(&req, answer.Count) },
	})
	return answer.Count, err
}

// Aggregate posts to /aggregate and verifies the groups and their numbers. It
// sends a Limit of zero as 1001, as the platform does. It returns
// connector.ErrDecline for a 204.
func (n *Tenant) Aggregate(req wire.AggregateRequest) ([]map[string]wire.Value, error) {
	n.t.Helper()
	if req.Limit == 0 {
		req.Limit = wire.AggregateLimit
	}
	var answer wire.AggregateAnswer
	err := n.call(&call{
		path: wire.PathAggregate, request: &req, envelope: &req.Envelope, answer: &answer, tables: tables(req.Table, req.Joins),
		verify: func(s *snapshot) error { return s.aggregate(&req, answer.Rows) },
	})
	return answer.Rows, err
}

// Size posts to /size. It returns nil for an unknown size, and verifies an exact
// one.
func (n *Tenant) Size(table string) (*wire.Size, error) {
	n.t.Helper()
	req, answer := wire.SizeRequest{Table: table}, wire.SizeAnswer{}
	err := n.call(&call{
		path: wire.PathSize, request: &req, envelope: &req.Envelope, answer: &answer, tables: []string{table},
		verify: func(s *snapshot) error { return s.size(table, answer.Size) },
	})
	return answer.Size, err
}

// Cardinality posts to /cardinality and verifies the counts. A nil entry is a
// column that cannot be counted.
func (n *Tenant) Cardinality(table string, columns ...string) (map[string]*wire.Cardinality, error) {
	n.t.Helper()
	req, answer := wire.CardinalityRequest{Table: table, Columns: columns}, wire.CardinalityAnswer{}
	err := n.call(&call{
		path: wire.PathCardinality, request: &req, envelope: &req.Envelope, answer: &answer, tables: []string{table},
		verify: func(s *snapshot) error { return s.cardinality(&req, answer.Columns) },
	})
	return answer.Columns, err
}

// LinkHitRate posts to /linkHitRate and verifies the numbers and samples.
func (n *Tenant) LinkHitRate(req wire.LinkHitRateRequest) (*wire.LinkHitRate, error) {
	n.t.Helper()
	rate := new(wire.LinkHitRate)
	err := n.call(&call{
		path: wire.PathLinkHitRate, request: &req, envelope: &req.Envelope, answer: rate,
		tables: []string{req.FromTable, req.ToTable},
		verify: func(s *snapshot) error { return s.linkHitRate(&req, rate) },
	})
	if err != nil {
		return nil, err
	}
	return rate, nil
}

// call is one call of a tenant.
type call struct {
	path     string
	request  wire.Message
	envelope *wire.Envelope // of the request
	answer   wire.Message   // what send reads; nil if send is set
	send     func() error
	tables   []string                // those that the answer is verified against
	verify   func(s *snapshot) error // nil: not verified
}

// call sends a request and verifies the answer. It returns a refusal of the
// connector, and ends the test for every other error.
func (n *Tenant) call(c *call) error {
	n.t.Helper()
	request := n.complete(c)
	var seen *snapshot
	var blind error
	if c.verify != nil && !n.unverified {
		// Before the call, so that the call under test is the last one that an upstream
		// sees.
		seen, blind = n.client.look(c.tables...)
	}
	if c.send == nil {
		c.send = func() error { return n.client.ask(c.path, c.request, c.answer) }
	}
	err := c.send()
	var refused *wire.Error
	switch {
	case err == nil && seen != nil:
		n.report(c.path, request, c.verify(seen))
	case err == nil && blind != nil:
		n.report(c.path, request, blind)
	case err != nil && !errors.As(err, &refused) && !errors.Is(err, connector.ErrDecline):
		n.t.Fatalf("connectortest: POST %s: %v\n\trequest:  %s", c.path, err, request)
	}
	return err
}

// complete sets the credentials and the timeout of a request. It returns the request
// as JSON, without the values of the credentials.
func (n *Tenant) complete(c *call) string {
	n.t.Helper()
	if c.envelope.TimeoutMS == 0 {
		c.envelope.TimeoutMS = defaultTimeoutMS
	}
	c.envelope.Credentials = n.shown
	request, err := wire.EncodeRequest(c.request)
	if err != nil {
		n.t.Fatalf("connectortest: POST %s: the request cannot be sent: %v", c.path, err)
	}
	c.envelope.Credentials = n.client.creds
	return string(request)
}

// report logs why an answer was not verified, or fails the test with what is wrong
// with it. Nil means nothing.
func (n *Tenant) report(path, request string, err error) {
	n.t.Helper()
	var open unverifiable
	var wrong *mistake
	switch {
	case err == nil:
	case errors.As(err, &open):
		n.t.Logf("connectortest: POST %s: %v\n\trequest:  %s", path, err, request)
	case errors.As(err, &wrong):
		n.t.Errorf("connectortest: POST %s: %v\n\trequest:  %s", path, err, request)
	default:
		n.t.Errorf("connectortest: POST %s: the answer cannot be verified (see Tenant.Unverified): %v\n\trequest:  %s",
			path, err, request)
	}
}
