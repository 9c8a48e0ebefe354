package faulttest

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A Fault is one mistake that an author makes, at one column or one table.
type Fault struct {
	Name string
	Kind string // such as null handling
	At   func(Site) bool
	// One of these plants it.
	Bare  func(at Site) Bare
	Rest  func(at Site) Rest
	SQL   func(at Site) SQL
	Files func(at Site) Files
}

// Faults returns all faults.
func Faults() []Fault {
	return slices.Concat(
		bareFaults(), restFaults(), sqlFaults(), filesFaults(),
		moreBareFaults(), moreRestFaults(), moreSQLFaults(), moreFilesFaults(),
	)
}

// Connector names the connector that the fault is planted in.
func (f *Fault) Connector() string {
	switch {
	case f.Bare != nil:
		return "bare"
	case f.Rest != nil:
		return "rest"
	case f.SQL != nil:
		return "sql"
	}
	return "files"
}

// Plant returns the faulty connector over a set that Load has written to a file.
func (f *Fault) Plant(set *Set, file string, at Site) (h http.Handler, release func()) {
	switch {
	case f.Bare != nil:
		return NewBare(set, f.Bare(at)), func() {}
	case f.Rest != nil:
		return NewRest(set, f.Rest(at)), func() {}
	case f.SQL != nil:
		return NewSQL(set, file, f.SQL(at))
	}
	return NewFiles(set, f.Files(at)), func() {}
}

// Site returns where a fault is planted in a set, and false if it fits nowhere.
func (f *Fault) Site(set *Set) (at Site, ok bool) {
	var fit []Site
	for _, site := range set.Sites {
		if f.At(site) {
			fit = append(fit, site)
		}
	}
	if len(fit) == 0 {
		return at, false
	}
	return fit[int(set.Seed)%len(fit)], true
}

// of accepts columns of some traits.
func of(traits ...Trait) func(Site) bool {
	return func(s Site) bool { return slices.Contains(traits, s.Trait) }
}

// nulls accepts columns of some traits that hold nulls.
func nulls(traits ...Trait) func(Site) bool {
	return func(s Site) bool { return s.Nulls && (len(traits) == 0 || slices.Contains(traits, s.Trait)) }
}

// table accepts a table, by its key.
func table(s Site) bool { return s.Trait == Key }

// long accepts a table of more rows than a page of the vendor has.
func long(s Site) bool { return s.Trait == Key && s.Rows > pageMax }

// linked accepts columns that refer to another table.
func linked(s Site) bool { return s.Target != "" }

// Columns that are compared as text or in time, and columns with nulls.
var (
	texts = of(Code, Label, Words)
	times = of(Day, Moment)
	gaps  = nulls(Label, Words, Tally, Money, Moment, Day)
)

// cell limits a change to the cells of the site.
func (s Site) cell(change func(wire.Value) wire.Value) func(table, column string, v wire.Value) wire.Value {
	return func(table, column string, v wire.Value) wire.Value {
		if table == s.Table && column == s.Column && !v.IsNull() {
			return change(v)
		}
		return v
	}
}

// null puts a value in the place of the nulls of the site.
func (s Site) null(instead wire.Value) func(table, column string, v wire.Value) wire.Value {
	return func(table, column string, v wire.Value) wire.Value {
		if table == s.Table && column == s.Column && v.IsNull() {
			return instead
		}
		return v
	}
}

// has reports whether a filter is one of the site, with one of some operators or any.
func (s Site) has(table string, f wire.Filter, ops ...wire.Op) bool {
	return table == s.Table && f.Field == s.Column && (len(ops) == 0 || slices.Contains(ops, f.Op))
}

// filters limits a change to the filters of the site.
func (s Site) filters(change func(f wire.Filter) (wire.Filter, bool), ops ...wire.Op,
) func(table string, f wire.Filter) (wire.Filter, bool) {
	return func(table string, f wire.Filter) (wire.Filter, bool) {
		if s.has(table, f, ops...) {
			return change(f)
		}
		return f, true
	}
}

// as takes one operator of the site for another.
func (s Site) as(op, other wire.Op) func(table string, f wire.Filter) (wire.Filter, bool) {
	return s.filters(func(f wire.Filter) (wire.Filter, bool) { f.Op = other; return f, true }, op)
}

// operands changes the values of the filters of the site.
func (s Site) operands(change func(wire.Value) wire.Value, ops ...wire.Op,
) func(table string, f wire.Filter) (wire.Filter, bool) {
	return s.filters(func(f wire.Filter) (wire.Filter, bool) { return withOperands(f, change), true }, ops...)
}

// describe limits a change to the description of the table of the site.
func (s Site) describe(change func(t *wire.Table, f *wire.Field)) func(*wire.Table) {
	return func(t *wire.Table) {
		if t.Name == s.Table {
			change(t, t.Field(s.Column))
		}
	}
}

func withOperands(f wire.Filter, change func(wire.Value) wire.Value) wire.Filter {
	if !f.Value.IsNull() {
		f.Value = change(f.Value)
	}
	f.Values = slices.Clone(f.Values)
	for i, v := range f.Values {
		if !v.IsNull() {
			f.Values[i] = change(v)
		}
	}
	return f
}

// spelling changes the text of a value.
func spelling(change func(string) string) func(wire.Value) wire.Value {
	return func(v wire.Value) wire.Value { return wire.Text(change(v.String())) }
}

// shifted moves an instant or a date.
func shifted(by time.Duration) func(wire.Value) wire.Value {
	return func(v wire.Value) wire.Value {
		at, ok := filter.Instant(v)
		switch {
		case !ok:
			return v
		case len(v.String()) == len(time.DateOnly):
			return wire.Date(at.Add(by))
		}
		return wire.Datetime(at.Add(by))
	}
}

// truncated cuts an instant.
func cutTo(unit time.Duration) func(wire.Value) wire.Value {
	return func(v wire.Value) wire.Value {
		if at, ok := filter.Instant(v); ok && len(v.String()) > len(time.DateOnly) {
			return wire.Datetime(at.Truncate(unit))
		}
		return v
	}
}

// rounded rounds a number to some digits, by way of a float.
func rounded(digits int) func(wire.Value) wire.Value {
	return spelling(func(text string) string {
		var f float64
		if _, err := fmt.Sscan(text, &f); err != nil {
			return text
		}
		return fmt.Sprintf("%.*f", digits, f)
	})
}

// first returns the beginning of a text.
func first(text string, runes int) string {
	if list := []rune(text); len(list) > runes {
		return string(list[:runes])
	}
	return text
}

// short cuts a list.
func short[T any](list []T, most int) []T { return list[:min(len(list), most)] }
