package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/planets"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

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
			table := memsource.Table{Table: wire.Table{Name: "t", StoresRows: true,
				Fields: []wire.Field{{Name: "id", Type: wire.TypeNumber}, {Name: "none", Type: wire.TypeString, Nullable: true}}}}
			c.key(&table.Table)
			for _, id := range c.ids {
				table.Rows = append(table.Rows, []wire.Value{wire.Int(int64(id)), wire.Null()})
			}
			client, stop := platform.InProcess(planets.Handler(token, planets.Source(table)))
			defer stop()
			own, err := platform.NewClient("https://t.test", wire.NewBearer(token), &platform.Options{HTTP: client})
			require.NoError(t, err)
			connection, err := platform.Connect(t.Context(), own, wire.Credentials{}, nil)
			require.NoError(t, err)
			connection.Document.Capabilities.Sort = c.sort
			reading := &connected{Connection: connection, first: map[int][][]wire.Value{0: slices.Clone(table.Rows[:pageRows])}}
			first := reading.pageView(0, table.Rows[:pageRows], 0, nil)
			require.Contains(t, first.Loose, c.loose, "before a page is turned")
			require.Equal(t, c.loose == "", first.Loose == "")
			require.Empty(t, reading.pageView(0, table.Rows[:3], 0, nil).Loose, "there is one page")
			var pages []string
			for next := int64(pageRows); next >= 0; {
				v, err := reading.turn(t.Context(), 0, next)
				require.NoError(t, err)
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
	client, stop := platform.InProcess(planets.Handler(token, planets.Source(planets.Table())))
	own, err := platform.NewClient("https://t.test", wire.NewBearer(token), &platform.Options{HTTP: client})
	require.NoError(t, err)
	connection, err := platform.Connect(t.Context(), own, wire.Credentials{}, nil)
	require.NoError(t, err)
	stop()
	p := testPage(t)
	p.connection.Store(&connected{Connection: connection})
	for offset, buttons := range map[int]string{100: `"offset":50 "offset":100`, 0: `"offset":0`} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/rows", strings.NewReader(fmt.Sprintf(`{"table":0,"offset":%d}`, offset)))
		p.further(httptest.NewRecorder(), r)
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
	h := planets.Handler(token, planets.Source(planets.Table()))
	client, stop := platform.InProcess(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answer != nil && (r.URL.Path == wire.PathQuery || r.URL.Path == wire.PathAggregate) {
			answer(w, r)
			return
		}
		h.ServeHTTP(w, r)
	}))
	defer stop()
	own, err := platform.NewClient("https://t.test", wire.NewBearer(token), &platform.Options{HTTP: client})
	require.NoError(t, err)
	connection, err := platform.Connect(t.Context(), own, wire.Credentials{}, nil)
	require.NoError(t, err)
	p := testPage(t)
	p.connection.Store(&connected{Connection: connection})
	for _, c := range []struct {
		question, says string
		requests       int
		answer         http.HandlerFunc
	}{
		{`{"kind": "groups", "table": "planets", "measures": [{"fn": "count"}]}`, "answered unsupported: too many groups",
			3, // it is read again
			func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusUnprocessableEntity)
				_, _ = io.WriteString(w, `{"error":{"code":"unsupported","message":"too many groups"}}`)
			}},
		{`{"kind": "rows", "table": "planets", "fields": ["name"]}`, "The connector cannot be reached: ", 1,
			func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		{`{"kind": "rows", "table": "planets", "fields": ["name"]}`, "The answer ended before it was complete. The connector may", 1,
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", terms.MediaNDJSON)
				_, _ = io.WriteString(w, `{"rows":[{"name":"Earth"}]}`+"\n")
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}},
	} {
		answer = c.answer
		out := httptest.NewRecorder()
		p.ask(out, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/ask", strings.NewReader(c.question)))
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
