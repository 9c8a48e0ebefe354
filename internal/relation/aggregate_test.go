package relation_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// by returns group keys that a comma separates, each with its grain behind a slash.
func by(fields string) (groups []wire.GroupKey) {
	for _, f := range listed(fields, ", ") {
		name, grain, _ := strings.Cut(f, "/")
		groups = append(groups, wire.GroupKey{Field: name, As: f, Grain: wire.Grain(grain)})
	}
	return groups
}

// of returns measures that a comma separates, each a function and a field.
func of(measures string) (list []wire.Measure) {
	for _, m := range listed(measures, ", ") {
		fn, field, _ := strings.Cut(m, " ")
		list = append(list, wire.Measure{Fn: wire.AggFunc(fn), Field: field, As: m})
	}
	return list
}

// aggregate asks what four cells of a file say: the table, groupBy, the measures and the rest of the request.
func aggregate(t *testing.T, c []string) ([][]wire.Value, error) {
	t.Helper()
	var req wire.AggregateRequest
	cells.Decode(t, c[3], &req)
	req.Table, req.GroupBy, req.Measures = c[0], by(c[1]), of(c[2])
	return relation.Aggregate(table(t, c[0]), &req, unlimited())
}

func TestAggregate(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/aggregate.tsv", 7) {
		t.Run(c[0], func(t *testing.T) {
			got := testkit.Must(aggregate(t, c[1:]))(t, c[6])
			require.NotNil(t, got, "an empty answer is rows: []")
			assert.Equal(t, listed(c[5], " | "), cells.Spelled(t, got...), c[6])
		})
	}
}

func TestPlanAggregateColumns(t *testing.T) {
	columns := append(table(t, "sales").Columns, wire.Column{Name: "n", Type: wire.TypeNumber})
	plan := testkit.Must(relation.PlanAggregate(columns, &wire.AggregateRequest{GroupBy: by("region, code/month"),
		Measures: of("count, count_distinct region, sum n, max day")}))(t)
	types := []wire.Type{}
	for _, c := range plan.Columns {
		types = append(types, c.Type)
	}
	assert.Equal(t, []wire.Type{wire.TypeString, wire.TypeDate, wire.TypeNumber, wire.TypeNumber, wire.TypeDecimal, wire.TypeDate}, types)
}

func TestAggregateRefuses(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/aggregate-refuses.tsv", 8) {
		t.Run(c[0], func(t *testing.T) {
			_, err := aggregate(t, c[1:])
			refused(t, err, wire.Code(c[5]), c[6])
		})
	}
}

func TestAggregateDeclines(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/aggregate-declines.tsv", 8) {
		t.Run(c[0], func(t *testing.T) {
			_, err := aggregate(t, c[1:])
			var declined *relation.DeclineError
			require.ErrorAs(t, err, &declined, c[7])
			assert.Contains(t, declined.Reason, c[6])
			assert.NotContains(t, err.Error(), "n/a", "no cell in an error")
		})
	}
}

func TestAggregatePassesFailuresOn(t *testing.T) {
	rel := table(t, "sales")
	rel.Rows = failing([][]wire.Value{row(text("north"))}, errUpstream)
	_, err := relation.Aggregate(rel, &wire.AggregateRequest{Measures: of("count")}, unlimited())
	assert.ErrorIs(t, err, errUpstream)

	bad := wire.Decimal("not a number")
	for _, req := range []wire.AggregateRequest{{GroupBy: by("n")}, {Measures: of("max n")}, {Measures: of("count n")}} {
		_, err = relation.Aggregate(column("n", wire.TypeDecimal, bad), &req, unlimited())
		assert.ErrorContains(t, err, `column "n"`, "cell-1: a cell that cannot cross fails, and is not declined")
		var cell *relation.CellError
		assert.ErrorAs(t, err, &cell)
		assert.NotContains(t, err.Error(), "not a number")
	}
}

// TestAggregateLimit: as many groups as the limit, or more, are refused and never cut
// [rule aggregate-6]. A row of a known group is not one more.
func TestAggregateLimit(t *testing.T) {
	for _, c := range []struct {
		limit  int64
		groups int
		ok     bool
	}{
		{0, 9, true}, {1, 0, true}, {1, 1, false}, {2, 1, true}, {2, 2, false}, {3, 2, true}, {3, 9, false},
		{wire.AggregateLimit, 1000, true}, {wire.AggregateLimit, 1001, false}, {wire.AggregateLimit, 5000, false},
	} {
		var cells []wire.Value
		for i := range 2 * c.groups {
			cells = append(cells, num(int64(i%c.groups)))
		}
		got, err := relation.Aggregate(column("n", wire.TypeNumber, cells...),
			&wire.AggregateRequest{GroupBy: by("n"), Limit: c.limit}, unlimited())
		if c.ok {
			require.NoError(t, err)
			assert.Len(t, got, c.groups)
			continue
		}
		var many *relation.GroupsError
		require.ErrorAs(t, err, &many)
		assert.Equal(t, c.limit, many.Limit)
		assert.ErrorContains(t, err, fmt.Sprint(c.limit, " groups or more"))
	}
}

func TestSumIsExact(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/sum.tsv", 3) {
		t.Run(c[1], func(t *testing.T) {
			one, many := strings.CutPrefix(c[0], "10000 times ")
			addends := cells.Row(t, one)
			if many {
				addends = slices.Repeat(addends, 10_000)
			}
			var forward, backward relation.Sum
			for i := range addends {
				require.True(t, forward.Add(addends[i]), c[2])
				require.True(t, backward.Add(addends[len(addends)-1-i]), c[2])
			}
			assert.Equal(t, c[1], forward.Value().String(), c[2])
			assert.Equal(t, c[1], backward.Value().String(), "the order of addends is of no matter")
			assert.NoError(t, forward.Value().Err())
			assert.Equal(t, c[1], forward.Value().String(), "asking twice changes nothing")
		})
	}
}

func TestSumTakesNumbersOnly(t *testing.T) {
	for _, v := range cells.Row(t, `"1e5" ".5" "5." " 1" "" "NaN" "--1" "1,5" "0x10" "١" true null float:NaN json:"[1]"`) {
		var s relation.Sum
		assert.False(t, s.Add(v), "filter-6: %s is no number", v)
		assert.Equal(t, "0", s.Value().String(), "and leaves the sum as it was")
	}
}

// TestSumSize counts the limbs on both sides of the point.
func TestSumSize(t *testing.T) {
	var s relation.Sum
	assert.Zero(t, s.Size())
	for number, least := range map[string]int{"1.5": 16, strings.Repeat("7", 9000): 8 * 1000, "0." + strings.Repeat("7", 90_000): 8 * 11_000} {
		require.True(t, s.Add(wire.Text(number)))
		assert.GreaterOrEqual(t, s.Size(), least)
	}
}

// TestSumAllocates nothing once its limbs are there.
func TestSumAllocates(t *testing.T) {
	var s relation.Sum
	values := []wire.Value{wire.Int(math.MaxInt64), wire.Decimal("-12345678901234567890.123456789"), wire.Float(0.1), wire.Float(1e20)}
	for _, v := range values {
		s.Add(v)
	}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		for _, v := range values {
			s.Add(v)
		}
	}))
}

// BenchmarkSumHostile adds a column made to ripple: a carry through 100,000
// digits, to and fro. The time per row does not depend on the digits.
func BenchmarkSumHostile(b *testing.B) {
	for _, width := range []int{10, 100_000} {
		b.Run(strconv.Itoa(width), func(b *testing.B) {
			var s relation.Sum
			s.Add(wire.Decimal("1" + strings.Repeat("0", width) + "." + strings.Repeat("0", width)))
			minus, plus := wire.Decimal("-1"), wire.Decimal("1")
			for b.Loop() {
				s.Add(minus)
				s.Add(plus)
			}
		})
	}
}

func BenchmarkSum(b *testing.B) {
	v := wire.Decimal("1234567.89")
	var s relation.Sum
	b.ReportAllocs()
	for b.Loop() {
		s.Add(v)
	}
}

func BenchmarkSumShopspring(b *testing.B) {
	v := wire.Decimal("1234567.89")
	total := decimal.Zero
	b.ReportAllocs()
	for b.Loop() {
		d, _ := decimal.NewFromString(v.Text())
		total = total.Add(d)
	}
}

func TestPeriodStart(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/period.tsv", 6) {
		for i, grain := range []wire.Grain{wire.GrainYear, wire.GrainQuarter, wire.GrainMonth, wire.GrainDay} {
			got, ok := relation.PeriodStart(cells.One(t, c[0]), grain)
			assert.Equal(t, c[1+i] != "-", ok, "%s: %s: %s", c[0], grain, c[5])
			if ok {
				assert.Equal(t, c[1+i], got.String(), "%s: %s: %s", c[0], grain, c[5])
			}
		}
	}
}

func TestCount(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/count.tsv", 4) {
		t.Run(c[0], func(t *testing.T) {
			var req wire.CountRequest
			cells.Decode(t, c[1], &req)
			got := testkit.Must(relation.Count(table(t, "sales"), req.Where))(t)
			assert.Equal(t, c[2], fmt.Sprint(got), c[3])
		})
	}
	_, err := relation.Count(table(t, "sales"), wire.Where{And: []wire.Filter{{Field: "colour", Op: wire.OpIsNull}}})
	refused(t, err, wire.CodeUnsupported, "colour")

	rel := table(t, "sales")
	rel.Rows = failing([][]wire.Value{row(text("north"))}, errUpstream)
	_, err = relation.Count(rel, wire.Where{})
	assert.ErrorIs(t, err, errUpstream, "a count of the rows before a failure is wrong")
}

// TestUnjudgedRows requires that a row is neither counted nor left out when a filter
// compares a cell without a value [rule error-10].
func TestUnjudgedRows(t *testing.T) {
	rel := relation.Relation{
		Columns: []wire.Column{{Name: "n", Type: wire.TypeNumber}},
		Rows: func(yield func([]wire.Value, error) bool) {
			_ = yield([]wire.Value{wire.Int(1)}, nil) && yield([]wire.Value{wire.Invalid("no number")}, nil)
		},
	}
	where := wire.Where{And: []wire.Filter{{Field: "n", Op: wire.OpGt, Value: wire.Int(5)}}}
	const says = `column "n", which a filter compares: no number`
	_, err := relation.Count(rel, where)
	require.EqualError(t, err, says)
	_, err = relation.Aggregate(rel, &wire.AggregateRequest{Where: where, Measures: []wire.Measure{{Fn: wire.AggCount, As: "c"}}}, unlimited())
	require.EqualError(t, err, says)
}
