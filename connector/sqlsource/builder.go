package sqlsource

import (
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// builder collects the values of one statement. They are bound in the order in
// which their placeholders stand in its text.
type builder struct {
	flavor sqlengine.Flavor
	// windowFirst reports that a window stands right behind SELECT.
	windowFirst bool
	args        []any
}

// window is a part of the rows of a SELECT; 0 is no offset, and no limit.
type window struct {
	offset, limit int64
	ordered       bool // the SELECT has ORDER BY
}

// query returns a SELECT of a list, cut to a window. rest writes what follows the list,
// and binds its values as it does.
func (b *builder) query(list string, w window, rest func() string) string {
	if b.windowFirst {
		return "SELECT" + b.window(w) + " " + list + rest()
	}
	return "SELECT " + list + rest() + b.window(w)
}

// window returns the clause that cuts rows, or nothing if there is nothing to cut.
func (b *builder) window(w window) string {
	var limit, offset string
	if w.limit > 0 {
		limit = b.bind(w.limit)
	}
	if w.offset > 0 {
		offset = b.bind(w.offset)
	}
	if limit == "" && offset == "" {
		return ""
	}
	return b.flavor.Window(limit, offset, w.ordered)
}

// bind binds a value and returns its placeholder.
func (b *builder) bind(arg any) string {
	b.args = append(b.args, arg)
	return b.flavor.Param(len(b.args))
}

// At most so many filters and members of lists of one request are pushed. The
// rest is left to the library. Engines limit the size of an expression and the
// number of placeholders.
const (
	maxFilters = 300
	maxValues  = 10_000
)

// pushdown is a request's filters, divided between the engine and the library.
type pushdown struct {
	pushed wire.Where
	all    bool      // nothing is left to the library
	used   []*column // whose values are compared
}

// choose divides filters by what the engine can express exactly. find returns
// a column of the base table; the fields are known to exist.
func choose(flavor sqlengine.Flavor, where wire.Where, find func(string) *column) pushdown {
	filters, values := maxFilters, maxValues
	used := map[*column]bool{}
	var p pushdown
	p.pushed, p.all = filter.Split(where, func(f wire.Filter) bool {
		if filters == 0 || len(f.Values) > values {
			return false
		}
		c := find(f.Field)
		if _, ok := (&builder{flavor: flavor}).condition(c, f); !ok {
			return false
		}
		filters--
		values -= len(f.Values)
		if f.Op != wire.OpIsNull && f.Op != wire.OpNotNull && !used[c] {
			used[c] = true
			p.used = append(p.used, c)
		}
		return true
	})
	return p
}

// where returns filters, and more conditions, as a WHERE clause, or nothing if
// there are none.
func (b *builder) where(filters wire.Where, find func(string) *column, more ...string) string {
	conditions := func(filters []wire.Filter) []string {
		var list []string
		for _, f := range filters {
			condition, _ := b.condition(find(f.Field), f)
			list = append(list, condition)
		}
		return list
	}
	conjuncts := conditions(filters.And)
	var groups []string
	for _, group := range filters.Or {
		groups = append(groups, "("+strings.Join(conditions(group), " AND ")+")")
	}
	if len(groups) > 0 {
		conjuncts = append(conjuncts, b.anyOf(groups))
	}
	for _, condition := range more {
		if condition != "" {
			conjuncts = append(conjuncts, "("+condition+")")
		}
	}
	if len(conjuncts) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(conjuncts, " AND ")
}

// anyOf joins conditions by OR, nested evenly so that no engine finds the
// expression too deep.
func (b *builder) anyOf(conditions []string) string {
	if len(conditions) == 1 {
		return conditions[0]
	}
	half := len(conditions) / 2
	return "(" + b.anyOf(conditions[:half]) + " OR " + b.anyOf(conditions[half:]) + ")"
}

// selectCells returns what SELECT has for these columns.
func selectCells(columns []*column) string {
	if len(columns) == 0 {
		return "1"
	}
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = c.Cell
	}
	return strings.Join(cells, ", ")
}
