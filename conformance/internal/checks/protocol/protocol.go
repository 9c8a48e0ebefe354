// Package protocol checks how a connector behaves whatever its data: what it
// refuses, the form of its answers and streams, deadlines and heartbeats.
package protocol

import (
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Checks returns the checks in the order in which they run.
func Checks() []session.Check {
	return slices.Concat(discoveryChecks(), unknownEntityChecks(), malformedChecks(), unknownFieldChecks(), slowChecks(),
		streamChecks(), undeclaredChecks(), answerChecks())
}

// needsRoute returns the condition that a route exists.
func needsRoute(path string) func(*session.Document) string { return session.RouteAt(path).Needs }

// unknownEntityChecks returns the checks about tables and columns that the source does not have.
func unknownEntityChecks() []session.Check {
	const (
		table  = "Look the table up before anything else is done with the request, and answer 404 unknown_entity with its name."
		column = "Look the column up before it is measured, and answer 404 unknown_entity with its name."
	)
	return []session.Check{
		{ID: "P3.2a", Phase: 3, Needs: needsRoute(wire.PathQuery), Judge: unknownTable(wire.PathQuery),
			Rules: []string{"query-14", "error-5"},
			Title: "/query of an unknown table gives 404 unknown_entity",
			Fix:   table},
		{ID: "P3.2b", Phase: 3, Needs: needsRoute(wire.PathCount), Judge: unknownTable(wire.PathCount),
			Rules: []string{"error-5"},
			Title: "/count of an unknown table gives 404 unknown_entity",
			Fix:   table},
		{ID: "P3.2c", Phase: 3, Needs: needsRoute(wire.PathAggregate), Judge: unknownTable(wire.PathAggregate),
			Rules: []string{"error-5"},
			Title: "/aggregate of an unknown table gives 404 unknown_entity, or is declined",
			Fix:   table},
		{ID: "P3.2d", Phase: 3, Needs: needsRoute(wire.PathSize), Judge: unknownTable(wire.PathSize),
			Rules: []string{"measure-3", "error-5"},
			Title: "/size of an unknown table gives 404 unknown_entity",
			Fix:   table},
		{ID: "P3.2e", Phase: 3, Needs: needsRoute(wire.PathCardinality), Judge: unknownTable(wire.PathCardinality),
			Rules: []string{"measure-3", "error-5"},
			Title: "/cardinality of an unknown table gives 404 unknown_entity",
			Fix:   table},
		{ID: "P3.2f", Phase: 3, Needs: needsRoute(wire.PathCardinality), Judge: unknownColumn,
			Rules: []string{"measure-3", "error-5"},
			Title: "/cardinality of an unknown column gives 404 unknown_entity",
			Fix:   column},
		{ID: "P3.2g", Phase: 3, Needs: needsRoute(wire.PathLinkHitRate), Judge: unknownLink,
			Rules: []string{"measure-3", "error-5"},
			Title: "/linkHitRate of an unknown table or column gives 404 unknown_entity",
			Fix:   column},
	}
}

func unknownTable(path string) func(*session.Run) *check.Finding {
	return func(run *session.Run) *check.Finding {
		r := session.RouteAt(path)
		a := run.PostBody(r, run.Legal(r, session.Topic{Name: session.UnusedTable, Field: "id"}).Text())
		if path == wire.PathAggregate && a.Declined() {
			return nil
		}
		return run.Refused(a, path+" of a table that does not exist", wire.CodeUnknownEntity)
	}
}

func unknownColumn(run *session.Run) *check.Finding {
	topic, f := run.ExistingTopic()
	if f != nil {
		return f
	}
	r := session.RouteAt(wire.PathCardinality)
	columns := "[" + session.Quoted(topic.Field) + "," + session.Quoted(session.UnusedField) + "]"
	a := run.PostBody(r, run.Legal(r, topic).With("columns", columns).Text())
	return run.Refused(a, "/cardinality of a column that does not exist", wire.CodeUnknownEntity)
}

func unknownLink(run *session.Run) *check.Finding {
	topic, f := run.ExistingTopic()
	if f != nil {
		return f
	}
	r := session.RouteAt(wire.PathLinkHitRate)
	for _, c := range []struct{ member, name string }{
		{"fromTable", session.UnusedTable},
		{"toTable", session.UnusedTable},
		{"fromColumn", session.UnusedField},
		{"toColumn", session.UnusedField},
	} {
		a := run.PostBody(r, run.Legal(r, topic).With(c.member, session.Quoted(c.name)).Text())
		if f := run.Refused(a, "/linkHitRate with a "+c.member+" that does not exist", wire.CodeUnknownEntity); f != nil {
			return f
		}
	}
	return nil
}

// unknownFieldChecks returns the checks about fields that the table does not have.
func unknownFieldChecks() []session.Check {
	const fix = "Look every field of a request up before the first row, and refuse the request with the field's name."
	return []session.Check{
		{ID: "P3.4a", Phase: 3, Judge: unknownInFields, Rules: []string{"filter-11a", "error-5", "filter-11c"},
			Title: "an unknown field in fields is refused",
			Fix:   fix},
		{ID: "P3.4b", Phase: 3, Judge: unknownInSort, Rules: []string{"filter-11a", "error-5", "filter-11c"},
			Needs: session.NeedsSort,
			Title: "an unknown field in sort is refused",
			Fix:   fix},
		{ID: "P3.4c", Phase: 3, Judge: unknownInFilters(wire.PathQuery, "and", "%s"),
			Rules: []string{"filter-11", "filter-11c"},
			Title: "an unknown field in a filter of /query is refused",
			Fix:   fix},
		{ID: "P3.4d", Phase: 3, Needs: needsRoute(wire.PathCount), Judge: unknownInFilters(wire.PathCount, "and", "%s"),
			Rules: []string{"count-2", "filter-11c"},
			Title: "an unknown field in a filter of /count is refused",
			Fix:   fix},
		{ID: "P3.4e", Phase: 3, Needs: needsRoute(wire.PathAggregate), Judge: unknownInAggregate,
			Rules: []string{"filter-11a", "error-5", "filter-11c"},
			Title: "an unknown field in groupBy or in a measure of /aggregate is refused, or declined",
			Fix:   fix},
		{ID: "P3.4f", Phase: 3, Judge: unknownInFilters(wire.PathQuery, "or", "[[],%s]"),
			Rules: []string{"filter-11", "filter-11c"},
			Title: "an unknown field in an or group is refused",
			Fix:   fix},
	}
}

// The codes that the checks about unknown fields accept [rule filter-11].
var (
	filterCodes = []wire.Code{wire.CodeUnsupported, wire.CodeBadRequest}
	fieldCodes  = []wire.Code{wire.CodeUnknownEntity, wire.CodeUnsupported, wire.CodeBadRequest}
)

func unknownInFields(run *session.Run) *check.Finding {
	topic, f := run.ExistingTopic()
	if f != nil {
		return f
	}
	fields := "[" + session.Quoted(topic.Field) + "," + session.Quoted(session.UnusedField) + "]"
	return unknownField(run, topic, wire.PathQuery, "fields", fields, fieldCodes)
}

func unknownInSort(run *session.Run) *check.Finding {
	topic, f := run.ExistingTopic()
	if f != nil {
		return f
	}
	sort := `[{"field":` + session.Quoted(session.UnusedField) + `,"dir":"asc"}]`
	return unknownField(run, topic, wire.PathQuery, "sort", sort, fieldCodes)
}

// unknownInFilters returns a judge that sends filters on an unknown field in a
// member of the body; format holds the list of filters.
func unknownInFilters(path, member, format string) func(*session.Run) *check.Finding {
	return func(run *session.Run) *check.Finding {
		topic, f := run.ExistingTopic()
		if f != nil {
			return f
		}
		for _, filters := range unknownFilters(topic.Field) {
			json := strings.ReplaceAll(format, "%s", filters)
			if f := unknownField(run, topic, path, member, json, filterCodes); f != nil {
				return f
			}
		}
		return nil
	}
}

func unknownInAggregate(run *session.Run) *check.Finding {
	topic, f := run.ExistingTopic()
	if f != nil {
		return f
	}
	unused := session.Quoted(session.UnusedField)
	for _, c := range []struct{ member, json string }{
		{"groupBy", `[{"field":` + unused + `,"as":"g"}]`},
		{"measures", `[{"fn":"count","field":` + unused + `,"as":"n"}]`},
		{"measures", `[{"fn":"max","field":` + unused + `,"as":"n"}]`},
	} {
		if f := unknownField(run, topic, wire.PathAggregate, c.member, c.json, fieldCodes); f != nil {
			return f
		}
	}
	return nil
}

// unknownFilters returns filters on a field that does not exist: in each shape, and
// behind one on a field that does.
func unknownFilters(field string) []string {
	unused := session.Quoted(session.UnusedField)
	return []string{
		`[{"field":` + unused + `,"op":"eq","value":"x"}]`,
		`[{"field":` + session.Quoted(field) + `,"op":"notnull"},{"field":` + unused + `,"op":"in","values":["x"]}]`,
		`[{"field":` + unused + `,"op":"isnull"}]`,
	}
}

// unknownField posts a body whose member names a field that does not exist.
func unknownField(run *session.Run, topic session.Topic, path, member, json string, codes []wire.Code) *check.Finding {
	r := session.RouteAt(path)
	a := run.PostBody(r, run.Legal(r, topic).With(member, json).Text())
	if path == wire.PathAggregate && a.Declined() {
		run.Cases++
		return nil
	}
	return run.Refused(a, path+" of table "+wire.QuoteName(topic.Name)+" with an unknown field in "+member, codes...)
}
