package sqlsource

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Column reads as text what drivers return differently, dates above all.
func (f mysql) Column(ref string, c CatalogColumn) Column {
	column := Column{Cell: ref, Raw: ref, Key: ref, Stored: ref}
	switch c.DataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "year", "bit", "decimal", "float", "double":
		if c.isMySQLBoolean() {
			mysqlBoolean(&column, ref)
			break
		}
		mysqlNumber(&column, ref, c)
	case "date", "datetime", "timestamp":
		mysqlMoment(&column, ref, c)
	case "json":
		column.Type, column.Class = wire.TypeJSON, ClassOpaque
		column.Cell, column.Tie, column.Key = "CAST("+ref+" AS CHAR)", mysqlHash(ref), ""
		column.Decode = DecodeJSON
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		mysqlBytes(&column, ref, c)
	case "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection":
		column.Type, column.Class = wire.TypeString, ClassText
		column.Raw = "CAST(ST_AsText(" + ref + ") AS BINARY)"
		column.Cell, column.Decode = column.Raw, DecodeText
	default:
		mysqlText(&column, ref, c)
	}
	if column.Class == ClassText {
		column.Bind = f.TextParam
		column.Key, column.Text = column.Raw, column.Raw
		if c.Precision == 0 || c.Precision > mysqlSortLength-72 { // bytes, and some room for what the engine adds
			column.Long = "LENGTH(" + column.Raw + ") > " + strconv.Itoa(mysqlSortLength-72)
			column.Tie = or(column.Tie, mysqlHash(column.Raw))
		}
	}
	if c.has(noteJSON) {
		column.Type, column.Class, column.Decode = wire.TypeJSON, ClassOpaque, DecodeJSON
		column.Tie, column.Key, column.Text, column.Same = mysqlHash(column.Raw), "", "", nil
	}
	mysqlIndex(&column, ref, c)
	return column.as(c.Want)
}

// mysqlAsText returns an expression of the bytes of a number's digits.
func mysqlAsText(expr string) string { return "CAST(CAST(" + expr + " AS CHAR) AS BINARY)" }

// isMySQLBoolean reports whether a column is a boolean: BIT(1), an integer that a
// CHECK keeps 0 or 1, or one that the host says is one.
func (c *CatalogColumn) isMySQLBoolean() bool {
	if c.Want != "" {
		return c.Want == wire.TypeBoolean && (c.DataType == "tinyint" || c.DataType == "bit" && c.Precision == 1)
	}
	return c.has(noteBoolean) || c.DataType == "bit" && c.Precision == 1
}

// mysqlBoolean completes a boolean, which is true when it is not 0.
func mysqlBoolean(column *Column, ref string) {
	column.Type, column.Class = wire.TypeBoolean, ClassBoolean
	column.Raw = "(" + ref + " <> 0)"
	column.Cell, column.Key, column.Tie = column.Raw, column.Raw, ref
	column.Decode = DecodeBoolean
	column.Text = "CAST(CASE WHEN " + ref + " <> 0 THEN 'true' WHEN " + ref + " = 0 THEN 'false' END AS BINARY)"
}

// mysqlNumber completes a number. ZEROFILL is taken away, so that a number has one
// spelling wherever it is read.
func mysqlNumber(column *Column, ref string, c CatalogColumn) {
	column.Type, column.Class = wire.TypeNumber, ClassInteger
	column.Decode = DecodeInteger
	decimal := "DECIMAL(20, 0)"
	plain := "UNSIGNED"
	switch c.DataType {
	case "year": // not the two digits that a year also has
		column.Raw = "CAST(" + ref + " AS SIGNED)"
		column.Cell, column.Key = column.Raw, column.Raw
	case "bit":
		column.Raw = "CAST(" + ref + " AS UNSIGNED)"
		column.Cell, column.Key = column.Raw, column.Raw
		column.Class, column.Precision = ClassDecimal, 20
	case "bigint":
		if c.has(noteUnsigned) {
			column.Class, column.Precision = ClassDecimal, 20
		}
	case "decimal":
		column.Type, column.Class, column.Decode = wire.TypeDecimal, ClassDecimal, DecodeDecimal
		column.Precision, column.Scale = c.Precision, c.Scale
		decimal = "DECIMAL(" + strconv.Itoa(c.Precision) + ", " + strconv.Itoa(c.Scale) + ")"
		plain = decimal
	case "float", "double":
		column.Class, column.Decode = ClassFloat, DecodeFloat
		if c.DataType == "float" {
			column.Raw = "(" + ref + " + 0e0)"
			column.Cell, column.Key = column.Raw, column.Raw
		}
		return
	}
	if column.Class == ClassDecimal {
		column.Bind = func(param string) string { return "CAST(" + param + " AS " + decimal + ")" }
	}
	if c.has(noteZerofill) {
		column.Read = func(expr string) string { return "CAST(" + expr + " AS " + plain + ")" }
		column.Cell = column.Read(ref)
	}
	column.Text = mysqlAsText(column.Cell)
}

// mysqlBytes completes a column of bytes, which are base64 to the platform. They
// are read as they are: SQL takes seconds for some megabytes in base64.
func mysqlBytes(column *Column, ref string, c CatalogColumn) {
	column.Type, column.Class, column.Decode = wire.TypeString, ClassText, DecodeBytes
	column.Raw = "CAST(REPLACE(TO_BASE64(" + ref + "), '\\n', '') AS BINARY)"
	column.Read = func(expr string) string { return "FROM_BASE64(" + expr + ")" }
	column.Same = func(args []any, bind func(any) string) string {
		var params []string
		for _, arg := range args {
			if b, err := base64.StdEncoding.Strict().DecodeString(arg.(string)); err == nil && !strings.ContainsAny(arg.(string), "\r\n") {
				params = append(params, mysql{}.TextParam(bind(b)))
			}
		}
		if len(params) == 0 {
			return falseSQL
		}
		return ref + " IN (" + strings.Join(params, ", ") + ")"
	}
	switch c.DataType {
	case "mediumblob", "longblob": // TO_BASE64 is null where it would be longer
		column.Guard = "LENGTH(" + ref + ") > @@max_allowed_packet DIV 2"
		column.Tie = mysqlHash(ref)
	case "blob":
		column.Tie = mysqlHash(ref)
	}
}

// mysqlHash returns an expression that tells texts apart that are too long for
// the engine to sort.
func mysqlHash(expr string) string { return "SHA2(" + expr + ", 256)" }

// mysqlText completes a column of text, compared by its bytes in UTF-8, without
// padding.
func mysqlText(column *Column, ref string, c CatalogColumn) {
	column.Type, column.Class, column.Decode = wire.TypeString, ClassText, DecodeText
	column.Raw = "CAST(" + ref + " AS BINARY)"
	switch c.DataType {
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext":
		if c.has(noteCharset) {
			break
		}
		// Equal bytes are equal in every collation, so an index serves.
		collation, charset := c.mysqlCollation()
		column.Same = func(args []any, bind func(any) string) string {
			// The engine refuses to compare with a character that the column cannot hold.
			args = slices.DeleteFunc(slices.Clone(args), func(arg any) bool { return !mysqlHolds(charset, arg.(string)) })
			if len(args) == 0 {
				return falseSQL
			}
			list := func(as func(string) string) string {
				params := make([]string, len(args))
				for i, arg := range args {
					params[i] = as(bind(arg))
				}
				return " IN (" + strings.Join(params, ", ") + ")"
			}
			plain := ref + list(func(p string) string { return mysqlCollated(p, collation, charset) })
			return "(" + plain + " AND CAST(" + ref + " AS BINARY)" + list(mysql{}.TextParam) + ")"
		}
		return
	case "uuid":
		column.Decode = DecodeUUID
		column.Raw = "CAST(CAST(" + ref + " AS CHAR) AS BINARY)"
		column.Cell = "CAST(" + ref + " AS CHAR)"
		return
	case "enum", "set":
	default:
		column.Cell = "CAST(" + ref + " AS CHAR)"
	}
	column.Raw = "CAST(CONVERT(" + ref + " USING utf8mb4) AS BINARY)"
}

// mysqlMoment completes a date or a datetime. One with a month or a day of zero
// is null.
func mysqlMoment(column *Column, ref string, c CatalogColumn) {
	column.Valid = "MONTH(" + ref + ") > 0 AND DAYOFMONTH(" + ref + ") > 0"
	column.Key = "CASE WHEN " + column.Valid + " THEN " + ref + " END"
	column.Read = func(expr string) string { return "CAST(" + expr + " AS CHAR)" }
	column.Cell, column.Tie = column.Read(column.Key), ref
	if c.DataType == "date" {
		column.Type, column.Class, column.Decode = wire.TypeDate, ClassDate, DecodeDate
		column.Bind = func(param string) string { return "CAST(" + param + " AS DATE)" }
		column.Text = "CAST(DATE_FORMAT(" + column.Key + ", '%Y-%m-%d') AS BINARY)"
		return
	}
	column.Type, column.Class, column.Decode = wire.TypeDatetime, ClassDatetime, DecodeDatetime(c.Precision)
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
