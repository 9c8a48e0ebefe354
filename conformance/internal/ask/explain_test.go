package ask

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/internal/exam"
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// ordered returns a question about a table of three rows with a key.
func ordered(change func(q *exam.Question)) *exam.Question {
	described := &wire.Table{Name: "orders", PrimaryKey: []string{"id"}, Fields: []wire.Field{
		{Name: "id", Type: wire.TypeNumber}, {Name: "state", Type: wire.TypeString},
	}}
	rows := [][]wire.Value{
		{wire.Int(1), wire.Text("open")}, {wire.Int(2), wire.Text("paid")}, {wire.Int(3), wire.Null()},
	}
	t := &oracle.Table{Name: "orders", Columns: described.Columns(), PrimaryKey: described.PrimaryKey, Rows: rows}
	q := &exam.Question{Subject: exam.NewSubject(t, described), Path: wire.PathQuery}
	change(q)
	return q
}

// TestCauseOf requires that what is left of a question names the check that it is for:
// single filters before several, reads before windows.
func TestCauseOf(t *testing.T) {
	open := wire.Filter{Field: "state", Op: wire.OpEq, Value: wire.Text("open")}
	sort := []wire.SortKey{{Field: "id", Dir: wire.Asc}}
	for _, test := range []struct {
		cause, why string
		change     func(q *exam.Question)
	}{
		{"M7", "some columns and nothing else", func(*exam.Question) {}},
		{"L2", "one filter", func(q *exam.Question) { q.And = []wire.Filter{open} }},
		{"M11", "one filter in a group, which is answered rightly as a conjunct", func(q *exam.Question) { q.Or = [][]wire.Filter{{open}} }},
		{"M11", "two filters", func(q *exam.Question) { q.And = []wire.Filter{open, open} }},
		{"M11", "one filter in and, one in or", func(q *exam.Question) { q.And, q.Or = []wire.Filter{open}, [][]wire.Filter{{open}} }},
		{"M12", "a sort over a filter", func(q *exam.Question) { q.And, q.Sort = []wire.Filter{open}, sort }},
		{"M12", "a limit over two filters", func(q *exam.Question) { q.And, q.Limit = []wire.Filter{open, open}, 1 }},
		{"L6", "a page under a key", func(q *exam.Question) { q.Sort, q.Offset = sort, 1 }},
		{"L7", "a sort alone", func(q *exam.Question) { q.Sort = sort }},
		{"M20", "a window alone", func(q *exam.Question) { q.Limit = 2 }},
		{"L3", "a count of all", func(q *exam.Question) { q.Path = wire.PathCount }},
		{"M10", "a count of a filter", func(q *exam.Question) { q.Path, q.And = wire.PathCount, []wire.Filter{open} }},
		{"M11", "a count of two filters", func(q *exam.Question) { q.Path, q.And = wire.PathCount, []wire.Filter{open, open} }},
		{"L8", "groups", func(q *exam.Question) {
			q.Path, q.Groups = wire.PathAggregate, []wire.GroupKey{{Field: "state", As: "g"}}
		}},
		{"M24", "periods", func(q *exam.Question) {
			q.Path, q.Groups = wire.PathAggregate, []wire.GroupKey{{Field: "id", As: "h"}, {Field: "state", As: "g", Grain: wire.GrainDay}}
		}},
		{"M10", "periods of a filter", func(q *exam.Question) {
			q.Path, q.And, q.Groups = wire.PathAggregate, []wire.Filter{open}, []wire.GroupKey{{Field: "state", As: "g", Grain: wire.GrainDay}}
		}},
	} {
		require.Equal(t, test.cause, causeOf(ordered(test.change)), test.why)
	}
}

// TestDescribeWhere requires that a finding names the or of a question, also one with a single group.
func TestDescribeWhere(t *testing.T) {
	open := wire.Filter{Field: "state", Op: wire.OpEq, Value: wire.Text("open")}
	first := wire.Filter{Field: "id", Op: wire.OpEq, Value: wire.Int(1)}
	for _, c := range []struct {
		want  string
		where wire.Where
	}{
		{"", wire.Where{}},
		{` where orders.state eq "open" holds`, wire.Where{And: []wire.Filter{open}}},
		{` where the only group of or (orders.state eq "open") holds`, wire.Where{Or: [][]wire.Filter{{open}}}},
		{` where orders.id eq 1 and the only group of or (orders.state eq "open") hold`,
			wire.Where{And: []wire.Filter{first}, Or: [][]wire.Filter{{open}}}},
		{` where orders.id eq 1 and one of 2 groups of or hold`, wire.Where{And: []wire.Filter{first}, Or: [][]wire.Filter{{open}, {first}}}},
	} {
		require.Equal(t, c.want, describeWhere(ordered(func(q *exam.Question) { q.Where = c.where })))
	}
}

// TestLostRow requires that a row of an answer is taken for one that the whole read lost by
// its key alone: another value in a known row is the fault of the answer.
func TestLostRow(t *testing.T) {
	q := ordered(func(*exam.Question) {})
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
	q := ordered(func(q *exam.Question) {
		q.And = []wire.Filter{{Field: "state", Op: wire.OpEq, Value: wire.Text("open")}}
	})
	right, wrong := *q.Table, *q.Table
	right.Rows, wrong.Rows = q.Table.Rows[:1], q.Table.Rows[1:2]
	require.Empty(t, byClaim(q, &right, wire.Served{}))
	require.Empty(t, byClaim(q, &right, wire.Served{Filters: true}))
	require.Contains(t, byClaim(q, &wrong, wire.Served{Filters: true}), "the platform does not filter again")
	require.Contains(t, byClaim(q, &wrong, wire.Served{}), "leave its operator out of capabilities.operators")
}

// TestBesideOthers: one wrong answer beside others may be data that moved there and back; several are
// the connector's.
func TestBesideOthers(t *testing.T) {
	a := &Runner{beside: besideOthers - 1, wrongBeside: &Complaint{Finding: check.Fail("57 rows are counted as 114")}}
	require.Nil(t, a.Beside())
	a.beside++
	require.Equal(t, "3 answers were wrong beside other requests, and right when they were asked for alone; the first: 57 rows are counted as 114",
		a.Beside().Detail)
}
