package session

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/declared"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/payload"
	"github.com/connectorsdk/connector-sdk-go/conformance/internal/phrase"
	"github.com/connectorsdk/connector-sdk-go/internal/routes"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Discovery is what one tenant's data holds. In a run over selected tables, Tables
// holds only these, so that no other is read.
type Discovery struct {
	wire.Discovery
	Lookup   map[string]*wire.Table // all tables by name
	selected func(table string) bool
	err      *check.Finding
}

// Target returns the table that a foreign key leads to, or nil if it was not discovered or is not to be judged.
func (d *Discovery) Target(key wire.ForeignKey) *wire.Table {
	if !d.selected(key.TargetTable) {
		return nil
	}
	return d.Lookup[key.TargetTable]
}

// selects reports whether the run judges a table.
func (s *Session) selects(table string) bool {
	return len(s.Config.Tables) == 0 || slices.Contains(s.Config.Tables, table)
}

// stopUnlessListed ends the run if the first tenant's discovery lacks a selected table.
// What the run would say of the others is not what it was asked for.
func (s *Session) stopUnlessListed(d *Discovery) {
	for _, name := range s.Config.Tables {
		if d.Lookup[name] != nil {
			continue
		}
		listed := slices.Sorted(maps.Keys(d.Lookup))
		for i := range listed {
			listed[i] = terms.QuoteName(listed[i])
		}
		s.timeouts.mu.Lock()
		defer s.timeouts.mu.Unlock()
		const few = 10
		s.Stopped = fmt.Sprintf("discovery lists no table %s; it lists %s", terms.QuoteName(name), phrase.Some(listed, few))
		return
	}
}

// Discovery returns a tenant's discovery. The check is blocked without it.
func (run *Run) Discovery(tenant int) (*Discovery, *check.Finding) {
	if run.discovered[tenant] == nil {
		d, f := run.Discover(run.Ctx, tenant)
		run.discovered[tenant] = d
		if f == nil && tenant == 0 {
			run.stopUnlessListed(d)
		}
	}
	return run.discovered[tenant], run.discovered[tenant].err
}

// Discover asks for a tenant's discovery anew.
func (s *Session) Discover(ctx context.Context, tenant int) (*Discovery, *check.Finding) {
	d := &Discovery{Lookup: map[string]*wire.Table{}, selected: s.selects}
	a := s.ExchangeWith(ctx, s.Ask(wire.PathDiscovery, &wire.DiscoveryRequest{}, tenant))
	found, f := a.Decode()
	d.Discovery = *found.(*wire.Discovery)
	if f != nil {
		d.err = check.Block("P3.1a", "/discovery: %s", f.Detail)
		return d, d.err
	}
	all := slices.Clone(d.Tables)
	for i := range all {
		d.Lookup[all[i].Name] = &all[i]
	}
	d.Tables = slices.DeleteFunc(d.Tables, func(t wire.Table) bool { return !s.selects(t.Name) })
	for i := range d.Tables {
		d.Lookup[d.Tables[i].Name] = &d.Tables[i]
	}
	return d, nil
}

// Readable returns the tables of the discovery, views and other tables that store no rows of their own included. It
// leaves out the corpus table slow, whose rows stall on purpose.
func (d *Discovery) Readable() (list []*wire.Table) {
	for i := range d.Tables {
		if t := &d.Tables[i]; !declared.IsSlow(t) {
			list = append(list, t)
		}
	}
	return list
}

// SmallestFirst returns the first tenant's readable tables, or none if discovery fails. Small tables come first, then
// those of unknown size. Empty tables come late, because they exercise nothing, and last those that store no rows,
// which may not be readable as a whole.
func (run *Run) SmallestFirst() []*wire.Table {
	d, _ := run.Discovery(0)
	list := d.Readable()
	rank := func(t *wire.Table) int64 {
		switch {
		case !t.StoresRows:
			return 1 << 31
		case t.RowCount == nil:
			return 1 << 29
		case *t.RowCount == 0:
			return 1 << 30
		}
		return min(*t.RowCount, 1<<30)
	}
	slices.SortStableFunc(list, func(a, b *wire.Table) int { return cmp.Compare(rank(a), rank(b)) })
	return list
}

// Topic returns a topic for the first tenant. It works without a discovery too: a
// connector whose discovery fails still has to refuse what is malformed.
func (run *Run) Topic() payload.Topic {
	for _, t := range run.SmallestFirst() {
		for _, f := range t.Fields {
			if terms.Allowed(f.Filterable) {
				return payload.Topic{Table: t, Name: t.Name, Field: f.Name}
			}
		}
	}
	return payload.Topic{Name: "conformance_table", Field: "conformance_field"}
}

// Legal returns a legal body for a route, about the topic.
func (run *Run) Legal(path string, about payload.Topic) payload.Object {
	var o payload.Object
	if route := routes.At(path); route != nil {
		names := strings.NewReplacer("%table", payload.Quote(about.Name), "%field", payload.Quote(about.Field))
		for member, value := range routes.Pairs(route.Legal) {
			o = o.Plus(member, names.Replace(value))
		}
	}
	o = o.Plus("credentials", string(run.Tenants[0].JSON)).Plus("timeoutMs", fmt.Sprint(usualTimeout(path)))
	if path == wire.PathQuery {
		o = o.Plus("idleTimeoutMs", fmt.Sprint(idleTimeout.Milliseconds()))
	}
	return o
}
