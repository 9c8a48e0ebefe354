package killtest

import (
	"cmp"
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

// Faults over the ten tables of a chain of hotels, each in one column or one table, as a trial from outside had
// them: groups, tenants, what discovery says, sorts, samples of orphans, instants without a zone, and refusals that
// tell whose a table is.

// hotelTables returns the tables of a chain. The two chains differ in their rows and have one table each that the
// other lacks.
func hotelTables(chain int) []memsource.Table {
	day := time.Date(2023, time.March, 3, 7, 45, 0, 0, time.UTC).AddDate(0, 0, 40*chain)
	pick := func(i int, texts ...string) wire.Value { return wire.Text(texts[i%len(texts)]) }
	hotels := hotelTable("hotels", "Where guests stay.", 12, nil, func(i int) []wire.Value {
		return []wire.Value{wire.Int(int64(i + 1)), wire.Text(fmt.Sprintf("Hotel %c%d", 'A'+(i*5+chain)%12, chain)),
			pick(i+chain, "Bern", "Zürich", "Zurich", "Basel"), wire.Int(int64(2 + i%4)), wire.Date(day.AddDate(-i*3-2, i, 0))}
	}, "id number", "name string", "city string", "stars number", "opened date")
	types := hotelTable("room_types", "What a room offers.", 5, nil, func(i int) []wire.Value {
		return []wire.Value{pick(i, "SGL", "DBL", "TWN", "FAM", "STE"), pick(i, "Single", "Double", "Twin", "Family", "Suite"),
			wire.Int(int64(1 + i)), wire.Decimal(fmt.Sprintf("%d.50", 80+35*i+7*chain))}
	}, "code string", "name string", "beds number", "price decimal")
	rooms := hotelTable("rooms", "What is let.", 96, links("hotel hotels.id", "type room_types.code"), func(i int) []wire.Value {
		return []wire.Value{wire.Int(int64(i + 1)), wire.Int(int64(i%12 + 1)), wire.Text(fmt.Sprint(i/12*3+1, i%12+1+chain)),
			pick(i*7, "SGL", "DBL", "DBL", "TWN", "FAM", "STE"), unless(i%17 == 3, wire.Int(int64((i*5+i/12)%12))),
			unless(i%9 == 4, wire.Bool(i%4 == 0))}
	}, "id number", "hotel number", "number string", "type string", "floor number?", "smoking boolean?")
	guests := hotelTable("guests", "Who stays.", 120, nil, func(i int) []wire.Value {
		return []wire.Value{wire.Text(fmt.Sprintf("G%d-%04d", chain, 3*i)),
			pick(i*11, "Meier", "Müller", "meier", "Rossi", "Favre", "Ó Briain", "Lee"),
			unless(i%10 == 7, pick(i*3, "Köln", "Koln", "Paris", "Wien", "paris", "Roma", "Genève")),
			unless(i%6 == 5, wire.Text(fmt.Sprintf("guest%d.%d@example.com", i, chain))),
			unless(i%8 == 2, wire.Date(day.AddDate(-20-i%50, i%12, i))),
			wire.Datetime(day.Add(time.Duration(i*i*37) * time.Minute)), wire.Bool(i%11 == 0)}
	}, "id string", "name string", "city string?", "email string?", "born date?", "joined datetime", "vip boolean")
	bookings := hotelTable("bookings", "What was booked.", 300, links("guest guests.id", "room rooms.id"), func(i int) []wire.Value {
		return []wire.Value{wire.Int(int64(i + 1)), wire.Text(fmt.Sprintf("G%d-%04d", chain, 3*(i*7%124))), wire.Int(int64(i*5%96 + 1)),
			wire.Datetime(day.Add(time.Duration(i*1511) * time.Minute)), wire.Date(day.AddDate(0, 0, i+i%30)), wire.Int(int64(i*i%13 + 1)),
			unless(i%14 == 6, pick(i*i, "web", "phone", "agency", "walk-in")), wire.Decimal(fmt.Sprintf("%d.%02d", 70+i*i%190, i*5%100))}
	}, "id number", "guest string", "room number", "booked datetime", "arrives date", "nights number", "channel string?", "rate decimal")
	invoices := hotelTable("invoices", "What is owed.", 220, links("booking bookings.id"), func(i int) []wire.Value {
		return []wire.Value{wire.Text(fmt.Sprintf("R%d/%d", 2023+i/150, 1000+i+chain)), wire.Int(int64(i*3%300 + 1)),
			wire.Decimal(fmt.Sprintf("%d.%02d", 90+i*i*13%900, i*15%100)),
			wire.Datetime(day.Add(time.Duration(i*3331) * time.Minute)), wire.Bool(i%5 > 0)}
	}, "id string", "booking number", "total decimal", "issued datetime", "paid boolean")
	payments := hotelTable("payments", "What was paid.", 260, links("invoice invoices.id"), func(i int) []wire.Value {
		method := pick(i*3, "card", "cash", "transfer", "card")
		if i%90 == 44 {
			method = wire.Text("card ")
		}
		return []wire.Value{wire.Int(int64(5000 + i)), wire.Text(fmt.Sprintf("R%d/%d", 2023+i*4%224/150, 1000+i*4%224+chain)),
			wire.Decimal(fmt.Sprintf("%d.%02d", 20+i*i*7%400, i*35%100)), method, wire.Datetime(day.Add(time.Duration(i*i%26000) * time.Minute))}
	}, "id number", "invoice string", "amount decimal", "method string", "at datetime")
	staff := hotelTable("staff", "Who works.", 40, links("hotel hotels.id"), func(i int) []wire.Value {
		return []wire.Value{wire.Int(int64(i + 1)), wire.Int(int64(i%12 + 1)), wire.Text(fmt.Sprintf("Staff %d", (i*7+chain)%40)),
			pick(i*i, "desk", "kitchen", "cleaning", "bar"), wire.Date(day.AddDate(-i%9, -i, i)),
			wire.Text(fmt.Sprintf("0%d", 313000000+i*7919+chain))}
	}, "id number", "hotel number", "name string", "role string", "hired date", "phone string")
	shifts := hotelTable("shifts", "Who worked when.", 200, links("staff staff.id"), func(i int) []wire.Value {
		return []wire.Value{wire.Int(int64(i + 1)), wire.Int(int64(i*3%40 + 1)), wire.Datetime(day.Add(time.Duration(i*19) * time.Hour)),
			wire.Float(4 + float64(i*3%11)/2), unless(i%3 > 0, pick(i, "late", "sick", "double"))}
	}, "id number", "staff number", "starts datetime", "hours number", "note string?")
	reviews := hotelTable("reviews", "What guests said.", 90, links("booking bookings.id"), func(i int) []wire.Value {
		return []wire.Value{wire.Int(int64(i + 1)), wire.Int(int64(i*i%311 + 1)),
			unless(i%7 == 1, wire.Decimal(fmt.Sprintf("%d.%d", i*3%11, i%10))),
			wire.Text(fmt.Sprintf("Stay %d was %s", i+chain, []string{"fine", "loud", "great"}[i%3])), pick(i, "en", "de", "fr", "it")}
	}, "id number", "booking number", "score decimal?", "text string", "lang string")
	own := hotelTable([]string{"spa_visits", "ski_passes"}[chain], "What else was sold.", 15+chain, nil, func(i int) []wire.Value {
		return []wire.Value{wire.Int(int64(i + 1)), wire.Int(int64(i*i%7 + chain))}
	}, "id number", "n number")
	return []memsource.Table{hotels, types, rooms, guests, bookings, invoices, payments, staff, shifts, reviews, own}
}

// hotelTable returns a table whose fields are written as [fieldsOf] reads them. The first is the key.
func hotelTable(name, about string, n int, keys []wire.ForeignKey, row func(i int) []wire.Value, fields ...string) memsource.Table {
	t := tableOf(name, about, keys, fields...)
	t.Fields[0].Unique = true
	for i := range n {
		t.Rows = append(t.Rows, row(i))
	}
	for i := range t.Fields {
		for _, row := range t.Rows[:3] {
			if v := row[i]; !v.IsNull() {
				t.Fields[i].Samples = append(t.Fields[i].Samples, v)
			}
		}
	}
	return t
}

// links returns foreign keys written as "field table.field".
func links(texts ...string) (keys []wire.ForeignKey) {
	for _, text := range texts {
		field, target, _ := strings.Cut(text, " ")
		table, key, _ := strings.Cut(target, ".")
		keys = append(keys, wire.ForeignKey{Field: field, TargetTable: table, TargetField: key})
	}
	return keys
}

// hotel serves the first chain alone, and chains both, each to its own account.
func hotel() http.Handler { return plain(hotelTables(0)...) }

func chains() http.Handler {
	return sharedHostOf(hostDefinition, [2][]memsource.Table{hotelTables(0), hotelTables(1)})
}

// hotelWith serves the first chain with the rows of one table changed.
func hotelWith(table string, edit func(row []wire.Value)) http.Handler {
	tables := hotelTables(0)
	for _, t := range tables {
		for i := range t.Rows {
			if t.Name == table {
				edit(t.Rows[i])
			}
		}
	}
	return plain(tables...)
}

// diverted passes the requests to a route for which a condition holds to another connector.
func diverted(other http.Handler, path string, holds func(body map[string]any) bool) layer {
	return func(h http.Handler) http.Handler {
		return between(func(w http.ResponseWriter, r *http.Request, body *[]byte) bool {
			tree := parsed(*body)
			if r.URL.Path != path || !mayAsk(r) || tree == nil || !holds(tree) {
				return false
			}
			other.ServeHTTP(w, withBody(r, *body))
			return true
		})(h)
	}
}

// groupsBy reports whether a request asks for the groups of a table by a field, and by that grain if one is given.
func groupsBy(body map[string]any, table, field string, grain any) bool {
	return body["table"] == table && slices.ContainsFunc(listOf(body, "groupBy"), func(key map[string]any) bool {
		return key["field"] == field && (grain == nil || key["grain"] == grain)
	})
}

func hotelFaults() []fault {
	return slices.Concat(hotelGroupFaults, hotelTenantFaults, hotelDiscoveryFaults, hotelSortFaults, hotelOrphanFaults,
		hotelInstantFaults, hotelUnknownFaults)
}

func groupedHotels(name, table, field string, grain any, edit func(row []wire.Value)) fault {
	return broken(name, "groups are those of the rows' values", map[bool]string{false: "L8", true: "M24"}[grain != nil],
		over(hotel, func(h http.Handler) http.Handler {
			return diverted(hotelWith(table, edit), wire.PathAggregate,
				func(body map[string]any) bool { return groupsBy(body, table, field, grain) })(h)
		})).graded(live)
}

var plainLetters = strings.NewReplacer("ö", "o", "è", "e", "P", "p")

var hotelGroupFaults = []fault{
	groupedHotels("a quarter is the month divided by three", "invoices", "issued", "quarter",
		func(row []wire.Value) { row[3] = later(row[3], 1, 0) }),
	groupedHotels("cities of guests are grouped without case and accents", "guests", "city", nil, func(row []wire.Value) {
		if row[2].Kind() == wire.KindText {
			row[2] = wire.Text(plainLetters.Replace(row[2].Text()))
		}
	}),
	groupedHotels("rooms without a floor are grouped with the ground floor", "rooms", "floor", nil, func(row []wire.Value) {
		if row[4].IsNull() {
			row[4] = wire.Int(0)
		}
	}),
	groupedHotels("hours are grouped by their whole part", "shifts", "hours", nil, func(row []wire.Value) {
		whole, _, _ := strings.Cut(row[3].String(), ".")
		var n int64
		_, _ = fmt.Sscan(whole, &n)
		row[3] = wire.Int(n)
	}),
	groupedHotels("a method with a blank behind is grouped with the one without", "payments", "method", nil, func(row []wire.Value) {
		row[3] = wire.Text(strings.TrimRight(row[3].Text(), " "))
	}),
}

// later returns an instant some months and days later.
func later(v wire.Value, months, days int) wire.Value {
	return wire.Datetime(must(time.Parse(time.RFC3339, v.String())).AddDate(0, months, days))
}

var hotelTenantFaults = []fault{
	shared("the tenant stands in the first alternative alone", servedToNobodyElse, "M11", func() http.Handler {
		own, both := [2][]memsource.Table{hotelTables(0), hotelTables(1)}, [2][]memsource.Table{hotelTables(0), hotelTables(1)}
		for i := range both {
			for n := range both[i] {
				if both[i][n].Name == "guests" {
					both[i][n].Rows = slices.Concat(own[i][n].Rows, own[1-i][n].Rows)
				}
			}
		}
		other := sharedHostOf(hostDefinition, both)
		return diverted(other, wire.PathQuery, func(body map[string]any) bool {
			return body["table"] == "guests" && len(alternatives(body, "or")) > 1
		})(sharedHostOf(hostDefinition, own))
	}).behind("L11", "another tenant's rows are not among those of the whole read"),
	shared("joined room types are the first tenant's", servedToNobodyElse, "M21", func() http.Handler {
		second := hotelTables(1)
		second[1] = hotelTables(0)[1]
		other := sharedHostOf(hostDefinition, [2][]memsource.Table{hotelTables(0), second})
		return diverted(other, wire.PathQuery, hasMember("joins"))(chains())
	}),
	shared("distinct guests are counted over all tenants", servedToNobodyElse, "L8", func() http.Handler {
		all := [2][]memsource.Table{hotelTables(0), hotelTables(1)}
		for n, row := range all[1][4].Rows {
			extra := slices.Clone(row)
			extra[0] = wire.Int(int64(1000 + n))
			all[0][4].Rows = append(all[0][4].Rows, extra)
		}
		other := sharedHostOf(hostDefinition, all)
		return diverted(other, wire.PathAggregate, func(body map[string]any) bool {
			return body["table"] == "bookings" && hasMeasure(body, string(wire.AggCountDistinct))
		})(chains())
	}),
}

// alternatives returns the lists in a member of a body.
func alternatives(body map[string]any, member string) []any {
	items, _ := body[member].([]any)
	return items
}

func describedHotels(name, why, kill, table string, edit func(table map[string]any, field func(name string) map[string]any)) fault {
	return broken(name, why, kill, over(hotel, eachTable(func(t map[string]any) {
		if t["name"] == table {
			edit(t, func(name string) map[string]any {
				for _, f := range listOf(t, "fields") {
					if f["name"] == name {
						return f
					}
				}
				return nil
			})
		}
	}))).graded(live)
}

func typedHotels(name, kill, table, of, kind string) fault {
	return describedHotels(name, "types are those of the rows", kill, table, func(_ map[string]any, field func(string) map[string]any) {
		field(of)["type"] = kind
	})
}

var hotelDiscoveryFaults = []fault{
	describedHotels("samples of a role are names", "samples are values of their column", "L10", "staff",
		func(_ map[string]any, field func(string) map[string]any) {
			field("role")["samples"] = field("name")["samples"]
		}).accepted("only the rows of other columns show it"),
	describedHotels("samples of birthdays are the days of arrival", "samples are values of their column", "L10", "guests",
		func(_ map[string]any, field func(string) map[string]any) {
			field("born")["samples"] = []any{"2023-03-03", "2023-03-05", "2023-03-07"}
		}).accepted("only the rows of other columns show it"),
	typedHotels("a decimal is described as text", "L2", "bookings", "rate", "string"),
	typedHotels("a date is described as an instant", "L10", "staff", "hired", "datetime"),
	typedHotels("a fraction is described as a decimal", "L10", "shifts", "hours", "decimal"),
	strayLink("a payment is linked to its booking", hotel, "payments", "invoice", "bookings", "id"),
	strayLink("a booking is linked to the number of the room", hotel, "bookings", "room", "rooms", "number"),
	strayLink("a review is linked to the payments", hotel, "reviews", "booking", "payments", "id"),
	strayLink("a booking's guest is linked by the name", hotel, "bookings", "guest", "guests", "name"),
}

// storedOrder compares keys: of rows that tie in the other order, those come first that have the lower one.
func storedOrder(a, b wire.Value) int {
	if a.Kind() == wire.KindInt {
		return cmp.Compare(a.Int64(), b.Int64())
	}
	return byText(a, b)
}

func sortedHotels(name, table, field string, compare func(a, b wire.Value) int) fault {
	return broken(name, "rows come in the order of sort", "L7", stocked(firstHotels, twist{order: func(req *connector.Query, t *oracle.Table) {
		if req.Table != table || len(req.Sort) != 1 || req.Sort[0].Field != field || len(req.Joins) > 0 {
			return
		}
		c, values := t.Index(field), 0 // nulls are last
		for values < len(t.Rows) && !t.Rows[values][c].IsNull() {
			values++
		}
		slices.SortStableFunc(t.Rows[:values], func(a, b []wire.Value) int {
			order := compare(a[c], b[c])
			if req.Sort[0].Dir == wire.Desc {
				order = -order
			}
			return cmp.Or(order, storedOrder(a[0], b[0]))
		})
	}})).graded(live)
}

func numberIn(v wire.Value) (n int) { _, _ = fmt.Sscan(v.String(), &n); return n }

var hotelSortFaults = []fault{
	sortedHotels("nights are sorted as text", "bookings", "nights", byText),
	sortedHotels("room numbers are sorted by their value", "rooms", "number", func(a, b wire.Value) int { return numberIn(a) - numberIn(b) }),
	sortedHotels("instants are sorted by their day", "payments", "at",
		func(a, b wire.Value) int { return strings.Compare(a.String()[:10], b.String()[:10]) }),
	sortedHotels("scores are sorted by their whole part", "reviews", "score", func(a, b wire.Value) int { return numberIn(a) - numberIn(b) }),
	sortedHotels("names are sorted as a phone book has them", "guests", "name", func(a, b wire.Value) int {
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
