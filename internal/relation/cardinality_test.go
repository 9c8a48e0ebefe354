package relation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// What makes two values one is tested where the keys are made, in package filter.
func TestCardinality(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/cardinality.tsv", 5) {
		got, err := relation.Cardinality(table(t, c[1]), &wire.CardinalityRequest{Columns: []string{"c", "c"}}, unlimited(), false)
		require.NoError(t, err)
		require.Len(t, got, 1)
		assert.Equal(t, c[2]+" "+c[3], fmt.Sprint(got["c"].NonNull, got["c"].Distinct), c[4])
	}
}

func TestCardinalityRefuses(t *testing.T) {
	req := &wire.CardinalityRequest{Table: "sales", Columns: []string{"region", "colour"}}
	_, err := relation.Cardinality(table(t, "sales"), req, unlimited(), false)
	refused(t, err, wire.CodeUnknownEntity, `"colour"`) // [rule measure-3]
	_, err = relation.Cardinality(table(t, "sales"), &wire.CardinalityRequest{Table: "sales"}, unlimited(), false)
	refused(t, err, wire.CodeBadRequest, "columns") // [rule measure-6]
	rel := table(t, "sales")
	rel.Rows = failing(nil, errUpstream)
	_, err = relation.Cardinality(rel, &wire.CardinalityRequest{Columns: []string{"region"}}, unlimited(), false)
	assert.ErrorIs(t, err, errUpstream)
	_, err = relation.Cardinality(column("c", "", wire.Decimal("x")), &wire.CardinalityRequest{Columns: []string{"c"}}, unlimited(), false)
	assert.ErrorContains(t, err, `column "c"`)
}

// TestCardinalityOverBudget gives up the column that holds most, and no other.
func TestCardinalityOverBudget(t *testing.T) {
	rel := relation.Relation{Columns: []wire.Column{{Name: "few", Type: wire.TypeNumber}, {Name: "many", Type: wire.TypeNumber}}}
	var rows [][]wire.Value
	for i := range 1000 {
		rows = append(rows, row(num(int64(i%10)), num(int64(i))))
	}
	for _, order := range [][]string{{"few", "many"}, {"many", "few"}} {
		rel.Rows = reused(rows)
		got, err := relation.Cardinality(rel, &wire.CardinalityRequest{Columns: append(order[:1:1], order...)}, relation.NewBudget(20_000), false)
		require.NoError(t, err)
		assert.Nil(t, got["many"], "the protocol's null: cannot be counted distinctly")
		assert.Contains(t, got, "many", "the column is answered, with null")
		assert.Equal(t, &wire.Cardinality{NonNull: 1000, Distinct: 10}, got["few"], "what fits is still exact")
	}

	rel.Rows = failing(rows, errUpstream)
	got, err := relation.Cardinality(rel, &wire.CardinalityRequest{Columns: []string{"few", "many"}}, relation.NewBudget(1), false)
	require.NoError(t, err, "nothing is read that cannot be counted")
	assert.Equal(t, map[string]*wire.Cardinality{"few": nil, "many": nil}, got, "a budget for nothing counts nothing")

	rel.Rows = reused(rows)
	got, err = relation.Cardinality(rel, &wire.CardinalityRequest{Columns: []string{"few", "many"}}, unlimited(), false)
	require.NoError(t, err)
	assert.EqualValues(t, 1000, got["many"].Distinct)
}

func TestBudgetErrors(t *testing.T) {
	var cells []wire.Value
	for i := range 10_000 {
		cells = append(cells, num(int64(i)))
	}
	numbers := func() relation.Relation { return column("n", wire.TypeNumber, cells...) }
	long := func() relation.Relation {
		return column("n", wire.TypeNumber, text("1"), text("0."+strings.Repeat("0", 400_000)+"1"))
	}
	aggregate := func(rel relation.Relation, groups, measures string) func(*relation.Budget) error {
		return func(b *relation.Budget) error {
			_, err := relation.Aggregate(rel, &wire.AggregateRequest{Table: "t", GroupBy: by(groups), Measures: of(measures)}, b)
			return err
		}
	}
	for _, c := range []struct {
		why  string
		run  func(*relation.Budget) error
		what string
	}{
		{"groups", aggregate(numbers(), "n", ""), `of table "t"`},
		{"distinct values", aggregate(numbers(), "", "count_distinct n"), `of table "t"`},
		{"a sum of endless digits: they count too", aggregate(long(), "", "sum n"), `of table "t"`},
		{"a minimum of endless text", aggregate(long(), "", "min n"), `of table "t"`},
		{"a link", func(b *relation.Budget) error {
			_, err := relation.LinkHitRate(numbers(), numbers(),
				&wire.LinkHitRateRequest{FromTable: "f", FromColumn: "n", ToTable: "t", ToColumn: "n"}, b)
			return err
		}, `column "n" of table "t"`},
		{"a join", func(b *relation.Budget) error {
			_, err := relation.Join(numbers(), relation.JoinRequest{Table: "f",
				Joins: []wire.JoinHop{{FromTable: "f", ToTable: "t", FromField: "n", ToField: "n"}}}, []relation.Relation{numbers()}, b)
			return err
		}, `joined rows of table "t"`},
		{"a cardinality that has to be whole", func(b *relation.Budget) error {
			_, err := relation.Cardinality(numbers(), &wire.CardinalityRequest{Table: "t", Columns: []string{"n"}}, b, true)
			return err
		}, `distinct values of table "t"`},
	} {
		over(t, c.run(relation.NewBudget(100_000)), 100_000, c.what)
		assert.NoError(t, c.run(relation.NewBudget(64<<20)), c.why)
	}
}

var link = &wire.LinkHitRateRequest{FromTable: "orders", FromColumn: "f", ToTable: "customers", ToColumn: "t"}

func TestLinkHitRate(t *testing.T) {
	for _, c := range testkit.Table(t, "testdata/link.tsv", 7) {
		t.Run(c[0], func(t *testing.T) {
			got := testkit.Must(relation.LinkHitRate(table(t, c[1]), table(t, c[2]), link, unlimited()))(t)
			assert.Equal(t, c[3]+" "+c[4], fmt.Sprint(got.FromNonNull, got.OrphanCount), c[6])
			assert.Equal(t, float64(got.OrphanCount)/max(1, float64(got.FromNonNull)), got.OrphanRate, c[6])
			assert.Equal(t, listed(c[5], " "), got.OrphanSamples, c[6])
		})
	}
}

// TestLinkSamples expects the first twenty in byte order, whatever the rows' order.
func TestLinkSamples(t *testing.T) {
	var up, down []wire.Value
	for i := range 99 {
		up = append(up, text(fmt.Sprintf("k%02d", i)))
		down = append(down, text(fmt.Sprintf("k%02d", 98-i)))
	}
	for _, cells := range [][]wire.Value{up, down} {
		got, err := relation.LinkHitRate(column("f", wire.TypeString, cells...), column("t", wire.TypeString), link, unlimited())
		require.NoError(t, err)
		require.Len(t, got.OrphanSamples, terms.MaxOrphanSamples)
		assert.Equal(t, "k00", got.OrphanSamples[0])
		assert.Equal(t, "k19", got.OrphanSamples[19])
		assert.IsIncreasing(t, got.OrphanSamples)
		assert.EqualValues(t, 99, got.OrphanCount)
	}
}

func TestLinkRefuses(t *testing.T) {
	good := func() relation.Relation { return column("f", wire.TypeString, text("a")) }
	_, err := relation.LinkHitRate(column("g", ""), column("t", ""), link, unlimited())
	refused(t, err, wire.CodeUnknownEntity, `table "orders" has no field "f"`) // [rule measure-3]
	_, err = relation.LinkHitRate(good(), column("u", ""), link, unlimited())
	refused(t, err, wire.CodeUnknownEntity, `table "customers" has no field "t"`)

	broken := column("t", "")
	broken.Rows = failing(nil, errUpstream)
	_, err = relation.LinkHitRate(good(), broken, link, unlimited())
	assert.ErrorIs(t, err, errUpstream)
	broken.Columns[0].Name = "f"
	_, err = relation.LinkHitRate(broken, column("t", ""), link, unlimited())
	assert.ErrorIs(t, err, errUpstream)

	_, err = relation.LinkHitRate(good(), column("t", "", wire.Decimal("x")), link, unlimited())
	assert.ErrorContains(t, err, `table "customers", column "t"`)
	_, err = relation.LinkHitRate(column("f", "", wire.Decimal("x")), column("t", ""), link, unlimited())
	assert.ErrorContains(t, err, `table "orders", column "f"`)
	_, err = relation.LinkHitRate(column("f", "", text("a\xff")), column("t", ""), link, unlimited())
	assert.ErrorContains(t, err, "UTF-8", "cell-4: a sample is never replaced in silence")
}
