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
		{ID: "P3.3a", Phase: 3, Judge: notOneObject, Rules: []string{"error-2", "http-4"},
			Title: "a body that is not one JSON object gives 400",
			Fix:   "Read the whole body as one JSON object, and refuse it when something is missing or follows."},
		{ID: "P3.3b", Phase: 3, Judge: wrongTypes, Rules: []string{"error-2", "credential-8"},
			Title: "a member of the wrong type gives 400",
			Fix:   "Check the type of every member instead of converting it."},
		{ID: "P3.3c", Phase: 3, Judge: missingMembers, Rules: []string{"error-2", "query-9", "route-2"},
			Title: "a missing member gives 400",
			Fix:   "Refuse a body without a member that the route requires, instead of taking an empty one."},
		{ID: "P3.3d", Phase: 3, Judge: filterShapes, Rules: []string{"filter-14", "filter-15"},
			Title: "a filter of another shape than the three gives 400",
			Fix:   "Check each filter against the shape of its operator: value, values or neither, and no other member."},
		{ID: "P3.3e", Phase: 3, Judge: wrongTimeouts, Rules: []string{"route-2", "http-7"},
			Title: "a timeoutMs that is no positive integer gives 400",
			Fix:   "Refuse zero, negative numbers, fractions and texts as timeoutMs."},
		{ID: "P3.3g", Phase: 3, Judge: unknownFunctions, Needs: needsRoute(wire.PathAggregate),
			Rules: []string{"aggregate-12", "aggregate-11", "aggregate-7"},
			Title: "an unknown function or grain is refused or declined",
			Fix:   "Check functions and grains against their lists."},
	}
}

// malformed posts a body that must be refused with 400, or with one of the other
// codes.
func malformed(run *session.Run, r session.Route, body []byte, what string, others ...wire.Code) *check.Finding {
	codes := append([]wire.Code{wire.CodeBadRequest}, others...)
	return run.Refused(run.PostBody(r, body), r.Path+" with "+what, codes...)
}

// eachRoute judges the routes whose bodies can be malformed in one place only. Those
// that name a table need one that exists.
func eachRoute(run *session.Run, judge func(r session.Route, body session.Payload, field string) *check.Finding) *check.Finding {
	topic := run.Topic()
	routes := run.Mounted()
	if topic.Table == nil {
		routes = run.MountedAt(wire.PathCheck, wire.PathDiscovery)
	}
	for _, r := range routes {
		if f := judge(r, run.Legal(r, topic), session.Quoted(topic.Field)); f != nil {
			return f
		}
	}
	return nil
}

func notOneObject(run *session.Run) *check.Finding {
	return eachRoute(run, func(r session.Route, body session.Payload, _ string) *check.Finding {
		text := string(body.Text())
		for _, c := range []struct{ body, what string }{
			{"not json", "a body that is not JSON"},
			{text[:len(text)-1], "a body that is cut"},
			{text + "{}", "two JSON values"},
			{"[" + text + "]", "an array"},
			{"null", "null"},
		} {
			if f := malformed(run, r, []byte(c.body), c.what); f != nil {
				return f
			}
		}
		return nil
	})
}

// wrongMember is a member with a value of a wrong type.
type wrongMember struct{ name, json string }

// wrongMembers returns members of a route with values of wrong types; %s stands for
// the field.
func wrongMembers(path string) []wrongMember {
	wrong := []wrongMember{{"credentials", `"x"`}, {"credentials", "[]"}, {"credentials", `{"key":1}`}}
	switch path {
	case wire.PathQuery:
		wrong = append(wrong, []wrongMember{
			{"table", "1"}, {"table", "[]"},
			{"and", "{}"}, {"and", "[1]"},
			{"or", "{}"}, {"or", "[1]"},
			{"sort", `"id"`}, {"sort", "[1]"}, {"sort", `[{"field":1,"dir":"asc"}]`}, {"sort", `[{"field":%s,"dir":"up"}]`},
			{"fields", `"id"`}, {"fields", "[1]"},
			{"limit", `"1"`}, {"offset", `"0"`},
			{"joins", "{}"}, {"fieldTypes", "[]"},
		}...)
	case wire.PathCount:
		wrong = append(wrong, []wrongMember{
			{"table", "1"}, {"and", "{}"}, {"and", "[1]"}, {"or", "{}"}, {"or", "[1]"}, {"fieldTypes", "[]"},
		}...)
	case wire.PathAggregate:
		wrong = append(wrong, []wrongMember{
			{"table", "1"}, {"and", "{}"},
			{"groupBy", "{}"}, {"groupBy", "[1]"},
			{"measures", `"count"`}, {"measures", "[1]"},
			{"limit", `"1001"`}, {"stringFields", `"id"`},
		}...)
	case wire.PathSize:
		wrong = append(wrong, []wrongMember{{"table", "1"}, {"table", "{}"}}...)
	case wire.PathCardinality:
		wrong = append(wrong, []wrongMember{{"table", "1"}, {"columns", `"id"`}, {"columns", "[1]"}}...)
	case wire.PathLinkHitRate:
		wrong = append(wrong, []wrongMember{{"fromTable", "1"}, {"fromColumn", "[]"}, {"toTable", "{}"}, {"toColumn", "1"}}...)
	}
	return wrong
}

func wrongTypes(run *session.Run) *check.Finding {
	return eachRoute(run, func(r session.Route, body session.Payload, field string) *check.Finding {
		for _, wrong := range wrongMembers(r.Path) {
			json := strings.ReplaceAll(wrong.json, "%s", field)
			if f := malformed(run, r, body.With(wrong.name, json).Text(), wrong.name+": "+json); f != nil {
				return f
			}
		}
		return nil
	})
}

func missingMembers(run *session.Run) *check.Finding {
	return eachRoute(run, func(r session.Route, body session.Payload, _ string) *check.Finding {
		for _, m := range body {
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
			if f := malformed(run, r, body.Without(m.Name).Text(), "no member "+m.Name, others...); f != nil {
				return f
			}
		}
		return nil
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
	for _, r := range run.MountedAt(wire.PathQuery, wire.PathCount, wire.PathAggregate) {
		body := run.Legal(r, topic)
		for _, m := range misshapenFilters {
			filters := "[" + fmt.Sprintf(m.filter, field) + "]"
			if f := malformed(run, r, body.With("and", filters).Text(), m.what, m.others...); f != nil {
				return f
			}
		}
		for _, c := range []struct{ member, json, what string }{
			{"and", `[{"op":"isnull"}]`, "a filter without field"},
			{"or", `[{"field":` + field + `,"op":"isnull"}]`, "or that is no array of groups"},
			{"or", `[[{"field":` + field + `,"op":"eq","values":["a"]}]]`, "values on eq in an or group"},
		} {
			if f := malformed(run, r, body.With(c.member, c.json).Text(), c.what); f != nil {
				return f
			}
		}
	}
	return nil
}

func wrongTimeouts(run *session.Run) *check.Finding {
	return eachRoute(run, func(r session.Route, body session.Payload, _ string) *check.Finding {
		for _, value := range []string{"0", "-1", "1.5", `"60000"`, "true", "null"} {
			if f := malformed(run, r, body.With("timeoutMs", value).Text(), "timeoutMs: "+value); f != nil {
				return f
			}
		}
		return nil
	})
}

func unknownFunctions(run *session.Run) *check.Finding {
	topic, f := run.ExistingTopic()
	if f != nil {
		return f
	}
	field, r := session.Quoted(topic.Field), session.RouteAt(wire.PathAggregate)
	for _, c := range []struct{ what, member, json string }{
		{"the function avg", "measures", `[{"fn":"avg","field":` + field + `,"as":"n"}]`},
		{"the function median", "measures", `[{"fn":"median","field":` + field + `,"as":"n"}]`},
		{"the grain week", "groupBy", `[{"field":` + field + `,"as":"g","grain":"week"}]`},
	} {
		a := run.PostBody(r, run.Legal(r, topic).With(c.member, c.json).Text())
		if a.Declined() {
			run.Cases++
			continue
		}
		if f := run.Refused(a, "/aggregate with "+c.what, wire.CodeBadRequest, wire.CodeUnsupported); f != nil {
			return f
		}
	}
	return nil
}
