package killtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
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
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// shop returns the data of a small business: keys, a foreign key with orphans, nulls, ties, and every type of field.
func shop() []memsource.Table {
	customers := tableOf("customers", "Who buys.", nil, "id number!", "name string", "email string!", "country string", "active boolean",
		"since datetime", "tags array", "profile json")
	orders := tableOf("orders", "What was bought.", links("customer customers.id"), "id reference!", "customer number", "amount decimal",
		"ordered date", "status string", "note string")
	first := time.Date(2023, time.November, 20, 9, 30, 0, 0, time.UTC)
	countries := []string{"DE", "de", "FR", "Åland", ""}
	for i := range 40 {
		customers.Rows = append(customers.Rows, []wire.Value{
			wire.Int(int64(i + 1)), wire.Text([]string{"Ada", "ada", "Zoë", "Bob"}[i%4] + fmt.Sprint(i/8)),
			unless(i%7 == 3, wire.Text(fmt.Sprintf("c%d@example.com", i))), wire.Text(countries[i%5]),
			wire.Bool(i%3 == 0), unless(i%9 == 4, wire.DatetimeWidth(first.AddDate(0, 0, 11*i), 3)),
			unless(i%7 == 3, wire.Array(wire.Text("new"), wire.Text(fmt.Sprint(i%3)))), wire.JSON(fmt.Sprintf(`{"n":%d}`, i%4)),
		})
	}
	for i := range 90 {
		orders.Rows = append(orders.Rows, []wire.Value{
			wire.Text(fmt.Sprintf("O-%03d", 7*i%90)), unless(i%13 == 5, wire.Int(int64(i%44+1))),
			wire.Decimal(fmt.Sprintf("%d.%02d", 37*i%120-10, 11*i%100)), wire.Date(first.AddDate(0, 0, 5*i)),
			wire.Text([]string{"paid", "open", "Paid"}[i%3]),
			unless(i%4 != 1, wire.Text([]string{"gift", "Gift wrap", "100%", " late"}[i/4%4])),
		})
	}
	return []memsource.Table{customers, orders}
}

// tableOf returns a table without rows. The first of its fields, which are written as [fieldsOf] reads them, is its key.
func tableOf(name, about string, keys []wire.ForeignKey, fields ...string) memsource.Table {
	t := wire.Table{Name: name, SourceDescription: about, ForeignKeys: keys, Fields: fieldsOf(fields...)}
	t.PrimaryKey = []string{t.Fields[0].Name}
	return memsource.Table{Table: t}
}

// unless returns a value, or null where there is none.
func unless(null bool, v wire.Value) wire.Value {
	if null {
		return wire.Null()
	}
	return v
}

// fieldsOf returns fields written as "name type", with a question mark where null may stand, and an exclamation mark
// where no value stands twice.
func fieldsOf(texts ...string) (fields []wire.Field) {
	for _, text := range texts {
		name, kind, _ := strings.Cut(text, " ")
		kind, nullable := strings.CutSuffix(kind, "?")
		kind, unique := strings.CutSuffix(kind, "!")
		fields = append(fields, wire.Field{Name: name, Type: wire.Type(kind), Nullable: nullable, Unique: unique})
	}
	return fields
}

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

// columnsOf edits the fields that discovery lists for a table.
func columnsOf(table string, edit func(field map[string]any)) func() http.Handler {
	return over(untouched, eachField(func(of any, field map[string]any) {
		if of == table {
			edit(field)
		}
	}))
}

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
		r := grade(t, numbersOf(large)(), ofLive("^L10$"))
		o := r.Outcome("L10")
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
		"filters are forgotten": bodies(func(body map[string]any) { delete(body, "and") }, wire.PathQuery),
		"offsets are one more": bodies(func(body map[string]any) {
			if n := integer(body, "offset"); n > 0 {
				body["offset"] = n + 1
			}
		}, wire.PathQuery),
		"sorts are forgotten": bodies(func(body map[string]any) { delete(body, "sort") }, wire.PathQuery),
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
	key := t.Index(req.Sort[0].Field)
	texts := 0 // nulls are last
	for len(req.Joins) == 0 && texts < len(t.Rows) && t.Rows[texts][key].Kind() == wire.KindText {
		texts++
	}
	sortBy(t.Rows[:texts], key, req.Sort[0].Dir, func(a, b wire.Value) int {
		return strings.Compare(strings.ToLower(a.Text()), strings.ToLower(b.Text()))
	})
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
func pagedTables() []memsource.Table {
	parts := tableOf("parts", "What is stored.", links("parent parts.no"), "no number!", "parent number", "label string", "weight decimal")
	moves := tableOf("moves", "What came and went.", links("part parts.no"), "id number!", "part number", "amount number", "price decimal",
		"at datetime", "day date", "code string")
	for i := range 60 {
		parts.Rows = append(parts.Rows, []wire.Value{
			wire.Int(int64(i + 1)), unless(i%3 == 0, wire.Int(int64(i/3+1))), wire.Text(fmt.Sprintf("part %d", i%50)),
			wire.Decimal(fmt.Sprintf("%d.%03d", i%7, 37*i%1000)),
		})
	}
	first := time.Date(2022, time.January, 1, 0, 0, 0, 0, time.UTC)
	for i := range 1230 {
		moves.Rows = append(moves.Rows, []wire.Value{
			wire.Int(int64(1000 + i)), unless(i%41 == 7, wire.Int(int64(i*7%66+1))), // some have no such part
			wire.Int(int64(i%23 - 4)), wire.Decimal(fmt.Sprintf("%d.%02d", i%97, 13*i%100)),
			wire.DatetimeWidth(first.Add(time.Duration(i)*23*time.Hour+59*time.Minute), 0), wire.Date(first.AddDate(0, 0, i)),
			wire.Text(fmt.Sprintf("%c%d", 'A'+i%5, i*i%1230)),
		})
	}
	return []memsource.Table{moves, parts}
}

// warehouse returns the connector of these tables with something twisted, and layers around it.
func warehouse(w twist, layers ...layer) func() http.Handler {
	return over(stocked(pagedTables, w), layers...)
}

// warning is a connector whose discovery warns of something.
func warning() http.Handler {
	return ok(func(body map[string]any) {
		body["warnings"] = []string{`table orders: the path "items[].total" is in no document, so that the column is null`}
	}, wire.PathDiscovery)(untouched())
}

func live(g *grading) { g.Mode = conformance.ModeLive }

// liveFaults returns connectors that are broken over real data.
func liveFaults() []fault {
	return slices.Concat(liveMeasureFaults, liveRowFaults, vendorFaults, slowFaults, tenantFaults())
}

var liveMeasureFaults = overLiveData([]fault{
	broken("exact size counts one more", "an exact size equals streamed rows", "L1",
		over(untouched, edits(func(body map[string]any) {
			if size, ok := body["size"].(map[string]any); ok {
				size["rows"] = integer(size, "rows") + 1
			}
		}, wire.PathSize))),
	broken("count off by one with a filter", "/count and /query answer to the same filters", "L3",
		over(untouched, onlyFor(wire.PathCount, hasMember("and"), edits(func(answer map[string]any) {
			if n := integer(answer, "count"); n > 0 {
				answer["count"] = n - 1
			}
		}, wire.PathCount)))),
	broken("more distinct values than values", "measured counts stay ordered", "L4",
		counting(func(c map[string]any) { c["distinct"] = integer(c, "nonNull") + 1 })).
		behind("P3.11c", "the answer contradicts itself").refused("measure-13"),
	broken("estimated distinct counts", "a column that cannot be counted distinctly answers null, and not a guess", "L4",
		counting(func(c map[string]any) { c["distinct"] = (integer(c, "distinct") + 1) / 2 })),
	broken("orphan rate in percent", "the orphan rate is a share", "L9",
		over(untouched, rated(func(rate float64) float64 { return 100 * rate }))).
		behind("P3.11a", "the answer contradicts its schema").refused("measure-8"),
	broken("samples of linked keys", "the samples are those of orphans", "L9", over(untouched, edits(func(body map[string]any) {
		if _, ok := body["orphanSamples"]; ok {
			body["orphanSamples"] = []string{"1", "2"}
		}
	}, wire.PathLinkHitRate))),
	broken("the group of null is lost", "the folded rows have it, and a wrong number is never legal", "L8",
		stocked(shop, folding(func(req *wire.AggregateRequest) {
			for _, g := range req.GroupBy {
				req.And = append(req.And, wire.Filter{Field: g.Field, Op: wire.OpNotNull})
			}
		}))),
	broken("aggregates ignore their filters", "every route answers to the same filters", "M10",
		stocked(shop, folding(func(req *wire.AggregateRequest) { req.And = nil }))).
		behind("L8", "its aggregates have filters, too").refused("aggregate-13"),
	broken("sums as floats", "a wrong number is never legal", "L8", over(untouched, edits(func(body map[string]any) {
		for _, row := range listOf(body, "rows") {
			for name, v := range row {
				if text, ok := v.(string); ok && strings.Contains(text, ".") && terms.IsDecimal(text) {
					row[name] = text + "0000000000000001"
				}
			}
		}
	}, wire.PathAggregate))),
})

func counting(edit func(map[string]any)) func() http.Handler {
	return over(untouched, edits(eachColumn(edit), wire.PathCardinality))
}

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
		columnsOf("customers", func(f map[string]any) { f["unique"] = f["unique"] == true || f["name"] == "country" })),
	broken("a key that is null", "a declared key that is not nullable is never null", "L5",
		columnsOf("customers", func(f map[string]any) {
			if f["name"] == "email" {
				f["nullable"] = false
			}
		})).refused("discovery-7"),
	broken("pages overlap", "pages compose", "L6", over(untouched, bodies(func(body map[string]any) {
		if n := integer(body, "offset"); n > 0 && body["limit"] != nil {
			body["offset"] = n - 1
		}
	}, wire.PathQuery))).behind("M20", "a window is compared with the whole read before pages are"),
	broken("skips before it filters", "the window is cut from the rows that satisfy the filters", "M12",
		over(untouched, bodies(func(body map[string]any) {
			if and, _ := body["and"].([]any); len(and) > 0 && integer(body, "offset") > 0 {
				body["offset"] = integer(body, "offset") / 2
			}
		}, wire.PathQuery))).behind("L6", "its pages have a filter"),
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
		columnsOf("orders", func(f map[string]any) {
			if f["name"] == "note" {
				f["nullable"] = false
			}
		})).refused("discovery-7"),
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
