package exam

import (
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/shrink"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Joined returns the questions of FilteredWindows about joined tables: with one or two hops, over keys of any types.
func (g *Generator) Joined() []*Question {
	list := g.FilteredWindows(KeepAll)
	for _, q := range list {
		g.join(chanceOf(g.seed, "joins", shrink.Body(q.Message())), q)
	}
	return list
}

// join adds one or two hops to a question. The second begins at the table of the question or at the one that the
// first has reached.
func (g *Generator) join(chance random, q *Question) {
	from := q.Subject
	for hop := range 1 + chance.IntN(2) {
		to := pick(chance, g.subjects)
		key := pick(chance, from.columns).Name
		j := wire.JoinHop{FromTable: from.Table.Name, FromField: key, ToTable: to.Table.Name, ToField: g.keyLike(chance, key, to)}
		for range 1 + chance.IntN(3) {
			name := pick(chance, to.columns).Name
			if !slices.ContainsFunc(j.Fields, func(f wire.JoinField) bool { return f.Field == name }) {
				j.Fields = append(j.Fields, wire.JoinField{Field: name, As: fmt.Sprintf("j%d %s", hop+1, name)})
			}
		}
		q.Joins = append(q.Joins, j)
		if to == q.Subject {
			return // no hop starts from a table that is reached twice
		}
		if chance.chance(2) {
			from = to
		}
	}
}

// keyLike returns a column to compare a key with: mostly the one of the same name, if there is one.
func (g *Generator) keyLike(chance random, key string, to *Subject) string {
	if to.Table.Index(key) >= 0 && !chance.chance(3) {
		return key
	}
	return pick(chance, to.columns).Name
}

// Links returns links between any two tables, from every column.
func (g *Generator) Links() (list []*wire.LinkHitRateRequest) {
	chance := chanceOf(g.seed, "links")
	for _, from := range g.subjects {
		for _, to := range g.subjects {
			for _, c := range from.columns {
				list = append(list, &wire.LinkHitRateRequest{
					FromTable: from.Table.Name, FromColumn: c.Name, ToTable: to.Table.Name, ToColumn: g.keyLike(chance, c.Name, to),
				})
			}
		}
	}
	shuffle(chance, list)
	return list
}
