package relation_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

var link = &wire.LinkHitRateRequest{FromTable: "orders", FromColumn: "f", ToTable: "customers", ToColumn: "t"}

func TestLinkHitRate(t *testing.T) {
	cases := []struct {
		name     string
		from, to relation.Relation
		want     wire.LinkHitRate
		why      string
	}{
		{"rows, not values", column("f", wire.TypeString, text("a"), text("x"), text("x"), null),
			column("t", wire.TypeString, text("a"), text("a")),
			wire.LinkHitRate{FromNonNull: 3, OrphanCount: 2, OrphanRate: 2. / 3, OrphanSamples: []string{"x"}},
			"measure-2: orphans are from-rows; samples are distinct"},
		{"numbers", column("f", wire.TypeNumber, num(1), dec("2.50"), text("3")), column("t", wire.TypeDecimal, dec("1.0"), dec("2.5")),
			wire.LinkHitRate{FromNonNull: 3, OrphanCount: 1, OrphanRate: 1. / 3, OrphanSamples: []string{"3"}},
			"measure-2b: filter-6 when both columns are numeric"},
		{"a number and text", column("f", wire.TypeNumber, num(1)), column("t", wire.TypeString, text("1.0")),
			wire.LinkHitRate{FromNonNull: 1, OrphanCount: 1, OrphanRate: 1, OrphanSamples: []string{"1"}}, "measure-2b: else text"},
		{"the undeclared", column("f", "", text("1.0")), column("t", "", text("1")),
			wire.LinkHitRate{FromNonNull: 1, OrphanCount: 1, OrphanRate: 1, OrphanSamples: []string{"1.0"}},
			"measure-2b: text, unless both are declared numeric"},
		{"dates", column("f", wire.TypeDatetime, text("2024-01-01")), column("t", wire.TypeDatetime, text("2024-01-01T00:00:00Z")),
			wire.LinkHitRate{FromNonNull: 1, OrphanCount: 1, OrphanRate: 1, OrphanSamples: []string{"2024-01-01"}},
			"measure-2b: dates link as text"},
		{"no numbers", column("f", wire.TypeNumber, text("n/a")), column("t", wire.TypeNumber, text("n/a")),
			wire.LinkHitRate{FromNonNull: 1, OrphanCount: 1, OrphanRate: 1, OrphanSamples: []string{"n/a"}},
			"filter-6b: what is no number equals nothing"},
		{"nulls", column("f", wire.TypeString, null), column("t", wire.TypeString, null),
			wire.LinkHitRate{OrphanSamples: []string{}}, "measure-2: the rate over nothing is 0; a null matches nothing and is no orphan"},
		{"nothing", column("f", wire.TypeString), column("t", wire.TypeString),
			wire.LinkHitRate{OrphanSamples: []string{}}, "no rows"},
		{"spellings of an orphan", column("f", wire.TypeNumber, dec("1.50"), dec("1.5")), column("t", wire.TypeNumber),
			wire.LinkHitRate{FromNonNull: 2, OrphanCount: 2, OrphanRate: 1, OrphanSamples: []string{"1.5", "1.50"}},
			"measure-2a: samples are distinct texts"},
		{"empty strings", column("f", wire.TypeString, text("")), column("t", wire.TypeString, text("")),
			wire.LinkHitRate{FromNonNull: 1, OrphanSamples: []string{}}, "measure-1: the empty string is a value"},
		{"booleans", column("f", wire.TypeBoolean, wire.Bool(true)), column("t", wire.TypeString, text("true")),
			wire.LinkHitRate{FromNonNull: 1, OrphanSamples: []string{}}, "filter-7: a boolean's text"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := relation.LinkHitRate(c.from, c.to, link, unlimited())
			require.NoError(t, err)
			assert.Equal(t, &c.want, got, c.why)
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
