package oracle

import (
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// join executes the left joins of a request over the rows of base. It returns
// the columns of base followed by those of each hop under their "as".
func (r Reading) join(tables Tables, base *Table, hops []wire.JoinHop, types map[string]wire.Type) (*Table, error) {
	if len(hops) == 0 {
		return base, nil
	}
	// While joining, a row is so many rows one behind the other: that of the base table, then one
	// for every hop so far, nil where nothing matched.
	parts, rows := []*Table{base}, base.Rows
	joined := &Table{Name: base.Name, Columns: base.Columns, PrimaryKey: base.PrimaryKey}
	var sources [][2]int // the part and the column of each joined column

	for n, hop := range hops {
		from, err := origin(parts, hop)
		if err != nil {
			return nil, err
		}
		to, err := tables.table(hop.ToTable)
		if err != nil {
			return nil, err
		}
		fromType := types // fieldTypes describes the base table only
		if from > 0 {
			fromType = nil
		}
		fromColumn, toColumn := parts[from].baseIndex(hop.FromField), to.baseIndex(hop.ToField)
		if fromColumn < 0 {
			return nil, &UnknownField{Table: parts[from].Name, Field: hop.FromField, Where: "join"}
		}
		if toColumn < 0 {
			return nil, &UnknownField{Table: to.Name, Field: hop.ToField, Where: "join"}
		}
		by := linkRule(parts[from].typeOf(fromColumn, fromType), to.typeOf(toColumn, nil))
		matches := map[identity][][]wire.Value{}
		for _, row := range to.Rows {
			if id, ok := linkKey(cell(row, toColumn), by); ok {
				matches[id] = append(matches[id], row)
			}
		}
		wider := make([][]wire.Value, 0, len(rows)+len(rows)/len(parts))
		for row := range slices.Chunk(rows, len(parts)) {
			found := [][]wire.Value{nil}
			if id, ok := linkKey(cell(row[from], fromColumn), by); ok && matches[id] != nil {
				found = matches[id]
			}
			for _, match := range found {
				wider = append(append(wider, row...), match)
			}
		}
		rows = wider
		parts = append(parts, to)
		for _, f := range hop.Fields {
			column := to.baseIndex(f.Field)
			if column < 0 {
				return nil, &UnknownField{Table: to.Name, Field: f.Field, Where: "join"}
			}
			c := wire.Column{Name: f.As, Type: to.Columns[column].Type, Hop: n + 1}
			if c.Name == "" {
				c.Name = f.Field
			}
			if c.Type == "" {
				c.Type = f.Type
			}
			joined.Columns = append(joined.Columns[:len(joined.Columns):len(joined.Columns)], c)
			sources = append(sources, [2]int{n + 1, column})
		}
	}

	width := len(joined.Columns)
	joined.Rows = make([][]wire.Value, 0, len(rows)/len(parts))
	flat := make([]wire.Value, cap(joined.Rows)*width)
	for row := range slices.Chunk(rows, len(parts)) {
		for c := range base.Columns {
			flat[c] = cell(row[0], c)
		}
		for c, source := range sources {
			flat[len(base.Columns)+c] = cell(row[source[0]], source[1])
		}
		joined.Rows, flat = append(joined.Rows, flat[:width:width]), flat[width:]
	}
	return joined, nil
}

// origin returns the index in parts at which a hop starts: 0 for the base table,
// otherwise the earlier hop that reached the table. A table that two hops
// reached is ambiguous, even if it is the base table.
func origin(parts []*Table, hop wire.JoinHop) (int, error) {
	var reached []int
	for i, part := range parts[1:] {
		if part.Name == hop.FromTable {
			reached = append(reached, i+1)
		}
	}
	switch {
	case len(reached) > 1:
		return 0, &Undefined{Detail: fmt.Sprintf("join: the hop from %q is ambiguous, because several hops reached it", hop.FromTable)}
	case parts[0].Name == hop.FromTable:
		return 0, nil
	case len(reached) == 1:
		return reached[0], nil
	}
	return 0, &Malformed{Detail: fmt.Sprintf("join: %q is neither the base table nor that of an earlier hop", hop.FromTable)}
}

// linkRule returns how two columns compare as keys: by digits if both are
// numeric, otherwise as text.
func linkRule(from, to wire.Type) rule {
	if from.Numeric() && to.Numeric() {
		return asNumber
	}
	return asText
}

// linkKey returns what is equal for equal keys. It reports false for a
// value that equals nothing: null, and text that is not a number among numbers.
func linkKey(v wire.Value, by rule) (id identity, ok bool) {
	k := keyOf(v, by)
	return k.identity(), k.equals(by)
}
