package oracle

import "github.com/connectorsdk/connector-sdk-go/wire"

// Query returns the right answer to a query: the rows joined, filtered, sorted,
// cut to the window and projected to the requested fields and those of the
// joins. Rows that tie keep the order of the table; use [Verify] for an answer
// that may order them differently.
func Query(tables Tables, req *wire.QueryRequest) (*Table, error) {
	s, err := Reading{}.matching(tables, req)
	if err != nil {
		return nil, err
	}
	projection, err := projection(s.table, req)
	if err != nil {
		return nil, err
	}
	from, to := window(len(s.table.Rows), req)
	return project(s.table.with(s.table.Rows[from:to]), projection), nil
}

// matching returns all rows that match, sorted, with all their columns.
func (r Reading) matching(tables Tables, req *wire.QueryRequest) (sorted, error) {
	t, err := tables.table(req.Table)
	if err != nil {
		return sorted{}, err
	}
	// Filters name fields of the base table only, so they can be applied first.
	if t, err = r.filter(t, req.Where); err != nil {
		return sorted{}, err
	}
	if t, err = r.join(tables, t, req.Joins, req.FieldTypes); err != nil {
		return sorted{}, err
	}
	return r.sort(t, req.Sort, req.FieldTypes)
}

// window returns the range of n rows that the offset and limit of a query select.
func window(n int, req *wire.QueryRequest) (from, to int) {
	from, to = n, n
	if req.Offset < int64(n) {
		from = int(req.Offset)
	}
	if req.Limit > 0 && req.Limit < int64(to-from) {
		to = from + int(req.Limit)
	}
	return from, to
}

// projection returns the columns of an answer: the fields, then those of each
// hop under their "as".
func projection(t *Table, req *wire.QueryRequest) ([]int, error) {
	columns := []int{}
	for _, field := range req.Fields {
		i := t.baseIndex(field)
		if i < 0 {
			return nil, &UnknownField{Table: t.Name, Field: field, Where: "fields"}
		}
		columns = append(columns, i)
	}
	for n, hop := range req.Joins {
		for _, f := range hop.Fields {
			name := f.As
			if name == "" {
				name = f.Field
			}
			i := t.hopIndex(name, n+1)
			if i < 0 {
				return nil, &UnknownField{Table: t.Name, Field: name, Where: "join"}
			}
			columns = append(columns, i)
		}
	}
	seen := map[string]bool{}
	for _, i := range columns {
		if seen[t.Columns[i].Name] {
			return nil, &Malformed{Detail: "fields: two columns are named " + t.Columns[i].Name}
		}
		seen[t.Columns[i].Name] = true
	}
	return columns, nil
}

func (t *Table) hopIndex(name string, hop int) int {
	for i, c := range t.Columns {
		if c.Name == name && c.Hop == hop {
			return i
		}
	}
	return -1
}

func project(t *Table, columns []int) *Table {
	p := t.with(make([][]wire.Value, len(t.Rows)))
	p.Columns = make([]wire.Column, len(columns))
	for i, column := range columns {
		p.Columns[i] = t.Columns[column]
	}
	for n, row := range t.Rows {
		p.Rows[n] = make([]wire.Value, len(columns))
		for i, column := range columns {
			p.Rows[n][i] = cell(row, column)
		}
	}
	return p
}

// Count returns the right answer to a count.
func Count(tables Tables, req *wire.CountRequest) (int64, error) {
	t, err := tables.table(req.Table)
	if err != nil {
		return 0, err
	}
	matching, err := Reading{}.filter(t, req.Where)
	if err != nil {
		return 0, err
	}
	return int64(len(matching.Rows)), nil
}

// Finish does what the platform does with the rows of a stream: it applies the
// filters, the sort and the window that the connector did not serve, then the
// projection. Rows are positional in t.Columns; columns of a join have the
// number of their hop. Finish returns an *UnknownField if a part that is not
// served needs a column that the rows lack.
func Finish(t *Table, req *wire.QueryRequest, served wire.Served) (*Table, error) {
	// The window counts only if filters and sort are served too. A request
	// without sort keys counts as sorted [rule stream-2].
	ordered := served.Sort || len(req.Sort) == 0
	cut := served.Window && served.Filters && ordered
	var err error
	if !served.Filters {
		if t, err = (Reading{}).filter(t, req.Where); err != nil {
			return nil, err
		}
	}
	if !ordered {
		if t, err = Sort(t, req.Sort, req.FieldTypes); err != nil {
			return nil, err
		}
	}
	if !cut {
		from, to := window(len(t.Rows), req)
		t = t.with(t.Rows[from:to])
	}
	columns, err := projection(t, req)
	if err != nil {
		return nil, err
	}
	return project(t, columns), nil
}
