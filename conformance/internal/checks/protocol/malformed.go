package protocol

import (
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// malformedChecks returns the checks about bodies that do not parse against the schema of their
// route.
func malformedChecks() []session.Check {
	return []session.Check{
		{ID: "P3.3a", Phase: 3, Weight: 10, Judge: notOneObject, Rules: []string{"error-2", "http-4"},
			Title: "a body that is not one JSON object gives 400",
			Fix:   "Read the whole body as one JSON object, and refuse it when something is missing or follows."},
		{ID: "P3.3b", Phase: 3, Weight: 16, Judge: wrongTypes, Rules: []string{"error-2", "credential-8"},
			Title: "a member of the wrong type gives 400",
			Fix:   "Check the type of every member instead of converting it."},
		{ID: "P3.3c", Phase: 3, Weight: 8, Judge: missingMembers, Rules: []string{"error-2", "query-9", "route-2"},
			Title: "a missing member gives 400",
			Fix:   "Refuse a body without a member that the route requires, instead of taking an empty one."},
		{ID: "P3.3d", Phase: 3, Weight: 14, Judge: filterShapes, Rules: []string{"filter-14", "filter-15"},
			Title: "a filter of another shape than the three gives 400",
			Fix:   "Check each filter against the shape of its operator: value, values or neither, and no other member."},
		{ID: "P3.3e", Phase: 3, Weight: 8, Judge: wrongTimeouts, Rules: []string{"route-2", "http-7"},
			Title: "a timeoutMs that is no positive integer gives 400",
			Fix:   "Refuse zero, negative numbers, fractions and texts as timeoutMs."},
		{ID: "P3.3g", Phase: 3, Judge: unknownFunctions, Needs: needsRoute(wire.PathAggregate),
			Rules: []string{"aggregate-12", "aggregate-11", "aggregate-7"},
			Title: "an unknown function or grain is refused or declined",
			Fix:   "Check functions and grains against their lists."},
	}
}

// malformed returns a body that must be refused with 400, or with one of the other
// codes.
func malformed(r session.Route, text []byte, what string, others ...wire.Code) wrongBody {
	return wrongBody{route: r, text: text, what: what, codes: append([]wire.Code{wire.CodeBadRequest}, others...)}
}

// eachRoute sends the malformed bodies of all routes. Those that name a table need one
// that exists, because their bodies must be malformed in one place only.
func eachRoute(run *session.Run, bodies func(r session.Route, legal session.Payload, field string) []wrongBody) *check.Finding {
	topic := run.Topic()
	routes := run.Mounted()
	if topic.Table == nil {
		routes = run.MountedAt(wire.PathCheck, wire.PathDiscovery)
	}
	var lists [][]wrongBody
	for i, r := range routes {
		lists = append(lists, rotated(bodies(r, run.Legal(r, topic), session.Quoted(topic.Field)), i))
	}
	return refusesAll(run, inTurn(lists))
}

func notOneObject(run *session.Run) *check.Finding {
	return eachRoute(run, func(r session.Route, legal session.Payload, _ string) []wrongBody {
		text := legal.Text()
		return []wrongBody{
			malformed(r, append(legal.Text(), "{}"...), "two JSON values"),
			malformed(r, text[:len(text)-1], "a body that is cut"),
			malformed(r, []byte("null"), "null"),
			malformed(r, []byte("["+string(text)+"]"), "an array"),
			malformed(r, []byte("not json"), "a body that is not JSON"),
		}
	})
}

// wrongMember is a member with a value of a wrong type.
type wrongMember struct{ name, json string }

// wrongMembers returns members of a route with values of wrong types; %s stands for
// the field.
func wrongMembers(path string) (wrong []wrongMember) {
	switch path {
	case wire.PathQuery:
		wrong = append(wrong, []wrongMember{
			{"limit", `"1"`}, {"sort", `[{"field":%s,"dir":"up"}]`}, {"or", "{}"}, {"fields", `"id"`}, {"and", "{}"},
			{"table", "1"}, {"offset", `"0"`}, {"or", "[1]"}, {"and", "[1]"},
			{"sort", `"id"`}, {"sort", `[{"field":1,"dir":"asc"}]`}, {"sort", "[1]"}, {"fields", "[1]"},
			{"joins", "{}"}, {"fieldTypes", "[]"}, {"table", "[]"},
		}...)
	case wire.PathCount:
		wrong = append(wrong, []wrongMember{
			{"or", "{}"}, {"and", "{}"}, {"and", "[1]"}, {"table", "1"}, {"or", "[1]"}, {"fieldTypes", "[]"},
		}...)
	case wire.PathAggregate:
		wrong = append(wrong, []wrongMember{
			{"limit", `"1001"`}, {"groupBy", "{}"}, {"measures", `"count"`}, {"and", "{}"},
			{"table", "1"}, {"groupBy", "[1]"}, {"measures", "[1]"}, {"stringFields", `"id"`},
		}...)
	case wire.PathSize:
		wrong = append(wrong, []wrongMember{{"table", "1"}, {"table", "{}"}}...)
	case wire.PathCardinality:
		wrong = append(wrong, []wrongMember{{"table", "1"}, {"columns", `"id"`}, {"columns", "[1]"}}...)
	case wire.PathLinkHitRate:
		wrong = append(wrong, []wrongMember{{"fromTable", "1"}, {"fromColumn", "[]"}, {"toTable", "{}"}, {"toColumn", "1"}}...)
	}
	return append(wrong, []wrongMember{{"credentials", `"x"`}, {"credentials", "[]"}, {"credentials", `{"key":1}`}}...)
}

func wrongTypes(run *session.Run) *check.Finding {
	return eachRoute(run, func(r session.Route, legal session.Payload, field string) (list []wrongBody) {
		for _, wrong := range wrongMembers(r.Path) {
			json := strings.ReplaceAll(wrong.json, "%s", field)
			list = append(list, malformed(r, legal.With(wrong.name, json).Text(), wrong.name+": "+json))
		}
		return list
	})
}

func missingMembers(run *session.Run) *check.Finding {
	return eachRoute(run, func(r session.Route, legal session.Payload, _ string) (list []wrongBody) {
		for _, m := range legal {
			switch {
			case m.Name == "limit", m.Name == "idleTimeoutMs":
				continue // optional, or not marked as required
			case r.Path == wire.PathAggregate && slices.Contains([]string{"and", "groupBy", "measures"}, m.Name):
				continue // the protocol does not say which of them are required
			}
			var others []wire.Code
			if m.Name == "credentials" && r.Path == wire.PathCheck {
				others = append(others, wire.CodeCheckFailed) // missing credentials may count as rejected ones
			}
			list = append(list, malformed(r, legal.Without(m.Name).Text(), "no member "+m.Name, others...))
		}
		return list
	})
}

// misshapenFilters are filters of no legal shape; %s stands for the field.
var misshapenFilters = []struct {
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

func filterShapes(run *session.Run) *check.Finding {
	topic, f := run.ExistingTopic()
	if f != nil {
		return f
	}
	field := session.Quoted(topic.Field)
	var lists [][]wrongBody
	for i, r := range run.MountedAt(wire.PathQuery, wire.PathCount, wire.PathAggregate) {
		legal := run.Legal(r, topic)
		list := []wrongBody{
			malformed(r, legal.With("or", `[[{"field":`+field+`,"op":"eq","values":["a"]}]]`).Text(), "values on eq in an or group"),
			malformed(r, legal.With("or", `[{"field":`+field+`,"op":"isnull"}]`).Text(), "or that is no array of groups"),
			malformed(r, legal.With("and", `[{"op":"isnull"}]`).Text(), "a filter without field"),
		}
		for _, m := range misshapenFilters {
			filters := "[" + fmt.Sprintf(m.filter, field) + "]"
			list = append(list, malformed(r, legal.With("and", filters).Text(), m.what, m.others...))
		}
		lists = append(lists, rotated(list, i))
	}
	return refusesAll(run, inTurn(lists))
}

func wrongTimeouts(run *session.Run) *check.Finding {
	return eachRoute(run, func(r session.Route, legal session.Payload, _ string) (list []wrongBody) {
		for _, value := range []string{"0", "-1", `"60000"`, "1.5", "null", "true"} {
			list = append(list, malformed(r, legal.With("timeoutMs", value).Text(), "timeoutMs: "+value))
		}
		return list
	})
}

func unknownFunctions(run *session.Run) *check.Finding {
	topic, f := run.ExistingTopic()
	if f != nil {
		return f
	}
	field, r := session.Quoted(topic.Field), session.RouteAt(wire.PathAggregate)
	var list []wrongBody
	for _, c := range []struct{ what, member, json string }{
		{"the function avg", "measures", `[{"fn":"avg","field":` + field + `,"as":"n"}]`},
		{"the grain week", "groupBy", `[{"field":` + field + `,"as":"g","grain":"week"}]`},
		{"the function median", "measures", `[{"fn":"median","field":` + field + `,"as":"n"}]`},
	} {
		list = append(list, wrongBody{
			route: r, text: run.Legal(r, topic).With(c.member, c.json).Text(), what: c.what,
			codes: []wire.Code{wire.CodeBadRequest, wire.CodeUnsupported}, declinable: true,
		})
	}
	return refusesAll(run, list)
}
