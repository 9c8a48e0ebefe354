package live

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/generate"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// generatedChecks ask generated queries about live data.
func (m *memory) generatedChecks() []session.Check {
	return []session.Check{{
		ID: "M8", Phase: 4, Seeded: true, Judge: m.within(generatedQueries, "no table has rows that tell two answers apart"), Weight: 100,
		Title: "generated queries on sampled values agree with the rows that were read",
		Rules: []string{"verdict-8", "stream-11", "stream-2"},
		Fix: "Send the quoted request again: it is the smallest one that still fails. " +
			"Its answer differs from the rows that a plain read of the table gives.",
	}}
}

// Limits of the generated queries: how many questions are asked without a budget of
// requests and at most with one, about how many tables, and how many rows of one table all questions about it may pass over.
const (
	generatedCases  = 100
	maxGenerated    = 800
	generatedTables = 8
	maxRowsPassed   = 400_000
)

// generatedQueries asks about some tables, in turn for rows, windows, counts and
// aggregates, until the budget is spent. It leaves out filters that are answered wrongly on their own.
func generatedQueries(p *liveRun) *check.Finding {
	v := p.filterRun()
	known := v.whole()
	known = known[:min(len(known), generatedTables)]
	cases := generatedCases
	if p.Requests > 0 {
		cases = min(p.Allowance(), maxGenerated)
	}
	list := slices.Collect(generate.InTurn(known, func(s *generate.Subject) (mixed []*generate.Question) {
		n := max(4, min(cases/len(known), maxRowsPassed/s.Rows()))
		g := generate.New(p.Seed, p.Check.ID+" "+s.Table.Name, p.Document, []*generate.Subject{s})
		half, rest := n/2, n-n/2
		kinds := [][]*generate.Question{g.Filters(half), g.Windows((rest + 2) / 3)}
		if p.Document.Has(wire.EndpointCount) {
			kinds = append(kinds, g.Counts((rest+1)/3))
		}
		if p.Document.Has(wire.EndpointAggregate) {
			kinds = append(kinds, g.Aggregates(rest/3))
		}
		for i := range n {
			for _, kind := range kinds {
				if i < len(kind) {
					mixed = append(mixed, kind[i])
				}
			}
		}
		return mixed
	}))
	return v.askList(slices.DeleteFunc(list, v.broken))
}
