package platform_test

import (
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/casetest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestConnect connects where one of the three first requests is refused. What comes
// after it is not asked.
func TestConnect(t *testing.T) {
	good := tabled(numbered(3, true), wire.Limits{}, connector.Omit{})
	for _, c := range []struct {
		why   string
		path  string // answered with status and body
		body  string
		code  wire.Code
		asked []string // beside the document
	}{
		{"no document, no connector", wire.PathDocument, `{"error":{"code":"bad_request","message":"no"}}`, "", nil},
		{"credentials that are rejected discover nothing", wire.PathCheck, `{"error":{"code":"check_failed","message":"no"}}`,
			wire.CodeCheckFailed, []string{wire.PathCheck}},
		{"a refusal of discovery is passed on", wire.PathDiscovery, `{"error":{"code":"bad_request","message":"no"}}`,
			wire.CodeBadRequest, []string{wire.PathCheck, wire.PathDiscovery}},
	} {
		r := record(good)
		client, stop := platform.InProcess(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Path != c.path {
				r.ServeHTTP(w, req)
				return
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			if c.path != wire.PathDocument {
				r.requests = append(r.requests, recorded{path: c.path})
			}
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, c.body)
		}))
		platformClient, err := platform.NewClient("https://connector.test", wire.NewBearer(testToken), &platform.Options{HTTP: client})
		require.NoError(t, err)
		_, err = platform.Connect(t.Context(), platformClient, wire.Credentials{}, nil)
		require.Error(t, err, c.why)
		if c.code != "" {
			require.ErrorIs(t, err, &wire.Error{Code: c.code}, c.why)
		}
		requests, _ := r.seen()
		require.Equal(t, c.asked, paths(requests), c.why)
		stop()
	}
}

// TestConnected looks at what a connection knows.
func TestConnected(t *testing.T) {
	h := instead(tabled(numbered(3, true), wire.Limits{}, connector.Omit{}), wire.PathDiscovery,
		`{"tables":[`+bare("t")+`,`+bare("T")+`],"warnings":["the folder is empty"]}`)
	c := connectTo(t, h, nil)
	require.Equal(t, []string{"the folder is empty"}, c.Warnings)
	require.Same(t, &c.Tables[0], c.Table("t"))
	require.Same(t, &c.Tables[1], c.Table("T"), "names are exact")
	require.Nil(t, c.Table("tt"))
	require.Equal(t, "corpus", c.Document.Slug)
}

// canceled returns a context that has ended.
func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// TestObserved watches the requests of one connection and not those of another, which
// have the places of limits.concurrency in common.
func TestObserved(t *testing.T) {
	c := connectTo(t, tabled(numbered(3, true), wire.Limits{Concurrency: 1}, connector.Omit{}), nil)
	var first, second []string
	see := func(list *[]string) func(platform.Step) {
		return func(s platform.Step) {
			if s.Kind == "sent" {
				*list = append(*list, s.Path)
			}
		}
	}
	one, two := c.Observed(see(&first)), c.Observed(see(&second))
	_, _, err := one.Size(t.Context(), "numbered")
	require.NoError(t, err)
	_, _, err = two.Cardinality(t.Context(), "numbered", "id")
	require.NoError(t, err)
	_, _, err = casetest.Rows(t.Context(), one, &wire.QueryRequest{Table: "numbered", Fields: []string{"id"}, Limit: 1})
	require.NoError(t, err)
	_, err = entityOf(two, "numbered").Size(t.Context())
	require.NoError(t, err)
	_, _, err = c.Size(t.Context(), "numbered")
	require.NoError(t, err)
	require.Equal(t, []string{wire.PathSize, wire.PathQuery}, first)
	require.Equal(t, []string{wire.PathCardinality, wire.PathSize}, second, "an entity asks through its own connection")

	answer, err := one.Query(t.Context(), &wire.QueryRequest{Table: "numbered", Fields: []string{"id"}})
	require.NoError(t, err)
	for _, err := range answer.All() {
		require.NoError(t, err)
		_, _, err = two.Size(canceled(t), "numbered")
		require.ErrorIs(t, err, context.Canceled, "the one place is taken")
	}
}
