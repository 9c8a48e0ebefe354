// Package protocol checks how a connector behaves whatever its data: what it
// refuses, and the form of its answers and streams.
package protocol

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Checks returns the checks in the order in which they run.
func Checks() []session.Check {
	return slices.Concat(discoveryChecks(), unknownEntityChecks(), malformedChecks(), unknownFieldChecks(), nameChecks(),
		hopChecks(), limitChecks(), streamChecks(), undeclaredChecks(), answerChecks())
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
