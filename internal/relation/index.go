package relation

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Index finds the rows of a table by a key, in the table's order.
type Index struct {
	rows   [][]wire.Value
	next   []int            // the next row with the same key, for each row; -1: none
	chains map[string]chain // by key
}

// chain is the first and the last row of a key.
type chain struct{ head, tail int }

// NewIndex returns an index of rows by one of their cells. Numeric keys compare as
// numbers, others as text. It keeps the rows themselves, without those that match
// nothing.
func NewIndex(rows [][]wire.Value, at int, numeric bool) *Index {
	x := &Index{chains: map[string]chain{}}
	var key []byte
	for _, row := range rows {
		var ok bool
		if key, ok = AppendJoinKey(key[:0], cell(row, at), numeric); ok {
			x.add(key, row)
		}
	}
	return x
}

// add adds a row and returns the bytes that this costs beside the row's own.
func (x *Index) add(key []byte, row []wire.Value) (bytes int) {
	n := len(x.rows)
	x.rows, x.next = append(x.rows, row), append(x.next, -1)
	if c, known := x.chains[string(key)]; known {
		x.next[c.tail] = n
		c.tail = n
		x.chains[string(key)] = c
		return 8
	}
	x.chains[string(key)] = chain{n, n}
	return 8 + 16 + KeySize(key)
}

// first returns the first row of a key, or -1.
func (x *Index) first(key []byte) int {
	if c, ok := x.chains[string(key)]; ok {
		return c.head
	}
	return -1
}

// load gives the i-th hop its index: the relation's own, or one of the cells that the
// joins need, which it reads. It changes the plan to find the cells there.
func (p *JoinPlan) load(i int, rel Relation, j wire.JoinHop, budget *Budget) error {
	h := &p.hops[i]
	if rel.Index != nil {
		h.index = rel.Index(h.toAt, h.numeric)
		return nil
	}
	needed := p.Needed(i)
	p.compact(i, needed)
	h.index = &Index{chains: map[string]chain{}}
	kept := make([]wire.Value, len(needed))
	var key []byte
	for row, err := range rel.Rows {
		if err != nil {
			return err
		}
		v := cell(row, needed[0]) // the key
		if v.Kind() == wire.KindInvalid {
			return invalidCell(j.ToTable, j.ToField, v.Err())
		}
		var ok bool
		if key, ok = AppendJoinKey(key[:0], v, h.numeric); !ok {
			continue // matches nothing
		}
		for k, at := range needed {
			kept[k] = cell(row, at)
		}
		if !budget.spend(RowSize(kept) + h.index.add(key, KeepRow(kept))) {
			return budget.over(j.ToTable, "the joined rows of table %q", j.ToTable)
		}
	}
	return nil
}

// compact changes the plan to rows of the i-th hop that have the needed cells only.
func (p *JoinPlan) compact(i int, needed []int) {
	places := make(map[int]int, len(needed))
	for k, at := range needed {
		places[at] = k
	}
	h := &p.hops[i]
	h.toAt = places[h.toAt]
	h.out = slices.Clone(h.out)
	for k, at := range h.out {
		h.out[k] = places[at]
	}
	for k := range p.hops[i+1:] {
		if later := &p.hops[i+1+k]; later.from == i {
			later.fromAt = places[later.fromAt]
		}
	}
}
