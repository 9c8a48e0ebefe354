package relation

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Key is a column by which rows are grouped.
type Key struct {
	At    int        // its cell in a row; beyond the row's end it is null
	Type  wire.Type  // "" if none is declared
	Grain wire.Grain // "" groups by the values themselves
}

// Measure is what is computed of each group.
type Measure struct {
	Fn   wire.AggFunc
	At   int // its cell in a row; negative: rows are counted
	Type wire.Type
}

// groups folds rows into groups, of which it keeps the keys and the totals. It
// groups and compares as filters do [rule aggregate-2].
type groups struct {
	keys     []Key
	measures []Measure
	limit    int64
	budget   *Budget

	distinct []map[string]struct{} // by measure, of a count_distinct: group number and value
	list     []group
	byKey    map[string]int // the groups' numbers
	key      []byte
	values   []wire.Value // the keys of the current row
}

type group struct {
	keys   []wire.Value
	totals []total
}

// total is one measure of one group so far.
type total struct {
	n    int64      // of a count
	best wire.Value // of a min or max; null over nothing
	sum  *Sum       // nil over nothing
}

// totalBytes and sumBytes are the bytes that a total and a sum count in a budget.
const (
	totalBytes = 48
	sumBytes   = 128
)

var (
	// errGroups says that there are as many groups as the limit, or more.
	errGroups = errors.New("too many groups")
	// errBudget says that the budget is exceeded.
	errBudget = errors.New("the budget is exceeded")
)

// foldError is a cell that has no place among its groups or no part in a measure.
type foldError struct {
	Key     int // its key, or -1
	Measure int // its measure, or -1
	// Problem goes on after the name of the field, as in "has a value that is no
	// number".
	Problem string
	// Err is why the cell cannot cross the wire, or nil.
	Err error
}

func (e *foldError) Error() string { return "a field " + e.Problem }

// newGroups returns the groups of no rows yet: without keys there is always exactly
// one. A limit of zero means none. newGroups trusts that the measures fit their types.
func newGroups(keys []Key, measures []Measure, limit int64, budget *Budget) *groups {
	g := &groups{
		keys: keys, measures: measures, limit: limit, budget: budget,
		distinct: make([]map[string]struct{}, len(measures)), byKey: map[string]int{},
	}
	for i, m := range measures {
		if m.Fn == wire.AggCountDistinct {
			g.distinct[i] = map[string]struct{}{}
		}
	}
	if len(keys) == 0 {
		g.list = []group{{totals: make([]total, len(measures))}}
	}
	return g
}

// add folds one row into its group. The row may be reused. An error is [errGroups],
// [errBudget] or a [*foldError], and ends the folding.
func (g *groups) add(row []wire.Value) error {
	n := 0
	if len(g.keys) > 0 {
		var err error
		if n, err = g.groupOf(row); err != nil {
			return err
		}
	}
	for i := range g.measures {
		m := &g.measures[i]
		if m.At < 0 {
			g.list[n].totals[i].n++
			continue
		}
		v := cell(row, m.At)
		if v.IsNull() {
			continue
		}
		if v.Kind() == wire.KindInvalid {
			return &foldError{Key: -1, Measure: i, Problem: "has a value that cannot be sent", Err: v.Err()}
		}
		if err := g.measure(i, n, v); err != nil {
			return err
		}
	}
	return nil
}

// rows returns the groups in the order of their first rows: keys, then measures.
func (g *groups) rows() [][]wire.Value {
	rows := make([][]wire.Value, 0, len(g.list))
	for _, group := range g.list {
		row := slices.Grow(slices.Clone(group.keys), len(g.measures))
		for i, m := range g.measures {
			t := &group.totals[i]
			switch {
			case m.Fn == wire.AggCount || m.Fn == wire.AggCountDistinct:
				row = append(row, wire.Int(t.n))
			case m.Fn == wire.AggSum && t.sum != nil:
				row = append(row, t.sum.Value())
			default:
				row = append(row, t.best)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// groupOf returns the number of a row's group, which may be new.
func (g *groups) groupOf(row []wire.Value) (int, error) {
	g.key, g.values = g.key[:0], g.values[:0]
	for i, k := range g.keys {
		v := cell(row, k.At)
		if v.Kind() == wire.KindInvalid {
			return 0, &foldError{Key: i, Measure: -1, Problem: "has a value that cannot be sent", Err: v.Err()}
		}
		if k.Grain != "" && !v.IsNull() {
			var ok bool
			if v, ok = PeriodStart(v, k.Grain); !ok {
				return 0, &foldError{Key: i, Measure: -1, Problem: "has a value that is no date"}
			}
		}
		g.values = append(g.values, v)
		g.key = filter.AppendKey(g.key, v, k.Type)
	}
	if n, known := g.byKey[string(g.key)]; known {
		return n, nil
	}
	n := len(g.list)
	if g.limit > 0 && int64(n)+1 >= g.limit {
		return 0, errGroups
	}
	if !g.budget.spend(KeySize(g.key) + RowSize(g.values) + totalBytes*len(g.measures)) {
		return 0, errBudget
	}
	g.byKey[string(g.key)] = n
	g.list = append(g.list, group{KeepRow(g.values), make([]total, len(g.measures))})
	return n, nil
}

// measure adds a value that is not null to a total of the nth group.
func (g *groups) measure(i, n int, v wire.Value) error {
	m, t := &g.measures[i], &g.list[n].totals[i]
	switch m.Fn {
	case wire.AggCount:
		t.n++
	case wire.AggCountDistinct:
		g.key = binary.AppendUvarint(g.key[:0], uint64(n))
		g.key = filter.AppendKey(g.key, v, m.Type)
		if _, known := g.distinct[i][string(g.key)]; known {
			return nil
		}
		g.distinct[i][string(g.key)] = struct{}{}
		t.n++
		if !g.budget.spend(KeySize(g.key)) {
			return errBudget
		}
	case wire.AggSum:
		before := -sumBytes
		if t.sum == nil {
			t.sum = new(Sum)
		} else {
			before = t.sum.Size()
		}
		if !t.sum.Add(v) {
			return &foldError{Key: -1, Measure: i, Problem: "has a value that is no number"}
		}
		if grown := t.sum.Size() - before; grown > 0 && !g.budget.spend(grown) {
			return errBudget
		}
	case wire.AggMin, wire.AggMax:
		if problem := unordered(v, t.best, m.Type); problem != "" {
			return &foldError{Key: -1, Measure: i, Problem: problem}
		}
		if !t.best.IsNull() {
			c, _ := filter.Compare(v, t.best, m.Type)
			if m.Fn == wire.AggMin && c >= 0 || m.Fn == wire.AggMax && c <= 0 {
				return nil
			}
		}
		if !g.budget.spend(len(v.Text()) - len(t.best.Text())) {
			return errBudget
		}
		t.best = v.Clone()
	}
	return nil
}

// unordered returns why a value has no order among the values of its column: an extreme
// of them would depend on the order of the rows. It returns "" for one that has.
func unordered(v, best wire.Value, t wire.Type) string {
	switch t {
	case wire.TypeNumber, wire.TypeDecimal:
		if !IsNumber(v) {
			return "has a value that is no number"
		}
	case wire.TypeDate, wire.TypeDatetime:
		if _, ok := filter.Instant(v); !ok {
			return "has a value that is no date"
		}
	case "":
		if !best.IsNull() && IsNumber(v) != IsNumber(best) {
			return "declares no type and mixes numbers and other text"
		}
	}
	return ""
}
