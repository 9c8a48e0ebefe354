package sqlsource

import (
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// noteEncoding marks a database whose byte order is not that of UTF-8.
const noteEncoding = "encoding"

// The largest number of digits that PostgreSQL holds before and after the dot.
const (
	postgresWhole    = 131072
	postgresFraction = 16383
)

// Column returns expressions that do not depend on the session's time zone.
func (f postgres) Column(ref string, c CatalogColumn) Column {
	column := Column{Cell: ref, Raw: ref, Key: ref, Stored: ref, FirstYear: 1, NoNUL: true}
	asText := func(expr string) string { return expr + `::text COLLATE "C"` }
	switch c.DataType {
	case "int2", "int4", "int8", "oid":
		if c.DataType == "oid" {
			column.Raw = ref + "::bigint"
			column.Cell, column.Key = column.Raw, column.Raw
		}
		column.Type, column.Class = wire.TypeNumber, ClassInteger
		column.Bind = cast("bigint")
		column.Decode = DecodeInteger
		column.Text = asText(ref)
	case "numeric", "money":
		postgresDecimal(&column, ref, c)
		column.Text = asText("(" + column.Key + ")")
	case "float4", "float8":
		column.Type, column.Class = wire.TypeNumber, ClassFloat
		column.Raw = ref + "::float8"
		column.Bind = cast("float8")
		column.Decode = DecodeFloat
		// NaN is greater than every other value.
		column.Valid = column.Raw + " > '-Infinity'::float8 AND " + column.Raw + " < 'Infinity'::float8"
		column.Key = "CASE WHEN " + column.Valid + " THEN " + column.Raw + " END"
		column.Cell, column.Tie = column.Key, column.Raw
	case "bool":
		column.Type, column.Class = wire.TypeBoolean, ClassBoolean
		column.Decode = DecodeBoolean
		column.Text = asText(ref)
	case "date", "timestamp", "timestamptz":
		postgresMoment(&column, ref, c)
	case "uuid":
		column.Type, column.Class = wire.TypeString, ClassText
		column.Raw = asText(ref)
		column.Decode = DecodeText
	case "bytea":
		column.Type, column.Class = wire.TypeString, ClassText
		column.Raw = `translate(encode(` + ref + `, 'base64'), E'\n', '') COLLATE "C"`
		column.Cell = column.Raw
		column.Decode = DecodeText
	case "json", "jsonb":
		column.Type, column.Class = wire.TypeJSON, ClassOpaque
		column.Cell, column.Tie, column.Key = ref+"::text", asText(ref), ""
		column.Decode = DecodeJSON
		if c.DataType == "jsonb" {
			column.Contains = postgresContainsJSON(ref)
		}
	case "array":
		column.Type, column.Class = wire.TypeArray, ClassOpaque
		column.Cell, column.Tie, column.Key = "array_to_json("+ref+")::text", asText(ref), ""
		column.Decode = DecodeJSON
		if c.Note == "_text" || c.Note == "_varchar" {
			column.Contains = func(param, _ string) string {
				return "(array_ndims(" + ref + ") = 1 AND " + param + "::text COLLATE \"C\" = ANY (" + ref + "))"
			}
		}
	default:
		column.Type, column.Class = wire.TypeString, ClassText
		column.Raw = asText(ref)
		column.Decode = DecodeText
		if c.DataType == "text" || c.DataType == "varchar" {
			column.Raw = ref + ` COLLATE "C"`
			column.Same = postgresSame(ref)
		}
	}
	if column.Class == ClassText {
		column.Bind = func(param string) string { return f.TextParam(param) }
		if c.DataType != "bytea" {
			column.Cell = strings.TrimSuffix(column.Raw, ` COLLATE "C"`)
		}
		column.Key, column.Text = column.Raw, column.Raw
		if strings.Contains(c.Note, noteEncoding) && c.DataType != "bytea" && c.DataType != "uuid" {
			column.Class, column.Tie, column.Key, column.Text = ClassOpaque, column.Raw, "", ""
		}
	}
	return column.as(c.Want)
}

// cast returns a Bind that casts the placeholder to a type.
func cast(to string) func(string) string {
	return func(param string) string { return param + "::" + to }
}

// postgresSame returns a Same that an index on the column serves. Equal bytes are
// equal texts in every collation, and the second condition compares bytes.
func postgresSame(ref string) func([]any, func(any) string) string {
	return func(args []any, bind func(any) string) string {
		params := make([]string, len(args))
		for i, arg := range args {
			params[i] = bind(arg) + "::text"
		}
		list := " IN (" + strings.Join(params, ", ") + ")"
		return "(" + ref + list + " AND " + ref + ` COLLATE "C"` + list + ")"
	}
}

// postgresDecimal completes a numeric. Without a declared scale, equal values may
// be spelled with several scales.
func postgresDecimal(column *Column, ref string, c CatalogColumn) {
	column.Type, column.Class = wire.TypeDecimal, ClassDecimal
	column.Bind = cast("numeric")
	column.Decode = DecodeDecimal
	column.Read = func(expr string) string { return "(" + expr + ")::text" }
	if c.DataType == "money" {
		column.Precision, column.Scale = 20, 3
		column.Raw = ref + "::numeric"
		column.Key, column.Cell = column.Raw, column.Raw+"::text"
		return
	}
	column.Precision, column.Scale = c.Precision, c.Scale
	column.Valid = ref + " <> 'NaN'::numeric"
	if c.Precision < 0 {
		column.Precision, column.Scale = postgresWhole+postgresFraction, postgresFraction
		// An infinity less itself is NaN, as is NaN. Older servers know no
		// infinite numeric to compare with.
		column.Valid = ref + " - " + ref + " = 0"
	}
	column.Key = "CASE WHEN " + column.Valid + " THEN " + ref + " END"
	column.Cell, column.Tie = "("+column.Key+")::text", ref
	if c.Precision < 0 {
		column.Spelling = column.Cell + ` COLLATE "C"`
		column.Tie = ref + `::text COLLATE "C"` // tells 1.5 from 1.50
	}
}

// postgresMoment completes a date or a timestamp. Infinities are null, and years
// that cannot be sent.
func postgresMoment(column *Column, ref string, c CatalogColumn) {
	if c.DataType == "date" {
		column.Type, column.Class = wire.TypeDate, ClassDate
		column.Bind = cast("date")
		column.Decode = DecodeDate
		column.Valid = ref + " >= '0001-01-01'::date AND " + ref + " <= '9999-12-31'::date"
		column.Key = "CASE WHEN " + column.Valid + " THEN " + ref + " END"
		column.Text = "to_char(" + column.Key + `, 'YYYY-MM-DD') COLLATE "C"`
		column.Cell, column.Tie = column.Key, ref
		return
	}
	column.Type, column.Class = wire.TypeDatetime, ClassDatetime
	column.Precision = c.Precision
	column.Decode = DecodeDatetime(c.Precision)
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
	column.Cell, column.Tie = column.Key, ref
}

// postgresContainsJSON returns a Contains that looks at the elements of a jsonb
// array, not deeper. A boolean element is the text true or false.
func postgresContainsJSON(ref string) func(param, text string) string {
	return func(param, text string) string {
		found := ref + " @> to_jsonb(" + param + "::text)"
		if text == "true" || text == "false" {
			found = "(" + found + " OR " + ref + " @> '" + text + "'::jsonb)"
		}
		return "(jsonb_typeof(" + ref + ") = 'array' AND " + found + ")"
	}
}
