package session

import (
	"strings"
	"sync"
	"time"
)

// tableCache keeps descriptions of the host's own tables for as long as
// Options.CatalogTTL says. It stays empty where tenants have databases of their
// own.
type tableCache struct {
	mu     sync.Mutex
	tables map[cacheKey]cachedTable
}

// cacheKey is a table's name, and the schemas that were served when it was read:
// they decide what a name means and which foreign keys a table has.
type cacheKey struct{ schemas, name string }

func keyOf(schemas []string, name string) cacheKey {
	return cacheKey{strings.Join(schemas, "\x00"), name}
}

type cachedTable struct {
	table *Table
	until time.Time
}

// lookup returns the tables that are known, and the names of the others.
func (c *tableCache) lookup(schemas, names []string, now time.Time) (known []*Table, unknown []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range names {
		if t, ok := c.tables[keyOf(schemas, name)]; ok && now.Before(t.until) {
			known = append(known, t.table)
		} else {
			unknown = append(unknown, name)
		}
	}
	return known, unknown
}

// maxCached limits the tables that are kept: where each tenant has schemas of its own, there is
// no end of them.
const maxCached = 10_000

func (c *tableCache) store(schemas []string, tables []*Table, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tables == nil || len(c.tables)+len(tables) > maxCached {
		c.tables = map[cacheKey]cachedTable{}
	}
	for _, t := range tables {
		c.tables[keyOf(schemas, t.Name)] = cachedTable{t, until}
	}
}

// clear empties the cache, because something in the catalog has changed.
func (c *tableCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.tables)
}
