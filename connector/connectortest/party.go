package connectortest

import (
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The limits of what the tenants of an isolation test ask: tables of each, rows of a
// table, and how often they ask.
const (
	partyTables = 8
	partyRows   = 5_000
	partyRounds = 5
)

// party is one tenant of an isolation test.
type party struct {
	*Tenant
	name rune
	seen *snapshot // what it was answered alone
	told []string  // what discovery told it

	reported sync.Map // the routes of which a wrong answer was reported
}

// newParty reads some tables of a tenant.
func newParty(t testing.TB, server *Server, name rune, credentials map[string]string) (*party, error) {
	p := &party{Tenant: server.As(credentials).In(t), name: name}
	var err error
	if p.seen, err = p.client.look(); err != nil {
		return nil, err
	}
	p.told = told(p.seen.discovery)
	for i := range p.seen.discovery.Tables {
		if len(p.seen.tables) < partyTables {
			// A table that is too large, or cannot be read, is left to the checks.
			_ = p.seen.read(&p.client, &p.seen.discovery.Tables[i], partyRows)
		}
	}
	return p, nil
}

// told returns the names and the descriptions of a discovery.
func told(d *wire.Discovery) (texts []string) {
	for _, t := range d.Tables {
		texts = append(texts, "table "+t.Name, t.SourceDescription)
		for _, f := range t.Fields {
			texts = append(texts, "field "+t.Name+"."+f.Name, f.SourceDescription)
		}
	}
	slices.Sort(texts)
	return texts
}

// alike reports whether two tenants see the same rows in every table.
func alike(a, b *snapshot) bool {
	for name, table := range a.tables {
		if b.tables[name] == nil || len(b.tables) != len(a.tables) {
			return false
		}
		all := &wire.QueryRequest{Table: name}
		for _, c := range table.Columns {
			all.Fields = append(all.Fields, c.Name)
		}
		if oracle.Verify(b.tables, all, table.Rows) != nil {
			return false
		}
	}
	return len(a.tables) > 0
}

// together lets both tenants ask, in turn and then at once. Each must keep getting what
// it got alone.
func together(parties [2]*party) {
	for range partyRounds {
		for _, p := range parties {
			p.ask()
		}
	}
	var wg sync.WaitGroup
	for _, p := range parties {
		for range 2 {
			wg.Go(p.ask)
		}
	}
	wg.Wait()
}

// ask discovers, reads and measures, and verifies each answer. Any goroutine may call it.
func (p *party) ask() {
	c, s := &p.client, p.seen
	found, err := c.discover(&wire.DiscoveryRequest{Envelope: c.envelope()})
	if err == nil {
		err = p.retold(told(found))
	}
	p.judge(wire.PathDiscovery, wire.PathDiscovery, err)
	for _, name := range slices.Sorted(maps.Keys(s.tables)) {
		table, of := s.table(name), " of table "+wire.QuoteName(name)
		all := c.all(table)
		answer, err := c.query(all, partyRows)
		if err == nil {
			err = s.query(all, answer)
		}
		p.judge(wire.PathQuery, wire.PathQuery+of, err)

		groups := &wire.AggregateRequest{
			Table: name, Measures: []wire.Measure{{Fn: wire.AggCount, As: "n"}}, Limit: wire.AggregateLimit, Envelope: c.envelope(),
		}
		for _, f := range table.Fields[:min(3, len(table.Fields))] {
			groups.GroupBy = []wire.GroupKey{{Field: f.Name, As: "g"}}
			var answer wire.AggregateAnswer
			// It may be declined, or refused for its many groups.
			if c.ask(wire.PathAggregate, groups, &answer) == nil {
				p.judge(wire.PathAggregate, wire.PathAggregate+of, s.aggregate(groups, answer.Rows))
			}
		}
	}
}

// retold returns an error if a discovery tells other things than the first.
func (p *party) retold(now []string) error {
	for _, text := range now {
		if !slices.Contains(p.told, text) {
			return wrong("discovery tells something new", "the same names and descriptions", text)
		}
	}
	for _, text := range p.told {
		if !slices.Contains(now, text) {
			return wrong("discovery leaves something out", text, "a discovery without it")
		}
	}
	return nil
}

// judge fails the test if err is not nil, once for each route.
func (p *party) judge(path, what string, err error) {
	if err == nil {
		return
	}
	if _, again := p.reported.LoadOrStore(path, true); again {
		return
	}
	p.t.Errorf("connectortest: POST %s, beside the other tenant, does not answer tenant %c as it did alone (tenant-6): %v",
		what, p.name, err)
}
