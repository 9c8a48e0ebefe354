package exam

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/shrink"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// OnNulls chooses filters on columns with nulls: each operator once before any is chosen again, and other columns
// than before. What an operator makes of nulls is often written anew for each place where it is asked for.
type OnNulls struct {
	all   []onNull
	asked map[any]int // how often an operator, a column and a type were chosen
}

// onNull is a filter on a column with nulls.
type onNull struct {
	*Subject
	wire.Filter
	column *Column
	uneven int // how far from half of the rows it keeps
}

// OnNulls returns a choice of the filters that tell the rows of tables apart.
func (g *Generator) OnNulls() *OnNulls {
	n := &OnNulls{asked: map[any]int{}}
	for _, s := range g.subjects {
		if s.Window > 0 {
			continue
		}
		for _, f := range g.discriminating(s) {
			if c := s.column(f.Field); c.nulls > 0 {
				kept := 2*s.kept(f).count() - len(s.sample.Rows)
				n.all = append(n.all, onNull{s, f, c, max(kept, -kept)})
			}
		}
	}
	return n
}

// Next returns the next filter on a table, or on any if s is nil, and its table.
func (n *OnNulls) Next(s *Subject) (*Subject, wire.Filter, bool) {
	best, least := -1, [5]int{}
	for i, o := range n.all {
		if s != nil && o.Subject != s {
			continue
		}
		usual := 1 // most operators drop nulls, as in SQL
		if o.Op == wire.OpNeq || o.Op == wire.OpNin {
			usual = 0
		}
		rank := [...]int{n.asked[o.Op], usual, n.asked[o.column], n.asked[o.column.Type], o.uneven}
		if best < 0 || slices.Compare(rank[:], least[:]) < 0 {
			best, least = i, rank
		}
	}
	if best < 0 {
		return nil, wire.Filter{}, false
	}
	o := n.all[best]
	for _, key := range []any{o.Op, o.column, o.column.Type} {
		n.asked[key]++
	}
	return o.Subject, o.Filter, true
}

// operatorsOnNulls returns questions with one filter each: every operator at several places.
func (g *Generator) operatorsOnNulls(places ...func(*Question) bool) (list []*Question) {
	choices := make([]*OnNulls, len(places))
	for i := range choices {
		choices[i] = g.OnNulls()
	}
	for range g.operators() {
		for i, place := range places {
			s, f, ok := choices[i].Next(nil)
			if !ok || choices[i].asked[f.Op] > 1 {
				continue
			}
			if q := (&Question{Subject: s, Where: wire.Where{And: []wire.Filter{f}}}); place(q) {
				list = append(list, q)
			}
		}
	}
	return list
}

// NullsOnRoutes returns questions about every operator by itself on a column with nulls, on each
// route. Aggregates are asked for a count of rows, for other measures of them, and for groups.
func (g *Generator) NullsOnRoutes(routes ...string) []*Question {
	var places []func(*Question) bool
	for _, route := range routes {
		places = append(places, func(q *Question) bool {
			g.onRoute(q, route)
			return true
		})
		if route == wire.PathAggregate {
			for _, grouped := range []bool{false, true} {
				places = append(places, func(q *Question) bool { return g.foldAs(q, grouped) })
			}
		}
	}
	return g.operatorsOnNulls(places...)
}

// NullsInGroups returns questions for the rows of two groups of or: every operator on a column with nulls, beside a
// filter that keeps few rows. skip leaves out filters that are answered wrongly on their own.
func (g *Generator) NullsInGroups(skip func(*Question) bool) []*Question {
	return g.operatorsOnNulls(func(q *Question) bool {
		g.onRoute(q, wire.PathQuery)
		return !skip(q) && g.inGroup(q)
	})
}

// inGroup turns the filter of a question into a group of or, beside a group that keeps few rows. It reports false if the
// table has no filter for the latter.
func (g *Generator) inGroup(q *Question) bool {
	kept, least := q.kept(q.And[0]), 0
	for _, other := range g.discriminating(q.Subject) {
		rows := q.kept(other)
		if n := rows.count(); other.Field != q.And[0].Field && (least == 0 || n < least) && kept.without(rows).count() > 0 {
			q.Or, least = [][]wire.Filter{{other}, {q.And[0]}}, n
		}
	}
	q.And = nil
	return q.Or != nil
}

// foldAs adds groups to a question, or measures of all rows that are more than counts. It reports false if none of a
// few choices has an exact answer.
func (g *Generator) foldAs(q *Question, grouped bool) bool {
	q.Path = wire.PathAggregate
	chance := chanceOf(g.seed, shrink.Body(q.Message()))
	const tries = 12
	for range tries {
		q.Groups, q.StringFields = nil, nil
		q.Measures = []wire.Measure{{Fn: wire.AggCount, As: "Rows"}}
		if grouped {
			g.groupBy(chance, q)
		}
		g.measures(chance, q)
		folds := len(q.Groups) > 0 || slices.ContainsFunc(q.Measures, func(m wire.Measure) bool { return m.Fn != wire.AggCount })
		if folds && grouped == (len(q.Groups) > 0) && q.exact() {
			return true
		}
	}
	return false
}

// nullsInWindows returns questions for sorted windows of the rows that every operator keeps, by itself on a column
// with nulls. The window has room for all rows of the table.
func (g *Generator) nullsInWindows(skip func(*Question) bool) []*Question {
	return g.operatorsOnNulls(func(q *Question) bool {
		chance := chanceOf(g.seed, "nulls in windows", q.Table.Name, q.And[0].Field, string(q.And[0].Op))
		sortable := q.columnsThat(func(c *Column) bool { return c.sortable && len(c.cells) > 1 && !terms.IsDocument(c.Type) })
		if skip(q) || len(sortable) == 0 || g.document.SortKeys() == 0 {
			return false
		}
		q.Sort = []wire.SortKey{{Field: pick(chance, sortable).Name, Dir: pick(chance, []wire.Direction{wire.Asc, wire.Desc})}}
		q.Limit, _ = g.document.Window(int64(q.Rows()), 0)
		g.onRoute(q, wire.PathQuery)
		return true
	})
}
