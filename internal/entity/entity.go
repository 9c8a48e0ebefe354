// Package entity measures the tables of a connection, as the platform does after
// connecting. The commands of the conformance program show what it measures. Its
// tests are those of package platform, whose connections it measures.
package entity

import (
	"context"
	"slices"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/conformance/platform"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Entity is what one discovered table becomes [rule discovery-12], with what has
// been measured of it. Each measurement is taken when it is first asked for, and
// once. An Entity may be used concurrently.
type Entity struct {
	Table *wire.Table

	connection *platform.Connection

	mu     sync.Mutex
	size   *wire.Size
	counts map[string]*wire.Cardinality
	links  map[int]*Link // by the foreign key's position
	notes  []string
}

// Link is one foreign key of an entity, measured.
type Link struct {
	HitRate *wire.LinkHitRate
	// Joined says that the platform joins over the key: not more than half of its
	// values lack a match [rule measure-11]. The protocol does not state the
	// platform's limit.
	Joined bool
}

const maxOrphanRate = 0.5

// All returns an entity of each table of a connection, in the order of discovery.
// Nothing is measured yet.
func All(c *platform.Connection) []*Entity {
	list := make([]*Entity, len(c.Tables))
	for i := range c.Tables {
		list[i] = &Entity{Table: &c.Tables[i], connection: c}
	}
	return list
}

// Previewed takes over the size that connecting has found, if it has, and its notes.
func (e *Entity) Previewed(p *platform.Preview) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.note(p.Notes)
	if p.SizeErr == nil {
		e.size = p.Size
	}
}

// Notes returns what the measurements so far contradict; see [platform.Stats].
func (e *Entity) Notes() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.notes)
}

// note keeps each note once.
func (e *Entity) note(notes []string) {
	for _, text := range notes {
		if !slices.Contains(e.notes, text) {
			e.notes = append(e.notes, text)
		}
	}
}

// Size returns the number of rows; see [platform.Connection.Size]. An error is not kept.
func (e *Entity) Size(ctx context.Context) (*wire.Size, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sized(ctx)
}

func (e *Entity) sized(ctx context.Context) (*wire.Size, error) {
	if e.size != nil {
		return e.size, nil
	}
	size, stats, err := e.connection.Size(ctx, e.Table.Name)
	if e.note(stats.Notes); err == nil {
		e.size = size
	}
	return size, err
}

// Counts returns the counts of columns. They are compared with the size
// [rule measure-9]: a count that is larger gets a note [rule measure-13].
func (e *Entity) Counts(ctx context.Context, columns ...string) (map[string]*wire.Cardinality, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.counted(ctx, columns)
}

func (e *Entity) counted(ctx context.Context, columns []string) (map[string]*wire.Cardinality, error) {
	var open []string
	for _, name := range columns {
		if e.counts[name] == nil {
			open = append(open, name)
		}
	}
	if len(open) > 0 {
		if _, err := e.sized(ctx); err != nil {
			return nil, err
		}
		counts, stats, err := e.connection.Cardinality(ctx, e.Table.Name, open...)
		if e.note(stats.Notes); err != nil {
			return nil, err
		}
		if e.counts == nil {
			e.counts = map[string]*wire.Cardinality{}
		}
		for _, name := range open {
			e.counts[name] = counts[name]
		}
	}
	answer := map[string]*wire.Cardinality{}
	for _, name := range columns {
		n := *e.counts[name]
		answer[name] = &n
	}
	return answer, nil
}

// Grain returns the column that identifies the object for which one row stands:
// its distinct count, its count of cells that are not null and the size are the
// same number [rule measure-12]. It measures declared keys first, and the other
// columns only if no key is one. Without such a column, or an exact size, it
// returns "".
func (e *Entity) Grain(ctx context.Context) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	size, err := e.sized(ctx)
	if err != nil || !size.Exact || size.Rows == 0 {
		return "", err
	}
	var declared, others []string
	if len(e.Table.PrimaryKey) == 1 {
		declared = slices.Clone(e.Table.PrimaryKey)
	}
	for _, f := range e.Table.Fields {
		switch {
		case slices.Contains(declared, f.Name):
		case f.Unique:
			declared = append(declared, f.Name)
		case f.Type != wire.TypeJSON && f.Type != wire.TypeArray:
			others = append(others, f.Name)
		}
	}
	for _, columns := range [][]string{declared, others} {
		counts, err := e.counted(ctx, columns)
		if err != nil {
			return "", err
		}
		for _, name := range columns {
			if n := counts[name]; n.Distinct == n.NonNull && n.NonNull == size.Rows {
				return name, nil
			}
		}
	}
	return "", nil
}

// Link returns how many values of a foreign key have a match. The key is the one at that
// position among those that discovery declares.
func (e *Entity) Link(ctx context.Context, position int) (*Link, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if link := e.links[position]; link != nil {
		return link, nil
	}
	key := e.Table.ForeignKeys[position]
	rate, stats, err := e.connection.LinkHitRate(ctx, &wire.LinkHitRateRequest{
		FromTable: e.Table.Name, FromColumn: key.Field, ToTable: key.TargetTable, ToColumn: key.TargetField,
	})
	if e.note(stats.Notes); err != nil {
		return nil, err
	}
	link := &Link{HitRate: rate, Joined: rate.OrphanRate <= maxOrphanRate}
	if e.links == nil {
		e.links = map[int]*Link{}
	}
	e.links[position] = link
	return link, nil
}
