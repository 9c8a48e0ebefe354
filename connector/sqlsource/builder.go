package sqlsource

import (
	"strings"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// builder makes one statement. Values are bound in the order in which their
// placeholders stand in its text.
type builder struct {
	flavor Flavor
	args   []any
}

// bind binds a value and is its placeholder.
func (b *builder) bind(arg any) string {
	b.args = append(b.args, arg)
	return b.flavor.Param(len(b.args))
}

// What of one request's filters is pushed at most; the rest is left to the SDK.
// Engines bound the size of an expression and the number of placeholders.
const (
	maxFilters = 300
	maxValues  = 10_000
)

// selection is the filters of a request, divided between the engine and the
// SDK.
type selection struct {
	and  []wire.Filter
	or   [][]wire.Filter
	all  bool // nothing is left to the SDK
	used []*Column
}

// choose divides filters by what the engine can say exactly. columns finds a
// column of the base table; the fields are known to be there.
func choose(flavor Flavor, and []wire.Filter, or [][]wire.Filter, column func(string) *Column) selection {
	var s selection
	left, values := maxFilters, maxValues
	guarded := map[*Column]bool{}
	can := func(f wire.Filter) bool {
		if left == 0 || len(f.Values) > values {
			return false
		}
		c := column(f.Field)
		if _, ok := (&builder{flavor: flavor}).condition(c, f); !ok {
			return false
		}
		left--
		values -= len(f.Values)
		if f.Op != wire.OpIsNull && f.Op != wire.OpNotNull {
			guarded[c] = true
		}
		return true
	}
	pushed, all := filter.Split(wire.Where{And: and, Or: or}, can)
	s.and, s.or, s.all = pushed.And, pushed.Or, all
	for c := range guarded {
		s.used = append(s.used, c)
	}
	return s
}

// where is a selection as a WHERE clause; empty when there is nothing to say.
func (b *builder) where(s selection, column func(string) *Column) string {
	var conjuncts []string
	for _, f := range s.and {
		condition, _ := b.condition(column(f.Field), f)
		conjuncts = append(conjuncts, condition)
	}
	var groups []string
	for _, group := range s.or {
		var all []string
		for _, f := range group {
			condition, _ := b.condition(column(f.Field), f)
			all = append(all, condition)
		}
		and := " AND "
		if has(bugGroupOr) {
			and = " OR "
		}
		groups = append(groups, "("+strings.Join(all, and)+")")
	}
	switch {
	case len(groups) > 0 && has(bugOr) && len(conjuncts) > 0:
		return " WHERE (" + strings.Join(conjuncts, " AND ") + ") OR " + b.anyOf(groups)
	case len(groups) > 0:
		conjuncts = append(conjuncts, b.anyOf(groups))
	case len(conjuncts) == 0:
		return ""
	}
	return " WHERE " + strings.Join(conjuncts, " AND ")
}
