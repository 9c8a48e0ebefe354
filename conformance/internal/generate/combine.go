package generate

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// ofEach returns filters on each table, in any order: with every operator on columns of every
// type that the tables have, and with every way to make an operand.
func (g *Generator) ofEach() map[*Subject][]wire.Filter {
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
	filters := map[*Subject][]wire.Filter{}
	for _, t := range types {
		for _, op := range g.operators() {
			for half := range 2 { // the ways of two columns differ in their values
				found := false
				for try := 0; try < 30 && !found; try++ {
					at := pick(g.random, places[t])
					for i, f := range g.filters(at.column, op) {
						if i%2 == half && at.column.judgeable(f) {
							filters[at.subject] = append(filters[at.subject], f)
							found = true
						}
					}
				}
			}
		}
	}
	for _, s := range g.subjects {
		shuffle(g.random, filters[s])
	}
	return filters
}

// combine packs filters into questions, at most so many about each table.
func (g *Generator) combine(of map[*Subject][]wire.Filter, most int) (list []*Question) {
	for _, s := range g.subjects {
		filters := of[s]
		var kept []rowSet
		for _, f := range filters {
			kept = append(kept, s.kept(f))
		}
		for n := 0; n < most && len(filters) > 0; n++ {
			where, packed := s.packed(filters, kept, func(int) float64 { return 1 })
			if len(packed) == 0 {
				where.And, packed = []wire.Filter{filters[0]}, []int{0}
			}
			for _, i := range slices.Backward(packed) {
				filters, kept = slices.Delete(filters, i, i+1), slices.Delete(kept, i, i+1)
			}
			list = append(list, &Question{Subject: s, Where: where})
		}
	}
	shuffle(g.random, list)
	return list
}
