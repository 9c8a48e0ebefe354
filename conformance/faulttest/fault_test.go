package faulttest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// A fault is one mistake that an author makes, at one column or one table.
type fault struct {
	name, kind string // kind is such as null handling
	at         func(Site) bool
	habit      habit
	make       func(Site) habit // instead of habit, if that has a state or depends on the site
	connector  string
}

// faults returns all faults. Their order decides which data set the matrix plants each in.
func faults() (all []fault) {
	for _, group := range []struct {
		connector string
		faults    []fault
	}{
		{"bare", bareFaults}, {"rest", restFaults}, {"sql", sqlFaults}, {"files", filesFaults},
		{"bare", moreBareFaults}, {"rest", moreRestFaults}, {"sql", moreSQLFaults}, {"files", moreFilesFaults},
	} {
		for _, f := range group.faults {
			f.connector = group.connector
			all = append(all, f)
		}
	}
	return all
}

// A habit is where the author errs. A nil hook is right. The connectors call those hooks
// only for the table of the site and, but for those of whole tables, for its column.
type habit struct {
	// Of the whole table.
	describe func(t *wire.Table, f *wire.Field) // f is the column
	where    func(w wire.Where) wire.Where
	sort     func(keys []wire.SortKey) []wire.SortKey
	window   func(sorted bool, offset, limit int64) (newOffset, newLimit int64) // a limit of 0 is none
	size     func(rows int64) int64
	count    func(filtered bool, rows int64) int64

	filter   func(f wire.Filter) wire.Filter // before it is evaluated
	can      func(f wire.Filter) bool        // what is pushed although it is not evaluated exactly
	match    func(v wire.Value) wire.Value   // a cell as filters see it; in files, as the index keeps it
	distinct func(c wire.Cardinality) wire.Cardinality

	// Of the connector without the library.
	order, group, cell func(v wire.Value) wire.Value // a cell as sorts and groups see it, and as it is written
	answer             func(req *wire.QueryRequest, rows [][]wire.Value) [][]wire.Value
	joined, joinedFrom func(hop wire.JoinHop, rows [][]wire.Value) [][]wire.Value // by the column; from the table it refers to
	foldWhere          func(w wire.Where) wire.Where
	foldType           wire.Type
	measured           func(fn wire.AggFunc, v wire.Value) wire.Value // not null
	measure            func(m wire.Measure) wire.Measure
	groupKey           func(key wire.GroupKey) wire.GroupKey
	dropsNulls         bool // among the groups
	links              func(req *wire.LinkHitRateRequest)
	linked             func(link *wire.LinkHitRate)

	// Of the connector over a REST API.
	filters  func(list []wire.Filter) []wire.Filter
	param    func(f wire.Filter, op, value string) (newOp, newValue string)
	fetch    func(at position, params url.Values, get getter) (page, error)
	decoded  func(v any) any
	sortable bool // though the vendor sorts it in another way
	claimed  bool // filters are served though they are not

	// Of the connector over a database.
	condition                            func(f wire.Filter, sql string, args []any) (newSQL string, newArgs []any)
	sqlOrder, sqlColumn, sqlKey, sqlJoin func(sql string) string // the expression, or the JOIN
	sqlFrom, sqlCount, sqlDistinct       func(sql string) string
	sqlMeasure                           func(fn wire.AggFunc, sql string) string
	sqlOrphans                           func(req *wire.LinkHitRateRequest, sql string) string // of every link

	// Of the connector over files.
	text    func(text string) string              // before it is parsed
	line    func(number int) bool                 // whether it is read
	indexes func(row int) bool                    // whether the index has it
	looked  func(f wire.Filter, rows []int) []int // what the index finds for any column
	found   func(f wire.Filter, rows []int) []int
	lines   func(dir wire.Direction, rows []int) []int // in the order of the column
}

// A planted is a habit at its site.
type planted struct {
	Site
	habit
}

// is reports whether a column is the site.
func (p *planted) is(table, column string) bool { return table == p.Table && column == p.Column }

// apply passes a value through a hook that is set, where it applies.
func apply[T any](hook func(T) T, here bool, v T) T {
	if hook == nil || !here {
		return v
	}
	return hook(v)
}

// plant returns the faulty connector over a set that load has written to a file.
func (f *fault) plant(set *Set, file string, at Site) (h http.Handler, release func()) {
	planting := f.habit
	if f.make != nil {
		planting = f.make(at)
	}
	return connectors[f.connector](set, file, planted{at, planting})
}

// connectors are those that faults are planted in. release closes one.
var connectors = map[string]func(set *Set, file string, p planted) (h http.Handler, release func()){
	"bare":  newBare,
	"rest":  newRest,
	"sql":   newSQL,
	"files": newFiles,
}

// site returns where a fault is planted in a set, and false if it fits nowhere.
func (f *fault) site(set *Set) (at Site, ok bool) {
	var fit []Site
	for _, site := range set.Sites {
		if f.at(site) {
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

// linkedWithNulls accepts those of them that hold nulls.
func linkedWithNulls(s Site) bool { return linked(s) && s.Nulls }

// Columns that are compared as text or in time, and columns with nulls.
var (
	texts = of(Code, Label, Words)
	times = of(Day, Moment)
	gaps  = nulls(Label, Words, Tally, Money, Moment, Day)
)

type change = func(wire.Value) wire.Value

// cells limits a change to cells that are not null.
func cells(to change) change {
	return func(v wire.Value) wire.Value {
		if v.IsNull() {
			return v
		}
		return to(v)
	}
}

// null puts a value in the place of null.
func null(instead wire.Value) change {
	return func(v wire.Value) wire.Value {
		if v.IsNull() {
			return instead
		}
		return v
	}
}

// on limits a change to filters of some operators.
func on(to func(wire.Filter) wire.Filter, ops ...wire.Op) func(wire.Filter) wire.Filter {
	return func(f wire.Filter) wire.Filter {
		if len(ops) == 0 || slices.Contains(ops, f.Op) {
			return to(f)
		}
		return f
	}
}

// as takes one operator for another.
func as(op, other wire.Op) func(wire.Filter) wire.Filter {
	return on(func(f wire.Filter) wire.Filter { f.Op = other; return f }, op)
}

// operands changes the values of filters of some operators, or of all.
func operands(to change, ops ...wire.Op) func(wire.Filter) wire.Filter {
	return on(func(f wire.Filter) wire.Filter {
		f.Value, f.Values = cells(to)(f.Value), slices.Clone(f.Values)
		for i, v := range f.Values {
			f.Values[i] = cells(to)(v)
		}
		return f
	}, ops...)
}

// members cuts lists.
func members(most int) func(wire.Filter) wire.Filter {
	return func(f wire.Filter) wire.Filter { f.Values = short(f.Values, most); return f }
}

// bothAs changes cells and operands alike.
func bothAs(to change) habit { return habit{match: cells(to), filter: operands(to)} }

// field declares the column in another way.
func field(change func(f *wire.Field)) func(*wire.Table, *wire.Field) {
	return func(_ *wire.Table, f *wire.Field) { change(f) }
}

// ascending sorts by the column of a site upwards, whatever is asked.
func ascending(at Site) habit {
	return habit{sort: func(keys []wire.SortKey) []wire.SortKey {
		keys = slices.Clone(keys)
		for i, key := range keys {
			if key.Field == at.Column {
				keys[i].Dir = wire.Asc
			}
		}
		return keys
	}}
}

// spelling changes the text of a value.
func spelling(to func(string) string) change {
	return func(v wire.Value) wire.Value { return wire.Text(to(v.String())) }
}

// shifted moves an instant or a date.
func shifted(by time.Duration) change {
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

// cutTo cuts an instant.
func cutTo(unit time.Duration) change {
	return func(v wire.Value) wire.Value {
		if at, ok := filter.Instant(v); ok && len(v.String()) > len(time.DateOnly) {
			return wire.Datetime(at.Truncate(unit))
		}
		return v
	}
}

// rounded rounds a number to some digits, by way of a float.
func rounded(digits int) change {
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
