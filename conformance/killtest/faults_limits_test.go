package killtest

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// limitsFaults returns connectors that declare more than they hold, and cells that are
// spelled in ways that the platform does not expect.
func limitsFaults() []fault {
	declared := func(l wire.Limits) http.Handler {
		return serve(connector.Definition{Limits: l}, corpusSource(), nil)
	}
	const why = "the platform plans its reads within the declared limits"
	return []fault{
		{name: "pages of half the declared size", why: why, kills: []string{"P3.16a"},
			first: "P2.17: sorts and windows", because: "a generated window is longer", build: func() http.Handler {
				return requests(wire.PathQuery, func(body map[string]any) bool {
					long := integer(body, "limit") > 500
					if long {
						body["limit"] = 500
					}
					return long
				})(declared(wire.Limits{PageSizeMax: 1000}))
			}},
		{name: "offsets are refused below the declared one", why: why, kills: []string{"P3.16b"},
			first: "P2.7: an offset", because: "a fixed case has such an offset", build: func() http.Handler {
				return refusesWhere(422, "unsupported", "too far", func(r *http.Request, body []byte) bool {
					return r.URL.Path == wire.PathQuery && integer(parsed(body), "offset") > 4000
				})(declared(wire.Limits{OffsetMax: 5000}))
			}},
		{name: "four requests at once where sixteen are declared", why: why, kills: []string{"P3.16c"},
			first: "P3.1c", because: "tables are read several at once", build: func() http.Handler {
				var busy atomic.Int64
				return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
					defer busy.Add(-1)
					if r.URL.Path != wire.PathQuery || !mayAsk(r) || wire.Decode(*body, new(wire.QueryRequest)) != nil {
						busy.Add(1)
						return false
					}
					full := busy.Add(1) > 4
					time.Sleep(10 * time.Millisecond)
					if full {
						refuses(w, 500, "internal", terms.InternalMessage)
					}
					return full
				})(declared(wire.Limits{Concurrency: 16}))
			}},
		{name: "requests share a buffer", why: "what one request asks is not answered to another", kills: []string{"P3.16c"},
			build: func() http.Handler {
				var mu sync.Mutex
				var shared []byte
				return between(func(_ http.ResponseWriter, r *http.Request, body *[]byte) bool {
					if r.URL.Path != wire.PathQuery || !mayAsk(r) || wire.Decode(*body, new(wire.QueryRequest)) != nil {
						return false
					}
					mu.Lock()
					shared = *body
					mu.Unlock()
					time.Sleep(time.Millisecond)
					mu.Lock()
					*body = shared
					mu.Unlock()
					return false
				})(declared(wire.Limits{Concurrency: 8}))
			}},
		{name: "pages asked for at once share an offset", why: "what one request asks is not answered to another", kills: []string{"P3.16c"},
			build: func() http.Handler {
				var shared atomic.Int64
				return bodies(func(body map[string]any) {
					if body["limit"] == nil {
						return
					}
					shared.Store(integer(body, "offset"))
					time.Sleep(time.Millisecond)
					body["offset"] = shared.Load()
				}, wire.PathQuery)(declared(wire.Limits{Concurrency: 8}))
			}},
		{name: "booleans as texts", why: "a boolean is a JSON boolean", kills: []string{"A.22"}, build: booleansAsTexts},
		{name: "documents with blanks", why: "JSON text is compact", kills: []string{"A.23"}, build: documentsWithBlanks},
	}
}

// booleansAsTexts answers the booleans of one column in quotes.
func booleansAsTexts() http.Handler {
	return cells(func(name string, v any) any {
		if b, ok := v.(bool); ok && name == "gift" {
			return map[bool]string{true: "true", false: "false"}[b]
		}
		return v
	})(usual())
}

// documentsWithBlanks answers arrays with blanks, as some databases write them.
func documentsWithBlanks() http.Handler {
	return cells(func(name string, v any) any {
		if text, ok := v.(string); ok && name == "tags" && !strings.Contains(text, `\`) {
			return strings.ReplaceAll(text, `","`, `", "`)
		}
		return v
	})(usual())
}

// statisticsFaults describe columns that are not there.
func statisticsFaults() []fault {
	stats := func(table, field string, edit func(s *wire.Stats)) twist {
		return about(table, func(t *wire.Table) {
			s := wire.Stats{DistinctCount: 22}
			edit(&s)
			t.Field(field).Stats = &s
		})
	}
	value := func(n int64) *wire.Value {
		v := wire.Int(n)
		return &v
	}
	return []fault{
		bent("no distinct values where there are some", "statistics agree with the rows", "P2.1: statistics and samples",
			stats("customers", "id", func(s *wire.Stats) { s.DistinctCount = 0 })),
		bent("more distinct values than rows", "statistics agree with the rows", "P2.1: statistics and samples",
			stats("customers", "id", func(s *wire.Stats) { s.DistinctCount = 60 })),
		bent("a minimum of the greatest values", "statistics agree with the rows", "P2.1: statistics and samples",
			stats("customers", "id", func(s *wire.Stats) { s.Min, s.Max = value(20), value(22) })),
	}
}
