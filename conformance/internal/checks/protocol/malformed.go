package protocol

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/refusal"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/routes"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// malformedChecks returns the checks about bodies that do not parse against the schema of their route.
func malformedChecks() []session.Check {
	each := func(rows []refusal.Row) refusal.Table {
		return refusal.Table{About: refusal.AnyTable, InTurn: true, Rows: rows}
	}
	return []session.Check{session.Merge(session.Check{
		ID: "P3.3", Phase: 3, Title: "a body of another shape than that of its route gives 400",
		Fix: "Decode the whole body against the shape of its route, and refuse what does not fit.",
	}, []session.Check{
		{Was: "P3.3a", Facet: "not one JSON object",
			Weight: 10, Judge: each(notOneObject).Judge, Rules: []string{"error-2", "http-4"},
			Title: "a body that is not one JSON object gives 400",
			Fix:   "Read the whole body as one JSON object, and refuse it when something is missing or follows."},
		{Was: "P3.3b", Facet: "a member of the wrong type",
			Weight: 24, Judge: each(wrongTypes()).Judge, Rules: []string{"error-2", "credential-8"},
			Title: "a member of the wrong type gives 400",
			Fix:   "Check the type of every member instead of converting it."},
		{Was: "P3.3c", Facet: "a missing member",
			Weight: 12, Judge: each(missingMembers()).Judge, Rules: []string{"error-2", "query-9", "route-2"},
			Title: "a missing member gives 400",
			Fix:   "Refuse a body without a member that the route requires, instead of taking an empty one."},
		{Was: "P3.3d", Facet: "the shape of a filter",
			Weight: 44, Judge: refusal.Table{InTurn: true, Rows: filterShapes}.Judge,
			Rules: []string{"filter-14", "filter-15"},
			Title: "a filter of another shape than the three gives 400",
			Fix:   "Check each filter against the shape of its operator: value, values or neither, and no other member."},
		{Was: "P3.3e", Facet: "timeoutMs",
			Weight: 8, Judge: each(wrongTimeouts).Judge, Rules: []string{"route-2", "http-7"},
			Title: "a timeoutMs that is no positive integer gives 400",
			Fix:   "Refuse zero, negative numbers, fractions and texts as timeoutMs."},
		{Was: "P3.3g", Facet: "an unknown function or grain", Needs: declared.Needs(wire.PathAggregate),
			Rules: []string{"aggregate-12", "aggregate-11", "aggregate-7"},
			Title: "an unknown function or grain is refused or declined",
			Fix:   "Check functions and grains against their lists.",
			Judge: refusal.Table{Declinable: true, Rows: check.Family(
				refusal.Row{Paths: at(wire.PathAggregate), Codes: badOrUnsupported}, []refusal.Row{
					{Member: "measures", JSON: `[{"fn":"avg","field":%field,"as":"n"}]`, What: "with the function avg"},
					{Member: "groupBy", JSON: `[{"field":%field,"as":"g","grain":"week"}]`, What: "with the grain week"},
					{Member: "measures", JSON: `[{"fn":"median","field":%field,"as":"n"}]`, What: "with the function median"},
				})}.Judge},
	})}
}

var notOneObject = []refusal.Row{
	{Body: "%body{}", What: "with two JSON values"},
	{Body: "%cut", What: "with a body that is cut"},
	{Body: "null", What: "with null"},
	{Body: "[%body]", What: "with an array"},
	{Body: "not json", What: "with a body that is not JSON"},
}

// wrongTypes returns members with values of wrong types, those of a route first.
func wrongTypes() (rows []refusal.Row) {
	for _, route := range routes.All {
		for member, value := range routes.Pairs(route.Wrong) {
			rows = append(rows, refusal.Row{Paths: at(route.Path), Member: member, JSON: value})
		}
	}
	return append(rows, refusal.Row{Member: "credentials", JSON: `"x"`}, refusal.Row{Member: "credentials", JSON: "[]"},
		refusal.Row{Member: "credentials", JSON: `{"key":1}`})
}

// missingMembers returns the members that a route requires. The protocol does not say which of an
// aggregate's and, groupBy and measures are.
func missingMembers() (rows []refusal.Row) {
	var named, others []string // other routes than /check
	for _, route := range routes.All {
		if route.Path != wire.PathCheck {
			others = append(others, route.Path)
		}
		for member := range route.Naming("%") {
			if member != "fields" && !slices.Contains(named, member) {
				named = append(named, member)
				rows = append(rows, refusal.Row{Member: member})
			}
		}
	}
	return append(rows, []refusal.Row{
		{Member: "and", Paths: at(wire.PathQuery, wire.PathCount)}, {Member: "sort"}, {Member: "fields"},
		// On /check, missing credentials may count as rejected ones.
		{Member: "credentials", Paths: at(wire.PathCheck), Codes: []wire.Code{wire.CodeBadRequest, wire.CodeCheckFailed}},
		{Member: "credentials", Paths: others},
		{Member: "timeoutMs"},
	}...)
}

var filterShapes = check.Family(refusal.Row{Paths: at(wire.PathQuery, wire.PathCount, wire.PathAggregate), Member: "and"}, []refusal.Row{
	{What: "with values on eq in an or group", Member: "or", JSON: `[[{"field":%field,"op":"eq","values":["a"]}]]`},
	{What: "with or that is no array of groups", Member: "or", JSON: `[{"field":%field,"op":"isnull"}]`},
	{What: "with a filter without field", JSON: `[{"op":"isnull"}]`},
	{What: "with an unknown operator", JSON: `[{"field":%field,"op":"like","value":"a"}]`, Codes: badOrUnsupported},
	{What: "with value on in", JSON: `[{"field":%field,"op":"in","value":"a"}]`},
	{What: "with values on eq", JSON: `[{"field":%field,"op":"eq","values":["a"]}]`},
	{What: "with value beside values", JSON: `[{"field":%field,"op":"in","value":"a","values":["a"]}]`},
	{What: "with value on isnull", JSON: `[{"field":%field,"op":"isnull","value":"a"}]`},
	{What: "with values on notnull", JSON: `[{"field":%field,"op":"notnull","values":[]}]`},
	{What: "with no value on eq", JSON: `[{"field":%field,"op":"eq"}]`},
	{What: "with no values on in", JSON: `[{"field":%field,"op":"in"}]`},
	{What: "with values that are no array", JSON: `[{"field":%field,"op":"in","values":"a"}]`},
	{What: "with a value that is an array", JSON: `[{"field":%field,"op":"eq","value":["a"]}]`},
	{What: "with a value that is an object", JSON: `[{"field":%field,"op":"eq","value":{"a":1}}]`},
	{What: "with a filter without op", JSON: `[{"field":%field,"value":"a"}]`},
	{What: "with a filter with a further member", JSON: `[{"field":%field,"op":"eq","value":"a","not":true}]`},
})

var wrongTimeouts = []refusal.Row{
	{Member: "timeoutMs", JSON: "0"},
	{Member: "timeoutMs", JSON: "-1"},
	{Member: "timeoutMs", JSON: `"60000"`},
	{Member: "timeoutMs", JSON: "1.5"},
	{Member: "timeoutMs", JSON: "null"},
	{Member: "timeoutMs", JSON: "true"},
}
