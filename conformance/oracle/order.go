package oracle

import (
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Sort orders rows by the keys of a request; rows that tie stay in the order
// they came in. Nulls are last in both directions, before them what is no
// number in a column of numbers (B1). Collate makes no difference (B2). It
// fails with *UnknownField for a key the table lacks.
func Sort(t *Table, keys []wire.SortKey, types map[string]wire.Type) (*Table, error) {
	s, err := Reading{}.sort(t, keys, types)
	if err != nil {
		return nil, err
	}
	return s.table, nil
}

// Sorted finds the first row that stands out of order; ok means that there is
// none. Use it for rows that a connector claims to have sorted. Keys are looked
// at up to the first one that the rows lack: where those before it tie, any
// order may be right.
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

// Unsettled names a sort key whose order the rulings leave open for these rows,
// or is "": an undeclared column that mixes numbers and other text, a column of
// dates with other text in it, and descending numbers with several texts that
// are none. Rows sorted by such a key are not to be judged by their order.
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

// ordering is a sort whose columns and rules are looked up.
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

// compareSorted orders two cells of a column. A direction turns the order
// within a rank around, never the ranks (B1).
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

// sorted is a table in order, and for each row the index behind the last of
// the rows it ties with.
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
