package connectortest

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A Tenant calls a [Server] with one set of credentials, as the platform does
// for one tenant. [Server.As] returns one.
//
// A call sets the credentials of the request, and a TimeoutMS of 30 seconds if it
// is zero. It returns a refusal of the connector as a *wire.Error: compare it with
// wire.CodeUnknownEntity and the other errors, or use its Code and Message. A
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
	t           testing.TB
	server      *Server
	credentials wire.Credentials
	shown       wire.Credentials // for messages: the keys without the values
	unverified  bool
}

// As returns a tenant with these credentials, which may be nil.
func (s *Server) As(credentials map[string]string) *Tenant {
	marks := maps.Clone(credentials)
	for key := range marks {
		marks[key] = "..."
	}
	return &Tenant{
		t: s.t, server: s, credentials: wire.NewCredentials(credentials), shown: wire.NewCredentials(marks),
	}
}

// In returns the same tenant for use in a subtest.
func (n *Tenant) In(t testing.TB) *Tenant {
	own := *n
	own.t = t
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
	var req wire.CheckRequest
	return n.call(&call{path: wire.PathCheck, request: &req, envelope: &req.Envelope, send: func(c *platform.Client) error {
		// The document says which fields are plain text, and may stand in the message that a person reads.
		if _, err := c.Document(n.t.Context()); err != nil {
			return err
		}
		return c.Check(n.t.Context(), n.credentials)
	}})
}

// Discover posts to /discovery.
func (n *Tenant) Discover() (found *wire.Discovery, err error) {
	n.t.Helper()
	var req wire.DiscoveryRequest
	err = n.call(&call{path: wire.PathDiscovery, request: &req, envelope: &req.Envelope, send: func(c *platform.Client) (err error) {
		found, err = c.Discover(n.t.Context(), n.credentials)
		return err
	}})
	return found, err
}

// Query posts a native query to /query and reads the answer to its end. It
// verifies what the served line claims. It returns an error line as an error,
// together with the rows before it.
func (n *Tenant) Query(req wire.QueryRequest) (answer *Answer, err error) {
	n.t.Helper()
	err = n.call(&call{
		path: wire.PathQuery, request: &req, envelope: &req.Envelope, tables: tables(req.Table, req.Joins),
		send: func(*platform.Client) error {
			req.MaxTimeoutMS = cmp.Or(req.MaxTimeoutMS, req.TimeoutMS) // no longer than other requests
			pings := 0
			counting := n.server.platform(platform.Options{Observe: func(step platform.Step) {
				if step.Kind == "text" && strings.HasPrefix(step.Text, `{"ping"`) {
					pings++
				}
			}})
			rows, err := counting.Query(n.t.Context(), n.credentials, &req, columns(&req))
			if err != nil {
				return err
			}
			answer, err = readAll(rows)
			answer.Pings = pings
			return err
		},
		verify: func(s *snapshot) error { return s.query(&req, answer) },
	})
	return answer, err
}

// columns returns the members of a row in the order of the request. They have no
// types, so that an answer is compared by the oracle and not by the client.
func columns(req *wire.QueryRequest) []wire.Column {
	list := make([]wire.Column, 0, len(req.Fields))
	for _, name := range req.Fields {
		list = append(list, wire.Column{Name: name})
	}
	for hop, j := range req.Joins {
		for _, f := range j.Fields {
			list = append(list, wire.Column{Name: cmp.Or(f.As, f.Field), Hop: hop + 1})
		}
	}
	return list
}

// tables returns the names of the tables that a request uses.
func tables(base string, joins []wire.JoinHop) []string {
	names := []string{base}
	for _, j := range joins {
		names = append(names, j.ToTable)
	}
	return names
}

// Count posts to /count and verifies the number.
func (n *Tenant) Count(req wire.CountRequest) (count int64, err error) {
	n.t.Helper()
	err = n.call(&call{
		path: wire.PathCount, request: &req, envelope: &req.Envelope, tables: []string{req.Table},
		send: func(c *platform.Client) (err error) {
			count, err = c.Count(n.t.Context(), n.credentials, &req)
			return err
		},
		verify: func(s *snapshot) error { return s.count(&req, count) },
	})
	return count, err
}

// Aggregate posts to /aggregate and verifies the groups and their numbers. It
// sends a Limit of zero as 1001, as the platform does. It returns
// connector.ErrDecline for a 204.
func (n *Tenant) Aggregate(req wire.AggregateRequest) (groups []map[string]wire.Value, err error) {
	n.t.Helper()
	if req.Limit == 0 {
		req.Limit = wire.AggregateLimit
	}
	err = n.call(&call{
		path: wire.PathAggregate, request: &req, envelope: &req.Envelope, tables: tables(req.Table, req.Joins),
		send: func(c *platform.Client) (err error) {
			groups, err = aggregate(n.t.Context(), c, n.credentials, &req)
			return err
		},
		verify: func(s *snapshot) error { return s.aggregate(&req, groups) },
	})
	return groups, err
}

// aggregate asks for groups, and returns each as its members by name.
func aggregate(
	ctx context.Context, c *platform.Client, credentials wire.Credentials, req *wire.AggregateRequest,
) ([]map[string]wire.Value, error) {
	var members []wire.Column
	for _, k := range req.GroupBy {
		members = append(members, wire.Column{Name: k.As})
	}
	for _, m := range req.Measures {
		members = append(members, wire.Column{Name: m.As})
	}
	rows, declined, err := c.Aggregate(ctx, credentials, req, members)
	switch {
	case err != nil:
		return nil, err
	case declined:
		return nil, connector.ErrDecline
	}
	groups := make([]map[string]wire.Value, len(rows))
	for i, row := range rows {
		groups[i] = make(map[string]wire.Value, len(members))
		for j, member := range members {
			groups[i][member.Name] = row[j]
		}
	}
	return groups, nil
}

// Size posts to /size. It returns nil for an unknown size, and verifies an exact
// one.
func (n *Tenant) Size(table string) (size *wire.Size, err error) {
	n.t.Helper()
	req := wire.SizeRequest{Table: table}
	err = n.call(&call{
		path: wire.PathSize, request: &req, envelope: &req.Envelope, tables: []string{table},
		send: func(c *platform.Client) (err error) {
			size, err = c.Size(n.t.Context(), n.credentials, table)
			return err
		},
		verify: func(s *snapshot) error { return s.size(table, size) },
	})
	return size, err
}

// Cardinality posts to /cardinality and verifies the counts. A nil entry is a
// column that cannot be counted.
func (n *Tenant) Cardinality(table string, columns ...string) (counts map[string]*wire.Cardinality, err error) {
	n.t.Helper()
	req := wire.CardinalityRequest{Table: table, Columns: columns}
	err = n.call(&call{
		path: wire.PathCardinality, request: &req, envelope: &req.Envelope, tables: []string{table},
		send: func(c *platform.Client) (err error) {
			counts, err = c.Cardinality(n.t.Context(), n.credentials, table, columns)
			return err
		},
		verify: func(s *snapshot) error { return s.cardinality(table, counts) },
	})
	return counts, err
}

// LinkHitRate posts to /linkHitRate and verifies the numbers and samples.
func (n *Tenant) LinkHitRate(req wire.LinkHitRateRequest) (rate *wire.LinkHitRate, err error) {
	n.t.Helper()
	err = n.call(&call{
		path: wire.PathLinkHitRate, request: &req, envelope: &req.Envelope, tables: []string{req.FromTable, req.ToTable},
		send: func(c *platform.Client) (err error) {
			rate, err = c.LinkHitRate(n.t.Context(), n.credentials, &req)
			return err
		},
		verify: func(s *snapshot) error { return s.linkHitRate(&req, rate) },
	})
	return rate, err
}

// call is one call of a tenant.
type call struct {
	path     string
	request  wire.Request
	envelope *wire.Envelope // of the request
	send     func(*platform.Client) error
	tables   []string                // those that the answer is verified against
	verify   func(s *snapshot) error // nil: not verified
}

// call sends a request and verifies the answer. It returns a refusal of the
// connector, and ends the test for every other error.
func (n *Tenant) call(c *call) error {
	n.t.Helper()
	request := n.shownRequest(c)
	client := n.server.platform(platform.Options{})
	var seen *snapshot
	var blind error
	if c.verify != nil && !n.unverified {
		// Before the call, so that the call under test is the last one that an upstream
		// sees.
		seen, blind = look(n.t.Context(), client, n.credentials, c.tables...)
	}
	err := c.send(client)
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

// shownRequest returns a request as JSON, without the values of the credentials.
func (n *Tenant) shownRequest(c *call) string {
	n.t.Helper()
	c.envelope.TimeoutMS = cmp.Or(c.envelope.TimeoutMS, defaultTimeout.Milliseconds())
	c.envelope.Credentials = n.shown
	request, err := wire.EncodeRequest(c.request)
	if err != nil {
		n.t.Fatalf("connectortest: POST %s: the request cannot be sent: %v", c.path, err)
	}
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
