package killtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// shop returns the data of a small business: keys, a foreign key with orphans, nulls, ties, and every type of field.
func shop() []memsource.Table { return tablesIn("shop") }

func liveShop() *memsource.Source { return source(shop()...) }

func filtersOf(filters []wire.Filter) []wire.Filter {
	own := slices.Clone(filters)
	for i := range own {
		own[i].Values = slices.Clone(own[i].Values)
	}
	return own
}

// tampered returns the shop with its queries tampered with, those with joins aside.
func tampered(w twist) func() http.Handler {
	return stocked(shop, twist{request: func(req *connector.Query, limit, offset *int64) {
		if len(req.Joins) == 0 {
			w.request(req, limit, offset)
		}
	}})
}

// untouched returns the shop as it is, in front of which something goes wrong.
func untouched() http.Handler { return serve(connector.Definition{}, liveShop(), nil) }

// integer reads a member of a decoded body.
func integer(body map[string]any, name string) int64 {
	number, _ := body[name].(json.Number)
	n, _ := number.Int64()
	return n
}

// numbersOf returns a connector over one table with this integer and smaller ones, all as JSON numbers.
func numbersOf(large string) func() http.Handler {
	table := tableOf("readings", "", nil, "id number", "reading number")
	for i := range int64(30) {
		table.Rows = append(table.Rows, []wire.Value{wire.Int(i), wire.Int(7 * i)})
	}
	table.Rows[11][1] = wire.Int(must(strconv.ParseInt(large, 10, 64)))
	return over(func() http.Handler { return plain(table) }, asNumber(large))
}

// asNumber sends the cells of one integer as JSON numbers.
func asNumber(large string) layer {
	return cells(func(_ string, v any) any {
		if v == large {
			return json.Number(large)
		}
		return v
	})
}

// TestLargeNumbers requires that a finding quotes an integer beyond 2^53 with the digits that were sent, which the
// double has lost, and that 2^53 itself may be a number.
func TestLargeNumbers(t *testing.T) {
	t.Parallel()
	for large, received := range map[string]string{
		"9007199254740992": "", "-9007199254740992": "",
		"9007199254740993":  "9007199254740993, a JSON number",
		"90071992547409932": "90071992547409932, a JSON number",
	} {
		o := grade(t, numbersOf(large)(), ofLive("^L10$")).Outcome("L10")
		require.Equal(t, received, o.Received, large)
		require.Equal(t, received == "", o.Verdict == conformance.Pass, "%s: %s", large, o.Detail)
	}
	for large, received := range map[string]string{"9007199254740992": "", "9007199254740993": "9007199254740993, a JSON number"} {
		o := grade(t, asNumber(large)(usual()), with(matching(`^P2\.16$`))).Outcome("P2.16")
		require.Contains(t, o.Received, cmp.Or(received, large), "as a decimal or a text it is wrong in any case")
		require.Equal(t, received != "", slices.Contains(o.Broken, "numbers"), "%s: %s", large, o.Detail)
	}
}

// TestLargeNumbersEverywhere requires that whatever is found of a table of large integers quotes the digits that were sent.
func TestLargeNumbersEverywhere(t *testing.T) {
	t.Parallel()
	table := tableOf("readings", "", nil, "id number", "reading number", "place string")
	sent := map[string]bool{}
	for i := range 30 {
		n := 90071992547409932 + 1000*int64(i)
		sent[strconv.FormatInt(n, 10)] = true
		table.Rows = append(table.Rows, []wire.Value{wire.Int(int64(i)), wire.Int(n), wire.Text(fmt.Sprint("place ", i%7))})
	}
	numbers := cellTexts(func(_, text string) any {
		if sent[text] {
			return json.Number(text)
		}
		return text
	})
	shown := map[string]bool{}
	for name, fault := range map[string]layer{
		"filters are forgotten": bodies(drops("and"), wire.PathQuery),
		"offsets are one more":  bodies(where(asks("offset>0"), adds("offset", 1)), wire.PathQuery),
		"sorts are forgotten":   bodies(drops("sort"), wire.PathQuery),
	} {
		r := grade(t, numbers(fault(plain(table))), with(live, matching(`^(L|M)`), atMost(testrun.Budget(300))))
		for _, o := range r.Failures() {
			for _, n := range regexp.MustCompile(`\b9007[0-9]{13}\b`).FindAllString(o.Expected+" "+o.Received, -1) {
				require.True(t, sent[n], "%s: %s of %s: %s\nexpected %s\nreceived %s", n, o.ID, name, o.Detail, o.Expected, o.Received)
				shown[o.ID] = true
			}
		}
	}
	t.Log(slices.Sorted(maps.Keys(shown)))
	require.Subset(t, slices.Collect(maps.Keys(shown)), []string{"L2", "L10"})
}

// withoutCase sorts texts as many databases do unless they are told otherwise. It leaves joins as they are.
func withoutCase(req *connector.Query, t *oracle.Table) {
	if len(req.Joins) > 0 {
		return
	}
	reorder(t, t.Rows, req.Sort[:1], nullsLast(func(a, b wire.Value, _ wire.Type) int {
		if a.Kind() != wire.KindText {
			return 0
		}
		return strings.Compare(strings.ToLower(a.Text()), strings.ToLower(b.Text()))
	}))
}

// shuffled returns a connector that answers rows that tie in another order each time, joined rows aside.
func shuffled(tables func() []memsource.Table) func() http.Handler {
	return stocked(tables, twist{rows: func(req *connector.Query, t *oracle.Table, _, _ int64) {
		if len(req.Joins) > 0 {
			return
		}
		eachTie(t, req.Sort, func(rows [][]wire.Value) {
			rand.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		})
	}})
}

// pagedTables returns the data of a warehouse: movements that fill many upstream pages,
// of parts whose parents are parts too, and a view.
func pagedTables() []memsource.Table { return tablesIn("warehouse") }

// warehouse returns the connector of these tables with something twisted, and layers around it.
func warehouse(w twist, layers ...layer) func() http.Handler {
	return over(stocked(pagedTables, w), layers...)
}

// warning is a connector whose discovery warns of something.
func warning() http.Handler {
	return ok(sets("warnings", []string{`table orders: the path "items[].total" is in no document, so that the column is null`}),
		wire.PathDiscovery)(untouched())
}

func live(g *grading) { g.Mode = conformance.ModeLive }

var liveMeasureFaults = overLiveData([]fault{
	broken("exact size counts one more", "an exact size equals streamed rows", "L1",
		over(untouched, edits(func(body map[string]any) {
			if size, ok := body["size"].(map[string]any); ok {
				size["rows"] = integer(size, "rows") + 1
			}
		}, wire.PathSize))),
	broken("count off by one with a filter", "/count and /query answer to the same filters", "L3",
		over(untouched, onlyFor(wire.PathCount, asks("and>0"), edits(
			where(asks("count>0"), adds("count", -1)), wire.PathCount)))),
	broken("more distinct values than values", "measured counts stay ordered", "L4",
		over(untouched, edits(eachColumn(func(c map[string]any) { c["distinct"] = integer(c, "nonNull") + 1 }), wire.PathCardinality))).
		behind("P3.11c", "the answer contradicts itself").refused("measure-13"),
	broken("estimated distinct counts", "a column that cannot be counted distinctly answers null, and not a guess", "L4",
		over(untouched, edits(eachColumn(func(c map[string]any) { c["distinct"] = (integer(c, "distinct") + 1) / 2 }), wire.PathCardinality))),
	broken("orphan rate in percent", "the orphan rate is a share", "L9",
		over(untouched, rated(func(rate float64) float64 { return 100 * rate }))).
		behind("P3.11a", "the answer contradicts its schema").refused("measure-8"),
	broken("samples of linked keys", "the samples are those of orphans", "L9", over(untouched, edits(
		where(asks("orphanSamples"), sets("orphanSamples", []string{"1", "2"})), wire.PathLinkHitRate))),
	broken("the group of null is lost", "the folded rows have it, and a wrong number is never legal", "L8",
		stocked(shop, folding(func(req *wire.AggregateRequest) {
			for _, g := range req.GroupBy {
				req.And = append(req.And, wire.Filter{Field: g.Field, Op: wire.OpNotNull})
			}
		}))),
	broken("aggregates ignore their filters", "every route answers to the same filters", "M10",
		stocked(shop, folding(func(req *wire.AggregateRequest) { req.And = nil }))).
		behind("L8", "its aggregates have filters, too").refused("aggregate-13"),
	broken("sums as floats", "a wrong number is never legal", "L8", over(untouched, edits(eachOf(func(row map[string]any) {
		for name, v := range row {
			if text, ok := v.(string); ok && strings.Contains(text, ".") && terms.IsDecimal(text) {
				row[name] = text + "0000000000000001"
			}
		}
	}, "rows"), wire.PathAggregate))),
})

// eachColumn edits what an answer says of each column.
func eachColumn(edit func(map[string]any)) func(body map[string]any) {
	return func(body map[string]any) {
		columns, _ := body["columns"].(map[string]any)
		for _, c := range columns {
			if c, ok := c.(map[string]any); ok {
				edit(c)
			}
		}
	}
}

var liveRowFaults = overLiveData([]fault{
	broken("an operator that is another", "every row answered must satisfy every filter with a declared operator", "L2",
		tampered(eachFilter(as(wire.OpGte), wire.OpGt))).refused("stream-11"),
	broken("a filter that loses rows", "none of the rows that satisfy a filter is missing", "L2",
		tampered(eachFilter(as(wire.OpStartsWith), wire.OpIncludes))),
	broken("a unique field that is not", "a key declared unique that is not really unique breaks joins", "L5",
		over(untouched, described("customers", "country", "unique", true))),
	broken("a key that is null", "a declared key that is not nullable is never null", "L5",
		over(untouched, described("customers", "email", "nullable", false))).refused("discovery-7"),
	broken("pages overlap", "pages compose", "L6", over(untouched, bodies(
		where(asks("offset>0", "limit"), adds("offset", -1)), wire.PathQuery))).
		behind("M20", "a window is compared with the whole read before pages are"),
	broken("skips before it filters", "the window is cut from the rows that satisfy the filters", "M12",
		over(untouched, bodies(where(asks("and>0", "offset>0"), func(body map[string]any) {
			body["offset"] = integer(body, "offset") / 2
		}), wire.PathQuery))).behind("L6", "its pages have a filter"),
	broken("ties in another order for each request", "ties are broken so that pages compose", "A.15", shuffled(shop)),
	broken("sorts without case", "text sorts by its bytes", "L7", stocked(shop, twist{order: withoutCase})).refused("stream-2"),
	broken("descending is ascending", "the rows are not in the requested order", "L7", tampered(upwards(""))).refused("stream-2"),
	broken("local time", "datetimes cross as ISO 8601 in UTC", "L10", over(untouched, textsOf("since", func(text string) any {
		return strings.Replace(strings.TrimSuffix(text, "Z"), "T", " ", 1)
	}))),
	broken("datetimes without a zone", "a datetime is an instant: ISO 8601 in UTC", "L10",
		over(untouched, textsOf("since", func(text string) any { return strings.TrimSuffix(text, "Z") }))),
	broken("a warning of a path that leads nowhere", "what discovery warns of is not answered", "A.37", warning),
	broken("a warning, to a strict run", "what discovery warns of is not answered", "A.37", warning).
		graded(func(g *grading) { live(g); g.Strict = true }),
	broken("decimals as floats", "decimals cross as digit-exact strings", "L10",
		over(untouched, textsOf("amount", func(text string) any { return json.Number(text) }))),
	broken("large integers as numbers", "integers beyond 2^53 cross as strings", "L10", numbersOf("90071992547409936")),
	broken("a null where there is none", "discovery says that the column is not nullable", "L10",
		over(untouched, described("orders", "note", "nullable", false))).refused("discovery-7"),
	broken("nin drops nulls, live", "with the platform's semantics nin keeps a null cell", "L2",
		tampered(asking(func(req *connector.Query) {
			for _, f := range req.And {
				if f.Op == wire.OpNin {
					req.And = append(req.And, wire.Filter{Field: f.Field, Op: wire.OpNotNull})
				}
			}
		}))),
	broken("in looks at the first member alone", "a member of the list is as good as another", "L2",
		tampered(eachFilter(firstMembers(1), wire.OpIn))),
	broken("several conjuncts are alternatives", "all filters of and must hold", "M11",
		tampered(asking(func(req *connector.Query) {
			if len(req.And) > 1 && len(req.Or) == 0 {
				req.And, req.Or = nil, slices.Collect(slices.Chunk(req.And, 1))
			}
		}))),
	broken("equal rows are merged", "a projection does not change how many rows there are", "M7",
		over(untouched, linesOf("rows", func(line []byte, emit func(...string)) {
			var distinct []string
			for _, row := range rowsOf(line) {
				if !slices.Contains(distinct, string(row)) {
					distinct = append(distinct, string(row))
				}
			}
			emit(`{"rows":[`, strings.Join(distinct, ","), "]}\n")
		}))).behind("M7, or M21", "joins are asked for with few columns, too"),
})

// vendor is the API of a business system that has the orders of the shop: it filters by
// parameters such as "amount.gte", sorts by "sort", and answers from "offset" on.
type vendor struct {
	data *oracle.Table
	// keep decides on rows that pass the filters: false leaves them out.
	keep func(f wire.Filter, cell wire.Value) bool
}

func (v *vendor) RoundTrip(r *http.Request) (*http.Response, error) {
	query := r.URL.Query()
	asked := wire.QueryRequest{Table: v.data.Name}
	for _, c := range v.data.Columns {
		asked.Fields = append(asked.Fields, c.Name)
		for _, op := range []wire.Op{wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpGte, wire.OpLt, wire.OpLte, wire.OpIncludes, wire.OpStartsWith} {
			for _, value := range query[c.Name+"."+string(op)] {
				asked.And = append(asked.And, wire.Filter{Field: c.Name, Op: op, Value: wire.Text(value)})
			}
		}
		if query.Has(c.Name + ".in") {
			in := wire.Filter{Field: c.Name, Op: wire.OpIn}
			for value := range strings.SplitSeq(query.Get(c.Name+".in"), ",") {
				in.Values = append(in.Values, wire.Text(value))
			}
			asked.And = append(asked.And, in)
		}
	}
	if name, down := strings.CutPrefix(query.Get("sort"), "-"); name != "" {
		asked.Sort = []wire.SortKey{{Field: name, Dir: map[bool]wire.Direction{false: wire.Asc, true: wire.Desc}[down]}}
	}
	found, err := oracle.Query(oracle.Tables{v.data.Name: v.data}, &asked)
	if err != nil {
		return nil, err
	}
	rows := found.Rows
	if v.keep != nil {
		rows = slices.DeleteFunc(slices.Clone(rows), func(row []wire.Value) bool {
			return slices.ContainsFunc(asked.And, func(f wire.Filter) bool { return !v.keep(f, row[v.data.Index(f.Field)]) })
		})
	}
	offset, _ := strconv.ParseInt(query.Get("offset"), 10, 64)
	limit, _ := strconv.ParseInt(query.Get("limit"), 10, 64)
	from, to := cut(offset, limit, len(rows))
	data := []map[string]any{}
	for _, row := range rows[from:to] {
		item := map[string]any{}
		for i, c := range v.data.Columns {
			item[c.Name] = row[i]
		}
		data = append(data, item)
	}
	rec := httptest.NewRecorder()
	sends(rec, http.StatusOK, "application/json", string(marshalled(map[string]any{"total": len(rows), "data": data})))
	return rec.Result(), nil
}

// declared serves the vendor's orders by restsource, as an author declares them.
func declared(mistake func(*vendor, *restsource.Table)) func() http.Handler {
	return func() http.Handler {
		v := &vendor{data: oracleTable(shop()[1])}
		t := restsource.Table{
			Name: "orders", Description: "What was bought.", Path: "/orders", Rows: "data", Key: []string{"id"}, Total: "total",
			Pages: restsource.Pages{By: restsource.PagingOffset, Param: "offset", SizeParam: "limit", Size: 25},
			Sorts: []restsource.Sort{{Column: "ordered", Asc: "sort=ordered", Desc: "sort=-ordered"}},
		}
		for _, c := range v.data.Columns {
			t.Columns = append(t.Columns, restsource.Column{Name: c.Name, Type: c.Type})
		}
		for _, f := range []struct {
			column string
			ops    []wire.Op
		}{
			{"status", []wire.Op{wire.OpEq, wire.OpIn, wire.OpStartsWith}}, {"note", []wire.Op{wire.OpIncludes}},
			{"amount", []wire.Op{wire.OpGte, wire.OpLte, wire.OpGt}}, {"ordered", []wire.Op{wire.OpGte, wire.OpLt}},
		} {
			for _, op := range f.ops {
				t.Filters = append(t.Filters, restsource.Param{
					Column: f.column, Op: op, Name: f.column + "." + string(op), Separator: map[wire.Op]string{wire.OpIn: ","}[op]})
			}
		}
		mistake(v, &t)
		return serve(connector.Definition{}, must(restsource.New(restsource.API{Base: "https://vendor.example", Check: "/orders?limit=1"},
			[]restsource.Table{t}, &restsource.Options{Transport: v, Attempts: 1})), nil)
	}
}

// parameter is a mistake in how one parameter is sent.
func parameter(column string, op wire.Op, change func(p *restsource.Param)) func(*vendor, *restsource.Table) {
	return func(_ *vendor, t *restsource.Table) {
		change(&t.Filters[slices.IndexFunc(t.Filters, func(p restsource.Param) bool { return p.Column == column && p.Op == op })])
	}
}

func spelt(change func(string) string) func(p *restsource.Param) {
	return func(p *restsource.Param) {
		p.Spell = func(v wire.Value) (string, bool) { return change(v.String()), true }
	}
}

// vendorFaults are mistakes of authors who declare the endpoints of an API: what a parameter leaves out, no library can add.
var vendorFaults = overLiveData([]fault{
	broken("a parameter is sent in lower case", "eq compares bytes", "L2",
		declared(parameter("status", wire.OpEq, spelt(strings.ToLower)))),
	broken("gte is declared as the API's later than", "gte has its bound", "L2",
		declared(parameter("ordered", wire.OpGte, func(p *restsource.Param) { p.Name = "ordered.gt" }))),
	broken("a date is sent a day late", "a date is that of its row", "L2",
		declared(parameter("ordered", wire.OpGte, spelt(func(s string) string {
			day, err := time.Parse(time.DateOnly, s)
			if err != nil {
				return s
			}
			return day.AddDate(0, 0, 1).Format(time.DateOnly)
		})))),
	broken("money is sent without its cents", "decimals keep their digits", "L2",
		declared(parameter("amount", wire.OpLte, spelt(func(s string) string {
			whole, _, _ := strings.Cut(s, ".")
			return whole
		})))),
	broken("the values of a list are joined by another separator", "in has every value", "L2",
		declared(parameter("status", wire.OpIn, func(p *restsource.Param) { p.Separator, p.Name = "&", "status.in" }))),
	broken("includes is declared as a prefix", "includes looks at all of a text", "L2",
		declared(parameter("note", wire.OpIncludes, func(p *restsource.Param) { p.Name = "note.startswith" }))),
	broken("the vendor answers no row of a value that is 0", "0 is a number", "L2", declared(func(v *vendor, _ *restsource.Table) {
		v.keep = func(f wire.Filter, cell wire.Value) bool {
			return f.Field != "amount" || !strings.HasPrefix(strings.TrimPrefix(cell.String(), "-"), "0")
		}
	})),
})
