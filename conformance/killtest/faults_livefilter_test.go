package killtest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
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

// ticketData returns the data of a help desk, by chance, at most so many tickets: what
// people type, with the cases and characters that get lost on the way to a vendor.
func ticketData(seed uint64, tickets int) []memsource.Table {
	random := rand.New(rand.NewPCG(seed, 1))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	optional := func(v wire.Value, in int) wire.Value {
		if random.IntN(in) == 0 {
			return wire.Null()
		}
		return v
	}
	first := time.Date(2024, 2, 27, 21, 59, 58, 0, time.UTC)
	var agents, all [][]wire.Value
	for i := range 30 {
		agents = append(agents, []wire.Value{
			wire.Int(int64(100 + i)), wire.Text(pick("Ann", "ann", "Zoë", "O'Neil", "Bo", "Li", "Ünal") + fmt.Sprint(i%7)),
			wire.Bool(random.IntN(3) > 0), optional(wire.Text(pick("DE", "FR", "US", "de")), 6),
		})
	}
	for i := range tickets {
		opened := first.Add(time.Duration(random.IntN(60*24*3600)) * time.Second).Add(time.Duration(250*random.IntN(4)) * time.Millisecond)
		if random.IntN(6) == 0 {
			opened = opened.Truncate(24 * time.Hour)
		}
		all = append(all, []wire.Value{
			wire.Int(int64(1000 + 3*i)),
			wire.Text(pick("open", "Open", "closed", "Closed", "on hold", "new")),
			optional(wire.Text(pick("", "mail", "phone", "Web", "web form")), 5),
			optional(wire.Int(int64(100+random.IntN(34))), 7),
			optional(wire.Decimal(fmt.Sprintf("%d.%02d", random.IntN(200)-40, random.IntN(8)*5)), 8),
			wire.Int(int64(random.IntN(120))),
			optional(wire.DatetimeWidth(opened, 3), 9),
			optional(wire.Date(opened.AddDate(0, 0, random.IntN(20))), 4),
			wire.Text(pick("100% lost", "a_b error", "axb error", `C:\temp full`, "it's late", "Printer & scanner", "Größe falsch",
				"login, again", "refund 5+5", "printer") + pick("", "", " "+fmt.Sprint(random.IntN(40)))),
			optional(wire.Text(fmt.Sprintf("%03d", random.IntN(60))), 10),
			optional(wire.Array(wire.Text(pick("red", "Red", "blue")), wire.Text(pick("vip", "late"))), 6),
			wire.Bool(random.IntN(2) == 0),
		})
	}
	of := []memsource.Table{
		tableOf("tickets", "What people ask.", links("agent agents.id"), "id number!", "status string", "channel string?",
			"agent number?", "cost decimal?", "minutes number", "opened datetime?", "due date?", "subject string", "code reference?",
			"tags array?", "urgent boolean"),
		tableOf("agents", "Who answers.", nil, "id number!", "name string", "active boolean", "country string?"),
	}
	of[0].Rows, of[1].Rows = all, agents
	for i := range of {
		of[i].StoresRows = true
	}
	return of
}

// ticketConnector returns the connector of a help desk with one thing twisted.
func ticketConnector(w twist, seed uint64, tickets int) http.Handler {
	return stockedSource(func() []memsource.Table { return ticketData(seed, tickets) }, w).serve()
}

// onField narrows a hook on filters to one field, and to some operators if any are given.
func onField(field string, wrong func(cell wire.Value, f wire.Filter, t wire.Type, right bool) bool, ops ...wire.Op) twist {
	return twist{match: func(_ string, cell wire.Value, f wire.Filter, t wire.Type, right bool) bool {
		if f.Field == field && (len(ops) == 0 || slices.Contains(ops, f.Op)) {
			return wrong(cell, f, t, right)
		}
		return right
	}}
}

// asType compares as a column of another type does.
func asType(other wire.Type) func(cell wire.Value, f wire.Filter, t wire.Type, right bool) bool {
	return func(cell wire.Value, f wire.Filter, _ wire.Type, _ bool) bool { return oracle.Match(cell, f, other) }
}

// pushed is a twist of the operands of one field, before they reach the source, by operators; none means all.
func pushed(field string, change func(wire.Filter) wire.Filter, ops ...wire.Op) twist {
	return onField(field, func(cell wire.Value, f wire.Filter, t wire.Type, right bool) bool {
		if len(ops) > 0 && !strings.Contains(fmt.Sprint(ops), string(f.Op)) {
			return right
		}
		return oracle.Match(cell, change(f), t)
	})
}

// liveFilterFaults are what goes wrong when filters, sorts and windows are pushed to a vendor, each at one place only.
func liveFilterFaults() []fault {
	return slices.Concat(ticketOperandFaults, ticketMatchFaults, ticketCountFaults, ticketPlanFaults, toldTickets)
}

// desk returns a fault of the help desk, of one column or one operator. It shows on any data. The checks of filters get enough
// requests to ask every cell in several ways; what the default budget finds is measured by the shop: see SHOP.md.
func desk(name, why, kill string, w twist) fault {
	f := broken("tickets: "+name, why, kill, func() http.Handler { return ticketConnector(w, 1, 240) }).
		graded(func(g *grading) { live(g); g.Requests = 4000 })
	f.ofDesk = w
	return f
}

func texts(change func(string) string) func(wire.Filter) wire.Filter {
	value := func(v wire.Value) wire.Value {
		if v.Kind() == wire.KindText {
			return wire.Text(change(v.Text()))
		}
		return v
	}
	return func(f wire.Filter) wire.Filter {
		f.Value = value(f.Value)
		f.Values = slices.Clone(f.Values)
		for i, v := range f.Values {
			f.Values[i] = value(v)
		}
		return f
	}
}

func as(op wire.Op) func(wire.Filter) wire.Filter {
	return func(f wire.Filter) wire.Filter { f.Op = op; return f }
}

// at moves an instant that an operand holds.
func at(change func(time.Time) time.Time) func(wire.Filter) wire.Filter {
	return texts(func(text string) string {
		when, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return text
		}
		return change(when).Format("2006-01-02T15:04:05.000Z07:00")
	})
}

func endOfDay(text string) string {
	if len(text) == len(time.DateOnly) {
		return text + "T23:59:59.999Z"
	}
	return text
}

func listed(change func([]wire.Value) []wire.Value) func(wire.Filter) wire.Filter {
	return func(f wire.Filter) wire.Filter { f.Values = change(f.Values); return f }
}

func firstMembers(most int) func(wire.Filter) wire.Filter {
	return listed(func(list []wire.Value) []wire.Value { return list[:min(most, len(list))] })
}

const (
	everyRowHolds  = "every row answered satisfies every filter"
	noRowIsMissing = "no row that satisfies a filter is missing"
)

var ticketOperandFaults = []fault{
	desk("status is sent in lower case", noRowIsMissing, "L2", pushed("status", texts(strings.ToLower))),
	desk("minutes gte is sent as gt", noRowIsMissing, "L2", pushed("minutes", as(wire.OpGt), wire.OpGte)),
	desk("cost lte is sent as lt", noRowIsMissing, "L2", pushed("cost", as(wire.OpLt), wire.OpLte)),
	desk("due gt is sent as gte", everyRowHolds, "L2", pushed("due", as(wire.OpGte), wire.OpGt)),
	desk("opened is sent an hour off", noRowIsMissing, "L2", pushed("opened", at(func(t time.Time) time.Time { return t.Add(time.Hour) }))),
	desk("opened lte is sent as its day", noRowIsMissing, "L2",
		pushed("opened", at(func(t time.Time) time.Time { return t.Truncate(24 * time.Hour) }), wire.OpLte)),
	desk("due gte is sent as the day of its operand", everyRowHolds, "L2",
		pushed("due", at(func(t time.Time) time.Time { return t.Truncate(24 * time.Hour) }), wire.OpGte)),
	desk("minutes neq a text is sent as isnotnull", everyRowHolds, "L2",
		onField("minutes", func(_ wire.Value, f wire.Filter, _ wire.Type, right bool) bool {
			return right || strings.ContainsAny(f.Value.String(), "abcdefghijklmnopqrstuvwxyz")
		}, wire.OpNeq)),
	desk("opened lte a day is until its end", everyRowHolds, "L2", pushed("opened", texts(endOfDay), wire.OpLte)),
	desk("opened gt a day is from its end", noRowIsMissing, "L2", pushed("opened", texts(endOfDay), wire.OpGt)),
	desk("opened gte is sent without milliseconds", everyRowHolds, "L2",
		pushed("opened", at(func(t time.Time) time.Time { return t.Truncate(time.Second) }), wire.OpGte)),
	desk("channel in sends its first value", noRowIsMissing, "L2", pushed("channel", firstMembers(1), wire.OpIn)),
	desk("code in sends 20 values", noRowIsMissing, "L2", pushed("code", firstMembers(20), wire.OpIn)),
	desk("agent nin sends 50 values", everyRowHolds, "L2", pushed("agent", firstMembers(50), wire.OpNin)),
	desk("a comma in a subject splits the list", noRowIsMissing, "L2", pushed("subject", listed(func(list []wire.Value) (all []wire.Value) {
		for _, v := range list {
			for part := range strings.SplitSeq(v.String(), ",") {
				all = append(all, wire.Text(part))
			}
		}
		return all
	}), wire.OpIn)),
	desk("a subject is cut at &", everyRowHolds, "L2",
		pushed("subject", texts(func(s string) string { s, _, _ = strings.Cut(s, "&"); return s }), wire.OpStartsWith)),
	desk("+ in a subject is a blank", noRowIsMissing, "L2",
		pushed("subject", texts(func(s string) string { return strings.ReplaceAll(s, "+", " ") }))),
	desk("a name with an apostrophe is doubled", noRowIsMissing, "L2",
		pushed("name", texts(func(s string) string { return strings.ReplaceAll(s, "'", "''") }), wire.OpEq)),
	desk("code is sent as a number", everyRowHolds, "L2", onField("code", asType(wire.TypeNumber), wire.OpEq)),
}

func foldedMatch(cell wire.Value, f wire.Filter, t wire.Type, _ bool) bool {
	return oracle.Match(folded(cell), texts(strings.ToLower)(f), t)
}

var ticketMatchFaults = []fault{
	desk("channel is compared without case", everyRowHolds, "L2", onField("channel", foldedMatch)),
	desk("subject includes without case", everyRowHolds, "L2", onField("subject", foldedMatch, wire.OpIncludes)),
	desk("subject startswith takes _ for any character", everyRowHolds, "L2",
		onField("subject", func(cell wire.Value, f wire.Filter, _ wire.Type, right bool) bool {
			text, prefix := []rune(cell.String()), []rune(f.Value.String())
			if f.Value.IsNull() || len(text) < len(prefix) {
				return right
			}
			for i, r := range prefix {
				if r != '_' && r != text[i] {
					return false
				}
			}
			return true
		}, wire.OpStartsWith)),
	desk("country neq keeps nulls", "a null cell is not unequal", "L2",
		onField("country", func(cell wire.Value, f wire.Filter, _ wire.Type, right bool) bool {
			return right || cell.IsNull() && !f.Value.IsNull()
		}, wire.OpNeq)),
	desk("agent nin loses nulls", "nin keeps a null cell", "L2",
		onField("agent", func(cell wire.Value, _ wire.Filter, _ wire.Type, right bool) bool { return right && !cell.IsNull() }, wire.OpNin)),
	desk("tags contain parts of elements", "an element equals the operand", "L2", pushed("tags", as(wire.OpIncludes), wire.OpContains)),
	desk("urgent eq false is no filter", everyRowHolds, "L2",
		onField("urgent", func(_ wire.Value, f wire.Filter, _ wire.Type, right bool) bool {
			return right || f.Value.String() == "false"
		}, wire.OpEq)),
	desk("active and urgent are mixed up", noRowIsMissing, "L2",
		onField("active", func(_ wire.Value, _ wire.Filter, _ wire.Type, right bool) bool { return !right }, wire.OpEq)),
}

// toldTickets are those of which more than the check is told.
var toldTickets = []fault{
	desk("channel isnull finds empty texts", "empty text is not null", "L2",
		onField("channel", func(cell wire.Value, _ wire.Filter, _ wire.Type, right bool) bool {
			return right || cell.String() == ""
		}, wire.OpIsNull)).refused("stream-11"),
	desk("cost is compared as text", "no row that satisfies a filter is missing", "L2",
		onField("cost", asType(wire.TypeString), wire.OpLt, wire.OpGt)).refused("stream-11"),
	desk("channel is counted without case", "/count and /aggregate filter as /query does", "M10",
		twist{count: func(req *wire.CountRequest, right int64) int64 {
			tables := oracleTables(ticketData(1, 240))
			if len(req.And) != 1 || req.And[0].Field != "channel" {
				return right
			}
			right = 0
			for _, cell := range column(tables["tickets"], "channel") {
				if oracle.Match(folded(cell), texts(strings.ToLower)(req.And[0]), wire.TypeString) {
					right++
				}
			}
			return right
		}}).behind("L3", "its counts have filters, too"),
	desk("filters are dropped beside a sort", "filter, then sort, then cut", "M12", asking(where(
		func(req *connector.Query) bool { return len(req.Sort) > 0 }, func(req *connector.Query) { req.And = nil }))).
		behind("M21", "its joins have a filter and a sort"),
	desk("a window is cut before the filters", "filter, then sort, then cut", "M12", twist{early: true}).
		behind("L6", "its pages have a filter"),
	desk("due is never sorted downwards", "rows come in the requested order", "M12", upwards("due")).
		behind("L7", "it sorts the column downwards"),
	desk("an offset under a filter is one short", "exactly offset rows are skipped", "M12", twist{
		rows: func(req *connector.Query, t *oracle.Table, offset, _ int64) {
			if len(req.And) > 0 && offset > 0 && len(t.Rows) > 0 {
				t.Rows = append(t.Rows[:1:1], t.Rows...)
			}
		}}).
		behind("L6", "its pages have a filter"),
}

const sameFilters = "/count and /aggregate filter as /query does"

func unfiltered(filters []wire.Filter, field string) []wire.Filter {
	return slices.DeleteFunc(slices.Clone(filters), func(f wire.Filter) bool { return f.Field == field })
}

var ticketCountFaults = []fault{
	desk("aggregates do not filter by urgent", sameFilters, "M10", folding(func(req *wire.AggregateRequest) {
		req.And = unfiltered(req.And, "urgent")
	})),
	desk("counts do not filter by agent", sameFilters, "M10", twist{count: func(req *wire.CountRequest, right int64) int64 {
		tables := oracleTables(ticketData(1, 240))
		other := *req
		other.And = unfiltered(req.And, "agent")
		n, err := oracle.Count(tables, &other)
		if err != nil {
			return right
		}
		return n
	}}),
}

// lastOf keeps the last filter of each field.
func lastOf(filters []wire.Filter) (kept []wire.Filter) {
	for i, f := range filters {
		if !slices.ContainsFunc(filters[i+1:], func(later wire.Filter) bool { return later.Field == f.Field }) {
			kept = append(kept, f)
		}
	}
	return kept
}

const combined = "`and` holds as a whole, `or` has one group that holds"

var ticketPlanFaults = []fault{
	desk("a second filter on a field replaces the first", combined, "M11",
		asking(func(req *connector.Query) { req.And = lastOf(req.And) })),
	desk("a second filter on a field replaces the first within a group of or", combined, "M11",
		asking(func(req *connector.Query) {
			req.Or = slices.Clone(req.Or)
			for i, group := range req.Or {
				req.Or[i] = lastOf(group)
			}
		})),
	desk("nin within a group of or drops nulls", combined, "M11",
		twist{passes: func(and []wire.Filter, or [][]wire.Filter, holds func(wire.Filter) bool) bool {
			return rightly(and, nil, holds) && rightly(nil, or, func(f wire.Filter) bool {
				return holds(f) && (f.Op != wire.OpNin || holds(wire.Filter{Field: f.Field, Op: wire.OpNotNull}))
			})
		}}),
	desk("of two groups of or that begin alike the last stays", combined, "M11",
		asking(func(req *connector.Query) {
			by := map[string][]wire.Filter{}
			for _, group := range req.Or {
				by[fmt.Sprint(group[0])] = group
			}
			req.Or = slices.DeleteFunc(slices.Clone(req.Or), func(group []wire.Filter) bool {
				return fmt.Sprint(by[fmt.Sprint(group[0])]) != fmt.Sprint(group)
			})
		})),
	desk("an empty group of or is dropped beside others", combined, "M11",
		asking(func(req *connector.Query) {
			req.Or = slices.DeleteFunc(slices.Clone(req.Or), func(group []wire.Filter) bool { return len(req.Or) > 1 && len(group) == 0 })
		})),
	desk("the third filter of a group of or is ignored", combined, "M11",
		asking(func(req *connector.Query) { req.Or = beginnings(req.Or, 2) })),
	desk("the fifth filter is ignored", combined, "M11",
		asking(func(req *connector.Query) { req.And = req.And[:min(4, len(req.And))] })),
	desk("or is pushed as and", combined, "M11",
		twist{passes: func(and []wire.Filter, or [][]wire.Filter, holds func(wire.Filter) bool) bool {
			return rightly(and, nil, holds) && !slices.ContainsFunc(slices.Concat(or...), func(f wire.Filter) bool { return !holds(f) })
		}}),
	desk("only two groups of or are pushed", combined, "M11",
		asking(func(req *connector.Query) { req.Or = req.Or[:min(2, len(req.Or))] })),
}

// filterIDs are the checks of filters.
const filterIDs = `^(L2|M1\d)$`

// TestTicketFaults grades every fault of the help desk over several sets of data, with
// what the checks of filters get of a usual budget of requests and of a small one.
func TestTicketFaults(t *testing.T) {
	if !testrun.Whole() {
		t.Skip("takes minutes; set CONFORMANCE_MATRIX=whole")
	}
	t.Parallel()
	for _, test := range []struct {
		requests int
		share    float64 // of the runs that must find the fault
	}{{750, 0.97}, {100, 0.5}} {
		found, runs := 0, 0
		for _, f := range liveFilterFaults() {
			for seed := range uint64(3) {
				runs++
				report := grade(t, ticketConnector(f.ofDesk, 1+seed, 240), grading{Options: conformance.Options{
					Mode: conformance.ModeLive, Seed: seed + 1, Requests: test.requests, Match: filterIDs}})
				failed := ""
				for _, o := range report.Outcomes {
					if o.Verdict == conformance.Fail {
						failed += " " + o.ID
					}
				}
				if failed != "" {
					found++
				}
				t.Log(test.requests, seed, f.name, failed, report.Coverage().Requests)
			}
		}
		t.Logf("%d requests: %d of %d runs found", test.requests, found, runs)
		require.GreaterOrEqual(t, float64(found), test.share*float64(runs))
	}
}

// TestTicketsPass requires that nothing fails a help desk whose connector is right.
func TestTicketsPass(t *testing.T) {
	testrun.Long(t)
	t.Parallel()
	for seed := range uint64(2) {
		report := grade(t, ticketConnector(twist{}, 10+seed, 150), grading{Options: conformance.Options{
			Mode: conformance.ModeLive, Seed: seed + 1, Requests: 750, Match: filterIDs,
		}})
		report.nothingFound(t, "every filter is right")
	}
}
