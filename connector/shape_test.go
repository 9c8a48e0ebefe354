package connector_test

import (
	"context"
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
// any row.
func TestUnknownNames(t *testing.T) {
	const (
		noTable = `no table "nothing"`
		noField = `table "items" has no field "nothing"`
		hop     = `"joins":[{"fromTable":"items","toTable":"items","fromField":"id","toField":"id",` +
			`"fields":[{"field":"name","as":"x"}]}`
	)
	filter := func(field string) string {
		return `"and":[{"field":"` + field + `","op":"eq","value":"` + canary + `"}]`
	}
	cases := []struct {
		why, path, old, new string
		status              int
		code                wire.Code
		message             string
		blind               bool // it is told without a Describer too
	}{
		{"error-5: an unknown table", "/query", `"items"`, `"nothing"`, 404, wire.CodeUnknownEntity, noTable, true},
		{"filter-11: in fields", "/query", `["id"]`, `["id","nothing"]`, 404, wire.CodeUnknownEntity, noField, true},
		{"filter-11: in sort", "/query", `"sort":[]`, `"sort":[{"field":"nothing","dir":"asc"}]`, 404,
			wire.CodeUnknownEntity, noField, true},
		{"filter-11: in a filter", "/query", `"and":[]`, filter("nothing"), 422, wire.CodeUnsupported,
			`table "items" has no field "nothing" to filter by`, true},
		{"filter-11: in a group of or", "/query", `"and":[]`,
			`"and":[],"or":[[{"field":"id","op":"notnull"}],[{"field":"nothing","op":"isnull"}]]`, 422,
			wire.CodeUnsupported, `table "items" has no field "nothing" to filter by`, true},
		{"filter-11: names are exact", "/query", `["id"]`, `["ID"]`, 404, wire.CodeUnknownEntity,
			`table "items" has no field "ID"`, true},
		{"filter-11: the empty name", "/query", `["id"]`, `[""]`, 404, wire.CodeUnknownEntity,
			`table "items" has no field ""`, true},
		{"aggregate-7: a field that is not filterable", "/query", `"and":[]`, filter("sealed"), 422,
			wire.CodeUnsupported, `field "sealed" of table "items" is not filterable`, false},

		{"measure-3: an unknown table anywhere", "/count", `"items"`, `"nothing"`, 404, wire.CodeUnknownEntity, noTable, false},
		{"filter-11: in a filter of /count", "/count", `"and":[]`, filter("nothing"), 422,
			wire.CodeUnsupported, `table "items" has no field "nothing" to filter by`, false},
		{"aggregate-7", "/count", `"and":[]`, filter("sealed"), 422, wire.CodeUnsupported,
			`field "sealed" of table "items" is not filterable`, false},

		{"measure-3", "/aggregate", `"items"`, `"nothing"`, 404, wire.CodeUnknownEntity, noTable, false},
		{"filter-11: in groupBy", "/aggregate", `"groupBy":[]`, `"groupBy":[{"field":"nothing","as":"g"}]`, 404,
			wire.CodeUnknownEntity, noField, false},
		{"filter-11: in a measure", "/aggregate", `{"fn":"count","as":"n"}`,
			`{"fn":"sum","field":"nothing","as":"n"}`, 404, wire.CodeUnknownEntity, noField, false},
		{"filter-11: in a filter", "/aggregate", `"and":[]`, filter("nothing"), 422, wire.CodeUnsupported,
			`table "items" has no field "nothing" to filter by`, false},
		{"aggregate-7", "/aggregate", `"and":[]`, filter("sealed"), 422, wire.CodeUnsupported,
			`field "sealed" of table "items" is not filterable`, false},
		{"filter-11: an unknown field is told although another may only be declined", "/aggregate", `"groupBy":[]`,
			`"groupBy":[{"field":"sealed","as":"s"},{"field":"nothing","as":"g"}]`, 404, wire.CodeUnknownEntity, noField, false},

		{"measure-3", "/size", `"items"`, `"nothing"`, 404, wire.CodeUnknownEntity, noTable, false},
		{"measure-3", "/cardinality", `"items"`, `"nothing"`, 404, wire.CodeUnknownEntity, noTable, false},
		{"measure-3", "/cardinality", `["id"]`, `["id","nothing"]`, 404, wire.CodeUnknownEntity, noField, false},
		{"measure-3", "/linkHitRate", `"fromTable":"items"`, `"fromTable":"nothing"`, 404, wire.CodeUnknownEntity, noTable, false},
		{"measure-3", "/linkHitRate", `"fromColumn":"id"`, `"fromColumn":"nothing"`, 404, wire.CodeUnknownEntity, noField, false},
		{"measure-3", "/linkHitRate", `"toTable":"items"`, `"toTable":"nothing"`, 404, wire.CodeUnknownEntity, noTable, false},
		{"measure-3", "/linkHitRate", `"toColumn":"id"`, `"toColumn":"nothing"`, 404, wire.CodeUnknownEntity, noField, false},

		{"filter-11: a hop's table", "/query", `"and":[]`,
			`"and":[],` + strings.Replace(hop, `"toTable":"items"`, `"toTable":"nothing"`, 1) + `]`, 404,
			wire.CodeUnknownEntity, noTable, false},
		{"filter-11: a hop's key", "/query", `"and":[]`,
			`"and":[],` + strings.Replace(hop, `"toField":"id"`, `"toField":"nothing"`, 1) + `]`, 404,
			wire.CodeUnknownEntity, noField, false},
		{"filter-11: the key it starts from", "/query", `"and":[]`,
			`"and":[],` + strings.Replace(hop, `"fromField":"id"`, `"fromField":"nothing"`, 1) + `]`, 404,
			wire.CodeUnknownEntity, noField, false},
		{"filter-11: a hop's field, by its own name", "/query", `"and":[]`,
			`"and":[],` + strings.Replace(hop, `"field":"name"`, `"field":"nothing"`, 1) + `]`, 404,
			wire.CodeUnknownEntity, noField, true},
		{"query-6: a hop from a table that two hops reached", "/query", `"and":[]`,
			`"and":[],` + hop + `,` + strings.TrimPrefix(strings.Replace(hop, `"as":"x"`, `"as":"y"`, 1),
				`"joins":[`) + `,` + strings.TrimPrefix(strings.Replace(hop, `"as":"x"`, `"as":"z"`, 1),
				`"joins":[`) + `]`, 422, wire.CodeUnsupported,
			`joins[2].fromTable: two hops lead to table "items", so it is not clear which is meant`, true},
	}
	withDescriber := serve(t, testkit.Described{}, nil)
	without := serve(t, testkit.Endpoints{}, nil)
	for _, c := range cases {
		t.Run(c.path+" "+c.why, func(t *testing.T) {
			body := edit(t, c.path, c.old, c.new)
			a := withDescriber.post(c.path, body)
			a.refuses(t, c.status, c.code, c.message)
			withDescriber.keepsSecrets(a)
			if c.blind {
				without.post(c.path, body).refuses(t, c.status, c.code, c.message)
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
