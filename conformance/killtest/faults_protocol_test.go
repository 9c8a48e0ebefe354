package killtest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func sends(w http.ResponseWriter, status int, media, body string) {
	w.Header().Set("Content-Type", media)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

// refuses answers an envelope.
func refuses(w http.ResponseWriter, status int, code, message string) {
	sends(w, status, terms.MediaJSON, string(marshalled(envelope(code, message))))
}

func envelope(code, message string) map[string]any {
	return map[string]any{"error": map[string]any{"code": code, "message": message}}
}

// document passes the capability document through edit.
func document(edit func(doc map[string]any)) layer { return edits(edit, wire.PathDocument) }

// onDocument answers the document itself.
func onDocument(f http.HandlerFunc) func() http.Handler {
	return over(usual, overtaken(askedFor(wire.PathDocument), f))
}

var documentFaults = []fault{
	broken("the document behind the token", "the document is served unauthenticated", "P0.1",
		onDocument(func(w http.ResponseWriter, r *http.Request) { refuses(w, 401, "unauthorized", "no") })),
	broken("the document redirected", "no redirect", "P0.2", onDocument(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, wire.PathDocument+"/", http.StatusPermanentRedirect)
	})),
	broken("a page for the document", "a host without a connector answers every path with a page", "P0.3, P0.5",
		onDocument(func(w http.ResponseWriter, r *http.Request) { sends(w, 200, "text/html", "<html>Welcome!</html>") })),
	broken("the document as text", "content type application/json", "P0.3",
		over(usual, withStatus(200, func(_ *http.Request, rec *httptest.ResponseRecorder) {
			rec.Header().Set("Content-Type", "text/plain")
		}, wire.PathDocument))),
	broken("a long document", "at most 64 KiB", "P0.4",
		over(usual, document(sets("logo", strings.Repeat("A", terms.MaxDocumentBytes))))),
	broken("protocol version 2", "any other value fails the parse", "P0.5", over(usual, document(sets("protocolVersion", 2)))),
	broken("seventeen requests at once", "concurrency is 1 to 16", "P0.5", over(usual, document(func(doc map[string]any) {
		doc["capabilities"].(map[string]any)["limits"] = map[string]any{"concurrency": 17}
	}))),
	broken("an operator of its own", "operators are those of the protocol", "P0.5", over(usual, document(func(doc map[string]any) {
		c := doc["capabilities"].(map[string]any)
		c["operators"] = append(c["operators"].([]any), "like")
	}))),
	broken("an endless document", "at most 64 KiB", "P0.4", onDocument(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", terms.MediaJSON)
		for {
			if _, err := io.WriteString(w, strings.Repeat(" ", 4096)); err != nil {
				return
			}
		}
	})),
	broken("a route that is not listed", "optional routes are mounted when endpoints lists them", "P0.7",
		over(usual, document(func(doc map[string]any) {
			doc["endpoints"] = slices.DeleteFunc(doc["endpoints"].([]any), func(e any) bool { return e == "count" })
		}))),
}

func emptyBody(path string) fault {
	return broken("an empty body breaks "+path, "every route rejects an empty body with a 400 envelope", "P0.6: "+path,
		over(usual, refusesWhere(500, "internal", terms.InternalMessage, func(r *http.Request, body []byte) bool {
			return r.Method == http.MethodPost && r.URL.Path == path && len(body) == 0 && r.Header.Get("Authorization") == "Bearer "+testToken
		})))
}

var emptyBodyFaults = []fault{
	emptyBody(wire.PathCheck), emptyBody(wire.PathDiscovery), emptyBody(wire.PathQuery), emptyBody(wire.PathCount),
	emptyBody(wire.PathAggregate), emptyBody(wire.PathSize), emptyBody(wire.PathCardinality), emptyBody(wire.PathLinkHitRate),
	broken("no body counts as an empty object", "every route rejects an empty body with a 400 envelope", "P0.6: /discovery",
		over(usual, between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
			if r.URL.Path == wire.PathDiscovery && string(*body) == "{}" {
				*body = []byte(`{"credentials":{},"timeoutMs":60000}`)
			}
			return false
		}))),
}

// lets puts a check of the token of its own in front of the connector.
func lets(in func(r *http.Request, presented string) bool) func() http.Handler {
	return over(usual, between(func(w http.ResponseWriter, r *http.Request, _ *[]byte) bool {
		if in(r, r.Header.Get("Authorization")) {
			r.Header.Set("Authorization", "Bearer "+testToken)
		}
		return false
	}))
}

// on401 edits the refusals of callers without the token, whose answers are no streams.
func on401(edit func(r *http.Request, rec *httptest.ResponseRecorder)) func() http.Handler {
	refusals := withStatus(401, edit, append(routePaths, wire.PathDocument)...)
	return over(usual, func(h http.Handler) http.Handler {
		return overtaken(func(r *http.Request) bool { return !mayAsk(r) }, refusals(h).ServeHTTP)(h)
	})
}

// saying returns what makes another refusal of an answer.
func saying(status int, code, message string) func(*http.Request, *httptest.ResponseRecorder) {
	return func(_ *http.Request, rec *httptest.ResponseRecorder) {
		rec.Code, rec.Body = status, bytes.NewBuffer(marshalled(envelope(code, message)))
	}
}

func oneKeyWrongly(g *grading) {
	g.credentials, g.WrongCredentials = []map[string]string{{"apiKey": goodKey, "account": "acme"}}, true
}

var authFaults = []fault{
	broken("one route without a token", "a missing bearer gives 401", "P1.1", lets(func(r *http.Request, presented string) bool {
		return r.URL.Path == wire.PathSize && presented == "" && r.URL.RawQuery == ""
	})),
	broken("anything under the scheme Basic", "a wrong bearer gives 401", "P1.2a",
		lets(func(_ *http.Request, presented string) bool {
			return strings.HasPrefix(presented, "Basic ") && !strings.Contains(presented, testToken)
		})),
	broken("the empty token", "a wrong bearer gives 401", "P1.2a",
		lets(func(_ *http.Request, presented string) bool { return strings.TrimSpace(presented) == "Bearer" })),
	broken("a prefix of the token", "a wrong bearer gives 401: compare the whole token", "P1.2b",
		lets(func(_ *http.Request, presented string) bool {
			token := strings.TrimSpace(strings.TrimPrefix(presented, "Bearer"))
			return token != "" && strings.HasPrefix(testToken, token)
		})),
	broken("a token in any case", "a wrong bearer gives 401: compare byte for byte", "P1.2b",
		lets(func(_ *http.Request, presented string) bool { return strings.EqualFold(presented, "Bearer "+testToken) })),
	broken("the token and more", "a wrong bearer gives 401: compare the whole token", "P1.2b",
		lets(func(_ *http.Request, presented string) bool { return strings.HasPrefix(presented, "Bearer "+testToken) })),
	broken("a token in the query string", "a token presented in the query string is also refused with 401", "P1.3",
		lets(func(r *http.Request, _ string) bool {
			in := r.URL.Query().Get("access_token") == testToken
			if in {
				r.URL.RawQuery = ""
			}
			return in
		})),
	broken("a 401 that tells the token", "the refusal does not leak information", "P1.4",
		on401(saying(401, "unauthorized", "want Bearer "+testToken))),
	broken("a 401 that tells the token in a header", "the refusal does not leak information", "P1.4",
		on401(func(_ *http.Request, rec *httptest.ResponseRecorder) {
			rec.Header().Set("WWW-Authenticate", `Bearer realm="`+testToken+`"`)
		})),
	broken("a 401 that tells the tables", "the refusal does not leak information", "P1.4",
		on401(saying(401, "unauthorized", "you may not read customers, orders, order_lines"))),
	broken("a 401 only for tables that exist", "the refusal does not leak information", "P1.4",
		over(usual, refusesWhere(401, "unauthorized", "there is no such table", func(r *http.Request, body []byte) bool {
			return r.URL.Path == wire.PathSize && r.Header.Get("Authorization") == "" && unknownTable(body)
		}))),
	broken("a 401 in plain text", "401 unauthorized, in the envelope", "P1.5",
		on401(func(_ *http.Request, rec *httptest.ResponseRecorder) {
			rec.Body = bytes.NewBufferString("Unauthorized")
		})),
	broken("a 401 called forbidden", "401 has the code unauthorized", "P1.5", on401(saying(401, "forbidden", "no"))),
	broken("a proxy that takes the token away", "the right token gives 200", "P1.6",
		over(usual, between(func(_ http.ResponseWriter, r *http.Request, _ *[]byte) bool {
			r.Header.Del("Authorization")
			return false
		}))),
	broken("a check that is not ok", "/check answers { ok: true }", "P1.6", over(usual, ok(sets("ok", false), wire.PathCheck))).
		refused("route-7"),
	broken("rejected credentials are 401", "a rejected credential set gives 400 check_failed", "P1.7b",
		keyed(func() error { return wire.Errorf(wire.CodeUnauthorized, "wrong key") })).graded(oneKeyWrongly).
		accepted("it is a well-formed refusal, of the token"),
	broken("rejected credentials are internal errors", "a rejected credential set gives 400 check_failed", "P1.7b",
		keyed(func() error { return errors.New("upstream said 403") })).graded(oneKeyWrongly).accepted("it is a well-formed error"),
	broken("rejected credentials without a message", "a message written for the person who typed the credentials", "P1.7b",
		over(keyed(nil), ofStatus(400, func(body map[string]any) {
			body["error"].(map[string]any)["message"] = ""
		}, wire.PathCheck))).graded(oneKeyWrongly).behind("P1.7", "missing credentials are refused by the same code"),
}

// unknownTable reports whether a body names a table that the corpus does not have.
func unknownTable(body []byte) bool {
	tree := parsed(body)
	for _, member := range []string{"table", "fromTable", "toTable"} {
		if name, ok := tree[member].(string); ok && name != corpus.Slow().Name {
			if _, known := corpusTable(name); !known {
				return true
			}
		}
	}
	return false
}

func listedTwice(name string, edit func(doc map[string]any)) fault {
	return broken(name, "lists name each thing once", "A.27",
		over(usual, document(edit)))
}

func capabilitiesOf(doc map[string]any) map[string]any { return doc["capabilities"].(map[string]any) }

const takenSlug = "postgres" // what readers copy as a slug is none of these

// verdictFaults are connectors whose document is not what it says.
var verdictFaults = []fault{
	broken("a document that changes", "it is computed once", "P0.8", func() http.Handler {
		var n atomic.Int64
		return documentAs(func(_ *http.Request, doc map[string]any) {
			if n.Add(1)%2 == 0 {
				capabilitiesOf(doc)["offset"] = false
			}
		})(usual())
	}),
	broken("more endpoints with the token", "the document is served without authentication", "P0.8",
		over(usual, documentAs(func(r *http.Request, doc map[string]any) {
			if r.Header.Get("Authorization") == "" {
				doc["endpoints"] = []string{"count"}
			}
		}))).behind("P0.7", "the document without the token lists fewer routes than there are"),
	broken("no document with the token", "it is served whatever the request's headers are", "P0.8",
		over(usual, refusesWhere(404, "not_found", "no such path", func(r *http.Request, _ []byte) bool {
			return r.URL.Path == wire.PathDocument && r.Header.Get("Authorization") != ""
		}))),
	broken("another document for browsers", "it is the same for every caller", "P0.8",
		over(usual, documentAs(func(r *http.Request, doc map[string]any) {
			if strings.Contains(r.UserAgent(), "Mozilla") {
				capabilitiesOf(doc)["sort"] = "none"
			}
		}))),
	broken("an empty dialect", "dialect is present only where SQL is taken", "P0.9",
		over(usual, document(sets("dialect", "")))).refused("document-8"),
	broken("a dialect that is a lie", "dialect is present only where SQL is taken", "P0.9",
		over(usual, document(sets("dialect", "tsql")))),
	broken("a dialect that is a lie, and no queries", "nothing can be read", "P0.9", func() http.Handler {
		return sqlOnly(func(w http.ResponseWriter, _ string) { refuses(w, 400, "bad_request", "sql is unknown") })
	}).graded(live),
	listedTwice("an operator twice", func(doc map[string]any) {
		ops := capabilitiesOf(doc)["operators"].([]any)
		capabilitiesOf(doc)["operators"] = append(ops, ops[0])
	}),
	listedTwice("an endpoint twice", func(doc map[string]any) { doc["endpoints"] = append(doc["endpoints"].([]any), "count") }),
	listedTwice("a credential twice", func(doc map[string]any) {
		field := map[string]any{"key": "region", "label": "Region", "type": "text", "required": false}
		doc["credentialSchema"] = []any{field, field}
	}),
	broken("a slug that is likely taken", "it must not collide with a built-in source kind", "A.28",
		func() http.Handler { return serve(connector.Definition{Slug: takenSlug}, corpusSource(), nil) }),
	broken("a document with members of its own", "the protocol does not name them", "A.20", func() http.Handler {
		return documentAs(func(_ *http.Request, doc map[string]any) {
			capabilities := doc["capabilities"].(map[string]any)
			capabilities["search"] = true
			capabilities["limits"].(map[string]any)["burst"] = 9
			doc["credentialSchema"] = []any{
				map[string]any{"key": "region", "label": "Region", "type": "text", "required": false, "pattern": ".*"},
			}
		})(usual())
	}),
}

// documentAs edits the document for each request.
func documentAs(edit func(r *http.Request, doc map[string]any)) layer {
	return withRequest(func(r *http.Request) layer { return document(func(doc map[string]any) { edit(r, doc) }) })
}

// sqlOnly returns the shop as a connector that refuses native queries and leaves those in SQL to the given function.
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
	return document(sets("dialect", "tsql"))(h)
}
