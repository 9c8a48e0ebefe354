package platform

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/fold"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// hop is one join whose names have been looked up.
type hop struct {
	hop     wire.JoinHop
	table   *wire.Table
	from    int // -1: the base row, otherwise an earlier hop
	numeric bool
	columns []wire.Column // what it adds, under their "as"
	fields  []string      // what has to be read of the table
}

// planJoins looks the names of joins up in the discovered tables.
func (c *Connection) planJoins(base *wire.Table, joins []wire.JoinHop) ([]hop, error) {
	var hops []hop
	for i, j := range joins {
		h := hop{hop: j, from: -1}
		fromTable, reached := base, 0
		for k, earlier := range joins[:i] {
			if earlier.ToTable == j.FromTable {
				reached++
				if j.FromTable != base.Name {
					h.from, fromTable = k, hops[k].table
				}
			}
		}
		switch {
		case reached > 1:
			return nil, refuse("joins[%d].fromTable: several hops reach table %s, so a hop from it is ambiguous", i, wire.QuoteName(j.FromTable))
		case reached == 0 && j.FromTable != base.Name:
			return nil, refuse("joins[%d].fromTable: must be the base table or the table of an earlier hop", i)
		}
		var err error
		if h.table, err = c.table(j.ToTable); err != nil {
			return nil, err
		}
		need := func(name string) int {
			if at := slices.Index(h.fields, name); at >= 0 {
				return at
			}
			h.fields = append(h.fields, name)
			return len(h.fields) - 1
		}
		from, to := fromTable.Field(j.FromField), h.table.Field(j.ToField)
		if from == nil {
			return nil, refuse("joins[%d].fromField: table %s has no field %s", i, wire.QuoteName(fromTable.Name), wire.QuoteName(j.FromField))
		}
		if to == nil {
			return nil, refuse("joins[%d].toField: table %s has no field %s", i, wire.QuoteName(j.ToTable), wire.QuoteName(j.ToField))
		}
		h.numeric = from.Type.Numeric() && to.Type.Numeric()
		need(j.ToField)
		for _, f := range j.Fields {
			field := h.table.Field(f.Field)
			if field == nil {
				return nil, refuse("joins[%d].fields: table %s has no field %s", i, wire.QuoteName(j.ToTable), wire.QuoteName(f.Field))
			}
			h.columns = append(h.columns, wire.Column{Name: cmp.Or(f.As, f.Field), Type: field.Type})
			need(f.Field)
		}
		hops = append(hops, h)
		if h.from >= 0 && !slices.Contains(hops[h.from].fields, j.FromField) {
			hops[h.from].fields = append(hops[h.from].fields, j.FromField)
		}
	}
	return hops, nil
}

// statedJoins returns joins whose fields all have a name in the answer and a type.
func statedJoins(joins []wire.JoinHop, hops []hop) []wire.JoinHop {
	stated := slices.Clone(joins)
	for i, h := range hops {
		stated[i].Fields = slices.Clone(stated[i].Fields)
		for k, c := range h.columns {
			stated[i].Fields[k].As, stated[i].Fields[k].Type = c.Name, c.Type
		}
	}
	return stated
}

// joiner executes LEFT joins over base rows that come one by one. The tables of
// its hops are in memory.
type joiner struct {
	hops    []loaded
	matched [][]wire.Value // the current row of each hop; nil: no match
	row     []wire.Value   // the joined row
	width   int            // cells of a base row
	key     []byte
}

// loaded is the table of a hop, found by its key.
type loaded struct {
	hop
	fromAt int   // the key in the row of hop.from
	out    []int // the cells that the hop adds
	rows   [][]wire.Value
	next   []int          // for each row, the next one with the same key; -1: none
	first  map[string]int // by key
}

// joiner reads the tables of a plan's hops, one after the other.
func (c *Connection) joiner(ctx context.Context, p *plan, budget *budget, work *Work) (*joiner, error) {
	work.Joined = true
	width := len(p.pull.columns)
	j := &joiner{width: width, matched: make([][]wire.Value, len(p.hops))}
	total := width
	for _, h := range p.hops {
		l := loaded{hop: h, first: map[string]int{}}
		if h.from < 0 {
			l.fromAt = slices.Index(p.pull.request.Fields, h.hop.FromField)
		} else {
			l.fromAt = slices.Index(p.hops[h.from].fields, h.hop.FromField)
		}
		for _, f := range h.hop.Fields {
			l.out = append(l.out, slices.Index(h.fields, f.Field))
		}
		total += len(l.out)
		if err := c.load(ctx, &l, budget, work); err != nil {
			return nil, err
		}
		j.hops = append(j.hops, l)
	}
	j.row = make([]wire.Value, total)
	return j, nil
}

// load reads the table of a hop. It keeps no row that matches nothing.
func (c *Connection) load(ctx context.Context, l *loaded, budget *budget, work *Work) error {
	toAt := slices.Index(l.fields, l.hop.hop.ToField)
	last := map[string]int{}
	var key []byte
	for row, err := range c.rows(ctx, c.whole(l.table, l.fields), work) {
		if err != nil {
			return err
		}
		var ok bool
		if key, ok = fold.AppendJoinKey(key[:0], row[toAt], l.numeric); !ok {
			continue
		}
		n := len(l.rows)
		size := fold.RowSize(row) + 8
		if before, known := last[string(key)]; known {
			l.next[before] = n
			last[string(key)] = n
		} else {
			size += 2 * fold.KeySize(key)
			k := string(key)
			l.first[k], last[k] = n, n
		}
		l.rows, l.next = append(l.rows, fold.KeepRow(row)), append(l.next, -1)
		if !budget.spend(size) {
			return budget.over(fmt.Sprintf("joining table %s", wire.QuoteName(l.table.Name)), "join a smaller table")
		}
	}
	return nil
}

// whole returns the pull of all rows of a table.
func (c *Connection) whole(t *wire.Table, fields []string) *pull {
	p := &pull{table: t, request: wire.QueryRequest{Table: t.Name, Fields: fields}}
	for _, name := range fields {
		p.columns = append(p.columns, wire.Column{Name: name, Type: t.Field(name).Type})
	}
	return p
}

// each calls emit for every row that a base row becomes: one for each combination
// of its matches, or one with nulls.
func (j *joiner) each(base []wire.Value, emit func([]wire.Value) error) error {
	copy(j.row, base)
	return j.expand(0, j.width, emit)
}

// expand fills the cells of the n-th hop and of the later ones.
func (j *joiner) expand(n, at int, emit func([]wire.Value) error) error {
	if n == len(j.hops) {
		return emit(j.row)
	}
	h := &j.hops[n]
	end := at + len(h.out)
	match := -1
	if from := j.from(h); from != nil {
		var ok bool
		if j.key, ok = fold.AppendJoinKey(j.key[:0], from[h.fromAt], h.numeric); ok {
			if first, found := h.first[string(j.key)]; found {
				match = first
			}
		}
	}
	if match < 0 {
		j.matched[n] = nil
		clear(j.row[at:end])
		return j.expand(n+1, end, emit)
	}
	for ; match >= 0; match = h.next[match] {
		j.matched[n] = h.rows[match]
		for i, cell := range h.out {
			j.row[at+i] = j.matched[n][cell]
		}
		if err := j.expand(n+1, end, emit); err != nil {
			return err
		}
	}
	return nil
}

// from returns the row in which a hop starts, or nil if there is none.
func (j *joiner) from(h *loaded) []wire.Value {
	if h.from < 0 {
		return j.row[:j.width]
	}
	return j.matched[h.from]
}
