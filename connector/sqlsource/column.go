package sqlsource

import (
	"cmp"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// column is a column of a table that is served: what the flavor says of it, with its
// names and what the catalog says of its values.
type column struct {
	sqlengine.Column
	name     string // in the protocol
	own      string // in the database
	nullable bool   // on the wire, as far as the catalog says
	required bool   // never null in the engine
	indexed  bool   // an index that keeps the order of values begins with it
}

// newColumn returns a column of the catalog. ref is the column, quoted and qualified,
// public its name in the protocol.
func newColumn(flavor sqlengine.Flavor, ref, public string, c sqlengine.CatalogColumn) *column {
	own := flavor.Column(ref, c)
	own.Decode = own.Decoder()
	own = as(own, c.Want)
	return &column{
		Column: own, name: public, own: c.Name,
		nullable: c.Nullable || own.Valid != "", required: !c.Nullable, indexed: c.Indexed,
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
	if document(want) {
		c.Decode = (&sqlengine.Column{Type: want}).Decoder()
	}
	c.Class, c.Text, c.Contains = sqlengine.ClassOpaque, "", nil
	c.Tie, c.Key, c.Group = cmp.Or(c.Tie, c.Key), "", ""
	c.Index = sqlengine.Index{Stored: c.Index.Stored}
	return c
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
	decodeInteger = (&sqlengine.Column{Type: wire.TypeNumber, Class: sqlengine.ClassInteger}).Decoder()
	decodeDecimal = (&sqlengine.Column{Type: wire.TypeDecimal}).Decoder()
	decodeDate    = (&sqlengine.Column{Type: wire.TypeDate}).Decoder()
)

// bind returns a placeholder in a form comparable with Raw.
func (c *column) bind(param string) string {
	if c.Bind == nil {
		return param
	}
	return c.Bind(param)
}

// read returns an expression of Key's or Group's values as Decode reads it.
func (c *column) read(expr string) string {
	if c.Read == nil {
		return expr
	}
	return c.Read(expr)
}

// group returns the expression whose equality is the platform's.
func (c *column) group() string { return cmp.Or(c.Group, c.Key) }

// null returns the condition that the cell is null.
func (c *column) null() string {
	if c.Valid == "" {
		return c.Raw + " IS NULL"
	}
	return "(" + c.Raw + " IS NULL OR NOT (" + c.Valid + "))"
}

// notNull returns the condition that the cell is not null.
func (c *column) notNull() string {
	if c.Valid == "" {
		return c.Raw + " IS NOT NULL"
	}
	return "(" + c.Raw + " IS NOT NULL AND " + c.Valid + ")"
}

// mixed reports whether each value of the column is an integer or a real, so that one
// operand may not serve all of them.
func (c *column) mixed() bool { return c.Class == sqlengine.ClassFloat && c.Loose.Integer != "" }
