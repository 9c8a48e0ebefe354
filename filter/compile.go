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

// condition is one filter, resolved to a position.
type condition struct {
	at     int
	ifNull bool // the verdict on a null cell
	test   func(wire.Value) bool
}

// Compile prepares the filters of a request for rows whose cells stand in the
// order of columns: and must hold in full, and or, when it has groups, is one
// more conjunct of which one group must hold in full (A1). The type of a field
// is that of its column, else what fieldTypes says, else undeclared (A10).
// Only columns of the base table can be named (B6).
//
// An error is a *wire.Error that names the field: [wire.CodeUnsupported] for a
// field that no column has (A11), [wire.CodeBadRequest] for an operator,
// payload or type that is not the protocol's (A13). Columns that break the
// rules themselves, by a name given twice or an unknown type, are the source's
// fault and give an error of no code.
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

// Match reports whether a row passes. Cells missing at the end of the row are
// null; cells beyond the columns are ignored. It allocates nothing and keeps
// nothing of the row. A cell that cannot cross the wire (wire.KindInvalid) is
// incomparable: no comparator matches it, nin and notnull keep it, so that the
// row reaches the encoder, which refuses it with a reason.
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
		return condition{}, wire.Errorf(wire.CodeUnsupported, "a filter names the field %s, which the table does not have", wire.QuoteName(f.Field))
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
		return condition{at, false, never}, nil // A2
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

// checkShape holds a filter that was built in Go to the rules that the decoder
// holds a request to (A13).
func checkShape(f *wire.Filter) error {
	switch shape := f.Op.Shape(); {
	case shape == wire.ShapeUnknown:
		return wire.Errorf(wire.CodeBadRequest, "the filter on %s has an operator that is none of the thirteen", wire.QuoteName(f.Field))
	case shape != wire.ShapeValue && !f.Value.IsNull():
		return wire.Errorf(wire.CodeBadRequest, "the filter on %s has a value, which the operator %s does not take", wire.QuoteName(f.Field), f.Op)
	case shape != wire.ShapeMember && len(f.Values) > 0:
		return wire.Errorf(wire.CodeBadRequest, "the filter on %s has values, which the operator %s does not take", wire.QuoteName(f.Field), f.Op)
	}
	if f.Value.Kind() == wire.KindInvalid {
		return wire.Errorf(wire.CodeBadRequest, "the filter on %s has a value that cannot cross the wire: %v", wire.QuoteName(f.Field), f.Value.Err())
	}
	for _, v := range f.Values {
		if v.Kind() == wire.KindInvalid {
			return wire.Errorf(wire.CodeBadRequest, "the filter on %s has a value that cannot cross the wire: %v", wire.QuoteName(f.Field), v.Err())
		}
	}
	return nil
}

func always(wire.Value) bool { return true }
func never(wire.Value) bool  { return false }

// position finds a column of the base table; -1 when there is none (B6).
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

// resolve is the rule by which a column's values compare (A10).
func resolve(c wire.Column, fieldTypes map[string]wire.Type) (family, error) {
	t := c.Type
	if t != "" {
		if !t.Known() {
			return 0, fmt.Errorf("filter: the column %q has the type %q, which is none of the protocol's nine; leave it empty when it is not known", c.Name, t)
		}
		return familyOf(t), nil
	}
	if c.Hop != 0 {
		return undeclared, nil // fieldTypes speaks of the base table
	}
	if t = fieldTypes[c.Name]; t != "" && !t.Known() {
		return 0, wire.Errorf(wire.CodeBadRequest, "fieldTypes gives the field %s a type that is none of the nine", wire.QuoteName(c.Name))
	}
	return familyOf(t), nil
}
