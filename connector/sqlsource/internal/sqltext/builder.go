// Package sqltext writes filters as SQL: the condition that means exactly what a filter
// means, and beside it one that an index serves. It asks no database.
package sqltext

import (
	"math"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Builder collects the values of one statement. They are bound in the order in
// which their placeholders stand in its text.
type Builder struct {
	Flavor *sqlengine.Flavor
	Args   []any
}

// Window is a part of the rows of a SELECT; 0 is no offset, and no limit.
type Window struct {
	Offset, Limit int64
	Ordered       bool // the SELECT has ORDER BY
}

// Query returns a SELECT of a list, cut to a window. rest writes what follows the list,
// and binds its values as it does.
func (b *Builder) Query(list string, w Window, rest func() string) string {
	if b.Flavor.WindowFirst {
		return "SELECT" + b.window(w) + " " + list + rest()
	}
	return "SELECT " + list + rest() + b.window(w)
}

// window returns the clause that cuts rows, or nothing if there is nothing to cut.
func (b *Builder) window(w Window) string {
	var limit, offset string
	bindOffset := func() {
		if w.Offset > 0 {
			offset = b.bind(w.Offset)
		}
	}
	if b.Flavor.OffsetFirst {
		bindOffset()
	}
	if w.Limit > 0 {
		limit = b.bind(w.Limit)
	}
	if !b.Flavor.OffsetFirst {
		bindOffset()
	}
	if limit == "" && offset == "" {
		return ""
	}
	return b.Flavor.Window(limit, offset, w.Ordered)
}

// bind binds a value and returns its placeholder.
func (b *Builder) bind(arg any) string {
	b.Args = append(b.Args, arg)
	return b.Flavor.Param(len(b.Args))
}

// At most so many filters and members of lists of one request are pushed. The
// rest is left to the library. Engines limit the size of an expression and the
// number of placeholders.
const (
	maxFilters = 300
	MaxValues  = 10_000
)

// Pushdown is a request's filters, divided between the engine and the library.
type Pushdown struct {
	Pushed wire.Where
	All    bool      // nothing is left to the library
	Used   []*Column // whose values are compared
}

// Choose divides filters by what the engine can express exactly, in a statement that
// binds no more values than it takes. find returns a column of the base table; the
// fields are known to exist.
func Choose(flavor *sqlengine.Flavor, where wire.Where, find func(string) *Column) Pushdown {
	filters, values, bound := maxFilters, MaxValues, flavor.MaxValues
	if bound == 0 {
		bound = math.MaxInt
	}
	used := map[*Column]bool{}
	var p Pushdown
	p.Pushed, p.All = filter.Split(where, func(f wire.Filter) bool {
		if filters == 0 || len(f.Values) > values {
			return false
		}
		c := find(f.Field)
		b := &Builder{Flavor: flavor}
		if _, ok := b.Condition(c, f); !ok || len(b.Args) > bound {
			return false
		}
		bound -= len(b.Args)
		filters--
		values -= len(f.Values)
		if f.Op != wire.OpIsNull && f.Op != wire.OpNotNull && !used[c] {
			used[c] = true
			p.Used = append(p.Used, c)
		}
		return true
	})
	return p
}

// Where returns filters, and more conditions, as a WHERE clause; nothing for neither.
func (b *Builder) Where(filters wire.Where, find func(string) *Column, more ...string) string {
	conditions := func(filters []wire.Filter) []string {
		var list []string
		for _, f := range filters {
			condition, _ := b.Condition(find(f.Field), f)
			list = append(list, condition)
		}
		return list
	}
	var conjuncts []string
	for _, f := range filters.And { // what spares a row the exact conditions comes first
		if near := b.Near(find(f.Field), f); near != "" {
			conjuncts = append(conjuncts, near)
		}
	}
	for _, f := range filters.And {
		exact, _ := b.exact(find(f.Field), f)
		conjuncts = append(conjuncts, exact)
	}
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
func (b *Builder) anyOf(conditions []string) string {
	if len(conditions) == 1 {
		return conditions[0]
	}
	half := len(conditions) / 2
	return "(" + b.anyOf(conditions[:half]) + " OR " + b.anyOf(conditions[half:]) + ")"
}

// SelectCells returns what SELECT has for these columns.
func SelectCells(columns []*Column) string {
	if len(columns) == 0 {
		return "1"
	}
	cells := make([]string, len(columns))
	for i, c := range columns {
		cells[i] = c.Cell
	}
	return strings.Join(cells, ", ")
}
