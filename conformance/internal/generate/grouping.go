package generate

import (
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Aggregates returns n questions for groups and measures.
func (g *Generator) Aggregates(n int) []*Question {
	return g.questions(n, func(_ int, q *Question) bool {
		q.Path = wire.PathAggregate
		if !g.chance(3) {
			g.conditions(q)
		}
		g.groupBy(q)
		g.measures(q)
		return len(q.Groups)+len(q.Measures) > 0 && q.exact()
	})
}

// exact reports whether an aggregate has an exact answer, with fewer groups than
// its limit.
func (q *Question) exact() bool {
	answer, err := oracle.Aggregate(q.known(), q.aggregate())
	return err == nil && len(answer.Rows) < wire.AggregateLimit
}

// groupBy adds keys to a question. It prefers columns with few values.
func (g *Generator) groupBy(q *Question) {
	n := g.IntN(4)
	for range 5 * n {
		if len(q.Groups) == n {
			break
		}
		c := pick(g.random, q.Subject.columns)
		if 2*len(c.cells) > q.Subject.Rows() && !g.chance(3) {
			continue
		}
		group := wire.GroupKey{Field: c.Name, As: fmt.Sprintf("Key%d", len(q.Groups))}
		switch {
		case !c.groupable:
			continue
		case terms.IsTime(c.Type) && c.uniform && g.document.Capabilities.DateBucket && !g.chance(4):
			group.Grain = pick(g.random, []wire.Grain{wire.GrainYear, wire.GrainQuarter, wire.GrainMonth, wire.GrainDay})
		case c.manySpellings:
			continue
		}
		if slices.ContainsFunc(q.Groups, func(o wire.GroupKey) bool { return o.Field == group.Field && o.Grain == group.Grain }) {
			continue
		}
		if c.Type == wire.TypeString && g.chance(2) {
			q.StringFields = append(q.StringFields, c.Name) // group by bytes
		}
		q.Groups = append(q.Groups, group)
	}
}

// measures adds measures to a question.
func (g *Generator) measures(q *Question) {
	for range 2 + g.IntN(5) {
		m := wire.Measure{
			Fn: pick(g.random, []wire.AggFunc{
				wire.AggCount, wire.AggCount, wire.AggSum, wire.AggMin, wire.AggMax, wire.AggCountDistinct,
			}),
			As: fmt.Sprintf("Of%d", len(q.Measures)),
		}
		if c := pick(g.random, q.Subject.columns); m.Fn != wire.AggCount || g.chance(2) {
			if !c.aggregatable || !measurable(m.Fn, c) {
				continue
			}
			m.Field = c.Name
		}
		q.Measures = append(q.Measures, m)
	}
}

// measurable reports whether a measure over a column has one right answer.
func measurable(fn wire.AggFunc, c *Column) bool {
	switch fn {
	case wire.AggSum:
		return c.Type.Numeric()
	case wire.AggMin, wire.AggMax:
		switch c.Type {
		case wire.TypeNumber, wire.TypeDecimal, wire.TypeString:
			return true
		case wire.TypeDate, wire.TypeDatetime:
			return c.uniform
		}
		return false
	case wire.AggCountDistinct:
		return !c.manySpellings
	}
	return true
}
