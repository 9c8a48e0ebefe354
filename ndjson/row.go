package ndjson

import (
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Row is one row of a stream. Its cells are of the four kinds of the wire: null,
// text, boolean, and number (a wire.KindInt or wire.KindFloat). What a string
// means depends on the column's type.
//
// A row is valid until the next one. To keep it, copy its Values. The texts of its cells then
// stay as they are, but each keeps its whole line in memory: clone values that
// you keep for long ([wire.Value.Clone]).
type Row struct {
	shape  *shape
	values []wire.Value
}

// Names returns the row's members, in the order of the line, parallel to Values.
// Rows of the same members share the slice: do not change it. It stays valid.
func (r Row) Names() []string {
	if r.shape == nil {
		return nil
	}
	return r.shape.names
}

// Values returns the row's cells, parallel to Names.
func (r Row) Values() []wire.Value { return r.values }

// Get returns the cell of the member of that name. If the row has none, it
// returns null and false: a missing member reads as a null cell.
func (r Row) Get(name string) (wire.Value, bool) {
	if r.shape != nil {
		if i := r.shape.at(name); i >= 0 {
			return r.values[i], true
		}
	}
	return wire.Null(), false
}

// fewNames is the number of members up to which comparing them all is faster than
// a map.
const fewNames = 16

// shape is the members that rows have in common. It shares no memory with a line.
type shape struct {
	names []string
	// spans[i] is the text of a row from the end of cell i-1, or from its
	// opening brace, to the start of cell i: text that was once read as
	// `,"name":` need not be read again where it recurs.
	spans []string
	index map[string]int // beyond fewNames
	size  int            // bytes of names and spans
}

// newShape copies names and spans into one block of memory.
func newShape(names, spans []string) *shape {
	size := 0
	for i, name := range names {
		size += len(name) + len(spans[i])
	}
	var text strings.Builder
	text.Grow(size)
	own := make([]string, 2*len(names))
	for i, name := range names {
		at := text.Len()
		text.WriteString(spans[i])
		text.WriteString(name)
		own[i] = text.String()[at+len(spans[i]):]
		own[len(names)+i] = text.String()[at : at+len(spans[i])]
	}
	sh := &shape{names: own[:len(names):len(names)], spans: own[len(names):], size: size}
	if len(names) > fewNames {
		sh.index = make(map[string]int, len(names))
		for i, name := range sh.names {
			sh.index[name] = i
		}
	}
	return sh
}

// at returns the position of a name, or -1.
func (sh *shape) at(name string) int {
	if sh.index != nil {
		if i, ok := sh.index[name]; ok {
			return i
		}
		return -1
	}
	for i, n := range sh.names {
		if n == name {
			return i
		}
	}
	return -1
}
