package conformance

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// deck is one predicate of every operator, type and class, as far as the tables
// have them, in any order.
func (g *generator) deck() (deck []predicate) {
	type place struct {
		*subject
		*column
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
			for _, k := range classes(op, t) {
				for range 30 {
					at := pick(g.draws, places[t])
					if p, ok := g.predicate(at.subject, at.column, op, k); ok {
						deck = append(deck, p)
						break
					}
				}
			}
		}
	}
	g.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
	return deck
}

// The most predicates of one question: those that most rows pass stand in and,
// where each can drop rows, the others in groups of their own, where each can
// add some. So one that is judged wrongly shows in the answer.
const (
	mostAnd = 3
	mostOr  = 5
)

// pack makes questions of the predicates of a deck, about each table at most a
// number of them.
func (g *generator) pack(deck []predicate, most int) (list []*question) {
	for _, s := range g.subjects {
		open := &question{subject: s}
		flush := func() {
			if len(open.and)+len(open.or) > 0 {
				g.fill(open)
				list = append(list, open)
			}
			open = &question{subject: s}
		}
		first := len(list)
		for _, p := range deck {
			if p.subject != s || len(list)-first >= most {
				continue
			}
			if n := s.matching([]wire.Filter{p.Filter}, nil); 2*n > len(s.sample.Rows) {
				if len(open.and) == mostAnd || s.matching(append(slices.Clone(open.and), p.Filter), nil) == 0 {
					flush()
				}
				open.and = append(open.and, p.Filter)
			} else {
				if len(open.or) == mostOr {
					flush()
				}
				open.or = append(open.or, []wire.Filter{p.Filter})
			}
			g.dealt[string(p.Op)+" "+string(s.column(p.Field).Type)+" "+string(p.class)]++
		}
		if len(list)-first < most {
			flush()
		}
	}
	g.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// fill adds to a question without a telling answer what gives it one, where
// that is possible.
func (g *generator) fill(q *question) {
	s := q.subject
	for range 12 {
		n := s.matching(q.and, q.or)
		if s.telling(n) {
			return
		}
		p, ok := g.any(s)
		if !ok || !s.telling(s.matching([]wire.Filter{p.Filter}, nil)) {
			continue
		}
		f := []wire.Filter{p.Filter}
		switch {
		case n > 0 && s.telling(s.matching(append(f, q.and...), q.or)):
			q.and = append(q.and, p.Filter)
		case n == 0 && len(q.or) > 0 && s.telling(s.matching(q.and, append([][]wire.Filter{f}, q.or...))):
			q.or = append(q.or, f)
		}
	}
}
