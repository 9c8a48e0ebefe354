package killtest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// oddPlaces returns what is odd at one place only, as the faults of [placeFaults] are, and legal.
func oddPlaces() []oddity {
	has := func(ops string, holds func(f map[string]any) bool) func(body map[string]any) bool {
		return func(body map[string]any) bool {
			for _, f := range listOf(body, "and") {
				op, _ := f["op"].(string)
				if (ops == "" || strings.Contains(ops, op)) && (holds == nil || holds(f)) {
					return true
				}
			}
			return false
		}
	}
	folds := func(body map[string]any) bool { return hasMeasure(body, "sum", "min", "max", "count_distinct") }
	offset := func(f map[string]any) bool {
		for _, v := range append(alternatives(f, "values"), f["value"]) {
			if text, ok := v.(string); ok && isOffset(text) {
				return true
			}
		}
		return false
	}
	downwards := func(body map[string]any) bool {
		keys := listOf(body, "sort")
		return len(keys) > 1 && keys[1]["dir"] == "desc"
	}
	unhurried := func(g *grading) { g.Requests = 0 } // advice is asked last
	return []oddity{
		{name: "measures beside a filter are declined", why: "204 declines, whatever is asked otherwise",
			layer: refusing(wire.PathAggregate, func(body map[string]any) bool {
				return len(listOf(body, "and")) > 0 && folds(body)
			}, http.StatusNoContent)},
		{name: "aggregates under neq and nin are declined", why: "204 declines, whatever is asked otherwise",
			layer: refusing(wire.PathAggregate, has("neq nin", nil), http.StatusNoContent)},
		{name: "two periods of one date are declined", why: "204 declines, whatever is asked otherwise",
			layer: refusing(wire.PathAggregate, func(body map[string]any) bool {
				keys := listOf(body, "groupBy")
				return len(keys) > 1 && keys[0]["field"] == keys[1]["field"]
			}, http.StatusNoContent)},
		{name: "a second key downwards is left to the platform", why: "each of the three is served or not",
			layer: func(h http.Handler) http.Handler {
				unsorted := serving(true, false)(unwindowed(bodies(func(body map[string]any) { body["sort"] = []any{} }, wire.PathQuery)(h)))
				return diverted(unsorted, wire.PathQuery, downwards)(h)
			}},
		{name: "ties the other way round, in every window", why: "any fixed order of ties will do", unadvised: "A.15", options: unhurried,
			build: stocked(firstHotels, twist{order: func(req *connector.Query, t *oracle.Table) { eachTie(t, req.Sort, slices.Reverse) }})},
		{name: "decimals have several spellings", why: "they are values of one type", unadvised: "M31", options: unhurried,
			build: stocked(respeltPrices, twist{})},
		{name: "operands with an offset are refused", why: "how an operand that is not UTC is read is our decision",
			unadvised: "M30", options: unhurried,
			layer: refusing(wire.PathQuery, has("", offset), http.StatusBadRequest)},
	}
}
