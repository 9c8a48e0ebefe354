package killtest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Faults that show at one place and not where the same thing is asked for first: nulls under an operator on another
// route than /query, what an order is about under a later sort key, ties under another size of a page.

// firstHotels returns the tables of the first chain.
func firstHotels() []memsource.Table { return hotelTables(0) }

// onlyFilter returns the filter of a request that has a single one of some operators.
func onlyFilter(where wire.Where, ops ...wire.Op) (f wire.Filter, ok bool) {
	if len(where.And) != 1 || len(where.Or) > 0 || !slices.Contains(ops, where.And[0].Op) {
		return f, false
	}
	return where.And[0], true
}

// keepingNulls makes a single filter one that nulls satisfy too, as a complement does: all rows but those without.
func keepingNulls(ops ...wire.Op) func(*wire.Where) {
	return func(where *wire.Where) {
		if f, ok := onlyFilter(*where, ops...); ok {
			where.And, where.Or = nil, [][]wire.Filter{{f}, {{Field: f.Field, Op: wire.OpIsNull}}}
		}
	}
}

// droppingNulls makes a single filter one that no null satisfies, as a condition of SQL does.
func droppingNulls(ops ...wire.Op) func(*wire.Where) {
	return func(where *wire.Where) {
		if f, ok := onlyFilter(*where, ops...); ok {
			where.And = []wire.Filter{f, {Field: f.Field, Op: wire.OpNotNull}}
		}
	}
}

func nullsAt(name, kill string, tables func() []memsource.Table, w twist) fault {
	return broken(name, "an operator treats nulls alike on every route", kill, stocked(tables, w))
}

func countedWhere(change func(*wire.Where)) twist {
	return twist{counted: func(req *wire.CountRequest) { change(&req.Where) }}
}

func foldedWhere(holds func(*wire.AggregateRequest) bool, change func(*wire.Where)) twist {
	return folding(where(holds, func(req *wire.AggregateRequest) { change(&req.Where) }))
}

func askedWhere(holds func(*connector.Query) bool, change func(*wire.Where)) func(*connector.Query) {
	return where(holds, func(req *connector.Query) { change(&req.Where) })
}

func isSorted(req *connector.Query) bool { return len(req.Sort) > 0 }

var nullPlaceFaults = []fault{
	nullsAt("hotels: a count of neq is that of all rows but the equal ones", "M10", firstHotels, countedWhere(keepingNulls(wire.OpNeq))),
	nullsAt("library: a count of lt is that of all rows but those from there on", "M10", libraryTables,
		countedWhere(keepingNulls(wire.OpLt, wire.OpLte))),
	nullsAt("hotels: a count of nin leaves out nulls", "M10", firstHotels, countedWhere(droppingNulls(wire.OpNin))),
	nullsAt("hotels: a sum under neq takes in nulls", "M10", firstHotels, foldedWhere(func(req *wire.AggregateRequest) bool {
		return len(req.GroupBy) == 0 && slices.ContainsFunc(req.Measures, func(m wire.Measure) bool { return m.Fn != wire.AggCount })
	}, keepingNulls(wire.OpNeq))),
	nullsAt("parts: groups under nin have no nulls", "M10", pagedTables,
		foldedWhere(func(req *wire.AggregateRequest) bool { return len(req.GroupBy) > 0 }, droppingNulls(wire.OpNin))),
	nullsAt("hotels: a sorted page under neq takes in nulls", "M12", firstHotels,
		askingForPages(askedWhere(isSorted, keepingNulls(wire.OpNeq)))),
	nullsAt("parts: a sorted page under nin leaves out nulls", "M12", pagedTables,
		askingForPages(askedWhere(isSorted, droppingNulls(wire.OpNin)))),
	nullsAt("hotels: joined rows under nin leave out nulls", "M21", firstHotels, asking(askedWhere(joins, droppingNulls(wire.OpNin)))),
}

func repeatsMember(where wire.Where) bool {
	f, ok := onlyFilter(where, wire.OpIn)
	return ok && len(f.Values) > 1 && f.Values[0].String() == f.Values[1].String()
}

const isThereOnce = "a row is there once, however often a list names its value"

func boats() []memsource.Table { return append(firstHotels(), tablesIn("boats")...) }

// repeatedFaults are connectors that find a row once for each member of a list which it equals, and one that takes the
// seconds before 1970 as those after.
var repeatedFaults = []fault{
	broken("hotels: a repeated member of a list repeats a row", isThereOnce, "L2",
		stocked(firstHotels, twist{rows: func(req *connector.Query, t *oracle.Table, _, _ int64) {
			if repeatsMember(req.Where) && len(t.Rows) > 0 {
				t.Rows = append(t.Rows, t.Rows[0])
			}
		}})),
	broken("hotels: a repeated member of a list counts its rows twice", isThereOnce, "M10",
		stocked(firstHotels, miscounted(func(req *wire.CountRequest) bool { return repeatsMember(req.Where) },
			func(n int64) int64 { return n + min(n, 1) }))),
	broken("boats: days before 1970 are one late", "a period begins with its first day", "M24",
		stocked(boats, twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
			if len(req.GroupBy) != 1 || req.GroupBy[0].Grain != wire.GrainDay {
				return
			}
			for _, row := range t.Rows {
				if day, err := time.Parse(time.DateOnly, row[0].String()); err == nil && day.Year() < 1970 {
					row[0] = wire.Date(day.AddDate(0, 0, 1))
				}
			}
		}})),
}

// eachTie edits every run of rows that tie under some keys.
func eachTie(t *oracle.Table, keys []wire.SortKey, edit func(rows [][]wire.Value)) {
	for from := 0; from < len(t.Rows); {
		to := from + 1
		for to < len(t.Rows) && !slices.ContainsFunc(keys, func(k wire.SortKey) bool {
			c := t.Index(k.Field)
			return t.Rows[to][c].String() != t.Rows[from][c].String()
		}) {
			to++
		}
		edit(t.Rows[from:to])
		from = to
	}
}

// nullsLast orders nulls behind other values, and these as compare does upwards.
func nullsLast(compare func(a, b wire.Value, t wire.Type) int) comparison {
	return func(a, b wire.Value, t wire.Type, dir wire.Direction) int {
		switch {
		case a.IsNull() || b.IsNull():
			return nullOrder(a) - nullOrder(b)
		case dir == wire.Desc:
			return compare(b, a, t)
		}
		return compare(a, b, t)
	}
}

func nullOrder(v wire.Value) int {
	if v.IsNull() {
		return 1
	}
	return 0
}

func inOrder(a, b wire.Value, t wire.Type) int { n, _ := oracle.Compare(a, b, t); return n }

// laterKey returns a connector that sorts rows with the same value of the first key in an order of its own by the others.
func laterKey(name string, tables func() []memsource.Table, compare comparison) fault {
	order := func(req *connector.Query, t *oracle.Table) {
		eachTie(t, req.Sort[:1], func(rows [][]wire.Value) { reorder(t, rows, req.Sort[1:], compare) })
	}
	return broken(name, "a later key orders as the first does", "L7", stocked(tables, twist{order: order}))
}

func nullsFirst(a, b wire.Value, t wire.Type, dir wire.Direction) int {
	if dir == wire.Desc && (a.IsNull() || b.IsNull()) {
		return nullOrder(b) - nullOrder(a)
	}
	return nullsLast(inOrder)(a, b, t, dir)
}

var bareVowels = strings.NewReplacer("ö", "o", "è", "e", "ü", "u", "Ó", "o")

var inCollation = nullsLast(func(a, b wire.Value, t wire.Type) int {
	fold := func(v wire.Value) string { return bareVowels.Replace(strings.ToLower(v.String())) }
	if t == wire.TypeString {
		return strings.Compare(fold(a), fold(b))
	}
	return inOrder(a, b, t)
})

var byDay = nullsLast(func(a, b wire.Value, t wire.Type) int {
	if t == wire.TypeDatetime {
		return cmp.Or(strings.Compare(a.String()[:10], b.String()[:10]), strings.Compare(b.String(), a.String()))
	}
	return inOrder(a, b, t)
})

var laterKeyFaults = []fault{
	broken("hotels: collate asks for a collation", "collate: true asks for the order of bytes too", "L7",
		collating(firstHotels, func(req *connector.Query, t *oracle.Table) { reorder(t, t.Rows, req.Sort[:1], inCollation) })),
	laterKey("hotels: nulls come first in later keys downwards", firstHotels, nullsFirst),
	laterKey("parts: nulls come first in later keys downwards", pagedTables, nullsFirst),
	laterKey("library: later keys are texts", libraryTables, nullsLast(byText)),
	laterKey("hotels: later keys have no case and no accents", firstHotels, inCollation),
	laterKey("hotels: later keys are always ascending", firstHotels, func(a, b wire.Value, t wire.Type, _ wire.Direction) int {
		return nullsLast(inOrder)(a, b, t, wire.Asc)
	}),
	laterKey("hotels: later instants are sorted by their day", firstHotels, byDay),
}

// ties answers ties the other way round in the windows for which a condition holds.
func ties(name string, tables func() []memsource.Table, otherwise func(rows int, offset, limit int64) bool) fault {
	return broken(name, "rows that tie have a fixed order", "A.15",
		stocked(tables, twist{rows: func(req *connector.Query, t *oracle.Table, offset, limit int64) {
			if limit > 0 && len(req.Sort) > 0 && otherwise(len(t.Rows), offset, limit) {
				eachTie(t, req.Sort, slices.Reverse)
			}
		}}))
}

func isShortFirstPage(_ int, offset, limit int64) bool { return offset == 0 && limit < 100 }

var tieFaults = []fault{
	broken("hotels: ties stand as another order has left them", "rows that tie have a fixed order", "A.15", func() http.Handler {
		var orders sync.Map // the last two of each table
		return stocked(firstHotels, twist{rows: func(req *connector.Query, t *oracle.Table, _, _ int64) {
			if len(req.Sort) == 0 {
				return
			}
			by := fmt.Sprint(req.Sort)
			last, _ := orders.LoadOrStore(t.Name, [2]string{by})
			two := last.([2]string)
			if two[0] != by {
				two = [2]string{by, two[0]}
			}
			if orders.Store(t.Name, two); strings.Contains(two[1], "desc") {
				eachTie(t, req.Sort, slices.Reverse)
			}
		}})()
	}),
	ties("parts: a first page of fewer than 100 rows has its ties in another order", pagedTables, isShortFirstPage),
	ties("hotels: a first page of fewer than 100 rows has its ties in another order", firstHotels, isShortFirstPage),
	ties("library: pages of fewer than ten rows have their ties in another order", libraryTables,
		func(_ int, _, limit int64) bool { return limit < 10 }),
	ties("parts: pages behind the first thousand rows have their ties in another order", pagedTables,
		func(_ int, offset, _ int64) bool { return offset > 1000 }),
	ties("hotels: the last page has its ties in another order", firstHotels,
		func(rows int, offset, limit int64) bool { return offset > 0 && offset+limit >= int64(rows) }),
}

func readInstant(name string, tables func() []memsource.Table, w twist) fault {
	return broken(name, "an operand names an instant, however it is spelled", "M30", stocked(tables, w))
}

func zoneless(text string) string { return text[:len(text)-len("+00:00")] + "Z" }

var instantOperandFaults = []fault{
	readInstant("hotels: the offset of an operand is ignored", firstHotels, readingOperands(isOffset, zoneless)),
	readInstant("library: the offset of a bound is ignored", libraryTables, readingOperands(isOffset, zoneless, wire.OpGte, wire.OpLt)),
	readInstant("hotels: the offset of a member is ignored", firstHotels, readingOperands(isOffset, zoneless, wire.OpIn)),
	readInstant("parts: an operand without a zone is local", pagedTables,
		readingOperands(func(text string) bool { return len(text) > len(time.DateOnly) && instantWith(text, "Z") },
			func(text string) string { return text + "+01:00" })),
	readInstant("parts: instants are compared as texts", pagedTables, twist{seen: func(*connector.Query) oracle.Tables {
		return retyped(oracleTables(pagedTables()), func(c wire.Column) wire.Type {
			return map[string]wire.Type{"at": wire.TypeString}[c.Name]
		})
	}}),
	broken("parts: distinct decimals are counted by their spelling", "1.5 and 1.50 are one value", "M31", stocked(respeltPrices, bySpelling)),
}

// respeltPrices returns the tables of the warehouse, where a third of the prices are those of the row before, spelt longer.
func respeltPrices() []memsource.Table {
	list := pagedTables()
	for rows := list[0].Rows; len(rows) > 2; rows = rows[3:] {
		rows[1][3] = wire.Decimal(rows[0][3].String() + "0")
	}
	return list
}

func isOffset(text string) bool { return instantWith(text, "") && !strings.HasSuffix(text, "Z") }

func instantWith(text, zone string) bool {
	_, err := time.Parse(time.RFC3339, text+zone)
	return err == nil
}

// readingOperands changes the operands of some operators, of all if none is given, for which a condition holds.
func readingOperands(hold func(text string) bool, change func(text string) string, ops ...wire.Op) twist {
	return eachFilter(texts(func(text string) string {
		if !hold(text) {
			return text
		}
		return change(text)
	}), ops...)
}

func beside(name, why, kill string, w twist) fault {
	return broken("hotels: "+name, why, kill, stocked(firstHotels, w))
}

// besideFaults forget what stands beside something else.
var besideFaults = []fault{
	beside("a third sort key is forgotten", "sort keys are applied one after the other", "L7",
		asking(func(req *connector.Query) { req.Sort = req.Sort[:min(2, len(req.Sort))] })),
	beside("a third sort key is forgotten where a limit stands", "a window is cut from the sorted rows", "M12",
		askingForPages(func(req *connector.Query) { req.Sort = req.Sort[:min(2, len(req.Sort))] })).
		behind("M12, or L6", "pages of a composite order are read first"),
	beside("two periods of one date are both the second", neverWrong, "M24",
		twist{groups: func(req *wire.AggregateRequest, t *oracle.Table) {
			for _, row := range t.Rows {
				if len(req.GroupBy) > 1 && req.GroupBy[0].Field == req.GroupBy[1].Field {
					row[0] = row[1]
				}
			}
		}}),
	beside("the maximum of a period is its minimum", neverWrong, "M24", folding(func(req *wire.AggregateRequest) {
		for i, m := range req.Measures {
			if m.Fn == wire.AggMax && slices.ContainsFunc(req.GroupBy, func(k wire.GroupKey) bool { return k.Grain != "" }) {
				req.Measures[i].Fn = wire.AggMin
			}
		}
	})),
	beside("an offset of joined rows is forgotten", "offset and limit cut the result", "M21",
		twist{request: func(req *connector.Query, _, offset *int64) {
			if len(req.Joins) > 0 {
				*offset = 0
			}
		}}),
	beside("aggregates over joins forget their filters", neverWrong, "M22",
		folding(where(aggregatesJoins, func(req *wire.AggregateRequest) { req.Where = wire.Where{} }))),
}

func collates(name string, build func() http.Handler) fault {
	return broken(name, "collate asks for byte order too", "L7", build).graded(live)
}

// ifCollated sorts otherwise where the first key of a sort says collate.
func ifCollated(order func(*connector.Query, *oracle.Table)) func(*connector.Query, *oracle.Table) {
	return func(req *connector.Query, t *oracle.Table) {
		if req.Sort[0].Collate {
			order(req, t)
		}
	}
}

func collating(tables func() []memsource.Table, order func(*connector.Query, *oracle.Table)) func() http.Handler {
	return stocked(tables, twist{order: ifCollated(order)})
}

var bareLetters = strings.NewReplacer("ó", "o", "ü", "u", "è", "e", " ", "", "-", "")

// collateFaults are connectors over live data that sort texts by their bytes unless a sort key says collate.
var collateFaults = []fault{
	collates("collate ignores case", collating(shop, withoutCase)),
	collates("collate sorts as a dictionary does", collating(firstHotels, reordered(changed(func(v wire.Value) wire.Value {
		if v.Kind() != wire.KindText {
			return v
		}
		return wire.Text(bareLetters.Replace(strings.ToLower(v.Text())))
	})))),
	collates("collate brings nulls to the front", collating(func() []memsource.Table { return hotelTables(1) }, nullsToFront)),
}
