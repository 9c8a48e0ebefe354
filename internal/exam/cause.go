package exam

import (
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// RowsAsIf returns the misreading of the question's only filter that gives the rows of an answer to req,
// the question's request or one for more fields; "" if no misreading does.
func (q *Question) RowsAsIf(req *wire.QueryRequest, answer *oracle.Table) string {
	if req.Limit+req.Offset > 0 {
		return ""
	}
	right := &wire.QueryRequest{Table: req.Table, Where: req.Where, Fields: req.Fields}
	if len(req.Sort) > 0 && oracle.Verify(q.Known(), right, answer.Rows) == nil {
		return "" // their order alone is wrong
	}
	all := &wire.QueryRequest{Table: req.Table, Fields: req.Fields}
	return q.misreading(func(rows [][]wire.Value) bool {
		if len(rows) != len(answer.Rows) {
			return false
		}
		table := *q.Table
		table.Rows = rows
		return oracle.Verify(oracle.Tables{table.Name: &table}, all, answer.Rows) == nil
	})
}

// CountAsIf returns the misreading of the question's only filter that keeps n rows, or "".
func (q *Question) CountAsIf(n int64) string {
	return q.misreading(func(rows [][]wire.Value) bool { return int64(len(rows)) == n })
}

// misreading returns how the answer to a question with a single filter can be explained,
// or "": same reports whether the rows of a misreading are those of the answer.
func (q *Question) misreading(same func(rows [][]wire.Value) bool) string {
	if len(q.And) != 1 || len(q.Or) > 0 {
		return ""
	}
	f, c := q.And[0], q.column(q.And[0].Field)
	cells := witnessing(cellsOf(q.Table, c.at))
	for m := range explanations {
		wrong := cells.misread(m, f, c.Type)
		if wrong == nil {
			continue
		}
		var rows [][]wire.Value
		for i, row := range q.Table.Rows {
			if wrong(i) {
				rows = append(rows, row)
			}
		}
		if same(rows) {
			return m.as
		}
	}
	return ""
}

// explanations yields the misreadings, and then those of all other time zones. No operands are chosen by the
// latter, because the hours that zones move an instant by show alike.
func explanations(yield func(*misreading) bool) {
	for _, list := range [][]misreading{misreadings, zoneMisreadings} {
		for i := range list {
			if !yield(&list[i]) {
				return
			}
		}
	}
}
