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
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// shop returns the data of a small business: keys, a foreign key with orphans, nulls, ties, and every type of field.
func shop() []memsource.Table {
	customers := memsource.Table{Table: wire.Table{
		Name: "customers", SourceDescription: "Who buys.", PrimaryKey: []string{"id"},
		Fields: fieldsOf("id number!", "name string", "email string!", "country string", "active boolean", "since datetime", "tags array",
			"profile json"),
	}}
	orders := memsource.Table{Table: wire.Table{
		Name: "orders", SourceDescription: "What was bought.", PrimaryKey: []string{"id"},
		ForeignKeys: links("customer customers.id"),
		Fields:      fieldsOf("id reference!", "customer number", "amount decimal", "ordered date", "status string", "note string"),
	}}
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
	table := memsource.Table{Table: wire.Table{Name: "readings", StoresRows: true, PrimaryKey: []string{"id"},
		Fields: fieldsOf("id number", "reading number")}}
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
	table := memsource.Table{Table: wire.Table{Name: "readings", StoresRows: true, PrimaryKey: []string{"id"},
		Fields: fieldsOf("id number", "reading number", "place string")}}
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
	parts := memsource.Table{Table: wire.Table{
		Name: "parts", SourceDescription: "What is stored.", PrimaryKey: []string{"no"},
		ForeignKeys: links("parent parts.no"),
		Fields:      fieldsOf("no number!", "parent number", "label string", "weight decimal"),
	}}
	moves := memsource.Table{Table: wire.Table{
		Name: "moves", SourceDescription: "What came and went.", PrimaryKey: []string{"id"},
		ForeignKeys: links("part parts.no"),
		Fields:      fieldsOf("id number!", "part number", "amount number", "price decimal", "at datetime", "day date", "code string"),
	}}
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
