package killtest

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// oddAtOnce returns what is odd about answers that are under way together.
func oddAtOnce() []oddity {
	together := func(name, why string, l layer) oddity {
		served := streamedRows([]memsource.Table{hostTable("parts", "acme", 1900)}, func(*streaming) {})
		return oddity{name: name, why: why, build: over(served, l), options: func(g *grading) { g.Match = `^P3\.16[cd]$` }}
	}
	oneQuery := func(h http.Handler) http.Handler {
		turn := sync.OnceValue(func() chan bool { return make(chan bool, 1) }) // made where time is that of the test
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == wire.PathQuery {
				turn() <- true
				defer func() { <-turn() }()
			}
			h.ServeHTTP(w, r)
		})
	}
	return []oddity{
		together("one query is answered at a time", "a busy source lets requests wait", oneQuery),
		together("a query that was left is answered to its end", "a source may not know how to cancel", func(h http.Handler) http.Handler {
			return oneQuery(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				h.ServeHTTP(w, r.WithContext(context.WithoutCancel(r.Context())))
			}))
		}),
		together("filters are left to the platform beside others", "what is served is said by each stream", func(h http.Handler) http.Handler {
			left := unwindowed(bodies(func(body map[string]any) { body["and"] = []any{} }, wire.PathQuery)(serving(false, true)(h)))
			var queries atomic.Int64
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				served := h
				if r.URL.Path == wire.PathQuery {
					defer queries.Add(-1)
					if queries.Add(1) > 1 {
						served = left
					}
				}
				served.ServeHTTP(w, r)
			})
		}),
	}
}
