package connectortest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestTenantAnswers(t *testing.T) {
	tenant := Start(t, shopDefinition, shop(t), nil).As(nil)

	require.NoError(t, tenant.Check())

	assert.Len(t, testkit.Must(tenant.Discover())(t).Tables, 4)

	answer := testkit.Must(tenant.Query(wire.QueryRequest{
		Table: "orders", Sort: []wire.SortKey{{Field: "amount", Dir: wire.Desc}}, Fields: []string{"amount", "id"}, Limit: 2,
		Joins: []wire.JoinHop{{FromTable: "orders", ToTable: "customers", FromField: "customer", ToField: "id",
			Fields: []wire.JoinField{{Field: "name"}}}},
	}))(t)
	assert.Equal(t, wire.Served{Filters: true, Sort: true, Window: true}, answer.Served)
	assert.Equal(t, []string{"amount", "id", "name"}, answer.Names)
	assert.Equal(t, "[{\"amount\":\"99999999999999999999.99\",\"id\":10,\"name\":\"Edsger\"},\n "+
		"{\"amount\":\"100\",\"id\":8,\"name\":\"Alan\"}]", answer.JSON())
	assert.Equal(t, []wire.Value{wire.Int(10), wire.Int(8)}, answer.Column("id"))
	assert.Nil(t, answer.Column("region"), "a column that was not asked for")

	count := testkit.Must(tenant.Count(wire.CountRequest{Table: "orders",
		Where: wire.Where{And: []wire.Filter{{Field: "amount", Op: wire.OpEq, Value: wire.Text("1.500")}}}}))(t)
	assert.EqualValues(t, 2, count)

	groups := testkit.Must(tenant.Aggregate(wire.AggregateRequest{Table: "orders",
		Measures: []wire.Measure{{Fn: wire.AggSum, Field: "weight", As: "total"}}}))(t)
	assert.Equal(t, []map[string]wire.Value{{"total": wire.Text("23.1000001")}}, groups)

	assert.Equal(t, &wire.Size{Rows: 11, Exact: true}, testkit.Must(tenant.Size("orders"))(t))

	counts := testkit.Must(tenant.Cardinality("orders", "region", "amount"))(t)
	assert.Equal(t, map[string]*wire.Cardinality{"region": {NonNull: 9, Distinct: 8}, "amount": {NonNull: 9, Distinct: 8}}, counts)

	rate, err := tenant.LinkHitRate(wire.LinkHitRateRequest{FromTable: "orders", FromColumn: "customer", ToTable: "customers", ToColumn: "id"})
	require.NoError(t, err)
	assert.Equal(t, []string{"77", "88"}, rate.OrphanSamples)

	empty := testkit.Must(tenant.Query(wire.QueryRequest{Table: "countries"}))(t)
	assert.Equal(t, "[{},\n {},\n {}]", empty.JSON(), "no fields: rows can be counted (query-5)")
}

// TestTenantRequests checks what the source gets: the whole read of the tables and then the call, each
// with a timeout of 30 seconds where the request states none.
func TestTenantRequests(t *testing.T) {
	var queries []connector.Query
	source := misread(t, func(q *connector.Query) { queries = append(queries, *q) })
	def := connector.Definition{Slug: "shop", Credentials: []wire.CredentialField{{Key: "key", Label: "Key", Type: wire.CredentialPassword}}}
	server := Start(t, def, source, nil)
	connection, bodies := server.Client.Transport, map[string][]string{}
	server.Client.Transport = testkit.Transport(func(r *http.Request) (*http.Response, error) {
		bodies[r.URL.Path] = append(bodies[r.URL.Path], string(testkit.Body(r)))
		return connection.RoundTrip(r)
	})
	tenant := server.As(map[string]string{"key": "open sesame"})

	require.NoError(t, tenant.Check())
	for _, limit := range []int64{0, 7} {
		testkit.Must(tenant.Unverified().Aggregate(wire.AggregateRequest{
			Table: "orders", Measures: []wire.Measure{{Fn: wire.AggCount, As: "n"}}, Limit: limit,
		}))(t)
		limit = cmp.Or(limit, wire.AggregateLimit)
		assert.Contains(t, bodies[wire.PathAggregate][len(bodies[wire.PathAggregate])-1], fmt.Sprintf(`"limit":%d,`, limit))
	}
	testkit.Must(tenant.Query(wire.QueryRequest{Table: "orders", Fields: []string{"id"}}))(t)
	require.Len(t, queries, 2, "the whole read, then the call")
	assert.Equal(t, []string{"id"}, queries[1].Fields, "the last call that the source sees is the one under test")
	assert.Equal(t, "open sesame", queries[1].Credentials.Get("key"))
	for path, timeouts := range map[string]string{wire.PathCheck: `"timeoutMs":30000`, wire.PathDiscovery: `"timeoutMs":30000`,
		wire.PathQuery: `"timeoutMs":30000,"idleTimeoutMs":600000,"maxTimeoutMs":30000`} {
		require.NotEmpty(t, bodies[path], path)
		for _, body := range bodies[path] {
			assert.Contains(t, body, timeouts, path)
		}
	}

	queries = nil
	_, err := tenant.Unverified().Query(wire.QueryRequest{Table: "orders", Fields: []string{"id"}, Envelope: wire.Envelope{TimeoutMS: 1234}})
	require.NoError(t, err)
	require.Len(t, queries, 1, "nothing else is read")
	assert.EqualValues(t, 1234, queries[0].TimeoutMS)

	testkit.Must(tenant.Query(wire.QueryRequest{Table: "orders", Fields: []string{"id"}}))(t)
	assert.Len(t, queries, 3, "Unverified is another tenant; this one still verifies")
}

func TestTenantErrors(t *testing.T) {
	var source struct {
		connectors.Source
		connectors.Sizer
		connectors.Aggregator
	}
	source.OnCheck = func(context.Context, *wire.CheckRequest) error {
		return connector.CheckFailed("ask your administrator")
	}
	source.OnQuery = func(context.Context, *connector.Query, *connector.Rows) error {
		return connector.Unsupported("not today")
	}
	source.Sizer = func(context.Context, *wire.SizeRequest) (*wire.Size, error) { return nil, connector.ErrDecline }
	source.Aggregator = func(context.Context, *wire.AggregateRequest) ([][]wire.Value, error) {
		return nil, connector.ErrDecline
	}
	tenant := Start(t, shopDefinition, source, nil).As(nil).Unverified()

	err := tenant.Check()
	var refused *wire.Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, wire.Error{Code: wire.CodeCheckFailed, Message: "ask your administrator"}, *refused)

	answer, err := tenant.Query(wire.QueryRequest{Table: "items"})
	assert.Equal(t, wire.CodeUnsupported, wire.CodeOf(err))
	assert.Nil(t, answer)

	_, err = tenant.Aggregate(wire.AggregateRequest{Table: "items", Measures: []wire.Measure{{Fn: wire.AggCount, As: "n"}}})
	assert.ErrorIs(t, err, connector.ErrDecline, "a 204")

	size, err := tenant.Size("items")
	assert.NoError(t, err)
	assert.Nil(t, size, "unknown")

	_, err = tenant.Count(wire.CountRequest{Table: "items"})
	require.ErrorAs(t, err, &refused, "a route that the document does not list")
	assert.Equal(t, wire.CodeNotFound, refused.Code)
}

// Query returns an error line as an error with the rows before it. In a bubble the heartbeats take no real time.
func TestTenantErrorLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := connectors.Source{OnQuery: func(_ context.Context, _ *connector.Query, out *connector.Rows) error {
			items := connectors.Items()
			w := out.Begin(items.Columns())
			if err := errors.Join(connectors.Rows(w, items.Rows[:2]), w.Flush()); err != nil {
				return err
			}
			time.Sleep(25 * time.Second) // the rows are out, and two heartbeats
			return connector.UpstreamTimeout("the upstream sleeps")
		}}
		tenant := Start(t, shopDefinition, source, nil).As(nil).Unverified()
		answer, err := tenant.Query(wire.QueryRequest{Table: "items", Fields: []string{"id"}})
		assert.Equal(t, wire.CodeTimeout, wire.CodeOf(err))
		require.NotNil(t, answer)
		assert.Equal(t, []wire.Value{wire.Int(1), wire.Int(2)}, answer.Column("id"))
		assert.Equal(t, 2, answer.Pings)
	})
}

// A violation fails the test with what is wrong and where, and the call returns the answer anyway.
func TestTenantVerifies(t *testing.T) {
	def := connector.Definition{Slug: "shop",
		Credentials: []wire.CredentialField{{Key: "key", Label: "Key", Type: wire.CredentialPassword, Optional: true}}}
	var answer *Answer
	r := record(t, func(tb testing.TB) {
		tenant := Start(tb, def, misread(t, withoutNulls), nil).As(map[string]string{"key": "open sesame"})
		var err error
		answer, err = tenant.In(tb).Query(wire.QueryRequest{
			Table: "orders", Where: wire.Where{
				And: []wire.Filter{{Field: "region", Op: wire.OpNin, Values: []wire.Value{wire.Text("North")}}}},
			Fields: []string{"id", "region"},
		})
		assert.NoError(t, err)
	})
	require.NotNil(t, answer)
	assert.Len(t, answer.Rows, 7)
	require.Len(t, r.errors, 1)
	assert.Equal(t, `connectortest: POST /query: 2 of 9 rows missing
	expected: {"id":4,"region":null}
	          {"id":10,"region":null}
	received: 7 rows without it
	request:  {"table":"orders","and":[{"field":"region","op":"nin","values":["North"]}],"sort":[],`+
		`"fields":["id","region"],"credentials":{"key":"..."},"timeoutMs":30000}`, r.errors[0])
}

// calls make the call of a row of a file: from a request without what every request has, or from words.
var calls = map[string]func(n *Tenant, request string) error{
	"query": calling((*Tenant).Query), "count": calling((*Tenant).Count),
	"aggregate": calling((*Tenant).Aggregate), "link": calling((*Tenant).LinkHitRate),
	"size": func(n *Tenant, table string) error {
		_, err := n.Size(table)
		return err
	},
	"cardinality": func(n *Tenant, words string) error {
		table, column, _ := strings.Cut(words, " ")
		_, err := n.Cardinality(table, column)
		return err
	},
}

func calling[R, A any, P interface {
	*R
	wire.Message
}](call func(*Tenant, R) (A, error)) func(*Tenant, string) error {
	return func(n *Tenant, request string) error {
		var r R
		if err := wire.Decode([]byte("{"+request+`,"credentials":{},"timeoutMs":30000}`), P(&r)); err != nil {
			return err
		}
		_, err := call(n, r)
		return err
	}
}

// miscounting measures a column wrongly.
func miscounting(honest connectors.Measurer, column string, by int64) connectors.Measurer {
	return after(honest, func(_ *wire.CardinalityRequest, c map[string]*wire.Cardinality) map[string]*wire.Cardinality {
		c[column].Distinct += by
		return c
	})
}

// TestTenantVerifiesEachCall has a source that breaks one rule for each call, of what the protocol says and of the
// decisions of docs/protocol.md. Run does not hold a source to the latter, because no sentence of the protocol
// binds a connector to them.
func TestTenantVerifiesEachCall(t *testing.T) {
	wrong := honest(t)
	wrong.Counter = after(wrong.Counter, func(_ *wire.CountRequest, n int64) int64 { return n - 1 })
	wrong.Sizer = after(wrong.Sizer, func(_ *wire.SizeRequest, s *wire.Size) *wire.Size { return &wire.Size{Rows: 3, Exact: s.Exact} })
	wrong.Measurer = miscounting(wrong.Measurer, "id", -1)
	wrong.Linker = after(wrong.Linker, func(_ *wire.LinkHitRateRequest, l *wire.LinkHitRate) *wire.LinkHitRate {
		l.OrphanSamples = []string{"1"}
		return l
	})
	wrong.Aggregator = after(wrong.Aggregator, func(_ *wire.AggregateRequest, g [][]wire.Value) [][]wire.Value {
		g[0][0] = wire.Int(5)
		return g
	})
	spellings := honest(t)
	spellings.Measurer = miscounting(spellings.Measurer, "amount", 1)
	spellings.Linker = after(spellings.Linker, func(_ *wire.LinkHitRateRequest, l *wire.LinkHitRate) *wire.LinkHitRate {
		slices.Reverse(l.OrphanSamples)
		return l
	})
	spellings.Aggregator = after(spellings.Aggregator, func(req *wire.AggregateRequest, g [][]wire.Value) [][]wire.Value {
		if req.Measures[0].Fn == wire.AggMin {
			g[0][0] = wire.Decimal(g[0][0].String() + "0")
		} else {
			g[0][0] = wire.Int(g[0][0].Int64() + 1)
		}
		return g
	})
	instants := misread(t, func(q *connector.Query) {
		if len(q.And) > 0 && q.And[0].Field == "paid_at" { // no text is the same as that of the request
			q.And = []wire.Filter{{Field: "paid_at", Op: wire.OpIn}}
		}
	})
	backwards := misread(t, func(q *connector.Query) {
		q.Sort = slices.Clone(q.Sort)
		for i := range q.Sort {
			q.Sort[i].Dir = wire.Desc
		}
	})
	flagged, no := shopTables(), false
	flagged[0].Field("region").Filterable = &no
	sources := map[string]connector.Source{"wrong": wrong, "spellings": spellings, "instants": instants, "backwards": backwards,
		"flagged": connectors.Source{Tables: flagged}}
	for _, c := range testkit.Table(t, "testdata/calls.tsv", 5) {
		t.Run(c[0], func(t *testing.T) {
			found := func(as func(*Server) *Tenant) []string {
				return record(t, func(tb testing.TB) {
					assert.NoError(t, calls[c[2]](as(Start(tb, shopDefinition, sources[c[1]], nil)), c[3]))
				}).errors
			}
			wrong := found(func(s *Server) *Tenant { return s.As(nil) })
			require.Len(t, wrong, 1)
			assert.Contains(t, wrong[0], c[4])
			assert.Empty(t, found(func(s *Server) *Tenant { return s.As(nil).Unverified() }), "unverified")
		})
	}
	t.Run("an estimate may be wrong", func(t *testing.T) {
		estimating, want := honest(t), &wire.Size{Rows: 3}
		estimating.Sizer = func(context.Context, *wire.SizeRequest) (*wire.Size, error) { return want, nil }
		assert.Equal(t, want, testkit.Must(Start(t, shopDefinition, estimating, nil).As(nil).Size("orders"))(t))
	})
}

// The log says what cannot be verified.
func TestTenantCannotVerify(t *testing.T) {
	t.Run("too many rows", func(t *testing.T) {
		c := Start(t, shopDefinition, connectors.Source{Tables: shopTables()}, nil).platform(platform.Options{})
		orders := &shopTables()[0].Table
		_, err := readTable(t.Context(), c, wire.Credentials{}, orders, 10)
		assert.EqualError(t, err, `not verified: table "orders" has more than 10 rows`)
		read := testkit.Must(readTable(t.Context(), c, wire.Credentials{}, orders, 11))(t)
		assert.Len(t, read.Rows, 11)
	})
	t.Run("no right answer", func(t *testing.T) {
		summing := honest(t)
		summing.Aggregator = func(context.Context, *wire.AggregateRequest) ([][]wire.Value, error) {
			return [][]wire.Value{{wire.Text("7")}}, nil
		}
		r := record(t, func(tb testing.TB) {
			_, err := Start(tb, shopDefinition, summing, nil).As(nil).Aggregate(wire.AggregateRequest{
				Table: "orders", Measures: []wire.Measure{{Fn: wire.AggSum, Field: "region", As: "n"}},
			})
			assert.NoError(t, err)
		})
		assert.Empty(t, r.errors)
		assert.Contains(t, strings.Join(r.logs, "\n"), "POST /aggregate: not verified: ")
	})
	t.Run("the whole read fails", func(t *testing.T) {
		source := honest(t)
		query := source.OnQuery
		source.OnQuery = func(ctx context.Context, req *connector.Query, out *connector.Rows) error {
			if len(req.And) == 0 {
				return connector.Unsupported("name a filter")
			}
			return query(ctx, req, out)
		}
		r := record(t, func(tb testing.TB) {
			_, err := Start(tb, shopDefinition, source, nil).As(nil).Query(wire.QueryRequest{
				Table: "orders", Where: wire.Where{And: []wire.Filter{{Field: "id", Op: wire.OpNotNull}}},
			})
			assert.NoError(t, err)
		})
		require.Len(t, r.errors, 1)
		assert.Contains(t, r.errors[0],
			`cannot be verified (see Tenant.Unverified): reading table "orders" whole: unsupported: name a filter`)
	})
}

// An answer that the platform refuses, and none at all, end the test. What is refused is
// for the tests of package platform.
func TestTenantMalformedAnswers(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/malformed.tsv", 6) {
		t.Run(c[0], func(t *testing.T) {
			r := record(t, func(tb testing.TB) {
				s := serve(tb, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					if c[3] == "-" {
						panic(http.ErrAbortHandler)
					}
					w.Header().Set("Content-Type", c[3])
					_, _ = io.WriteString(w, strings.ReplaceAll(c[4], "↵", "\n"))
				})})
				tenant := s.As(map[string]string{"key": "open sesame"}).Unverified()
				_ = calls[c[1]](tenant, strings.ReplaceAll(c[2], `\xff`, "\xff"))
				tb.Error("the test goes on")
			})
			require.Len(t, r.errors, 1)
			assert.Contains(t, r.errors[0], c[5])
			assert.NotContains(t, r.errors[0], "sesame")
		})
	}
}

// The connector logs to the test until the test ends. Later lines are dropped, so
// that a source that returns late does not crash the following tests.
func TestLogAfterTheTest(t *testing.T) {
	var l *testLog
	t.Run("over", func(t *testing.T) { l = newTestLog(t) })
	l.w = writer(func([]byte) (int, error) { return 0, errors.New("written to a test that is over") })
	n, err := fmt.Fprint(l, "late")
	assert.NoError(t, err)
	assert.Equal(t, 4, n)
}

// The log of a run says everything once, and not too much.
func TestLogOfARun(t *testing.T) {
	var b strings.Builder
	l := &testLog{w: &b, known: map[string]bool{}}
	logger := newLogger(l, slog.LevelInfo)
	for i := range 1000 {
		logger.Info("request", "duration", i)
		logger.Error("internal error", "cause", i/10)
	}
	assert.Equal(t, maxLogLines, strings.Count(b.String(), "\n"))
	assert.True(t, strings.HasPrefix(b.String(), "level=ERROR msg=\"internal error\" cause=0\nlevel=ERROR msg=\"internal error\" cause=1\n"))
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func TestTenantsOfOneServerAreApart(t *testing.T) {
	server := Start(t, hostedDefinition, newHost(t), nil)
	names := func(creds map[string]string) (names []string) {
		found := testkit.Must(server.As(creds).Discover())(t)
		for _, table := range found.Tables {
			names = append(names, table.Name)
		}
		slices.Sort(names)
		return names
	}
	assert.Equal(t, []string{"leads", "orders", "plans"}, names(tenantA))
	assert.Equal(t, []string{"orders", "plans"}, names(tenantB))
	assert.Equal(t, wire.CodeCheckFailed, wire.CodeOf(server.As(map[string]string{"account": "acme", "key": "guessed"}).Check()))
}

// Start reports all faults of construction at once and ends the test.
func TestServerRefusesDefinitions(t *testing.T) {
	r := record(t, func(tb testing.TB) {
		Start(tb, connector.Definition{Slug: "X", Limits: wire.Limits{Concurrency: 17}}, connectors.Source{}, nil)
		tb.Error("the test goes on")
	})
	require.Len(t, r.errors, 1)
	assert.Contains(t, r.errors[0], "connector.New: slug: must match")
	assert.Contains(t, r.errors[0], "limits.concurrency: must be at most 16")
}
