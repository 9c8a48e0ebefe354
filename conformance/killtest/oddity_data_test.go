package killtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func eachButManifest(edit func(table map[string]any)) layer {
	return eachTable(func(table map[string]any) {
		if table["name"] != manifestTable {
			edit(table)
		}
	})
}

// oddDiscoveries are what is odd about discovery.
var oddDiscoveries = []oddity{
	{name: "no optional member", why: "rowCount, stats and the flags are optional", layer: eachButManifest(func(table map[string]any) {
		delete(table, "rowCount")
		eachOf(drops("stats", "filterable", "groupable", "aggregatable"), "fields")(table)
	})},
	{name: "no samples", why: "an array, which may be empty", build: over(untouched, eachTable(eachOf(sets("samples", []any{}), "fields")))},
	{name: "views", why: "a view stores no rows and has no key", build: over(untouched, eachButManifest(func(table map[string]any) {
		table["storesRows"], table["primaryKey"], table["foreignKeys"] = false, []any{}, []any{}
		eachOf(sets("unique", false), "fields")(table)
	}))},
	{name: "keys that lead to their own table", why: "a table may refer to itself",
		build: over(untouched, eachButManifest(func(table map[string]any) {
			for _, key := range table["primaryKey"].([]any) {
				own := map[string]any{"field": key, "targetTable": table["name"], "targetField": key}
				table["foreignKeys"] = append(table["foreignKeys"].([]any), own)
			}
		}))},
	{name: "everything may be null", why: "a source need not know better",
		build: over(untouched, eachTable(eachOf(sets("nullable", true), "fields")))},
	{name: "warnings", why: "warnings are texts for people",
		layer: ok(sets("warnings", []any{"Two tables are not shown.", ""}), wire.PathDiscovery)},
	{name: "tables in any order", why: "an array of tables", layer: ok(func(body map[string]any) {
		tables := body["tables"].([]any)
		rand.Shuffle(len(tables), func(i, j int) { tables[i], tables[j] = tables[j], tables[i] })
	}, wire.PathDiscovery)},
	{name: "members of a vendor in discovery", why: "advice at most", layer: eachButManifest(sets("x-owner", "sales"))},
}

// holding serves tables.
func holding(tables ...memsource.Table) func() http.Handler {
	return func() http.Handler { return plain(tables...) }
}

// nullableTable returns a table whose fields may all be null.
func nullableTable(name, fields string, rows ...[]wire.Value) memsource.Table {
	t := memsource.Table{Rows: rows, Table: wire.Table{Name: name, SourceDescription: "Odd.",
		Fields: fieldsOf(strings.Split(fields, ", ")...)}}
	for i := range t.Fields {
		t.Fields[i].Nullable = true
	}
	return t
}

func asInt(n int) wire.Value { return wire.Int(int64(n)) }

// untold says of fields that they can be neither filtered, grouped nor aggregated.
func untold(fields []wire.Field, every int) {
	for i := every - 1; i < len(fields); i += every {
		fields[i].Filterable, fields[i].Groupable, fields[i].Aggregatable = new(false), new(false), new(false)
	}
}

// oddTables are what is odd about data.
var oddTables = []oddity{
	{name: "no tables", why: "an array of tables, which may be empty", rowless: true, build: holding()},
	{name: "empty tables", why: "a table may hold no rows", rowless: true, build: func() http.Handler {
		tables := corpus.Tables()
		for i := range tables {
			tables[i].Rows = nil
		}
		return serve(connector.Definition{KeysEnforced: true}, source(inMemory(tables)...), nil)
	}},
	{name: "no column that can be compared", why: "fields say of themselves whether they can be filtered, grouped, aggregated",
		build: func() http.Handler {
			t, _ := corpusTable("customers")
			untold(t.Fields, 1)
			return plain(memsource.Table(t))
		}},
	{name: "one row and none", why: "a table may hold as many", build: holding(
		nullableTable("none", "a string"), nullableTable("one", "a string, b number", []wire.Value{wire.Text("x"), wire.Int(1)}))},
	{name: "rows that look alike", why: "without a key rows may repeat",
		build: holding(nullableTable("alike", "a string, b number", repeated(30, wire.Text("x"), wire.Int(1))...))},
	{name: "nothing but nulls", why: "cells may be null",
		build: holding(nullableTable("nulls", "a string, b decimal, c datetime", repeated(12, wire.Null(), wire.Null(), wire.Null())...))},
	{name: "one column", why: "a table has fields, one may do", build: holding(nullableTable("single", "only boolean",
		[]wire.Value{wire.Bool(true)}, []wire.Value{wire.Null()}, []wire.Value{wire.Bool(false)}))},
	{name: "every name is a word of the protocol", why: "a name is any text", build: holding(wordy("rows"), wordy("error"), wordy("t"))},
	{name: "names of any characters", why: "a name is any text", build: holding(named("orders 2024"), named(`say "hi"`), named("a/b"),
		named("größe.📦"), named(strings.Repeat("long", 50)), named("x'; drop table y; --"), named("../check"), named("%41+&?#"))},
	{name: "names that differ in case", why: "names are exact", build: holding(
		nullableTable("Cases", "id number, Id number, ID string", numbered(25, func(n int) []wire.Value {
			return []wire.Value{asInt(n), asInt(-n), wire.Text(fmt.Sprint("x", n%3))}
		})...), nullableTable("cases", "id string", []wire.Value{wire.Text("lower")}))},
	{name: "everything is text", why: "a file of comma-separated values knows no types", build: holding(
		nullableTable("csv", "id string, amount string, day string, ok string", numbered(40, func(n int) []wire.Value {
			return []wire.Value{wire.Text(fmt.Sprint(n)), wire.Text(fmt.Sprintf("%d.50", n%7)), wire.Text(fmt.Sprintf("2024-02-%02d", n%28+1)),
				wire.Text([]string{"true", "false", "", "TRUE"}[n%4])}
		})...))},
	{name: "JSON with blanks", why: "JSON text is text", build: holding(
		nullableTable("documents", "id number, doc json, tags array", numbered(20, func(n int) []wire.Value {
			return []wire.Value{asInt(n), wire.Text(fmt.Sprintf(`{ "n" : %d }`, n%4)), wire.Text(fmt.Sprintf(`[ "a", "%d" ]`, n%3))}
		})...))},
	{name: "days as midnights", why: "a source may have no type for days", build: holding(
		nullableTable("days", "id number, day datetime", numbered(40, func(n int) []wire.Value {
			return []wire.Value{asInt(n), wire.Text(fmt.Sprintf("20%02d-%02d-%02dT00:00:00Z", 10+n%20, n%12+1, n%28+1))}
		})...))},
	{name: "the ends of what there is", why: "numbers, instants and texts of any size", build: holding(extremes())},
	{name: "fields that only come along", why: "fields say whether they can be filtered, grouped, aggregated",
		build: func() http.Handler {
			tables := shop()
			for _, t := range tables {
				untold(t.Fields, 2)
			}
			return plain(tables...)
		}},
	{name: "rows in another order each time", why: "ties may stand in any order", build: shuffled(shop)},
	{name: "more rows than a batch", why: "5,000 rows are a batch", build: holding(
		nullableTable("many", "id number, part string", numbered(12_000, func(n int) []wire.Value {
			return []wire.Value{asInt(n), wire.Text(fmt.Sprint("p", n%1500))}
		})...))},
	{name: "a hundred columns", why: "a table may be wide", build: holding(tablesIn("wide")...)},
}

// firstRowsOfAll serves the first rows of every table.
func firstRowsOfAll(rows int, count func(all, served int) *int64) func() http.Handler {
	return func() http.Handler {
		tables := corpus.Tables()
		for i, t := range tables {
			tables[i].Rows = t.Rows[:min(len(t.Rows), rows)]
			tables[i].RowCount = count(len(t.Rows), len(tables[i].Rows))
		}
		return serve(connector.Definition{Limits: wire.Limits{RowsPerTableMax: int64(rows)}}, source(inMemory(tables)...), nil)
	}
}

func knownCount(all, _ int) *int64 { return new(int64(all)) }

// oddCorpora are connectors that serve the corpus oddly: they declare little, or
// ceilings and keep to them, or spell cells in ways that no sentence forbids.
var oddCorpora = []oddity{
	{name: "a superset of the rows", corpus: everything,
		why: "a filter the connector does not push may be answered with a superset, with served.filters false"},
	{name: "nothing declared", why: "a connector that pushes nothing is correct but slower",
		corpus: ofCorpus(connector.Definition{}, undeclared)},
	{name: "one sort key, no offset, few operators", why: "the document declares what it does",
		corpus: ofCorpus(
			connector.Definition{Limits: wire.Limits{PageSizeMax: 500, RowsPerTableMax: 100_000, Concurrency: 1, OffsetMax: 100}},
			connector.Omit{Operators: []wire.Op{wire.OpContains, wire.OpIncludes, wire.OpStartsWith, wire.OpNin},
				Sort: wire.SortSingle, Offset: true})},
	{name: "rows in an order of its own", why: "a request without a sort names no order, and ties may stand in any",
		corpus: func() http.Handler { return serve(connector.Definition{}, shuffledSource(), nil) }},
	{name: "a ceiling that is obeyed", why: "rowsPerTableMax is a ceiling of the source", corpus: firstRowsOfAll(1000, knownCount)},
	{name: "a ceiling that is obeyed, of tables of unknown size", why: "rowCount is optional",
		corpus: firstRowsOfAll(1000, func(int, int) *int64 { return nil })},
	{name: "a ceiling that is all it knows", why: "a source that stops there counts no further",
		corpus: firstRowsOfAll(1000, func(_, served int) *int64 { return new(int64(served)) })},
	{name: "a low ceiling", why: "the manifest can still be read", corpus: firstRowsOfAll(20, knownCount)},
	{name: "pages without a limit end too", why: "the platform plans its reads within pageSizeMax",
		corpus: over(limited(wire.Limits{PageSizeMax: 2000}), requests(wire.PathQuery, func(body map[string]any) {
			if _, limited := body["limit"]; !limited {
				body["limit"] = 2000
			}
		}))},
	{name: "booleans as texts", why: "a value is a string, a number, a boolean or null", corpus: booleansAsTexts},
	{name: "documents with blanks", why: "JSON text, with or without blanks", corpus: documentsWithBlanks},
}

func repeated(n int, row ...wire.Value) [][]wire.Value {
	return numbered(n, func(int) []wire.Value { return row })
}

func numbered(n int, row func(n int) []wire.Value) (rows [][]wire.Value) {
	for i := range n {
		rows = append(rows, row(i))
	}
	return rows
}

// wordy returns a table whose names are words of the protocol.
func wordy(name string) memsource.Table {
	t := tablesIn("words")[0]
	t.Name = name
	return t
}

// named returns a table of a name, whose fields have odd names as well.
func named(name string) memsource.Table {
	return memsource.Table{
		Table: wire.Table{Name: name, SourceDescription: "Names.", PrimaryKey: []string{name},
			Fields: []wire.Field{{Name: name, Type: wire.TypeNumber, Unique: true}, {Name: " ", Type: wire.TypeString, Nullable: true},
				{Name: "a.b[0]", Type: wire.TypeDecimal, Nullable: true}, {Name: `"`, Type: wire.TypeDate, Nullable: true}}},
		Rows: numbered(9, func(n int) []wire.Value {
			return []wire.Value{wire.Int(int64(n)), wire.Text(name), wire.Decimal(fmt.Sprintf("%d.5", n%3)), wire.Text("2024-02-29")}
		}),
	}
}

// extremes returns a table of the largest, the smallest and the strangest.
func extremes() memsource.Table {
	t := memsource.Table{Table: wire.Table{Name: "extremes", SourceDescription: "The ends.",
		Fields: fieldsOf("n number?", "d decimal?", "at datetime?", "s string?")}}
	numbers := []string{"0", "-1", "9007199254740993", "-9223372036854775808", "18446744073709551616", "0.1", "1"}
	decimals := []string{"0.00", "-0.01", "99999999999999999999999999999999999999.99", "0.000000000000000000001", "1.10", "1.1", "-5"}
	instants := []string{"0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "1969-12-31T23:59:59Z", "2024-02-29T12:00:00Z",
		"2038-01-19T03:14:08Z", "1900-01-01T00:00:00.1Z", "2000-01-01T00:00:00Z"}
	texts := []string{"", " ", "tab\tand\nline", "nul\x00", "🏳️‍🌈 e\u0301 é", "\u202eright to left", strings.Repeat("x", 5000)}
	for i := range 28 {
		t.Rows = append(t.Rows, []wire.Value{wire.Text(numbers[i%7]), wire.Decimal(decimals[(i+i/7)%7]),
			wire.Text(instants[(i+2*(i/7))%7]), wire.Text(texts[(i+3*(i/7))%7])})
	}
	return t
}

// shuffledSource holds its rows in an order of its own.
func shuffledSource() connector.Source {
	tables, random := corpus.Tables(), rand.New(rand.NewPCG(7, 7))
	for _, t := range tables {
		random.Shuffle(len(t.Rows), func(i, j int) { t.Rows[i], t.Rows[j] = t.Rows[j], t.Rows[i] })
	}
	return source(inMemory(tables)...)
}

// everything is a connector that answers every query that it does not refuse with all rows and all fields of its table, and
// leaves the rest to the platform.
func everything() http.Handler {
	h := serve(connector.Definition{}, source(inMemory(corpus.Tables())...), &connector.Options{Omit: undeclared})
	all := serving(false, false)(unwindowed(bodies(func(body map[string]any) {
		fields := []any{}
		t, _ := corpusTable(textOf(body["table"]))
		for _, f := range t.Fields {
			fields = append(fields, f.Name)
		}
		body["and"], body["sort"], body["fields"] = []any{}, []any{}, fields
		delete(body, "or")
	}, wire.PathQuery)(h)))
	return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
		if r.URL.Path != wire.PathQuery {
			return false
		}
		asked := httptest.NewRecorder()
		h.ServeHTTP(asked, withBody(r, *body))
		if asked.Code == http.StatusOK {
			asked = httptest.NewRecorder()
			all.ServeHTTP(asked, withBody(r, *body))
		}
		replay(w, asked)
		return true
	})(h)
}

// jsonTokens are the tokens of JSON.
var jsonTokens = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+`)

// respelt writes all that h answers in another spelling of each token, streams line by line.
func respelt(spell func(token string) string) layer {
	return rewritten(func(text string) string { return jsonTokens.ReplaceAllStringFunc(text, spell) })
}

// rewritten passes every text of JSON that h answers through change, streams line by line.
func rewritten(change func(text string) string) layer {
	stream := lines(func(line []byte, emit func(...string)) { emit(change(string(bytes.TrimSpace(line))), "\n") })
	whole := answered(func(_ *http.Request, rec *httptest.ResponseRecorder) {
		rec.Body = bytes.NewBufferString(change(rec.Body.String()))
	}, wholePaths...)
	return func(h http.Handler) http.Handler { return stream(whole(h)) }
}

// escaped writes every character of a text as \uXXXX.
func escaped(token string) string {
	var text string
	if token[0] != '"' || json.Unmarshal([]byte(token), &text) != nil {
		return token
	}
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		fmt.Fprintf(&b, `\u%04X`, unit)
	}
	return `"` + b.String() + `"`
}

// backwards writes the members of objects from the last to the first.
func backwards(text string) string {
	var write func(v any) string
	write = func(v any) string {
		var parts []string
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				parts = append(parts, string(marshalled(name))+":"+write(member))
			}
			slices.Sort(parts)
			slices.Reverse(parts)
			return "{" + strings.Join(parts, ",") + "}"
		case []any:
			for _, element := range v {
				parts = append(parts, write(element))
			}
			return "[" + strings.Join(parts, ",") + "]"
		}
		return string(marshalled(v))
	}
	if tree := parsed([]byte(text)); tree != nil {
		return write(tree)
	}
	return text
}

// withExponent writes numbers as 1.5e+01, where a float64 holds them.
func withExponent(n json.Number) string {
	f, err := n.Float64()
	if err != nil || len(strings.Trim(n.String(), "-.0")) > 15 {
		return n.String()
	}
	return strconv.FormatFloat(f, 'e', -1, 64)
}

type trickle struct {
	http.ResponseWriter
	left int
}

func (w *trickle) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *trickle) Write(p []byte) (n int, err error) {
	for n < len(p) && w.left > 0 && err == nil {
		_, err = w.ResponseWriter.Write(p[n : n+1])
		_ = http.NewResponseController(w.ResponseWriter).Flush()
		n++
		w.left--
	}
	if err != nil || n == len(p) {
		return n, err
	}
	rest, err := w.ResponseWriter.Write(p[n:])
	return n + rest, err
}
