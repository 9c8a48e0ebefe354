package relation_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

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
