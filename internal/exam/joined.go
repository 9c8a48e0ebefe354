package exam

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// particularCombinations returns those that connectors are known to join wrongly: two
// bounds of one column, both of them values of rows; groups of or that differ in a second
// condition only; a condition beside groups; and an empty group beside another.
func (g *Generator) particularCombinations(s *Subject, p *pool, skip func(*Question) bool) (list []*Question) {
	add := func(q *Question) {
		if q != nil && !skip(q) && q.eachMatters() {
			list = append(list, q)
		}
	}
	columns := s.columnsThat(func(c *Column) bool { return c.filterable && len(c.cells) > 1 })
	shuffle(p.random, columns)
	ranges := []*Question{}
	bounds := [][2]wire.Op{{wire.OpGt, wire.OpLt}, {wire.OpGte, wire.OpLte}, {wire.OpGt, wire.OpLte}, {wire.OpGte, wire.OpLt}}
	for _, c := range columns {
		ops := bounds[len(ranges)%len(bounds)]
		if q := p.between(c, ops[0], ops[1]); q != nil && g.document.Declares(ops[0], ops[1]) {
			ranges = append(ranges, q)
		}
	}
	for i := range max(len(ranges), len(columns)) {
		if i < len(ranges) {
			add(ranges[i])
		}
		if i < len(columns) && g.document.Declares(wire.OpEq) {
			add(p.unequalGroups(columns[i], columns, i%2 == 0))
		}
		if i < 2 {
			add(p.question(shape{and: 1, or: 2, group: 1}))
		}
		if i == 0 && len(p.filters) > 0 {
			list = append(list, &Question{Subject: s, Where: wire.Where{Or: [][]wire.Filter{{p.filters[0]}, {}}}})
		}
	}
	return list
}

// eachMatters reports whether the question keeps rows of the sample, and other rows without any one
// of its filters of and, or groups of or.
func (q *Question) eachMatters() bool {
	and, or := q.sets(q.Where)
	return eachMatters(q.rows(true), and, or)
}

// sets returns the rows of the sample that each filter of and keeps, and each group of or.
func (s *Subject) sets(where wire.Where) (and, or []rowSet) {
	for _, f := range where.And {
		and = append(and, s.kept(f))
	}
	for _, group := range where.Or {
		or = append(or, s.keptBy(group, nil))
	}
	return and, or
}

// eachMatters reports whether some of all rows are kept by each set of and and, if or has sets,
// by one of them; and other rows without any one of the sets.
func eachMatters(all rowSet, and, or []rowSet) bool {
	kept := all
	for i, open := range openTo(all, and, or) {
		if i < len(and) {
			kept = open.and(and[i])
		} else {
			kept = open.and(or[i-len(and)])
		}
		if i < len(and) && kept.count() == open.count() || kept.count() == 0 {
			return false
		}
	}
	return kept.count() > 0
}

// openTo returns, for each set of and and then of or, the rows whose place in the answer it decides: all
// other sets of and keep them and, for a set of and, one of or does; for a set of or, no other does.
func openTo(all rowSet, and, or []rowSet) (list []rowSet) {
	for i := range and {
		open := inEach(all, without(and, i))
		if len(or) > 0 {
			open = open.and(union(or))
		}
		list = append(list, open)
	}
	for i := range or {
		open := inEach(all, and)
		for _, other := range without(or, i) {
			open = open.without(other)
		}
		list = append(list, open)
	}
	return list
}

// inEach returns those of some rows that are in each of the sets.
func inEach(rows rowSet, sets []rowSet) rowSet {
	for _, set := range sets {
		rows = rows.and(set)
	}
	return rows
}

// without returns a list without the member at an index.
func without[T any](list []T, at int) []T { return slices.Concat(list[:at], list[at+1:]) }

// between returns the question with two bounds of a column that are values of rows, with
// values between them, or nil.
func (p *pool) between(c *Column, least, most wire.Op) *Question {
	ladder := c.ladder()
	if !c.sortable || c.Type == wire.TypeBoolean || terms.IsDocument(c.Type) || len(ladder) < 4 {
		return nil
	}
	from := 1 + p.IntN(len(ladder)/4)
	to := len(ladder) - 2 - p.IntN(len(ladder)/4)
	and := []wire.Filter{{Field: c.Name, Op: least, Value: ladder[from]}, {Field: c.Name, Op: most, Value: ladder[to]}}
	for _, f := range and {
		if len(f.Value.String()) > MaxOperand || !c.settled(f) {
			return nil
		}
	}
	return &Question{Subject: p.subject, Where: wire.Where{And: and}}
}

// unequalGroups returns the question for the rows with one value of a column and a value of
// a second column, or another value of the first: (a = 1 and b = 2) or a = 3. Some rows
// have the first value and not the second, so that it shows if the second is lost.
func (p *pool) unequalGroups(a *Column, columns []*Column, short bool) *Question {
	rows := p.subject.sample.Rows
	equal := func(c *Column, v wire.Value) wire.Filter { return wire.Filter{Field: c.Name, Op: wire.OpEq, Value: v} }
	usable := func(c *Column, row []wire.Value) bool {
		v := row[c.at]
		return !v.IsNull() && len(v.String()) <= MaxOperand && c.settled(equal(c, v))
	}
	const tries = 8
	start := p.IntN(len(rows))
	for i := range min(len(rows), tries) {
		row := rows[(start+i)%len(rows)]
		other := slices.IndexFunc(rows, func(o []wire.Value) bool { return usable(a, o) && !oracle.Same(o[a.at], row[a.at], a.Type) })
		if !usable(a, row) || other < 0 {
			continue
		}
		equalsA := right(equal(a, row[a.at]), a.Type)
		for _, b := range columns {
			if b == a || !usable(b, row) {
				continue
			}
			equalsB := right(equal(b, row[b.at]), b.Type)
			if !slices.ContainsFunc(rows, func(o []wire.Value) bool { return equalsA(o[a.at]) && !equalsB(o[b.at]) }) {
				continue
			}
			or := [][]wire.Filter{{equal(a, row[a.at]), equal(b, row[b.at])}, {equal(a, rows[other][a.at])}}
			if short {
				slices.Reverse(or)
			}
			return &Question{Subject: p.subject, Where: wire.Where{Or: or}}
		}
	}
	return nil
}
