package duckdb

import (
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// bytewise is the collation of byte order. It costs nothing: the engine drops it.
const bytewise = ` COLLATE "C"`

// Column implements [sqlengine.Flavor].
func (flavor) Column(ref string, c sqlengine.CatalogColumn) sqlengine.Column {
	column := sqlengine.Column{
		Cell: ref, Raw: ref, Key: ref, Decode: decode, FirstYear: 1, NULUnbound: true, Index: sqlengine.Index{Stored: ref},
	}
	kind, _, _ := strings.Cut(c.DataType, "(")
	if strings.HasSuffix(c.DataType, "]") {
		kind = "LIST"
	}
	switch kind {
	case "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER":
		column.Type, column.Class = wire.TypeNumber, sqlengine.ClassInteger
		column.Bind = cast("BIGINT")
		column.Text = text(ref)
	case "UBIGINT", "HUGEINT", "UHUGEINT", "BIGNUM":
		large(&column, ref, kind)
	case "DECIMAL":
		column.Type, column.Class = wire.TypeDecimal, sqlengine.ClassDecimal
		column.Precision, column.Scale = c.Precision, c.Scale
		column.Bind = cast(c.DataType)
		column.Text = decimalText(ref, c.DataType)
	case "FLOAT", "DOUBLE":
		float(&column, ref, kind)
	case "BOOLEAN":
		column.Type, column.Class = wire.TypeBoolean, sqlengine.ClassBoolean
		column.Text = text(ref)
	case "DATE":
		column.Type, column.Class = wire.TypeDate, sqlengine.ClassDate
		column.Bind = cast("DATE")
		column.Valid = ref + " BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"
		column.Key = "CASE WHEN " + column.Valid + " THEN " + ref + " END"
		column.Cell, column.Text = column.Key, text(column.Key)
	case "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMP WITH TIME ZONE":
		moment(&column, ref, kind)
	case "JSON", "STRUCT", "MAP", "LIST":
		document(&column, ref, c.DataType, kind)
	case "BLOB":
		texts(&column, "to_base64("+ref+")")
	case "VARCHAR":
		texts(&column, ref+bytewise)
		column.Cell = ref
	default:
		texts(&column, text(ref))
	}
	return column
}

// text returns an expression's text, which is compared by its bytes.
func text(expr string) string { return "CAST(" + expr + " AS VARCHAR)" }

// decimalText returns a decimal's text. The engine spells no zero before the dot in a
// type without a digit there.
func decimalText(expr, dataType string) string {
	digits := strings.TrimSuffix(strings.TrimPrefix(dataType, "DECIMAL("), ")")
	if precision, scale, _ := strings.Cut(digits, ","); precision != scale {
		return text(expr)
	}
	return "regexp_replace(" + text(expr) + `, '^(-?)\.', '\10.')`
}

// cast returns a Bind that casts the placeholder to a type.
func cast(to string) func(string) string {
	return func(param string) string { return "CAST(" + param + " AS " + to + ")" }
}

// texts completes a column that is read and compared as a text.
func texts(column *sqlengine.Column, expr string) {
	column.Type, column.Class = wire.TypeString, sqlengine.ClassText
	column.Bind = cast("VARCHAR")
	column.Cell, column.Raw, column.Key, column.Text = expr, expr, expr, expr
}

// large completes an integer that a BIGINT does not hold. An operand may have more
// digits than the type, so all but the smallest are compared as integers of any size.
func large(column *sqlengine.Column, ref, kind string) {
	column.Type, column.Class = wire.TypeNumber, sqlengine.ClassDecimal
	column.Decode = decodeLarge
	column.Text = text(ref)
	if kind == "UBIGINT" {
		column.Precision = 20
		column.Bind = cast("HUGEINT")
		return
	}
	column.Bind = bignum
	column.Raw = bignum(ref)
	if kind == "HUGEINT" {
		column.Precision = hugeintDigits
		column.Index.Near = func(sign string, arg any, bind func(any) string) string {
			digits, ok := arg.(string)
			if !ok || len(digits) > maxDecimal {
				return ""
			}
			return ref + " " + sign + " " + cast(kind)(bind(digits)) // which spares most rows the cast to a BIGNUM
		}
		return
	}
	column.Precision = bignumDigits
	column.Key = column.Raw
	column.Read = text // the driver reads neither BIGNUM nor UHUGEINT
	column.Cell = column.Text
}

// bignum returns an expression as an integer of any size. The driver binds none, and
// the engine turns only texts of all others into one.
func bignum(expr string) string { return "CAST(" + text(expr) + " AS BIGNUM)" }

// bignumDigits is the number of digits that a filter on a large integer may have. A
// BIGNUM holds more. That of a HUGEINT is another one, which tells them apart.
const (
	bignumDigits  = 10_000
	hugeintDigits = bignumDigits - 1
)

// float completes a float. A FLOAT is compared as the double that it is exactly. The
// engine groups 0 and -0 apart, unless something is added.
func float(column *sqlengine.Column, ref, kind string) {
	column.Type, column.Class = wire.TypeNumber, sqlengine.ClassFloat
	column.Bind = cast("DOUBLE")
	column.Valid = "isfinite(" + ref + ")"
	column.Raw = "CAST(" + ref + " AS DOUBLE)"
	column.Key = "CASE WHEN " + column.Valid + " THEN " + column.Raw + " + 0.0 END"
	column.Cell = "CASE WHEN " + column.Valid + " THEN " + column.Raw + " END"
	if kind == "FLOAT" {
		column.Single, column.Decode = true, decodeSingle
	}
}

// nanoseconds is the precision of a TIMESTAMP_NS, and of no other type.
const nanoseconds = 9

// digitsOf are the digits of the fraction of a second that timestamps have.
var digitsOf = map[string]int{
	"TIMESTAMP_S": 0, "TIMESTAMP_MS": 3, "TIMESTAMP": 6, "TIMESTAMP WITH TIME ZONE": 6, "TIMESTAMP_NS": nanoseconds,
}

// moment completes a timestamp. Infinities are null, and years that cannot be sent.
func moment(column *sqlengine.Column, ref, kind string) {
	column.Type, column.Class = wire.TypeDatetime, sqlengine.ClassDatetime
	column.Precision = digitsOf[kind]
	column.Decode = decodeMoment(column.Precision)
	column.Raw = ref
	column.Bind = cast("TIMESTAMP")
	layout := "%Y-%m-%dT%H:%M:%S"
	switch kind {
	case "TIMESTAMP_S":
		layout += "Z"
	case "TIMESTAMP_MS":
		layout += ".%gZ"
	default:
		layout += ".%fZ"
	}
	switch kind {
	case "TIMESTAMP_S", "TIMESTAMP_MS": // which functions take for a TIMESTAMP_NS
		column.Raw = "TRY_CAST(" + ref + " AS TIMESTAMP)"
	case "TIMESTAMP WITH TIME ZONE":
		column.Raw = "timezone('UTC', " + ref + ")"
	case "TIMESTAMP_NS":
		// It holds the years 1677 to 2262. An operand outside of them is an infinity,
		// which is on the same side of every value.
		column.Bind = func(param string) string {
			return "coalesce(TRY_CAST(CAST(" + param + " AS VARCHAR) AS TIMESTAMP_NS), CAST(CASE WHEN CAST(" + param +
				" AS VARCHAR) < '1970' THEN '-infinity' ELSE 'infinity' END AS TIMESTAMP_NS))"
		}
		column.Valid = "isfinite(" + ref + ")"
	}
	if column.Valid == "" {
		column.Valid = "(" + column.Raw + " >= TIMESTAMP '0001-01-01 00:00:00' AND " + column.Raw + " < TIMESTAMP '10000-01-01 00:00:00')"
	}
	column.Key = "CASE WHEN " + column.Valid + " THEN " + column.Raw + " END"
	column.Cell = column.Key
	if kind != "TIMESTAMP_NS" { // whose digits strftime writes in another place
		column.Text = "strftime(" + column.Key + ", '" + layout + "')"
	}
}

// document completes a column whose cells are JSON.
func document(column *sqlengine.Column, ref, dataType, kind string) {
	column.Type, column.Class, column.Key = wire.TypeJSON, sqlengine.ClassOpaque, ""
	column.Cell = text(ref)
	if kind != "JSON" {
		column.Cell = text("to_json(" + parseType(dataType).sendable(ref, 0) + ")")
	}
	column.Tie, column.Index.Stored = column.Cell, ""
	column.Decode = decodeDocument
	if kind != "LIST" {
		return
	}
	column.Type = wire.TypeArray
	if strings.HasPrefix(dataType, "VARCHAR[") && strings.Count(dataType, "[") == 1 {
		column.Contains = func(param, _ string) string { return "list_contains(" + ref + ", CAST(" + param + " AS VARCHAR))" }
	}
}

// joinKeys implements [sqlengine.Flavor].JoinKeys. The engine compares two
// decimals as one of their types, which may not hold both.
func joinKeys(a, b *sqlengine.Column) (left, right string, ok bool) {
	decimals := a.Class == sqlengine.ClassDecimal || b.Class == sqlengine.ClassDecimal
	switch {
	case a.Class == sqlengine.ClassDatetime && (a.Precision == nanoseconds) != (b.Precision == nanoseconds):
		return "", "", false // one has more years, the other more digits
	case !decimals || a.Class == b.Class && a.Precision == b.Precision && a.Scale == b.Scale:
		return a.Key, b.Key, true
	case fitsHugeint(a) && fitsHugeint(b):
		whole := cast("HUGEINT")
		return whole(a.Key), whole(b.Key), true
	case a.Scale == 0 && b.Scale == 0:
		return bignum(a.Key), bignum(b.Key), true
	}
	digits := max(wholeDigits(a), wholeDigits(b)) + max(a.Scale, b.Scale)
	if digits > maxDecimal {
		return "", "", false
	}
	common := cast(decimalType(digits, max(a.Scale, b.Scale)))
	return common(a.Key), common(b.Key), true
}

// fitsHugeint reports whether a HUGEINT holds all values of a column.
func fitsHugeint(c *sqlengine.Column) bool {
	return c.Scale == 0 && (c.Precision <= maxDecimal || c.Precision == hugeintDigits)
}

// wholeDigits returns the number of digits before the dot.
func wholeDigits(c *sqlengine.Column) int {
	if c.Class == sqlengine.ClassInteger {
		return 19
	}
	return c.Precision - c.Scale
}
