package oracle

import (
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Sort returns the table with its rows sorted by the keys of a request. Rows
// that tie keep their order. Nulls come last in both directions, and text in a
// column of numbers comes just before them [rule query-1]. Collate makes no
// difference. Sort returns an *UnknownField for a key that the table lacks.
func Sort(t *Table, keys []wire.SortKey, types map[string]wire.Type) (*Table, error) {
	s, err := Reading{}.sort(t, keys, types)
	if err != nil {
		return nil, err
	}
	return s.table, nil
}

// Sorted returns the index of the first row that is out of order, or -1 and true. Use it
// for rows that a connector claims to have sorted. It
// ignores the first key that the rows lack and all keys after it, because rows
// that tie in the keys before it may be in any order.
func Sorted(t *Table, keys []wire.SortKey, types map[string]wire.Type) (at int, ok bool) {
	for i, k := range keys {
		if t.baseIndex(k.Field) < 0 {
			keys = keys[:i]
			break
		}
	}
	o := Reading{}.ordering(t, keys, types)
	for i := 1; i < len(t.Rows); i++ {
		if o.compare(o.keys(t.Rows[i-1]), o.keys(t.Rows[i])) > 0 {
			return i, false
		}
	}
	return -1, true
}

// Unsettled returns a sort key whose order the rules leave open for these rows,
// or "". The order is open in an undeclared column that mixes numbers and other
// text, in a column of dates with other text in it, and in a descending column
// of numbers with several other texts. Do not judge the order of such rows.
func Unsettled(t *Table, keys []wire.SortKey, types map[string]wire.Type) (field string) {
	for _, k := range keys {
		column := t.baseIndex(k.Field)
		if column < 0 {
			continue
		}
		by := Reading{}.rule(t.typeOf(column, types))
		parsed, other := false, map[string]bool{}
		for _, row := range t.Rows {
			switch key := keyOf(cell(row, column), by); key.rank(by) {
			case 0:
				parsed = true
			case 1:
				other[key.text] = true
			}
		}
		mixed := parsed && len(other) > 0 && by != asNumber
		if mixed || k.Dir == wire.Desc && len(other) > 1 && by == asNumber {
			return k.Field
		}
	}
	return ""
}

// ordering is a sort whose columns and rules have been resolved.
type ordering struct {
	columns []int
	rules   []rule
	desc    []bool
}

func (r Reading) ordering(t *Table, sort []wire.SortKey, types map[string]wire.Type) ordering {
	var o ordering
	for _, k := range sort {
		column := t.baseIndex(k.Field)
		o.columns = append(o.columns, column)
		o.rules = append(o.rules, r.rule(t.typeOf(column, types)))
		o.desc = append(o.desc, k.Dir == wire.Desc)
	}
	return o
}

func (o ordering) keys(row []wire.Value) []key {
	keys := make([]key, len(o.columns))
	for i, column := range o.columns {
		keys[i] = keyOf(cell(row, column), o.rules[i])
	}
	return keys
}

func (o ordering) compare(a, b []key) int {
	for i, by := range o.rules {
		if order := compareSorted(a[i], b[i], by, o.desc[i]); order != 0 {
			return order
		}
	}
	return 0
}

// compareSorted compares two cells of a column. A descending sort reverses the
// order within a rank, but never the ranks.
func compareSorted(a, b key, by rule, desc bool) int {
	rank := a.rank(by)
	if other := b.rank(by); rank != other {
		return rank - other
	}
	order := 0
	switch rank {
	case 0:
		order, _ = compare(a, b, by)
	case 1:
		order = strings.Compare(a.text, b.text)
	}
	if desc {
		return -order
	}
	return order
}

// sorted is a sorted table. For each row, ties has the index after the last row
// that it ties with.
type sorted struct {
	table *Table
	ties  []int
}

func (r Reading) sort(t *Table, sort []wire.SortKey, types map[string]wire.Type) (sorted, error) {
	for _, k := range sort {
		if t.baseIndex(k.Field) < 0 {
			return sorted{}, &UnknownField{Table: t.Name, Field: k.Field, Where: "sort"}
		}
	}
	type keyed struct {
		row  []wire.Value
		keys []key
	}
	o := r.ordering(t, sort, types)
	rows := make([]keyed, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = keyed{row, o.keys(row)}
	}
	slices.SortStableFunc(rows, func(a, b keyed) int { return o.compare(a.keys, b.keys) })

	s := sorted{table: t.with(make([][]wire.Value, len(rows))), ties: make([]int, len(rows))}
	for i := len(rows) - 1; i >= 0; i-- {
		s.table.Rows[i] = rows[i].row
		if i+1 < len(rows) && o.compare(rows[i].keys, rows[i+1].keys) == 0 {
			s.ties[i] = s.ties[i+1]
		} else {
			s.ties[i] = i + 1
		}
	}
	return s, nil
}
