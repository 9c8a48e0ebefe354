package sqlsourcetest

import (
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// answer is rows as they must come: in this order where it is a total one.
type answer struct {
	rows    [][]wire.Value
	ordered bool
	matched int // rows that the filters keep
}

// query answers in memory what the engine is asked (R10): filter judges and
// orders, kit joins.
func (f *fixture) query(req *wire.QueryRequest) (answer, error) {
	t := f.tables[req.Table]
	match, err := filter.Compile(req.Where, t.columns)
	if err != nil {
		return answer{}, err
	}
	order, err := filter.CompileOrder(req.Sort, t.columns, nil, t.key)
	if err != nil {
		return answer{}, err
	}
	var rows [][]wire.Value
	for _, row := range t.rows {
		if match.Match(row) {
			rows = append(rows, row)
		}
	}
	a := answer{matched: len(rows), ordered: t.key != nil && len(req.Joins) == 0 && (len(req.Sort) > 0 || req.Limit > 0 || req.Offset > 0)}
	slices.SortStableFunc(rows, order.Compare)
	columns := t.columns
	if len(req.Joins) > 0 {
		var hops []memsource.Relation
		for _, j := range req.Joins {
			hops = append(hops, f.tables[j.ToTable].relation())
		}
		base := memsource.Relation{Columns: t.columns, Rows: memsource.RowsOf(rows...)}
		joins := memsource.JoinRequest{Table: req.Table, Fields: req.Fields, FieldTypes: req.FieldTypes, Joins: req.Joins}
		joined, err := memsource.Join(base, joins, hops, memsource.Unlimited)
		if err != nil {
			return a, err
		}
		columns, rows = joined.Columns, nil
		for row, err := range joined.Rows {
			if err != nil {
				return a, err
			}
			rows = append(rows, slices.Clone(row))
		}
	}
	var at []int
	for _, name := range req.Fields {
		at = append(at, slices.IndexFunc(columns, func(c wire.Column) bool { return c.Hop == 0 && c.Name == name }))
	}
	for i, j := range req.Joins {
		for _, jf := range j.Fields {
			at = append(at, slices.IndexFunc(columns, func(c wire.Column) bool { return c.Hop == i+1 && c.Name == jf.As }))
		}
	}
	for _, row := range rows {
		projected := make([]wire.Value, len(at))
		for i, n := range at {
			projected[i] = row[n]
		}
		a.rows = append(a.rows, projected)
	}
	return a, nil
}

// window cuts rows.
func window(rows [][]wire.Value, offset, limit int64) [][]wire.Value {
	rows = rows[min(offset, int64(len(rows))):]
	if limit > 0 {
		rows = rows[:min(limit, int64(len(rows)))]
	}
	return rows
}

// spell is a row as it crosses the wire.
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

func spellAll(rows [][]wire.Value) []string {
	list := make([]string, len(rows))
	for i, row := range rows {
		list[i] = spell(row)
	}
	return list
}

// without is the multiset a without b.
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

func some(list []string) string {
	if len(list) > 5 {
		list = append(slices.Clone(list[:5]), "...")
	}
	return "\n\t" + strings.Join(list, "\n\t")
}
