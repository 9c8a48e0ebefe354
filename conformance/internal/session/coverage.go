package session

import (
	"sync"

	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Coverage counts what a run has asked.
type Coverage struct {
	mu sync.Mutex
	Counts
	filters map[string]int // "eq number" -> filters judged
}

// Counts are the figures of a [Coverage].
type Counts struct {
	Requests  int
	Streams   int   // requests answered by a stream
	Rows      int64 // rows read
	Bytes     int64 // bytes of answers read
	Generated int   // generated requests judged
	Telling   int   // those of them that kept some rows and dropped others
}

// Add changes the counts.
func (c *Coverage) Add(change func(*Counts)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.Counts)
}

// AddFilters counts the filters of a judged request by operator and type.
func (c *Coverage) AddFilters(t *oracle.Table, where wire.Where) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.filters == nil {
		c.filters = map[string]int{}
	}
	for f := range where.Filters() {
		kind := wire.Type("undeclared")
		if i := t.Index(f.Field); i >= 0 && t.Columns[i].Type != "" {
			kind = t.Columns[i].Type
		}
		c.filters[string(f.Op)+" "+string(kind)]++
	}
}

// Filters returns how many filters were judged, by operator and type. Call it
// when the run is over.
func (c *Coverage) Filters() map[string]int { return c.filters }
