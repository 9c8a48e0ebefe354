package exam

import (
	"iter"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Turns says which of several tables comes next: each once, and then one with many columns more often. Tables
// with the same columns, such as lists of values, share the turns of one: what one of them
// shows need not be asked of each.
type Turns struct {
	weights []float64
	taken   []int
	later   []bool // tables that do not come before others come twice
}

// Tabular is what has the columns of a table.
type Tabular interface{ Columns() []wire.Column }

// NewTurns returns the turns of tables.
func NewTurns[T Tabular](tables []T) *Turns {
	alike := byShape(tables)
	t := &Turns{taken: make([]int, len(tables)), later: make([]bool, len(tables))}
	for _, table := range tables {
		columns := table.Columns()
		t.weights = append(t.weights, float64(len(columns))/float64(alike[shapeOf(columns)]))
	}
	return t
}

// byShape returns how many tables have the same columns, by these.
func byShape[T Tabular](tables []T) map[string]int {
	alike := map[string]int{}
	for _, table := range tables {
		alike[shapeOf(table.Columns())]++
	}
	return alike
}

// shapeOf returns the names and types of a table's columns.
func shapeOf(columns []wire.Column) (shape string) {
	for _, c := range columns {
		shape += c.Name + "\x00" + string(c.Type) + "\x00"
	}
	return shape
}

// Next returns the table whose turn it is, of those that are open, or -1.
func (t *Turns) Next(open func(table int) bool) int {
	best, least := -1, 0.0
	for i, weight := range t.weights {
		due := float64(t.taken[i]+1) / weight
		if t.taken[i] == 0 && !t.later[i] {
			due = 0
		}
		if (best < 0 || due < least) && open(i) {
			best, least = i, due
		}
	}
	if best >= 0 {
		t.taken[best]++
	}
	return best
}

// InTurn yields what is planned for several tables, as they take turns. It plans for a table when its
// turn comes first.
func InTurn[T Tabular, Q any](tables []T, plan func(table T) []Q) iter.Seq[Q] {
	return inTurn(tables, plan, NewTurns[T])
}

// kindsInTurn does what [InTurn] does for questions about what a connector makes of a request, whatever table it names: of
// tables with the same columns only the first comes before others come twice. Thirty lists would else take the turns in
// which a larger table is asked in a second way.
func kindsInTurn[T Tabular, Q any](tables []T, plan func(table T) []Q) iter.Seq[Q] {
	return inTurn(tables, plan, func(tables []T) *Turns {
		turns, known := NewTurns(tables), map[string]bool{}
		for i, table := range tables {
			shape := shapeOf(table.Columns())
			turns.later[i], known[shape] = known[shape], true
		}
		return turns
	})
}

func inTurn[T Tabular, Q any](tables []T, plan func(table T) []Q, turnsOf func([]T) *Turns) iter.Seq[Q] {
	return func(yield func(Q) bool) {
		turns, planned, left := turnsOf(tables), make([]bool, len(tables)), make([][]Q, len(tables))
		for {
			i := turns.Next(func(i int) bool { return !planned[i] || len(left[i]) > 0 })
			if i < 0 {
				return
			}
			if !planned[i] {
				planned[i], left[i] = true, plan(tables[i])
			}
			if len(left[i]) == 0 {
				continue
			}
			next := left[i][0]
			left[i] = left[i][1:]
			if !yield(next) {
				return
			}
		}
	}
}
