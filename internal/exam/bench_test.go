package exam

import (
	"testing"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// BenchmarkPlan chooses the filters of every cell of a table of forty texts and numbers.
func BenchmarkPlan(b *testing.B) {
	for b.Loop() {
		for _, s := range []*Subject{notes(), small(b)} {
			for _, t := range gridOf(s, terms.Operators[wire.Op]()...).tables {
				for _, c := range t.cells {
					c.plan()
				}
			}
		}
	}
}
