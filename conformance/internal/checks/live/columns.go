package live

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/exam"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

type column struct {
	table  *wire.Table
	index  int // the same in the table's fields and its rows
	points int // what it is worth to the check
}

func (c column) field() *wire.Field { return &c.table.Fields[c.index] }

// columns returns a column of the table for each type: one whose values differ, and with nulls if there is such
// a one. It leaves out columns that discovery calls not filterable, and columns whose values different readings
// of the protocol compare differently.
func (p *liveRun) columns(t *wire.Table) (list []column) {
	byType := p.ranked([]*wire.Table{t}, func(field *wire.Field, rows *oracle.Table, i int) (points int) {
		counts, err := oracle.Cardinality(rows, field.Name)
		if err != nil || counts.NonNull == 0 || !terms.Allowed(field.Filterable) {
			return 0
		}
		points = 1
		if counts.Distinct > 1 {
			points += 2
		}
		if counts.NonNull < int64(len(rows.Rows)) {
			points++
		}
		return points
	})
	for _, best := range byType {
		list = append(list, best[0])
	}
	return list
}

// ranked returns the columns with points for each type, those with most first. It leaves out
// columns without points, and those whose values different readings of the protocol compare
// differently. Points are given by the first rows of the table.
func (p *liveRun) ranked(tables []*wire.Table, points func(field *wire.Field, rows *oracle.Table, column int) int) [][]column {
	var all []column
	for _, t := range tables {
		rows, _ := p.data(t)
		for i := range t.Fields {
			if !exam.OrderSettled(rows, i) {
				continue
			}
			if n := points(&t.Fields[i], firstRows(rows, chosenBy), i); n != 0 {
				all = append(all, column{t, i, n})
			}
		}
	}
	byType := groupedBy(all, func(c column) wire.Type { return c.field().Type })
	for _, list := range byType {
		byPoints(list)
	}
	return byType
}

func byPoints(list []column) {
	slices.SortStableFunc(list, func(a, b column) int { return cmp.Compare(b.points, a.points) })
}

// groupedBy returns the members of a list by a key. The keys stand in the order of their first members.
func groupedBy[T any, K comparable](list []T, key func(T) K) (groups [][]T) {
	at := map[K]int{}
	for _, one := range list {
		i, known := at[key(one)]
		if !known {
			i = len(groups)
			at[key(one)] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], one)
	}
	return groups
}

// mostPoints is more than a column has.
const mostPoints = 100

// sortable returns the columns to sort by: the most telling one of each type, then the others, those first whose values
// a careless order would arrange otherwise. Tables with the same columns take turns with them.
func (p *liveRun) sortable(tables []*wire.Table) (list []column) {
	byType := p.ranked(tables, func(_ *wire.Field, rows *oracle.Table, i int) int { return exam.OrderTells(rows, i) })
	var others []column
	seen := map[string]int{}
	for _, best := range byType {
		list = append(list, best[0])
		others = append(others, best[1:]...)
	}
	for i, c := range others {
		like := fmt.Sprintf("%+v %d", c.table.Columns(), c.index)
		others[i].points -= mostPoints * seen[like]
		seen[like]++
	}
	byPoints(others)
	return append(list, others...)
}

// chosenBy is how many rows of a table are enough to choose by.
const chosenBy = 2000

func firstRows(t *oracle.Table, n int) *oracle.Table {
	some := *t
	some.Rows = t.Rows[:min(len(t.Rows), n)]
	return &some
}

// sample returns up to n different values of a column, by chance. It leaves out
// long values, and values that the column's type cannot compare.
func (p *liveRun) sample(t *oracle.Table, column, n int) (values []wire.Value) {
	if len(t.Rows) == 0 {
		return nil
	}
	kind := t.Columns[column].Type
	start := p.Rand.IntN(len(t.Rows))
	for i := range t.Rows {
		v := t.Rows[(start+i)%len(t.Rows)][column]
		if v.IsNull() || len(v.Text()) > exam.MaxOperand || kind.Numeric() && !terms.IsDecimal(v.String()) {
			continue
		}
		if slices.ContainsFunc(values, func(other wire.Value) bool { return oracle.Same(v, other, kind) }) {
			continue
		}
		if values = append(values, v); len(values) == n {
			break
		}
	}
	return values
}

// filter returns a filter with an operator that compares whole values, with an operand of the column's values. It
// reports false if no operator will do.
func (p *liveRun) filter(t *oracle.Table, column int, op wire.Op) (f wire.Filter, ok bool) {
	field := t.Columns[column].Name
	switch kind := t.Columns[column].Type; op {
	case wire.OpGt, wire.OpGte, wire.OpLt, wire.OpLte:
		if kind == wire.TypeBoolean || terms.IsDocument(kind) {
			return f, false
		}
	}
	values := p.sample(t, column, 2)
	return filterOf(field, op, values...), len(values) > 0 || terms.ShapeOf(op) == terms.ShapeNullary
}

// filterOf returns the filter with an operator and values, of which it has room for all if it takes a list,
// and for the first if it takes one.
func filterOf(field string, op wire.Op, values ...wire.Value) wire.Filter {
	f := wire.Filter{Field: field, Op: op}
	switch shape := terms.ShapeOf(op); {
	case shape == terms.ShapeMember:
		f.Values = values
	case shape != terms.ShapeNullary && len(values) > 0:
		f.Value = values[0]
	}
	return f
}

// selectiveFilter returns a filter with a declared operator that keeps some rows of a table and drops some, about half
// of them if possible. It returns nil if it finds none.
func (p *liveRun) selectiveFilter(t *wire.Table, data *oracle.Table) (filters []wire.Filter) {
	data = firstRows(data, chosenBy)
	columns := p.columns(t)
	best := len(data.Rows)
	for _, op := range []wire.Op{
		wire.OpGte, wire.OpLt, wire.OpNotNull, wire.OpNeq, wire.OpNin, wire.OpIn, wire.OpLte, wire.OpGt, wire.OpEq, wire.OpIsNull,
	} {
		if !p.Document.Declares(op) {
			continue
		}
		for _, c := range columns {
			f, ok := p.filter(data, c.index, op)
			if !ok || terms.IsDocument(c.field().Type) {
				continue
			}
			kept, matches := 0, oracle.Reading{}.Matcher(f, data.Columns[c.index].Type)
			for _, row := range data.Rows {
				if matches(row[c.index]) {
					kept++
				}
			}
			if off := max(2*kept-len(data.Rows), len(data.Rows)-2*kept); off < best {
				filters, best = []wire.Filter{f}, off
			}
		}
		if filters != nil && best <= len(data.Rows)/2 {
			break
		}
	}
	return filters
}
