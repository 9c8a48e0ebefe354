package restsource_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestNewNamesEveryFault at once, by table and place.
func TestNewNamesEveryFault(t *testing.T) {
	type table = restsource.Table
	type pages = restsource.Pages
	id := restsource.Column{Name: "id", Type: wire.TypeNumber}
	base := func(change func(*table)) []table {
		one := table{Name: "t", Pages: onePage, Path: "/t", Columns: []restsource.Column{id}}
		change(&one)
		return []table{one}
	}
	paged := func(p pages) []table { return base(func(t *table) { t.Pages = p }) }
	child := func(change func(*table)) []table {
		return append(shopTables()[:2:2], base(func(t *table) { t.Parent, t.Path = "orders", "/t/{id}"; change(t) })...)
	}
	column := func(c restsource.Column) []table {
		return base(func(t *table) { c.Name = "v"; t.Columns = []restsource.Column{c} })
	}
	filter := func(p restsource.Param) []table {
		return base(func(t *table) {
			p.Column, p.Name, t.Total = "at", "bound", "n"
			t.Columns, t.Filters = []restsource.Column{{Name: "at", Type: wire.TypeDatetime}}, []restsource.Param{p}
		})
	}
	changed := func(t table, change func(*table)) []table { change(&t); return []table{t} }
	window := func(change func(*table)) []table { return changed(eventsTable(), change) }
	parts := func(p restsource.Partitions) []table {
		return window(func(t *table) { p.Values = append(p.Values, "a"); t.Partitions = p })
	}
	list := func(change func(*table)) []table { return nestedTables(change)[:2] }
	query := func(text string) []table { return graphTables(func(tables []table) { tables[0].GraphQL = text })[:1] }
	export := func(change func(*table)) []table { return changed(exportTable("/x"), change) }
	endsBy := func(p pages) []table { p.EndStatus = 500; return paged(p) }
	resends := func(p pages) []table { p.Resends = true; return paged(p) }
	next := func([]byte, http.Header) (url.Values, bool, error) { return nil, false, nil }
	none := func(any) (wire.Value, error) { return wire.Null(), nil }
	const unstated = "say how /t pages; restsource.OnePage if one answer has everything"
	const zone, round = "Layouts", "Round is for gt, gte, lt and lte"
	for _, c := range []struct {
		tables []table
		want   []string
	}{
		{nil, []string{"there is no table"}},
		{append(base(func(*table) {}), base(func(*table) {})...), []string{"two of this name"}},
		{base(func(t *table) { t.Path = "t" }), []string{"path:"}},
		{base(func(t *table) { t.Path = "/t#a" }), []string{"path:"}},
		{base(func(t *table) { t.Path, t.Pages = "/numbers/{p}", numberPages }),
			[]string{`path: {p} is Pages.Param, which is sent as a query parameter`}},
		{base(func(t *table) {
			t.Path, t.Query, t.Columns, t.Key, t.Parent = "t?x=1", "a=%zz", nil, []string{"uid"}, "none"
		}),
			[]string{"path:", "query:", `parent: there is no table "none"`, "no columns", `key: there is no column "uid"`}},
		{base(func(t *table) {
			t.Columns = []restsource.Column{{Name: "a"}, {Name: "b", Type: "text"}, {Type: "string"}, id, id, {Name: "p", OfParent: "x"}}
		}), []string{`column "a"`, `column "b"`, "columns[2]", `columns[4]: another column is named "id"`, "needs a Parent"}},
		{base(func(t *table) { t.Sample = `{"rows": []}` }), []string{"sample: there is no list"}},
		{base(func(t *table) { t.Sample = `[1]` }), []string{"sample: its rows are not objects"}},
		{base(func(t *table) { t.Sample = `[{]` }), []string{"sample: "}},

		// Pages.
		{paged(sized(onePage, 1)), []string{"SizeParam and Size"}},
		{paged(sized(onePage, -2)), []string{"SizeParam and Size"}},
		{paged(sized(onePage, 0)), []string{"SizeParam and Size"}},
		{paged(pages{Param: "p"}), []string{unstated}},
		{paged(pages{HasMore: "m"}), []string{unstated}},
		{paged(pages{LastRowCursor: "a"}), []string{unstated}},
		{paged(pages{Next: "next"}), []string{unstated}},
		{paged(pages{Func: next}), []string{unstated}},
		{paged(pages{By: "pages", Size: 1}), []string{`no kind "pages"`, "SizeParam and Size"}},
		{paged(pages{By: restsource.PagingOffset}), []string{"needs Param"}},
		{paged(pages{By: restsource.PagingPage}), []string{"needs Param"}},
		{paged(pages{By: restsource.PagingCursor, Param: "p"}), []string{"either Next or LastRowCursor"}},
		{paged(pages{By: restsource.PagingCursor, Next: "a", LastRowCursor: "b"}), []string{"needs Param", "either Next or LastRowCursor"}},
		{paged(pages{By: restsource.PagingURL}), []string{"needs Next"}},
		{paged(pages{By: restsource.PagingFunc}), []string{"needs Func"}},
		{resends(numberPages), []string{"Resends is for cursors"}},
		{resends(offsetPages), []string{"Resends is for cursors"}},
		{resends(onePage), []string{"Resends is for cursors"}},
		{endsBy(cursorPages), []string{"EndStatus"}},
		{endsBy(numberPages), []string{"EndStatus"}},
		{endsBy(linkPages), []string{"EndStatus"}},

		// What is sent.
		{base(func(t *table) {
			t.Columns = append(t.Columns, restsource.Column{Name: "a", Type: wire.TypeArray}, restsource.Column{Name: "j", Type: wire.TypeJSON})
			t.Filters = []restsource.Param{{Column: "a", Op: wire.OpIncludes, Name: "a"}, {Column: "j", Op: wire.OpEq, Name: "j"}}
			t.Sorts = []restsource.Sort{{Column: "id", Desc: "sort=%zz"}}
		}), []string{"filters[0]: an operator", "filters[1]: an operator", "sorts[0]: Asc and Desc"}},
		{base(func(t *table) {
			t.Filters = []restsource.Param{{Column: "x", Op: wire.OpEq, Name: "x"}, {Column: "id", Op: wire.OpEq},
				{Column: "id", Op: wire.OpNeq, Name: "id"}, {Column: "id", Op: wire.OpEq, Name: "id", Exact: true}}
			t.Sorts = []restsource.Sort{{Column: "y"}, {Column: "id", Asc: "sort=%zz"}}
			t.ForeignKeys = []wire.ForeignKey{{Field: "z", TargetTable: "u", TargetField: "id"}}
		}), []string{"filters[0]", "filters[1]", "filters[2]", "filters[3]", "sorts[0]", "sorts[1]", `foreignKeys[0]: there is no column "z"`,
			`no column "id" in a table "u"`}},
		{base(func(t *table) { t.ForeignKeys = []wire.ForeignKey{{Field: "id", TargetTable: "t", TargetField: "z"}} }),
			[]string{`no column "z" in a table "t"`}},
		{base(func(t *table) {
			t.Query, t.Filters = "id=1", []restsource.Param{{Column: "id", Op: wire.OpEq, Name: "id"}}
		}),
			[]string{`sends the parameter "id" already`}},
		{filter(restsource.Param{Op: wire.OpEq, Round: time.Second}), []string{round}},
		{filter(restsource.Param{Op: wire.OpGte, Round: -time.Second}), []string{round}},
		{filter(restsource.Param{Op: wire.OpGte, Round: time.Second, Exact: true}), []string{round}},
		{changed(issuesTable(), func(t *table) { t.SearchParam = "" }), []string{"belong together"}},

		// Times.
		{column(restsource.Column{Type: wire.TypeDatetime, Layouts: []string{time.DateTime}}), []string{"Zone"}},
		{column(restsource.Column{Type: wire.TypeDatetime, Zone: time.UTC, Layouts: []string{time.RFC1123}}), []string{"has the name of a zone"}},
		{column(restsource.Column{Type: wire.TypeString, Layouts: []string{time.DateOnly}}), []string{zone}},
		{column(restsource.Column{Type: wire.TypeDate, Unix: time.Second}), []string{"Unix"}},
		{column(restsource.Column{Type: wire.TypeDatetime, Zone: time.UTC}), []string{"Zone"}},
		{column(restsource.Column{Type: wire.TypeDatetime, Unix: time.Second, Convert: none}), []string{"Convert"}},

		// A table below another.
		{base(func(t *table) { t.Parent = "t" }), []string{"its own parent"}},
		{child(func(t *table) {
			t.Sorts = []restsource.Sort{{Column: "id", Asc: "sort=id"}}
			t.Columns = append(t.Columns, restsource.Column{Name: "o", OfParent: "id"}, restsource.Column{Name: "x", OfParent: "y"})
			t.Filters = []restsource.Param{{Column: "o", Op: wire.OpEq, Name: "o"}}
		}), []string{"neither Sorts nor Total", `the parent has no column "y"`, "declare the filter there"}},
		{child(func(t *table) { t.TotalHeader = "X" }), []string{"neither Sorts nor Total"}},
		{child(func(t *table) { t.Path, t.Total = "/t", "total" }), []string{"no {column} of the parent", "neither Sorts nor Total"}},

		// Partitions, windows and exports.
		{parts(restsource.Partitions{}), []string{"say what the values change"}},
		{parts(restsource.Partitions{Values: []string{"a"}, Param: "p"}), []string{"twice"}},
		{parts(restsource.Partitions{Param: "p", Column: "q"}), []string{`no column "q"`}},
		{parts(restsource.Partitions{Param: "p", Column: "id"}), []string{"does not fit"}},
		{parts(restsource.Partitions{Paths: []string{"/x", "/y"}}), []string{"one path for each"}},
		{window(func(t *table) { t.Window.Column = "id" }), []string{"datetime or date"}},
		{window(func(t *table) { t.Window.Since = time.Time{} }), []string{"needs From, To, Since"}},
		{window(func(t *table) { t.Query = "to=now" }), []string{"also that of a filter or of Query"}},
		{window(func(t *table) { t.Sorts = []restsource.Sort{{Column: "id", Asc: "s=id"}} }), []string{"an order of its own"}},
		{export(func(t *table) { t.Path = "/t" }), []string{"job: "}},
		{export(func(t *table) { t.Job.Done = nil }), []string{"job: "}},
		{export(func(t *table) { t.Job.Status = "" }), []string{"job: "}},
		{export(func(t *table) { t.Job.Download = "" }), []string{"job: "}},
	} {
		_, err := restsource.New(shopAPI, c.tables, nil)
		requireFaults(t, err, c.want)
	}
	for _, c := range []struct { // other faults may follow from these
		tables []table
		want   string
	}{
		// A list in the rows of another.
		{list(func(t *table) { t.Rows = "" }), "Rows is the list in each row"},
		{list(func(t *table) { t.Rows = "lines[].taxes" }), "a list in a list is a table"},
		{list(func(t *table) { t.Query = "a=b" }), "Query, Body"},
		{list(func(t *table) { t.Pages = linkPages }), "with the parent's pages"},
		{list(func(t *table) { t.Filters = []restsource.Param{{Column: "sku", Op: wire.OpEq, Name: "x"}} }),
			"they are declared at the parent"},
		{list(func(t *table) { t.Parent, t.Path, t.Rows = "", "/lines", "data[].lines" }), "a list in each row is a table of its own"},
		{list(func(t *table) { t.Path = "/orders/{id}/lines" }), "Position is for a table whose rows are in"},
		{list(func(t *table) { t.Path, t.AbsentIsEmpty = "/orders/{id}/lines", true }), "AbsentIsEmpty is for a table"},
		{list(func(t *table) { t.Path, t.Columns[3].Path = "/orders/{id}/lines", "." }),
			`the Path "." is for a table whose rows are in`},
		{list(func(t *table) { t.Columns[2].Path = "x" }), "stands alone"},
		{list(func(t *table) { t.Total = "total" }), "neither Sorts nor Total"},
		{list(func(t *table) { t.Body = func(url.Values) ([]byte, error) { return nil, nil } }), "Unwrap are the parent's"},

		// Queries that cannot be read, or do not fit the table.
		{query(`query { orders { id } }`), `it has no "*"`},
		{query(`query { orders { * } customers { * } }`), `more than once`},
		{query(`query { orders { * }`), "a brace is not closed"},
		{query(`query { orders(a: "}" { * } }`), "a bracket is not closed"},
		{query(`query { orders { * } } }`), "a brace is closed that is not open"},
		{query(`query($first Int) { orders { * } }`), "a variable is declared like"},
		{query(`query { orders & { * } }`), `unexpected "&"`},
		{query(`query { * }`), "in the selection of a field"},
		{query(`query { orders(first: 10) { nodes { * } } }`), "a connection has pages"},
		{query(`query { orders { edges { node { * } } } }`), "a connection has pages"},
		{query(`query($after: String) { orders(after: $after) {nodes{*}} }`), "declares no variable $state"},
		{query(strings.Replace(ordersQuery, "[ID!]", "ID!", 1)), "takes one value"},
		{graphTables(func(tables []table) { tables[1].GraphQL, tables[1].Rows = "", "lines" }),
			"the parent's query has to ask for the list"},
		{graphTables(func(tables []table) { tables[2].GraphQL = `query($x: ID) { notes(x: $x) { * } }` }),
			"every row of the parent would have the same endpoint"},
	} {
		_, err := restsource.New(shopAPI, c.tables, nil)
		assert.ErrorContains(t, err, c.want)
	}
	for _, c := range []struct {
		api  restsource.API
		want []string
	}{
		{restsource.API{Base: "api.example", Check: "me"}, []string{"API.Check", "API.Base"}},
		{restsource.API{Base: "https://user@api.example"}, []string{"API.Base"}},
		{restsource.API{Base: "https://api.example/?a=b"}, []string{"API.Base"}},
		{restsource.API{Base: "https://api.example/#a"}, []string{"API.Base"}},
		{restsource.API{Base: "https:///v1"}, []string{"API.Base"}},
		{restsource.API{Base: "ftp://api.example"}, []string{"API.Base"}},
		{restsource.API{Base: "{url}/v1"}, []string{"API.Base"}},
		{restsource.API{Base: shopAPI.Base, Hosts: []string{"*", "*.com", "x.*.com", "a.*", "https://x.example", "u@x.example"}},
			slices.Repeat([]string{"API.Hosts"}, 6)},
	} {
		_, err := restsource.New(c.api, base(func(t *table) { t.Name = "" }), nil)
		requireFaults(t, err, append(c.want, "it has no name"))
	}
}

// requireFaults requires an error that has these texts, in a line each.
func requireFaults(t *testing.T, err error, want []string) {
	t.Helper()
	require.Error(t, err, "%s", want)
	for _, text := range want {
		assert.Contains(t, err.Error(), text)
	}
	assert.Len(t, strings.Split(err.Error(), "\n"), len(want), "%s", err)
}
