package faulttest

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// index finds the lines of a file by the cells of one column.
type index struct {
	kind    wire.Type
	cells   map[int]wire.Value // by line
	rows    map[string][]int   // lines by the key of their cell
	null    []int
	ordered []int // lines with a cell, in the order of the cells
}

// build indexes one column.
func (c *files) build(table string, f wire.Field, rows [][]wire.Value, at int) *index {
	ix := &index{kind: f.Type, cells: map[int]wire.Value{}, rows: map[string][]int{}}
	for i, row := range rows {
		if c.indexes != nil && table == c.Table && !c.indexes(i) {
			continue
		}
		v := apply(c.match, c.is(table, f.Name), row[at])
		ix.cells[i] = v
		if v.IsNull() {
			ix.null = append(ix.null, i)
			continue
		}
		key := string(filter.AppendKey(nil, v, f.Type))
		ix.rows[key] = append(ix.rows[key], i)
		ix.ordered = append(ix.ordered, i)
	}
	slices.SortStableFunc(ix.ordered, func(a, b int) int {
		order, _ := filter.Compare(ix.cells[a], ix.cells[b], f.Type)
		return order
	})
	return ix
}

// find returns the lines that pass the filters that an index answers. filtered is false
// if there is none, exact true if these are all.
func (c *files) find(t *wire.Table, where wire.Where) (found []int, filtered, exact bool) {
	pushed, all := filter.Split(where, func(f wire.Filter) bool {
		return len(where.Or) == 0 && c.answers(t, f)
	})
	for i, f := range pushed.And {
		rows := c.lookup(t.Name, f)
		if i == 0 {
			found, filtered = rows, true
			continue
		}
		found = slices.DeleteFunc(found, func(row int) bool { return !slices.Contains(rows, row) })
	}
	return found, filtered, all
}

// answers reports whether the index answers a filter exactly.
func (c *files) answers(t *wire.Table, f wire.Filter) bool {
	if t.Field(f.Field) == nil {
		return false
	}
	switch f.Op {
	case wire.OpIncludes, wire.OpContains, wire.OpNin:
		return false
	}
	return true
}

// lookup returns the lines that pass one filter, in the order of the file.
func (c *files) lookup(table string, f wire.Filter) (found []int) {
	ix := c.index[table][f.Field]
	asked := f
	f = apply(c.filter, c.is(table, f.Field), f)
	switch f.Op {
	case wire.OpIsNull:
		found = slices.Clone(ix.null)
	case wire.OpNotNull:
		found = slices.Clone(ix.ordered)
	case wire.OpEq, wire.OpIn:
		for _, v := range append(f.Values, f.Value) {
			if _, ok := filter.Compare(v, v, ix.kind); ok {
				found = append(found, ix.rows[string(filter.AppendKey(nil, v, ix.kind))]...)
			}
		}
	default:
		match, err := filter.Compile(wire.Where{And: []wire.Filter{f}}, []wire.Column{{Name: f.Field, Type: ix.kind}})
		if err != nil {
			break
		}
		for _, row := range ix.ordered {
			if ok, _ := match.Match([]wire.Value{ix.cells[row]}); ok {
				found = append(found, row)
			}
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	if c.found != nil && c.is(table, asked.Field) {
		found = c.found(asked, found)
	}
	if c.looked != nil && table == c.Table {
		found = c.looked(asked, found)
	}
	return found
}

// ordered returns all lines in the order of a field, nulls last. Lines that tie stay in
// the order of the file.
func (c *files) ordered(t *wire.Table, key wire.SortKey) []int {
	ix := c.index[t.Name][key.Field]
	ordered := slices.Clone(ix.ordered)
	if key.Dir == wire.Desc {
		slices.SortStableFunc(ordered, func(a, b int) int {
			order, _ := filter.Compare(ix.cells[b], ix.cells[a], ix.kind)
			return order
		})
	}
	ordered = append(ordered, ix.null...)
	if c.lines != nil && c.is(t.Name, key.Field) {
		ordered = c.lines(key.Dir, ordered)
	}
	return ordered
}
