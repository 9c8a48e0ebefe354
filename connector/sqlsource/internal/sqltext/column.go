package sqltext

import (
	"cmp"
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/filter"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Column is a column of a table that is served: what the flavor says of it, with its
// names and what the catalog says of its values.
type Column struct {
	sqlengine.Column
	Name     string // in the protocol
	Own      string // in the database
	Nullable bool   // on the wire, as far as the catalog says
	Required bool   // never null in the engine
	Indexed  bool   // an index that keeps the order of values begins with it
}

// NewColumn returns a column of the catalog. ref is the column, quoted and qualified,
// public its name in the protocol.
func NewColumn(flavor *sqlengine.Flavor, ref, public string, c sqlengine.CatalogColumn) *Column {
	own := flavor.Column(ref, c)
	own.Decode = own.Decoder()
	own = as(own, c.Want)
	own.Decode = naming(public, own.Decode)
	return &Column{
		Column: own, Name: public, Own: c.Name,
		Nullable: c.Nullable || own.Valid != "", Required: !c.Nullable, Indexed: c.Indexed,
	}
}

// UnreadableError is the error of a value that no cell can be made of. It says of which
// column, and quotes no value.
type UnreadableError struct {
	Column string // in the protocol
	cause  error
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("sqlsource: column %q: %v", e.Column, e.cause)
}

// Unwrap returns the error of the column's Decode.
func (e *UnreadableError) Unwrap() error { return e.cause }

// naming returns a decoder whose errors name the column.
func naming(column string, decode func(any) (wire.Value, error)) func(any) (wire.Value, error) {
	return func(driver any) (wire.Value, error) {
		v, err := decode(driver)
		if err != nil {
			err = &UnreadableError{column, err}
		}
		return v, err
	}
}

// as returns a column with another type that the host asks for. Where that
// changes how values compare, nothing is pushed.
func as(c sqlengine.Column, want wire.Type) sqlengine.Column {
	if want == "" || want == c.Type {
		return c
	}
	was := c.Type
	c.Type = want
	text := func(t wire.Type) bool { return t == wire.TypeString || t == wire.TypeReference }
	document := func(t wire.Type) bool { return t == wire.TypeJSON || t == wire.TypeArray }
	switch {
	case text(was) && text(want), document(was) && document(want):
		return c
	case was.Numeric() && want.Numeric():
		if want == wire.TypeDecimal {
			c.Decode = decimalOf(c.Decode)
		}
		return c
	}
	c.Decode = converted(c.Decode, want)
	c.Class, c.Text, c.Contains = sqlengine.ClassOpaque, "", nil
	c.Tie, c.Key, c.Group = cmp.Or(c.Tie, c.Key), "", ""
	c.Index = sqlengine.Index{Stored: c.Index.Stored}
	return c
}

// converted returns a decoder whose cells are of another type. What that type does not hold
// exactly is an error.
func converted(decode func(any) (wire.Value, error), want wire.Type) func(any) (wire.Value, error) {
	as := (&sqlengine.Column{Type: want}).Decoder()
	return func(driver any) (wire.Value, error) {
		v, err := decode(driver)
		if err != nil || v.IsNull() || v.Err() != nil {
			return v, err
		}
		switch {
		case want == wire.TypeDate || want == wire.TypeDatetime:
			return momentOf(text(v), want)
		case v.Kind() == wire.KindInt:
			v, err = as(v.Int64()) // as a boolean, none but 0 is false
		default:
			v, err = as(text(v))
		}
		return v, cmp.Or(err, v.Err())
	}
}

// momentOf returns a text as a date or a datetime.
func momentOf(s string, want wire.Type) (wire.Value, error) {
	if len(s) > 10 && s[10] == ' ' {
		s = s[:10] + "T" + s[11:]
	}
	at, ok := filter.Instant(wire.Text(s))
	cell := wire.Datetime(at)
	if want == wire.TypeDate {
		cell = wire.Date(at)
	}
	if order, _ := filter.Compare(cell, wire.Text(s), want); !ok || order != 0 {
		return wire.Null(), fmt.Errorf("no %s is all of the value", want)
	}
	return cell, nil
}

// decimalOf returns a decoder of numbers whose cells are decimals.
func decimalOf(decode func(any) (wire.Value, error)) func(any) (wire.Value, error) {
	return func(driver any) (wire.Value, error) {
		v, err := decode(driver)
		if err != nil || v.IsNull() {
			return v, err
		}
		return wire.Decimal(text(v)), nil
	}
}

// Decoders of what the engine computes.
var (
	DecodeInteger = (&sqlengine.Column{Type: wire.TypeNumber, Class: sqlengine.ClassInteger}).Decoder()
	DecodeDecimal = (&sqlengine.Column{Type: wire.TypeDecimal}).Decoder()
	DecodeDate    = (&sqlengine.Column{Type: wire.TypeDate}).Decoder()
)

// bind returns a placeholder in a form comparable with Raw.
func (c *Column) bind(param string) string {
	if c.Bind == nil {
		return param
	}
	return c.Bind(param)
}

// AsCell returns an expression of Key's or Group's values as Decode reads it.
func (c *Column) AsCell(expr string) string {
	if c.Read == nil {
		return expr
	}
	return c.Read(expr)
}

// GroupKey returns the expression whose equality is the platform's.
func (c *Column) GroupKey() string { return cmp.Or(c.Group, c.Key) }

// Ambiguous reports whether values that the engine's keys tell apart may be equal on the
// wire, as where one moment, or one document, is stored in two spellings.
func (c *Column) Ambiguous() bool {
	switch c.Class {
	case sqlengine.ClassOpaque:
		return c.Type != wire.TypeString && c.Type != wire.TypeReference
	case sqlengine.ClassBoolean:
		return c.Tie != ""
	}
	return c.Loose.Guard != "" || c.Loose.Lossy
}

// Null returns the condition that the cell is null.
func (c *Column) Null() string {
	if c.Valid == "" {
		return c.Raw + " IS NULL"
	}
	return "(" + c.Raw + " IS NULL OR NOT (" + c.Valid + "))"
}

// NotNull returns the condition that the cell is not null.
func (c *Column) NotNull() string {
	if c.Valid == "" {
		return c.Raw + " IS NOT NULL"
	}
	return "(" + c.Raw + " IS NOT NULL AND " + c.Valid + ")"
}

// Mixed reports whether each value of the column is an integer or a float.
func (c *Column) Mixed() bool { return c.Class == sqlengine.ClassFloat && c.Loose.Integers }

// Inside returns the condition that selects the rows that Sorted orders; empty: all
// of them.
func (c *Column) Inside() string {
	if c.Index.Within == "" && c.Nullable {
		return c.Index.Sorted + " IS NOT NULL"
	}
	return c.Index.Within
}

// Outside returns the condition that selects the other rows; empty if Within has all.
func (c *Column) Outside() string {
	switch {
	case c.Index.Within != "":
		return "(" + c.Index.Within + ") IS NOT TRUE"
	case c.Nullable:
		return c.Index.Sorted + " IS NULL"
	}
	return ""
}
