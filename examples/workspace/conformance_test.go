package main

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/examples/workspace/internal/exchange"
	"github.com/connectorsdk/connector-sdk-go/examples/workspace/standin"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const (
	testToken = "a-token-for-tests-0123456789abcdef"
	platform  = "https://platform.example.com"
)

// upstream is the stand-in in memory. It notes what it is asked.
type upstream struct {
	*standin.Service
	transport http.RoundTripper

	mu      sync.Mutex
	paths   []string // with their queries
	refused int      // for want of budget
}

func start(t *testing.T, options standin.Options) *upstream {
	t.Helper()
	u := &upstream{Service: standin.New(options)}
	next := exchange.Serve(t, u.ServeHTTP)
	t.Cleanup(u.Close)
	u.transport = testkit.Transport(func(r *http.Request) (*http.Response, error) {
		res, err := next.RoundTrip(r)
		u.mu.Lock()
		defer u.mu.Unlock()
		u.paths = append(u.paths, r.URL.RequestURI())
		if err == nil && res.StatusCode == http.StatusTooManyRequests {
			u.refused++
		}
		return res, err
	})
	return u
}

// source is the connector's source over the stand-in.
func (u *upstream) source(t *testing.T) *restsource.Source {
	t.Helper()
	return testkit.Must(restsource.New(generalAPI, tables, &restsource.Options{Transport: u.transport}))(t)
}

// tenant are the credentials of an account of the stand-in.
func tenant(account standin.Account) map[string]string {
	return map[string]string{"baseUrl": platform, "token": account.Token}
}

// grade runs the conformance program on the connector over the stand-in, with two tenants,
// one on each plan.
func grade(t *testing.T, service *upstream, options *conformance.Options) *conformance.Report {
	t.Helper()
	token := testkit.Must(wire.NewToken(testToken))(t)
	handler := testkit.Must(newHandler(token, &restsource.Options{Transport: service.transport}))(t)
	target, done := conformance.InProcess(handler, testToken)
	defer done()
	for _, account := range standin.DefaultAccounts() {
		target.Credentials = append(target.Credentials, wire.NewCredentials(tenant(account)))
	}
	return testkit.Must(conformance.Run(t.Context(), target, options))(t)
}

// TestConformance grades the connector with two tenants, one on each plan. A request
// to the connector takes up to 31 to the API, and the smaller plan has 60 a minute: a
// pace of 40 seconds keeps within it.
func TestConformance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := start(t, standin.Options{})
		requests := 600
		if testing.Short() { // under the race detector: more would be the same code again
			requests = 150
		}
		report := grade(t, service, &conformance.Options{
			Mode: conformance.ModeLive, Requests: requests, Pace: 40 * time.Second, Timeout: 24 * time.Hour,
			WrongCredentials: true, // the stand-in locks nobody out
		})
		t.Log(report.Text(false, false))
		require.NoError(t, report.Err())
		t.Logf("%d requests to the API", len(service.paths))
		assert.Zero(t, service.refused, "within the budgets")
	})
}

// TestConformanceWithDefaults grades the connector as the program does without flags. It
// asks as fast as the connector answers, and the connector has 60 requests a minute to the
// API: what it cannot answer in time is asked again in the next minute, less is asked, and the verdict says so.
func TestConformanceWithDefaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := start(t, standin.Options{})
		report := grade(t, service, &conformance.Options{Mode: conformance.ModeLive})
		t.Log(report.Verdict(), report.Requests, report.Duration)
		require.NoError(t, report.Err())
		assert.Contains(t, report.Verdict(), "no check failed")
		assert.Contains(t, report.Verdict(), "the connector was slow: a whole run takes about ")
		assert.Less(t, report.Requests, 600, "fewer than of a connector that is not slow")
		assert.Less(t, report.Duration, time.Hour)
	})
}

// TestHeartbeats: while the connector waits for a new budget, the platform hears from
// it, and then gets its rows.
func TestHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := start(t, standin.Options{})
		account := standin.DefaultAccounts()[0]
		for range standin.Standard {
			r := testkit.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, platform+"/v1/whoami", nil))(t)
			r.Header.Set("Authorization", "Bearer "+account.Token)
			res := testkit.Must(service.transport.RoundTrip(r))(t)
			require.Equal(t, 200, res.StatusCode)
			require.NoError(t, res.Body.Close())
		}
		begun := time.Now()
		server := connectortest.Start(t, definition, service.source(t), nil)
		answer, err := server.As(tenant(account)).Unverified().Query(wire.QueryRequest{Table: "chats", Fields: []string{"id"},
			Envelope: wire.Envelope{TimeoutMS: 90_000}})
		require.NoError(t, err)
		assert.Len(t, answer.Rows, 12)
		assert.Equal(t, 1, service.refused)
		waited := time.Since(begun)
		assert.Greater(t, waited, 10*time.Second)
		assert.LessOrEqual(t, waited, time.Minute)
		assert.Equal(t, int(waited/(10*time.Second)), answer.Pings, "one every 10 seconds")
	})
}

// TestIsolation: two tenants whose plans have no bounds get each what is theirs.
func TestIsolation(t *testing.T) {
	accounts := standin.DefaultAccounts()
	for i := range accounts {
		accounts[i].PerMinute = 1 << 30
	}
	service := start(t, standin.Options{Accounts: accounts})
	some := tables
	if testing.Short() {
		some = tables[:4] // child tables are among them
	}
	source := testkit.Must(restsource.New(generalAPI, some, &restsource.Options{Transport: service.transport}))(t)
	connectortest.Isolation(t, definition, source, tenant(accounts[0]), tenant(accounts[1]))
}
