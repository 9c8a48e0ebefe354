// Package protocol checks how a connector behaves whatever its data: what it
// refuses, and the form of its answers and streams.
package protocol

import (
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/refusal"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/internal/routes"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Checks returns the checks in the order in which they run.
func Checks() []session.Check {
	return slices.Concat(discoveryChecks(), unknownEntityChecks(), malformedChecks(), unknownFieldChecks(), nameChecks(),
		hopChecks(), limitChecks(), streamChecks(), undeclaredChecks(), answerChecks())
}

func unknownEntityChecks() []session.Check {
	c := session.Check{
		ID: "P3.2", Phase: 3, Title: "an unknown table or column gives 404 unknown_entity on every route",
		Fix: "Look tables and columns up before the source is asked, and answer 404 unknown_entity with the name.",
	}
	// The ids that facets had once; one that came later has none.
	was := map[string]string{
		wire.PathQuery: "P3.2a", wire.PathCount: "P3.2b", wire.PathAggregate: "P3.2c", wire.PathSize: "P3.2d",
		"a table of " + wire.PathCardinality: "P3.2e", "a column of " + wire.PathCardinality: "P3.2f",
		"a table of " + wire.PathLinkHitRate: "P3.2g",
	}
	var facets []session.Check
	add := func(r *routes.Route, facet, kind string, about refusal.Table) {
		f := session.Check{Was: was[facet], Facet: facet, Needs: declared.Needs(r.Path), Rules: []string{"error-5"},
			Title: fmt.Sprintf("%s of an unknown %s gives 404 unknown_entity", r.Path, kind),
			Fix:   fmt.Sprintf("Look the %s up before anything else is done with the request, and answer 404 unknown_entity with its name.", kind)}
		switch {
		case r.Measure:
			f.Rules = append(f.Rules, "measure-3")
		case r.Path == wire.PathQuery:
			f.Rules = append(f.Rules, "query-14")
		case r.Path == wire.PathAggregate:
			f.Title += ", or is declined"
			about.Declinable = true
		}
		for i := range about.Rows {
			about.Rows[i].Paths, about.Rows[i].Codes = at(r.Path), unknownOnly
		}
		f.Judge = about.Judge
		facets = append(facets, f)
	}
	for i := range routes.All {
		r := &routes.All[i]
		var tables, columns []refusal.Row
		for member := range r.Naming("%table") {
			tables = append(tables, refusal.Row{Member: member, JSON: "%noTable", What: "with a " + member + " that does not exist"})
		}
		for member, value := range r.Naming("%field") {
			unknown := refusal.Row{Member: member, JSON: "%noField", What: "with a " + member + " that does not exist"}
			if strings.HasPrefix(value, "[") {
				unknown.JSON, unknown.What = "[%field,%noField]", "of a column that does not exist"
			}
			columns = append(columns, unknown)
		}
		facet, about := r.Path, refusal.Table{Rows: tables}
		if len(tables) == 1 { // also asked where there is no other table
			about = refusal.Table{About: refusal.NoTable, Rows: []refusal.Row{{What: "of a table that does not exist"}}}
		}
		if r.Measure && len(columns) > 0 {
			facet = "a table of " + r.Path
			add(r, "a column of "+r.Path, "column", refusal.Table{Rows: columns})
		}
		if len(tables) > 0 {
			add(r, facet, "table", about)
		}
	}
	return []session.Check{session.Merge(c, facets)}
}

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
