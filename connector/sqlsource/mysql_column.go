package sqlsource

import (
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Column reads as text what drivers return differently, dates above all.
func (f mysql) Column(ref string, c CatalogColumn) Column {
	column := Column{Cell: ref, Raw: ref, Key: ref, Stored: ref}
	asText := func(expr string) string { return "CAST(CAST(" + expr + " AS CHAR) AS BINARY)" }
	switch c.DataType {
	case "boolean":
		column.Type, column.Class = wire.TypeBoolean, ClassBoolean
		column.Raw = "(" + ref + " <> 0)"
		column.Cell, column.Key, column.Tie = column.Raw, column.Raw, ref
		column.Decode = DecodeBoolean
		column.Text = "CAST(CASE WHEN " + ref + " <> 0 THEN 'true' WHEN " + ref + " = 0 THEN 'false' END AS BINARY)"
	case "tinyint", "smallint", "mediumint", "int", "bigint", "year":
		column.Type, column.Class = wire.TypeNumber, ClassInteger
		column.Decode = DecodeInteger
		if c.DataType == "year" {
			column.Raw = "CAST(" + ref + " AS SIGNED)" // not the two digits that a year also has
			column.Cell, column.Key = column.Raw, column.Raw
		}
		if c.DataType == "bigint" && strings.Contains(c.Note, noteUnsigned) {
			column.Class, column.Precision = ClassDecimal, 20
			column.Bind = func(param string) string { return "CAST(" + param + " AS DECIMAL(20, 0))" }
		}
		column.Text = asText(column.Raw)
	case "bit":
		column.Type, column.Class = wire.TypeNumber, ClassDecimal
		column.Raw = "CAST(" + ref + " AS UNSIGNED)"
		column.Cell, column.Key, column.Text = column.Raw, column.Raw, asText(column.Raw)
		column.Decode = DecodeInteger
		column.Precision = 20
		column.Bind = func(param string) string { return "CAST(" + param + " AS DECIMAL(20, 0))" }
	case "decimal":
		column.Type, column.Class = wire.TypeDecimal, ClassDecimal
		column.Precision, column.Scale = c.Precision, c.Scale
		column.Decode = DecodeDecimal
		to := "DECIMAL(" + strconv.Itoa(c.Precision) + ", " + strconv.Itoa(c.Scale) + ")"
		column.Bind = func(param string) string { return "CAST(" + param + " AS " + to + ")" }
		column.Text = asText(ref)
	case "float", "double":
		column.Type, column.Class = wire.TypeNumber, ClassFloat
		column.Decode = DecodeFloat
		if c.DataType == "float" {
			column.Raw = "(" + ref + " + 0e0)"
			column.Cell, column.Key = column.Raw, column.Raw
		}
	case "date", "datetime", "timestamp":
		mysqlMoment(&column, ref, c)
	case "json":
		column.Type, column.Class = wire.TypeJSON, ClassOpaque
		column.Cell, column.Tie, column.Key = "CAST("+ref+" AS CHAR)", mysqlHash(ref), ""
		column.Decode = DecodeJSON
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		column.Type, column.Class = wire.TypeString, ClassText
		column.Raw = "CAST(REPLACE(TO_BASE64(" + ref + "), '\\n', '') AS BINARY)"
		column.Cell, column.Decode = column.Raw, DecodeText
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
			column.Tie = mysqlHash(column.Raw)
		}
	}
	if strings.Contains(c.Note, noteJSON) {
		column.Type, column.Class, column.Decode = wire.TypeJSON, ClassOpaque, DecodeJSON
		column.Tie, column.Key, column.Text, column.Same = mysqlHash(column.Raw), "", "", nil
	}
	return column.as(c.Want)
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
		if strings.Contains(c.Note, noteCharset) {
			break
		}
		// Equal bytes are equal in every collation, so an index serves.
		column.Same = func(args []any, bind func(any) string) string {
			list := func(as func(string) string) string {
				params := make([]string, len(args))
				for i, arg := range args {
					params[i] = as(bind(arg))
				}
				return " IN (" + strings.Join(params, ", ") + ")"
			}
			plain := ref + list(func(p string) string { return p })
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
