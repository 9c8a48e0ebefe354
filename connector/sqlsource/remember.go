package sqlsource

import (
	"context"
	"sync"
	"time"
)

// memory is what was last read of the catalog of the host's own database. With
// Config.Open there is none: nothing of a tenant is kept (G11).
type memory struct {
	mu     sync.Mutex
	tables map[string]remembered
}

type remembered struct {
	table Table
	until time.Time
}

// catalog are tables of the catalog by their names in the database, as they
// are or were a short while ago.
func (x *session) catalog(ctx context.Context, names []string) ([]Table, error) {
	s := x.source
	now := time.Now()
	var known []Table
	var ask []string
	s.memory.mu.Lock()
	for _, name := range names {
		if r, ok := s.memory.tables[name]; ok && now.Before(r.until) {
			known = append(known, r.table)
		} else {
			ask = append(ask, name)
		}
	}
	s.memory.mu.Unlock()
	if len(ask) == 0 {
		return known, nil
	}
	found, _, err := s.config.Flavor.Catalog(ctx, x.tx, s.config.Schema, ask)
	if err != nil || s.config.Remember == 0 {
		return append(known, found...), err
	}
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	if s.memory.tables == nil {
		s.memory.tables = map[string]remembered{}
	}
	for _, t := range found {
		s.memory.tables[t.Name] = remembered{t, now.Add(s.config.Remember)}
	}
	return append(known, found...), nil
}

// forget makes the next request read the catalog again, because something in
// it has changed.
func (s *Source) forget() {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	clear(s.memory.tables)
}
