package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/conformance/cmd/connect/internal/lifecycle"
	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// moons is a table of two rows, whose key of another row is in its second field.
func moons(name string) memsource.Table {
	return memsource.Table{
		Table: wire.Table{Name: name, StoresRows: true, PrimaryKey: []string{"moon"},
			ForeignKeys: []wire.ForeignKey{{Field: "planet", TargetTable: name, TargetField: "moon"}},
			Fields:      []wire.Field{{Name: "moon", Type: wire.TypeString, Unique: true}, {Name: "planet", Type: wire.TypeString}}},
		Rows: [][]wire.Value{{wire.Text("Io"), wire.Text("Jupiter")}, {wire.Text("Europa"), wire.Text("Io")}},
	}
}

// connectedTo returns a source of tables, as a form has connected it. Its requests go through around.
func connectedTo(t *testing.T, around func(http.Handler) http.HandlerFunc, tables ...memsource.Table) *lifecycle.Source {
	t.Helper()
	src, err := memsource.New(tables, nil)
	require.NoError(t, err)
	secret, err := wire.NewToken(token)
	require.NoError(t, err)
	h, err := connector.New(connector.Definition{Slug: "moons"}, src, secret, nil)
	require.NoError(t, err)
	client, stop := platform.InProcess(around(h))
	t.Cleanup(stop)
	form := lifecycle.NewForm(&platform.Options{HTTP: client})
	form.SetURL("https://moons.test")
	form.SetToken(token)
	require.NoError(t, form.Read(t.Context()))
	source, err := lifecycle.Add(t.Context(), form,
		func(context.Context, conformance.Target, *conformance.Options) (*conformance.Report, error) {
			return &conformance.Report{}, nil // asks nothing
		})
	require.NoError(t, err)
	t.Cleanup(source.Close)
	return source
}

// TestTables requires that a source that was connected is asked for the size and one page of rows
// of each table, and for nothing else until somebody wants it [rule connect-8].
func TestTables(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	var failing atomic.Bool
	source := connectedTo(t, func(h http.Handler) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			var request struct {
				Table string
				Limit int
			}
			_ = json.Unmarshal(body, &request)
			mu.Lock()
			asked = append(asked, strings.TrimSpace(r.URL.Path+" "+request.Table))
			if r.URL.Path == wire.PathQuery {
				require.Equal(t, 50, request.Limit, "one page")
			}
			mu.Unlock()
			if failing.Load() {
				w.WriteHeader(http.StatusBadGateway)
				return
			}
			h.ServeHTTP(w, r)
		}
	}, moons("a"), moons("b"))
	p := testPage(t)
	asked = nil
	p.discover(t.Context(), source)
	slices.Sort(asked)
	require.Equal(t, []string{
		"/.well-known/service/platform.json", "/check", "/discovery", "/query a", "/query b", "/size a", "/size b",
	}, asked)

	p.options.Reach = 1
	p.discover(t.Context(), source)
	require.Contains(t, p.feed.parts["size-0"].HTML, "has 2 rows by /size, and /query reaches no more than 1 of them",
		"it names rows and routes")
	p.options.Reach = 0
	p.discover(t.Context(), source)

	for _, c := range []struct{ body, place, text, route string }{
		{`{"kind": "column", "table": 1, "index": 0}`, "column-1-0", "2 / 2", "/cardinality b"},
		{`{"kind": "column", "table": 1, "index": 0}`, "column-1-0", "2 / 2", ""},
		{`{"kind": "grain", "table": 1}`, "grain-1", "moon", ""},
		{`{"kind": "link", "table": 1, "index": 0}`, "link-1-0", "1 of 2 without a match, such as Jupiter", "/linkHitRate"},
	} {
		asked = nil
		answer := httptest.NewRecorder()
		p.measure(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/measure", strings.NewReader(c.body)))
		require.Equal(t, 200, answer.Code)
		require.Contains(t, p.feed.parts[c.place].HTML, c.text)
		require.Equal(t, c.route, strings.Join(asked, ", "), "each measurement is taken once")
	}
	failing.Store(true)
	for _, c := range []struct{ body, place, want string }{
		{`{"kind": "column", "table": 0, "index": 0}`, "column-0-0", `data-measure="{&#34;kind&#34;:&#34;column&#34;`},
		{`{"kind": "grain", "table": 0}`, "grain-0", `data-measure="{&#34;kind&#34;:&#34;grain&#34;`},
	} {
		for range 2 { // and fails again
			p.measure(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/measure", strings.NewReader(c.body)))
			require.Contains(t, p.feed.parts[c.place].HTML, c.want)
			require.Contains(t, p.feed.parts[c.place].HTML, "Try again")
		}
	}
	failing.Store(false)
	p.measure(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/measure",
		strings.NewReader(`{"kind": "column", "table": 0, "index": 0}`)))
	require.Contains(t, p.feed.parts["column-0-0"].HTML, " / ", "what failed is asked again")
	require.NotContains(t, p.feed.parts["column-0-0"].HTML, "Try again")
	for _, body := range []string{`{"table": 2}`, `{"table": -1}`, `{"kind": "column", "table": 0, "index": 2}`, `{"kind": "x"}`} {
		answer := httptest.NewRecorder()
		p.measure(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/measure", strings.NewReader(body)))
		require.Equal(t, 404, answer.Code, body)
	}
}

// TestTablesShowNotes answers measurements that contradict the size of a table. The panel Tables shows
// them, and what they contradict.
func TestTablesShowNotes(t *testing.T) {
	source := connectedTo(t, func(h http.Handler) http.HandlerFunc {
		answers := map[string]string{
			wire.PathSize:        `{"size":{"rows":1,"exact":true}}`,
			wire.PathCardinality: `{"columns":{"moon":{"distinct":2,"nonNull":5}}}`,
			wire.PathLinkHitRate: `{"fromNonNull":9,"orphanCount":0,"orphanRate":0,"orphanSamples":[]}`,
		}
		return func(w http.ResponseWriter, r *http.Request) {
			body, ok := answers[r.URL.Path]
			if !ok {
				h.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, body)
		}
	}, moons("<moons>"))
	p := testPage(t)
	p.discover(t.Context(), source)
	require.Contains(t, p.feed.parts["panel-tables"].HTML, `<div id="notes-0" role="status"></div>`, "where the notes go")
	want := []string{"2 rows are counted, and the exact size is 1"}
	require.Contains(t, p.feed.parts["notes-0"].HTML, want[0])
	for _, c := range []struct{ body, place, shown, note string }{
		{`{"kind": "column"}`, "column-0-0", "2 / 5", "5 cells are not null"},
		{`{"kind": "link"}`, "link-0-0", "0 of 9 without a match", "9 cells are not null"},
		{`{"kind": "column"}`, "column-0-0", "2 / 5", "field &#34;moon&#34; is unique: 2 of 5"},
	} {
		answer := httptest.NewRecorder()
		p.measure(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/measure", strings.NewReader(c.body)))
		require.Equal(t, 200, answer.Code)
		require.Contains(t, p.feed.parts[c.place].HTML, c.shown)
		want = append(want, c.note)
		for _, note := range want {
			require.Contains(t, p.feed.parts["notes-0"].HTML, note)
		}
	}
	require.Equal(t, 4, strings.Count(p.feed.parts["notes-0"].HTML, "&lt;moons&gt;"), "each once")
}
