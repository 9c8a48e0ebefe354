package postgres

import (
	"math"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The largest number of digits that PostgreSQL holds before and after the dot.
const (
	wholeDigits    = 131072
	fractionDigits = 16383
)

// Column returns expressions that do not depend on the session's time zone.
func (flavor) Column(ref string, c sqlengine.CatalogColumn) sqlengine.Column {
	note := noteOf(c)
	column := sqlengine.Column{Cell: ref, Raw: ref, Key: ref, Index: sqlengine.Index{Stored: ref}, FirstYear: 1, NoNUL: true}
	asText := func(expr string) string { return expr + `::text` + byteOrder }
	switch c.DataType {
	case "int2", "int4", "int8", "oid":
		integer(&column, ref, c)
		column.Text = asText(ref)
	case "numeric", "money":
		decimal(&column, ref, c, note)
		column.Text = asText("(" + column.Key + ")")
	case "float4", "float8":
		float(&column, ref, c)
	case "bool":
		column.Type, column.Class = wire.TypeBoolean, sqlengine.ClassBoolean
		column.Text = asText(ref)
	case "date", "timestamp", "timestamptz":
		moment(&column, ref, c)
	case "uuid":
		uuid(&column, ref)
	case "bytea":
		byteArray(&column, ref)
	case "json", "jsonb":
		column.Type, column.Class = wire.TypeJSON, sqlengine.ClassOpaque
		column.Cell, column.Tie, column.Key = ref+"::text", asText(ref), ""
		if c.DataType == "jsonb" {
			column.Contains = containsJSON(ref)
		}
	case "array":
		column.Type, column.Class = wire.TypeArray, sqlengine.ClassOpaque
		column.Cell, column.Tie, column.Key = "array_to_json("+ref+")::text", asText(ref), ""
		if note.array == "_text" || note.array == "_varchar" {
			column.Contains = func(param, _ string) string {
				return "(array_ndims(" + ref + ") = 1 AND " + param + "::text" + byteOrder + " = ANY (" + ref + "))"
			}
		}
	default:
		text(&column, ref, c, note)
	}
	if note.encoding != encodingUTF8 {
		encoded(&column, note)
	}
	return column
}

// integer completes an integer. The server compares integers of any two
// sizes by one index.
func integer(column *sqlengine.Column, ref string, c sqlengine.CatalogColumn) {
	column.Type, column.Class = wire.TypeNumber, sqlengine.ClassInteger
	column.Bind = cast("bigint")
	column.Index.Sorted, column.Index.Plain, column.Index.PlainKind = ref, ref, "integer"
	if c.DataType == "oid" {
		column.Raw = ref + "::bigint"
		column.Cell, column.Key = column.Raw, column.Raw
		column.Index.PlainKind = "oid"
		column.Index.Near = func(sign string, arg any, bind func(any) string) string {
			if n := arg.(int64); n < 0 || n > math.MaxUint32 {
				return ""
			}
			return ref + " " + sign + " " + bind(arg) + "::bigint::oid"
		}
	}
}

// float completes a float. A real is compared with doubles as the double
// that it is exactly, which its index serves. NaN is greater than every other
// value.
func float(column *sqlengine.Column, ref string, c sqlengine.CatalogColumn) {
	column.Type, column.Class = wire.TypeNumber, sqlengine.ClassFloat
	column.Single = c.DataType == "float4"
	column.Bind = cast("float8")
	column.Invalid = "NaN or an infinity"
	column.Valid = ref + " > '-Infinity'::float8 AND " + ref + " < 'Infinity'::float8"
	column.Key = "CASE WHEN " + column.Valid + " THEN " + ref + "::float8 END"
	column.Cell, column.Tie = column.Key, ref
	column.Index.Sorted, column.Index.Within = ref, column.Valid
	column.Index.Plain, column.Index.PlainKind = ref, c.DataType
}

// cast returns a Bind that casts the placeholder to a type.
func cast(to string) func(string) string {
	return func(param string) string { return param + "::" + to }
}

// decimal completes a numeric. Without a declared scale, equal values may
// be spelled with several scales.
func decimal(column *sqlengine.Column, ref string, c sqlengine.CatalogColumn, note columnNote) {
	column.Type, column.Class = wire.TypeDecimal, sqlengine.ClassDecimal
	column.Bind = cast("numeric")
	column.Read = func(expr string) string { return "(" + expr + ")::text" }
	column.Index.Sorted, column.Index.Plain, column.Index.PlainKind = ref, ref, c.DataType
	if c.DataType == "money" {
		column.Precision, column.Scale = 20, 3
		column.Raw = ref + "::numeric"
		column.Key, column.Cell = column.Raw, column.Raw+"::text"
		column.Index.Near = nearMoney(ref)
		return
	}
	column.Precision, column.Scale = c.Precision, c.Scale
	column.Invalid = "NaN or an infinity"
	column.Valid = ref + " <> 'NaN'::numeric"
	column.Index.Within = ref + " < 'NaN'::numeric" // which is greater than all others
	if c.Precision < 0 {
		column.Precision, column.Scale = wholeDigits+fractionDigits, fractionDigits
		// An infinity less itself is NaN, as is NaN. Older servers know no
		// infinite numeric to compare with.
		column.Valid = ref + " - " + ref + " = 0"
		if note.version >= 140000 {
			column.Index.Within = ref + " > '-Infinity'::numeric AND " + ref + " < 'Infinity'::numeric"
		}
	}
	column.Key = "CASE WHEN " + column.Valid + " THEN " + ref + " END"
	column.Cell, column.Tie = "("+column.Key+")::text", ref
	if c.Precision < 0 {
		column.Loose.Spelling = column.Cell + ` COLLATE "C"`
		column.Tie = ref + `::text COLLATE "C"` // tells 1.5 from 1.50
	}
}

// nearMoney returns a Near for money, which has as many digits as the server's
// locale says: operands are rounded to them.
func nearMoney(ref string) func(string, any, func(any) string) string {
	return func(sign string, arg any, bind func(any) string) string {
		text := arg.(string)
		if whole, _, _ := strings.Cut(strings.TrimPrefix(text, "-"), "."); len(whole) > 15 {
			return "" // the cast fails beyond what money holds
		}
		if sign != "=" {
			sign = sign[:1] + "="
		}
		return ref + " " + sign + " " + bind(text) + "::numeric::money"
	}
}

// moment completes a date or a timestamp. Infinities are null, and years
// that cannot be sent.
func moment(column *sqlengine.Column, ref string, c sqlengine.CatalogColumn) {
	column.Index.Sorted, column.Index.Plain, column.Index.PlainKind = ref, ref, c.DataType
	column.Invalid = "an infinity, or of a year before 1 or after 9999"
	if c.DataType == "date" {
		column.Type, column.Class = wire.TypeDate, sqlengine.ClassDate
		column.Bind = cast("date")
		column.Valid = ref + " >= '0001-01-01'::date AND " + ref + " <= '9999-12-31'::date"
		column.Key = "CASE WHEN " + column.Valid + " THEN " + ref + " END"
		column.Text = "to_char(" + column.Key + `, 'YYYY-MM-DD') COLLATE "C"`
		column.Cell, column.Tie, column.Index.Within = column.Key, ref, column.Valid
		return
	}
	column.Type, column.Class = wire.TypeDatetime, sqlengine.ClassDatetime
	column.Precision = c.Precision
	local := ref
	column.Bind = cast("timestamp")
	first, after := "'0001-01-01 00:00:00'::timestamp", "'10000-01-01 00:00:00'::timestamp"
	if c.DataType == "timestamptz" {
		// The operand is turned into an instant, not the column into a local time,
		// so that an index serves.
		local = ref + " AT TIME ZONE INTERVAL '0'"
		column.Bind = func(param string) string { return "(" + param + "::timestamp AT TIME ZONE INTERVAL '0')" }
		first, after = "'0001-01-01 00:00:00+00'::timestamptz", "'10000-01-01 00:00:00+00'::timestamptz"
	}
	column.Valid = ref + " >= " + first + " AND " + ref + " < " + after
	column.Key = "CASE WHEN " + column.Valid + " THEN " + local + " END"
	layout := "YYYY-MM-DD\"T\"HH24:MI:SS"
	switch {
	case c.Precision > 3:
		layout += ".US"
	case c.Precision > 0:
		layout += ".MS"
	}
	column.Text = "to_char(" + column.Key + ", '" + layout + "\"Z\"') COLLATE \"C\""
	column.Cell, column.Tie, column.Index.Within = column.Key, ref, column.Valid
}

// containsJSON returns a Contains that looks at the elements of a jsonb
// array, not deeper. A boolean element is the text true or false.
func containsJSON(ref string) func(param, text string) string {
	return func(param, text string) string {
		found := ref + " @> to_jsonb(" + param + "::text)"
		if text == "true" || text == "false" {
			found = "(" + found + " OR " + ref + " @> '" + text + "'::jsonb)"
		}
		return "(jsonb_typeof(" + ref + ") = 'array' AND " + found + ")"
	}
}
