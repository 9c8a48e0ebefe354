package session

import (
	"sync"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Coverage counts what a run has asked.
type Coverage struct {
	mu sync.Mutex
	Counts
	filters map[judgedFilter]int
	rows    map[string]int // table -> the most rows that one answer held
}

// judgedFilter is what a judged filter is counted by.
type judgedFilter struct {
	table, field string
	kind         wire.Type
	op           wire.Op
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

// AddFilters counts the filters of a judged request by table, field, type and operator.
func (c *Coverage) AddFilters(t *oracle.Table, where wire.Where) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.filters == nil {
		c.filters = map[judgedFilter]int{}
	}
	for f := range where.Filters() {
		kind := wire.Type("undeclared")
		if i := t.Index(f.Field); i >= 0 && t.Columns[i].Type != "" {
			kind = t.Columns[i].Type
		}
		c.filters[judgedFilter{t.Name, f.Field, kind, f.Op}]++
	}
}

// Filters returns how many filters were judged, by operator and type, such as "eq
// number". Call it when the run is over.
func (c *Coverage) Filters() map[string]int {
	all := map[string]int{}
	for f, n := range c.filters {
		all[string(f.op)+" "+string(f.kind)] += n
	}
	return all
}

// FieldOf names a field of a table.
type FieldOf struct{ Table, Field string }

// Judged returns how many filters were judged, by field and operator. Call it when the
// run is over.
func (c *Coverage) Judged() map[FieldOf]map[wire.Op]int {
	all := map[FieldOf]map[wire.Op]int{}
	for f, n := range c.filters {
		at := FieldOf{f.table, f.field}
		if all[at] == nil {
			all[at] = map[wire.Op]int{}
		}
		all[at][f.op] += n
	}
	return all
}

// addRows records that an answer held rows of a table.
func (c *Coverage) addRows(table string, rows int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.rows == nil {
		c.rows = map[string]int{}
	}
	c.rows[table] = max(c.rows[table], rows)
}

// RowsOf returns the most rows of a table that one answer held. Call it when the run
// is over.
func (c *Coverage) RowsOf(table string) int { return c.rows[table] }

// Found returns the tables of the first tenant, as far as a check asked for them.
func (s *Session) Found() []wire.Table {
	if d := s.discovered[0]; d != nil && d.err == nil {
		return d.Tables
	}
	return nil
}

// Held returns what was read of a table of the first tenant by one plain request, or
// nil, and why that is not the whole table, or "".
func (s *Session) Held(t *wire.Table) (rows *oracle.Table, why string) {
	snapshot := s.snapshots[snapshotKey{0, t.Name}]
	switch {
	case snapshot == nil:
		return nil, ""
	case snapshot.Table != nil:
		return snapshot.Table, ""
	case snapshot.Missing != nil:
		why = snapshot.Missing.Detail
	}
	return snapshot.window, why
}
