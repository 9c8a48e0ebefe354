package main

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// shape is what the values of a schema look like, with allOf, oneOf and anyOf resolved.
type shape struct {
	kinds       []string // of JSON, without null; empty: the schema does not say
	nullable    bool
	format      string
	pattern     string
	description string
	writeOnly   bool
	enum        []string
	props       []property
	required    []string // names of members that every object has
	items       *openapi3.SchemaRef
}

// property is a member of an object.
type property struct {
	name   string
	schema *openapi3.SchemaRef
}

func (s shape) is(kind string) bool { return len(s.kinds) == 1 && s.kinds[0] == kind }

// whole reports whether the values are whole numbers.
func (s shape) whole() bool { return s.is("integer") || s.is("number") }

func (s *shape) prop(name string) *property {
	for i := range s.props {
		if s.props[i].name == name {
			return &s.props[i]
		}
	}
	return nil
}

// maxParts limits how many schemas allOf, oneOf and anyOf join to one. What is beyond
// could be anything.
const maxParts = 5_000

// resolving is the resolution of one schema.
type resolving struct {
	*description
	open  map[*openapi3.Schema]bool // those that contain the one at hand
	parts int
}

// shape resolves a schema. A schema that contains itself by allOf, oneOf or anyOf adds
// nothing the second time.
func (d *description) shape(ref *openapi3.SchemaRef) shape {
	r := &resolving{description: d, open: map[*openapi3.Schema]bool{}}
	return r.resolve(ref)
}

func (r *resolving) resolve(ref *openapi3.SchemaRef) shape {
	if ref == nil || ref.Value == nil || r.open[ref.Value] || r.parts > maxParts {
		return shape{}
	}
	r.parts++
	schema := ref.Value
	r.open[schema] = true
	defer delete(r.open, schema)
	s := r.own(schema)
	for _, part := range schema.AllOf {
		s = s.both(r.resolve(part))
	}
	for _, group := range []openapi3.SchemaRefs{schema.OneOf, schema.AnyOf} {
		var either *shape
		for _, part := range group {
			next := r.resolve(part)
			switch {
			case isNull(part):
				s.nullable = true
			case either == nil:
				either = &next
			default:
				*either = either.or(next)
			}
		}
		if either != nil {
			s = s.both(*either)
		}
	}
	if len(s.kinds) == 0 {
		switch {
		case len(s.props) > 0:
			s.kinds = []string{"object"}
		case s.items != nil:
			s.kinds = []string{"array"}
		default:
			s.kinds = kindsOf(schema)
		}
	}
	return s
}

// kindsOf returns the kinds of the values that a schema lists.
func kindsOf(schema *openapi3.Schema) (kinds []string) {
	values := schema.Enum
	if schema.Const != nil {
		values = []any{schema.Const}
	}
	for _, v := range values {
		kind := ""
		switch v := v.(type) {
		case string:
			kind = "string"
		case bool:
			kind = "boolean"
		case float64:
			kind = "number"
			if v == math.Trunc(v) {
				kind = "integer"
			}
		case nil:
			continue
		default:
			return nil
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// isNull reports whether a schema allows null alone.
func isNull(ref *openapi3.SchemaRef) bool {
	if ref == nil || ref.Value == nil {
		return false
	}
	s := ref.Value
	return s.Type != nil && s.Type.Is("null") || len(s.Enum) == 1 && s.Enum[0] == nil
}

// own returns what the keywords of the schema itself say.
func (d *description) own(schema *openapi3.Schema) shape {
	s := shape{
		nullable: schema.Nullable, format: strings.ToLower(schema.Format), pattern: schema.Pattern,
		description: schema.Description, writeOnly: schema.WriteOnly, items: schema.Items, required: schema.Required,
	}
	if s.description == "" {
		s.description = schema.Title
	}
	if schema.Type != nil {
		for _, kind := range schema.Type.Slice() {
			if kind == "null" {
				s.nullable = true
			} else if !slices.Contains(s.kinds, kind) {
				s.kinds = append(s.kinds, kind)
			}
		}
	}
	for _, v := range schema.Enum {
		if text, ok := v.(string); ok {
			s.enum = append(s.enum, text)
		} else if v == nil {
			s.nullable = true
		}
	}
	for _, name := range ordered(d, schema.Properties) {
		s.props = append(s.props, property{name, schema.Properties[name]})
	}
	return s
}

// both returns the shape of values that have both shapes.
func (s shape) both(other shape) shape {
	common := slices.DeleteFunc(slices.Clone(s.kinds), func(kind string) bool { return !slices.Contains(other.kinds, kind) })
	switch {
	case len(s.kinds) == 0:
		s.kinds = other.kinds
	case len(common) > 0:
		s.kinds = common
	}
	s.nullable = s.nullable || other.nullable
	s.writeOnly = s.writeOnly || other.writeOnly
	for _, text := range []struct{ own, more *string }{
		{&s.format, &other.format}, {&s.pattern, &other.pattern}, {&s.description, &other.description},
	} {
		if *text.own == "" {
			*text.own = *text.more
		}
	}
	s.items = allOf(s.items, other.items)
	if len(s.enum) == 0 {
		s.enum = other.enum
	}
	s.props = slices.Clone(s.props)
	for _, p := range other.props {
		if own := s.prop(p.name); own == nil {
			s.props = append(s.props, p)
		} else {
			own.schema = allOf(own.schema, p.schema)
		}
	}
	s.required = append(slices.Clone(s.required), other.required...)
	return s
}

// or returns the shape of values that have one of two shapes.
func (s shape) or(other shape) shape {
	if len(s.kinds) == 0 || len(other.kinds) == 0 {
		s.kinds = nil
	} else {
		s.kinds = slices.Clone(s.kinds)
		for _, kind := range other.kinds {
			if !slices.Contains(s.kinds, kind) {
				s.kinds = append(s.kinds, kind)
			}
		}
	}
	s.nullable = s.nullable || other.nullable
	s.description = "" // it describes one of them
	if s.format != other.format {
		s.format = ""
	}
	if s.pattern != other.pattern {
		s.pattern = ""
	}
	if s.items == nil {
		s.items = other.items
	}
	if len(s.enum) == 0 || len(other.enum) == 0 {
		s.enum = nil
	} else {
		s.enum = append(slices.Clone(s.enum), other.enum...)
	}
	s.props = slices.Clone(s.props)
	for i := range s.props {
		p := other.prop(s.props[i].name)
		if p != nil && p.schema != s.props[i].schema {
			s.props[i].schema = oneOf(s.props[i].schema, p.schema)
		}
	}
	for _, p := range other.props {
		if s.prop(p.name) == nil {
			s.props = append(s.props, p)
		}
	}
	s.required = slices.DeleteFunc(slices.Clone(s.required), func(name string) bool { return !slices.Contains(other.required, name) })
	return s
}

// allOf returns a schema of the values that two schemas allow. Nil allows all.
func allOf(a, b *openapi3.SchemaRef) *openapi3.SchemaRef {
	switch {
	case a == nil || a.Value == nil:
		return b
	case b == nil || b.Value == nil || a.Value == b.Value:
		return a
	}
	return &openapi3.SchemaRef{Value: &openapi3.Schema{AllOf: openapi3.SchemaRefs{a, b}}}
}

// oneOf returns a schema of the values that one of two schemas allows.
func oneOf(a, b *openapi3.SchemaRef) *openapi3.SchemaRef {
	return &openapi3.SchemaRef{Value: &openapi3.Schema{AnyOf: openapi3.SchemaRefs{a, b}}}
}

// decimals reports whether a pattern accepts decimal numbers and no words.
func decimals(pattern string) bool {
	re, err := regexp.Compile(pattern)
	return pattern != "" && err == nil && re.MatchString("12.50") && re.MatchString("7.00") &&
		!re.MatchString("abc") && !re.MatchString("1.2.3") && !re.MatchString("")
}
