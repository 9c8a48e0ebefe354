package firebird_test

import (
	"fmt"
	"strconv"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// maxOperand is the longest text that a filter binds, in bytes. The engine reserves as
// much for each placeholder of a text, whatever is bound.
const maxOperand = 1000

// maxText is the longest column of text, in bytes, that is ordered and compared: the
// engine's strings end at 32,765 bytes, and an escaped one may be twice as long.
const maxText = 16_000

// Column implements [sqlengine.Flavor].
//
// Numbers have no Text, which a join with a text would compare: the engine makes an
// outer join without an index by looking at each pair of rows. The library joins them
// in memory.
func (flavor) Column(ref string, c sqlengine.CatalogColumn) sqlengine.Column {
	column := sqlengine.Column{Cell: ref, Raw: ref, Key: ref, FirstYear: 1}
	switch c.DataType {
	case "SMALLINT", "INTEGER", "BIGINT":
		column.Type, column.Class = wire.TypeNumber, sqlengine.ClassInteger
		column.Bind = cast("BIGINT")
		column.Index.Plain, column.Index.PlainKind, column.Index.Stored = ref, "integer", ref
		if c.DataType == "BIGINT" { // an index puts the least of all behind -1
			column.Raw = "(" + ref + " + 0)"
			column.Key = column.Raw
		}
	case "DECIMAL":
		decimal(&column, ref, c)
	case "FLOAT", "DOUBLE":
		column.Type, column.Class = wire.TypeNumber, sqlengine.ClassFloat
		column.Single = c.DataType == "FLOAT"
		column.Bind = cast("DOUBLE PRECISION")
		column.Raw = "CAST(" + ref + " AS DOUBLE PRECISION)"
		column.Cell = column.Raw
		column.Key = "(" + column.Raw + " + 0e0)" // -0 and 0 would be two groups
	case "BOOLEAN":
		column.Type, column.Class = wire.TypeBoolean, sqlengine.ClassBoolean
		column.Text = octets("TRIM(CASE WHEN "+ref+" THEN 'true' WHEN NOT "+ref+" THEN 'false' END)", 5) // CASE pads the shorter one
	case "DATE":
		column.Type, column.Class = wire.TypeDate, sqlengine.ClassDate
		column.Bind = cast("DATE")
		column.Read = cast("VARCHAR(10)") // the driver reads a date in its own time zone
		column.Cell, column.Text = column.Read(ref), octets(ref, 10)
	case "TIMESTAMP":
		column.Type, column.Class, column.Precision = wire.TypeDatetime, sqlengine.ClassDatetime, 4
		column.Bind = cast("TIMESTAMP")
		column.Read = cast("VARCHAR(24)")
		column.Cell = column.Read(ref)
		column.Text = octets("REPLACE("+column.Cell+", ' ', 'T') || '00Z'", 27) // cells have six digits
	case "TIME":
		text(&column, "CAST("+ref+" AS VARCHAR(13))", 13)
	case "CHAR":
		text(&column, "TRIM(TRAILING FROM "+utf8(ref, c)+")", c.Precision)
	case "VARCHAR":
		text(&column, utf8(ref, c), c.Precision)
		column.Cell = ref
		if note, ok := c.Note.(textNote); ok && note.collation == 0 { // an index in another collation does not find a text with a NUL
			column.Index.Plain, column.Index.PlainKind = ref, fmt.Sprint(note)
		}
	case "OCTETS":
		text(&column, ref, c.Precision)
		column.Class, column.Text = sqlengine.ClassBytes, ""
		column.Group, column.Tie, column.Key = column.Key, column.Key, "" // the order of base64 is another one
		column.Cell = ref
	default:
		column.Type, column.Class, column.Key = wire.TypeString, sqlengine.ClassOpaque, ""
		if c.DataType == "BLOB" {
			column.Decode = (&sqlengine.Column{Type: wire.TypeString, Class: sqlengine.ClassBytes}).Decoder()
		}
	}
	return column
}

// utf8 returns a text as UTF-8, whatever its character set.
func utf8(ref string, c sqlengine.CatalogColumn) string {
	return "CAST(" + ref + " AS VARCHAR(" + strconv.Itoa(c.Precision/4) + ") CHARACTER SET UTF8)"
}

// cast returns a Bind, or a Read, that casts an expression to a type.
func cast(to string) func(string) string {
	return func(expr string) string { return "CAST(" + expr + " AS " + to + ")" }
}

// decimal completes a NUMERIC or DECIMAL. The engine keeps 64 bits of a type of more
// than nine digits, and lets in what has nineteen; no operand of so many digits can be
// bound to compare with it.
func decimal(column *sqlengine.Column, ref string, c sqlengine.CatalogColumn) {
	column.Type, column.Class = wire.TypeDecimal, sqlengine.ClassDecimal
	column.Precision, column.Scale = 18, c.Scale
	column.Bind = cast("NUMERIC(18, " + strconv.Itoa(c.Scale) + ")")
	column.Read = cast("VARCHAR(24)")
	column.Cell = column.Read(ref)
	if c.Precision > 9 {
		const nines = "999999999999999999"
		most := "CAST('" + nines[c.Scale:] + "." + nines[:c.Scale] + "' AS NUMERIC(18, " + strconv.Itoa(c.Scale) + "))"
		column.Loose.Guard = ref + " NOT BETWEEN -" + most + " AND " + most
	}
}

// octets returns an expression as a string of bytes.
func octets(expr string, size int) string {
	return "CAST(" + expr + " AS VARCHAR(" + strconv.Itoa(size) + ") CHARACTER SET OCTETS)"
}

// escaped returns bytes so that the engine compares them as they are. It compares the
// shorter of two strings as if it ended in NULs, or in blanks where it counts distinct
// values. So each text ends in a mark that is less than any byte that may follow, a NUL
// and a 1, and a NUL within the text is a NUL and a 2.
func escaped(bytes string, size int) string {
	return "CAST(REPLACE(" + bytes + ", x'00', x'0002') || x'0001' AS VARCHAR(" + strconv.Itoa(2*size+2) + ") CHARACTER SET OCTETS)"
}

// text completes a column of text, which is compared by its bytes in UTF-8. size is how
// many bytes it may have. A longer one than maxText is read, and nothing else.
func text(column *sqlengine.Column, expr string, size int) {
	column.Type, column.Class = wire.TypeString, sqlengine.ClassText
	column.Cell = expr
	if size > maxText {
		column.Class, column.Key = sqlengine.ClassOpaque, ""
		return
	}
	column.MaxOperand = maxOperand
	column.Text = octets(expr, size)
	column.Raw = escaped(column.Text, size)
	column.Key = column.Raw
	column.Bind = func(param string) string { return escaped(octets(param, maxOperand), maxOperand) }
	column.Read = func(expr string) string { // the bytes that are escaped
		return "REPLACE(SUBSTRING(" + expr + " FROM 1 FOR OCTET_LENGTH(" + expr + ") - 2), x'0002', x'00')"
	}
}
