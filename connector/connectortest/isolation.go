package connectortest

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The limits of an isolation test: tables of each tenant, rows of a table, how
// often a tenant repeats its calls, and the number of goroutines.
const (
	isolationTables     = 8
	isolationRows       = 10_000
	isolationRounds     = 3
	isolationGoroutines = 4
)

// Isolation sends the requests of two tenants, first in turn and then
// concurrently, and fails if one sees anything of the other [rule tenant-6]:
//
//   - No answer to one tenant may contain a cell, table or discovered text that
//     only the other has. Isolation reads the data of both in full at the start
//     to learn what only one has, so use credentials whose data differ. If both
//     see the same data, the test fails, because no leak could be detected.
//   - Each tenant must keep getting its own rows, counts and measures, whatever
//     the other does at the same time, including abandoned streams. For a table
//     that only one has, the other must get 404.
//   - No answer, error or log line may contain a credential value in any
//     encoding. Isolation also tries wrong credentials. It ignores values of
//     fewer than four bytes. The value of a field of type text, such as the name
//     of an account, may appear in data but not in errors or the log.
//
// While it runs, Isolation replaces the default loggers of the process (slog and
// log), so that it sees what a source logs. Do not call it from a parallel test.
func Isolation(t testing.TB, def connector.Definition, src connector.Source, a, b map[string]string) {
	t.Helper()
	w := newWatch(t, def, a, b)
	defer w.restore()
	server := Start(t, def, src, &connector.Options{Logger: w.logger})

	parties := [2]*party{w.party(server, "a", a), w.party(server, "b", b)}
	for _, p := range parties {
		if err := p.learn(); err != nil {
			t.Fatalf("connectortest: tenant %s: %v", p.name, err)
		}
	}
	for i, p := range parties {
		p.other = parties[1-i]
		p.own = p.without(p.other)
	}
	parties[0].mustDiffer()
	parties[1].mustDiffer()

	random := rand.New(rand.NewPCG(1, 2))
	for range isolationRounds {
		calls := [2][]func(){parties[0].calls(random), parties[1].calls(random)}
		for i := range max(len(calls[0]), len(calls[1])) {
			for _, list := range calls {
				if i < len(list) {
					list[i]()
				}
			}
		}
	}
	var wg sync.WaitGroup
	for range min(isolationGoroutines, parties[0].seen.doc.Capabilities.Limits.Concurrency) {
		for _, p := range parties {
			calls := p.calls(random)
			wg.Go(func() {
				for _, call := range calls {
					call()
				}
			})
		}
	}
	wg.Wait()
	w.searchLog()
}

// party is one tenant of an isolation test.
type party struct {
	*watch
	name   string
	client client
	seen   *snapshot
	texts  map[string]bool // everything that it sees
	own    map[string]bool // what only this tenant sees
	other  *party
	tables []*wire.Table // those that the test reads
}

// party returns a tenant whose answers are all searched for secrets.
func (w *watch) party(server *Server, name string, credentials map[string]string) *party {
	p := &party{watch: w, name: name, texts: map[string]bool{}}
	p.client = client{server: server, ctx: w.t.Context(), creds: wire.NewCredentials(credentials), seen: w.searchAnswer}
	return p
}

// learn reads everything that the tenant sees.
func (p *party) learn() (err error) {
	if p.seen, err = takeSnapshot(&p.client, isolationRows); err != nil {
		return err
	}
	for i := range p.seen.discovery.Tables {
		table := &p.seen.discovery.Tables[i]
		if len(p.tables) == isolationTables {
			p.t.Logf("connectortest: tenant %s: only the first %d tables are read", p.name, isolationTables)
			break
		}
		err := p.seen.read(table.Name)
		var open unverifiable
		if errors.As(err, &open) {
			p.t.Logf("connectortest: tenant %s: %s, and is left out", p.name, string(open))
			continue
		}
		if err != nil {
			return err
		}
		p.tables = append(p.tables, table)
		maps.Copy(p.texts, texts(p.seen.readings[table.Name].rows))
	}
	maps.Copy(p.texts, discovered(p.seen.discovery))
	return nil
}

// texts returns the cells of rows as text.
func texts(rows [][]wire.Value) map[string]bool {
	set := map[string]bool{}
	for _, row := range rows {
		for _, cell := range row {
			if !cell.IsNull() {
				set[cell.String()] = true
			}
		}
	}
	return set
}

// discovered returns the texts of a discovery that come from the tenant's data.
func discovered(d *wire.Discovery) map[string]bool {
	texts := map[string]bool{}
	for _, t := range d.Tables {
		texts[t.Name], texts[t.SourceDescription] = true, true
		for _, f := range t.Fields {
			texts[f.Name], texts[f.SourceDescription] = true, true
			for _, v := range f.Samples {
				texts[v.String()] = true
			}
			if f.Stats != nil && f.Stats.Min != nil {
				texts[f.Stats.Min.String()] = true
			}
			if f.Stats != nil && f.Stats.Max != nil {
				texts[f.Stats.Max.String()] = true
			}
		}
	}
	for _, text := range d.Warnings {
		texts[text] = true
	}
	return texts
}

// without returns the texts that the tenant sees and the other does not.
func (p *party) without(other *party) map[string]bool {
	own := maps.Clone(p.texts)
	maps.DeleteFunc(own, func(text string, _ bool) bool { return other.texts[text] })
	return own
}

// mustDiffer ends the test if both tenants see the same data, because no leak
// could be detected. This also happens if a source keeps the rows of the first
// tenant and serves them to the second.
func (p *party) mustDiffer() {
	p.t.Helper()
	const advice = "so no leak would show: give credentials whose data differ, or look for a source that serves one tenant's data " +
		"to the other"
	if len(p.own) == 0 {
		p.t.Fatalf("connectortest: tenant %s sees nothing that tenant %s does not, %s", p.name, p.other.name, advice)
	}
	var same []string
	for _, table := range p.tables {
		theirs := p.other.seen.readings[table.Name]
		if theirs == nil || len(theirs.rows) == 0 {
			continue
		}
		if !maps.Equal(texts(p.seen.readings[table.Name].rows), texts(theirs.rows)) {
			return
		}
		same = append(same, table.Name)
	}
	if same != nil {
		p.t.Fatalf("connectortest: every table that both tenants have, %q, holds the same for both, %s", same, advice)
	}
}

// leaks fails the test if an answer has a text of the other tenant, and reports
// whether it has.
func (p *party) leaks(what string, texts map[string]bool) bool {
	for text := range texts {
		if p.other.own[text] {
			p.fail("tenant-6: %s answers tenant %s with what only tenant %s has: %q", what, p.name, p.other.name, text)
			return true
		}
	}
	return false
}

// judge fails the test if a request for the tenant's own tables got an error.
func (p *party) judge(what string, err error) {
	if err != nil {
		p.fail("tenant-6: %s answers tenant %s otherwise than when it was alone: %v", what, p.name, err)
	}
}

// calls returns the calls of the tenant in random order. Any goroutine may make
// them.
func (p *party) calls(random *rand.Rand) []func() {
	calls := []func(){p.discover, p.stranger}
	for _, table := range p.tables {
		calls = append(calls,
			func() { p.read(table) },
			func() { p.abandon(table) },
			func() { p.measure(table) },
			func() { p.group(table) })
		for _, k := range table.ForeignKeys {
			calls = append(calls, func() { p.link(table, k) })
		}
	}
	for _, table := range p.other.tables {
		if p.seen.table(table.Name) == nil {
			calls = append(calls, func() { p.trespass(table) })
		}
	}
	random.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
	return calls
}

func (p *party) discover() {
	d, err := p.client.discover(&wire.DiscoveryRequest{Envelope: p.client.envelope()})
	if err != nil {
		p.judge(wire.PathDiscovery, err)
		return
	}
	if p.leaks(wire.PathDiscovery, discovered(d)) {
		return
	}
	names := func(d *wire.Discovery) (names []string) {
		for _, t := range d.Tables {
			names = append(names, t.Name)
		}
		slices.Sort(names)
		return names
	}
	if want, got := names(p.seen.discovery), names(d); !slices.Equal(want, got) {
		p.judge(wire.PathDiscovery, fmt.Errorf("expected the tables %q, got %q", want, got))
	}
}

func (p *party) all(table *wire.Table) *wire.QueryRequest {
	return &wire.QueryRequest{Table: table.Name, Fields: fieldNames(table), Envelope: p.client.envelope()}
}

func (p *party) read(table *wire.Table) {
	req := p.all(table)
	answer, err := p.client.query(req, isolationRows)
	if answer != nil && p.leaks(wire.PathQuery, texts(answer.Rows)) {
		return
	}
	if err == nil {
		err = checkQuery(p.seen, req, answer)
	}
	p.judge(wire.PathQuery, err)
}

// abandon closes a stream after its first line, as a client that disconnects.
func (p *party) abandon(table *wire.Table) {
	_, _ = p.client.query(p.all(table), 0)
}

func (p *party) declares(e wire.Endpoint) bool { return slices.Contains(p.seen.doc.Endpoints, e) }

func (p *party) measure(table *wire.Table) {
	if p.declares(wire.EndpointCount) {
		req := &wire.CountRequest{Table: table.Name, Envelope: p.client.envelope()}
		n, err := p.client.count(req)
		if err == nil {
			err = checkCount(p.seen, req, n)
		}
		p.judge(wire.PathCount, err)
	}
	if p.declares(wire.EndpointSize) {
		size, err := p.client.size(&wire.SizeRequest{Table: table.Name, Envelope: p.client.envelope()})
		if err == nil {
			err = checkSize(p.seen, table.Name, size)
		}
		p.judge(wire.PathSize, err)
	}
	if p.declares(wire.EndpointCardinality) && len(table.Fields) > 0 {
		req := &wire.CardinalityRequest{Table: table.Name, Columns: fieldNames(table), Envelope: p.client.envelope()}
		counts, err := p.client.cardinality(req)
		if err == nil {
			err = checkCardinality(p.seen, req, counts)
		}
		p.judge(wire.PathCardinality, err)
	}
}

// group requests the values of the first fields as groups.
func (p *party) group(table *wire.Table) {
	if !p.declares(wire.EndpointAggregate) {
		return
	}
	for _, f := range table.Fields[:min(3, len(table.Fields))] {
		req := &wire.AggregateRequest{
			Table: table.Name, GroupBy: []wire.GroupKey{{Field: f.Name, As: "g"}}, Measures: []wire.Measure{{Fn: wire.FnCount, As: "n"}},
			Limit: wire.AggregateLimit, Envelope: p.client.envelope(),
		}
		rows, err := p.client.aggregate(req)
		var keys [][]wire.Value
		for _, row := range rows {
			keys = append(keys, []wire.Value{row["g"]})
		}
		if p.leaks(wire.PathAggregate, texts(keys)) {
			return
		}
		if errors.Is(err, connector.ErrDecline) || errors.Is(err, connector.ErrUnsupported) {
			continue // unsupported: too many groups
		}
		if err == nil {
			err = checkAggregate(p.seen, req, rows)
		}
		p.judge(wire.PathAggregate, err)
	}
}

func (p *party) link(table *wire.Table, k wire.ForeignKey) {
	if !p.declares(wire.EndpointLinkHitRate) || p.seen.readings[k.TargetTable] == nil {
		return
	}
	req := &wire.LinkHitRateRequest{
		FromTable: table.Name, FromColumn: k.Field, ToTable: k.TargetTable, ToColumn: k.TargetField,
		Envelope: p.client.envelope(),
	}
	rate, err := p.client.linkHitRate(req)
	if err == nil {
		samples := map[string]bool{}
		for _, text := range rate.OrphanSamples {
			samples[text] = true
		}
		if p.leaks(wire.PathLinkHitRate, samples) {
			return
		}
		err = checkLink(p.seen, req, rate)
	}
	p.judge(wire.PathLinkHitRate, err)
}

// trespass asks for a table that only the other tenant has.
func (p *party) trespass(table *wire.Table) {
	refused := func(path string, err error) {
		if errors.Is(err, connector.ErrUnknownEntity) {
			return
		}
		if err == nil {
			err = errors.New("an answer")
		}
		p.fail("tenant-6: %s: table %q is tenant %s's alone, and tenant %s gets %v instead of 404 unknown_entity",
			path, table.Name, p.other.name, p.name, err)
	}
	_, err := p.client.query(p.all(table), isolationRows)
	refused(wire.PathQuery, err)
	if p.declares(wire.EndpointCount) {
		_, err := p.client.count(&wire.CountRequest{Table: table.Name, Envelope: p.client.envelope()})
		refused(wire.PathCount, err)
	}
	if p.declares(wire.EndpointSize) {
		_, err := p.client.size(&wire.SizeRequest{Table: table.Name, Envelope: p.client.envelope()})
		refused(wire.PathSize, err)
	}
	if p.declares(wire.EndpointCardinality) && len(table.Fields) > 0 {
		_, err := p.client.cardinality(&wire.CardinalityRequest{Table: table.Name, Columns: fieldNames(table), Envelope: p.client.envelope()})
		refused(wire.PathCardinality, err)
	}
}

// stranger calls with wrong credentials. Every answer is searched for
// them.
func (p *party) stranger() {
	c := p.client
	c.creds = p.wrong
	_ = c.check(&wire.CheckRequest{Envelope: c.envelope()})
	_, _ = c.discover(&wire.DiscoveryRequest{Envelope: c.envelope()})
	for _, table := range p.tables {
		req := p.all(table)
		req.Credentials = c.creds
		_, _ = c.query(req, isolationRows)
	}
}
