package memsource_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/memsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestCardinality(t *testing.T) {
	cases := []struct {
		name string
		rel  memsource.Relation
		want wire.Cardinality
		why  string
	}{
		{"numbers", column("c", wire.TypeDecimal, dec("1.5"), dec("1.50"), text("01.5"), num(2)),
			wire.Cardinality{NonNull: 4, Distinct: 2}, "aggregate-2: spellings of one number are one value"},
		{"text", column("c", wire.TypeString, text("1.5"), text("1.50"), text("é"), text("e\u0301"), text("A"), text("a"),
			text("a ")), wire.Cardinality{NonNull: 7, Distinct: 7}, "filter-7: bytes, no case folding, trimming or normalisation"},
		{"undeclared", column("c", "", text("1.5"), text("1.50"), text("x")), wire.Cardinality{NonNull: 3, Distinct: 2},
			"filter-8: plain digits are numbers"},
		{"instants", column("c", wire.TypeDatetime, text("2024-01-01T00:00:00Z"), text("2024-01-01T01:00:00+01:00"),
			text("2024-01-01"), text("soon")), wire.Cardinality{NonNull: 4, Distinct: 2}, "filter-9: one instant in three spellings"},
		{"empty strings", column("c", wire.TypeString, text(""), text(""), null), wire.Cardinality{NonNull: 2, Distinct: 1},
			"measure-1: the empty string is a value"},
		{"nulls", column("c", wire.TypeString, null, null), wire.Cardinality{}, "measure-1: an all-null column is {0, 0}"},
		{"nothing", column("c", wire.TypeString), wire.Cardinality{}, "no rows, no values"},
		{"minus zero", column("c", wire.TypeNumber, dec("-0"), num(0), wire.Float(0)),
			wire.Cardinality{NonNull: 3, Distinct: 1}, "filter-6: -0 = 0"},
		{"2^53", column("c", wire.TypeNumber, num(1<<53), num(1<<53+1)), wire.Cardinality{NonNull: 2, Distinct: 2}, "filter-6: not as floats"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := memsource.Cardinality(c.rel, &wire.CardinalityRequest{Columns: []string{"c", "c"}}, 0)
			require.NoError(t, err)
			assert.Equal(t, map[string]*wire.Cardinality{"c": &c.want}, got, c.why)
		})
	}
}

func TestCardinalityRefuses(t *testing.T) {
	_, err := memsource.Cardinality(sales(), &wire.CardinalityRequest{Table: "sales", Columns: []string{"region", "colour"}}, 0)
	refused(t, err, wire.CodeUnknownEntity, `"colour"`) // [rule measure-3]
	_, err = memsource.Cardinality(sales(), &wire.CardinalityRequest{Table: "sales"}, 0)
	refused(t, err, wire.CodeBadRequest, "columns") // [rule measure-6]
	rel := sales()
	rel.Rows = failing(nil, errUpstream)
	_, err = memsource.Cardinality(rel, &wire.CardinalityRequest{Columns: []string{"region"}}, 0)
	assert.ErrorIs(t, err, errUpstream)
	_, err = memsource.Cardinality(column("c", "", wire.Decimal("x")), &wire.CardinalityRequest{Columns: []string{"c"}}, 0)
	assert.ErrorContains(t, err, `column "c"`)
}

// TestCardinalityOverBudget gives up the column that holds most, and no other.
func TestCardinalityOverBudget(t *testing.T) {
	rel := memsource.Relation{Columns: []wire.Column{{Name: "few", Type: wire.TypeNumber}, {Name: "many", Type: wire.TypeNumber}}}
	var rows [][]wire.Value
	for i := range 1000 {
		rows = append(rows, row(num(int64(i%10)), num(int64(i))))
	}
	for _, order := range [][]string{{"few", "many"}, {"many", "few"}} {
		rel.Rows = reused(rows)
		got, err := memsource.Cardinality(rel, &wire.CardinalityRequest{Columns: append(order[:1:1], order...)}, 20_000)
		require.NoError(t, err)
		assert.Nil(t, got["many"], "the protocol's null: cannot be counted distinctly")
		assert.Contains(t, got, "many", "the column is answered, with null")
		assert.Equal(t, &wire.Cardinality{NonNull: 1000, Distinct: 10}, got["few"], "what fits is still exact")
	}

	rel.Rows = failing(rows, errUpstream)
	got, err := memsource.Cardinality(rel, &wire.CardinalityRequest{Columns: []string{"few", "many"}}, 1)
	require.NoError(t, err, "nothing is read that cannot be counted")
	assert.Equal(t, map[string]*wire.Cardinality{"few": nil, "many": nil}, got, "a budget for nothing counts nothing")

	rel.Rows = reused(rows)
	got, err = memsource.Cardinality(rel, &wire.CardinalityRequest{Columns: []string{"few", "many"}}, memsource.Unlimited)
	require.NoError(t, err)
	assert.EqualValues(t, 1000, got["many"].Distinct)
}

func TestBudgetErrors(t *testing.T) {
	var cells []wire.Value
	for i := range 10_000 {
		cells = append(cells, num(int64(i)))
	}
	numbers := func() memsource.Relation { return column("n", wire.TypeNumber, cells...) }
	wide := func() memsource.Relation {
		return column("n", wire.TypeNumber, text("1"), text("0."+string(make0(400_000))+"1"))
	}
	aggregate := func(rel memsource.Relation, groups []wire.GroupKey, measures ...string) func(memsource.Budget) error {
		return func(b memsource.Budget) error {
			_, err := memsource.Aggregate(rel, &wire.AggregateRequest{Table: "t", GroupBy: groups, Measures: of(measures...)}, b)
			return err
		}
	}
	cases := []struct {
		name   string
		run    func(memsource.Budget) error
		answer error
		what   string
		why    string
	}{
		{"groups", aggregate(numbers(), by("n")), connector.ErrDecline, `table "t"`, "an aggregate that does not fit is declined (aggregate-6)"},
		{"distinct values", aggregate(numbers(), nil, "count_distinct n"), connector.ErrDecline, `table "t"`, "likewise"},
		{"a sum of endless digits", aggregate(wide(), nil, "sum n"), connector.ErrDecline, `table "t"`, "a sum's digits count too"},
		{"a maximum of endless text", aggregate(wide(), nil, "min n"), connector.ErrDecline, `table "t"`, "and the text of a minimum"},
		{"a link", func(b memsource.Budget) error {
			_, err := memsource.LinkHitRate(numbers(), numbers(),
				&wire.LinkHitRateRequest{FromTable: "f", FromColumn: "n", ToTable: "t", ToColumn: "n"}, b)
			return err
		}, connector.ErrUnsupported, `column "n" of table "t"`, "a link has no way to decline: 422"},
		{"a join", func(b memsource.Budget) error {
			_, err := memsource.Join(numbers(),
				memsource.JoinRequest{Table: "f",
					Joins: []wire.JoinHop{{FromTable: "f", ToTable: "t", FromField: "n", ToField: "n"}}}, []memsource.Relation{numbers()}, b)
			return err
		}, connector.ErrUnsupported, `table "t"`, "a join is refused rather than dropped: 422"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := c.run(100_000)
			var over *memsource.BudgetError
			require.ErrorAs(t, err, &over, c.why)
			assert.Equal(t, memsource.Budget(100_000), over.Budget)
			assert.Contains(t, over.What, c.what)
			assert.ErrorIs(t, err, c.answer, c.why)
			assert.ErrorContains(t, err, "100000 bytes")
			assert.ErrorContains(t, err, "memsource.Budget", "what to do")

			assert.NoError(t, c.run(0), "the default budget is enough")
			assert.NoError(t, c.run(memsource.Unlimited))
		})
	}
}

func make0(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = '0'
	}
	return b
}

func ExampleCardinality() {
	rel := memsource.Relation{
		Columns: []wire.Column{{Name: "price", Type: wire.TypeDecimal}},
		Rows:    memsource.RowsOf([]wire.Value{wire.Decimal("1.5")}, []wire.Value{wire.Decimal("1.50")}, []wire.Value{wire.Null()}),
	}
	counts, err := memsource.Cardinality(rel, &wire.CardinalityRequest{Table: "goods", Columns: []string{"price"}}, 0)
	fmt.Println(*counts["price"], err)
	// Output: {2 1} <nil>
}
