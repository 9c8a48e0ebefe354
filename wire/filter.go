package wire

import (
	"iter"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// Filter is one condition on one field, in one of three shapes that its
// operator decides: Value for a value operator, Values for in and
// nin, neither for isnull and notnull. Both hold scalars only.
type Filter struct {
	noJSON
	Field  string
	Op     Op
	Value  Value
	Values []Value
}

var filterObject = newObject(
	required("field", func(m *Filter) *string { return &m.Field }, text),
	required("op", func(m *Filter) *Op { return &m.Op }, operator),
	omitIf(func(m *Filter) bool {
		s := terms.ShapeOf(m.Op)
		return s == terms.ShapeMember || s == terms.ShapeNullary
	},
		required("value", func(m *Filter) *Value { return &m.Value }, operand)),
	omitIf(func(m *Filter) bool { return terms.ShapeOf(m.Op) != terms.ShapeMember },
		required("values", func(m *Filter) *[]Value { return &m.Values }, operands)),
).checked(checkShape)

var operator = oneOf(terms.Operators[Op]()...)

// checkShape refuses a filter that has other members than its operator takes.
func checkShape(d *decoder, m *Filter, present uint32) {
	value, values := present&(1<<2) != 0, present&(1<<3) != 0
	switch terms.ShapeOf(m.Op) {
	case terms.ShapeValue:
		if !value || values {
			d.fail("the operator " + string(m.Op) + " takes value, and no values")
		}
	case terms.ShapeMember:
		if !values || value {
			d.fail("the operator " + string(m.Op) + " takes values, and no value")
		}
	case terms.ShapeNullary:
		if value || values {
			d.fail("the operator " + string(m.Op) + " takes neither value nor values")
		}
	}
}

// Where is the filters of a request. Every filter of And must hold, and at least
// one group of Or, each group with all of its filters. An absent or empty Or
// adds no constraint.
type Where struct {
	And []Filter   `json:"and"`
	Or  [][]Filter `json:"or,omitempty"`
	// FieldTypes names the types of fields whose type the source does not
	// declare itself.
	FieldTypes map[string]Type `json:"fieldTypes,omitempty"`
}

// where returns the members and and or.
func where[T any](of func(*T) *Where) []member[T] {
	return append(
		required("and", func(m *T) *[]Filter { return &of(m).And }, filters),
		optional("or", func(m *T) *[][]Filter { return &of(m).Or }, filterGroups)...)
}

func fieldTypes[T any](of func(*T) *Where) []member[T] {
	return optional("fieldTypes", func(m *T) *map[string]Type { return &of(m).FieldTypes }, mapOf(fieldType))
}

var (
	filters      = list(filterObject.codec())
	filterGroups = keepEmpty(list(filters))
	fieldType    = oneOf(TypeString, TypeNumber, TypeDecimal, TypeBoolean, TypeDate, TypeDatetime, TypeJSON, TypeArray,
		TypeReference)
)

// keepEmpty returns a codec that reads an empty array as an empty slice and not
// as nil, so that it is written as it came: some clients send an empty or.
func keepEmpty[V any](c codec[[]V]) codec[[]V] {
	read := c.read
	c.read = func(d *decoder, p *[]V) {
		*p = []V{}
		read(d, p)
	}
	c.empty = func(p *[]V) bool { return *p == nil }
	return c
}

// HasFilters reports whether w has any filter or group. Without one, every row
// matches.
func (w Where) HasFilters() bool { return len(w.And) > 0 || len(w.Or) > 0 }

// Filters returns all filters in order: those of And, then those of each group
// of Or.
func (w Where) Filters() iter.Seq[Filter] {
	return func(yield func(Filter) bool) {
		for _, f := range w.And {
			if !yield(f) {
				return
			}
		}
		for _, group := range w.Or {
			for _, f := range group {
				if !yield(f) {
					return
				}
			}
		}
	}
}
