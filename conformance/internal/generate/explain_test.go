package generate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// ordered returns a question about a table of three rows with a key.
func ordered(change func(q *Question)) *Question {
	described := &wire.Table{Name: "orders", PrimaryKey: []string{"id"}, Fields: []wire.Field{
		{Name: "id", Type: wire.TypeNumber}, {Name: "state", Type: wire.TypeString},
	}}
	rows := [][]wire.Value{
		{wire.Int(1), wire.Text("open")}, {wire.Int(2), wire.Text("paid")}, {wire.Int(3), wire.Null()},
	}
	t := &oracle.Table{Name: "orders", Columns: described.Columns(), PrimaryKey: described.PrimaryKey, Rows: rows}
	q := &Question{Subject: NewSubject(t, described), Path: wire.PathQuery}
	change(q)
	return q
}

// TestCauseOf requires that what is left of a question names the check that it is for:
// single filters before several, reads before windows.
func TestCauseOf(t *testing.T) {
	open := wire.Filter{Field: "state", Op: wire.OpEq, Value: wire.Text("open")}
	sort := []wire.SortKey{{Field: "id", Dir: wire.Asc}}
	tests := []struct {
		cause, why string
		change     func(q *Question)
	}{
		{"M7", "some columns and nothing else", func(*Question) {}},
		{"L2", "one filter", func(q *Question) { q.And = []wire.Filter{open} }},
		{"L2", "one filter in a group", func(q *Question) { q.Or = [][]wire.Filter{{open}} }},
		{"M11", "two filters", func(q *Question) { q.And = []wire.Filter{open, open} }},
		{"M11", "one filter in and, one in or", func(q *Question) { q.And, q.Or = []wire.Filter{open}, [][]wire.Filter{{open}} }},
		{"M12", "a sort over a filter", func(q *Question) { q.And, q.Sort = []wire.Filter{open}, sort }},
		{"M12", "a limit over two filters", func(q *Question) { q.And, q.Limit = []wire.Filter{open, open}, 1 }},
		{"L6", "a page under a key", func(q *Question) { q.Sort, q.Offset = sort, 1 }},
		{"L7", "a sort alone", func(q *Question) { q.Sort = sort }},
		{"M20", "a window alone", func(q *Question) { q.Limit = 2 }},
		{"L3", "a count of all", func(q *Question) { q.Path = wire.PathCount }},
		{"M10", "a count of a filter", func(q *Question) { q.Path, q.And = wire.PathCount, []wire.Filter{open} }},
		{"M11", "a count of two filters", func(q *Question) { q.Path, q.And = wire.PathCount, []wire.Filter{open, open} }},
		{"L8", "groups", func(q *Question) {
			q.Path, q.Groups = wire.PathAggregate, []wire.GroupKey{{Field: "state", As: "g"}}
		}},
		{"M24", "periods", func(q *Question) {
			q.Path, q.Groups = wire.PathAggregate, []wire.GroupKey{{Field: "id", As: "h"}, {Field: "state", As: "g", Grain: wire.GrainDay}}
		}},
		{"M10", "periods of a filter", func(q *Question) {
			q.Path, q.And, q.Groups = wire.PathAggregate, []wire.Filter{open}, []wire.GroupKey{{Field: "state", As: "g", Grain: wire.GrainDay}}
		}},
	}
	for _, test := range tests {
		require.Equal(t, test.cause, causeOf(ordered(test.change)), test.why)
	}
}

// TestLostRow requires that a row of an answer is taken for one that the whole read lost by
// its key alone: another value in a known row is the fault of the answer.
func TestLostRow(t *testing.T) {
	q := ordered(func(*Question) {})
	answer := func(columns []wire.Column, rows ...[]wire.Value) *oracle.Table {
		return &oracle.Table{Name: "orders", Columns: columns, Rows: rows}
	}
	all := q.Table.Columns
	require.Equal(t, -1, lostRow(q, answer(all)), "no rows")
	require.Equal(t, -1, lostRow(q, answer(all, []wire.Value{wire.Int(2), wire.Text("open")})), "a known key")
	require.Equal(t, -1, lostRow(q, answer(all, []wire.Value{wire.Text("2"), wire.Null()})), "a known key, spelled otherwise")
	require.Equal(t, 1, lostRow(q, answer(all, []wire.Value{wire.Int(1), wire.Null()}, []wire.Value{wire.Int(9), wire.Text("open")})))
	turned := []wire.Column{all[1], all[0]}
	require.Equal(t, 0, lostRow(q, answer(turned, []wire.Value{wire.Text("1"), wire.Int(9)})), "columns in another order")
	require.Equal(t, -1, lostRow(q, answer(all[1:], []wire.Value{wire.Text("new")})), "without the key nothing tells")
	q.Table.PrimaryKey = nil
	require.Equal(t, -1, lostRow(q, answer(all, []wire.Value{wire.Int(9), wire.Text("open")})), "no key is declared")
}

// TestByClaim requires that a row that passes no filter is explained by what is claimed.
func TestByClaim(t *testing.T) {
	q := ordered(func(q *Question) {
		q.And = []wire.Filter{{Field: "state", Op: wire.OpEq, Value: wire.Text("open")}}
	})
	right, wrong := *q.Table, *q.Table
	right.Rows, wrong.Rows = q.Table.Rows[:1], q.Table.Rows[1:2]
	require.Empty(t, byClaim(q, &right, wire.Served{}))
	require.Empty(t, byClaim(q, &right, wire.Served{Filters: true}))
	require.Contains(t, byClaim(q, &wrong, wire.Served{Filters: true}), "the platform does not filter again")
	require.Contains(t, byClaim(q, &wrong, wire.Served{}), "leave its operator out of capabilities.operators")
}
