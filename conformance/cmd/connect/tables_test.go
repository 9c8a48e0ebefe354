package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
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
	"github.com/connectorsdk/connector-sdk-go/internal/memlisten"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/connectors"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// moons is a table of two rows, whose key of another row is in its second field.
func moons(t *testing.T, name string) memsource.Table {
	moons := cells.TableOf(t, name, `moon:string*! planet:string | "Io" "Jupiter" | "Europa" "Io"`)
	moons.ForeignKeys = []wire.ForeignKey{{Field: "planet", TargetTable: name, TargetField: "moon"}}
	return moons
}

// An around answers the requests to a connector, mostly by passing them on.
type around func(h http.Handler, w http.ResponseWriter, r *http.Request)

// connectedTo returns a source of tables, as a form has connected it.
func connectedTo(t *testing.T, around around, tables ...memsource.Table) *lifecycle.Source {
	t.Helper()
	h := connectors.New(token, connector.Definition{Slug: "moons"}, connectors.Tables(tables...), connectors.Quiet())
	client, stop := memlisten.Client(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { around(h, w, r) }))
	t.Cleanup(stop)
	form := lifecycle.NewForm(&platform.Options{HTTP: client})
	form.SetURL("https://moons.test")
	form.SetToken(token)
	require.NoError(t, form.Read(t.Context()))
	source := testkit.Must(lifecycle.Add(t.Context(), form,
		func(context.Context, conformance.Target, *conformance.Options) (*conformance.Report, error) {
			return &conformance.Report{}, nil // asks nothing
		}))(t)
	t.Cleanup(source.Close)
	return source
}

// connectedPage returns a page that shows tables.
func connectedPage(t *testing.T, around around, tables ...memsource.Table) *page {
	t.Helper()
	p := testPage(t)
	p.discover(t.Context(), connectedTo(t, around, tables...))
	return p
}

// press posts a body to a handler of the page.
func press(t *testing.T, button http.HandlerFunc, body string) *httptest.ResponseRecorder {
	t.Helper()
	answer := httptest.NewRecorder()
	button(answer, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body)))
	return answer
}

// TestTables requires that a source that was connected is asked for the size and one page of rows
// of each table, and for nothing else until somebody wants it [rule connect-8].
func TestTables(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	var failing atomic.Bool
	source := connectedTo(t, func(h http.Handler, w http.ResponseWriter, r *http.Request) {
		var request struct {
			Table string
			Limit int
		}
		_ = json.Unmarshal(testkit.Body(r), &request)
		mu.Lock()
		asked = append(asked, strings.TrimSpace(r.URL.Path+" "+request.Table))
		if r.URL.Path == wire.PathQuery {
			require.Equal(t, 50, request.Limit, "one page")
		}
		mu.Unlock()
		if failing.Load() {
			h = testkit.JSON(http.StatusBadGateway, "")
		}
		h.ServeHTTP(w, r)
	}, moons(t, "a"), moons(t, "b"))
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
		require.Equal(t, 200, press(t, p.measure, c.body).Code)
		require.Contains(t, p.feed.parts[c.place].HTML, c.text)
		require.Equal(t, c.route, strings.Join(asked, ", "), "each measurement is taken once")
	}
	failing.Store(true)
	for _, c := range []struct{ body, place, want string }{
		{`{"kind": "column", "table": 0, "index": 0}`, "column-0-0", `data-measure="{&#34;kind&#34;:&#34;column&#34;`},
		{`{"kind": "grain", "table": 0}`, "grain-0", `data-measure="{&#34;kind&#34;:&#34;grain&#34;`},
	} {
		for range 2 { // and fails again
			press(t, p.measure, c.body)
			require.Contains(t, p.feed.parts[c.place].HTML, c.want)
			require.Contains(t, p.feed.parts[c.place].HTML, "Try again")
		}
	}
	failing.Store(false)
	press(t, p.measure, `{"kind": "column", "table": 0, "index": 0}`)
	require.Contains(t, p.feed.parts["column-0-0"].HTML, " / ", "what failed is asked again")
	require.NotContains(t, p.feed.parts["column-0-0"].HTML, "Try again")
	for _, body := range []string{`{"table": 2}`, `{"table": -1}`, `{"kind": "column", "table": 0, "index": 2}`, `{"kind": "x"}`} {
		require.Equal(t, 404, press(t, p.measure, body).Code, body)
	}
}

// TestTablesShowNotes answers measurements that contradict the size of a table. The panel Tables shows
// them, and what they contradict.
func TestTablesShowNotes(t *testing.T) {
	answers := map[string]string{
		wire.PathSize:        `{"size":{"rows":1,"exact":true}}`,
		wire.PathCardinality: `{"columns":{"moon":{"distinct":2,"nonNull":5}}}`,
		wire.PathLinkHitRate: `{"fromNonNull":9,"orphanCount":0,"orphanRate":0,"orphanSamples":[]}`,
	}
	p := connectedPage(t, func(h http.Handler, w http.ResponseWriter, r *http.Request) {
		if body, ok := answers[r.URL.Path]; ok {
			h = testkit.JSON(200, body)
		}
		h.ServeHTTP(w, r)
	}, moons(t, "<moons>"))
	require.Contains(t, p.feed.parts["panel-tables"].HTML, `<div id="notes-0" role="status"></div>`, "where the notes go")
	want := []string{"2 rows are counted, and the exact size is 1"}
	require.Contains(t, p.feed.parts["notes-0"].HTML, want[0])
	for _, c := range []struct{ body, place, shown, note string }{
		{`{"kind": "column"}`, "column-0-0", "2 / 5", "5 cells are not null"},
		{`{"kind": "link"}`, "link-0-0", "0 of 9 without a match", "9 cells are not null"},
		{`{"kind": "column"}`, "column-0-0", "2 / 5", "field &#34;moon&#34; is unique: 2 of 5"},
	} {
		require.Equal(t, 200, press(t, p.measure, c.body).Code)
		require.Contains(t, p.feed.parts[c.place].HTML, c.shown)
		want = append(want, c.note)
		for _, note := range want {
			require.Contains(t, p.feed.parts["notes-0"].HTML, note)
		}
	}
	require.Equal(t, 4, strings.Count(p.feed.parts["notes-0"].HTML, "&lt;moons&gt;"), "each once")
}

// TestTurn turns the pages of tables whose rows stand in several orders. Each row comes once.
func TestTurn(t *testing.T) {
	numbers := func(n int) (list []int) {
		for i := range n {
			list = append(list, i)
		}
		return list
	}
	backwards := numbers(120)
	slices.Reverse(backwards)
	keyed := func(t *wire.Table) { t.PrimaryKey = []string{"id"} }
	unique := func(nullable bool) func(*wire.Table) {
		return func(t *wire.Table) { t.Fields[0].Unique, t.Fields[0].Nullable = true, nullable }
	}
	loose := []string{"50: 69 to 20", "100: 19 to 0"} // of rows that stand backwards
	anew := []string{"0: 0 to 49", "50: 50 to 99", "100: 100 to 119"}
	for _, c := range []struct {
		name  string
		ids   []int
		key   func(t *wire.Table)
		sort  wire.SortSupport
		pages []string
		loose string // what the page says of pages that may not fit together
		why   string
	}{
		{"in the order of the key", numbers(120), keyed, wire.SortMulti, []string{"50: 50 to 99", "100: 100 to 119"}, "", ""},
		{"in another order", backwards, keyed, wire.SortMulti, anew, "", "the first page had other rows, so the pages begin anew"},
		{"by a unique column", backwards, unique(false), wire.SortSingle, anew, "", "it orders pages as a key does"},
		{"by a unique column that may be empty", backwards, unique(true), wire.SortMulti, loose, "No key or column is sure", "nulls repeat"},
		{"without a key", backwards, func(*wire.Table) {}, wire.SortMulti, loose, "No key or column is sure", "nothing else can be done"},
		{"unsorted", backwards, keyed, wire.SortNone, loose, "The connector does not sort", "all rows would have to be read for each page"},
		{"exactly one page", numbers(50), keyed, wire.SortMulti, []string{"50: none"}, "", "nobody knew before"},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := cells.TableOf(t, "t", "id:number none:string?")
			c.key(&table.Table)
			for _, id := range c.ids {
				table.Rows = append(table.Rows, []wire.Value{wire.Int(int64(id)), wire.Null()})
			}
			connection := connectedPage(t, http.Handler.ServeHTTP, table).connection.Load().Connection
			connection.Document.Capabilities.Sort = c.sort
			reading := &connected{Connection: connection, first: map[int][][]wire.Value{0: slices.Clone(table.Rows[:pageRows])}}
			first := reading.pageView(0, table.Rows[:pageRows], 0, nil)
			require.Contains(t, first.Loose, c.loose, "before a page is turned")
			require.Equal(t, c.loose == "", first.Loose == "")
			require.Empty(t, reading.pageView(0, table.Rows[:3], 0, nil).Loose, "there is one page")
			var pages []string
			for next := int64(pageRows); next >= 0; {
				v := testkit.Must(reading.turn(t.Context(), 0, next))(t)
				require.Equal(t, first.Loose, v.Loose)
				require.Equal(t, c.loose == "", strings.HasSuffix(v.Note, ", in the order of id"))
				text := fmt.Sprint(v.Offset, ": none")
				if n := len(v.Rows); n > 0 {
					text = fmt.Sprintf("%d: %s to %s", v.Offset, v.Rows[0][0], v.Rows[n-1][0])
					require.Equal(t, []string{"none"}, v.Empty)
					require.Equal(t, []int{0}, v.Fields, "a cell is one of the right field")
				}
				pages = append(pages, text)
				next = v.Next
			}
			require.Equal(t, c.pages, pages, c.why)
		})
	}
}

// TestTurnAgain fails to read a page. The buttons that lead on and back are still there.
func TestTurnAgain(t *testing.T) {
	var down atomic.Bool
	p := connectedPage(t, func(h http.Handler, w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			panic(http.ErrAbortHandler)
		}
		h.ServeHTTP(w, r)
	}, connectors.Planets())
	down.Store(true)
	for offset, buttons := range map[int]string{100: `"offset":50 "offset":100`, 0: `"offset":0`} {
		p.feed.clear()
		press(t, p.further, fmt.Sprintf(`{"table":0,"offset":%d}`, offset))
		patches, _ := p.feed.since(0)
		require.Len(t, patches, 1)
		require.Contains(t, patches[0].HTML, `class="note bad"`)
		require.Equal(t, buttons, strings.Join(regexp.MustCompile(`"offset":\d+`).FindAllString(patches[0].HTML, -1), " "))
	}
}

// TestAskFails asks for too many groups, of a connector that cannot be reached, and of one that
// stops within its answer. The page says it once, in words, and counts the requests.
func TestAskFails(t *testing.T) {
	var answer http.HandlerFunc // to a question
	p := connectedPage(t, func(h http.Handler, w http.ResponseWriter, r *http.Request) {
		if answer != nil && (r.URL.Path == wire.PathQuery || r.URL.Path == wire.PathAggregate) {
			answer(w, r)
			return
		}
		h.ServeHTTP(w, r)
	}, connectors.Planets())
	for _, c := range []struct {
		question, says string
		requests       int
		answer         http.HandlerFunc
	}{
		{`{"kind": "groups", "table": "planets", "measures": [{"fn": "count"}]}`, "answered unsupported: too many groups",
			3, // it is read again
			testkit.JSON(http.StatusUnprocessableEntity, `{"error":{"code":"unsupported","message":"too many groups"}}`)},
		{`{"kind": "rows", "table": "planets", "fields": ["name"]}`, "The connector cannot be reached: ", 1,
			func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		{`{"kind": "rows", "table": "planets", "fields": ["name"]}`, "The answer ended before it was complete. The connector may", 1,
			func(w http.ResponseWriter, r *http.Request) {
				testkit.NDJSON(`{"rows":[{"name":"Earth"}]}`+"\n")(w, r)
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}},
	} {
		answer = c.answer
		out := press(t, p.ask, c.question)
		parts := map[string]string{}
		for line := range strings.Lines(out.Body.String()) {
			var one part
			require.NoError(t, json.Unmarshal([]byte(line), &one))
			if !one.Append {
				parts[one.ID] = one.HTML
			}
		}
		require.Contains(t, parts["ask-rows"], c.says)
		require.NotContains(t, parts["ask-work"], c.says, "once is enough")
		require.Contains(t, parts["ask-work"], fmt.Sprintf("<dt>Requests</dt><dd>%d</dd>", c.requests))
		require.NotContains(t, parts["ask-work"], "Rows", "how many there would have been is not known")
		require.NotContains(t, parts["ask-rows"], "Save as CSV")
	}
}

// TestThousands groups the digits of numbers and decimals alike.
func TestThousands(t *testing.T) {
	for in, want := range map[string]string{
		"1": "1", "999": "999", "1000": "1,000", "-1000.50": "-1,000.50", "1234567.1234567": "1,234,567.1234567",
		"1e20": "1e20", "-0.001": "-0.001", "123456789012345678901234567890": "123,456,789,012,345,678,901,234,567,890",
	} {
		require.Equal(t, want, thousands(in))
	}
}
