package exam

import (
	"context"

	"github.com/connectorsdk/connector-sdk-go/internal/shrink"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Smallest returns the smallest question found for which wrong returns true, or q if nothing smaller is.
// wrong has to ask each of them. Smallest stops early when ctx ends.
func (q *Question) Smallest(ctx context.Context, wrong func(*Question) bool) *Question {
	return q.asking(shrink.Request(ctx, q.Message(), q.shape(), func(m wire.Request) bool {
		smaller := q.asking(m)
		return (q.Path != wire.PathAggregate || smaller.exact()) && wrong(smaller)
	}))
}

// shape returns what the requests about a table have to keep.
func (s *Subject) shape() shrink.Table {
	t := shrink.Table{Columns: s.Table.Columns, Key: s.Table.PrimaryKey}
	for _, c := range s.columnsThat(func(c *Column) bool { return c.manySpellings }) {
		t.Grained = append(t.Grained, c.Name)
	}
	return t
}
