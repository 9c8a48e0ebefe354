package restsource_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// cond is short for the rows of a table.
var cond = cells.Filter

var descending = []wire.SortKey{{Field: "id", Dir: wire.Desc}}

// filtersOf returns filters by words, with their values as package cells reads them: `status eq "paid" and id in 1 2`.
func filtersOf(t *testing.T, text string) (all []wire.Filter) {
	t.Helper()
	for words := range strings.SplitSeq(unfold(text), " and ") {
		if field, rest, ok := strings.Cut(strings.TrimSpace(words), " "); ok {
			op, values, _ := strings.Cut(rest, " ")
			all = append(all, cond(field, wire.Op(op), cells.Row(t, values)...))
		}
	}
	return all
}

// whereOf returns the filters of filtersOf, and those behind each OR as a group of an or.
func whereOf(t *testing.T, text string) (w wire.Where) {
	t.Helper()
	and, or, any := strings.Cut(" "+text, " OR ")
	w.And = filtersOf(t, and)
	for group := range strings.SplitSeq(or, " OR ") {
		if any {
			w.Or = append(w.Or, filtersOf(t, group))
		}
	}
	return w
}

// asks adds to a request what words say: "sort=-id,total from=12 limit=3".
func asks(req wire.QueryRequest, words string) wire.QueryRequest {
	for word := range strings.FieldsSeq(words) {
		name, value, _ := strings.Cut(word, "=")
		n, _ := strconv.ParseInt(value, 10, 64)
		switch name {
		case "from":
			req.Offset = n
		case "limit":
			req.Limit = n
		case "sort":
			for field := range strings.SplitSeq(value, ",") {
				key := wire.SortKey{Field: strings.TrimPrefix(field, "-"), Dir: wire.Asc}
				if key.Field != field {
					key.Dir = wire.Desc
				}
				req.Sort = append(req.Sort, key)
			}
		}
	}
	return req
}

// TestPush checks what reaches the API, and that the answer is right whatever does.
// Each answer is verified against a plain read of the table.
func TestPush(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/pushed.tsv", 4) {
		t.Run(c[0], func(t *testing.T) {
			api := newShop()
			tenant := asTenant(t, api, declared("shop"))
			req := asks(wire.QueryRequest{Table: "orders", Where: whereOf(t, c[1]), Fields: []string{"id", "status", "created"}}, c[2])
			answer := testkit.Must(tenant.Unverified().Query(req))(t)
			want, got := strings.Fields(c[3]), []string(nil)
			split := func(query string) (offset int, rest string) {
				values := testkit.Must(url.ParseQuery(query))(t)
				offset = testkit.Must(strconv.Atoi(values.Get("offset")))(t)
				values.Del("offset")
				return offset, values.Encode()
			}
			for _, query := range api.takeQueries() {
				// Whether a page behind those that the limit needs still reaches the API when the limit ends the read is a matter of time.
				if req.Limit == 0 || slices.ContainsFunc(want, func(needed string) bool {
					offset, rest := split(query)
					other, same := split(needed)
					return other >= offset || same != rest
				}) {
					got = append(got, query)
				}
			}
			assert.ElementsMatch(t, want, got)
			assert.True(t, answer.Served.Filters)
			testkit.Must(tenant.Query(req))(t)
		})
	}
}

// TestIgnored: an API that ignores what it was asked, or refuses it, gives no wrong answer, and discovery warns of it.
func TestIgnored(t *testing.T) {
	unsorted := []string{`Table "orders": the API does not sort by "id" as it should, so rows are sorted after reading all of them.`}
	turned := func(direction, other string) func(*http.Request) string {
		return func(r *http.Request) string {
			if query := r.URL.Query(); query.Get("sort") == direction {
				query.Set("sort", other)
				r.URL.RawQuery = query.Encode()
			}
			return ""
		}
	}
	controls := []string{"status", "created_after", "paid", "sort"}
	for _, c := range []struct {
		name     string
		change   func(*http.Request) string
		warnings []string
	}{
		{"applied", func(*http.Request) string { return "" }, nil},
		{"ascending is descending", turned("id", "-id"), unsorted},
		{"descending is ascending", turned("-id", "id"), unsorted},
		{"ignored", func(r *http.Request) string {
			query := r.URL.Query()
			for _, param := range controls {
				query.Del(param)
			}
			r.URL.RawQuery = query.Encode()
			return ""
		}, []string{
			`Table "orders": the API does not apply the parameter "status", so filters on "status" are applied after reading all rows.`,
			`Table "orders": the API does not apply the parameter "created_after", so filters on "created" are applied after reading all rows.`,
			`Table "orders": the API does not apply the parameter "paid", so filters on "paid" are applied after reading all rows.`,
			unsorted[0],
		}},
		{"refused", func(r *http.Request) string {
			if slices.ContainsFunc(controls, r.URL.Query().Has) {
				return `400 {"error": {"code": "VALIDATION_ERROR"}}`
			}
			return ""
		}, unsorted},
	} {
		t.Run(c.name, func(t *testing.T) {
			api := newShop()
			api.change = c.change
			tenant := asTenant(t, api, declared("shop"))
			assert.Equal(t, c.warnings, testkit.Must(tenant.Discover())(t).Warnings)
			filters := wire.Where{And: []wire.Filter{
				cond("status", wire.OpEq, wire.Text("paid")), cond("paid", wire.OpEq, wire.Bool(false)),
				cond("created", wire.OpGte, wire.Text("2024-06-01T00:00:00Z")),
			}}
			testkit.Must(tenant.Query(wire.QueryRequest{Table: "orders", Where: filters, Fields: []string{"id"}}))(t)
			answer, err := tenant.Query(wire.QueryRequest{Table: "orders", Fields: []string{"id"}, Sort: descending, Limit: 4})
			require.NoError(t, err)
			assert.JSONEq(t, `[{"id": 33}, {"id": 32}, {"id": 31}, {"id": 30}]`, answer.JSON())
			filters.And = filters.And[:2]
			testkit.Must(tenant.Count(wire.CountRequest{Table: "orders", Where: filters}))(t)
		})
	}
}

// TestCount checks how many requests a count takes. Each count is verified.
func TestCount(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/counted.tsv", 4) {
		t.Run(c[0], func(t *testing.T) {
			api := newShop()
			tenant, req := asTenant(t, api, declared("shop")), wire.CountRequest{Table: c[1], Where: whereOf(t, c[2])}
			n := testkit.Must(tenant.Unverified().Count(req))(t)
			assert.Equal(t, c[3], strconv.Itoa(len(api.takeAsked())))
			assert.Equal(t, testkit.Must(tenant.Count(req))(t), n)
		})
	}
}

// TestCountOfAllRows: an API that filters the rows and states the total of all is not believed. Its answer to the
// control shows it: a total beside no rows, or the same one for values that exclude each other.
func TestCountOfAllRows(t *testing.T) {
	answer := func(rows string) string { return `{"total": 3, "rows": [` + rows + `]}` }
	const first, second, third = `{"id": 1, "paid": true}`, `{"id": 2, "paid": false}`, `{"id": 3, "status": "done", "paid": false}`
	for _, filter := range []string{`status eq "done"`, `paid eq true`} {
		name := strings.Fields(filter)[0]
		api := atPlaces("?p=2", answer(""), "?status=done", answer(third), "?status=no-row-has-this-value-5b1f", answer(""),
			"?paid=true", answer(first), "?paid=false", answer(second+","+third), "", answer(first+","+second+","+third))
		tables := declared("stated")
		tables[0].Filters = []restsource.Param{{Column: name, Op: wire.OpEq, Name: name, Exact: true}}
		tenant := serve(t, shopAPI, tables, api)
		n := testkit.Must(tenant.Count(wire.CountRequest{Table: "t", Where: whereOf(t, filter)}))(t, filter)
		assert.EqualValues(t, 1, n, filter)
		assert.Empty(t, testkit.Must(tenant.Discover())(t).Warnings, "it applies the parameter")
	}
}

// TestSpelled shows what is sent for a filter. What the API would leave out, or cannot be told, is
// not sent. Which operator may stand for which is tested with connector.Pushdown.
func TestSpelled(t *testing.T) {
	spellings := map[string]func(wire.Value) (string, bool){
		"unix": restsource.SpellUnix(time.Millisecond), "german": restsource.SpellTime("02.01.2006"),
		"day": func(v wire.Value) (string, bool) { return v.String()[:min(10, len(v.String()))], len(v.String()) > 10 },
	}
	for _, c := range testkit.Table(t, "testdata/spelled.tsv", 4) {
		filter := filtersOf(t, c[1])
		op, words, _ := strings.Cut(c[0], " ")
		param := restsource.Param{Column: filter[0].Field, Name: "p", Op: wire.Op(op)}
		for word := range strings.FieldsSeq(words) {
			switch name, value, _ := strings.Cut(word, "="); name {
			case "round":
				param.Round = testkit.Must(time.ParseDuration(value))(t)
			case "separator":
				param.Separator = value
			case "spell":
				param.Spell = spellings[value]
			}
		}
		tables, api := declared("shop"), newShop()
		tables[0].Filters = []restsource.Param{param}
		testkit.Must(asTenant(t, api, tables).Unverified().Query(wire.QueryRequest{
			Table: "orders", Fields: []string{"id"}, Where: wire.Where{And: filter}, Limit: 1}))(t)
		assert.Equal(t, unfold(c[2]), strings.Join(testkit.Must(url.ParseQuery(api.takeQueries()[0]))(t)["p"], "&"), "%s", c)
	}
}

// TestControl shows what discovery asks to see whether the API applies a filter: for
// rows that cannot be, or that exclude each other.
func TestControl(t *testing.T) {
	none := func(wire.Value) (string, bool) { return "", false }
	for _, c := range append(testkit.Table(t, "testdata/controls.tsv", 3), []string{"status", "eq unspelled", ""}) {
		op, probe, _ := strings.Cut(c[1], " ")
		param := restsource.Param{Column: c[0], Op: wire.Op(op), Name: "asked", ProbeValue: strings.TrimPrefix(probe, "probe=")}
		if probe == "unspelled" {
			param.ProbeValue, param.Spell = "", none
		}
		tables, api := declared("shop")[:1], newShop()
		tables[0].Filters, tables[0].Sorts, tables[0].ForeignKeys = []restsource.Param{param}, nil, nil
		var got []string
		api.change = func(r *http.Request) string {
			if !r.URL.Query().Has("asked") {
				return ""
			}
			got = append(got, r.URL.Query()["asked"]...)
			return `{"data": [], "pagination": {"total": 0}}`
		}
		assert.Empty(t, testkit.Must(asTenant(t, api, tables).Unverified().Discover())(t).Warnings)
		assert.Equal(t, c[2], strings.Join(got, ","), "%s", c)
	}
}

// TestSortOneWay: a direction without a query is left to the library.
func TestSortOneWay(t *testing.T) {
	tables := declared("shop")
	tables[0].Sorts = []restsource.Sort{{Column: "total", Asc: "sort=id"}, {Column: "id", Desc: "sort=-id"}}
	for dir, want := range map[wire.Direction]string{wire.Desc: "limit=2&offset=0&sort=-id", wire.Asc: "limit=20&offset=0"} {
		api := newShop()
		testkit.Must(asTenant(t, api, tables).Unverified().Query(wire.QueryRequest{
			Table: "orders", Fields: []string{"id"}, Sort: []wire.SortKey{{Field: "id", Dir: dir}}, Limit: 2}))(t)
		assert.Equal(t, want, api.takeQueries()[0])
	}
}

// search writes the filters on status, which the API compares for equality alone, and on priority as one expression.
func search(filters []wire.Filter) (string, []bool) {
	took := make([]bool, len(filters))
	var terms []string
	for i, f := range filters {
		op, ok := map[wire.Op]string{wire.OpEq: "=", wire.OpGte: ">="}[f.Op]
		if took[i] = f.Field == "status" && f.Op == wire.OpEq || f.Field == "priority" && ok; took[i] {
			terms = append(terms, fmt.Sprintf("%s %s %q", f.Field, op, f.Value.String()))
		}
	}
	return strings.Join(terms, " AND "), took
}

// issues is an API with one expression of filters. It does not know some fields.
func issues(unknown string, applies bool) *remote {
	return &remote{answer: func(r *http.Request) string {
		jql := r.URL.Query().Get("jql")
		if unknown != "" && strings.Contains(jql, unknown) {
			return `400 {"errorMessages": ["Field '` + unknown + `' does not exist"]}`
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
					return `400 {"errorMessages": ["a number is needed"]}`
				default:
					match = match && (float64(i) == n || op == ">=" && float64(i) > n)
				}
			}
			if match && (r.URL.Query().Get("team") == "" || r.URL.Query().Get("team") == fmt.Sprint(i%2)) {
				rows = append(rows, fmt.Sprintf(`{"id": %d, "status": %q, "priority": %d, "team": "%d"}`, i, status, i, i%2))
			}
		}
		return fmt.Sprintf(`{"issues": [%s], "total": 12}`, strings.Join(rows, ","))
	}}
}

// TestSearch: several filters are one expression, as turbot/steampipe-plugin-jira#46 and
// turbot/steampipe-plugin-github#171 ask for; one that is wrong costs a request and no row,
// where it failed the query in turbot/steampipe-plugin-jira#145.
func TestSearch(t *testing.T) {
	tables := declared("issues")
	tables[0].Search = search
	for _, c := range testkit.Table(t, "testdata/searched.tsv", 5) {
		t.Run(c[0], func(t *testing.T) {
			api := issues(c[1], true)
			tenant := serve(t, shopAPI, tables, api)
			rows := testkit.Must(read(t, tenant, "issues", filtersOf(t, c[2]), "id"))(t)
			assert.Equal(t, c[3], strconv.Itoa(len(rows)))
			assert.Equal(t, c[4], strings.Join(api.takeAsked(), " "))
		})
	}
	graded(t, issues("", true), tables...)
	found := testkit.Must(serve(t, shopAPI, tables, issues("", false)).Discover())(t)
	assert.Contains(t, strings.Join(found.Warnings, "\n"), `does not apply the parameter "jql"`)
}

// TestRound: a filter on updated_since is pushed, and loses no row, however the API
// rounds the times of its rows before it compares them.
func TestRound(t *testing.T) {
	base := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	var rows []time.Time
	for _, of := range []time.Duration{-25 * time.Hour, -24 * time.Hour, -time.Second, -time.Millisecond, 0, time.Millisecond,
		499 * time.Millisecond,
		500 * time.Millisecond, 999 * time.Millisecond, time.Second, time.Minute, 12 * time.Hour, 24*time.Hour - 1e6,
		24 * time.Hour, 49 * time.Hour} {
		rows = append(rows, base.Add(of))
	}
	ops := map[wire.Op]func(a, b time.Time) bool{
		wire.OpGt: time.Time.After, wire.OpGte: func(a, b time.Time) bool { return !a.Before(b) },
		wire.OpLt: time.Time.Before, wire.OpLte: func(a, b time.Time) bool { return !a.After(b) },
	}
	roundings := map[string]func(at time.Time, d time.Duration) time.Time{
		"down": time.Time.Truncate, "up": func(at time.Time, d time.Duration) time.Time { return at.Add(d - 1).Truncate(d) },
		"half": time.Time.Round,
	}
	sent := 0
	for _, unit := range []time.Duration{time.Second, 24 * time.Hour} {
		for declared, holds := range ops {
			for rounding, round := range roundings {
				param := restsource.Param{Column: "at", Op: declared, Name: "bound", Round: unit, Spell: restsource.SpellUnix(time.Second)}
				if unit > time.Second {
					param.Spell = restsource.SpellTime(time.DateOnly)
				}
				tables := []restsource.Table{{
					Name: "rows", Pages: onePage, Path: "/rows", Rows: "rows", Columns: []restsource.Column{{Name: "at", Type: wire.TypeDatetime}},
					Filters: []restsource.Param{param},
				}}
				tenant := serve(t, shopAPI, tables, &remote{answer: func(r *http.Request) string {
					bound, err := time.Parse(time.DateOnly, r.URL.Query().Get("bound"))
					if n, failed := strconv.ParseInt(r.URL.Query().Get("bound"), 10, 64); failed == nil {
						bound, err = time.Unix(n, 0), nil
					}
					require.NoError(t, err)
					sent++
					var kept []string
					for _, at := range rows {
						if holds(round(at, unit), bound) {
							kept = append(kept, fmt.Sprintf(`{"at": %q}`, at.Format(time.RFC3339Nano)))
						}
					}
					return fmt.Sprintf(`{"rows": [%s]}`, strings.Join(kept, ","))
				}})
				for op, wanted := range ops {
					if op[:2] != declared[:2] || op == wire.OpGte && declared == wire.OpGt || op == wire.OpLte && declared == wire.OpLt {
						continue // not pushed: tested elsewhere
					}
					for _, value := range rows {
						answer, err := tenant.Query(wire.QueryRequest{Table: "rows", Fields: []string{"at"}, Where: wire.Where{
							And: []wire.Filter{{Field: "at", Op: op, Value: wire.Datetime(value)}}}})
						require.NoError(t, err)
						want := 0
						for _, at := range rows {
							if wanted(at, value) {
								want++
							}
						}
						assert.Len(t, answer.Column("at"), want, "%s %s %s, declared %s, rounded %s to %s", "at", op, value, declared, rounding, unit)
					}
				}
			}
		}
	}
	assert.Equal(t, 2*3*6*len(rows), sent)
}

// TestSorted: an API is asked to sort by v, and answers these pages. What is not in order is sorted here, or fails.
func TestSorted(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/sorted.tsv", 5) {
		var pages [][]any
		require.NoError(t, json.Unmarshal([]byte(c[1]), &pages))
		var answers []string
		id := 0
		for i, page := range pages {
			rows := []map[string]any{}
			for _, v := range page {
				id++
				rows = append(rows, map[string]any{"id": id, "v": v})
			}
			answers = append(answers, fmt.Sprint("?page=", i+1), string(testkit.Must(json.Marshal(rows))(t)))
		}
		api := atPlaces(append(answers, "", "[]")...)
		answer, err := serve(t, shopAPI, declared("sorted"), api).Query(asks(wire.QueryRequest{Table: "t", Fields: []string{"v"}}, c[2]))
		assert.Equal(t, c[4], strconv.Itoa(len(api.takeAsked())), "%s", c)
		if c[3] == "" {
			requireCode(t, wire.CodeInternal, err)
			continue
		}
		require.NoError(t, err)
		assert.JSONEq(t, c[3], string(testkit.Must(json.Marshal(answer.Column("v")))(t)), "%s", c)
	}
}

// TestSortIgnored: where the first page is not in order, the read begins again, with
// whole pages, without the sort and with the filters.
func TestSortIgnored(t *testing.T) {
	for _, c := range []struct {
		where wire.Where
		limit int64
		want  []string
	}{
		{wire.Where{}, 1, []string{"limit=2&offset=0&sort=-id", "limit=20&offset=0", "limit=20&offset=9"}},
		{wire.Where{}, 3, []string{"limit=3&offset=0&sort=-id", "limit=20&offset=0", "limit=20&offset=9"}},
		{wire.Where{And: []wire.Filter{cond("paid", wire.OpEq, wire.Bool(true))}}, 1,
			[]string{"limit=20&offset=0&paid=true&sort=-id", "limit=20&offset=0&paid=true"}},
	} {
		for _, refuses := range []bool{false, true} {
			api := newShopOf(13)
			api.change = func(r *http.Request) string {
				query := r.URL.Query()
				if refuses && query.Has("sort") {
					return "422 {}"
				}
				query.Del("sort")
				r.URL.RawQuery = query.Encode()
				return ""
			}
			answer := testkit.Must(asTenant(t, api, declared("shop")).Unverified().Query(wire.QueryRequest{
				Table: "orders", Fields: []string{"id"}, Where: c.where, Sort: descending, Limit: c.limit}))(t)
			assert.Equal(t, c.want, api.takeQueries())
			assert.GreaterOrEqual(t, answer.Column("id")[0].Int64(), int64(12), "the last order, or the last that is paid")
		}
	}
}

// TestJoined: the filters narrow the base table, and no other. The rows that a join leads to are kept within a budget.
func TestJoined(t *testing.T) {
	api := newShop()
	tables := declared("shop")
	tables[1].Filters = []restsource.Param{{Column: "status", Op: wire.OpEq, Name: "status"}}
	tables[1].Columns = append(tables[1].Columns, restsource.Column{Name: "status", Type: wire.TypeString})
	join := wire.QueryRequest{
		Table: "orders", Fields: []string{"id"}, Where: wire.Where{And: []wire.Filter{cond("status", wire.OpEq, wire.Text("paid"))}},
		Joins: []wire.JoinHop{{FromTable: "orders", ToTable: "customers", FromField: "customer", ToField: "code",
			Fields: []wire.JoinField{{Field: "name", As: "who"}}}},
	}
	assert.Len(t, testkit.Must(asTenant(t, api, tables).Unverified().Query(join))(t).Column("who"), 9)
	for _, address := range api.takeAsked() {
		assert.Equal(t, strings.HasPrefix(address, "/orders?"), strings.Contains(address, "status="), address)
	}

	tenant, _ := connect(t, shopAPI, tables, restsource.Options{Transport: api, JoinBudget: 1})
	_, err := tenant.Query(join)
	require.Equal(t, wire.CodeUnsupported, wire.CodeOf(err))
}

// join asks for a join of two tables by one column each.
func join(table, to, left, right, field, joined string) wire.QueryRequest {
	return wire.QueryRequest{Table: table, Fields: []string{field}, Joins: []wire.JoinHop{{
		FromTable: table, FromField: left, ToTable: to, ToField: right, Fields: []wire.JoinField{{Field: joined, As: "joined"}},
	}}}
}

// TestReadOnce: what several tables of one join or one discovery are read from is asked for once.
func TestReadOnce(t *testing.T) {
	t.Run("a table and the list in its rows", func(t *testing.T) {
		api := nested()
		tenant := serve(t, shopAPI, declared("nested"), api)
		answer := testkit.Must(tenant.Query(join("lines", "orders", "order", "id", "sku", "status")))(t)
		assert.Len(t, answer.Rows, 3)
		assert.Equal(t, []string{"/orders", "/orders?after=2"}, api.takeAsked())
		testkit.Must(tenant.Discover())(t)
		others := func(address string) bool { return address != "/orders" }
		assert.Len(t, slices.DeleteFunc(api.takeAsked(), others), 1, "the first page of four tables")
	})
	t.Run("two tables over one endpoint, and one over another", func(t *testing.T) {
		tables := append(numbersTable(onePage), numbersTable(onePage)...)
		tables[1].Name, tables[1].Rows = "letters", "letters"
		tables = append(tables, tables[0])
		tables[2].Name, tables[2].Query = "others", "archived=true"
		for to, requests := range map[string]int{"letters": 1, "others": 2} {
			api := inTurn(`{"rows": [{"id": 1}], "letters": [{"id": 1}]}`)
			testkit.Must(serve(t, shopAPI, tables, api).Query(join("numbers", to, "id", "id", "id", "id")))(t)
			assert.Len(t, api.asked, requests, to)
		}
	})
	t.Run("the parent of a child table", func(t *testing.T) {
		tables := append(numbersTable(onePage), children(restsource.Column{Name: "x", Type: wire.TypeNumber}))
		api := atPlaces("/numbers", bodyOfOne, "/numbers/1/children", bodyOfRows)
		testkit.Must(serve(t, shopAPI, tables, api).Query(join("children", "numbers", "id", "id", "x", "id")))(t)
		assert.Equal(t, []string{"/numbers", "/numbers/1/children"}, api.takeAsked())
	})
	testkit.Bubble(t, "not a scroll and an export, of which the same request has other answers", func(t *testing.T) {
		pages := []string{`1-4 "scroll":"s"`, `5-8 "scroll":"s"`, `9-10 "scroll":"s"`, `none "scroll":"s"`}
		api := inTurn(append(pages, pages...)...)
		answer := testkit.Must(serve(t, shopAPI, numbersTable(scrollPages), api).Query(join("numbers", "numbers", "id", "id", "id", "id")))(t)
		assert.Len(t, answer.Rows, 10)
		export := []string{`202 {"id": 1}`, `{"status": "running"}`, `{"status": "done"}`, "!export"}
		api = inTurn(append(export, export...)...)
		answer = testkit.Must(serve(t, shopAPI, exportTable("/exports/{job}/file"), api).Query(join("t", "t", "id", "id", "id", "id")))(t)
		assert.Len(t, answer.Rows, 3)
	})
	t.Run("a GraphQL query and the list in its rows", func(t *testing.T) {
		api := graph(wholeList, nil)
		answer, err := serve(t, graphAPI, declared("graph")[:2], api).Query(join("lines", "orders", "order", "id", "sku", "total"))
		require.NoError(t, err)
		assert.Len(t, answer.Rows, 3)
		assert.Len(t, api.asked, 2, "each page once, with the fields of both")
		assert.Contains(t, api.bodies[0], "total(currency: EUR)")
		assert.Contains(t, api.bodies[0], "product { sku } quantity")
	})
}

// TestReadAgainWithoutRoom: a page that there is no room to keep is asked for again.
func TestReadAgainWithoutRoom(t *testing.T) {
	testrun.Long(t)
	cursor := restsource.Pages{By: restsource.PagingCursor, Param: "at", Next: "next"}
	tables := append(numbersTable(cursor), numbersTable(cursor)...)
	tables[1].Name = "again"
	asked, much := map[string]int{}, strings.Repeat("x", 17<<20)
	large := join("numbers", "again", "id", "id", "id", "id")
	large.TimeoutMS = 120_000 // 50 MB take their time on a busy machine
	testkit.Must(serve(t, shopAPI, tables, testkit.Transport(func(r *http.Request) (*http.Response, error) {
		at := r.URL.Query().Get("at")
		asked[at]++
		next := map[string]string{"": `"2"`, "2": "null"}[at]
		return reply(200, `{"rows": [{"id": 1`+at+`}], "next": `+next+`, "x": "`+much+`"}`), nil
	})).Query(large))(t)
	assert.Equal(t, map[string]int{"": 1, "2": 2}, asked, "the second page has no room, and is asked for again")
}
