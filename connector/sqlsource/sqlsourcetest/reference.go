package sqlsourcetest

import (
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/internal/measures"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// answer is the rows that an answer must have, in this order if ordered. If the
// sort descends at last, they may also have the order of reversed, whose ties
// descend as well.
type answer struct {
	rows     [][]wire.Value
	reversed [][]wire.Value
	ordered  bool
	matched  int // rows that the filters keep
}

// query answers in memory what the engine is asked. Package filter evaluates the
// filters and sorts, package measures joins.
func (f *fixture) query(req *wire.QueryRequest) (answer, error) {
	a, err := f.sorted(req, req.Sort)
	if err != nil || !a.ordered || len(req.Sort) == 0 || req.Sort[len(req.Sort)-1].Dir != wire.Desc {
		return a, err
	}
	reversed := slices.Clone(req.Sort)
	for _, name := range f.tables[req.Table].key {
		reversed = append(reversed, wire.SortKey{Field: name, Dir: wire.Desc})
	}
	other, err := f.sorted(req, reversed)
	a.reversed = other.rows
	return a, err
}

// sorted answers a query with another sort than its own.
func (f *fixture) sorted(req *wire.QueryRequest, sort []wire.SortKey) (answer, error) {
	t := f.tables[req.Table]
	match, err := filter.Compile(req.Where, t.columns)
	if err != nil {
		return answer{}, err
	}
	order, err := filter.CompileOrder(sort, t.columns, nil, t.key)
	if err != nil {
		return answer{}, err
	}
	var rows [][]wire.Value
	for _, row := range t.rows {
		ok, err := match.Match(row)
		if err != nil {
			return answer{}, err
		}
		if ok {
			rows = append(rows, row)
		}
	}
	fixed := len(req.Sort) > 0 || req.Limit > 0 || req.Offset > 0
	a := answer{matched: len(rows), ordered: fixed && t.key != nil && len(req.Joins) == 0}
	slices.SortStableFunc(rows, order.Compare)
	joined := relation.Relation{Columns: t.columns, Rows: relation.RowsOf(rows...)}
	if len(req.Joins) > 0 {
		if joined, err = f.join(joined, req); err != nil {
			return a, err
		}
	}
	at := positions(joined.Columns, req)
	for row, err := range joined.Rows {
		if err != nil {
			return a, err
		}
		projected := make([]wire.Value, len(at))
		for i, n := range at {
			projected[i] = row[n]
		}
		a.rows = append(a.rows, projected)
	}
	return a, nil
}

// join joins the rows of a query's base table in memory.
func (f *fixture) join(base relation.Relation, req *wire.QueryRequest) (relation.Relation, error) {
	var hops []relation.Relation
	for _, j := range req.Joins {
		hops = append(hops, f.tables[j.ToTable].relation())
	}
	return measures.Join(base, relation.JoinRequest{
		Table: req.Table, Fields: req.Fields, FieldTypes: req.FieldTypes, Joins: req.Joins,
	}, hops, measures.Unlimited)
}

// positions returns where the requested fields are among the columns.
func positions(columns []wire.Column, req *wire.QueryRequest) (at []int) {
	find := func(hop int, name string) {
		at = append(at, slices.IndexFunc(columns, func(c wire.Column) bool { return c.Hop == hop && c.Name == name }))
	}
	for _, name := range req.Fields {
		find(0, name)
	}
	for i, j := range req.Joins {
		for _, field := range j.Fields {
			find(i+1, field.As)
		}
	}
	return at
}

// window returns the rows of a window.
func window(rows [][]wire.Value, offset, limit int64) [][]wire.Value {
	rows = rows[min(offset, int64(len(rows))):]
	if limit > 0 {
		rows = rows[:min(limit, int64(len(rows)))]
	}
	return rows
}

// spell returns a row as it is sent.
func spell(row []wire.Value) string {
	var b []byte
	for _, v := range row {
		var err error
		if b, err = v.AppendJSON(b); err != nil {
			b = append(b, "INVALID"...)
		}
		b = append(b, '\t')
	}
	return string(b)
}

// spellAll returns rows as they are sent.
func spellAll(rows [][]wire.Value) []string {
	list := make([]string, len(rows))
	for i, row := range rows {
		list[i] = spell(row)
	}
	return list
}

// without returns the multiset a without b.
func without(a, b []string) []string {
	count := map[string]int{}
	for _, s := range b {
		count[s]++
	}
	var left []string
	for _, s := range a {
		if count[s]--; count[s] < 0 {
			left = append(left, s)
		}
	}
	return left
}

// some returns the first of a list, each on a line of its own.
func some(list []string) string {
	if len(list) > 5 {
		list = append(slices.Clone(list[:5]), "...")
	}
	return "\n\t" + strings.Join(list, "\n\t")
}
