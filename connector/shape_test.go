package connector_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/verdicts"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// edit replaces a part of a route's good body.
func edit(t testing.TB, path, old, new string) string {
	t.Helper()
	body := good(path)
	require.Equal(t, 1, strings.Count(body, old), "%s in %s", old, body)
	return strings.Replace(body, old, new, 1)
}

// TestVerdicts sends each body of wire/testdata/verdicts that is not a request of its
// route. What is wrong with each stands there.
func TestVerdicts(t *testing.T) {
	s := serve(t, testkit.Full{Described: testkit.Described{Endpoints: testkit.Endpoints{}}, Speaker: testkit.Speaker{Name: "ansi"}}, nil)
	for folder, path := range map[string]string{
		"check-request": "/check", "discovery-request": "/discovery", "query-request": "/query", "sql-request": "/query",
		"count-request": "/count", "aggregate-request": "/aggregate", "size-request": "/size",
		"cardinality-request": "/cardinality", "link-hit-rate-request": "/linkHitRate",
	} {
		refused := 0
		for _, c := range verdicts.Read(t, filepath.Join("../wire/testdata/verdicts", folder)) {
			if !c.Valid {
				refused++
				t.Run(folder+" "+c.Why, func(t *testing.T) { s.post(path, string(c.Message())).refuses(t, 400, wire.CodeBadRequest, "*") })
			}
		}
		assert.Positive(t, refused, folder)
	}
	s.alive()
	assert.Empty(t, s.log.String(), "a bad body is no event for the host's log")
}

// TestUnadvertised checks that legal requests for what the document never
// promised are 422, and that no source sees them.
func TestUnadvertised(t *testing.T) {
	const hop = `"joins":[{"fromTable":"items","toTable":"b","fromField":"id","toField":"id",` +
		`"fields":[{"field":"x"}]}]`
	type plain struct {
		testkit.Source
		testkit.Aggregator
	}
	never := plain{
		testkit.Source{OnQuery: func(context.Context, *connector.Query, *connector.Rows) error {
			panic("the source saw it")
		}},
		func(context.Context, *wire.AggregateRequest) ([][]wire.Value, error) { panic("the source saw it") },
	}
	grainsOmitted := &connector.Options{Omit: connector.Omit{DateBucket: true}}
	joinsOmitted := &connector.Options{Omit: connector.Omit{Join: true, DateBucket: true, Dialect: true}}
	all := testkit.Full{Described: testkit.Described{Endpoints: testkit.Endpoints{Source: never.Source, Aggregator: never.Aggregator}},
		Speaker: testkit.Speaker{Name: "postgres"}}
	for _, c := range []struct{ why, path, body, message string }{
		{"query-7: joins", "/query", edit(t, "/query", `"and":[]`, `"and":[],`+hop),
			"joins: this connector executes no joins (join is false)"},
		{"aggregate-6: joins reach an aggregating source only if it joins at all", "/aggregate",
			edit(t, "/aggregate", `"and":[]`, `"and":[],`+hop),
			"joins: this connector executes no joins (join is false)"},
		{"aggregate-4: a grain", "/aggregate",
			edit(t, "/aggregate", `"groupBy":[]`, `"groupBy":[{"field":"id","as":"d","grain":"month"}]`),
			"groupBy: this connector accepts no grain (dateBucket is false)"},
		{"stream-9: SQL where there is no dialect", "/query", `{"sql":"select '` + canary + `'","params":[],` + tail,
			"sql: this connector takes no SQL (its document has no dialect)"},
	} {
		t.Run(c.why, func(t *testing.T) {
			for _, s := range []*site{serve(t, never, grainsOmitted), serve(t, all, joinsOmitted)} {
				a := s.post(c.path, c.body)
				a.refuses(t, 422, wire.CodeUnsupported, c.message)
				s.keepsSecrets(a)
				s.alive()
			}
		})
	}
	s := serve(t, testkit.Source{}, nil)
	assert.Equal(t, 200, s.post("/query", edit(t, "/query", `"and":[]`, `"and":[],"joins":[]`)).status,
		"query-7: an empty array is fine")
}

// TestUnknownNames checks that what the data lacks is refused by name, before
// any row. The names are those of testdata/names.tsv.
func TestUnknownNames(t *testing.T) {
	withDescriber := serve(t, testkit.Described{}, nil)
	without := serve(t, testkit.Endpoints{}, nil)
	for _, c := range testkit.Table(t, "testdata/names.tsv", 7) {
		t.Run(c[1]+" "+c[0], func(t *testing.T) {
			body := edit(t, c[1], c[2], c[3])
			var status int
			var code wire.Code
			testkit.Must(fmt.Sscan(c[4], &status, &code))(t)
			a := withDescriber.post(c[1], body)
			a.refuses(t, status, code, c[5])
			withDescriber.keepsSecrets(a)
			if c[6] == "both" {
				without.post(c[1], body).refuses(t, status, code, c[5])
			}
		})
	}
	withDescriber.alive()
	without.alive()
	for _, body := range []string{
		edit(t, "/aggregate", `"groupBy":[]`, `"groupBy":[{"field":"sealed","as":"s"}]`),
		edit(t, "/aggregate", `{"fn":"count","as":"n"}`, `{"fn":"max","field":"sealed","as":"n"}`),
	} {
		a := withDescriber.post("/aggregate", body)
		assert.Equal(t, 204, a.status, "aggregate-7: what may not be grouped or aggregated is declined")
		assert.Empty(t, a.body)
		assert.Equal(t, "no-store", a.header.Get("Cache-Control"))
		assert.Empty(t, a.header.Get("Content-Type"))
	}
}

// TestNamesAreBounded checks that a name in a message is cut, so that no body
// comes back whole.
func TestNamesAreBounded(t *testing.T) {
	long := strings.Repeat("ä\\u0001", 10_000)
	for _, c := range []struct{ path, old, new string }{
		{"/query", `["id"]`, `["` + long + `"]`},
		{"/query", `"sort":[]`, `"sort":[{"field":"` + long + `","dir":"asc"}]`},
		{"/query", `"and":[]`, `"and":[{"field":"` + long + `","op":"isnull"}]`},
		{"/query", `"items"`, `"` + long + `"`},
		{"/cardinality", `["id"]`, `["` + long + `"]`},
	} {
		for _, src := range []connector.Source{testkit.Endpoints{}, testkit.Described{}} {
			a := serve(t, src, nil).post(c.path, edit(t, c.path, c.old, c.new))
			if a.status == 200 && c.path == "/cardinality" {
				continue // without a Describer a column is what its answer calls it
			}
			assert.Contains(t, []int{404, 422}, a.status)
			assert.Less(t, len(a.body), 10_000, "%s %s", c.path, c.old)
		}
	}
}

// FuzzRequest checks that whatever a body holds, the answer is a clean one: the
// route's own, or an envelope below 500.
func FuzzRequest(f *testing.F) {
	for i, r := range routes {
		f.Add(uint8(i), r.body)
		f.Add(uint8(i), r.body[:len(r.body)-1]+`,"x":[{"y":null}]}`)
	}
	f.Add(uint8(2), query(hopQuery))
	f.Add(uint8(2), query(`"and":[{"field":"price","op":"gte","value":"1e5"}],"or":[[],[{"field":"name","op":"in",`+
		`"values":["pen",null]}]],"sort":[{"field":"price","dir":"desc"}],"fields":["id","price"],"limit":2,`+
		`"offset":1`))
	f.Add(uint8(2), sqlBody)
	f.Add(uint8(4), strings.Replace(good("/aggregate"), `"groupBy":[]`,
		`"groupBy":[{"field":"id","as":"d","grain":"day"}]`, 1))
	src := testkit.Full{Speaker: testkit.Speaker{Name: "ansi"}}
	src.Joiner = func(_ context.Context, req *connector.Query, out *connector.Rows) error {
		columns := items().Columns()
		for i, j := range req.Joins {
			for _, field := range j.Fields {
				columns = append(columns, wire.Column{Name: field.As, Hop: i + 1})
			}
		}
		return out.Begin(columns).Row(make([]wire.Value, len(columns))...)
	}
	h := newHandler(f, src, nil)
	f.Fuzz(func(t *testing.T, route uint8, body string) {
		w := direct(h, routes[int(route)%len(routes)].path, body)
		switch {
		case w.Code == 408:
			t.Skip("the body asks for a millisecond")
		case w.Code >= 500:
			t.Fatalf("%d %s", w.Code, w.Body)
		case w.Code >= 400:
			var e wire.ErrorAnswer
			if err := wire.Decode(w.Body.Bytes(), &e); err != nil {
				t.Fatalf("%v: %s", err, w.Body)
			}
			if w.Body.Len() > 8<<10 || e.Error.Code.Status() != w.Code {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
		case w.Code != 200 && w.Code != 204:
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	})
}
