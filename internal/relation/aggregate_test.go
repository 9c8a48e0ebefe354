package relation_test

import (
	"fmt"
	"strings"
	"testing"

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
	plan, err := relation.PlanAggregate(columns, &wire.AggregateRequest{GroupBy: by("region, code/month"),
		Measures: of("count, count_distinct region, sum n, max day")})
	require.NoError(t, err)
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
