package generate

import "github.com/connectorsdk/connector-sdk-go/wire"

// Turns says which of several tables comes next: one with many columns more often. Tables
// with the same columns, such as lists of values, share the turns of one: what one of them
// shows need not be asked of each.
type Turns struct {
	weights []float64
	taken   []int
}

// NewTurns returns the turns of tables with these columns.
func NewTurns(tables [][]wire.Column) *Turns {
	alike := map[string]int{}
	for _, columns := range tables {
		alike[shapeOf(columns)]++
	}
	t := &Turns{taken: make([]int, len(tables))}
	for _, columns := range tables {
		t.weights = append(t.weights, float64(len(columns))/float64(alike[shapeOf(columns)]))
	}
	return t
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
		if due := float64(t.taken[i]+1) / weight; (best < 0 || due < least) && open(i) {
			best, least = i, due
		}
	}
	if best >= 0 {
		t.taken[best]++
	}
	return best
}

// InTurn returns the questions about several tables in one list: the first about a table
// comes before its second.
func InTurn(subjects []*Subject, questions [][]*Question) (list []*Question) {
	turns := turnsOf(subjects)
	for {
		i := turns.Next(func(i int) bool { return turns.taken[i] < len(questions[i]) })
		if i < 0 {
			return list
		}
		list = append(list, questions[i][turns.taken[i]-1])
	}
}

func turnsOf(subjects []*Subject) *Turns {
	var tables [][]wire.Column
	for _, s := range subjects {
		tables = append(tables, s.Table.Columns)
	}
	return NewTurns(tables)
}
