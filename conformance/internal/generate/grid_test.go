package generate

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// small returns a table whose values a careless comparison mixes up.
func small() *Subject {
	rows := [][]wire.Value{
		{wire.Int(1), wire.Text("open"), wire.Decimal("1.50"), wire.Text("2024-05-01T00:00:00.000Z")},
		{wire.Int(2), wire.Text("Open"), wire.Decimal("1.5"), wire.Text("2024-05-01T00:30:00.250Z")},
		{wire.Int(3), wire.Text("a_b"), wire.Decimal("-2.00"), wire.Text("2024-05-01T23:30:00.000Z")},
		{wire.Int(4), wire.Text("axb"), wire.Decimal("10.00"), wire.Null()},
		{wire.Int(5), wire.Text(""), wire.Null(), wire.Text("2024-06-01T12:00:00.500Z")},
		{wire.Int(6), wire.Null(), wire.Decimal("9.25"), wire.Text("2024-06-01T12:00:00.000Z")},
	}
	described := &wire.Table{Name: "small", PrimaryKey: []string{"id"}, Fields: []wire.Field{
		{Name: "id", Type: wire.TypeNumber}, {Name: "status", Type: wire.TypeString},
		{Name: "cost", Type: wire.TypeDecimal}, {Name: "at", Type: wire.TypeDatetime},
	}}
	return NewSubject(&oracle.Table{Name: "small", Columns: described.Columns(), PrimaryKey: described.PrimaryKey, Rows: rows}, described)
}

func gridOf(s *Subject, ops ...wire.Op) *Grid {
	return New(7, "test", wire.Capabilities{Operators: ops, Sort: wire.SortMulti, Offset: true}, []*Subject{s}).Grid()
}

func TestGridAsksEachCellOnceBeforeAnyTwice(t *testing.T) {
	g := gridOf(small(), wire.OpEq, wire.OpGte, wire.OpIn, wire.OpIncludes, wire.OpIsNull)
	seen := map[string]int{}
	for range 2 * g.Cells() {
		q := g.Next(wire.PathQuery)
		if q == nil {
			break
		}
		require.Len(t, q.And, 1)
		require.Contains(t, q.Fields, q.And[0].Field)
		require.Contains(t, q.Fields, "id", "the key shows which rows are answered")
		cell := q.And[0].Field + " " + string(q.And[0].Op)
		if len(seen) < g.Cells()-1 { // a key without nulls cannot show what isnull does to them
			require.Zero(t, seen[cell], cell)
		}
		seen[cell]++
	}
	require.GreaterOrEqual(t, len(seen), g.Cells()-1)
}

func TestGridShowsMisreadings(t *testing.T) {
	tests := []struct {
		field string
		op    wire.Op
		as    []string
	}{
		{"status", wire.OpEq, []string{"texts were compared without case", "the operand were written in lower case", "eq were startswith"}},
		{"status", wire.OpNin, []string{"neq and nin kept or dropped nulls the other way round", "only the first member of the list counted",
			"the operand were written in lower case"}},
		{"at", wire.OpIn, []string{"the operand were an hour later", "the operand had no fraction of a second"}},
		{"status", wire.OpStartsWith, []string{"_ were a wildcard", "texts were compared without case", "startswith were includes"}},
		{"status", wire.OpIsNull, []string{"the empty text were null"}},
		{"cost", wire.OpGt, []string{"gt were gte", "numbers were compared as texts"}},
		{"cost", wire.OpEq, []string{"numbers were compared as texts", "the operand were rounded down to an integer"}},
		{"at", wire.OpGte, []string{"the operand were an hour later", "gte were gt", "instants were cut to the day"}},
		{"at", wire.OpLte, []string{"the operand were cut to the day", "lte were lt", "nulls were in the range"}},
	}
	for _, test := range tests {
		s := small()
		g := gridOf(s, test.op)
		shown := map[string]bool{}
		c := g.Cell("small", wire.Filter{Field: test.field, Op: test.op})
		c.plan()
		for _, f := range c.filters {
			for _, m := range f.shows {
				shown[m.as] = true
			}
		}
		for _, as := range test.as {
			require.True(t, shown[as], "%s %s: as if %s", test.field, test.op, as)
		}
	}
}

func TestMisread(t *testing.T) {
	s := small()
	q := &Question{Subject: s, Where: wire.Where{And: []wire.Filter{{Field: "status", Op: wire.OpEq, Value: wire.Text("open")}}}}
	as := q.Misread(func(rows [][]wire.Value) bool { return len(rows) == 2 && rows[1][0] == wire.Int(2) })
	require.Equal(t, "texts were compared without case", as)
	require.Empty(t, q.Misread(func([][]wire.Value) bool { return false }))
}

// TestPacks requires that a pack keeps a row, so that a filter that loses it shows.
func TestPacks(t *testing.T) {
	g := gridOf(small(), wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpLte, wire.OpIn, wire.OpStartsWith, wire.OpNotNull)
	packs := g.Packs(4)
	require.NotEmpty(t, packs)
	for _, q := range packs {
		kept, err := oracle.Filter(q.Table, q.And, nil, nil)
		require.NoError(t, err)
		require.NotEmpty(t, kept.Rows)
	}
}

// TestCombinations requires that each filter of a combination matters.
func TestCombinations(t *testing.T) {
	g := ofCorpus(5, "combined")
	list := g.Combinations(func(*Question) bool { return false })
	require.Greater(t, len(list), 40)
	oneField := 0
	for _, q := range list {
		whole := q.matching(q.And, q.Or)
		for i := range q.And {
			require.NotEqual(t, whole, q.matching(slices.Delete(slices.Clone(q.And), i, i+1), q.Or), "%v", q.Where)
		}
		if len(q.Or) > 1 {
			for i := range q.Or {
				require.NotEqual(t, whole, q.matching(q.And, slices.Delete(slices.Clone(q.Or), i, i+1)), "%v", q.Where)
			}
		}
		if len(q.And) == 2 && q.And[0].Field == q.And[1].Field {
			oneField++
		}
	}
	require.Positive(t, oneField)
}
