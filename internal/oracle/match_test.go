package oracle_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Short names, because the tables below are long.
var (
	null = wire.Null()
	txt  = wire.Text
	num  = wire.Int
	flt  = wire.Float
	dec  = wire.Decimal
	yes  = wire.Bool(true)
)

const (
	str, number, decimal, boolean = wire.TypeString, wire.TypeNumber, wire.TypeDecimal, wire.TypeBoolean
	date, datetime, jsonT, array  = wire.TypeDate, wire.TypeDatetime, wire.TypeJSON, wire.TypeArray
	reference, undeclared         = wire.TypeReference, wire.Type("")
)

func list(values ...wire.Value) []wire.Value { return values }

// TestFilter has what the rules of filters leave to a judge: requests that have no answer, and
// the first row that does not match. TestFilterVectors has the rules themselves.
func TestFilter(t *testing.T) {
	table := &oracle.Table{
		Name:    "t",
		Columns: []wire.Column{{Name: "id", Type: number}, {Name: "n", Type: number}, {Name: "s", Type: str}, {Name: "u"}},
		Rows: [][]wire.Value{{num(1), txt("1.0"), txt("1.0"), txt("1.0")}, {num(2), num(1), txt("1"), txt("1")},
			{num(3), null, null, null}, {num(4)}},
	}
	eq := func(field, value string) wire.Filter {
		return wire.Filter{Field: field, Op: wire.OpEq, Value: txt(value)}
	}
	isnull := func(field string) wire.Filter { return wire.Filter{Field: field, Op: wire.OpIsNull} }
	type filters = []wire.Filter
	cases := []struct {
		why   string
		and   filters
		or    []filters
		types map[string]wire.Type
		want  []int64
		err   any
	}{
		{why: "filter-1: no filter", want: []int64{1, 2, 3, 4}},
		{why: "filter-1: all of and", and: filters{eq("n", "1"), eq("s", "1")}, want: []int64{2}},
		{why: "filter-1: one group suffices", or: []filters{{eq("s", "1")}, {isnull("s")}}, want: []int64{2, 3, 4}},
		{why: "filter-1: or is one more conjunct", and: filters{eq("n", "1")}, or: []filters{{isnull("s")}, {eq("s", "1")}}, want: []int64{2}},
		{why: "filter-10: fieldTypes types what is undeclared", and: filters{eq("u", "1")},
			types: map[string]wire.Type{"u": str}, want: []int64{2}},
		{why: "filter-11: an unknown field", and: filters{eq("x", "1")}, err: &oracle.UnknownField{Table: "t", Field: "x", Where: "filter"}},
		{why: "filter-11: an unknown field in a group", or: []filters{{}, {eq("x", "1")}},
			err: &oracle.UnknownField{Table: "t", Field: "x", Where: "filter"}},
		{why: "filter-11: fieldTypes makes no field", and: filters{isnull("x")},
			types: map[string]wire.Type{"x": str}, err: &oracle.UnknownField{Table: "t", Field: "x", Where: "filter"}},
		{why: "filter-14: an unknown operator", and: filters{{Field: "s", Op: "like"}},
			err: &oracle.Malformed{Detail: `"like" is not an operator`}},
		{why: "filter-14: a value on isnull", and: filters{{Field: "s", Op: wire.OpIsNull, Value: num(1)}},
			err: &oracle.Malformed{Detail: "isnull takes no value"}},
		{why: "filter-14: values on eq", and: filters{{Field: "s", Op: wire.OpEq, Values: list(num(1))}},
			err: &oracle.Malformed{Detail: "eq takes no values"}},
	}
	for _, c := range cases {
		t.Run(c.why, func(t *testing.T) {
			got, err := oracle.Filter(table, c.and, c.or, c.types)
			if c.err != nil {
				require.Equal(t, c.err, err)
				return
			}
			require.NoError(t, err)
			var ids []int64
			for _, row := range got.Rows {
				ids = append(ids, row[0].Int64())
			}
			require.Equal(t, c.want, ids)

			at, ok := oracle.Unmatched(table, c.and, c.or, c.types)
			require.Equal(t, len(c.want) == len(table.Rows), ok)
			if !ok {
				require.NotContains(t, c.want, table.Rows[at][0].Int64())
				for _, row := range table.Rows[:at] {
					require.Contains(t, c.want, row[0].Int64(), "the first one is told")
				}
			}
		})
	}
	t.Run("what the rows lack cannot be judged", func(t *testing.T) {
		_, ok := oracle.Unmatched(table, filters{eq("x", "1")}, []filters{{eq("x", "1"), eq("n", "1")}, {eq("y", "2")}}, nil)
		require.True(t, ok)
		at, ok := oracle.Unmatched(table, nil, []filters{{eq("x", "1"), eq("n", "1")}}, nil)
		require.False(t, ok)
		require.Equal(t, 2, at)
	})
}

// TestMatchUnknown has an operator that is none, which a request cannot have.
func TestMatchUnknown(t *testing.T) {
	require.False(t, oracle.Match(txt("a"), wire.Filter{Field: "c", Op: "like", Value: txt("a")}, str))
}

// The cost of hostile operands must be linear in their length [rule filter-6d].
func TestComparingIsLinear(t *testing.T) {
	long := strings.Repeat("9", 4<<20)
	pairs := [][2]string{
		{long, long + "0"}, {"0." + long, "0." + long + "1"}, {"-" + long, long},
		{strings.Repeat("0", 4<<20) + "1", "1"}, {"1." + strings.Repeat("0", 4<<20), "1"},
		{"2024-05-01T00:00:00." + long + "Z", "2024-05-01T00:00:00." + long + "1Z"},
		{strings.Repeat("[", 4<<20), strings.Repeat("[", 4<<20)},
	}
	orders := []int{-1, -1, -1, 0, 0, -1, 0}
	for i, p := range pairs {
		typ := wire.Type("")
		if i == 5 {
			typ = datetime
		}
		order, ok := oracle.Compare(txt(p[0]), txt(p[1]), typ)
		require.True(t, ok)
		require.Equal(t, orders[i], order, "pair %d", i)
	}
	deep := txt(strings.Repeat("[", 4<<20))
	require.False(t, oracle.Match(deep, wire.Filter{Op: wire.OpContains, Value: txt("a")}, array))
	require.False(t, oracle.Match(txt(strings.Repeat("[", 2000)+strings.Repeat("]", 2000)),
		wire.Filter{Op: wire.OpContains, Value: txt("a")}, array))
	require.False(t, oracle.Same(txt("1e999999999999999999999"), txt("1e999999999999999999998"), jsonT))
	require.True(t, oracle.Same(txt("[1e99999999]"), txt("[10e99999998]"), jsonT), "an exponent is never written out")
}
