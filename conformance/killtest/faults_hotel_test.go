package killtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Faults over the ten tables of a chain of hotels, each in one column or one table, as a trial from outside had them: groups,
// tenants, what discovery says, sorts, samples of orphans, instants without a zone, and refusals that tell whose a table is.

// hotelTables returns the tables of a chain. The two chains differ in their rows and have one table each that the other lacks.
func hotelTables(chain int) []memsource.Table { return sampledIn(fmt.Sprint("hotels", chain)) }

// hotel serves the first chain alone, and chains both, each to its own account.
func hotel() http.Handler { return plain(hotelTables(0)...) }

var chains = bothHotels(func(_, _ []memsource.Table) {})

// diverted passes the requests to a route, or to all if path is empty, for which a condition holds to another connector.
func diverted(build func() http.Handler, path string, holds func(body map[string]any) bool) layer {
	return func(h http.Handler) http.Handler {
		other := build()
		return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
			tree := parsed(*body)
			diverts := (path == "" || r.URL.Path == path) && mayAsk(r) && tree != nil && holds(tree)
			if diverts {
				other.ServeHTTP(w, withBody(r, *body))
			}
			return diverts
		})(h)
	}
}

// groupedHotels returns a fault of the groups of a table by a field, by a grain if it is not empty.
func groupedHotels(name, table, field, grain string, edit func(row []wire.Value)) fault {
	kill, key := "L8", []string{"field=" + field}
	if grain != "" {
		kill, key = "M24", append(key, "grain="+grain)
	}
	other := func() http.Handler {
		tables := firstHotels()
		for _, t := range tables {
			for i := 0; t.Name == table && i < len(t.Rows); i++ {
				edit(t.Rows[i])
			}
		}
		return plain(tables...)
	}
	return broken(name, "groups are those of the rows' values", kill, over(hotel, diverted(other, wire.PathAggregate,
		func(body map[string]any) bool { return body["table"] == table && having("groupBy", asks(key...))(body) }))).graded(live)
}

var plainLetters = strings.NewReplacer("ö", "o", "è", "e", "P", "p")

var hotelGroupFaults = []fault{
	groupedHotels("a quarter is the month divided by three", "invoices", "issued", "quarter",
		func(row []wire.Value) { row[3] = later(row[3], 1, 0) }),
	groupedHotels("cities of guests are grouped without case and accents", "guests", "city", "", func(row []wire.Value) {
		if row[2].Kind() == wire.KindText {
			row[2] = wire.Text(plainLetters.Replace(row[2].Text()))
		}
	}),
	groupedHotels("rooms without a floor are grouped with the ground floor", "rooms", "floor", "", func(row []wire.Value) {
		if row[4].IsNull() {
			row[4] = wire.Int(0)
		}
	}),
	groupedHotels("hours are grouped by their whole part", "shifts", "hours", "", func(row []wire.Value) {
		whole, _, _ := strings.Cut(row[3].String(), ".")
		var n int64
		_, _ = fmt.Sscan(whole, &n)
		row[3] = wire.Int(n)
	}),
	groupedHotels("a method with a blank behind is grouped with the one without", "payments", "method", "", func(row []wire.Value) {
		row[3] = wire.Text(strings.TrimRight(row[3].Text(), " "))
	}),
}

// later returns an instant some months and days later.
func later(v wire.Value, months, days int) wire.Value {
	return wire.Datetime(must(time.Parse(time.RFC3339, v.String())).AddDate(0, months, days))
}

// bothHotels serves the tables of both chains, changed.
func bothHotels(change func(first, second []memsource.Table)) func() http.Handler {
	return func() http.Handler {
		tables := [2][]memsource.Table{hotelTables(0), hotelTables(1)}
		change(tables[0], tables[1])
		return sharedHostOf(hostDefinition, tables)
	}
}

var hotelTenantFaults = []fault{
	shared("the tenant stands in the first alternative alone", servedToNobodyElse, "M11", chains,
		diverted(bothHotels(func(first, second []memsource.Table) {
			own, other := first[3].Rows, second[3].Rows
			first[3].Rows, second[3].Rows = slices.Concat(own, other), slices.Concat(other, own)
		}), wire.PathQuery, asks("table=guests", "or>1"))).
		behind("L11", "another tenant's rows are not among those of the whole read"),
	shared("joined room types are the first tenant's", servedToNobodyElse, "M21", chains,
		diverted(bothHotels(func(first, second []memsource.Table) { second[1] = first[1] }), wire.PathQuery, asks("joins>0"))),
	shared("distinct guests are counted over all tenants", servedToNobodyElse, "L8", chains,
		diverted(bothHotels(func(first, second []memsource.Table) {
			for n, row := range second[4].Rows {
				extra := slices.Clone(row)
				extra[0] = wire.Int(int64(1000 + n))
				first[4].Rows = append(first[4].Rows, extra)
			}
		}), wire.PathAggregate, func(body map[string]any) bool {
			return body["table"] == "bookings" && having("measures", asks("fn=count_distinct"))(body)
		})),
}

// alternatives returns the lists in a member of a body.
func alternatives(body map[string]any, member string) []any {
	items, _ := body[member].([]any)
	return items
}

func typedHotels(name, kill, table, of, kind string) fault {
	return broken(name, "types are those of the rows", kill, over(hotel, described(table, of, "type", kind))).graded(live)
}

var hotelDiscoveryFaults = []fault{
	broken("samples of a role are names", "samples are values of their column", "L10",
		over(hotel, described("staff", "role", "samples", firstHotels()[7].Fields[2].Samples))).graded(live).
		accepted("only the rows of other columns show it"),
	broken("samples of birthdays are the days of arrival", "samples are values of their column", "L10",
		over(hotel, described("guests", "born", "samples", []any{"2023-03-03", "2023-03-05", "2023-03-07"}))).graded(live).
		accepted("only the rows of other columns show it"),
	typedHotels("a decimal is described as text", "L2", "bookings", "rate", "string"),
	typedHotels("a date is described as an instant", "L10", "staff", "hired", "datetime"),
	typedHotels("a fraction is described as a decimal", "L10", "shifts", "hours", "decimal"),
	strayLink("a payment is linked to its booking", hotel, "payments", "invoice", "bookings", "id"),
	strayLink("a booking is linked to the number of the room", hotel, "bookings", "room", "rooms", "number"),
	strayLink("a review is linked to the payments", hotel, "reviews", "booking", "payments", "id"),
	strayLink("a booking's guest is linked by the name", hotel, "bookings", "guest", "guests", "name"),
}

func sortedHotels(name, table, field string, compare func(a, b wire.Value, _ wire.Type) int) fault {
	return broken(name, "rows come in the order of sort", "L7", stocked(firstHotels, twist{order: func(req *connector.Query, t *oracle.Table) {
		if req.Table == table && len(req.Sort) == 1 && req.Sort[0].Field == field && len(req.Joins) == 0 {
			reorder(t, t.Rows, []wire.SortKey{{Field: t.Columns[0].Name}}, nullsLast(inOrder)) // the order of ties
			reorder(t, t.Rows, req.Sort, nullsLast(compare))
		}
	}})).graded(live)
}

func byNumber(a, b wire.Value, _ wire.Type) int { return numberIn(a) - numberIn(b) }

func numberIn(v wire.Value) (n int) { _, _ = fmt.Sscan(v.String(), &n); return n }

var hotelSortFaults = []fault{
	sortedHotels("nights are sorted as text", "bookings", "nights", byText),
	sortedHotels("room numbers are sorted by their value", "rooms", "number", byNumber),
	sortedHotels("instants are sorted by their day", "payments", "at",
		func(a, b wire.Value, _ wire.Type) int { return strings.Compare(a.String()[:10], b.String()[:10]) }),
	sortedHotels("scores are sorted by their whole part", "reviews", "score", byNumber),
	sortedHotels("names are sorted as a phone book has them", "guests", "name", func(a, b wire.Value, _ wire.Type) int {
		fold := strings.NewReplacer("ü", "u", "ó", "o", "Ó", "o", " ", "")
		return strings.Compare(fold.Replace(strings.ToLower(a.Text())), fold.Replace(strings.ToLower(b.Text())))
	}),
}

func sampled(name string, edit func(samples []any) []any) fault {
	return broken(name, "the samples are the keys without a match, each once, in byte order", "L9",
		over(hotel, ok(func(body map[string]any) {
			samples, _ := body["orphanSamples"].([]any)
			body["orphanSamples"] = edit(samples)
		}, wire.PathLinkHitRate))).graded(live)
}

var hotelOrphanFaults = []fault{
	sampled("orphans are listed as often as they occur", func(samples []any) (all []any) {
		for i, s := range samples {
			if all = append(all, s); i == 0 {
				all = append(all, s)
			}
		}
		return append([]any{}, all[:min(len(all), 20)]...)
	}),
	sampled("orphans have their blanks and marks cut off", func(samples []any) []any {
		for i, s := range samples {
			samples[i] = strings.NewReplacer("/", "", "-", "").Replace(s.(string))
		}
		return append([]any{}, samples...)
	}),
}

const isInstant = "a datetime is an instant: ISO 8601 in UTC"

func hotelInstants(name, kill, path string, spell func(text string) string, holds func(field string) bool) fault {
	return broken(name, isInstant, kill, over(hotel, ok(func(body map[string]any) {
		respell(body, "", spell, holds)
	}, path))).graded(live)
}

func withoutZ(text string) string { return strings.TrimSuffix(text, "Z") }

func hotelRows(name, of string, spell func(text string) string) fault {
	return broken(name, isInstant, "L10", over(hotel, textsOf(of, func(text string) any { return spell(text) }))).graded(live)
}

var hotelInstantFaults = []fault{
	hotelRows("payments are at a time without a zone", "at", withoutZ),
	hotelRows("shifts have a blank for the T", "starts", func(text string) string { return strings.Replace(text, "T", " ", 1) }),
	hotelInstants("bounds have no zone", "L8", wire.PathAggregate, withoutZ, func(string) bool { return true }),
	hotelInstants("samples have no zone", "L10", wire.PathDiscovery, withoutZ, func(field string) bool { return field == "samples" }).
		accepted("samples are shown to people, and no answer is computed from them"),
}

// respell spells the instants below some members of a body otherwise.
func respell(v any, field string, spell func(string) string, holds func(field string) bool) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = respell(member, name, spell, holds)
		}
	case []any:
		for i := range v {
			v[i] = respell(v[i], field, spell, holds)
		}
	case string:
		if len(v) > 18 && v[10] == 'T' && holds(field) {
			return spell(v)
		}
	}
	return v
}

func namesTable(member string) leading {
	return func(body map[string]any, table string) bool { return body[member] == table }
}

var hotelUnknownFaults = []fault{
	telling("a refusal says that the table is another's", "hotels", routePaths, namesTable("table"),
		refusal(404, "unknown_entity", "your account has no access to this table")),
	telling("a size says that the table is another's", "hotels", []string{wire.PathSize}, namesTable("table"),
		refusal(404, "unknown_entity", "the table belongs to another account")),
	telling("a link to a table of another's is declined", "hotels", []string{wire.PathLinkHitRate}, namesTable("toTable"),
		func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }),
	telling("a table of another's is forbidden", "hotels", []string{wire.PathCount}, namesTable("table"),
		refusal(403, "forbidden", "no access")).behind("P3.10b", "the status of that refusal belongs to another code"),
}
