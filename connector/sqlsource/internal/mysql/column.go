package mysql

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Column reads as text what drivers return differently, dates above all.
func (f flavor) Column(ref string, c sqlengine.CatalogColumn) sqlengine.Column {
	column := sqlengine.Column{Cell: ref, Raw: ref, Key: ref, Index: sqlengine.Index{Stored: ref}}
	switch c.DataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "year", "bit", "decimal", "float", "double":
		if isBoolean(c) {
			boolean(&column, ref)
			break
		}
		number(&column, ref, c)
	case "date", "datetime", "timestamp":
		moment(&column, ref, c)
	case "json":
		column.Type, column.Class = wire.TypeJSON, sqlengine.ClassOpaque
		column.Cell, column.Tie, column.Key = "CAST("+ref+" AS CHAR)", hash(ref), ""
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		byteString(&column, ref, c)
	case "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection":
		column.Type, column.Class = wire.TypeString, sqlengine.ClassText
		column.Raw = "CAST(ST_AsText(" + ref + ") AS BINARY)"
		column.Cell = column.Raw
	default:
		text(&column, ref, c)
	}
	if column.Class == sqlengine.ClassText {
		column.Bind = asBytes
		column.Key = column.Raw
		if column.Valid != "" {
			column.Key = "CASE WHEN " + column.Valid + " THEN " + column.Raw + " END"
		}
		column.Text = column.Key
		if c.Precision == 0 || c.Precision > sortLength-72 { // bytes, and some room for what the engine adds
			column.Loose.Long = "LENGTH(" + column.Raw + ") > " + strconv.Itoa(sortLength-72)
			switch {
			case column.Valid != "":
				column.Tie = hash(column.Tie)
			case column.Tie == "":
				column.Tie = hash(column.Raw)
			}
		}
	}
	if noteOf(c).json {
		column.Type, column.Class, column.Decode = wire.TypeJSON, sqlengine.ClassOpaque, nil
		column.Tie, column.Key, column.Text, column.Index.Equal = hash(column.Raw), "", "", nil
	}
	index(&column, ref, c)
	return column
}

// numberText returns an expression of the bytes of a number's digits.
func numberText(expr string) string { return "CAST(CAST(" + expr + " AS CHAR) AS BINARY)" }

// isBoolean reports whether a column is a boolean: BIT(1), an integer that a
// CHECK keeps 0 or 1, or one that the host says is one.
func isBoolean(c sqlengine.CatalogColumn) bool {
	if c.Want != "" {
		return c.Want == wire.TypeBoolean && (c.DataType == "tinyint" || c.DataType == "bit" && c.Precision == 1)
	}
	return noteOf(c).boolean || c.DataType == "bit" && c.Precision == 1
}

// boolean completes a boolean, which is true when it is not 0.
func boolean(column *sqlengine.Column, ref string) {
	column.Type, column.Class = wire.TypeBoolean, sqlengine.ClassBoolean
	column.Raw = "(" + ref + " <> 0)"
	column.Cell, column.Key, column.Tie = column.Raw, column.Raw, ref
	column.Text = "CAST(CASE WHEN " + ref + " <> 0 THEN 'true' WHEN " + ref + " = 0 THEN 'false' END AS BINARY)"
}

// number completes a number. ZEROFILL is taken away, so that a number has one
// spelling wherever it is read.
func number(column *sqlengine.Column, ref string, c sqlengine.CatalogColumn) {
	column.Type, column.Class = wire.TypeNumber, sqlengine.ClassInteger
	decimal := "DECIMAL(20, 0)"
	plain := "UNSIGNED"
	switch c.DataType {
	case "year": // not the two digits that a year also has
		column.Raw = "CAST(" + ref + " AS SIGNED)"
		column.Cell, column.Key = column.Raw, column.Raw
	case "bit":
		column.Raw = "CAST(" + ref + " AS UNSIGNED)"
		column.Cell, column.Key = column.Raw, column.Raw
		column.Class, column.Precision = sqlengine.ClassDecimal, 20
	case "bigint":
		if noteOf(c).unsigned {
			column.Class, column.Precision = sqlengine.ClassDecimal, 20
		}
	case "decimal":
		column.Type, column.Class = wire.TypeDecimal, sqlengine.ClassDecimal
		column.Precision, column.Scale = c.Precision, c.Scale
		decimal = "DECIMAL(" + strconv.Itoa(c.Precision) + ", " + strconv.Itoa(c.Scale) + ")"
		plain = decimal
	case "float", "double":
		column.Class = sqlengine.ClassFloat
		if c.DataType == "float" { // which the server spells with six digits
			column.Single = true
			column.Raw = "(" + ref + " + 0e0)"
			column.Cell, column.Key = column.Raw, column.Raw
		}
		return
	}
	if column.Class == sqlengine.ClassDecimal {
		column.Bind = func(param string) string { return "CAST(" + param + " AS " + decimal + ")" }
	}
	if noteOf(c).zerofill {
		column.Read = func(expr string) string { return "CAST(" + expr + " AS " + plain + ")" }
		column.Cell = column.Read(ref)
	}
	column.Text = numberText(column.Cell)
}

// byteString completes a column of bytes, which are base64 to the platform. They
// are read as they are: SQL takes seconds for some megabytes in base64.
func byteString(column *sqlengine.Column, ref string, c sqlengine.CatalogColumn) {
	column.Type, column.Class, column.Decode = wire.TypeString, sqlengine.ClassText, decodeBytes
	column.Raw = "CAST(REPLACE(TO_BASE64(" + ref + "), '\\n', '') AS BINARY)"
	column.Read = func(expr string) string { return "FROM_BASE64(" + expr + ")" }
	column.Index.Equal = func(args []any, bind func(any) string) string {
		var params []string
		for _, arg := range args {
			if b, err := base64.StdEncoding.Strict().DecodeString(arg.(string)); err == nil && !strings.ContainsAny(arg.(string), "\r\n") {
				params = append(params, asBytes(bind(b)))
			}
		}
		return isIn(ref, params)
	}
	switch c.DataType {
	case "mediumblob", "longblob": // TO_BASE64 is null where it would be longer
		column.Loose.Guard = "LENGTH(" + ref + ") > @@max_allowed_packet DIV 2"
		column.Tie = hash(ref)
	case "blob":
		column.Tie = hash(ref)
	}
}

// Decoders of a text, and of bytes, of which base64 is the text.
var (
	decodeText  = (&sqlengine.Column{Type: wire.TypeString, Class: sqlengine.ClassText}).Decoder()
	decodeBytes = (&sqlengine.Column{Type: wire.TypeString, Class: sqlengine.ClassBytes}).Decoder()
)

// decodeUUID reads the text of a UUID, in lower case.
func decodeUUID(driver any) (wire.Value, error) {
	v, err := decodeText(driver)
	return wire.Text(strings.ToLower(v.Text())), err
}

// hash returns an expression that tells texts apart that are too long for
// the engine to sort.
func hash(expr string) string { return "SHA2(" + expr + ", 256)" }

// text completes a column of text, compared by its bytes in UTF-8, without
// padding.
func text(column *sqlengine.Column, ref string, c sqlengine.CatalogColumn) {
	column.Type, column.Class = wire.TypeString, sqlengine.ClassText
	column.Raw = "CAST(" + ref + " AS BINARY)"
	switch c.DataType {
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext":
		if !unicode(noteOf(c).charset) {
			meaningful(column, ref)
		}
		if noteOf(c).foreign {
			break
		}
		// Equal bytes are equal in every collation, so an index serves.
		collation, charset := noteOf(c).collation, noteOf(c).charset
		column.Index.Equal = func(args []any, bind func(any) string) string {
			// The engine refuses to compare with a character that the column cannot hold.
			args = slices.DeleteFunc(slices.Clone(args), func(arg any) bool { return !holds(charset, arg.(string)) })
			if len(args) == 0 {
				return "1 = 0"
			}
			list := func(as func(string) string) string {
				params := make([]string, len(args))
				for i, arg := range args {
					params[i] = as(bind(arg))
				}
				return " IN (" + strings.Join(params, ", ") + ")"
			}
			plain := ref + list(func(p string) string { return collated(p, collation, charset) })
			return "(" + plain + " AND CAST(" + ref + " AS BINARY)" + list(asBytes) + ")"
		}
		return
	case "uuid":
		column.Decode = decodeUUID
		column.Raw = "CAST(CAST(" + ref + " AS CHAR) AS BINARY)"
		column.Cell = "CAST(" + ref + " AS CHAR)"
		return
	case "enum", "set":
	default:
		column.Cell = "CAST(" + ref + " AS CHAR)"
	}
	column.Raw = "CAST(CONVERT(" + ref + " USING utf8mb4) AS BINARY)"
}

// unicode reports whether every character of a character set has a place in Unicode. The
// texts of a view's expression may have none.
func unicode(charset string) bool {
	return slices.Contains([]string{"", "utf8mb4", "utf8mb3", "utf8", "latin1", "ucs2", "utf16", "utf16le", "utf32"}, charset)
}

// meaningful completes a text in a character set that has bytes without a meaning, such as
// x'FF' in ascii. The server sends a question mark in place of each; such a text is null.
func meaningful(column *sqlengine.Column, ref string) {
	marks := func(text string) string { return "CHAR_LENGTH(REPLACE(" + text + ", '?', ''))" }
	column.Valid = marks(ref) + " = " + marks("CONVERT("+ref+" USING utf8mb4)")
	column.Invalid = "a text with bytes that mean nothing in its character set"
	column.Cell = "CASE WHEN " + column.Valid + " THEN " + ref + " END"
	column.Tie = "CAST(" + ref + " AS BINARY)"
}

// moment completes a date or a datetime. One of a day that does not exist is null: with
// a month or a day of zero, or a 31 February, which ALLOW_INVALID_DATES lets in.
func moment(column *sqlengine.Column, ref string, c sqlengine.CatalogColumn) {
	column.Valid = "DAYOFMONTH(" + ref + ") BETWEEN 1 AND COALESCE(DAYOFMONTH(LAST_DAY(" + ref + ")), 0)"
	column.Invalid = "a day that does not exist"
	column.Key = "CASE WHEN " + column.Valid + " THEN " + ref + " END"
	column.Read = func(expr string) string { return "CAST(" + expr + " AS CHAR)" }
	column.Cell, column.Tie = column.Read(column.Key), ref
	if c.DataType == "date" {
		column.Type, column.Class = wire.TypeDate, sqlengine.ClassDate
		column.Bind = func(param string) string { return "CAST(" + param + " AS DATE)" }
		column.Text = "CAST(DATE_FORMAT(" + column.Key + ", '%Y-%m-%d') AS BINARY)"
		return
	}
	column.Type, column.Class = wire.TypeDatetime, sqlengine.ClassDatetime
	column.Precision = c.Precision
	column.Bind = func(param string) string {
		return "CAST(" + param + " AS DATETIME(" + strconv.Itoa(c.Precision) + "))"
	}
	text := "DATE_FORMAT(" + column.Key + ", '%Y-%m-%dT%H:%i:%s"
	switch {
	case c.Precision > 3:
		text += ".%fZ')"
	case c.Precision > 0:
		text = "CONCAT(LEFT(" + text + ".%f'), 23), 'Z')"
	default:
		text += "Z')"
	}
	column.Text = "CAST(" + text + " AS BINARY)"
}
