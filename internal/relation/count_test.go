package relation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

func TestCount(t *testing.T) {
	filter := func(field string, op wire.Op, v wire.Value) []wire.Filter {
		return []wire.Filter{{Field: field, Op: op, Value: v}}
	}
	cases := []struct {
		name string
		req  wire.CountRequest
		want int64
		why  string
	}{
		{"no filter", wire.CountRequest{}, 5, "every row counts, those with nulls too"},
		{"a number", wire.CountRequest{Where: wire.Where{And: filter("amount", wire.OpEq, text("1.500"))}}, 2, "filter-6: 1.50 = 1.5 = 1.500"},
		{"not equal", wire.CountRequest{Where: wire.Where{And: filter("region", wire.OpNeq, text("north"))}}, 1, "filter-2: null is not unequal"},
		{"not in", wire.CountRequest{Where: wire.Where{And: []wire.Filter{{Field: "region", Op: wire.OpNin,
			Values: []wire.Value{text("north")}}}}}, 3, "filter-3: nin keeps nulls"},
		{"an empty or", wire.CountRequest{Where: wire.Where{Or: [][]wire.Filter{}}}, 5, "filter-1: no constraint"},
		{"an empty group", wire.CountRequest{Where: wire.Where{Or: [][]wire.Filter{{}}}}, 5, "filter-1: true of every row"},
		{"a missing cell", wire.CountRequest{Where: wire.Where{And: []wire.Filter{{Field: "code", Op: wire.OpIsNull}}}}, 2,
			"filter-11b: a cell missing from a row is null"},
		{"a type of the request", wire.CountRequest{Where: wire.Where{And: filter("code", wire.OpEq, text("10")),
			FieldTypes: map[string]wire.Type{"code": wire.TypeString}}}, 1, "filter-10: as text 010 is not 10"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := relation.Count(sales(), c.req.Where)
			require.NoError(t, err)
			assert.Equal(t, c.want, got, c.why)
		})
	}

	_, err := relation.Count(sales(), wire.Where{And: filter("colour", wire.OpEq, null)})
	refused(t, err, wire.CodeUnsupported, "colour")

	rel := sales()
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
