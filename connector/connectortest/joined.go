package connectortest

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// join returns every row of a table with the fields that its left joins add. It
// computes the joins hop by hop, over all rows.
func join(p *snapshot, base *reading, hops []wire.JoinHop) (*relation, error) {
	if len(hops) == 0 {
		return &base.relation, nil
	}
	if !p.doc.Capabilities.Join {
		return nil, refuse("query-7", "joins, and capabilities.join is false", wire.CodeUnsupported)
	}
	// While joining, a row is a list: the row of the base table, then one row
	// for each hop, nil where nothing matched.
	rows := make([][][]wire.Value, len(base.rows))
	for i, row := range base.rows {
		rows[i] = [][]wire.Value{row}
	}
	sides := []*reading{base}
	for i, hop := range hops {
		to, err := p.need(hop.ToTable)
		if err != nil {
			return nil, err
		}
		from, err := hopFrom(base.table.Name, hops[:i], hop.FromTable)
		if err != nil {
			return nil, err
		}
		fromAt, toAt := sides[from].place(0, hop.FromField), to.place(0, hop.ToField)
		if fromAt < 0 || toAt < 0 {
			return nil, refuse("filter-11a", "a hop over a field that its table does not have", wire.CodeUnknownEntity)
		}
		numeric := sides[from].columns[fromAt].Type.Numeric() && to.columns[toAt].Type.Numeric()
		matches := map[string][][]wire.Value{}
		for _, row := range to.rows {
			if key, ok := linkKey(row[toAt], numeric); ok {
				matches[key] = append(matches[key], row)
			}
		}
		var next [][][]wire.Value
		for _, parts := range rows {
			found := [][]wire.Value{nil}
			if parts[from] != nil {
				if key, ok := linkKey(parts[from][fromAt], numeric); ok && matches[key] != nil {
					found = matches[key]
				}
			}
			for _, match := range found {
				next = append(next, append(parts[:len(parts):len(parts)], match))
			}
		}
		rows, sides = next, append(sides, to)
	}
	return flatten(base, sides, hops, rows)
}

// hopFrom returns the side at which a hop starts: 0 for the base table, n for
// the n-th hop.
func hopFrom(base string, earlier []wire.JoinHop, from string) (int, error) {
	side, reached := -1, 0
	for i, j := range earlier {
		if j.ToTable == from {
			side = i + 1
			reached++
		}
	}
	switch {
	case reached > 1:
		return 0, refuse("query-6a", fmt.Sprintf("a hop from table %q, which two hops reached", from), wire.CodeUnsupported)
	case from == base:
		return 0, nil
	case reached == 0:
		return 0, refuse("query-6a", fmt.Sprintf("a hop from table %q, which nothing reached", from), wire.CodeBadRequest)
	}
	return side, nil
}

// flatten puts the cells of the base row and of the hops' fields into one row.
func flatten(base *reading, sides []*reading, hops []wire.JoinHop, rows [][][]wire.Value) (*relation, error) {
	type cell struct{ side, at int }
	var cells []cell
	all := &relation{columns: append([]wire.Column{}, base.columns...)}
	for at := range base.columns {
		cells = append(cells, cell{0, at})
	}
	for i, hop := range hops {
		to := sides[i+1]
		for _, f := range hop.Fields {
			at := to.place(0, f.Field)
			if at < 0 {
				return nil, refuse("filter-11a", fmt.Sprintf("the field %q of a hop, which its table does not have", f.Field),
					wire.CodeUnknownEntity)
			}
			cells = append(cells, cell{i + 1, at})
			all.columns = append(all.columns, wire.Column{Name: as(f), Type: to.columns[at].Type, Hop: i + 1})
		}
	}
	for _, parts := range rows {
		row := make([]wire.Value, len(cells))
		for i, c := range cells {
			if parts[c.side] != nil {
				row[i] = parts[c.side][c.at]
			}
		}
		all.rows = append(all.rows, row)
	}
	return all, nil
}

// linkKey returns a text that is equal for values that a join or a link calls
// equal: by digits if both columns are numeric, otherwise as text. It reports
// false for a value that equals nothing.
func linkKey(v wire.Value, numeric bool) (string, bool) {
	switch {
	case v.IsNull():
		return "", false
	case !numeric:
		return string(filter.AppendKey(nil, v, wire.TypeString)), true
	case v.Kind() == wire.KindBool || v.Kind() == wire.KindText && !wire.IsDecimal(v.Text()):
		return "", false
	}
	return string(filter.AppendKey(nil, v, wire.TypeDecimal)), true
}
