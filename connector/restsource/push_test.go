package restsource_test

import (
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
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// cond is short for the rows of a table.
var cond = testkit.Filter

var descending = []wire.SortKey{{Field: "id", Dir: wire.Desc}}

// TestPush checks what reaches the API, and that the answer is right whatever does.
// Each answer is verified against a plain read of the table.
func TestPush(t *testing.T) {
	text, num := wire.Text, wire.Int
	for _, c := range []struct {
		name          string
		where         wire.Where
		sort          []wire.SortKey
		offset, limit int64
		want          []string // the queries that reached the API
		why           string
	}{
		{"equals", wire.Where{And: []wire.Filter{cond("status", wire.OpEq, text("paid"))}}, nil, 0, 0,
			[]string{"limit=20&offset=0&status=paid"}, "in serves eq"},
		{"in", wire.Where{And: []wire.Filter{cond("status", wire.OpIn, text("void"), wire.Null(), text("Paid"))}}, nil, 0, 2,
			[]string{"limit=20&offset=0&status=void&status=Paid"}, "one parameter for each value but null"},
		{"not", wire.Where{And: []wire.Filter{cond("status", wire.OpNeq, text("paid"))}}, nil, 0, 1,
			[]string{"limit=20&offset=0"}, "the API cannot say it"},
		{"later", wire.Where{And: []wire.Filter{cond("created", wire.OpGt, text("2024-12-01T12:00:00+02:00"))}}, nil, 0, 0,
			[]string{"created_after=2024-12-01T10%3A00%3A00Z&limit=20&offset=0"}, "gte serves gt; the API cuts to the day"},
		{"earlier", wire.Where{And: []wire.Filter{cond("created", wire.OpLt, text("2024-06-01T00:00:00Z"))}}, nil, 0, 1,
			[]string{"limit=20&offset=0"}, "created_after says nothing about it"},
		{"no date", wire.Where{And: []wire.Filter{cond("created", wire.OpGte, text("tomorrow"))}}, nil, 0, 1,
			[]string{"limit=20&offset=0", "limit=20&offset=9", "limit=20&offset=18", "limit=20&offset=27"}, "it cannot be spelled"},
		{"twice", wire.Where{And: []wire.Filter{cond("status", wire.OpEq, text("paid")), cond("status", wire.OpEq, text("open"))}}, nil, 0, 0,
			[]string{"limit=20&offset=0&status=paid"}, "a parameter is used once"},
		{"or", wire.Where{Or: [][]wire.Filter{{cond("status", wire.OpEq, text("paid"))}, {cond("id", wire.OpEq, num(1))}}}, nil, 0, 1,
			[]string{"limit=20&offset=0"}, "half an or would lose rows"},
		{"both", wire.Where{And: []wire.Filter{cond("paid", wire.OpEq, wire.Bool(true)), cond("id", wire.OpGt, num(30))}}, nil, 0, 0,
			[]string{"limit=20&offset=0&paid=true", "limit=20&offset=9&paid=true"}, "what narrows is pushed, the rest is done here"},
		{"window", wire.Where{}, nil, 12, 3, []string{"limit=3&offset=12"}, "a window of all rows is a page"},
		{"deep window", wire.Where{}, nil, 30, 100, []string{"limit=20&offset=30"}, "the total tells the end"},
		{"window of sorted rows", wire.Where{}, descending, 2, 2,
			[]string{"limit=4&offset=0&sort=-id", "limit=2&offset=2&sort=-id"}, "the first page shows that the API sorts"},
		{"top of sorted rows", wire.Where{And: []wire.Filter{cond("paid", wire.OpEq, wire.Bool(false))}}, descending, 0, 5,
			[]string{"limit=20&offset=0&paid=false&sort=-id"}, "the read stops with the limit"},
		{"a sort by two columns", wire.Where{And: []wire.Filter{cond("status", wire.OpEq, text("open"))}},
			append(descending[:1:1], wire.SortKey{Field: "total", Dir: wire.Asc}), 0, 5, []string{"limit=20&offset=0&status=open"},
			"the API sorts by one"},
		{"another sort", wire.Where{And: []wire.Filter{cond("status", wire.OpEq, text("none"))}},
			[]wire.SortKey{{Field: "total", Dir: wire.Asc}}, 0, 5,
			[]string{"limit=20&offset=0&status=none"}, "the API cannot sort so"},
	} {
		t.Run(c.name, func(t *testing.T) {
			api := newShop()
			tenant := asTenant(t, api, shopTables())
			req := wire.QueryRequest{Table: "orders", Where: c.where, Sort: c.sort, Fields: []string{"id", "status", "created"}, Limit: c.limit}
			if c.offset > 0 {
				req.Offset = c.offset
			}
			answer := testkit.Must(tenant.Unverified().Query(req))(t)
			var got []string
			for _, u := range api.requests() {
				if !requestedAhead(t, u.RawQuery, c.want, c.limit) {
					got = append(got, u.RawQuery)
				}
			}
			assert.ElementsMatch(t, c.want, got, c.why)
			assert.True(t, answer.Served.Filters)
			testkit.Must(tenant.Query(req))(t)
		})
	}
}

// requestedAhead reports whether a query asks for a page behind those that the limit needs, and
// is one of them otherwise. Whether it still reaches the API when the limit ends the read is a
// matter of time.
func requestedAhead(t *testing.T, query string, needed []string, limit int64) bool {
	split := func(query string) (offset int, rest string) {
		values := testkit.Must(url.ParseQuery(query))(t)
		offset = testkit.Must(strconv.Atoi(values.Get("offset")))(t)
		values.Del("offset")
		return offset, values.Encode()
	}
	offset, rest := split(query)
	return limit > 0 && !slices.ContainsFunc(needed, func(needed string) bool {
		other, same := split(needed)
		return other >= offset || same != rest
	})
}

// TestIgnored: an API that ignores what it was asked, or refuses it, gives no wrong
// answer, and discovery warns of it.
func TestIgnored(t *testing.T) {
	unsorted := []string{`Table "orders": the API does not sort by "id" as it should, so rows are sorted after reading all of them.`}
	turned := func(direction, other string) func(http.ResponseWriter, *http.Request) bool {
		return func(_ http.ResponseWriter, r *http.Request) bool {
			if query := r.URL.Query(); query.Get("sort") == direction {
				query.Set("sort", other)
				r.URL.RawQuery = query.Encode()
			}
			return false
		}
	}
	for _, c := range []struct {
		name     string
		change   func(w http.ResponseWriter, r *http.Request) bool
		warnings []string
	}{
		{"applied", nil, nil},
		{"ascending is descending", turned("id", "-id"), unsorted},
		{"descending is ascending", turned("-id", "id"), unsorted},
		{"ignored", func(_ http.ResponseWriter, r *http.Request) bool {
			query := r.URL.Query()
			for _, param := range []string{"status", "created_after", "paid", "sort"} {
				query.Del(param)
			}
			r.URL.RawQuery = query.Encode()
			return false
		}, []string{
			`Table "orders": the API does not apply the parameter "status", so filters on "status" are applied after reading all rows.`,
			`Table "orders": the API does not apply the parameter "created_after", so filters on "created" are applied after reading all rows.`,
			`Table "orders": the API does not apply the parameter "paid", so filters on "paid" are applied after reading all rows.`,
			`Table "orders": the API does not sort by "id" as it should, so rows are sorted after reading all of them.`,
		}},
		{"refused", func(w http.ResponseWriter, r *http.Request) bool {
			query := r.URL.Query()
			if !query.Has("status") && !query.Has("created_after") && !query.Has("paid") && !query.Has("sort") {
				return false
			}
			http.Error(w, `{"error": {"code": "VALIDATION_ERROR"}}`, http.StatusBadRequest)
			return true
		}, unsorted},
	} {
		t.Run(c.name, func(t *testing.T) {
			api := newShop()
			api.change = c.change
			tenant := asTenant(t, api, shopTables())
			found := testkit.Must(tenant.Discover())(t)
			assert.Equal(t, c.warnings, found.Warnings)
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
	for _, c := range []struct {
		name, table string
		where       wire.Where
		want        int
		why         string
	}{
		{"all", "orders", wire.Where{}, 1, "the total"},
		{"exact", "orders", wire.Where{And: []wire.Filter{cond("status", wire.OpEq, wire.Text("paid"))}}, 2, "the total, and the control"},
		{"exact, none", "orders", wire.Where{And: []wire.Filter{cond("status", wire.OpEq, wire.Text("gone"))}}, 1, "none is none"},
		{"exact boolean", "orders", wire.Where{And: []wire.Filter{cond("paid", wire.OpEq, wire.Bool(true))}}, 3, "true excludes false"},
		{"text that is no boolean", "orders", wire.Where{And: []wire.Filter{cond("paid", wire.OpEq, wire.Text(""))}}, 4,
			"read: the API takes an empty parameter for none"},
		{"empty text", "orders", wire.Where{And: []wire.Filter{cond("status", wire.OpEq, wire.Text(""))}}, 4, "the same"},
		{"wider", "orders", wire.Where{And: []wire.Filter{cond("created", wire.OpGte, wire.Text("2024-06-06T09:00:00Z"))}}, 2, "read"},
		{"exact with or", "orders", wire.Where{
			And: []wire.Filter{cond("status", wire.OpEq, wire.Text("paid"))}, Or: [][]wire.Filter{{cond("id", wire.OpLt, wire.Int(10))}},
		}, 1, "the rows are read"},
		{"exact, and one that is not declared", "orders", wire.Where{And: []wire.Filter{
			cond("status", wire.OpEq, wire.Text("paid")), cond("id", wire.OpGt, wire.Int(20))}}, 1, "read"},
		{"one that is not declared, and exact", "orders", wire.Where{And: []wire.Filter{
			cond("id", wire.OpGt, wire.Int(20)), cond("status", wire.OpEq, wire.Text("paid"))}}, 1, "read"},
		{"wider, and exact", "orders", wire.Where{And: []wire.Filter{
			cond("created", wire.OpGte, wire.Text("2024-12-06T09:00:00Z")), cond("status", wire.OpEq, wire.Text("paid"))}}, 1, "read"},
		{"two exact", "orders", wire.Where{And: []wire.Filter{
			cond("paid", wire.OpEq, wire.Bool(true)), cond("status", wire.OpEq, wire.Text("open"))}}, 4, "the total, and both controls"},
		{"exact, twice", "orders", wire.Where{And: []wire.Filter{
			cond("status", wire.OpEq, wire.Text("paid")), cond("status", wire.OpIn, wire.Text("open"), wire.Text("paid"))}}, 1, "read"},
		{"null alone", "orders", wire.Where{And: []wire.Filter{cond("status", wire.OpIn, wire.Null())}}, 4,
			"read: no parameter at all would count all rows"},
		{"a text that is too long", "orders", wire.Where{And: []wire.Filter{cond("status", wire.OpEq, wire.Text(strings.Repeat("x", 2001)))}}, 4,
			"read: it is not pushed, so the API's total is that of all rows"},
		{"without a total", "customers", wire.Where{}, 4, "the rows are read, until a page is empty"},
	} {
		t.Run(c.name, func(t *testing.T) {
			api := newShop()
			tenant := asTenant(t, api, shopTables())
			n := testkit.Must(tenant.Unverified().Count(wire.CountRequest{Table: c.table, Where: c.where}))(t)
			assert.Len(t, api.requests(), c.want, c.why)
			verified := testkit.Must(tenant.Count(wire.CountRequest{Table: c.table, Where: c.where}))(t)
			assert.Equal(t, verified, n)
		})
	}
}

// TestSpelled shows what is sent for a filter. What the API would leave out, or cannot be told, is
// not sent. Which operator may stand for which is tested with connector.Pushdown.
func TestSpelled(t *testing.T) {
	const second, minute, day = time.Second, time.Minute, 24 * time.Hour
	type param = restsource.Param
	text, gt, gte, lt, lte, eq, in := wire.Text, wire.OpGt, wire.OpGte, wire.OpLt, wire.OpLte, wire.OpEq, wire.OpIn
	list := param{Op: in, Separator: ","}
	own := param{Op: gte, Spell: func(v wire.Value) (string, bool) { return v.String()[:min(10, len(v.String()))], len(v.String()) > 10 }}
	many, long := slices.Repeat([]wire.Value{text("x")}, 101), strings.Repeat("x", 2000)
	for _, c := range []struct {
		declared param
		filter   wire.Filter
		want     string // the values that are sent; "": none
		why      string
	}{
		{param{Op: lte}, cond("created", lte, text("2024-05-01")), "2024-05-01T00:00:00Z", ""},
		{param{Op: gt}, cond("created", gt, text("2024-05-01T02:00:00+02:00")), "2024-05-01T00:00:00Z", ""},
		{param{Op: lte}, cond("created", lte, text("2024-05-01T00:00:00.1234567891Z")), "", "no time has so many digits"},
		{param{Op: gte}, cond("due", gte, text("2024-05-01T00:00:00Z")), "2024-05-01", ""},
		{param{Op: eq}, cond("id", eq, text("7")), "7", ""},
		{param{Op: eq}, cond("id", in, text("7")), "7", "a list of one"},
		{param{Op: eq}, cond("id", eq, text("seven")), "", "no number"},
		{param{Op: in}, cond("total", eq, wire.Int(5)), "5", "a list of one"},
		{param{Op: wire.OpIncludes}, cond("status", wire.OpIncludes, text("pa")), "pa", ""},
		{param{Op: wire.OpIncludes}, cond("status", wire.OpStartsWith, text("pa")), "pa", ""},
		{param{Op: eq}, cond("first_tag", eq, text(long)), long, ""},
		{param{Op: eq}, cond("first_tag", eq, text(long+"x")), "", "too long for an address"},
		{param{Op: in}, cond("status", in, many[:100]...), strings.Repeat("&x", 100)[1:], "a hundred values"},
		{param{Op: in}, cond("status", in, many...), "", "too many values for an address"},
		{param{Op: in}, cond("status", in, text(long[:1500]), text(long[:1500]+"y")), "", "together, they are too long"},
		{param{Op: in}, cond("status", in, wire.Null()), "", "no parameter at all would be all rows"},
		{list, cond("status", in, text("a"), text("b")), "a,b", "a list in one parameter"},
		{list, cond("status", in, text("a,b"), text("c")), "", "a value with a comma would be two"},
		{own, cond("created", gt, text("2024-03-04T05:06:07Z")), "2024-03-04", "a spelling of the author's own"},
		{param{Op: gte, Round: second}, cond("created", gte, text("2026-03-01T10:00:00.7Z")), "2026-03-01T10:00:00Z", ""},
		{param{Op: gte, Round: second}, cond("created", gt, text("2026-03-01T10:00:00Z")), "2026-03-01T10:00:00Z", ""},
		{param{Op: gt, Round: second}, cond("created", gt, text("2026-03-01T10:00:00Z")), "2026-03-01T09:59:59Z", ""},
		{param{Op: lte, Round: minute}, cond("created", lt, text("2026-03-01T10:00:30Z")), "2026-03-01T10:01:00Z", ""},
		{param{Op: lte, Round: minute}, cond("created", lte, text("2026-03-01T10:00:00+02:00")), "2026-03-01T08:00:00Z", ""},
		{param{Op: gte, Round: day}, cond("due", gte, text("2026-03-01")), "2026-03-01", ""},
		{param{Op: gt, Round: day}, cond("due", gt, text("2026-03-01")), "2026-02-28", ""},
		{param{Op: gt, Round: day}, cond("due", gt, text("0001-01-01")), "", "there is no day before"},
		{param{Op: gte, Spell: restsource.SpellUnix(time.Millisecond)}, cond("created", gte, text("2026-03-01T10:00:00.7Z")),
			"1772359200700", ""},
		{param{Op: gte, Round: day, Spell: restsource.SpellTime("02.01.2006")}, cond("created", gte, text("2026-03-01T23:30:00Z")),
			"01.03.2026", ""},
	} {
		tables := shopTables()
		c.declared.Name, c.declared.Column = "p", c.filter.Field
		tables[0].Filters = []restsource.Param{c.declared}
		api := newShop()
		testkit.Must(asTenant(t, api, tables).Unverified().Query(wire.QueryRequest{
			Table: "orders", Fields: []string{"id"}, Where: wire.Where{And: []wire.Filter{c.filter}}, Limit: 1}))(t)
		assert.Equal(t, c.want, strings.Join(api.requests()[0].Query()["p"], "&"), "%s %s %s", c.filter.Field, c.filter.Op, c.why)
	}
}

// TestControl shows what discovery asks to see whether the API applies a filter: for
// rows that cannot be, or that exclude each other.
func TestControl(t *testing.T) {
	for _, c := range []struct {
		filter restsource.Param
		want   []string
	}{
		{restsource.Param{Column: "status", Op: wire.OpEq}, []string{"no-row-has-this-value-5b1f"}},
		{restsource.Param{Column: "status", Op: wire.OpIn}, []string{"no-row-has-this-value-5b1f"}},
		{restsource.Param{Column: "status", Op: wire.OpIncludes}, []string{"no-row-has-this-value-5b1f"}},
		{restsource.Param{Column: "status", Op: wire.OpStartsWith}, []string{"no-row-has-this-value-5b1f"}},
		{restsource.Param{Column: "status", Op: wire.OpEq, ProbeValue: "nowhere"}, []string{"nowhere"}},
		{restsource.Param{Column: "status", Op: wire.OpGt}, []string{"\U0010FFFD"}},
		{restsource.Param{Column: "status", Op: wire.OpGte}, []string{"\U0010FFFD"}},
		{restsource.Param{Column: "status", Op: wire.OpLt}, []string{" "}},
		{restsource.Param{Column: "status", Op: wire.OpLte}, []string{" "}},
		{restsource.Param{Column: "id", Op: wire.OpEq}, []string{"-9007199254740991"}},
		{restsource.Param{Column: "id", Op: wire.OpEq, ProbeValue: "0"}, []string{"0"}},
		{restsource.Param{Column: "id", Op: wire.OpLt}, []string{"-9007199254740991"}},
		{restsource.Param{Column: "id", Op: wire.OpGt}, []string{"9007199254740991"}},
		{restsource.Param{Column: "total", Op: wire.OpGte}, []string{"9007199254740991"}},
		{restsource.Param{Column: "due", Op: wire.OpGt}, []string{"9999-12-31"}},
		{restsource.Param{Column: "due", Op: wire.OpGte}, []string{"9999-12-31"}},
		{restsource.Param{Column: "due", Op: wire.OpLte}, []string{"0001-01-01"}},
		{restsource.Param{Column: "due", Op: wire.OpEq}, []string{"0001-01-01"}},
		{restsource.Param{Column: "created", Op: wire.OpGt}, []string{"9999-12-31T00:00:00Z"}},
		{restsource.Param{Column: "created", Op: wire.OpGte}, []string{"9999-12-31T00:00:00Z"}},
		{restsource.Param{Column: "created", Op: wire.OpLt}, []string{"0001-01-01T00:00:00Z"}},
		{restsource.Param{Column: "paid", Op: wire.OpEq}, []string{"true", "false"}},
		{restsource.Param{Column: "status", Op: wire.OpEq, Spell: func(wire.Value) (string, bool) { return "", false }}, nil},
	} {
		c.filter.Name = "asked"
		tables := shopTables()[:1]
		tables[0].Filters, tables[0].Sorts, tables[0].ForeignKeys = []restsource.Param{c.filter}, nil, nil
		api := newShop()
		api.change = func(w http.ResponseWriter, r *http.Request) bool {
			if !r.URL.Query().Has("asked") {
				return false
			}
			_, _ = w.Write([]byte(`{"data": [], "pagination": {"total": 0}}`))
			return true
		}
		found := testkit.Must(asTenant(t, api, tables).Unverified().Discover())(t)
		assert.Empty(t, found.Warnings)
		var got []string
		for _, u := range api.requests() {
			got = append(got, u.Query()["asked"]...)
		}
		assert.Equal(t, c.want, got, "%s %s", c.filter.Column, c.filter.Op)
	}
}

// TestSortOneWay: a direction without a query is left to the library.
func TestSortOneWay(t *testing.T) {
	tables := shopTables()
	tables[0].Sorts = []restsource.Sort{{Column: "total", Asc: "sort=id"}, {Column: "id", Desc: "sort=-id"}}
	for dir, want := range map[wire.Direction]string{wire.Desc: "limit=2&offset=0&sort=-id", wire.Asc: "limit=20&offset=0"} {
		api := newShop()
		testkit.Must(asTenant(t, api, tables).Unverified().Query(wire.QueryRequest{
			Table: "orders", Fields: []string{"id"}, Sort: []wire.SortKey{{Field: "id", Dir: dir}}, Limit: 2}))(t)
		assert.Equal(t, want, api.requests()[0].RawQuery)
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
			tenant := serve(t, shopAPI, []restsource.Table{table}, testkit.Over(c.api))
			rows := testkit.Must(read(t, tenant, "issues", c.and, "id"))(t)
			assert.Len(t, rows, c.rows)
			assert.Equal(t, c.asked, c.api.requests())
		})
	}
	graded(t, issues("", true), nil, table)
	found := testkit.Must(serve(t, shopAPI, []restsource.Table{table}, testkit.Over(issues("", false))).Discover())(t)
	assert.Contains(t, strings.Join(found.Warnings, "\n"), `does not apply the parameter "jql"`)
}
