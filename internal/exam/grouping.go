package exam

import (
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/shrink"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// fold adds groups and measures to a question, by chance. It reports false if none of a few choices has an
// exact answer.
func (g *Generator) fold(q *Question) bool {
	chance := chanceOf(g.seed, shrink.Body(q.Message()))
	for range 4 {
		q.Groups, q.Measures, q.StringFields = nil, nil, nil
		g.groupBy(chance, q)
		g.measures(chance, q)
		if len(q.Groups)+len(q.Measures) > 0 && q.exact() {
			return true
		}
	}
	q.Groups, q.Measures, q.StringFields = nil, nil, nil
	return false
}

// exact reports whether an aggregate has an exact answer, with fewer groups than
// its limit.
func (q *Question) exact() bool {
	if q.strict {
		return true // what has no answer is declined
	}
	answer, err := oracle.Aggregate(q.Known(), q.aggregate())
	return err == nil && len(answer.Rows) < wire.AggregateLimit
}

// groupBy adds keys to a question. It prefers columns with few values.
func (g *Generator) groupBy(chance random, q *Question) {
	n := chance.IntN(4)
	if q.strict {
		n = min(n, 2) // with few keys and measures, fewer aggregates are declined
	}
	for range 5 * n {
		if len(q.Groups) == n {
			break
		}
		c := pick(chance, q.Subject.columns)
		if 2*len(c.cells) > q.Subject.Rows() && !chance.chance(3) {
			continue
		}
		group := wire.GroupKey{Field: c.Name, As: fmt.Sprintf("Key%d", len(q.Groups))}
		switch {
		case !c.groupable:
			continue
		case terms.IsTime(c.Type) && c.uniform && g.document.Capabilities.DateBucket && !chance.chance(4):
			group.Grain = pick(chance, []wire.Grain{wire.GrainYear, wire.GrainQuarter, wire.GrainMonth, wire.GrainDay})
		case c.manySpellings:
			continue
		}
		if slices.ContainsFunc(q.Groups, func(o wire.GroupKey) bool { return o.Field == group.Field && o.Grain == group.Grain }) {
			continue
		}
		if c.Type == wire.TypeString && chance.chance(2) {
			q.StringFields = append(q.StringFields, c.Name) // group by bytes
		}
		q.Groups = append(q.Groups, group)
	}
}

// measures adds measures to a question.
func (g *Generator) measures(chance random, q *Question) {
	n := 2 + chance.IntN(5)
	if q.strict {
		n = 1 + n%2
	}
	for range n {
		m := wire.Measure{
			Fn: pick(chance, []wire.AggFunc{
				wire.AggCount, wire.AggCount, wire.AggSum, wire.AggMin, wire.AggMax, wire.AggCountDistinct,
			}),
			As: fmt.Sprintf("Of%d", len(q.Measures)),
		}
		if c := pick(chance, q.Subject.columns); m.Fn != wire.AggCount || chance.chance(2) {
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
		if c.strict {
			return true
		}
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
