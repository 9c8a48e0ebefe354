package exam

import (
	"testing"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// BenchmarkPlan chooses the filters of every cell of a table of forty texts and numbers.
func BenchmarkPlan(b *testing.B) {
	ops := []wire.Op{
		wire.OpEq, wire.OpNeq, wire.OpGt, wire.OpGte, wire.OpLt, wire.OpLte, wire.OpContains, wire.OpIncludes, wire.OpStartsWith,
		wire.OpIn, wire.OpNin, wire.OpIsNull, wire.OpNotNull,
	}
	for b.Loop() {
		for _, s := range []*Subject{notes(), small()} {
			for _, t := range gridOf(s, ops...).tables {
				for _, c := range t.cells {
					c.plan()
				}
			}
		}
	}
}
