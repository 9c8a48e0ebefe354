package connector_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// handlerOf serves a source under the token of these examples.
func handlerOf(slug string, src connector.Source, credentials ...wire.CredentialField) *connector.Handler {
	return connectors.New("no-secret-ever-stands-in-an-example", connector.Definition{Slug: slug, Credentials: credentials}, src, nil)
}

var bookColumns = []wire.Column{
	{Name: "title", Type: wire.TypeString}, {Name: "language", Type: wire.TypeString}, {Name: "year", Type: wire.TypeNumber},
}

// books is an upstream that selects by one language, keeps its books in the order of their year, and pages.
type books struct{ source }

var pushable = connector.Pushdown{
	Columns: bookColumns,
	Filters: []connector.PushFilter{{Field: "language", Op: wire.OpEq, Param: "lang", Exact: true}},
	Sorts:   []wire.SortKey{{Field: "year", Dir: wire.Asc}},
}

func (books) Query(_ context.Context, req *connector.Query, out *connector.Rows) error {
	p := pushable.Push(req.Where, req.Sort) // the library filters by the rest
	language := p.Params.Get("lang")
	offset, limit, _ := out.Claim(p.Served).TakeWindow() // both 0 unless filters and sort are served
	fmt.Printf("upstream: language %q, skip %d, take %d\n", language, offset, limit)

	w := out.Begin(bookColumns)
	taken := int64(0)
	for _, b := range []struct {
		title, language string
		year            int64
	}{{"Don Quijote", "es", 1605}, {"Faust", "de", 1808}, {"Emma", "en", 1815}, {"Ulysses", "en", 1922}, {"Orlando", "en", 1928}} {
		if language != "" && b.language != language {
			continue
		}
		if offset > 0 {
			offset--
			continue
		}
		if limit > 0 && taken == limit {
			break
		}
		taken++
		if err := w.Row(wire.Text(b.title), wire.Text(b.language), wire.Int(b.year)); err != nil {
			return err
		}
	}
	return nil
}

// A source that pushes what its upstream can do, and no more: the window only once filters and sort are served.
func ExampleClaim_TakeWindow() {
	handler := handlerOf("books", books{})
	post(handler, "/query", `{
		"table": "books", "fields": ["title"], "and": [{"field": "language", "op": "eq", "value": "en"}],
		"sort": [{"field": "year", "dir": "asc"}], "offset": 1, "limit": 1, "credentials": {}, "timeoutMs": 5000}`)
	post(handler, "/query", `{
		"table": "books", "fields": ["title"], "and": [{"field": "title", "op": "includes", "value": "o"}],
		"sort": [{"field": "year", "dir": "asc"}], "limit": 1, "credentials": {}, "timeoutMs": 5000}`)
	post(handler, "/query", `{
		"table": "books", "fields": ["title"], "and": [], "or": [
			[{"field": "language", "op": "eq", "value": "en"}], [{"field": "title", "op": "includes", "value": "Faust"}]],
		"sort": [{"field": "year", "dir": "asc"}], "credentials": {}, "timeoutMs": 5000}`)
	// Output:
	// upstream: language "en", skip 1, take 1
	// 200
	// {"served":{"filters":true,"sort":true,"window":true}}
	// {"rows":[{"title":"Ulysses"}]}
	// {"end":1}
	// upstream: language "", skip 0, take 0
	// 200
	// {"served":{"filters":true,"sort":true,"window":true}}
	// {"rows":[{"title":"Don Quijote"}]}
	// {"end":1}
	// upstream: language "", skip 0, take 0
	// 200
	// {"served":{"filters":true,"sort":true,"window":true}}
	// {"rows":[{"title":"Faust"},{"title":"Emma"},{"title":"Ulysses"},{"title":"Orlando"}]}
	// {"end":1}
}

// counted is the source of the first example with /count, which its upstream cannot answer for most filters.
type counted struct{ source }

func (counted) Count(_ context.Context, req *wire.CountRequest) (int64, error) {
	if len(req.And)+len(req.Or) > 0 {
		return 0, connector.ErrDecline // the library counts by reading
	}
	return 4, nil
}

// A capability is a method: /count exists because Count does.
func ExampleCounter() {
	handler := handlerOf("planets", counted{})
	post(handler, "/count", `{"table": "planets", "and": [], "credentials": {}, "timeoutMs": 5000}`)
	post(handler, "/count", `{"table": "planets", "and": [{"field": "moons", "op": "gt", "value": 0}], "credentials": {}, "timeoutMs": 5000}`)
	post(handler, "/size", `{"table": "planets", "credentials": {}, "timeoutMs": 5000}`)
	// Output:
	// 200
	// {"count":4}
	// 200
	// {"count":2}
	// 404
	// {"error":{"code":"not_found","message":"no such route; the document at /.well-known/service/platform.json below the base URL lists the optional ones"}}
}

// locked is a source whose tenants have a key each.
type locked struct{ source }

func (locked) Check(_ context.Context, req *wire.CheckRequest) error {
	if req.Credentials.Get("key") != "open sesame" {
		return connector.CheckFailed("The vendor does not know this key. Make one under Settings, API keys.")
	}
	return nil
}

// What a person typed is rejected with a sentence for that person.
func ExampleCheckFailed() {
	handler := handlerOf("locked", locked{}, wire.CredentialField{Key: "key", Label: "API key", Type: wire.CredentialPassword})
	post(handler, "/check", `{"credentials": {"key": "abracadabra"}, "timeoutMs": 5000}`)
	post(handler, "/check", `{"credentials": {"key": "open sesame"}, "timeoutMs": 5000}`)
	// Output:
	// 400
	// {"error":{"code":"check_failed","message":"The vendor does not know this key. Make one under Settings, API keys."}}
	// 200
	// {"ok":true}
}

// Several connectors on one mux, each under its path.
func ExampleHandler_Mount() {
	mux := http.NewServeMux()
	mux.Handle(handlerOf("planets", source{}).Mount("/planets"))
	mux.Handle(handlerOf("books", books{}).Mount("/books"))
	for _, path := range []string{"/planets", "/books"} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path+wire.PathDocument, nil))
		var doc wire.Document
		if err := wire.Decode(w.Body.Bytes(), &doc); err != nil {
			panic(err)
		}
		fmt.Println(path, doc.Slug, doc.Endpoints)
	}
	// Output:
	// /planets planets []
	// /books books []
}

// shelves is an upstream that gives out a token for the tenant's key.
type shelves struct {
	source
	token *connector.PerRequest[string]
	out   chan struct{}
}

// login returns a token of this request.
func (s shelves) login(ctx context.Context, creds wire.Credentials) (token string, release func(), err error) {
	return s.token.Get(ctx, func(context.Context) (string, func(), error) {
		fmt.Println("upstream: log in")
		return "token of " + creds.Get("tenant"), func() { s.out <- struct{}{} }, nil
	})
}

func (s shelves) Describe(ctx context.Context, creds wire.Credentials, table string) (*wire.Table, error) {
	token, release, err := s.login(ctx, creds)
	if err != nil {
		return nil, err
	}
	defer release() // only where no request is being served
	fmt.Println("upstream: describe, with the", token)
	return &planets, nil
}

func (s shelves) Query(ctx context.Context, req *connector.Query, out *connector.Rows) error {
	token, release, err := s.login(ctx, req.Credentials)
	if err != nil {
		return err
	}
	defer release()
	fmt.Println("upstream: read, with the", token)
	return s.source.Query(ctx, req, out)
}

// A source that logs in once in a request, although the library calls it twice.
func ExamplePerRequest() {
	src := shelves{token: new(connector.PerRequest[string]), out: make(chan struct{}, 1)}
	handler := handlerOf("shelves", src, wire.CredentialField{Key: "tenant", Label: "Tenant", Type: wire.CredentialText})
	for _, tenant := range []string{"ada", "bob"} {
		post(handler, "/query", `{
			"table": "planets", "fields": ["name"], "and": [], "sort": [], "limit": 1,
			"credentials": {"tenant": "`+tenant+`"}, "timeoutMs": 5000}`)
		<-src.out // when the request has ended, which may be after its answer
		fmt.Println("upstream: log out")
	}
	// Output:
	// upstream: log in
	// upstream: describe, with the token of ada
	// upstream: read, with the token of ada
	// 200
	// {"served":{"filters":true,"sort":true,"window":true}}
	// {"rows":[{"name":"Mercury"}]}
	// {"end":1}
	// upstream: log out
	// upstream: log in
	// upstream: describe, with the token of bob
	// upstream: read, with the token of bob
	// 200
	// {"served":{"filters":true,"sort":true,"window":true}}
	// {"rows":[{"name":"Mercury"}]}
	// {"end":1}
	// upstream: log out
}
