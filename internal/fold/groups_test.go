package fold

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// unlimited is a budget that nothing exceeds.
func unlimited(int) bool { return true }

// column returns rows of one cell.
func column(cells ...wire.Value) (rows [][]wire.Value) {
	for _, v := range cells {
		rows = append(rows, []wire.Value{v})
	}
	return rows
}

func texts(cells ...string) (rows [][]wire.Value) {
	for _, s := range cells {
		rows = append(rows, []wire.Value{wire.Text(s)})
	}
	return rows
}

// fns returns a measure of each function over the first cell of a row.
func fns(t wire.Type, list ...wire.AggFunc) (measures []Measure) {
	for _, fn := range list {
		measures = append(measures, Measure{Fn: fn, Type: t})
	}
	return measures
}

func TestGroups(t *testing.T) {
	text, amount := Key{Type: wire.TypeString}, Measure{Fn: wire.AggSum, At: 1, Type: wire.TypeDecimal}
	all := []wire.AggFunc{wire.AggCount, wire.AggCountDistinct, wire.AggSum, wire.AggMin, wire.AggMax}
	cases := []struct {
		why      string
		keys     []Key
		measures []Measure
		rows     [][]wire.Value
		want     string
	}{
		{"aggregate-3a: without keys there is one group, even over no rows", nil, fns(wire.TypeNumber, all...), nil,
			"[[0 0 null null null]]"},
		{"aggregate-3a: with keys there is none over no rows", []Key{text}, fns(wire.TypeNumber, all...), nil, "[]"},
		{"aggregate-1: a measure of a field skips nulls, and is null over nothing else", nil, fns(wire.TypeNumber, all...),
			column(wire.Null(), wire.Null()), "[[0 0 null null null]]"},
		{"aggregate-1: a count of rows skips none", nil, []Measure{{Fn: wire.AggCount, At: -1}, {Fn: wire.AggCount}},
			column(wire.Null(), wire.Int(1)), "[[2 1]]"},
		{"the five functions", nil, fns(wire.TypeNumber, all...), column(wire.Int(3), wire.Null(), wire.Int(3), wire.Int(10)),
			"[[3 2 16 3 10]]"},
		{"aggregate-3: null is a group of its own, and not that of the empty text", []Key{text}, []Measure{{Fn: wire.AggCount, At: -1}},
			column(wire.Null(), wire.Text(""), wire.Null(), wire.Text("null")), "[[null 2] [ 1] [null 1]]"},
		{"the order is that of the first rows, and each group has its own total", []Key{text}, []Measure{amount}, [][]wire.Value{
			{wire.Text("b"), wire.Int(1)}, {wire.Text("a"), wire.Int(10)}, {wire.Text("b"), wire.Int(2)}}, "[[b 3] [a 10]]"},
		{"two keys are not one long one", []Key{text, {At: 1, Type: wire.TypeString}}, nil, [][]wire.Value{
			{wire.Text("a"), wire.Text("bc")}, {wire.Text("ab"), wire.Text("c")}}, "[[a bc] [ab c]]"},
		{"a row that ends early has nulls", []Key{text, {At: 1, Type: wire.TypeNumber}}, []Measure{{Fn: wire.AggCount, At: 2}},
			[][]wire.Value{{wire.Text("a")}, {wire.Text("a"), wire.Null(), wire.Null()}, {wire.Text("a"), wire.Null(), wire.Int(1)}},
			"[[a null 1]]"},
		{"filter-6: numbers group by their value", []Key{{Type: wire.TypeDecimal}}, []Measure{{Fn: wire.AggCount, At: -1}},
			column(wire.Decimal("1.0"), wire.Int(1), wire.Decimal("1.00")), "[[1.0 3]]"},
		{"text groups by its bytes", []Key{text}, []Measure{{Fn: wire.AggCount, At: -1}}, texts("1.0", "1", "a", "A"),
			"[[1.0 1] [1 1] [a 1] [A 1]]"},
		{"distinct values are counted by group", []Key{{At: 1, Type: wire.TypeNumber}}, fns(wire.TypeNumber, wire.AggCountDistinct),
			[][]wire.Value{{wire.Int(7), wire.Int(1)}, {wire.Int(7), wire.Int(2)}, {wire.Decimal("7.0"), wire.Int(2)}, {wire.Int(8), wire.Int(2)}},
			"[[1 1] [2 2]]"},
		{"and by measure", nil, []Measure{{Fn: wire.AggCountDistinct, Type: wire.TypeNumber}, {Fn: wire.AggCountDistinct, Type: wire.TypeString}},
			texts("1", "1.0", "01"), "[[1 3]]"},
		{"the first of equal extremes stays", nil, fns(wire.TypeDecimal, wire.AggMin, wire.AggMax), texts("1.0", "1.00", "1"), "[[1.0 1.0]]"},
		{"numbers order by their value", nil, fns(wire.TypeNumber, wire.AggMin, wire.AggMax), texts("9", "10", "-2", "-10"), "[[-10 10]]"},
		{"text by its bytes", nil, fns(wire.TypeString, wire.AggMin, wire.AggMax), texts("9", "10", "a", "B"), "[[10 a]]"},
		{"datetimes by their instant", nil, fns(wire.TypeDatetime, wire.AggMin, wire.AggMax),
			texts("2024-01-01T00:30:00Z", "2024-01-01T01:00:00+01:00", "2024-01-01T00:59:00Z", "2024-01-01T00:00:01-00:00"),
			"[[2024-01-01T01:00:00+01:00 2024-01-01T00:59:00Z]]"},
		{"what has no type is a number if all are", nil, fns("", wire.AggMin, wire.AggMax), texts("9", "10"), "[[9 10]]"},
		{"and text if none is", nil, fns("", wire.AggMin, wire.AggMax), texts("x9", "x10"), "[[x10 x9]]"},
		{"aggregate-4: a grain groups by the first day of the period in UTC, and null stays null",
			[]Key{{Type: wire.TypeDatetime, Grain: wire.GrainQuarter}}, []Measure{{Fn: wire.AggCount, At: -1}},
			column(wire.Text("2024-04-01"), wire.Text("2024-06-30T23:59:59Z"), wire.Null(), wire.Text("2024-07-01T01:00:00+02:00")),
			"[[2024-04-01 3] [null 1]]"},
	}
	for _, c := range cases {
		g := NewGroups(c.keys, c.measures, 0, unlimited)
		buffer := make([]wire.Value, 3)
		for _, row := range c.rows {
			clear(buffer)
			require.NoError(t, g.Add(buffer[:copy(buffer, row)]), c.why)
		}
		for range 2 {
			assert.Equal(t, c.want, fmt.Sprint(g.Rows()), c.why)
		}
	}
}

func TestGroupsOfCellsWithoutAPlace(t *testing.T) {
	measure := func(fn wire.AggFunc, typ wire.Type) ([]Key, []Measure) {
		return []Key{{At: 1}}, []Measure{{Fn: wire.AggCount, At: -1}, {Fn: fn, Type: typ}}
	}
	key := func(grain wire.Grain) ([]Key, []Measure) {
		return []Key{{At: 1}, {Type: wire.TypeDatetime, Grain: grain}}, []Measure{{Fn: wire.AggCount, At: -1}}
	}
	with := func(k []Key, m []Measure) func() ([]Key, []Measure) { return func() ([]Key, []Measure) { return k, m } }
	const noNumber, noDate, unsendable = "has a value that is no number", "has a value that is no date", "has a value that cannot be sent"
	cases := []struct {
		why          string
		of           func() ([]Key, []Measure)
		rows         [][]wire.Value
		key, measure int
		problem      string
		cause        bool
	}{
		{"a sum adds numbers only", with(measure(wire.AggSum, wire.TypeNumber)), texts("1", "x"), -1, 1, noNumber, false},
		{"so has a smallest number", with(measure(wire.AggMin, wire.TypeNumber)), texts("1", "x"), -1, 1, noNumber, false},
		{"and if it came first", with(measure(wire.AggMax, wire.TypeDecimal)), texts("x"), -1, 1, noNumber, false},
		{"a date has an order among dates", with(measure(wire.AggMin, wire.TypeDate)), texts("2024-01-01", "2024-02-30"), -1, 1, noDate, false},
		{"a datetime likewise", with(measure(wire.AggMax, wire.TypeDatetime)), texts("soon"), -1, 1, noDate, false},
		{"the extreme of a mixture would depend on the order of its rows", with(measure(wire.AggMax, "")), texts("1", "x"), -1, 1,
			"declares no type and mixes numbers and other text", false},
		{"in either order", with(measure(wire.AggMax, "")), texts("x", "1"), -1, 1, "declares no type and mixes numbers and other text", false},
		{"what has no period", with(key(wire.GrainMonth)), texts("2024-01-01", "x"), 1, -1, noDate, false},
		{"a value that cannot cross the wire is in no group", with(key("")), column(wire.Float(math.NaN())), 1, -1, unsendable, true},
		{"and is not counted", with(measure(wire.AggCount, "")), column(wire.Float(math.NaN())), -1, 1, unsendable, true},
	}
	for _, c := range cases {
		keys, measures := c.of()
		g := NewGroups(keys, measures, 0, unlimited)
		var err error
		for i, row := range c.rows {
			require.NoError(t, err, "%s: row %d", c.why, i)
			err = g.Add(row)
		}
		var fault *CellError
		require.ErrorAs(t, err, &fault, c.why)
		assert.Equal(t, []int{c.key, c.measure}, []int{fault.Key, fault.Measure}, c.why)
		assert.Equal(t, "a field "+c.problem, fault.Error(), c.why)
		assert.Equal(t, c.cause, fault.Err != nil, c.why)
	}
}

// TestGroupsLimit counts groups up to a limit, which is one too many.
func TestGroupsLimit(t *testing.T) {
	for limit, most := range map[int64]int{0: 9, 1: 0, 2: 1, 5: 4, 9: 8, 10: 9} {
		g := NewGroups([]Key{{}}, nil, limit, unlimited)
		n := 0
		for ; n < 9; n++ {
			if err := g.Add([]wire.Value{wire.Int(int64(n))}); err != nil {
				require.ErrorIs(t, err, ErrGroups)
				break
			}
		}
		assert.Equal(t, most, n, "limit %d", limit)
		if n > 0 {
			assert.NoError(t, g.Add([]wire.Value{wire.Int(0)}), "a group that is known is not one more")
		}
	}
	g := NewGroups(nil, []Measure{{Fn: wire.AggCount, At: -1}}, 1, unlimited)
	assert.NoError(t, g.Add(nil), "without keys there is one group, which no limit forbids")
}

// TestGroupsSpend looks at what each row takes of a budget. A budget that refuses it
// ends the folding.
func TestGroupsSpend(t *testing.T) {
	long := "0.1234567890" // two limbs behind the dot, one before it
	key := func(text string) int { return KeySize(filter.AppendKey(nil, wire.Text(text), wire.TypeString)) }
	cases := []struct {
		why      string
		keys     []Key
		measures []Measure
		rows     [][]wire.Value
		want     []int
	}{
		{"a group has its key, its row and a total for each measure", []Key{{Type: wire.TypeString}}, fns("", wire.AggCount, wire.AggCount),
			texts("ab", "ab"), []int{key("ab") + RowSize(texts("ab")[0]) + 2*TotalBytes}},
		{"a distinct value its key and the number of its group", nil, fns(wire.TypeString, wire.AggCountDistinct), texts("ab", "ab", "c"),
			[]int{key("ab") + 1, key("c") + 1}},
		{"an extreme its text, in place of the one before", nil, fns(wire.TypeString, wire.AggMin), texts("bbbb", "bbb", "c", "a"),
			[]int{4, -1, -2}},
		{"a sum its limbs", nil, fns(wire.TypeDecimal, wire.AggSum), texts("1", "2", long), []int{SumBytes + 8, 16}},
	}
	for _, c := range cases {
		var spent []int
		g := NewGroups(c.keys, c.measures, 0, func(n int) bool { spent = append(spent, n); return true })
		for _, row := range c.rows {
			require.NoError(t, g.Add(row), c.why)
		}
		require.Equal(t, c.want, spent, c.why)

		for refused := range spent {
			left := refused
			g := NewGroups(c.keys, c.measures, 0, func(int) bool { left--; return left >= 0 })
			var err error
			for i := 0; i < len(c.rows) && err == nil; i++ {
				err = g.Add(c.rows[i])
			}
			require.ErrorIs(t, err, ErrBudget, c.why)
		}
	}
	assert.False(t, errors.Is(ErrBudget, ErrGroups))
}

// TestGroupsKeepCopies requires that an extreme keeps no more than its own text in
// memory.
func TestGroupsKeepCopies(t *testing.T) {
	line := "the text of a whole line"
	g := NewGroups(nil, fns(wire.TypeString, wire.AggMin), 0, unlimited)
	require.NoError(t, g.Add([]wire.Value{wire.Text(line[4:8])}))
	kept := g.Rows()[0][0].Text()
	require.Equal(t, "text", kept)
	assert.NotSame(t, unsafe.StringData(line[4:8]), unsafe.StringData(kept))
}
