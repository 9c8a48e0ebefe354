package platform_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/internal/casetest"
	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

const testToken = "platform-0123456789abcdef-0123456789"

// connect returns a client of a handler.
func connect(t testing.TB, h http.Handler, opts platform.Options) *platform.Client {
	t.Helper()
	var stop func()
	opts.HTTP, stop = memlisten.Client(h)
	t.Cleanup(stop)
	return clientWith(t, opts)
}

// TestConnect connects where one of the three first requests is refused. What comes
// after it is not asked.
func TestConnect(t *testing.T) {
	good := tabled(numbered(3, true), "")
	for _, c := range []struct {
		why, path string // the one that is refused
		code      wire.Code
		asked     []string // beside the document
	}{
		{"no document, no connector", wire.PathDocument, "bad_request", nil},
		{"credentials that are rejected discover nothing", wire.PathCheck, wire.CodeCheckFailed, []string{wire.PathCheck}},
		{"a refusal of discovery is passed on", wire.PathDiscovery, wire.CodeBadRequest, []string{wire.PathCheck, wire.PathDiscovery}},
	} {
		r := record(good)
		r.handler = onPath(good, c.path, refusal(http.StatusBadRequest, `{"error":{"code":"`+string(c.code)+`","message":"no"}}`))
		_, err := platform.Connect(t.Context(), connect(t, r, platform.Options{}), nobody, nil)
		require.Equal(t, c.path != wire.PathDocument, errors.Is(err, &wire.Error{Code: c.code}), c.why)
		require.Error(t, err, c.why)
		require.Equal(t, c.asked, paths(r.asked(t)), c.why)
	}
}

// TestConnected looks at what a connection knows.
func TestConnected(t *testing.T) {
	h := instead(tabled(numbered(3, true), ""), wire.PathDiscovery,
		whole.Replace(`{"tables":[{"name":"t",<table>,"primaryKey":[],"foreignKeys":[],"fields":[]},{"name":"T",<table>,"primaryKey":[],`+
			`"foreignKeys":[],"fields":[]}],"warnings":["the folder is empty"]}`))
	c := connectTo(t, h, nil)
	require.Equal(t, []string{"the folder is empty"}, c.Warnings)
	require.Same(t, &c.Tables[0], c.Table("t"))
	require.Same(t, &c.Tables[1], c.Table("T"), "names are exact")
	require.Nil(t, c.Table("tt"))
	require.Equal(t, "corpus", c.Document.Slug)
}

// TestObserved watches the requests of one connection and not those of another, which
// have the places of limits.concurrency in common.
func TestObserved(t *testing.T) {
	c := connectTo(t, tabled(numbered(3, true), "concurrency=1"), nil)
	var first, second []string
	see := func(list *[]string) func(platform.Step) {
		return func(s platform.Step) {
			if s.Kind == "sent" {
				*list = append(*list, s.Path)
			}
		}
	}
	one, two := c.Observed(see(&first)), c.Observed(see(&second))
	answered(t, one, "size numbered")
	answered(t, two, "cardinality numbered id")
	answered(t, one, "query numbered id limit=1")
	testkit.Must(entityOf(two, "numbered").Size(t.Context()))(t)
	answered(t, c, "size numbered")
	require.Equal(t, []string{wire.PathSize, wire.PathQuery}, first)
	require.Equal(t, []string{wire.PathCardinality, wire.PathSize}, second, "an entity asks through its own connection")

	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	answer := testkit.Must(one.Query(t.Context(), query("numbered id")))(t)
	for _, err := range answer.All() {
		require.NoError(t, err)
		_, _, err := two.Size(canceled, "numbered")
		require.ErrorIs(t, err, context.Canceled, "the one place is taken")
		_, _, err = casetest.Rows(canceled, two, query("numbered id"))
		require.ErrorIs(t, err, context.Canceled, "for rows too")
	}
	answered(t, two, "size numbered") // the place is free again
}

// TestEchoedCredentials reads the errors of a connector that quotes what it was sent. What
// was typed into a plain text field may stand in a failed check, which the person who typed
// it reads; no other error is theirs alone.
func TestEchoedCredentials(t *testing.T) {
	const schema = `[{"key":"url","label":"URL","type":"text"},{"key":"key","label":"Key","type":"password"},` +
		`{"key":"pem","label":"PEM","type":"textarea"}]`
	credentials := wire.NewCredentials(map[string]string{"url": "https://crm.example.com", "key": "hunter2-hunter2", "pem": "MIIB-line"})
	for _, c := range []struct {
		why      string
		document bool
		code     wire.Code
		want     string
	}{
		{"a failed check, after the document", true, wire.CodeCheckFailed, "https://crm.example.com refuses [redacted] and [redacted]"},
		{"a failed check of a client that does not know which field is a password", false, wire.CodeCheckFailed,
			"[redacted] refuses [redacted] and [redacted]"},
		{"any other refusal", true, wire.CodeUnsupported, "[redacted] refuses [redacted] and [redacted]"},
	} {
		client := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", terms.MediaJSON)
			if r.URL.Path == wire.PathDocument {
				_, _ = io.WriteString(w, strings.Replace(document, `"credentialSchema":[]`, `"credentialSchema":`+schema, 1)+"}")
				return
			}
			w.WriteHeader(c.code.Status())
			fmt.Fprintf(w, `{"error":{"code":%q,"message":"https://crm.example.com refuses hunter2-hunter2 and MIIB-line"}}`, c.code)
		}), platform.Options{})
		if c.document {
			testkit.Must(client.Document(t.Context()))(t)
		}
		require.Equal(t, &wire.Error{Code: c.code, Message: c.want}, client.Check(t.Context(), credentials), c.why)
	}
}
