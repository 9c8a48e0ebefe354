package filter

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Program is a compiled filter. It is immutable: any number of goroutines may
// call [Program.Match] at once. The zero Program matches every row.
type Program struct {
	and []condition
	or  [][]condition // none: no constraint; an empty one is true
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
func Compile(where wire.Where, columns []wire.Column) (*Program, error) {
	p := &Program{}
	var err error
	if p.and, err = compileAll(where.And, columns, where.FieldTypes); err != nil {
		return nil, err
	}
	for _, group := range where.Or {
		conditions, err := compileAll(group, columns, where.FieldTypes)
		if err != nil {
			return nil, err
		}
		p.or = append(p.or, conditions)
	}
	return p, nil
}

// Match reports whether a row passes the filters. Cells missing at the end of
// the row are null; cells beyond the columns are ignored. Match retains nothing
// of the row. A cell that cannot cross the wire (wire.KindInvalid)
// matches no comparator, but nin and notnull keep it, so that the row reaches
// the encoder, which refuses it with a reason.
func (p *Program) Match(row []wire.Value) bool {
	for i := range p.and {
		if !p.and[i].match(row) {
			return false
		}
	}
	if len(p.or) == 0 {
		return true
	}
	for _, group := range p.or {
		if matchAll(group, row) {
			return true
		}
	}
	return false
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

func compileAll(filters []wire.Filter, columns []wire.Column, fieldTypes map[string]wire.Type) ([]condition, error) {
	conditions := make([]condition, len(filters))
	for i := range filters {
		c, err := compileOne(&filters[i], columns, fieldTypes)
		if err != nil {
			return nil, err
		}
		conditions[i] = c
	}
	return conditions, nil
}

func compileOne(f *wire.Filter, columns []wire.Column, fieldTypes map[string]wire.Type) (condition, error) {
	at, err := position(columns, f.Field)
	if err != nil {
		return condition{}, err
	}
	if at < 0 {
		return condition{}, wire.Errorf(wire.CodeUnsupported, "a filter names the field %s, which the table does not have",
			wire.QuoteName(f.Field))
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
		return wire.Errorf(wire.CodeBadRequest, "the filter on %s "+format, append([]any{wire.QuoteName(f.Field)}, args...)...)
	}
	switch shape := f.Op.Shape(); {
	case shape == wire.ShapeUnknown:
		return refuse("has an operator that the protocol does not define")
	case shape != wire.ShapeValue && !f.Value.IsNull():
		return refuse("has a value, which the operator %s does not take", f.Op)
	case shape != wire.ShapeMember && len(f.Values) > 0:
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

// position returns the index of the base table's column of this name, or -1.
func position(columns []wire.Column, name string) (int, error) {
	at := -1
	for i := range columns {
		if columns[i].Hop != 0 || columns[i].Name != name {
			continue
		}
		if at >= 0 {
			return 0, fmt.Errorf("filter: two columns are named %q: name each column of a row once", name)
		}
		at = i
	}
	return at, nil
}

// resolve returns how the values of a column compare: by the column's declared
// type, otherwise by the type in fieldTypes.
func resolve(c wire.Column, fieldTypes map[string]wire.Type) (family, error) {
	t := c.Type
	if t != "" {
		if !t.Known() {
			return 0, fmt.Errorf("filter: the column %q has the type %q, which the protocol does not define; leave an unknown type empty",
				c.Name, t)
		}
		return familyOf(t), nil
	}
	if c.Hop != 0 {
		return undeclared, nil // fieldTypes names fields of the base table only
	}
	if t = fieldTypes[c.Name]; t != "" && !t.Known() {
		return 0, wire.Errorf(wire.CodeBadRequest, "fieldTypes: %s has an unknown type; the types are string, number, decimal, "+
			"boolean, date, datetime, json, array, reference", wire.QuoteName(c.Name))
	}
	return familyOf(t), nil
}
