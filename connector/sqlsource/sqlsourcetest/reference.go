package sqlsourcetest

import (
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// answer is the rows that an answer must have, in this order if ordered. If the
// sort descends at last, they may also have the order of reversed, whose ties
// descend as well.
type answer struct {
	rows     [][]wire.Value
	reversed [][]wire.Value
	ordered  bool
}

// query answers in memory what the engine is asked, without a window.
func (f *fixture) query(req *wire.QueryRequest) (answer, error) {
	key := f.tables[req.Table].key
	fixed := len(req.Sort) > 0 || req.Limit > 0 || req.Offset > 0
	a := answer{ordered: fixed && key != nil && len(req.Joins) == 0}
	var err error
	if a.rows, err = f.sorted(req, key, wire.Asc); err != nil {
		return a, err
	}
	if a.ordered && len(req.Sort) > 0 && req.Sort[len(req.Sort)-1].Dir == wire.Desc {
		a.reversed, err = f.sorted(req, key, wire.Desc)
	}
	return a, err
}

// sorted answers a query whose ties are broken by the key in this direction.
func (f *fixture) sorted(req *wire.QueryRequest, key []string, dir wire.Direction) ([][]wire.Value, error) {
	whole := *req
	whole.Limit, whole.Offset, whole.Sort = 0, 0, slices.Clone(req.Sort)
	for _, name := range key {
		whole.Sort = append(whole.Sort, wire.SortKey{Field: name, Dir: dir})
	}
	found, err := oracle.Query(f.known, &whole)
	if err != nil {
		return nil, err
	}
	return found.Rows, nil
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
