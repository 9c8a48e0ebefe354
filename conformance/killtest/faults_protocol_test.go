package killtest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// protocolFaults returns connectors that break the rules of phases 0, 1 and 3, and
// the advice beside them.
func protocolFaults() []fault {
	return slices.Concat(documentFaults(), emptyBodyFaults(), authFaults(), protocolDiscoveryFaults(), unknownFaults(), malformedFaults(),
		streamFaults(), undeclaredFaults(), answerFaults(), adviceFaults())
}

func sends(w http.ResponseWriter, status int, media, body string) {
	w.Header().Set("Content-Type", media)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

// refuses answers an envelope.
func refuses(w http.ResponseWriter, status int, code, message string) {
	body, err := json.Marshal(map[string]any{"error": map[string]any{"code": code, "message": message}})
	if err != nil {
		panic(err)
	}
	sends(w, status, terms.MediaJSON, string(body))
}

// after passes every answer that is no stream through edit.
func after(edit func(r *http.Request, rec *httptest.ResponseRecorder)) layer {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rec := httptest.NewRecorder()
			stream := &deferredWriter{ResponseWriter: w, rec: rec}
			h.ServeHTTP(stream, r)
			if stream.streaming {
				return
			}
			edit(r, rec)
			replay(w, rec)
		})
	}
}

// deferredWriter holds back what is no stream.
type deferredWriter struct {
	http.ResponseWriter
	rec       *httptest.ResponseRecorder
	streaming bool
}

func (w *deferredWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *deferredWriter) Header() http.Header {
	if w.streaming {
		return w.ResponseWriter.Header()
	}
	return w.rec.Header()
}

func (w *deferredWriter) WriteHeader(status int) {
	if status == http.StatusOK && strings.HasPrefix(w.rec.Header().Get("Content-Type"), terms.MediaNDJSON) {
		w.streaming = true
		for name, values := range w.rec.Header() {
			w.ResponseWriter.Header()[name] = values
		}
		w.ResponseWriter.WriteHeader(status)
		return
	}
	w.rec.WriteHeader(status)
}

func (w *deferredWriter) Write(p []byte) (int, error) {
	if w.streaming {
		return w.ResponseWriter.Write(p)
	}
	return w.rec.Write(p)
}

// document passes the capability document through edit.
func document(edit func(doc map[string]any)) layer {
	return edits(func(body map[string]any) {
		edit(body)
	}, wire.PathDocument)
}

// onDocument answers the document itself.
func onDocument(f func(w http.ResponseWriter, r *http.Request)) func() http.Handler {
	return over(usual, between(func(w http.ResponseWriter, r *http.Request, _ *[]byte) bool {
		if r.URL.Path != wire.PathDocument {
			return false
		}
		f(w, r)
		return true
	}))
}

func documentFaults() []fault {
	edited := func(edit func(doc map[string]any)) func() http.Handler {
		return over(usual, document(edit))
	}
	return []fault{
		{name: "the document behind the token", why: "the document is served unauthenticated", kills: []string{"P0.1"},
			build: onDocument(func(w http.ResponseWriter, r *http.Request) { refuses(w, 401, "unauthorized", "no") })},
		{name: "the document redirected", why: "no redirect", kills: []string{"P0.2"},
			build: onDocument(func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, wire.PathDocument+"/", http.StatusPermanentRedirect)
			})},
		{name: "a page for the document", why: "a host without a connector answers every path with a page", kills: []string{"P0.3", "P0.5"},
			build: onDocument(func(w http.ResponseWriter, r *http.Request) { sends(w, 200, "text/html", "<html>Welcome!</html>") })},
		{name: "the document as text", why: "content type application/json", kills: []string{"P0.3"},
			build: over(usual, after(func(r *http.Request, rec *httptest.ResponseRecorder) {
				if r.URL.Path == wire.PathDocument {
					rec.Header().Set("Content-Type", "text/plain")
				}
			}))},
		{name: "a long document", why: "at most 64 KiB", kills: []string{"P0.4"},
			build: edited(func(doc map[string]any) { doc["logo"] = strings.Repeat("A", terms.MaxDocumentBytes) })},
		{name: "protocol version 2", why: "any other value fails the parse", kills: []string{"P0.5"},
			build: edited(func(doc map[string]any) { doc["protocolVersion"] = 2 })},
		{name: "seventeen requests at once", why: "concurrency is 1 to 16", kills: []string{"P0.5"},
			build: edited(func(doc map[string]any) {
				doc["capabilities"].(map[string]any)["limits"] = map[string]any{"concurrency": 17}
			})},
		{name: "an operator of its own", why: "operators are those of the protocol", kills: []string{"P0.5"},
			build: edited(func(doc map[string]any) {
				c := doc["capabilities"].(map[string]any)
				c["operators"] = append(c["operators"].([]any), "like")
			})},
		{name: "an endless document", why: "at most 64 KiB", kills: []string{"P0.4"},
			build: onDocument(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", terms.MediaJSON)
				for {
					if _, err := io.WriteString(w, strings.Repeat(" ", 4096)); err != nil {
						return
					}
				}
			})},
		{name: "a route that is not listed", why: "optional routes are mounted when endpoints lists them", kills: []string{"P0.7"},
			build: edited(func(doc map[string]any) {
				doc["endpoints"] = slices.DeleteFunc(doc["endpoints"].([]any), func(e any) bool { return e == "count" })
			})},
	}
}

// emptyBodyFaults returns a fault for each route.
func emptyBodyFaults() (list []fault) {
	paths := []string{wire.PathCheck, wire.PathDiscovery, wire.PathQuery, wire.PathCount, wire.PathAggregate,
		wire.PathSize, wire.PathCardinality, wire.PathLinkHitRate}
	for _, path := range paths {
		list = append(list, fault{name: "an empty body breaks " + path, why: "every route rejects an empty body with a 400 envelope",
			kills: []string{"P0.6: " + path},
			build: over(usual, refusesWhere(500, "internal", terms.InternalMessage, func(r *http.Request, body []byte) bool {
				return r.Method == http.MethodPost && r.URL.Path == path && len(body) == 0 && r.Header.Get("Authorization") == "Bearer "+testToken
			}))})
	}
	return append(list, fault{name: "no body counts as an empty object", why: "every route rejects an empty body with a 400 envelope",
		kills: []string{"P0.6: /discovery"},
		build: over(usual, between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
			if r.URL.Path == wire.PathDiscovery && string(*body) == "{}" {
				*body = []byte(`{"credentials":{},"timeoutMs":60000}`)
			}
			return false
		}))})
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

// on401 edits the refusals of callers without the token.
func on401(edit func(r *http.Request, rec *httptest.ResponseRecorder)) func() http.Handler {
	return over(usual, after(func(r *http.Request, rec *httptest.ResponseRecorder) {
		if rec.Code == 401 {
			edit(r, rec)
		}
	}))
}

func says(rec *httptest.ResponseRecorder, status int, code, message string) {
	rec.Code = status
	rec.Body.Reset()
	text, err := json.Marshal(map[string]any{"error": map[string]any{"code": code, "message": message}})
	if err != nil {
		panic(err)
	}
	rec.Body.Write(text)
}

func authFaults() []fault {
	one := func(g *grading) { g.credentials = []map[string]string{{"apiKey": goodKey, "account": "acme"}} }
	wrongly := func(g *grading) { one(g); g.WrongCredentials = true }
	return []fault{
		{name: "one route without a token", why: "a missing bearer gives 401", kills: []string{"P1.1"},
			build: lets(func(r *http.Request, presented string) bool {
				return r.URL.Path == wire.PathSize && presented == "" && r.URL.RawQuery == ""
			})},
		{name: "anything under the scheme Basic", why: "a wrong bearer gives 401", kills: []string{"P1.2a"},
			build: lets(func(_ *http.Request, presented string) bool {
				return strings.HasPrefix(presented, "Basic ") && !strings.Contains(presented, testToken)
			})},
		{name: "the empty token", why: "a wrong bearer gives 401", kills: []string{"P1.2a"},
			build: lets(func(_ *http.Request, presented string) bool { return strings.TrimSpace(presented) == "Bearer" })},
		{name: "a prefix of the token", why: "a wrong bearer gives 401: compare the whole token", kills: []string{"P1.2b"},
			build: lets(func(_ *http.Request, presented string) bool {
				token := strings.TrimSpace(strings.TrimPrefix(presented, "Bearer"))
				return token != "" && strings.HasPrefix(testToken, token)
			})},
		{name: "a token in any case", why: "a wrong bearer gives 401: compare byte for byte", kills: []string{"P1.2b"},
			build: lets(func(_ *http.Request, presented string) bool { return strings.EqualFold(presented, "Bearer "+testToken) })},
		{name: "the token and more", why: "a wrong bearer gives 401: compare the whole token", kills: []string{"P1.2b"},
			build: lets(func(_ *http.Request, presented string) bool { return strings.HasPrefix(presented, "Bearer "+testToken) })},
		{name: "a token in the query string", why: "a token presented in the query string is also refused with 401",
			kills: []string{"P1.3"},
			build: lets(func(r *http.Request, _ string) bool {
				in := r.URL.Query().Get("access_token") == testToken
				if in {
					r.URL.RawQuery = ""
				}
				return in
			})},
		{name: "a 401 that tells the token", why: "the refusal does not leak information", kills: []string{"P1.4"},
			build: on401(func(_ *http.Request, rec *httptest.ResponseRecorder) {
				says(rec, 401, "unauthorized", "want Bearer "+testToken)
			})},
		{name: "a 401 that tells the token in a header", why: "the refusal does not leak information", kills: []string{"P1.4"},
			build: on401(func(_ *http.Request, rec *httptest.ResponseRecorder) {
				rec.Header().Set("WWW-Authenticate", `Bearer realm="`+testToken+`"`)
			})},
		{name: "a 401 that tells the tables", why: "the refusal does not leak information", kills: []string{"P1.4"},
			build: on401(func(_ *http.Request, rec *httptest.ResponseRecorder) {
				says(rec, 401, "unauthorized", "you may not read customers, orders, order_lines")
			})},
		{name: "a 401 only for tables that exist", why: "the refusal does not leak information", kills: []string{"P1.4"},
			build: over(usual, refusesWhere(401, "unauthorized", "there is no such table", func(r *http.Request, body []byte) bool {
				return r.URL.Path == wire.PathSize && r.Header.Get("Authorization") == "" && unknownTable(body)
			}))},
		{name: "a 401 in plain text", why: "401 unauthorized, in the envelope", kills: []string{"P1.5"},
			build: on401(func(_ *http.Request, rec *httptest.ResponseRecorder) {
				rec.Body.Reset()
				rec.Body.WriteString("Unauthorized")
			})},
		{name: "a 401 called forbidden", why: "401 has the code unauthorized", kills: []string{"P1.5"},
			build: on401(func(_ *http.Request, rec *httptest.ResponseRecorder) { says(rec, 401, "forbidden", "no") })},
		{name: "a proxy that takes the token away", why: "the right token gives 200", kills: []string{"P1.6"},
			build: over(usual, between(func(_ http.ResponseWriter, r *http.Request, _ *[]byte) bool {
				r.Header.Del("Authorization")
				return false
			}))},
		{name: "a check that is not ok", why: "/check answers { ok: true }", kills: []string{"P1.6"}, client: "route-7",
			build: over(usual, ok(func(body map[string]any) {
				body["ok"] = false
			}, wire.PathCheck))},
		{name: "rejected credentials are 401", why: "a rejected credential set gives 400 check_failed", kills: []string{"P1.7b"},
			harmless: "it is a well-formed refusal, of the token", options: wrongly,
			build: func() http.Handler {
				return keyed(func() error { return wire.Errorf(wire.CodeUnauthorized, "wrong key") })
			}},
		{name: "rejected credentials are internal errors", why: "a rejected credential set gives 400 check_failed",
			kills: []string{"P1.7b"}, harmless: "it is a well-formed error", options: wrongly,
			build: func() http.Handler { return keyed(func() error { return errors.New("upstream said 403") }) }},
		{name: "rejected credentials without a message", why: "a message written for the person who typed the credentials",
			kills: []string{"P1.7b"}, first: "P1.7", because: "missing credentials are refused by the same code", options: wrongly,
			build: func() http.Handler {
				return answers(func(body map[string]any, status int) (any, int) {
					if status == 400 {
						body["error"].(map[string]any)["message"] = ""
					}
					return body, status
				}, wire.PathCheck)(keyed(nil))
			}},
	}
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
