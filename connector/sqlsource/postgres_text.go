package sqlsource

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// byteOrder is the collation of byte order.
const byteOrder = ` COLLATE "C"`

// postgresText completes a column of texts, in a database of any encoding.
func postgresText(column *Column, ref string, c CatalogColumn, note postgresNote) {
	column.Type, column.Class = wire.TypeString, ClassText
	column.Decode, column.Bind = DecodeText, cast("text")
	bare := c.DataType == "text" || c.DataType == "varchar"
	order := byteOrder
	switch {
	case c.DataType == "inet": // whose cast to text adds the /32 that it is shown without
		column.Cell = "abbrev(" + ref + ")"
	case !bare:
		column.Cell += "::text"
	case note.bare():
		order = ""
	}
	column.Raw = column.Cell + order
	column.Key, column.Text = column.Raw, column.Raw
	switch {
	case bare:
		column.Same, column.Sorted = postgresSame(ref), column.Raw
		column.Plain, column.PlainKind = ref, "text "+strconv.Itoa(note.collation)
	case c.DataType == "bpchar":
		column.Near = nearPadded(ref, note.bytewise)
		column.Plain, column.PlainKind = ref, "bpchar "+strconv.Itoa(note.collation)
		if note.bytewise {
			column.Sorted = ref
		}
	}
	if note.encoding == postgresUTF8 {
		return
	}
	column.Same, column.Near = nil, nil
	if bare {
		column.Near = nearEncoded(ref, order, note)
	}
	if !note.utf8Order() || note.encoding == postgresASCII {
		column.Sorted = ""
	}
	if note.encoding == postgresASCII {
		// Only bytes that are UTF-8 can be sent.
		column.Valid = isUTF8(postgresASCIIBytes(column.Cell))
		valid := func(expr string) string { return "CASE WHEN " + column.Valid + " THEN " + expr + " END" }
		column.Tie = column.Key
		column.Cell, column.Key, column.Text = valid(column.Cell), valid(column.Key), valid(column.Text)
	}
}

// postgresEncoded changes a column of a database that is not in UTF-8. Texts are
// compared with operands as the bytes of their UTF-8, because the server refuses
// an operand with a character that its encoding lacks.
func postgresEncoded(column *Column, note postgresNote) {
	bytes := func(text string) string { return "convert_to(" + text + ", 'UTF8')" }
	if note.encoding == postgresASCII {
		bytes = postgresASCIIBytes
	}
	column.Operand, column.Contains = operandBytes, nil
	if column.Text != "" {
		column.Text = bytes(column.Text)
	}
	if column.Class != ClassText {
		return
	}
	column.Raw, column.Bind = bytes(column.Raw), cast("bytea")
	if !note.utf8Order() {
		// Hexadecimal digits have the order of the bytes, and unlike bytes a
		// minimum.
		column.Key = "encode(" + column.Raw + ", 'hex')" + byteOrder
		column.Read = func(expr string) string { return "convert_from(decode(" + expr + ", 'hex'), 'UTF8')" }
	}
}

// postgresASCIIBytes returns the bytes of a text of a database that does not know
// their encoding.
func postgresASCIIBytes(text string) string {
	return "convert_to(" + text + ", '" + postgresASCII + "')"
}

// operandBytes returns a text as it is bound where texts are compared as bytes.
func operandBytes(text string) any { return []byte(text) }

// isUTF8 returns the condition that bytes are UTF-8, by their hexadecimal digits.
func isUTF8(bytes string) string {
	const rest = "[89ab]."
	return "encode(" + bytes + ", 'hex')" + byteOrder + " ~ '^(" + strings.Join([]string{
		"[0-7].",
		"(c[2-9a-f]|d.)" + rest,
		"(e0[ab].|e[1-9abcef]" + rest + "|ed[89].)" + rest,
		"(f0[9ab].|f[1-3]" + rest + "|f48.)" + rest + rest,
	}, "|") + ")*$'"
}

// nearEncoded returns a Near for texts that are compared as bytes. order is the
// collation of the column's key.
func nearEncoded(ref, order string, note postgresNote) func(string, any, func(any) string) string {
	return func(sign string, arg any, bind func(any) string) string {
		bytes, ok := arg.([]byte)
		switch {
		case !ok || !note.holds(string(bytes)):
			return ""
		case sign == "=":
			return ref + " = " + bind(string(bytes)) + "::text"
		case note.utf8Order():
			return ref + order + " " + sign + " " + bind(string(bytes)) + "::text"
		}
		return ""
	}
}

// nearPadded returns a Near for char(n), whose values are compared without the
// blanks at their end.
func nearPadded(ref string, bytewise bool) func(string, any, func(any) string) string {
	return func(sign string, arg any, bind func(any) string) string {
		text, ok := arg.(string)
		if !ok || sign != "=" && (!bytewise || strings.HasSuffix(text, " ")) {
			return ""
		}
		return ref + " " + sign + " " + bind(text) + "::bpchar"
	}
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
		return "(" + ref + list + " AND " + ref + byteOrder + list + ")"
	}
}

// postgresUUID completes a uuid, whose order is that of its text.
func postgresUUID(column *Column, ref string) {
	column.Type, column.Class = wire.TypeString, ClassText
	column.Decode, column.Bind = DecodeText, cast("text")
	column.Cell = ref + "::text"
	column.Raw = column.Cell + byteOrder
	column.Key, column.Text = column.Raw, column.Raw
	column.Near = func(sign string, arg any, bind func(any) string) string {
		text := operandText(arg)
		fill := byte('0')
		if sign[0] == '<' {
			fill = 'f'
		}
		near, whole := nearUUID(text, fill)
		switch {
		case sign != "=":
			sign = sign[:1] + "="
		case !whole:
			return falseSQL
		}
		return ref + " " + sign + " " + bind(near) + "::uuid"
	}
	column.Sorted, column.Plain, column.PlainKind = ref, ref, "uuid"
}

// operandText returns an operand of a text, which may be bound as bytes.
func operandText(arg any) string {
	if bytes, ok := arg.([]byte); ok {
		return string(bytes)
	}
	return arg.(string)
}

// nearUUID returns the uuid whose text begins as the given text does, for as far
// as a uuid can, and goes on with a digit. It reports whether the text is a uuid.
func nearUUID(text string, fill byte) (uuid string, whole bool) {
	uuid = strings.Map(func(r rune) rune {
		if r == '0' {
			return rune(fill)
		}
		return r
	}, "00000000-0000-0000-0000-000000000000")
	same := 0
	for same < min(len(text), len(uuid)) {
		if dash := uuid[same] == '-'; dash && text[same] != '-' || !dash && !strings.Contains("0123456789abcdef", text[same:same+1]) {
			break
		}
		same++
	}
	return text[:same] + uuid[same:], same == len(text) && same == len(uuid)
}

// postgresBytes completes a bytea, which is compared as its base64.
func postgresBytes(column *Column, ref string) {
	column.Type, column.Class = wire.TypeString, ClassText
	column.Decode, column.Bind = DecodeText, cast("text")
	column.Raw = `translate(encode(` + ref + `, 'base64'), E'\n', '')` + byteOrder
	column.Cell, column.Key, column.Text = column.Raw, column.Raw, column.Raw
	column.Near = func(sign string, arg any, bind func(any) string) string {
		if sign != "=" {
			return ""
		}
		text := operandText(arg)
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil || base64.StdEncoding.EncodeToString(raw) != text {
			return falseSQL
		}
		return ref + " = " + bind(raw) + "::bytea"
	}
	column.Plain, column.PlainKind = ref, "bytea"
}
