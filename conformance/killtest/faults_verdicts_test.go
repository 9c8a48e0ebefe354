package killtest

import (
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// verdictFaults returns connectors whose document is not what it says.
func verdictFaults() []fault {
	listed := func(name string, edit func(doc map[string]any)) fault {
		return fault{name: name, why: "lists name each thing once", kills: []string{"A.27"},
			build: over(usual, documentAs(func(_ *http.Request, doc map[string]any) { edit(doc) }))}
	}
	capabilities := func(doc map[string]any) map[string]any { return doc["capabilities"].(map[string]any) }
	return []fault{
		{name: "a document that changes", why: "it is computed once", kills: []string{"P0.8"}, build: func() http.Handler {
			var n atomic.Int64
			return documentAs(func(_ *http.Request, doc map[string]any) {
				if n.Add(1)%2 == 0 {
					capabilities(doc)["offset"] = false
				}
			})(usual())
		}},
		{name: "more endpoints with the token", why: "the document is served without authentication", kills: []string{"P0.8"},
			first: "P0.7", because: "the document without the token lists fewer routes than there are",
			build: over(usual, documentAs(func(r *http.Request, doc map[string]any) {
				if r.Header.Get("Authorization") == "" {
					doc["endpoints"] = []string{"count"}
				}
			}))},
		{name: "no document with the token", why: "it is served whatever the request's headers are", kills: []string{"P0.8"},
			build: over(usual, refusesWhere(404, "not_found", "no such path", func(r *http.Request, _ []byte) bool {
				return r.URL.Path == wire.PathDocument && r.Header.Get("Authorization") != ""
			}))},
		{name: "another document for browsers", why: "it is the same for every caller", kills: []string{"P0.8"},
			build: over(usual, documentAs(func(r *http.Request, doc map[string]any) {
				if strings.Contains(r.UserAgent(), "Mozilla") {
					capabilities(doc)["sort"] = "none"
				}
			}))},
		{name: "an empty dialect", why: "dialect is present only where SQL is taken", kills: []string{"P0.9"}, client: "document-8",
			build: over(usual, documentAs(func(_ *http.Request, doc map[string]any) { doc["dialect"] = "" }))},
		{name: "a dialect that is a lie", why: "dialect is present only where SQL is taken", kills: []string{"P0.9"},
			build: over(usual, documentAs(func(_ *http.Request, doc map[string]any) { doc["dialect"] = "tsql" }))},
		{name: "a dialect that is a lie, and no queries", why: "nothing can be read", kills: []string{"P0.9"}, options: live,
			build: func() http.Handler {
				return sqlOnly(func(w http.ResponseWriter, _ string) { refuses(w, 400, "bad_request", "sql is unknown") })
			}},
		listed("an operator twice", func(doc map[string]any) {
			ops := capabilities(doc)["operators"].([]any)
			capabilities(doc)["operators"] = append(ops, ops[0])
		}),
		listed("an endpoint twice", func(doc map[string]any) { doc["endpoints"] = append(doc["endpoints"].([]any), "count") }),
		listed("a credential twice", func(doc map[string]any) {
			field := map[string]any{"key": "region", "label": "Region", "type": "text", "required": false}
			doc["credentialSchema"] = []any{field, field}
		}),
		{name: "a slug that is likely taken", why: "it must not collide with a built-in source kind", kills: []string{"A.28"},
			build: func() http.Handler { return serve(connector.Definition{Slug: "postgres"}, corpusSource(), nil) }},
		{name: "a document with members of its own", why: "the protocol does not name them", kills: []string{"A.20"}, build: ownMembers},
	}
}

// ownMembers adds members to every part of the document.
func ownMembers() http.Handler {
	return documentAs(func(_ *http.Request, doc map[string]any) {
		capabilities := doc["capabilities"].(map[string]any)
		capabilities["search"] = true
		capabilities["limits"].(map[string]any)["burst"] = 9
		doc["credentialSchema"] = []any{
			map[string]any{"key": "region", "label": "Region", "type": "text", "required": false, "pattern": ".*"},
		}
	})(usual())
}

// documentAs edits the document for each request.
func documentAs(edit func(r *http.Request, doc map[string]any)) layer {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			edits(func(body map[string]any) {
				edit(r, body)
			}, wire.PathDocument)(h).ServeHTTP(w, r)
		})
	}
}

// sqlOnly returns the shop as a connector that refuses native queries and leaves those
// in SQL to the given function.
func sqlOnly(answer func(w http.ResponseWriter, statement string)) http.Handler {
	omit := connector.Omit{
		Endpoints: []wire.Endpoint{wire.EndpointCount, wire.EndpointAggregate},
		Operators: filter.Operators(), Sort: wire.SortNone, Offset: true, Join: true, DateBucket: true,
	}
	h := between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
		known := r.Header.Get("Authorization") == "Bearer "+testToken && r.URL.RawQuery == ""
		if r.URL.Path != wire.PathQuery || r.Method != http.MethodPost || !known {
			return false
		}
		if _, statement, ok := strings.Cut(string(*body), `{"sql":"`); ok {
			answer(w, statement)
			return true
		}
		refuses(w, 400, "bad_request", "sql is unknown")
		return true
	})(serve(connector.Definition{}, liveShop(), &connector.Options{Omit: omit}))
	return documentAs(func(_ *http.Request, doc map[string]any) { doc["dialect"] = "tsql" })(h)
}
