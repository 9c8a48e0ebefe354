package killtest

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// streaming is a source whose upstream answers queries for filtered rows row by row, through an object of each table
// that all requests share.
type streaming struct {
	*memsource.Source
	tables map[string]*sharedTable
	mu     sync.Mutex
	// Each is called with the lock: at the beginning and the end of a query, and for the next row, of which it says
	// whether it is answered.
	began, ended func(t *sharedTable, req *connector.Query)
	row          func(t *sharedTable, req *connector.Query, row []wire.Value) ([]wire.Value, bool)
}

// sharedTable is such an object: what one request puts there, others find.
type sharedTable struct {
	*oracle.Table
	filters []wire.Filter
	fields  []string
	next    int
	left    [][]wire.Value // rows that clients did not wait for
}

// streamedRows returns a connector over some tables, in which something is changed.
func streamedRows(tables []memsource.Table, change func(*streaming)) func() http.Handler {
	return func() http.Handler {
		nothing := func(*sharedTable, *connector.Query) {}
		s := &streaming{Source: source(tables...), tables: map[string]*sharedTable{}, began: nothing, ended: nothing}
		s.row = func(t *sharedTable, req *connector.Query, row []wire.Value) ([]wire.Value, bool) {
			return row, t.passes(req.And, row)
		}
		for _, t := range tables {
			s.tables[t.Name] = &sharedTable{Table: &oracle.Table{Name: t.Name, Columns: t.Columns(), Rows: t.Rows}}
		}
		change(s)
		return serve(connector.Definition{}, s, nil)
	}
}

// passes reports whether a row satisfies all filters.
func (t *sharedTable) passes(filters []wire.Filter, row []wire.Value) bool {
	return !slices.ContainsFunc(filters, func(f wire.Filter) bool { return !matches(t.Table, row, f) })
}

func (s *streaming) Query(ctx context.Context, req *connector.Query, out *connector.Rows) error {
	if len(req.Sort)+len(req.Or)+len(req.Joins) > 0 {
		return s.Source.Query(ctx, req, out)
	}
	t := s.tables[req.Table]
	locked := func(do func()) {
		s.mu.Lock()
		defer s.mu.Unlock()
		do()
	}
	leave := func(row []wire.Value, why error) error {
		if ctx.Err() != nil { // and not because a page is full
			locked(func() { t.left = append(t.left, row) })
		}
		return why
	}
	locked(func() { s.began(t, req) })
	defer locked(func() { s.ended(t, req) })
	out.Claim(connector.Applied{Filters: true})
	w := out.Begin(t.Columns)
	for i, row := range t.Rows {
		if i%40 == 0 {
			select {
			case <-time.After(time.Millisecond): // the upstream is no faster
			case <-ctx.Done():
				return leave(row, ctx.Err())
			}
		}
		answered := false
		locked(func() { row, answered = s.row(t, req, row) })
		if answered {
			if err := w.Row(row...); err != nil {
				return leave(row, err)
			}
		}
	}
	return nil
}

func racing(name string, tables []memsource.Table, change func(*streaming)) fault {
	return broken(name, "what one request asks is not answered to another", "P3.16c", streamedRows(tables, change)).graded(live)
}

func leaving(name string, change func(*streaming)) fault {
	f := racing(name, []memsource.Table{hostTable("parts", "acme", 1900)}, change)
	f.why, f.kills = "an answer that was left leaves nothing to the next", []string{"P3.16d"}
	return f
}

// atOnceFaults are connectors that answer rightly whatever is asked alone.
var atOnceFaults = []fault{
	racing("a filter stands on the table while another request streams it", pagedTables(), func(s *streaming) {
		s.began = func(t *sharedTable, req *connector.Query) {
			if len(req.And) > 0 {
				t.filters = req.And
			}
		}
		s.ended = func(t *sharedTable, req *connector.Query) {
			if len(req.And) > 0 {
				t.filters = nil
			}
		}
		s.row = func(t *sharedTable, _ *connector.Query, row []wire.Value) ([]wire.Value, bool) {
			return row, t.passes(t.filters, row)
		}
	}),
	racing("the columns of a request stand on the table", []memsource.Table{hostTable("parts", "acme", 1900)}, func(s *streaming) {
		s.began = func(t *sharedTable, req *connector.Query) { t.fields = req.Fields }
		s.row = func(t *sharedTable, req *connector.Query, row []wire.Value) ([]wire.Value, bool) {
			passes := t.passes(req.And, row)
			row = slices.Clone(row)
			for i, c := range t.Columns {
				if !slices.Contains(t.fields, c.Name) {
					row[i] = wire.Null()
				}
			}
			return row, passes
		}
	}),
	racing("the reads of a table share a cursor", hotelTables(0), func(s *streaming) {
		s.began = func(t *sharedTable, _ *connector.Query) { t.next = 0 }
		s.row = func(t *sharedTable, req *connector.Query, _ []wire.Value) ([]wire.Value, bool) {
			if t.next == len(t.Rows) {
				return nil, false
			}
			row := t.Rows[t.next]
			t.next++
			return row, t.passes(req.And, row)
		}
	}),
	broken("groups of periods leave a connection in another time zone", "a connection keeps what a request has set", "P3.16e",
		over(streamedRows([]memsource.Table{hostTable("parts", "acme", 1900)}, func(*streaming) {}), func(h http.Handler) http.Handler {
			var mu sync.Mutex
			free := make([]bool, 4) // whether each is off
			off := textsOf("at", func(text string) any {
				return must(time.Parse(time.RFC3339Nano, text)).Add(2 * time.Hour).Format(time.RFC3339Nano)
			})(h)
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, own := bodyOf(r), false
				mu.Lock()
				if n := len(free); n > 0 {
					free, own = free[:n-1], free[n-1]
				}
				mu.Unlock()
				if own && r.URL.Path == wire.PathQuery {
					off.ServeHTTP(w, withBody(r, []byte(body)))
				} else {
					h.ServeHTTP(w, withBody(r, []byte(body)))
				}
				mu.Lock()
				free = append(free, own || strings.Contains(string(body), `"grain"`))
				mu.Unlock()
			})
		})).graded(live).
		behind("P3.16c, or P3.16e", "which requests meet the connection is chance"),
	leaving("a client that leaves keeps its place in the pool", func(s *streaming) {
		free := 10
		s.began = func(*sharedTable, *connector.Query) { free-- }
		s.ended = func(t *sharedTable, _ *connector.Query) {
			if len(t.left) == 0 {
				free++
			}
			t.left = nil
		}
		s.row = func(t *sharedTable, req *connector.Query, row []wire.Value) ([]wire.Value, bool) {
			if free < 0 {
				panic("no connection is free")
			}
			return row, t.passes(req.And, row)
		}
	}),
	leaving("rows that a client did not wait for are the first of the next answer", func(s *streaming) {
		s.row = func(t *sharedTable, req *connector.Query, row []wire.Value) ([]wire.Value, bool) {
			if len(t.left) > 0 {
				row, t.left = t.left[0], t.left[1:]
			}
			return row, t.passes(req.And, row)
		}
	}),
}
