package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// column is a column of a table, as the source declares it.
type column struct {
	name, path, kind string // kind is the constant of package wire, such as TypeString
	notNull          bool
	description      string
	convert          string // a Go expression
	ofParent         string
	guess            string
	enum             []string
	unix             bool // a number of seconds since 1970
}

// textFormats are formats of text that holds a decimal number.
var textFormats = []string{"decimal", "money", "currency", "bigdecimal", "number", "double", "float"}

// columnType sets the type of a column from the shape of its values.
func (c *column) columnType(s shape) {
	isText := slices.Contains(s.kinds, "string")
	switch {
	case len(s.kinds) == 0:
		c.kind = "TypeJSON"
	case s.is("boolean"):
		c.kind = "TypeBoolean"
	case s.is("integer") && slices.Contains([]string{"unix-time", "unixtime", "timestamp", "epoch", "unix-timestamp"}, s.format):
		c.kind, c.convert, c.unix = "TypeDatetime", "restsource.Unix(time.Second)", true
		c.guess = "seconds since 1970, by its format " + s.format + "."
	case s.is("integer"):
		c.kind = "TypeNumber"
	case s.is("number") && (s.format == "float" || s.format == "double"):
		c.kind = "TypeNumber"
	case s.is("number"), len(s.kinds) == 2 && slices.Contains(s.kinds, "number") && slices.Contains(s.kinds, "integer"):
		c.kind = "TypeDecimal"
	case s.is("string") && s.format == "date":
		c.kind = "TypeDate"
	case s.is("string") && s.format == "date-time":
		c.kind = "TypeDatetime"
	case s.is("string") && (s.format == "int64" || s.format == "int32" || s.format == "uint64"):
		c.kind, c.guess = "TypeNumber", "text with a number, by its format "+s.format+"."
	case s.is("string") && slices.Contains(textFormats, s.format):
		c.kind, c.guess = "TypeDecimal", "text with a decimal number, by its format "+s.format+"."
	case s.is("string") && decimals(s.pattern):
		c.kind, c.guess = "TypeDecimal", "text with a decimal number, by its pattern."
	case s.is("array"):
		c.kind = "TypeArray"
	case isText:
		c.kind = "TypeString"
		if len(s.kinds) > 1 {
			c.guess = "a text, because its values are " + strings.Join(s.kinds, " or ") + "."
		}
	default:
		c.kind = "TypeJSON"
	}
	if isText {
		c.enum = s.enum
	}
}

// scalar reports whether a column has one value that a key or a reference can be.
func (c *column) scalar() bool { return c.kind == "TypeString" || c.kind == "TypeNumber" }

// columns returns the columns of a row. An object is a column of JSON. If it has an id,
// that is another column.
func (d *description) columns(row shape) (all []column) {
	taken := map[string]bool{}
	add := func(c column) {
		if c.name != "" && !taken[c.name] {
			taken[c.name] = true
			all = append(all, c)
		}
	}
	for _, p := range row.props {
		taken[p.name] = false
	}
	for _, p := range row.props {
		s := d.shape(p.schema)
		if s.writeOnly || p.schema == nil || p.schema.Value != nil && p.schema.Value.Always != nil && !*p.schema.Value.Always {
			continue // it is never in an answer
		}
		if p.name == "attributes" && s.is("object") && row.prop("id") != nil && row.prop("type") != nil && len(s.props) > 0 {
			for _, inner := range s.props { // JSON:API
				if _, own := taken[inner.name]; !own {
					c := d.column(s, inner)
					c.path = memberPath(p.name, inner.name)
					add(c)
				}
			}
			continue
		}
		c := d.column(row, p)
		add(c)
		if id := s.prop("id"); c.kind == "TypeJSON" && s.is("object") && id != nil {
			inner := d.column(s, *id)
			inner.name, inner.path = p.name+"_id", memberPath(p.name, "id")
			if words(p.name) != p.name {
				inner.name = p.name + "Id"
			}
			inner.notNull = inner.notNull && c.notNull
			if _, own := taken[inner.name]; !own && inner.scalar() {
				add(inner)
			}
		}
	}
	return all
}

// column returns the column of a property of an object.
func (d *description) column(object shape, p property) column {
	s := d.shape(p.schema)
	c := column{name: p.name, description: sentence(s.description)}
	c.columnType(s)
	c.notNull = slices.Contains(object.required, p.name) && !s.nullable && len(s.kinds) > 0
	if c.kind == "TypeJSON" && s.description == d.general(p.schema) {
		c.description = ""
	}
	return c
}

// general returns the description of the schema that a reference leads to. It describes
// such objects in general, where a description beside the reference tells of this member.
func (d *description) general(ref *openapi3.SchemaRef) string {
	if ref == nil || d.Components == nil {
		return ""
	}
	target := d.Components.Schemas[strings.TrimPrefix(ref.Ref, "#/components/schemas/")]
	if target == nil || target.Value == nil {
		return ""
	}
	return d.own(target.Value).description
}

// keys are the usual names, without case and separators, of a column that identifies a row.
var keys = []string{"id", "gid", "uuid", "guid", "sid", "key_id"}

// key returns the column that is the primary key by the usual signs, with the reason, or
// nil. names are the placeholders that follow the path of the list in the description.
func key(columns []column, noun string, names []string) (*column, string) {
	find := func(fits func(c *column) bool) *column {
		for i := range columns {
			if c := &columns[i]; c.scalar() && c.ofParent == "" && fits(c) {
				return c
			}
		}
		return nil
	}
	for _, name := range keys {
		if c := find(func(c *column) bool { return sign(c.name, name) && c.path == "" }); c != nil {
			return c, "its name is usual for one"
		}
	}
	for _, name := range names {
		if c := find(func(c *column) bool { return letters(c.name) == letters(name) }); c != nil {
			return c, fmt.Sprintf("the path of one row ends with {%s}", name)
		}
	}
	for _, end := range []string{"id", "uuid", "guid"} {
		if c := find(func(c *column) bool { return letters(c.name) == letters(singular(noun))+end }); c != nil {
			return c, "it is named after the table"
		}
	}
	return nil, ""
}
