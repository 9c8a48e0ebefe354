package restsource_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// search writes the filters on status and priority as one expression.
func search(filters []wire.Filter) (string, []bool) {
	took := make([]bool, len(filters))
	var terms []string
	for i, f := range filters {
		op, ok := map[wire.Op]string{wire.OpEq: "=", wire.OpGte: ">="}[f.Op]
		if took[i] = ok && (f.Field == "status" || f.Field == "priority"); took[i] {
			terms = append(terms, fmt.Sprintf("%s %s %q", f.Field, op, f.Value.String()))
		}
	}
	return strings.Join(terms, " AND "), took
}

// issues is an API with one expression of filters. It does not know some fields.
func issues(unknown string, applies bool) *emulated {
	return &emulated{answer: func(r *http.Request) (int, string) {
		jql := r.URL.Query().Get("jql")
		if unknown != "" && strings.Contains(jql, unknown) {
			return 400, `{"errorMessages": ["Field '` + unknown + `' does not exist"]}`
		}
		var rows []string
		for i := range 12 {
			status := []string{"open", "done", "void"}[i%3]
			match := true
			for _, term := range strings.Split(jql, " AND ") {
				field, rest, _ := strings.Cut(term, " ")
				op, quoted, _ := strings.Cut(rest, " ")
				value, _ := strconv.Unquote(quoted)
				n, err := strconv.ParseFloat(value, 64)
				switch {
				case !applies || jql == "":
				case field == "status":
					match = match && value == status
				case err != nil:
					return 400, `{"errorMessages": ["a number is needed"]}`
				default:
					match = match && (float64(i) == n || op == ">=" && float64(i) > n)
				}
			}
			if match && (r.URL.Query().Get("team") == "" || r.URL.Query().Get("team") == fmt.Sprint(i%2)) {
				rows = append(rows, fmt.Sprintf(`{"id": %d, "status": %q, "priority": %d, "team": "%d"}`, i, status, i, i%2))
			}
		}
		return 200, fmt.Sprintf(`{"issues": [%s], "total": 12}`, strings.Join(rows, ","))
	}}
}

func issuesTable() restsource.Table {
	return restsource.Table{
		Name: "issues", Pages: onePage, Path: "/search", Rows: "issues", Key: []string{"id"}, Search: search, SearchParam: "jql",
		Columns: append(columns(wire.TypeNumber, "id", "priority"), columns(wire.TypeString, "status", "team")...),
		Filters: []restsource.Param{{Column: "team", Op: wire.OpEq, Name: "team"}},
	}
}

// TestSearch: several filters are one expression, as turbot/steampipe-plugin-jira#46 and
// turbot/steampipe-plugin-github#171 ask for; one that is wrong costs a request and no row,
// where it failed the query in turbot/steampipe-plugin-jira#145.
func TestSearch(t *testing.T) {
	table := issuesTable()
	open := cond("status", wire.OpEq, wire.Text(`open`))
	for _, c := range []struct {
		name  string
		api   *emulated
		and   []wire.Filter
		rows  int
		asked []string
	}{
		{"two filters", issues("", true), []wire.Filter{open, cond("priority", wire.OpGte, wire.Int(0))}, 4,
			[]string{"GET /search?jql=status+%3D+%22open%22+AND+priority+%3E%3D+%220%22"}},
		{"one that it takes, one that a parameter takes, and one that nobody does", issues("", true),
			[]wire.Filter{cond("id", wire.OpNeq, wire.Int(0)), cond("team", wire.OpEq, wire.Text("0")), open}, 1,
			[]string{"GET /search?jql=status+%3D+%22open%22&team=0"}},
		{"a field that the API does not know", issues("priority", true), []wire.Filter{cond("priority", wire.OpGte, wire.Int(0)), open}, 4,
			[]string{"GET /search?jql=priority+%3E%3D+%220%22+AND+status+%3D+%22open%22", "GET /search"}},
		{"none", issues("", true), nil, 12, []string{"GET /search"}},
		{"a text that is very long", issues("", true), []wire.Filter{cond("status", wire.OpEq, wire.Text(strings.Repeat("x", 3000)))}, 0,
			[]string{"GET /search"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tenant := serve(t, shopAPI, []restsource.Table{table}, handlerTransport{c.api})
			rows, err := read(t, tenant, "issues", c.and, "id")
			require.NoError(t, err)
			assert.Len(t, rows, c.rows)
			assert.Equal(t, c.asked, c.api.requests())
		})
	}
	graded(t, issues("", true), nil, table)
	found, err := serve(t, shopAPI, []restsource.Table{table}, handlerTransport{issues("", false)}).Discover()
	require.NoError(t, err)
	assert.Contains(t, strings.Join(found.Warnings, "\n"), `does not apply the parameter "jql"`)
	table.SearchParam = ""
	_, err = restsource.New(shopAPI, []restsource.Table{table}, nil)
	require.ErrorContains(t, err, "belong together")
}
