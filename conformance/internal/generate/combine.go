package generate

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// perOperator is how many predicates at least there are of each operator and type, if the
// tables have as many.
const perOperator = 6

// oneOfEach returns predicates with every operator on columns of every type that the tables have,
// and with every way to make an operand, in any order.
func (g *Generator) oneOfEach() (list []predicate) {
	type place struct {
		subject *Subject
		column  *Column
	}
	var types []wire.Type
	places := map[wire.Type][]place{}
	for _, s := range g.subjects {
		for _, c := range s.columns {
			if len(c.cells) < 2 || s.large() && len(g.subjects) > 1 {
				continue
			}
			if places[c.Type] == nil {
				types = append(types, c.Type)
			}
			places[c.Type] = append(places[c.Type], place{s, c})
		}
	}
	for _, t := range types {
		for _, op := range g.operators() {
			known := len(list)
			for try := 0; try < 30 && len(list) < known+perOperator; try++ {
				at := pick(g.random, places[t])
				for i, f := range g.filters(at.column, op) {
					if i%2 == try%2 && at.column.judgeable(f) { // those of several columns differ in their values
						list = append(list, predicate{at.subject, f})
					}
				}
				if terms.ShapeOf(op) == terms.ShapeNullary && len(list) > known {
					break
				}
			}
		}
	}
	g.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// How many predicates one question has. Those that most rows pass go into And,
// where each can drop rows. The others go into groups of their own, where each can
// add rows. So a predicate that is judged wrongly shows in the answer.
const (
	maxAnd = 3
	maxOr  = 5
)

// combine builds questions of predicates, at most so many about each table.
func (g *Generator) combine(predicates []predicate, most int) (list []*Question) {
	for _, s := range g.subjects {
		open := &Question{Subject: s}
		flush := func() {
			if len(open.And)+len(open.Or) > 0 {
				g.makeDiscriminating(open)
				list = append(list, open)
			}
			open = &Question{Subject: s}
		}
		first := len(list)
		for _, p := range predicates {
			if p.subject != s || len(list)-first >= most {
				continue
			}
			if n := s.matching([]wire.Filter{p.Filter}, nil); 2*n > len(s.sample.Rows) {
				if len(open.And) == maxAnd || s.matching(append(slices.Clone(open.And), p.Filter), nil) == 0 {
					flush()
				}
				open.And = append(open.And, p.Filter)
			} else {
				if len(open.Or) == maxOr {
					flush()
				}
				open.Or = append(open.Or, []wire.Filter{p.Filter})
			}
		}
		if len(list)-first < most {
			flush()
		}
	}
	g.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// makeDiscriminating adds a filter to a question whose answer is empty or everything, if
// that lets its answer discriminate.
func (g *Generator) makeDiscriminating(q *Question) {
	s := q.Subject
	for range 12 {
		n := s.matching(q.And, q.Or)
		if s.discriminates(n) {
			return
		}
		f, ok := g.any(s, s.names()...)
		group := []wire.Filter{f}
		if !ok || !s.discriminates(s.matching(group, nil)) {
			continue
		}
		switch {
		case n > 0 && s.discriminates(s.matching(append(group, q.And...), q.Or)):
			q.And = append(q.And, f)
		case n == 0 && len(q.Or) > 0 && s.discriminates(s.matching(q.And, append([][]wire.Filter{group}, q.Or...))):
			q.Or = append(q.Or, group)
		}
	}
}
