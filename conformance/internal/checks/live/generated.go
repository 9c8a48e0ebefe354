package live

import (
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/generate"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/querytest"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/session"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// generatedChecks ask generated queries about live data.
func generatedChecks() []session.Check {
	return []session.Check{{
		ID: "M8", Phase: 4, Judge: generatedQueries,
		Title: "generated queries on sampled values agree with the rows that were read",
		Rules: []string{"verdict-8", "stream-11", "stream-2"},
		Fix: "Send the quoted request again: it is the smallest one that still fails. " +
			"Its answer differs from the rows that a plain read of the table gives.",
	}}
}

// Limits of the generated queries: how many questions are asked, about how many
// tables, and how many rows of one table all questions about it may pass over.
const (
	generatedCases  = 100
	generatedTables = 8
	maxRowsPassed   = 400_000
)

// generatedQueries asks about some tables, in turn for rows, windows, counts and
// aggregates.
func generatedQueries(run *session.Run) *check.Finding {
	known, f := knownTables(run)
	if f != nil {
		return f
	}
	capabilities := run.Document.Capabilities
	asker := &querytest.Asker{Run: run, Live: true}
	for _, s := range known {
		n := max(4, min(generatedCases/len(known), maxRowsPassed/s.Rows()))
		g := generate.New(run.Seed, run.Check.ID+" "+s.Table.Name, capabilities, []*generate.Subject{s})
		half, rest := n/2, n-n/2
		list := append(g.Filters(half, half), g.Windows((rest+2)/3)...)
		if run.Document.Has(wire.EndpointCount) {
			list = append(list, g.Counts((rest+1)/3)...)
		}
		if run.Document.Has(wire.EndpointAggregate) {
			list = append(list, g.Aggregates(rest/3)...)
		}
		if f := asker.Ask(list); f != nil {
			return f
		}
	}
	return asker.Finish()
}

// knownTables returns some tables that were read whole, by chance.
func knownTables(run *session.Run) (known []*generate.Subject, f *check.Finding) {
	d, f := run.Discovery(0)
	if f != nil {
		return nil, f
	}
	tables := d.Readable()
	slices.SortFunc(tables, func(a, b *wire.Table) int { return strings.Compare(a.Name, b.Name) })
	order := generate.New(run.Seed, run.Check.ID, run.Document.Capabilities, nil)
	order.Shuffle(len(tables), func(i, j int) { tables[i], tables[j] = tables[j], tables[i] })
	for _, t := range tables {
		if len(known) == generatedTables {
			break
		}
		rows, f := run.Table(t)
		if f != nil {
			return nil, f
		}
		if rows != nil && len(rows.Rows) > 1 {
			known = append(known, generate.NewSubject(querytest.InOrder(rows), t))
		}
	}
	return known, nil
}
