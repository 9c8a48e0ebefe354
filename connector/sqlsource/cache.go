package sqlsource

import (
	"context"
	"sync"
	"time"
)

// tableCache keeps descriptions of the host's own tables for as long as
// Options.Remember says. It stays empty where tenants have databases of their
// own.
type tableCache struct {
	mu     sync.Mutex
	tables map[string]cachedTable
}

type cachedTable struct {
	table Table
	until time.Time
}

// lookup returns the tables that are known, and the names of the others.
func (c *tableCache) lookup(names []string, now time.Time) (known []Table, unknown []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range names {
		if t, ok := c.tables[name]; ok && now.Before(t.until) {
			known = append(known, t.table)
		} else {
			unknown = append(unknown, name)
		}
	}
	return known, unknown
}

func (c *tableCache) store(tables []Table, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tables == nil {
		c.tables = map[string]cachedTable{}
	}
	for _, t := range tables {
		c.tables[t.Name] = cachedTable{t, until}
	}
}

// clear empties the cache, because something in the catalog has changed.
func (c *tableCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.tables)
}

// catalog returns tables by their names in the database, from the cache or the
// catalog. It leaves out those that do not exist.
func (x *session) catalog(ctx context.Context, names []string) ([]Table, error) {
	s := x.source
	now := time.Now()
	known, unknown := s.cache.lookup(names, now)
	if len(unknown) == 0 {
		return known, nil
	}
	found, _, err := s.flavor.Catalog(ctx, x.tx, s.options.Schema, unknown)
	if err == nil && s.options.Remember > 0 {
		s.cache.store(found, now.Add(s.options.Remember))
	}
	return append(known, found...), err
}
