package platform

import (
	"cmp"
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Options says how a [Client] reaches a connector. The zero value means the
// platform's own ways.
type Options struct {
	// HTTP is the client whose transport carries the requests; nil means one that
	// reaches public addresses only. Nothing but its transport is used: redirects
	// are never followed.
	HTTP *http.Client
	// Local permits plain http and addresses of a private network, for work on
	// one's own machine.
	Local bool
	// Timeout is the timeoutMs of each request that states none; 0 means 60
	// seconds. The client itself ends a request five seconds later.
	Timeout time.Duration
	// MaxTimeout is the maxTimeoutMs of each query that states none: how long a
	// stream may take that has begun. 0 means ten minutes. The client itself ends
	// a stream five seconds later.
	MaxTimeout time.Duration
	// Idle is the idleTimeoutMs of each query that states none; 0 means 30
	// seconds, as the platform sends [rule stream-14]. The client itself gives up
	// on a stream without a line for so long.
	Idle time.Duration
	// Observe, if set, is called with each step of each request, such as every
	// line of a stream as it arrives. Steps of one request come one after the
	// other, those of several requests at once. It must return quickly.
	Observe func(Step)
}

// grace is how much longer than a connector may take the client waits for it.
const grace = 5 * time.Second

// Client asks one connector as the platform does, and refuses what the platform
// refuses. It may be used concurrently. Printing it shows no secret.
type Client struct {
	url     string
	token   wire.Bearer
	secret  wire.Credentials // the token, to be scrubbed
	http    *http.Client
	options Options
	asked   atomic.Int64
	visible atomic.Pointer[[]string] // the keys of the plain text fields; nil until the document was read
}

// NewClient returns a client of the connector at a base URL, with the bearer token
// that the connector's host issued. It sends nothing yet. An error that matches
// [ErrAddress] says that the platform accepts https only.
func NewClient(baseAddress string, token wire.Bearer, opts *Options) (*Client, error) {
	c := &Client{token: token, secret: secretOf(token)}
	if opts != nil {
		c.options = *opts
	}
	c.options.Timeout = cmp.Or(max(c.options.Timeout, 0), time.Minute)
	c.options.MaxTimeout = cmp.Or(max(c.options.MaxTimeout, 0), 10*time.Minute)
	c.options.Idle = cmp.Or(max(c.options.Idle, 0), terms.PlatformIdleTimeout)
	var err error
	if c.url, err = baseURL(baseAddress, c.options.Local); err != nil {
		return nil, err
	}
	c.http = client(c.options.HTTP, c.options.Local)
	return c, nil
}

// secretOf returns the token as what is to be scrubbed.
func secretOf(token wire.Bearer) wire.Credentials {
	return wire.NewCredentials(map[string]string{"token": token.Reveal()})
}

// copy returns a client of the same connector, with the same transport. Its requests are
// counted anew.
func (c *Client) copy() *Client {
	own := &Client{url: c.url, token: c.token, secret: c.secret, http: c.http, options: c.options}
	own.visible.Store(c.visible.Load())
	return own
}

// Check tries the token and the credentials. A [*wire.Error] of the code
// check_failed has the connector's own words for the person who typed the
// credentials, and one of the code unauthorized says that the token is rejected.
func (c *Client) Check(ctx context.Context, credentials wire.Credentials) error {
	req := &wire.CheckRequest{}
	return c.read(ctx, wire.PathCheck, credentials, &req.Envelope, req, new(wire.CheckAnswer))
}

// Discover returns the tables that the credentials give access to. Names in keys
// refer to fields that exist.
func (c *Client) Discover(ctx context.Context, credentials wire.Credentials) (*wire.Discovery, error) {
	req, answer := &wire.DiscoveryRequest{}, &wire.Discovery{}
	if err := c.read(ctx, wire.PathDiscovery, credentials, &req.Envelope, req, answer); err != nil {
		return nil, err
	}
	if err := consistent(answer); err != nil {
		return nil, err
	}
	return answer, nil
}

// Count returns the number of rows that the filters of a request select.
func (c *Client) Count(ctx context.Context, credentials wire.Credentials, req *wire.CountRequest) (int64, error) {
	own, answer := *req, wire.CountAnswer{}
	err := c.read(ctx, wire.PathCount, credentials, &own.Envelope, &own, &answer)
	return answer.Count, err
}

// Size returns the number of rows of a table. It is nil if the connector does not
// know.
func (c *Client) Size(ctx context.Context, credentials wire.Credentials, table string) (*wire.Size, error) {
	req, answer := &wire.SizeRequest{Table: table}, wire.SizeAnswer{}
	err := c.read(ctx, wire.PathSize, credentials, &req.Envelope, req, &answer)
	return answer.Size, err
}

// Cardinality counts the values of columns. The result has each of the columns;
// nil stands for one that the connector cannot count.
func (c *Client) Cardinality(
	ctx context.Context, credentials wire.Credentials, table string, columns []string,
) (map[string]*wire.Cardinality, error) {
	req, answer := &wire.CardinalityRequest{Table: table, Columns: columns}, wire.CardinalityAnswer{}
	if err := c.read(ctx, wire.PathCardinality, credentials, &req.Envelope, req, &answer); err != nil {
		return nil, err
	}
	counts := make(map[string]*wire.Cardinality, len(columns))
	for _, name := range columns {
		counted, ok := answer.Columns[name]
		switch {
		case !ok:
			return nil, &AnswerError{Path: wire.PathCardinality, Place: "columns." + terms.QuoteName(name), Rule: "measure-6",
				Problem: "is missing; answer each column that was asked for, with null if it cannot be counted"}
		case counted != nil && counted.Distinct > counted.NonNull:
			return nil, &AnswerError{Path: wire.PathCardinality, Place: "columns." + terms.QuoteName(name), Rule: "measure-13",
				Problem: "distinct is larger than nonNull"}
		}
		counts[name] = counted
	}
	return counts, nil
}

// LinkHitRate counts the keys of one column that have no match in another.
func (c *Client) LinkHitRate(
	ctx context.Context, credentials wire.Credentials, req *wire.LinkHitRateRequest,
) (*wire.LinkHitRate, error) {
	own, answer := *req, &wire.LinkHitRate{}
	if err := c.read(ctx, wire.PathLinkHitRate, credentials, &own.Envelope, &own, answer); err != nil {
		return nil, err
	}
	if err := linkConsistent(answer); err != nil {
		return nil, err
	}
	return answer, nil
}

// Query asks for rows. The columns are the members that the rows must have, with
// their declared types: those of the request's fields in their order, then those of
// its joins. The rows have to be read, or closed.
//
// Rows that contradict what is served, a filter or a sort whose fields are among the
// columns, end with an error; see also [Rows.Expect].
func (c *Client) Query(
	ctx context.Context, credentials wire.Credentials, req *wire.QueryRequest, columns []wire.Column,
) (*Rows, error) {
	own := *req
	clocks := clocks{&own.Envelope, &own.IdleTimeoutMS, &own.MaxTimeoutMS}
	r, err := c.stream(ctx, credentials, clocks, &own)
	if err != nil {
		return nil, err
	}
	asked := *req // without the credentials
	r.columns, r.request = columns, &asked
	return r, nil
}

// SQL asks a connector with a dialect for the rows of a statement. Their members are
// known with the first row, see [Rows.Columns], and have no declared type.
func (c *Client) SQL(ctx context.Context, credentials wire.Credentials, req *wire.SQLRequest) (*Rows, error) {
	own := *req
	clocks := clocks{&own.Envelope, &own.IdleTimeoutMS, &own.MaxTimeoutMS}
	r, err := c.stream(ctx, credentials, clocks, &own)
	if err != nil {
		return nil, err
	}
	r.sql, r.request = true, &wire.QueryRequest{}
	return r, nil
}
