package protocol

import (
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// nameChecks returns the checks about names that are nearly those of a table or a
// field: in another case, or with blanks around them.
func nameChecks() []session.Check {
	return []session.Check{
		{ID: "P3.14a", Phase: 3, Weight: 20, Judge: tableNamesExact, Rules: []string{"query-14", "error-5", "measure-3"},
			Title: "a table is found by its exact name only, on every route",
			Fix: "Compare table names byte for byte with those that discovery lists, before the source sees them: " +
				"many databases ignore the case of a name."},
		{ID: "P3.14b", Phase: 3, Weight: 22, Judge: fieldNamesExact, Rules: []string{"filter-11", "filter-11a", "error-5"},
			Title: "a field is found by its exact name only, on every route",
			Fix:   "Compare field names byte for byte with those that discovery lists, before the source sees them."},
	}
}

// near returns names that differ from a name only in case or in blanks.
func near(name string) []string {
	other := strings.ToUpper(name)
	if other == name {
		other = strings.ToLower(name)
	}
	if other == name { // it has no case
		return []string{name + " ", " " + name}
	}
	return []string{other, name + " "}
}

func tableNamesExact(run *session.Run) *check.Finding {
	topic, f := run.ExistingTopic()
	if f != nil {
		return f
	}
	d, f := run.Discovery(0)
	if f != nil {
		return f
	}
	var lists [][]wrongBody
	for _, r := range run.Mounted() {
		var list []wrongBody
		for _, name := range near(topic.Name) {
			if d.Lookup[name] != nil {
				continue
			}
			legal := run.Legal(r, topic)
			for _, member := range []string{"table", "toTable", "fromTable"} {
				if legal.Has(member) {
					list = append(list, wrongBody{
						route: r, text: legal.With(member, session.Quoted(name)).Text(),
						what:  "the unknown table " + wire.QuoteName(name),
						codes: []wire.Code{wire.CodeUnknownEntity}, declinable: true,
					})
				}
			}
		}
		lists = append(lists, list)
	}
	return refusesAll(run, inTurn(lists))
}

func fieldNamesExact(run *session.Run) *check.Finding {
	topic, f := run.ExistingTopic()
	if f != nil {
		return f
	}
	var lists [][]wrongBody
	known := session.Quoted(topic.Field)
	for _, p := range namedFields {
		if p.needs != nil && p.needs(run.Document) != "" {
			continue
		}
		for _, r := range run.MountedAt(p.path) {
			var list []wrongBody
			for _, name := range near(topic.Field) {
				if topic.Table.Field(name) != nil {
					continue
				}
				json := strings.ReplaceAll(strings.ReplaceAll(p.json, "%known", known), "%s", session.Quoted(name))
				list = append(list, wrongBody{
					route: r, text: run.Legal(r, topic).With(p.member, json).Text(),
					what:  "the unknown field " + wire.QuoteName(name) + " in " + p.member,
					codes: p.codes, declinable: true,
				})
			}
			lists = append(lists, list)
		}
	}
	return refusesAll(run, inTurn(lists))
}

// namedFields are the places in which a request names a field; %s stands for it, and
// %known for one that exists.
var namedFields = []place{
	{path: wire.PathQuery, member: "and", json: `[{"field":%s,"op":"notnull"}]`, codes: filterCodes},
	{path: wire.PathQuery, member: "fields", json: "[%s]", codes: fieldCodes},
	{path: wire.PathCount, member: "and", json: `[{"field":%s,"op":"notnull"}]`, codes: filterCodes},
	{path: wire.PathQuery, member: "sort", json: `[{"field":%s,"dir":"asc"}]`, codes: fieldCodes, needs: session.NeedsSort},
	{path: wire.PathAggregate, member: "groupBy", json: `[{"field":%s,"as":"g"}]`, codes: fieldCodes},
	{path: wire.PathAggregate, member: "measures", json: `[{"fn":"count","field":%s,"as":"n"}]`, codes: fieldCodes},
	{path: wire.PathCardinality, member: "columns", json: "[%known,%s]", codes: []wire.Code{wire.CodeUnknownEntity}},
	{path: wire.PathLinkHitRate, member: "toColumn", json: "%s", codes: []wire.Code{wire.CodeUnknownEntity}},
	{path: wire.PathLinkHitRate, member: "fromColumn", json: "%s", codes: []wire.Code{wire.CodeUnknownEntity}},
}
