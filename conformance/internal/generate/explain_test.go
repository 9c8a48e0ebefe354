package generate

import (
	"testing"
	"time"

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
		{"M11", "one filter in a group, which is answered rightly as a conjunct", func(q *Question) { q.Or = [][]wire.Filter{{open}} }},
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
		require.Equal(t, c.want, describeWhere(ordered(func(q *Question) { q.Where = c.where })))
	}
}

// TestMisreadZones requires that an answer which operands in a local zone give is explained by the zone.
func TestMisreadZones(t *testing.T) {
	described := &wire.Table{Name: "visits", PrimaryKey: []string{"at"}, Fields: []wire.Field{{Name: "at", Type: wire.TypeDatetime}}}
	all := &oracle.Table{Name: "visits", Columns: described.Columns(), PrimaryKey: described.PrimaryKey}
	instant := func(at time.Time) wire.Value { return wire.Text(at.Format(time.RFC3339)) } // as it crosses the wire
	noon := time.Date(2024, 3, 31, 12, 0, 0, 0, time.UTC)
	for quarter := range 4 * 48 {
		all.Rows = append(all.Rows, []wire.Value{instant(noon.Add(time.Duration(quarter-96) * 15 * time.Minute))})
	}
	q := &Question{Subject: NewSubject(all, described), Path: wire.PathQuery}
	q.And = []wire.Filter{{Field: "at", Op: wire.OpGte, Value: instant(noon)}}
	for zone, offset := range map[string]time.Duration{
		"+02:00": 2 * time.Hour, "-01:00": -time.Hour, "+05:45": 345 * time.Minute, "-09:30": -570 * time.Minute, "+08:00": 8 * time.Hour,
	} {
		from := noon.Add(-offset) // what noon in the zone is in UTC
		as := q.misreading(func(rows [][]wire.Value) bool {
			return len(rows) > 0 && rows[0][0].String() == instant(from).String()
		})
		require.Equal(t, "operands were read in "+zone, as)
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
