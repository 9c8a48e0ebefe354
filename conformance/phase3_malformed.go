package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// malformedChecks are P3.3: bodies that do not parse against the schema of
// their route.
func malformedChecks() []Check {
	const quote = "the body does not parse against the schema of the route"
	return []Check{
		{
			ID: "P3.3a", Phase: 3, judge: notJSON,
			Title: "a body that is not one JSON object gives 400",
			Rule:  "protocol, Errors; G4", Quote: quote,
			Fix: "Read the whole body as one JSON object, and refuse it when something is missing or follows.",
		},
		{
			ID: "P3.3b", Phase: 3, judge: wrongTypes,
			Title: "a member of the wrong type gives 400",
			Rule:  "protocol, Errors; Endpoints", Quote: quote,
			Fix: "Check the type of every member instead of converting it.",
		},
		{
			ID: "P3.3c", Phase: 3, judge: missingMembers,
			Title: "a missing member gives 400",
			Rule:  "protocol, Errors; Endpoints", Quote: quote,
			Fix: "Refuse a body without a member that the route requires, instead of taking an empty one.",
		},
		{
			ID: "P3.3d", Phase: 3, judge: filterShapes,
			Title: "a filter of another shape than the three gives 400",
			Rule:  "protocol, Filter; A13", Quote: "Three strict shapes:",
			Fix: "Check each filter against the shape of its operator: value, member or nullary, and nothing beside it.",
		},
		{
			ID: "P3.3e", Phase: 3, judge: timeouts,
			Title: "a timeoutMs that is no positive integer gives 400",
			Rule:  "protocol, Endpoints; G7", Quote: "Every authenticated body carries `credentials` and `timeoutMs` (positive integer, enforced by the server with 408).",
			Fix: "Refuse zero, negative numbers, fractions and texts as timeoutMs.",
		},
		{
			ID: "P3.3g", Phase: 3, judge: measureShapes, needs: needsEndpoint(wire.PathAggregate),
			Title: "an unknown function or grain is refused or declined",
			Rule:  "protocol, /aggregate", Quote: "`fn` is `count`, `sum`, `min`, `max` or `count_distinct`; `avg` is never pushed",
			Fix: "Check functions and grains against their lists.",
		},
	}
}

// malformed posts a body that must be refused with 400, or with one of the
// other codes where the text allows them.
func (x *exam) malformed(r route, body []byte, what string, others ...wire.Code) {
	x.refuses(x.body(r, body), r.path+" with "+what, append([]wire.Code{wire.CodeBadRequest}, others...)...)
}

// shaped are the routes whose bodies can be malformed in one place only: those
// that name a table need one that exists.
func (x *exam) shaped() (of topic, list []route) {
	of = x.topic()
	list = x.mounted()
	if of.table == nil {
		list = slices.DeleteFunc(list, func(r route) bool { return r.path != wire.PathCheck && r.path != wire.PathDiscovery })
	}
	return of, list
}

// on are those of the routes that the run can use.
func on(list []route, paths ...string) []route {
	return slices.DeleteFunc(slices.Clone(list), func(r route) bool { return !slices.Contains(paths, r.path) })
}

func notJSON(x *exam) {
	of, list := x.shaped()
	for _, r := range list {
		body := string(x.legal(r, of).text())
		x.malformed(r, []byte("not json"), "a body that is not JSON")
		x.malformed(r, []byte(body[:len(body)-1]), "a body that is cut")
		x.malformed(r, []byte(body+"{}"), "two JSON values")
		x.malformed(r, []byte("["+body+"]"), "an array")
		x.malformed(r, []byte("null"), "null")
	}
}

// wrong is a member of a type that is not its own.
type wrong struct{ member, json string }

// wrongly are the members of each route with values of wrong types; %s is the
// field.
var wrongly = map[string][]wrong{
	wire.PathQuery: {
		{"table", "1"}, {"table", "[]"}, {"and", "{}"}, {"and", "[1]"}, {"or", "{}"}, {"or", "[1]"}, {"sort", `"id"`}, {"sort", "[1]"},
		{"sort", `[{"field":1,"dir":"asc"}]`}, {"sort", `[{"field":%s,"dir":"up"}]`}, {"fields", `"id"`}, {"fields", "[1]"},
		{"limit", `"1"`}, {"offset", `"0"`}, {"joins", "{}"}, {"fieldTypes", "[]"},
	},
	wire.PathCount:       {{"table", "1"}, {"and", "{}"}, {"and", "[1]"}, {"or", "{}"}, {"or", "[1]"}, {"fieldTypes", "[]"}},
	wire.PathAggregate:   {{"table", "1"}, {"and", "{}"}, {"groupBy", "{}"}, {"groupBy", "[1]"}, {"measures", `"count"`}, {"measures", "[1]"}, {"limit", `"1001"`}, {"stringFields", `"id"`}},
	wire.PathSize:        {{"table", "1"}, {"table", "{}"}},
	wire.PathCardinality: {{"table", "1"}, {"columns", `"id"`}, {"columns", "[1]"}},
	wire.PathLinkHitRate: {{"fromTable", "1"}, {"fromColumn", "[]"}, {"toTable", "{}"}, {"toColumn", "1"}},
}

func wrongTypes(x *exam) {
	of, list := x.shaped()
	for _, r := range list {
		for _, w := range append([]wrong{{"credentials", `"x"`}, {"credentials", "[]"}, {"credentials", `{"key":1}`}}, wrongly[r.path]...) {
			json := strings.ReplaceAll(w.json, "%s", quoted(of.field))
			x.malformed(r, x.legal(r, of).with(w.member, json).text(), w.member+": "+json)
		}
	}
}

func missingMembers(x *exam) {
	of, list := x.shaped()
	for _, r := range list {
		body := x.legal(r, of)
		for _, m := range body {
			switch {
			case m.name == "limit", m.name == "idleTimeoutMs":
				continue // optional, or not marked as required
			case r.path == wire.PathAggregate && slices.Contains([]string{"and", "groupBy", "measures"}, m.name):
				continue // which of them are required the text does not say
			}
			var others []wire.Code
			if m.name == "credentials" && r.path == wire.PathCheck {
				others = append(others, wire.CodeCheckFailed) // none may count as rejected ones
			}
			x.malformed(r, body.without(m.name).text(), "no member "+m.name, others...)
		}
	}
}

// misshapen are filters of no legal shape; %s is the field.
var misshapen = []struct {
	what, filter string
	others       []wire.Code
}{
	{"an unknown operator", `{"field":%s,"op":"like","value":"a"}`, []wire.Code{wire.CodeUnsupported}},
	{"value on in", `{"field":%s,"op":"in","value":"a"}`, nil},
	{"values on eq", `{"field":%s,"op":"eq","values":["a"]}`, nil},
	{"value beside values", `{"field":%s,"op":"in","value":"a","values":["a"]}`, nil},
	{"value on isnull", `{"field":%s,"op":"isnull","value":"a"}`, nil},
	{"values on notnull", `{"field":%s,"op":"notnull","values":[]}`, nil},
	{"no value on eq", `{"field":%s,"op":"eq"}`, nil},
	{"no values on in", `{"field":%s,"op":"in"}`, nil},
	{"values that are no array", `{"field":%s,"op":"in","values":"a"}`, nil},
	{"a value that is an array", `{"field":%s,"op":"eq","value":["a"]}`, nil},
	{"a value that is an object", `{"field":%s,"op":"eq","value":{"a":1}}`, nil},
	{"a filter without op", `{"field":%s,"value":"a"}`, nil},
	{"a filter with a further member", `{"field":%s,"op":"eq","value":"a","not":true}`, nil},
}

func filterShapes(x *exam) {
	of := x.some()
	for _, r := range on(x.mounted(), wire.PathQuery, wire.PathCount, wire.PathAggregate) {
		body := x.legal(r, of)
		for _, m := range misshapen {
			x.malformed(r, body.with("and", "["+fmt.Sprintf(m.filter, quoted(of.field))+"]").text(), m.what, m.others...)
		}
		x.malformed(r, body.with("and", `[{"op":"isnull"}]`).text(), "a filter without field")
		x.malformed(r, body.with("or", `[{"field":`+quoted(of.field)+`,"op":"isnull"}]`).text(), "or that is no array of groups")
		x.malformed(r, body.with("or", `[[{"field":`+quoted(of.field)+`,"op":"eq","values":["a"]}]]`).text(), "values on eq in an or group")
	}
}

func timeouts(x *exam) {
	of, list := x.shaped()
	for _, r := range list {
		for _, value := range []string{"0", "-1", "1.5", `"60000"`, "true", "null"} {
			x.malformed(r, x.legal(r, of).with("timeoutMs", value).text(), "timeoutMs: "+value)
		}
	}
}

func unknownMembers(x *exam) {
	of := x.some()
	field := quoted(of.field)
	for _, r := range on(x.mounted(), wire.PathQuery, wire.PathCount, wire.PathAggregate) {
		body := x.legal(r, of)
		x.malformed(r, body.with("having", "[]").text(), "an unknown member having")
		switch r.path {
		case wire.PathQuery:
			x.malformed(r, body.with("sort", `[{"field":`+field+`,"dir":"asc","nulls":"first"}]`).text(), "an unknown member nulls in a sort entry")
		case wire.PathAggregate:
			x.malformed(r, body.with("groupBy", `[{"field":`+field+`,"as":"g","width":10}]`).text(), "an unknown member width in groupBy")
			x.malformed(r, body.with("measures", `[{"fn":"count","as":"n","distinct":true}]`).text(), "an unknown member distinct in a measure")
		}
	}
}

func measureShapes(x *exam) {
	of := x.some()
	field, r := quoted(of.field), routeAt(wire.PathAggregate)
	for _, c := range []struct{ what, member, json string }{
		{"the function avg", "measures", `[{"fn":"avg","field":` + field + `,"as":"n"}]`},
		{"the function median", "measures", `[{"fn":"median","field":` + field + `,"as":"n"}]`},
		{"the grain week", "groupBy", `[{"field":` + field + `,"as":"g","grain":"week"}]`},
	} {
		a := x.body(r, x.legal(r, of).with(c.member, c.json).text())
		if declines(a) {
			x.cases++
			continue
		}
		x.refuses(a, "/aggregate with "+c.what, wire.CodeBadRequest, wire.CodeUnsupported)
	}
}
