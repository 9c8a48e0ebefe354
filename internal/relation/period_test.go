package relation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/connectorsdk/connector-sdk-go/internal/relation"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/cells"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

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
