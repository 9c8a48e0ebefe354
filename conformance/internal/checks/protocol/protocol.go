// Package protocol checks how a connector behaves whatever its data: what it
// refuses, and the form of its answers and streams.
package protocol

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/refusal"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Checks returns the checks in the order in which they run.
func Checks() []session.Check {
	return slices.Concat(discoveryChecks(), unknownEntityChecks(), malformedChecks(), unknownFieldChecks(), nameChecks(),
		hopChecks(), limitChecks(), streamChecks(), undeclaredChecks(), answerChecks())
}

// unknownEntityChecks returns the checks about tables and columns that the source does not have.
func unknownEntityChecks() []session.Check {
	const column = "Look the column up before it is measured, and answer 404 unknown_entity with its name."
	return []session.Check{session.Merge(session.Check{
		ID: "P3.2", Phase: 3, Title: "an unknown table or column gives 404 unknown_entity on every route",
		Fix: "Look tables and columns up before the source is asked, and answer 404 unknown_entity with the name.",
	}, []session.Check{
		unknownTable("P3.2a", wire.PathQuery, "query-14", "error-5"),
		unknownTable("P3.2b", wire.PathCount, "error-5"),
		unknownTable("P3.2c", wire.PathAggregate, "error-5"),
		unknownTable("P3.2d", wire.PathSize, "measure-3", "error-5"),
		unknownTable("P3.2e", wire.PathCardinality, "measure-3", "error-5"),
		{Was: "P3.2f", Facet: "a column of /cardinality",
			Needs: declared.Needs(wire.PathCardinality), Rules: []string{"measure-3", "error-5"},
			Title: "/cardinality of an unknown column gives 404 unknown_entity",
			Fix:   column,
			Judge: refusal.Table{Rows: []refusal.Row{
				{Paths: at(wire.PathCardinality), Member: "columns", JSON: "[%field,%noField]",
					What: "of a column that does not exist", Codes: unknownOnly},
			}}.Judge},
		{Was: "P3.2g", Facet: wire.PathLinkHitRate,
			Needs: declared.Needs(wire.PathLinkHitRate), Rules: []string{"measure-3", "error-5"},
			Title: "/linkHitRate of an unknown table or column gives 404 unknown_entity",
			Fix:   column,
			Judge: refusal.Table{Rows: check.Family(refusal.Row{Paths: at(wire.PathLinkHitRate), Codes: unknownOnly}, []refusal.Row{
				{Member: "fromTable", JSON: "%noTable", What: "with a fromTable that does not exist"},
				{Member: "toTable", JSON: "%noTable", What: "with a toTable that does not exist"},
				{Member: "fromColumn", JSON: "%noField", What: "with a fromColumn that does not exist"},
				{Member: "toColumn", JSON: "%noField", What: "with a toColumn that does not exist"},
			})}.Judge},
	})}
}

// unknownTable returns the check about an unknown table on a route.
func unknownTable(was, path string, rules ...string) session.Check {
	title := path + " of an unknown table gives 404 unknown_entity"
	if path == wire.PathAggregate {
		title += ", or is declined"
	}
	facet := path
	if path == wire.PathCardinality {
		facet = "a table of " + path
	}
	return session.Check{Was: was, Facet: facet, Needs: declared.Needs(path), Rules: rules, Title: title,
		Fix: "Look the table up before anything else is done with the request, and answer 404 unknown_entity with its name.",
		Judge: refusal.Table{About: refusal.NoTable, Declinable: true, Rows: []refusal.Row{
			{Paths: at(path), What: "of a table that does not exist", Codes: unknownOnly},
		}}.Judge}
}

// at returns the paths of a row.
func at(paths ...string) []string { return paths }

// The codes of refusals that are not bad_request alone.
var (
	unknownOnly = []wire.Code{wire.CodeUnknownEntity}
	// filterCodes and fieldCodes are those of unknown fields [rule filter-11].
	filterCodes      = []wire.Code{wire.CodeUnsupported, wire.CodeBadRequest}
	fieldCodes       = []wire.Code{wire.CodeUnknownEntity, wire.CodeUnsupported, wire.CodeBadRequest}
	undeclaredCodes  = filterCodes // of what the document does not declare
	badOrUnsupported = []wire.Code{wire.CodeBadRequest, wire.CodeUnsupported}
)
