package measures_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/internal/measures"
	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// column returns a relation of the one column n.
func column(t wire.Type, cells ...wire.Value) relation.Relation {
	rows := make([][]wire.Value, len(cells))
	for i, c := range cells {
		rows[i] = []wire.Value{c}
	}
	return relation.Relation{Columns: []wire.Column{{Name: "n", Type: t}}, Rows: relation.RowsOf(rows...)}
}

// refused asserts a deliberate error.
func refused(t *testing.T, err error, code wire.Code, mentions string) {
	t.Helper()
	var e *wire.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, code, e.Code)
	assert.Contains(t, e.Message, mentions)
}

// routes are the functions of the package, each over the column n. What they compute is
// tested in internal/relation.
var routes = []struct {
	name   string
	run    func(rel relation.Relation, budget int64) error
	over   error  // the answer to an exceeded budget; nil: it has none
	what   string // of the BudgetError
	public string // what the platform is told
}{
	{"count", func(rel relation.Relation, _ int64) error {
		_, err := measures.Count(rel, &wire.CountRequest{
			Where: wire.Where{And: []wire.Filter{{Field: "n", Op: wire.OpGt, Value: wire.Int(-1)}}}})
		return err
	}, nil, "", ""},
	{"aggregate", func(rel relation.Relation, budget int64) error {
		_, err := measures.Aggregate(rel, &wire.AggregateRequest{Table: "t",
			Measures: []wire.Measure{{Fn: wire.AggCountDistinct, Field: "n", As: "m"}}}, budget)
		return err
	}, connector.ErrDecline, `the groups and distinct values of table "t"`, ""},
	{"cardinality", func(rel relation.Relation, budget int64) error {
		_, err := measures.Cardinality(rel, &wire.CardinalityRequest{Table: "t", Columns: []string{"n"}}, budget)
		return err
	}, nil, "", ""},
	{"link", func(rel relation.Relation, budget int64) error {
		_, err := measures.LinkHitRate(rel, rel,
			&wire.LinkHitRateRequest{FromTable: "f", FromColumn: "n", ToTable: "t", ToColumn: "n"}, budget)
		return err
	}, &wire.Error{Code: wire.CodeUnsupported}, `the distinct values of column "n" of table "t"`,
		`the link cannot be measured: column "n" of table "t" has too many distinct values`},
	{"join", func(rel relation.Relation, budget int64) error {
		joined, err := measures.Join(rel, relation.JoinRequest{Table: "f", Joins: []wire.JoinHop{
			{FromTable: "f", ToTable: "t", FromField: "n", ToField: "n"}}}, []relation.Relation{rel}, budget)
		if err != nil && joined.Rows != nil {
			return errors.New("rows beside an error")
		}
		return err
	}, &wire.Error{Code: wire.CodeUnsupported}, `the joined rows of table "t"`, `the join cannot be executed: table "t" is too large to hold`},
}

// TestMeasures tells how a source answers what a measure ends with.
func TestMeasures(t *testing.T) {
	var cells []wire.Value
	for i := range 10_000 {
		cells = append(cells, wire.Int(int64(i)))
	}
	upstream := errors.New("the upstream hung up")
	for _, m := range routes {
		t.Run(m.name, func(t *testing.T) {
			many := column(wire.TypeNumber, cells...)
			require.NoError(t, m.run(many, 0), "the default budget is enough")
			require.NoError(t, m.run(many, measures.Unlimited))
			err := m.run(many, 100_000)
			if m.over == nil {
				require.NoError(t, err)
			} else {
				var over *measures.BudgetError
				require.ErrorAs(t, err, &over)
				assert.Equal(t, int64(100_000), over.Budget)
				assert.Equal(t, m.what, over.What)
				assert.ErrorIs(t, err, m.over)
				assert.ErrorContains(t, err, "100000 bytes")
				assert.ErrorContains(t, err, "raise the budget", "what to do")
				if m.public != "" {
					refused(t, err, wire.CodeUnsupported, m.public)
				}
			}
			broken := many
			broken.Rows = func(yield func([]wire.Value, error) bool) { yield(nil, upstream) }
			assert.Equal(t, upstream, m.run(broken, 0), "an error of the rows is passed on unchanged")
			err = m.run(column(wire.TypeDecimal, wire.Decimal("no number")), 0)
			assert.ErrorContains(t, err, `column "n"`)
			assert.NotErrorIs(t, err, connector.ErrDecline, "cell-1: a cell that cannot cross fails, and is not declined")
		})
	}
}

func TestAggregate(t *testing.T) {
	names := column(wire.TypeString, wire.Text("Ada"), wire.Text("Bo"))
	by := []wire.GroupKey{{Field: "n", As: "n"}}
	_, err := measures.Aggregate(names, &wire.AggregateRequest{GroupBy: by, Limit: 2}, 0)
	refused(t, err, wire.CodeUnsupported, "2 groups or more") // [rule aggregate-6]
	_, err = measures.Aggregate(names, &wire.AggregateRequest{Measures: []wire.Measure{{Fn: wire.AggSum, Field: "n", As: "m"}}}, 0)
	require.ErrorIs(t, err, connector.ErrDecline)
	require.EqualError(t, err, `declined: a sum over field "n", which is no number`)
	by[0].Field = "colour"
	_, err = measures.Aggregate(names, &wire.AggregateRequest{GroupBy: by}, 0)
	refused(t, err, wire.CodeUnknownEntity, `"colour"`)
}
