package conformance

import (
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/conformance/oracle"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// aggregates are questions for groups and measures.
func (g *generator) aggregates(n int) (list []*question) {
	for range 10 * n {
		if len(g.subjects) == 0 || len(list) == n {
			break
		}
		q := &question{path: wire.PathAggregate, subject: g.subject()}
		if !g.chance(3) {
			g.conditions(q)
			g.fill(q)
		}
		g.groupBy(q)
		g.measures(q)
		if len(q.groups)+len(q.measures) > 0 && q.exact() {
			list = append(list, q)
		}
	}
	return list
}

// exact reports whether an aggregate has an exact answer that is not too long
// to be given (E1, E6).
func (q *question) exact() bool {
	answer, err := oracle.Aggregate(q.known(), q.aggregate())
	return err == nil && len(answer.Rows) < wire.AggregateLimit
}

// groupBy takes columns of few values before those of many.
func (g *generator) groupBy(q *question) {
	n := g.IntN(4)
	for range 5 * n {
		if len(q.groups) == n {
			break
		}
		c := pick(g.draws, q.subject.columns)
		if 2*len(c.cells) > q.subject.rows() && !g.chance(3) {
			continue
		}
		group := wire.GroupKey{Field: c.Name, As: fmt.Sprintf("g%d", len(q.groups))}
		dated := c.Type == wire.TypeDate || c.Type == wire.TypeDatetime
		switch {
		case !c.groupable:
			continue
		case dated && c.uniform && g.doc.Capabilities.DateBucket && !g.chance(4):
			group.Grain = pick(g.draws, []wire.Grain{wire.GrainYear, wire.GrainQuarter, wire.GrainMonth, wire.GrainDay})
		case c.twins:
			continue // E2
		}
		if slices.ContainsFunc(q.groups, func(o wire.GroupKey) bool { return o.Field == group.Field && o.Grain == group.Grain }) {
			continue
		}
		if c.Type == wire.TypeString && g.chance(2) {
			q.strings = append(q.strings, c.Name) // E5
		}
		q.groups = append(q.groups, group)
	}
}

func (g *generator) measures(q *question) {
	for range 2 + g.IntN(5) {
		m := wire.Measure{Fn: pick(g.draws, []wire.Fn{wire.FnCount, wire.FnCount, wire.FnSum, wire.FnMin, wire.FnMax, wire.FnCountDistinct}),
			As: fmt.Sprintf("m%d", len(q.measures))}
		if c := pick(g.draws, q.subject.columns); m.Fn != wire.FnCount || g.chance(2) {
			if !c.aggregatable || !measurable(m.Fn, c) {
				continue
			}
			m.Field = c.Name
		}
		q.measures = append(q.measures, m)
	}
}

// measurable tells over which columns a measure is settled (E1, E2).
func measurable(fn wire.Fn, c *column) bool {
	switch fn {
	case wire.FnSum:
		return c.Type.Numeric()
	case wire.FnMin, wire.FnMax:
		switch c.Type {
		case wire.TypeNumber, wire.TypeDecimal, wire.TypeString:
			return true
		case wire.TypeDate, wire.TypeDatetime:
			return c.uniform
		}
		return false
	case wire.FnCountDistinct:
		return !c.twins
	}
	return true
}
