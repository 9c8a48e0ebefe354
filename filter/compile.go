package filter

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Matcher is a compiled filter. It is immutable: any number of goroutines may
// call [Matcher.Match] at once. The zero Matcher matches every row.
type Matcher struct {
	and   []condition
	or    [][]condition // none: no constraint; an empty one is true
	reads []int         // the positions of the cells that are compared, each once
	names []string      // of their columns
}

// condition is one filter, applied to one position of a row.
type condition struct {
	at     int
	ifNull bool // whether a null cell matches
	test   func(wire.Value) bool
}

// Compile prepares the filters of a request for rows whose cells are in the
// order of columns. A row matches if all filters of where.And match and, if
// where.Or has groups, all filters of at least one group match. A field has the
// type of its column; if the column declares none, the type that
// where.FieldTypes gives; otherwise it is undeclared. Filters can name columns
// of the base table only, not those of joins.
//
// A fault of the request is a *wire.Error that names the field:
// [wire.CodeUnsupported] for a field that no column has, [wire.CodeBadRequest]
// for an operator, payload or type that the protocol does not define. A fault
// of the columns, such as a duplicate name or an unknown type, is a plain error.
func Compile(where wire.Where, columns []wire.Column) (*Matcher, error) {
	m := &Matcher{}
	at := positionsOf(columns)
	var err error
	if m.and, err = compileAll(where.And, columns, at, where.FieldTypes); err != nil {
		return nil, err
	}
	for _, group := range where.Or {
		conditions, err := compileAll(group, columns, at, where.FieldTypes)
		if err != nil {
			return nil, err
		}
		m.or = append(m.or, conditions)
	}
	seen := make([]bool, len(columns))
	for f := range where.Filters() {
		if i, _ := at.of(f.Field); !seen[i] {
			seen[i] = true
			m.reads, m.names = append(m.reads, i), append(m.names, f.Field)
		}
	}
	return m, nil
}

// Match reports whether a row passes the filters. Cells missing at the end of
// the row are null; cells beyond the columns are ignored. Match retains nothing
// of the row.
//
// Match fails if a cell that the filters compare has no value (wire.KindInvalid),
// whatever the other cells are: such a row can be neither kept nor dropped, so the
// whole answer must fail. The error names the column and gives the cell's reason.
func (m *Matcher) Match(row []wire.Value) (bool, error) {
	for i, at := range m.reads {
		if at < len(row) && row[at].Kind() == wire.KindInvalid {
			return false, fmt.Errorf("column %s, which a filter compares: %w", terms.QuoteName(m.names[i]), row[at].Err())
		}
	}
	if !matchAll(m.and, row) {
		return false, nil
	}
	if len(m.or) == 0 {
		return true, nil
	}
	for _, group := range m.or {
		if matchAll(group, row) {
			return true, nil
		}
	}
	return false, nil
}

func matchAll(group []condition, row []wire.Value) bool {
	for i := range group {
		if !group[i].match(row) {
			return false
		}
	}
	return true
}

func (c *condition) match(row []wire.Value) bool {
	if c.at >= len(row) {
		return c.ifNull
	}
	v := row[c.at]
	if v.IsNull() {
		return c.ifNull
	}
	return c.test(v)
}

func compileAll(filters []wire.Filter, columns []wire.Column, at positions, fieldTypes map[string]wire.Type) ([]condition, error) {
	conditions := make([]condition, len(filters))
	for i := range filters {
		c, err := compileOne(&filters[i], columns, at, fieldTypes)
		if err != nil {
			return nil, err
		}
		conditions[i] = c
	}
	return conditions, nil
}

func compileOne(f *wire.Filter, columns []wire.Column, places positions, fieldTypes map[string]wire.Type) (condition, error) {
	at, err := places.of(f.Field)
	if err != nil {
		return condition{}, err
	}
	if at < 0 {
		return condition{}, wire.Errorf(wire.CodeUnsupported, "a filter names the field %s, which the table does not have",
			terms.QuoteName(f.Field))
	}
	fam, err := resolve(columns[at], fieldTypes)
	if err != nil {
		return condition{}, err
	}
	if err := checkShape(f); err != nil {
		return condition{}, err
	}
	switch f.Op {
	case wire.OpIsNull:
		return condition{at, true, never}, nil
	case wire.OpNotNull:
		return condition{at, false, always}, nil
	case wire.OpIn:
		return condition{at, false, testMember(f.Values, fam)}, nil
	case wire.OpNin:
		in := testMember(f.Values, fam)
		return condition{at, true, func(v wire.Value) bool { return !in(v) }}, nil
	}
	if f.Value.IsNull() {
		return condition{at, false, never}, nil
	}
	var test func(wire.Value) bool
	switch f.Op {
	case wire.OpContains:
		test = testContains(f.Value)
	case wire.OpIncludes:
		test = testIncludes(ownText(f.Value))
	case wire.OpStartsWith:
		test = testPrefix(ownText(f.Value))
	default:
		test = testComparator(f.Value, fam, acceptOf(f.Op))
	}
	return condition{at, false, test}, nil
}

func testComparator(value wire.Value, fam family, a accept) func(wire.Value) bool {
	switch fam {
	case temporal:
		return testInstant(value, a)
	case numeric, undeclared:
		n, ok := parseNumber(value)
		switch {
		case ok && fam == numeric:
			return func(v wire.Value) bool {
				c, ok := n.compare(v)
				return ok && a.has(c)
			}
		case ok:
			byText := testText(ownText(value), a)
			return func(v wire.Value) bool {
				if c, ok := n.compare(v); ok {
					return a.has(c)
				}
				return byText(v)
			}
		case fam == numeric:
			return never
		}
	}
	return testText(ownText(value), a)
}

// checkShape returns an error if f has an unknown operator, or a payload that
// its operator does not take. The decoder refuses such a filter in a request;
// checkShape refuses one that was built in Go.
func checkShape(f *wire.Filter) error {
	refuse := func(format string, args ...any) error {
		return wire.Errorf(wire.CodeBadRequest, "the filter on %s "+format, append([]any{terms.QuoteName(f.Field)}, args...)...)
	}
	switch shape := terms.ShapeOf(f.Op); {
	case shape == terms.ShapeUnknown:
		return refuse("has an operator that the protocol does not define")
	case shape != terms.ShapeValue && !f.Value.IsNull():
		return refuse("has a value, which the operator %s does not take", f.Op)
	case shape != terms.ShapeMember && len(f.Values) > 0:
		return refuse("has values, which the operator %s does not take", f.Op)
	}
	for _, v := range append(f.Values[:len(f.Values):len(f.Values)], f.Value) {
		if v.Kind() == wire.KindInvalid {
			return refuse("has a value that cannot cross the wire: %v", v.Err())
		}
	}
	return nil
}

func always(wire.Value) bool { return true }
func never(wire.Value) bool  { return false }

// positions are the indexes of the base table's columns by name, or twice for a
// name that two columns have. A request may name many fields of many columns.
type positions map[string]int

const twice = -2

func positionsOf(columns []wire.Column) positions {
	p := make(positions, len(columns))
	for i, c := range columns {
		if c.Hop != 0 {
			continue
		}
		if _, ok := p[c.Name]; ok {
			i = twice
		}
		p[c.Name] = i
	}
	return p
}

// of returns the index of the base table's column of this name, or -1.
func (p positions) of(name string) (int, error) {
	switch at, ok := p[name]; {
	case !ok:
		return -1, nil
	case at == twice:
		return 0, fmt.Errorf("filter: two columns are named %q: name each column of a row once", name)
	default:
		return at, nil
	}
}

// resolve returns how the values of a column compare: by the column's declared
// type, otherwise by the type in fieldTypes.
func resolve(c wire.Column, fieldTypes map[string]wire.Type) (family, error) {
	t := c.Type
	if t != "" {
		if !terms.IsType(t) {
			return 0, fmt.Errorf("filter: the column %q has the type %q, which the protocol does not define; leave an unknown type empty",
				c.Name, t)
		}
		return familyOf(t), nil
	}
	if c.Hop != 0 {
		return undeclared, nil // fieldTypes names fields of the base table only
	}
	if t = fieldTypes[c.Name]; t != "" && !terms.IsType(t) {
		return 0, wire.Errorf(wire.CodeBadRequest, "fieldTypes: %s has an unknown type; the types are string, number, decimal, "+
			"boolean, date, datetime, json, array, reference", terms.QuoteName(c.Name))
	}
	return familyOf(t), nil
}
