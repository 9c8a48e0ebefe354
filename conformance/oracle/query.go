package oracle

import "github.com/connectorsdk/connector-sdk-go/wire"

// Query answers a query as the platform wants it in the end: joined, filtered,
// sorted, cut to the window, and projected to the requested fields and those of
// the joins. Rows that tie stand in the order of the table; use [Verify] for an
// answer that may order them otherwise.
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

// matching is every row that matches, sorted, in full width.
func (r Reading) matching(tables Tables, req *wire.QueryRequest) (sorted, error) {
	t, err := tables.table(req.Table)
	if err != nil {
		return sorted{}, err
	}
	// Filters name fields of the base table only, so they may go first (B6).
	if t, err = r.filter(t, req.And, req.Or, req.FieldTypes); err != nil {
		return sorted{}, err
	}
	if t, err = r.join(tables, t, req.Joins, req.FieldTypes); err != nil {
		return sorted{}, err
	}
	return r.sort(t, req.Sort, req.FieldTypes)
}

// window is the part of n rows that a query asks for (B4).
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

// projection is the columns of an answer: the fields, then those of each hop
// under their "as" (B5).
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
			return nil, &Malformed{Detail: "fields: the name " + t.Columns[i].Name + " stands for two columns"}
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
	p := &Table{Name: t.Name, PrimaryKey: t.PrimaryKey, Columns: make([]wire.Column, len(columns)), Rows: make([][]wire.Value, len(t.Rows))}
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

// Count answers a count.
func Count(tables Tables, req *wire.CountRequest) (int64, error) {
	t, err := tables.table(req.Table)
	if err != nil {
		return 0, err
	}
	matching, err := Filter(t, req.And, req.Or, req.FieldTypes)
	if err != nil {
		return 0, err
	}
	return int64(len(matching.Rows)), nil
}

// Finish does with a stream what the platform does: it applies the filters, the
// sort and the window that served leaves open, then the projection (C2). Rows
// are positional in t.Columns; those of a join carry the number of their hop.
// It fails with *UnknownField when a part that is left open needs a column that
// the rows lack.
func Finish(t *Table, req *wire.QueryRequest, served wire.Served) (*Table, error) {
	// The window is honoured only when filters and sort are served too, and a
	// request without a sort counts as sorted.
	ordered := served.Sort || len(req.Sort) == 0
	cut := served.Window && served.Filters && ordered
	var err error
	if !served.Filters {
		if t, err = Filter(t, req.And, req.Or, req.FieldTypes); err != nil {
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
