package duckdb

import (
	"fmt"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// textColumn is a column of a CSV or JSON table, and how its texts become values.
type textColumn struct {
	name string
	typ  wire.Type // that the cells are of
	// width is that of a datetime's fraction.
	width int
	// read is the type that the engine's CSV reader is given. It is one that it reads
	// without a choice: dates and datetimes are texts to it.
	read string
	// catalog is the type that the flavor serves the column as, and cast, if there is one,
	// makes it of what was read. %s is the text.
	catalog, cast string
	// why says why the column is a string although its cells would have another type.
	why string
}

// decide returns the column that all files of a table make together: of the declared
// type, or of the least that every cell spells exactly.
func decide(e evidence, declared wire.Type) textColumn {
	c := textColumn{name: e.name, typ: declared, read: "VARCHAR"}
	if c.typ == "" {
		c.typ = e.seen.Type(wire.TypeString)
	}
	switch c.typ {
	case wire.TypeBoolean:
		c.read, c.catalog = "BOOLEAN", "BOOLEAN"
	case wire.TypeNumber:
		c.number(e)
	case wire.TypeDecimal:
		c.decimal(e)
	case wire.TypeDate:
		if c.catalog, c.cast = "DATE", "CAST(%s AS DATE)"; e.early {
			c.text("the engine has no year 0")
		}
	case wire.TypeDatetime:
		c.datetime(e)
	case wire.TypeJSON, wire.TypeArray:
		c.catalog = "JSON"
	default:
		c.catalog = "VARCHAR"
	}
	return c
}

// text sets the column's type to text.
func (c *textColumn) text(why string) {
	*c = textColumn{name: c.name, typ: wire.TypeString, read: "VARCHAR", catalog: "VARCHAR", why: why}
}

func (c *textColumn) number(e evidence) {
	switch {
	case e.scale == 0 && e.whole <= narrowDecimal:
		c.read, c.catalog = "BIGINT", "BIGINT"
	case e.scale == 0 && e.whole <= maxDecimal:
		c.read, c.catalog = "HUGEINT", "HUGEINT"
	case e.scale == 0:
		c.catalog, c.cast = "BIGNUM", "CAST(%s AS BIGNUM)"
	case !e.inexact:
		c.catalog, c.cast = "DOUBLE", "CAST(%s AS DOUBLE)"
	default:
		c.typ = wire.TypeDecimal
		c.decimal(e)
	}
}

func (c *textColumn) decimal(e evidence) {
	digits := max(1, e.whole+e.scale)
	if digits > maxDecimal {
		c.text(fmt.Sprintf("its numbers take %d digits before the dot and %d behind it, together more than %d",
			e.whole, e.scale, maxDecimal))
		return
	}
	c.read = decimalType(digits, e.scale)
	c.catalog = c.read
}

// datetime serves the narrowest fraction that holds all, as filesource does.
func (c *textColumn) datetime(e evidence) {
	c.width = (e.digits + 2) / 3 * 3
	c.catalog = map[int]string{0: "TIMESTAMP_S", 3: "TIMESTAMP_MS", 6: "TIMESTAMP", 9: "TIMESTAMP_NS"}[c.width]
	c.cast = "CAST(%s AS TIMESTAMP)"
	switch {
	case e.early:
		c.text("the engine has no year 0")
	case c.width == nanoseconds && e.late:
		c.text("its datetimes have nanoseconds, which the engine has for the years 1678 to 2261 only")
	case c.width == nanoseconds:
		c.cast = "CAST(%s AS TIMESTAMP_NS)"
	case e.zoned:
		c.cast = "timezone('UTC', CAST(%s AS TIMESTAMP WITH TIME ZONE))"
	}
}

// engineReads reports whether the engine reads every cell of a CSV's column as it is
// meant.
func (c *textColumn) engineReads(e evidence) bool {
	return !e.odd && (!e.zoned || c.width < nanoseconds) || c.catalog == "VARCHAR" || c.catalog == "JSON"
}

// selected returns the expression of the column over a text that was read by the engine
// as c.read, or by this package, which spells it as a cell.
func (c *textColumn) selected(ref string, spelled bool) string {
	switch {
	case c.cast == "" && !spelled:
		return ref
	case c.cast == "":
		return "CAST(" + ref + " AS " + c.viewType() + ")"
	case spelled && c.typ == wire.TypeDatetime && c.width < nanoseconds:
		return "CAST(" + ref + " AS TIMESTAMP)"
	}
	return fmt.Sprintf(c.cast, ref)
}

// viewType returns the engine's type of the column.
func (c *textColumn) viewType() string {
	switch c.catalog {
	case "JSON":
		return "VARCHAR"
	case "TIMESTAMP_S", "TIMESTAMP_MS":
		return "TIMESTAMP"
	}
	return c.catalog
}
