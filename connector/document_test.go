package connector_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var token, _ = wire.NewToken(connectortest.Token)

var thirteen = []wire.Op{"eq", "neq", "gt", "gte", "lt", "lte", "in", "nin", "contains", "includes", "startswith",
	"isnull", "notnull"}

// get returns the document of a handler as it is served.
func get(t testing.TB, h *connector.Handler) []byte {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, wire.PathDocument, nil))
	require.Equal(t, 200, w.Code)
	return w.Body.Bytes()
}

// document returns the decoded document of a source.
func document(t *testing.T, src connector.Source, opts *connector.Options) wire.Document {
	t.Helper()
	var doc wire.Document
	require.NoError(t, wire.Decode(get(t, newHandler(src, opts)), &doc))
	return doc
}

// combinations are sources with none of the six optional interfaces that show as
// endpoints or flags, with one, and with all: these show an interface that needs
// another, and one that excludes another. The key is the set: bit 0 Size, 1 Count,
// 2 Aggregate, 3 Cardinality, 4 LinkHitRate, 5 QueryJoined.
var combinations = map[int]connector.Source{
	0: connectors.Source{},
	1: struct {
		connectors.Source
		connectors.Sizer
	}{},
	2: struct {
		connectors.Source
		connectors.Counter
	}{},
	4: struct {
		connectors.Source
		connectors.Aggregator
	}{},
	8: struct {
		connectors.Source
		connectors.Measurer
	}{},
	16: struct {
		connectors.Source
		connectors.Linker
	}{},
	32: struct {
		connectors.Source
		connectors.Joiner
	}{},
	63: connectors.Endpoints{},
}

// TestCombinations checks that the document says exactly what the methods of a
// source are, and that exactly those routes exist.
func TestCombinations(t *testing.T) {
	for set, src := range combinations {
		has := func(bit int) bool { return set>>bit&1 == 1 }
		doc := document(t, src, nil)
		var endpoints []wire.Endpoint
		for bit, e := range optional {
			if has(bit) {
				endpoints = append(endpoints, e)
			}
		}
		require.ElementsMatch(t, endpoints, doc.Endpoints, "combinations[%d]", set)
		doc.Endpoints = nil
		require.Equal(t, wire.Document{
			ProtocolVersion: 1, Slug: "shop", CredentialSchema: shop.Credentials,
			Capabilities: wire.Capabilities{
				Operators: thirteen, DateBucket: has(2), Sort: wire.SortMulti, Offset: true, Join: has(5),
				Limits: wire.Limits{Concurrency: 4},
			},
		}, doc, "combinations[%d]", set)
		routesExist(t, newHandler(src, nil), endpoints)
	}
}

var optional = []wire.Endpoint{wire.EndpointSize, wire.EndpointCount, wire.EndpointAggregate, wire.EndpointCardinality,
	wire.EndpointLinkHitRate}

// routesExist asserts that of the optional routes exactly these are served.
func routesExist(t *testing.T, h *connector.Handler, endpoints []wire.Endpoint) {
	t.Helper()
	for _, e := range optional {
		path, want := "/"+string(e), 404
		if slices.Contains(endpoints, e) {
			want = 200
		}
		assert.Equal(t, want, direct(h, path, good(path)).Code, path)
	}
}

// TestDescriberIsInvisible checks that a Describer is no capability of the protocol.
func TestDescriberIsInvisible(t *testing.T) {
	assert.Equal(t, document(t, connectors.Endpoints{}, nil), document(t, connectors.Described{}, nil))
}

// TestOmit checks that Omit subtracts from the document and the routes, and does nothing else.
func TestOmit(t *testing.T) {
	everything := connectors.Full{Speaker: connectors.Speaker{Name: "ansi"}}
	for _, c := range testkit.Table(t, "testdata/omissions.tsv", 3) {
		t.Run(c[0], func(t *testing.T) {
			var opts connector.Options
			require.NoError(t, json.Unmarshal([]byte(c[1]), &opts.Omit))
			var want, got, changes map[string]any
			require.NoError(t, json.Unmarshal(get(t, newHandler(everything, nil)), &want))
			require.NoError(t, json.Unmarshal(get(t, newHandler(everything, &opts)), &got))
			require.NoError(t, json.Unmarshal([]byte(c[2]), &changes))
			for name, value := range changes {
				if capabilities := want["capabilities"].(map[string]any); capabilities[name] != nil {
					capabilities[name] = value
				} else {
					want[name] = value
				}
			}
			maps.DeleteFunc(want, func(_ string, value any) bool { return value == nil })
			assert.Equal(t, want, got)
			routesExist(t, newHandler(everything, &opts), document(t, everything, &opts).Endpoints)
		})
	}
}

// TestDialect checks that Dialect is called once, and that an empty dialect is refused, unless the host omits it.
func TestDialect(t *testing.T) {
	asked := 0
	assert.Equal(t, "ansi-1", document(t, counting{asked: &asked}, nil).Dialect)
	assert.Equal(t, 1, asked)
	_, err := connector.New(shop, connectors.Full{}, token, nil)
	require.ErrorContains(t, err, "source: Dialect returned an empty name")
	assert.Empty(t, document(t, connectors.Full{}, &connector.Options{Omit: connector.Omit{Dialect: true}}).Dialect)
}

type counting struct {
	connectors.Source
	asked *int
}

func (c counting) Dialect() string {
	*c.asked++
	return fmt.Sprintf("ansi-%d", *c.asked)
}
func (c counting) QuerySQL(context.Context, *wire.SQLRequest, *connector.Rows) error { return nil }

// TestDocumentServed checks the route of the document.
func TestDocumentServed(t *testing.T) {
	s := serve(t, connectors.Endpoints{}, nil)
	ask := func(method, bearer string) answer {
		r := testkit.Must(http.NewRequestWithContext(context.Background(), method, s.URL+wire.PathDocument, nil))(t)
		if bearer != "" {
			r.Header.Set("Authorization", bearer)
		}
		return s.do(r)
	}
	whole := ask("GET", "")
	assert.Equal(t, 200, whole.status)
	assert.Equal(t, "application/json", whole.header.Get("Content-Type"))
	assert.Equal(t, itoa(len(whole.body)), whole.header.Get("Content-Length"))
	assert.Equal(t, whole.body, ask("GET", "Bearer wrong").body, "unauthenticated: a bearer changes nothing")
	assert.Contains(t, whole.body, `"required":true`, "document-1: required is explicit")
	assert.Contains(t, whole.body, `"required":false`, "document-1: required is explicit")
	assert.Contains(t, whole.body, `"limits":{"concurrency":4}`,
		"document-1: concurrency always, the others only when known")

	head := ask("HEAD", "")
	assert.Equal(t, 200, head.status)
	assert.Empty(t, head.body)
	for _, name := range []string{"Content-Type", "Content-Length"} {
		assert.Equal(t, whole.header.Get(name), head.header.Get(name))
	}
	s.alive()
}

// TestDocumentIsTheHostsOwn checks that what a host changes after New changes nothing.
func TestDocumentIsTheHostsOwn(t *testing.T) {
	def := shop
	def.Credentials = slices.Clone(shop.Credentials)
	omit := []wire.Op{wire.OpEq}
	h := connectors.New(connectortest.Token, def, connectors.Source{}, &connector.Options{Omit: connector.Omit{Operators: omit}})
	before := string(get(t, h))
	def.Credentials[0] = wire.CredentialField{Key: "other", Label: "Other", Type: wire.CredentialText, Optional: true}
	omit[0] = wire.OpIn
	assert.Equal(t, before, string(get(t, h)))
	assert.Equal(t, `{"error":{"code":"check_failed","message":"API key is required."}}`,
		direct(h, "/check", `{"credentials":{},"timeoutMs":1000}`).Body.String())
}

// TestDocumentSize checks the limit of 64 KiB, at construction.
func TestDocumentSize(t *testing.T) {
	size := func(help int) (int, error) {
		def := shop
		def.Credentials = []wire.CredentialField{{Key: "k", Label: "l", Type: wire.CredentialText,
			Help: strings.Repeat("h", help)}}
		h, err := connector.New(def, connectors.Source{}, token, nil)
		if err != nil {
			return 0, err
		}
		return len(get(t, h)), nil
	}
	most := 64<<10 - testkit.Must(size(1))(t) + 1
	assert.Equal(t, 64<<10, testkit.Must(size(most))(t))
	_, err := size(most + 1)
	assert.EqualError(t, err, "document: 65537 bytes, over the limit of 65536; shorten the help texts")
}

// TestConstructionFaults checks that each fault is named by its JSON path,
// without the value. The definitions are those of testdata/constructions.tsv.
func TestConstructionFaults(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/constructions.tsv", 4) {
		t.Run(c[0], func(t *testing.T) {
			var def connector.Definition
			var opts connector.Options
			require.NoError(t, json.Unmarshal([]byte(c[1]), &def))
			require.NoError(t, json.Unmarshal([]byte(c[2]), &opts.Omit))
			_, err := connector.New(def, connectors.Source{}, token, &opts)
			if c[3] == "" {
				assert.NoError(t, err)
				return
			}
			assert.EqualError(t, err, c[3])
		})
	}
	for _, c := range testkit.Table(t, "testdata/fields.tsv", 7) {
		_, err := connector.New(connector.Definition{Slug: "shop", Credentials: []wire.CredentialField{
			{Key: "a", Label: "l", Type: wire.CredentialText},
			{Key: c[1], Label: unfold(c[2]), Type: wire.CredentialType(c[3]), Help: unfold(c[4]), Placeholder: unfold(c[5])},
		}}, connectors.Source{}, token, nil)
		require.Error(t, err, c[0])
		assert.Contains(t, strings.Split(err.Error(), "\n"), "credentialSchema[1]."+c[6], c[0])
	}
}

// TestAllConstructionFaults checks that New reports all faults at once.
func TestAllConstructionFaults(t *testing.T) {
	def := connector.Definition{
		Slug:   "Shop",
		Limits: wire.Limits{Concurrency: 99, OffsetMax: -1},
		Credentials: []wire.CredentialField{{Key: "k", Type: "x"},
			{Key: "k", Label: strings.Repeat("l", 64<<10), Type: wire.CredentialText}},
	}
	_, err := connector.New(def, connectors.Source{}, wire.Token{},
		&connector.Options{Omit: connector.Omit{Sort: "x", Endpoints: []wire.Endpoint{"x"}, Operators: []wire.Op{"x"}}})
	require.Error(t, err)
	lines := strings.Split(err.Error(), "\n")
	assert.Len(t, lines, 11, "%s", lines)
	assert.Contains(t, lines, "token: missing; make one with wire.NewToken")
	assert.Contains(t, err.Error(), "over the limit of 65536")
	_, err = connector.New(def, nil, wire.Token{}, nil)
	assert.ErrorContains(t, err, "source: missing")
	assert.ErrorContains(t, err, "token: missing")
	assert.ErrorContains(t, err, "slug: ")
}

// TestAt mounts several connectors on one mux.
func TestAt(t *testing.T) {
	mux := http.NewServeMux()
	for prefix, slug := range map[string]string{"/one": "one", "/two": "two", "/team[1]": "team", "/": "root"} {
		h := connectors.New(connectortest.Token, connector.Definition{Slug: slug}, connectors.Endpoints{}, nil)
		mux.Handle(h.Mount(prefix))
	}
	for _, c := range testkit.Table(t, "testdata/mounts.tsv", 5) {
		r := httptest.NewRequest(c[1], strings.Replace(c[2], "DOCUMENT", wire.PathDocument, 1), strings.NewReader(good("/check")))
		r.Header.Set("Authorization", "Bearer "+connectortest.Token)
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		assert.Equal(t, c[3], itoa(w.Code), c[0])
		assert.Contains(t, w.Body.String(), c[4], c[0])
	}
}
