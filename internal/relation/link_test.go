package relation_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

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
