package restsource

import (
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// embedded reports whether the rows of the table are a list in each row of its parent,
// and not at an endpoint of their own.
func (t *table) embedded() bool {
	return t.Parent != "" && t.Path == "" && t.Job.Create == "" && !isDocument(t.GraphQL)
}

// base returns the table whose endpoint has the rows of t: t itself, or the nearest table above it
// that is not embedded.
func (t *table) base() *table {
	for t.embedded() && t.parent != nil {
		t = t.parent
	}
	return t
}

// levels returns the embedded tables from the one in the base's rows down to t.
func (t *table) levels() (levels []*table) {
	for ; t.embedded() && t.parent != nil; t = t.parent {
		levels = append(levels, t)
	}
	slices.Reverse(levels)
	return levels
}

// lifted returns the filters that concern the row of the base alone, with the base's
// names. Those on other columns are left to the library.
func (t *table) lifted(where wire.Where) wire.Where {
	for ; t.embedded(); t = t.parent {
		where = t.ofParent(where)
	}
	return where
}

// compileWithin sets the picker of the parent's rows that finds the list of t too. Its
// places are the parent's columns, LastRowCursor, the list, and the object that has the list.
func (t *table) compileWithin() {
	list := slices.Concat(t.parent.node(), splitPath(strings.TrimSuffix(t.Rows, "[]")))
	paths := append(t.parent.paths(), list)
	paths = append(paths, list[:len(list)-1])
	t.within, t.withinPlaces = newPicker(paths...), len(paths)
}

// listOf returns the list of t among what within has found, and fails if the answer has
// only a part of it.
func (t *table) listOf(found []textvalue.Raw) (textvalue.Raw, error) {
	first := len(t.parent.columns) + 1
	list, box := found[first], found[first+1]
	if !list.None() && list.Kind != textvalue.Array {
		return list, t.fault("the member at Rows in a row of the parent is not a list")
	}
	received := 0
	if !list.None() {
		_ = each(list.Text, func(s *textvalue.Reader) error {
			received++
			s.Value(1)
			return nil
		})
	}
	if t.cut(box, int64(received)) {
		return list, t.fault("the list at Rows (%q) has more elements than the parent's answer; "+
			"ask for more of them in one answer, or give the table the Path of an endpoint that has them all", t.Rows)
	}
	return list, nil
}

// cut reports whether the object that has a list says that the list has more elements than
// these. What stands beside a list at the top of a row is the row's own, except for members
// that are named like the list and tell of pages: lines, and linesHasMore.
func (t *table) cut(box textvalue.Raw, received int64) bool {
	if box.Kind != textvalue.Object {
		return false
	}
	path := splitPath(strings.TrimSuffix(t.Rows, "[]"))
	list := path[len(path)-1]
	beside := membersOf(nil, box.Text)
	top := len(path) == 1
	beside = slices.DeleteFunc(beside, func(m noted) bool {
		return m.path[0] == list || top && !strings.HasPrefix(m.path[0], list)
	})
	for i := range beside {
		if top {
			beside[i].path[0] = beside[i].path[0][len(list):]
		}
	}
	return t.more(beside, received, false, false) != ""
}

// expansion makes the rows of an embedded table of those of its base.
type expansion struct {
	levels []*table
	rows   [][]wire.Value
	has    []bool
	above  []int // rows of each level's parent
	lists  []int // of them, those that have the member of the list
	wanted map[*table][]bool
}

func newExpansion(e *endpoint) *expansion {
	t := e.list
	levels := t.levels()
	return &expansion{
		levels: levels,
		has:    make([]bool, len(t.columns)),
		above:  make([]int, len(levels)),
		lists:  make([]int, len(levels)),
		wanted: e.wanted,
	}
}

// take returns the rows of the lists in the rows of a page.
func (x *expansion) take(p *page) ([][]wire.Value, error) {
	x.rows = nil
	for i, row := range p.rows {
		if err := x.elements(0, row, p.lists[i]); err != nil {
			return nil, err
		}
	}
	p.has = x.has
	return x.rows, nil
}

// elements adds the rows of one list.
func (x *expansion) elements(level int, parent []wire.Value, list textvalue.Raw) error {
	t := x.levels[level]
	x.above[level]++
	if list.Kind != textvalue.Absent {
		x.lists[level]++
	}
	if list.None() {
		return nil
	}
	last := level == len(x.levels)-1
	seen := map[uint64]bool{}
	position := 0
	return each(list.Text, func(s *textvalue.Reader) error {
		position++
		if s.Peek() != '{' && !t.scalar {
			return t.fault(`an element of the list is not an object; the column with the Path "." has the element itself`)
		}
		picker, places := t.row, len(t.columns)+1
		if !last {
			picker, places = x.levels[level+1].within, x.levels[level+1].withinPlaces
		}
		found := make([]textvalue.Raw, places)
		picker.pick(s, found, 1)
		if s.Err() != nil {
			return s.Err()
		}
		row, err := t.cellsOf(found, parent, position, x.wanted[t])
		if err != nil {
			return err
		}
		if len(t.key) > 0 {
			sum := t.sumOf(row)
			if seen[sum] {
				return t.fault("two elements of one list have the same key; add a column with Position to the Key")
			}
			seen[sum] = true
		}
		if last {
			for i := range x.has {
				x.has[i] = x.has[i] || found[i].Kind != textvalue.Absent
			}
			x.rows = append(x.rows, row)
			return nil
		}
		below, err := x.levels[level+1].listOf(found)
		if err != nil {
			return err
		}
		return x.elements(level+1, row, below)
	})
}

// end fails if no row had the member of a list: Rows may be misspelled.
func (x *expansion) end() error {
	for i, t := range x.levels {
		if x.above[i] > 0 && x.lists[i] == 0 && !t.AbsentIsEmpty {
			return t.fault("no row of the parent has a list at Rows (%q); "+
				"check the path, or declare AbsentIsEmpty if the API leaves empty lists out", t.Rows)
		}
	}
	return nil
}

// embedFaults checks what an embedded table can declare.
func (t *table) embedFaults(fault func(string, ...any)) {
	path := strings.TrimSuffix(t.Rows, "[]")
	switch {
	case path == "" || strings.Contains(path, "[]"):
		fault("rows: without a Path, Rows is the list in each row of the parent, such as %q; "+
			"a list in a list is a table with this one as Parent", "lines[]")
	case t.Query != "" || t.Body != nil || t.Unwrap != nil:
		fault("without a Path its rows come with the parent's; Query, Body and Unwrap are the parent's")
	case t.Pages.By != "" || t.Pages.SizeParam != "":
		fault("pages: without a Path its rows come with the parent's pages")
	case t.GraphQL == "" && !t.scalar && t.parent != nil && t.parent.graph != nil:
		fault("graphQL: the parent's query has to ask for the list; write the part with it, such as %q",
			"lines(first: 50) { nodes { * } }")
	case len(t.Filters) > 0:
		fault("filters: without a Path they are declared at the parent, and used for the columns with OfParent")
	}
}
