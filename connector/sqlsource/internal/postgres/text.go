package postgres

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// byteOrder is the collation of byte order.
const byteOrder = ` COLLATE "C"`

// text completes a column of texts, in a database of any encoding.
func text(column *sqlengine.Column, ref string, c sqlengine.CatalogColumn, note columnNote) {
	column.Type, column.Class = wire.TypeString, sqlengine.ClassText
	column.Bind = cast("text")
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
		column.Index.Equal, column.Index.Sorted = equalText(ref), column.Raw
		column.Index.Plain, column.Index.PlainKind = ref, "text "+strconv.Itoa(note.collation)
	case c.DataType == "bpchar":
		column.Index.Near = nearPadded(ref, note.bytewise)
		column.Index.Plain, column.Index.PlainKind = ref, "bpchar "+strconv.Itoa(note.collation)
		if note.bytewise {
			column.Index.Sorted = ref
		}
	}
}

// encoded changes a column of a database that is not in UTF-8. The server
// refuses an operand with a character that its encoding lacks, and compares texts by
// the bytes of that encoding. So texts are read, and tell rows apart, and all else is
// left to the library.
func encoded(column *sqlengine.Column, note columnNote) {
	column.Text, column.Contains = "", nil
	if column.Class != sqlengine.ClassText {
		return
	}
	column.Class, column.Tie, column.Key = sqlengine.ClassOpaque, column.Key, ""
	column.Index = sqlengine.Index{Stored: column.Index.Stored}
	if note.encoding == encodingASCII {
		// Only bytes that are UTF-8 can be sent.
		column.Invalid = "a text whose bytes are not UTF-8"
		column.Valid = isUTF8("convert_to(" + column.Cell + ", '" + encodingASCII + "')")
		column.Cell = "CASE WHEN " + column.Valid + " THEN " + column.Cell + " END"
	}
}

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

// equalText returns a Same that an index on the column serves. Equal bytes are
// equal texts in every collation, and the second condition compares bytes.
func equalText(ref string) func([]any, func(any) string) string {
	return func(args []any, bind func(any) string) string {
		params := make([]string, len(args))
		for i, arg := range args {
			params[i] = bind(arg) + "::text"
		}
		list := " IN (" + strings.Join(params, ", ") + ")"
		return "(" + ref + list + " AND " + ref + byteOrder + list + ")"
	}
}

// uuid completes a uuid, whose order is that of its text.
func uuid(column *sqlengine.Column, ref string) {
	column.Type, column.Class = wire.TypeString, sqlengine.ClassText
	column.Bind = cast("text")
	column.Cell = ref + "::text"
	column.Raw = column.Cell + byteOrder
	column.Key, column.Text = column.Raw, column.Raw
	column.Index.Near = func(sign string, arg any, bind func(any) string) string {
		text := arg.(string)
		fill := byte('0')
		if sign[0] == '<' {
			fill = 'f'
		}
		near, whole := nearUUID(text, fill)
		switch {
		case sign != "=":
			sign = sign[:1] + "="
		case !whole:
			return "1 = 0"
		}
		return ref + " " + sign + " " + bind(near) + "::uuid"
	}
	column.Index.Sorted, column.Index.Plain, column.Index.PlainKind = ref, ref, "uuid"
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

// byteArray completes a bytea, which is compared as its base64.
func byteArray(column *sqlengine.Column, ref string) {
	column.Type, column.Class = wire.TypeString, sqlengine.ClassText
	column.Bind = cast("text")
	column.Raw = `translate(encode(` + ref + `, 'base64'), E'\n', '')` + byteOrder
	column.Cell, column.Key, column.Text = column.Raw, column.Raw, column.Raw
	column.Index.Near = func(sign string, arg any, bind func(any) string) string {
		if sign != "=" {
			return ""
		}
		text := arg.(string)
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil || base64.StdEncoding.EncodeToString(raw) != text {
			return "1 = 0"
		}
		return ref + " = " + bind(raw) + "::bytea"
	}
	column.Index.Plain, column.Index.PlainKind = ref, "bytea"
}
