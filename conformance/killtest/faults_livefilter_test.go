package killtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance"
	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/testrun"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// ticketFault is a fault of one column or one operator, which shows on any data.
type ticketFault struct {
	name, why string
	kills     string // the check that finds it, whatever the data
	twist     twist
}

// ticketFaults are what goes wrong when filters, sorts and windows are pushed to a vendor, each at one place only.
func ticketFaults() []ticketFault {
	return slices.Concat(ticketOperandFaults(), ticketMatchFaults(), ticketCountFaults(), ticketPlanFaults())
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

func ticketOperandFaults() []ticketFault {
	holds, narrow := "every row answered satisfies every filter", "no row that satisfies a filter is missing"
	return []ticketFault{
		{"status is sent in lower case", narrow, "L2", pushed("status", texts(strings.ToLower))},
		{"minutes gte is sent as gt", narrow, "L2", pushed("minutes", as(wire.OpGt), wire.OpGte)},
		{"cost lte is sent as lt", narrow, "L2", pushed("cost", as(wire.OpLt), wire.OpLte)},
		{"due gt is sent as gte", holds, "L2", pushed("due", as(wire.OpGte), wire.OpGt)},
		{"opened is sent an hour off", narrow, "L2", pushed("opened", at(func(t time.Time) time.Time { return t.Add(time.Hour) }))},
		{"opened lte is sent as its day", narrow, "L2",
			pushed("opened", at(func(t time.Time) time.Time { return t.Truncate(24 * time.Hour) }), wire.OpLte)},
		{"due gte is sent as the day of its operand", holds, "L2",
			pushed("due", at(func(t time.Time) time.Time { return t.Truncate(24 * time.Hour) }), wire.OpGte)},
		{"minutes neq a text is sent as isnotnull", holds, "L2",
			onField("minutes", func(_ wire.Value, f wire.Filter, _ wire.Type, right bool) bool {
				return right || f.Op == wire.OpNeq && strings.ContainsAny(f.Value.String(), "abcdefghijklmnopqrstuvwxyz")
			})},
		{"opened lte a day is until its end", holds, "L2", pushed("opened", texts(endOfDay), wire.OpLte)},
		{"opened gt a day is from its end", narrow, "L2", pushed("opened", texts(endOfDay), wire.OpGt)},
		{"opened gte is sent without milliseconds", holds, "L2",
			pushed("opened", at(func(t time.Time) time.Time { return t.Truncate(time.Second) }), wire.OpGte)},
		{"channel in sends its first value", narrow, "L2", pushed("channel", firstMembers(1), wire.OpIn)},
		{"code in sends 20 values", narrow, "L2", pushed("code", firstMembers(20), wire.OpIn)},
		{"agent nin sends 50 values", holds, "L2", pushed("agent", firstMembers(50), wire.OpNin)},
		{"a comma in a subject splits the list", narrow, "L2", pushed("subject", listed(func(list []wire.Value) (all []wire.Value) {
			for _, v := range list {
				for part := range strings.SplitSeq(v.String(), ",") {
					all = append(all, wire.Text(part))
				}
			}
			return all
		}), wire.OpIn)},
		{"a subject is cut at &", holds, "L2",
			pushed("subject", texts(func(s string) string { s, _, _ = strings.Cut(s, "&"); return s }), wire.OpStartsWith)},
		{"+ in a subject is a blank", narrow, "L2",
			pushed("subject", texts(func(s string) string { return strings.ReplaceAll(s, "+", " ") }))},
		{"a name with an apostrophe is doubled", narrow, "L2",
			pushed("name", texts(func(s string) string { return strings.ReplaceAll(s, "'", "''") }), wire.OpEq)},
		{"code is sent as a number", holds, "L2", onField("code", func(cell wire.Value, f wire.Filter, _ wire.Type, right bool) bool {
			if f.Op == wire.OpEq {
				return oracle.Match(cell, f, wire.TypeNumber)
			}
			return right
		})},
	}
}

func ticketMatchFaults() []ticketFault {
	holds, narrow := "every row answered satisfies every filter", "no row that satisfies a filter is missing"
	fold := func(cell wire.Value, f wire.Filter, t wire.Type, _ bool) bool {
		return oracle.Match(folded(cell), texts(strings.ToLower)(f), t)
	}
	return []ticketFault{
		{"channel is compared without case", holds, "L2", onField("channel", fold)},
		{"subject includes without case", holds, "L2", onField("subject", func(cell wire.Value, f wire.Filter, t wire.Type, right bool) bool {
			if f.Op == wire.OpIncludes {
				return fold(cell, f, t, right)
			}
			return right
		})},
		{"subject startswith takes _ for any character", holds, "L2",
			onField("subject", func(cell wire.Value, f wire.Filter, _ wire.Type, right bool) bool {
				text, prefix := []rune(cell.String()), []rune(f.Value.String())
				if f.Op != wire.OpStartsWith || f.Value.IsNull() || len(text) < len(prefix) {
					return right
				}
				for i, r := range prefix {
					if r != '_' && r != text[i] {
						return false
					}
				}
				return true
			})},
		{"country neq keeps nulls", "a null cell is not unequal", "L2",
			onField("country", func(cell wire.Value, f wire.Filter, _ wire.Type, right bool) bool {
				return right || f.Op == wire.OpNeq && cell.IsNull() && !f.Value.IsNull()
			})},
		{"agent nin loses nulls", "nin keeps a null cell", "L2",
			onField("agent", func(cell wire.Value, f wire.Filter, _ wire.Type, right bool) bool {
				return right && !(f.Op == wire.OpNin && cell.IsNull())
			})},
		{"tags contain parts of elements", "an element equals the operand", "L2", pushed("tags", as(wire.OpIncludes), wire.OpContains)},
		{"urgent eq false is no filter", holds, "L2", onField("urgent", func(_ wire.Value, f wire.Filter, _ wire.Type, right bool) bool {
			return right || f.Op == wire.OpEq && f.Value.String() == "false"
		})},
		{"active and urgent are mixed up", narrow, "L2", onField("active", func(cell wire.Value, f wire.Filter, t wire.Type, right bool) bool {
			return right != (f.Op == wire.OpEq)
		})},
	}
}

// A toldTicket is a fault of the help desk of which more than its checks is told: the rule by which the platform's client
// refuses it, or what a report names first.
type toldTicket struct {
	ticketFault
	client, first, because string
}

func toldTickets() []toldTicket {
	return []toldTicket{
		{client: "stream-11", ticketFault: ticketFault{"channel isnull finds empty texts", "empty text is not null", "L2",
			onField("channel", func(cell wire.Value, f wire.Filter, _ wire.Type, right bool) bool {
				return right || f.Op == wire.OpIsNull && cell.String() == ""
			})}},
		{client: "stream-11", ticketFault: ticketFault{"cost is compared as text", "no row that satisfies a filter is missing", "L2",
			onField("cost", func(cell wire.Value, f wire.Filter, _ wire.Type, right bool) bool {
				if f.Op == wire.OpLt || f.Op == wire.OpGt {
					return oracle.Match(cell, f, wire.TypeString)
				}
				return right
			})}},
		{first: "L3", because: "its counts have filters, too",
			ticketFault: ticketFault{"channel is counted without case",
				"/count and /aggregate filter as /query does", "M10", twist{count: func(req *wire.CountRequest, right int64) int64 {
					_, tables := ticketData(1, 240)
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
				}}}},
		{first: "M21", because: "its joins have a filter and a sort",
			ticketFault: ticketFault{"filters are dropped beside a sort", "filter, then sort, then cut", "M12",
				asking(func(req *connector.Query) {
					if len(req.Sort) > 0 {
						req.And = nil
					}
				})}},
		{first: "L6", because: "its pages have a filter",
			ticketFault: ticketFault{"a window is cut before the filters", "filter, then sort, then cut", "M12", twist{early: true}}},
		{first: "L7", because: "it sorts the column downwards",
			ticketFault: ticketFault{"due is never sorted downwards", "rows come in the requested order", "M12", upwards("due")}},
		{first: "L6", because: "its pages have a filter",
			ticketFault: ticketFault{"an offset under a filter is one short", "exactly offset rows are skipped", "M12", shortOffset()}},
	}
}

func ticketCountFaults() []ticketFault {
	same := "/count and /aggregate filter as /query does"
	unfiltered := func(filters []wire.Filter, field string) []wire.Filter {
		return slices.DeleteFunc(slices.Clone(filters), func(f wire.Filter) bool { return f.Field == field })
	}
	return []ticketFault{
		{"aggregates do not filter by urgent", same, "M10", folding(func(req *wire.AggregateRequest) {
			req.And = unfiltered(req.And, "urgent")
		})},
		{"counts do not filter by agent", same, "M10", twist{count: func(req *wire.CountRequest, right int64) int64 {
			_, tables := ticketData(1, 240)
			other := *req
			other.And = unfiltered(req.And, "agent")
			n, err := oracle.Count(tables, &other)
			if err != nil {
				return right
			}
			return n
		}}},
	}
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

func ticketPlanFaults() []ticketFault {
	combined := "`and` holds as a whole, `or` has one group that holds"
	return []ticketFault{
		{"a second filter on a field replaces the first", combined, "M11",
			asking(func(req *connector.Query) { req.And = lastOf(req.And) })},
		{"a second filter on a field replaces the first within a group of or", combined, "M11",
			asking(func(req *connector.Query) {
				req.Or = slices.Clone(req.Or)
				for i, group := range req.Or {
					req.Or[i] = lastOf(group)
				}
			})},
		{"nin within a group of or drops nulls", combined, "M11",
			twist{passes: func(and []wire.Filter, or [][]wire.Filter, holds func(wire.Filter) bool) bool {
				return rightly(and, nil, holds) && rightly(nil, or, func(f wire.Filter) bool {
					return holds(f) && (f.Op != wire.OpNin || holds(wire.Filter{Field: f.Field, Op: wire.OpNotNull}))
				})
			}}},
		{"of two groups of or that begin alike the last stays", combined, "M11",
			asking(func(req *connector.Query) {
				by := map[string][]wire.Filter{}
				for _, group := range req.Or {
					by[fmt.Sprint(group[0])] = group
				}
				req.Or = slices.DeleteFunc(slices.Clone(req.Or), func(group []wire.Filter) bool {
					return fmt.Sprint(by[fmt.Sprint(group[0])]) != fmt.Sprint(group)
				})
			})},
		{"an empty group of or is dropped beside others", combined, "M11",
			asking(func(req *connector.Query) {
				req.Or = slices.DeleteFunc(slices.Clone(req.Or), func(group []wire.Filter) bool { return len(req.Or) > 1 && len(group) == 0 })
			})},
		{"the third filter of a group of or is ignored", combined, "M11",
			asking(func(req *connector.Query) { req.Or = beginnings(req.Or, 2) })},
		{"the fifth filter is ignored", combined, "M11",
			asking(func(req *connector.Query) { req.And = req.And[:min(4, len(req.And))] })},
		{"or is pushed as and", combined, "M11",
			twist{passes: func(and []wire.Filter, or [][]wire.Filter, holds func(wire.Filter) bool) bool {
				return rightly(and, nil, holds) && !slices.ContainsFunc(slices.Concat(or...), func(f wire.Filter) bool { return !holds(f) })
			}}},
		{"only two groups of or are pushed", combined, "M11",
			asking(func(req *connector.Query) { req.Or = req.Or[:min(2, len(req.Or))] })},
	}
}

// shortOffset skips one row too few when there are filters.
func shortOffset() twist {
	filtered := false
	return twist{
		request: func(req *connector.Query, _, _ *int64) { filtered = len(req.And) > 0 },
		window: func(offset, limit int64, rows int) (from, to int) {
			if filtered && offset > 0 {
				offset--
			}
			return cut(offset, limit, rows)
		},
	}
}

// liveFilterFaults returns the faults of the help desk as connectors.
func liveFilterFaults() (list []fault) {
	desk := func(f ticketFault) fault {
		return broken("tickets: "+f.name, f.why, f.kills, func() http.Handler { return ticketConnector(f.twist, 1, 240) }).
			graded(thorough)
	}
	for _, f := range ticketFaults() {
		list = append(list, desk(f))
	}
	for _, f := range toldTickets() {
		list = append(list, desk(f.ticketFault).refused(f.client).behind(f.first, f.because))
	}
	return list
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
	tests := []struct {
		requests int
		share    float64 // of the runs that must find the fault
	}{{750, 0.97}, {100, 0.5}}
	for _, test := range tests {
		found, runs := 0, 0
		all := ticketFaults()
		for _, f := range toldTickets() {
			all = append(all, f.ticketFault)
		}
		for _, f := range all {
			for seed := range uint64(3) {
				runs++
				report := grade(t, ticketConnector(f.twist, 1+seed, 240), grading{Options: conformance.Options{
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
		for _, o := range report.Outcomes {
			require.NotEqual(t, conformance.Fail, o.Verdict, "%s: %s\nexpected %s\nreceived %s\n%v",
				o.ID, o.Detail, o.Expected, o.Received, o.Request)
		}
		l2 := report.Outcome("L2")
		t.Log(seed, report.Coverage().Requests, "requests", l2.Cases, "cases", l2.Duration)
	}
}

// thorough leaves the checks of filters enough requests to ask every cell in several
// ways. What the default budget finds is measured by the shop: see SHOP.md.
func thorough(g *grading) {
	live(g)
	g.Requests = 4000
}
