package conformance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/corpus"
	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// How many questions a check asks.
const (
	generatedFilters    = 130
	generatedWindows    = 50
	generatedCounts     = 45
	generatedAggregates = 45
	generatedClaims     = 30
	generatedLiveCases  = 100
)

// generatedChecks are the generated queries over the corpus.
func generatedChecks() []Check {
	const fix = "Send the quoted request again: it is the smallest one that still fails. "
	return []Check{
		{
			ID: "P2.17a", Phase: 2, needs: needsAnyOperator,
			judge: func(x *exam) {
				generatedFixture(x, func(g *generator) []*question { return g.filters(generatedFilters, generatedFilters) })
			},
			Title: "generated filters are answered exactly",
			Rule:  "protocol, /query rule 3; A1 to A8",
			Quote: "every row answered must satisfy every filter for which the connector declared an operator.",
			Fix:   fix + "Compare as the rulings A1 to A8 say, or leave the operator out of capabilities.operators.",
		},
		{
			ID: "P2.17b", Phase: 2,
			judge: func(x *exam) {
				generatedFixture(x, func(g *generator) []*question { return g.windows(generatedWindows) })
			},
			Title: "generated sorts, windows and projections are answered exactly",
			Rule:  "protocol, Conformance check; B1, B2",
			Quote: agreement,
			Fix:   fix + "Sort by every key, nulls last in both directions, and cut the window only after all filters and the sort.",
		},
		{
			ID: "P2.17c", Phase: 2, needs: needsRoute(wire.EndpointCount),
			judge: func(x *exam) {
				generatedFixture(x, func(g *generator) []*question { return g.counts(generatedCounts) })
			},
			Title: "generated counts are exact",
			Rule:  "protocol, /count; A1 to A8",
			Quote: agreement,
			Fix:   fix + "Judge the filters of /count exactly as those of /query.",
		},
		{
			ID: "P2.17d", Phase: 2, needs: needsRoute(wire.EndpointAggregate),
			judge: func(x *exam) {
				generatedFixture(x, func(g *generator) []*question { return g.aggregates(generatedAggregates) })
			},
			Title: "generated aggregates are exact or declined",
			Rule:  "protocol, /aggregate; E1, E3 to E5",
			Quote: "A wrong number is never legal.",
			Fix:   fix + "Answer 204 to what the source cannot compute exactly.",
		},
		{
			ID: "P2.17e", Phase: 2,
			judge: func(x *exam) {
				generatedFixture(x, func(g *generator) []*question { return g.claims(generatedClaims) })
			},
			Title: "what is claimed to be served of generated queries is true",
			Rule:  "protocol, /query rules 1 and 3",
			Quote: "`served.filters` is true only when every `and` and `or` predicate held, with the platform's semantics.",
			Fix:   fix + "Claim in the served line only what was done to every row; claiming nothing is always safe.",
		},
	}
}

// generatedLiveChecks are the generated queries over live data.
func generatedLiveChecks() []Check {
	return []Check{{
		ID: "M8", Phase: 4, judge: generatedLive,
		Title: "generated queries on sampled values agree with the rows that were read",
		Rule:  "protocol, Conformance check; A1 to A8, B1, E1",
		Quote: "live self-consistency: an exact size equals streamed rows, filters narrow, measured counts stay ordered, declared keys are unique, pages compose",
		Fix:   "Send the quoted request again: it is the smallest one that still fails. Its answer differs from the rows that a plain read of the table gives.",
	}}
}

func needsAnyOperator(d *document) string {
	if len(d.Capabilities.Operators) == 0 {
		return "operators is empty"
	}
	return ""
}

// knownTables are the tables of the corpus as the connector spells them. They
// are made once in a run.
type knownTables struct {
	list []*subject
	// Why some of the corpus is missing, and the check that says so.
	by, why string
}

// knownTables are those whose plain reading gives the rows of the corpus. About
// the others no answer could be held against anything.
func (x *exam) knownTables() *knownTables {
	s := x.session
	if s.known != nil {
		return s.known
	}
	f := x.corpusServed()
	all := &knownTables{}
	for _, name := range corpusNames() {
		if name == corpus.ManifestTable {
			continue
		}
		if t, by, why := x.asCorpus(f, name); t != nil {
			all.list = append(all.list, newSubject(inOrder(t), f.found.tables[name]))
		} else if by != "" && all.by == "" {
			all.by, all.why = by, why
		}
	}
	s.known = all
	return all
}

// asCorpus is a table as it was read, in the columns of the corpus; or the
// check that tells why it cannot be. It is neither beyond the row budget.
func (x *exam) asCorpus(f *fixture, name string) (t *oracle.Table, by, why string) {
	h := x.examine(f, name)
	switch {
	case h.unread != "":
		return nil, h.by, h.why
	case h.rows != nil:
		return nil, "P2.2a", h.rows.detail
	case len(h.cells) > 0:
		return nil, h.cells[0].check, h.cells[0].detail
	}
	declared := f.found.tables[name]
	read := x.snapshot(0, declared)
	t = &oracle.Table{Name: name, PrimaryKey: f.truth[name].PrimaryKey, Rows: make([][]wire.Value, len(read.Rows))}
	for _, c := range f.truth[name].Columns {
		at := read.Index(c.Name)
		if at < 0 {
			return nil, "P2.1a", fmt.Sprintf("column %s of table %s is not discovered", wire.QuoteName(c.Name), name)
		}
		t.Columns = append(t.Columns, read.Columns[at])
		for i, row := range read.Rows {
			t.Rows[i] = append(t.Rows[i], row[at])
		}
	}
	return t, "", ""
}

// inOrder is a table with its rows in an order that does not depend on the one
// they were read in, so that a seed asks the same of it again. A large table
// without a key stays as it was read.
func inOrder(t *oracle.Table) *oracle.Table {
	names := t.PrimaryKey
	if len(names) == 0 && len(t.Rows) <= 5000 {
		for _, c := range t.Columns {
			names = append(names, c.Name)
		}
	}
	var keys []wire.SortKey
	for _, name := range names {
		keys = append(keys, wire.SortKey{Field: name, Dir: wire.Asc})
	}
	sorted, err := oracle.Sort(t, keys, nil)
	if err != nil {
		return t // a declared key that is no column, which P3.1b says
	}
	return sorted
}

// generatedFixture asks what make has thought of about the corpus.
func generatedFixture(x *exam, make func(*generator) []*question) {
	known := x.knownTables()
	g := newGenerator(x.Seed, x.check.ID, x.document(), known.list)
	i := &inquiry{exam: x, claims: x.check.ID == "P2.17e"}
	i.put(make(g))
	if known.by != "" {
		x.blocked(known.by, known.why)
	}
	i.close()
}

// Bounds of the generated queries on live data: how many tables are asked
// about, and how many rows of one table all questions about it may pass over.
const (
	liveTables   = 8
	liveRowsOver = 400_000
)

// generatedLive asks about some tables, in turn for rows, windows, counts and
// aggregates.
func generatedLive(x *exam) {
	d := x.document()
	tables := x.ordinary(0)
	slices.SortFunc(tables, func(a, b *wire.Table) int { return strings.Compare(a.Name, b.Name) })
	order := newGenerator(x.Seed, x.check.ID, d, nil)
	order.Shuffle(len(tables), func(i, j int) { tables[i], tables[j] = tables[j], tables[i] })
	var known []*subject
	for _, t := range tables {
		if len(known) == liveTables {
			break
		}
		if rows := x.table(t); rows != nil && len(rows.Rows) > 1 {
			known = append(known, newSubject(inOrder(rows), t))
		}
	}
	i := &inquiry{exam: x, live: true}
	for _, s := range known {
		n := max(4, min(generatedLiveCases/len(known), liveRowsOver/s.rows()))
		g := newGenerator(x.Seed, x.check.ID+" "+s.table.Name, d, []*subject{s})
		half, rest := n/2, n-n/2
		list := append(g.filters(half, half), g.windows((rest+2)/3)...)
		if d.has(wire.EndpointCount) {
			list = append(list, g.counts((rest+1)/3)...)
		}
		if d.has(wire.EndpointAggregate) {
			list = append(list, g.aggregates(rest/3)...)
		}
		i.put(list)
	}
	i.close()
}
