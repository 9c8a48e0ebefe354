package exam

import (
	"github.com/connectorsdk/connector-sdk-go/internal/oracle"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A misreading is a way in which connectors are known to read a filter wrongly.
// Operands are chosen so that every misreading which the data can show is shown by one
// of them; and a wrong answer that a misreading explains is reported with it.
type misreading struct {
	as string // completes "as if"
	// weight is how much it counts that a filter shows the misreading: more for one
	// that is often seen.
	weight float64
	// ofOne is the misreading of lists with one member, which many connectors send as eq or
	// through other code than longer ones. Nil: what longer lists show is enough.
	ofOne *misreading
	// about reports whether it can concern a filter with an operator on a column of a type at all; nil: any.
	about func(wire.Op, wire.Type) bool
	// other returns the filter and the type that the misreading takes for those it is given, and
	// whether it concerns them. It reads the cells as they are or, if cells is set, changed by that.
	other func(f wire.Filter, t wire.Type) (wire.Filter, wire.Type, bool)
	cells func(wire.Value) wire.Value
	// read, where other is nil, returns what the misreading takes for a match, or nil if it does
	// not concern the filter.
	read func(f wire.Filter, t wire.Type) matcher
}

// mayConcern reports whether a misreading can concern a filter with an operator on a column of a type.
func (m *misreading) mayConcern(op wire.Op, t wire.Type) bool {
	return m.about == nil || m.about(op, t)
}

// taking returns the misreading that takes another filter, or another type, for the one that
// it is given.
func taking(as string, other func(f wire.Filter, t wire.Type) (wire.Filter, wire.Type, bool)) misreading {
	return misreading{as: as, other: other}
}

// matching returns the misreading that reads the filters that it concerns by a matcher of its own.
func matching(
	as string, concerns func(wire.Filter, wire.Type) bool, matches func(wire.Filter, wire.Type) matcher,
) misreading {
	return misreading{as: as, read: func(f wire.Filter, t wire.Type) matcher {
		if !concerns(f, t) {
			return nil
		}
		return matches(f, t)
	}}
}

// changing returns the misreading that changes the operands of the filters that it
// is about and, if cells is set, the cells.
func changing(as string, cells bool, change func(wire.Value) wire.Value, about func(wire.Op, wire.Type) bool) misreading {
	m := taking(as, func(f wire.Filter, t wire.Type) (wire.Filter, wire.Type, bool) {
		other, changed := Respelt(f, change)
		return other, t, changed || cells // else it is read as the protocol does
	})
	m.about = about
	if cells {
		m.cells = change
	}
	return m
}

// withOperands reports whether filters with an operator have operands that can be changed.
func withOperands(op wire.Op) bool { return terms.ShapeOf(op) != terms.ShapeNullary }

// How much misreadings count.
const (
	often     = 4.0
	sometimes = 1.0
	seldom    = 0.2
)

// weighing gives misreadings a weight.
func weighing(weight float64, list []misreading) []misreading {
	for i := range list {
		list[i].weight = weight
	}
	return list
}

// matcher reports whether a cell passes a filter.
type matcher = func(cell wire.Value) bool

// right reads a filter as the protocol does.
func right(f wire.Filter, t wire.Type) matcher { return oracle.Reading{}.Matcher(f, t) }
