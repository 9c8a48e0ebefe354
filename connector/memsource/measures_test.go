package memsource_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// measures are the functions of the package, each over a relation of one column "n". What
// they compute is tested in internal/relation.
var measures = []struct {
	name   string
	run    func(rel memsource.Relation, b memsource.Budget) error
	over   error  // the answer to an exceeded budget; nil: it has none
	what   string // of the BudgetError
	public string // what the platform is told
}{
	{"count", func(rel memsource.Relation, _ memsource.Budget) error {
		_, err := memsource.Count(rel, &wire.CountRequest{
			Where: wire.Where{And: []wire.Filter{{Field: "n", Op: wire.OpGt, Value: num(-1)}}}})
		return err
	}, nil, "", ""},
	{"aggregate", func(rel memsource.Relation, b memsource.Budget) error {
		_, err := memsource.Aggregate(rel, &wire.AggregateRequest{Table: "t", Measures: of(wire.AggCountDistinct, "n")}, b)
		return err
	}, connector.ErrDecline, `the groups and distinct values of table "t"`, ""},
	{"cardinality", func(rel memsource.Relation, b memsource.Budget) error {
		_, err := memsource.Cardinality(rel, &wire.CardinalityRequest{Table: "t", Columns: []string{"n"}}, b)
		return err
	}, nil, "", ""},
	{"link", func(rel memsource.Relation, b memsource.Budget) error {
		_, err := memsource.LinkHitRate(rel, rel, &wire.LinkHitRateRequest{FromTable: "f", FromColumn: "n", ToTable: "t", ToColumn: "n"}, b)
		return err
	}, connector.ErrUnsupported, `the distinct values of column "n" of table "t"`,
		`the link cannot be measured: column "n" of table "t" has too many distinct values`},
	{"join", func(rel memsource.Relation, b memsource.Budget) error {
		_, err := memsource.Join(rel, memsource.JoinRequest{Table: "f", Joins: []wire.JoinHop{
			{FromTable: "f", ToTable: "t", FromField: "n", ToField: "n"}}}, []memsource.Relation{rel}, b)
		return err
	}, connector.ErrUnsupported, `the joined rows of table "t"`, `the join cannot be executed: table "t" is too large to hold`},
}

// TestMeasuresAnswer tells how a source answers what a measure ends with.
func TestMeasuresAnswer(t *testing.T) {
	var cells []wire.Value
	for i := range 10_000 {
		cells = append(cells, num(int64(i)))
	}
	for _, m := range measures {
		t.Run(m.name, func(t *testing.T) {
			many := column("n", wire.TypeNumber, cells...)
			require.NoError(t, m.run(many, 0), "the default budget is enough")
			require.NoError(t, m.run(many, memsource.Unlimited))
			err := m.run(many, 100_000)
			if m.over == nil {
				require.NoError(t, err)
			} else {
				var over *memsource.BudgetError
				require.ErrorAs(t, err, &over)
				assert.Equal(t, memsource.Budget(100_000), over.Budget)
				assert.Equal(t, m.what, over.What)
				assert.ErrorIs(t, err, m.over)
				assert.ErrorContains(t, err, "100000 bytes")
				assert.ErrorContains(t, err, "memsource.Budget", "what to do")
				if m.public != "" {
					refused(t, err, wire.CodeUnsupported, m.public)
				}
			}
			rel := many
			rel.Rows = failing(nil, errUpstream)
			assert.Equal(t, errUpstream, m.run(rel, 0), "an error of the rows is passed on unchanged")
			err = m.run(column("n", wire.TypeDecimal, wire.Decimal("no number")), 0)
			assert.ErrorContains(t, err, "memsource: ")
			assert.ErrorContains(t, err, `column "n"`)
			assert.NotErrorIs(t, err, connector.ErrDecline, "cell-1: a cell that cannot cross fails, and is not declined")
		})
	}
}

func TestAggregateAnswers(t *testing.T) {
	_, err := memsource.Aggregate(staff(), &wire.AggregateRequest{Table: "staff", GroupBy: by("id"), Limit: 4}, 0)
	refused(t, err, wire.CodeUnsupported, "4 groups or more") // [rule aggregate-6]
	_, err = memsource.Aggregate(staff(), &wire.AggregateRequest{Table: "staff", Measures: of(wire.AggSum, "name")}, 0)
	require.ErrorIs(t, err, connector.ErrDecline)
	require.EqualError(t, err, `memsource: declined: a sum over field "name", which is no number`)
	_, err = memsource.Aggregate(staff(), &wire.AggregateRequest{Table: "staff", GroupBy: by("colour")}, 0)
	refused(t, err, wire.CodeUnknownEntity, `"colour"`)
}

func TestJoinAnswers(t *testing.T) {
	joined, err := memsource.Join(staff(), homes, []memsource.Relation{places()}, 0)
	require.NoError(t, err)
	assert.Equal(t, append(staff().Columns, wire.Column{Name: "land", Type: wire.TypeString, Hop: 1}), joined.Columns)
	got := []string{}
	for r, err := range joined.Rows {
		require.NoError(t, err)
		got = append(got, spelled(t, [][]wire.Value{{r[0], r[5]}})...)
	}
	assert.Equal(t, []string{`1 "IT"`, `2 "NO"`, `2 "no"`, `3 null`, `4 null`}, got)
	joined, err = memsource.Join(staff(), homes, nil, 0)
	refused(t, err, wire.CodeBadRequest, "1 hops")
	assert.Zero(t, joined)
}
