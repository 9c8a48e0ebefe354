package mysql

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
)

// index completes a column with what an index on it serves.
func index(column *sqlengine.Column, ref string, c sqlengine.CatalogColumn) {
	switch column.Class {
	case sqlengine.ClassInteger, sqlengine.ClassDecimal, sqlengine.ClassFloat:
		column.Index.Sorted = ref
		if c.DataType == "year" {
			column.Index.Near = func(sign string, arg any, bind func(any) string) string {
				if year, ok := arg.(int64); ok && year >= 1901 && year <= 2155 { // 24 would be 2024
					return ref + " " + sign + " " + bind(year)
				}
				return ""
			}
		}
		if bits := integerBits[c.DataType]; bits > 0 {
			column.Index.Equal = equalInteger(ref, bits, noteOf(c).unsigned)
		}
		column.Index.Plain = ref
		if column.Key != ref {
			column.Index.PlainKind = c.DataType + " " + strconv.Itoa(c.Precision)
		}
		if column.Class == sqlengine.ClassInteger && column.Key == ref {
			column.Index.PlainAs = func(other *sqlengine.Column) string {
				if other.Class == sqlengine.ClassText {
					return "CAST(" + other.Raw + " AS SIGNED)"
				}
				return ""
			}
		}
	case sqlengine.ClassDate, sqlengine.ClassDatetime:
		first := "'0000-01-01'"
		if c.DataType == "timestamp" {
			first = "'1970-01-01 00:00:01'"
		}
		column.Index.Sorted = ref
		column.Index.Within = "(" + ref + " >= " + first + " AND " + column.Valid + ")"
		column.Index.Plain, column.Index.PlainKind = ref, c.DataType+" "+strconv.Itoa(c.Precision)
	case sqlengine.ClassText:
		switch c.DataType {
		case "char", "varchar", "tinytext", "text", "mediumtext", "longtext":
			textIndex(column, ref, c)
		case "binary", "varbinary", "uuid":
			column.Index.Plain, column.Index.PlainKind = ref, strings.TrimPrefix(c.DataType, "var")
		}
	}
}

// integerBits are the sizes of the integers that are smaller than an operand.
var integerBits = map[string]int{"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32}

// equalInteger compares a column with integers, and leaves out those that its type does not hold.
// In a NOT IN that an index serves, MariaDB takes those below the least value of the type for it.
func equalInteger(ref string, bits int, unsigned bool) func([]any, func(any) string) string {
	least, greatest := int64(-1)<<(bits-1), int64(1)<<(bits-1)-1
	if unsigned {
		least, greatest = 0, int64(1)<<bits-1
	}
	return func(args []any, bind func(any) string) string {
		var params []string
		for _, arg := range args {
			if n := arg.(int64); least <= n && n <= greatest {
				params = append(params, bind(n))
			}
		}
		return isIn(ref, params)
	}
}

// isIn returns the condition that a column equals one of several parameters.
func isIn(ref string, params []string) string {
	if len(params) == 0 {
		return "1 = 0"
	}
	return ref + " IN (" + strings.Join(params, ", ") + ")"
}

// textIndex completes a column of text.
//
// Most collations let an index find equal texts alone. One that ends in _bin
// compares characters in the order of their bytes, but all of them except
// MariaDB's _nopad_bin and MySQL's utf8mb4_0900_bin fill the shorter text with
// blanks, so that a text with a control character behind it comes before the text
// alone. Their index finds a range that has the wanted one in it. The others have
// the wanted range, but ORDER BY without their index does not tell "a" from "a\x00".
func textIndex(column *sqlengine.Column, ref string, c sqlengine.CatalogColumn) {
	note := noteOf(c)
	collation, charset := note.collation, note.charset
	if slices.Contains([]string{"utf8mb4", "utf8mb3", "utf8", "ascii", "latin1", "utf16", "utf16le", "ucs2", "utf32"}, charset) {
		mixed := collation + " mixed"
		column.Index.Plain, column.Index.PlainKind = ref, collation // one code for each character
		if note.mixed {
			column.Index.PlainKind = mixed
		}
		column.Index.PlainAs = func(other *sqlengine.Column) string {
			switch {
			case other.Class == sqlengine.ClassInteger:
				return "CAST(" + other.Cell + " AS CHAR CHARACTER SET " + charset + ") COLLATE " + collation
			case other.Index.PlainKind == mixed, column.Index.PlainKind == mixed && other.Index.PlainKind == collation:
				return other.Index.Plain + " COLLATE " + collation
			}
			return ""
		}
	}
	if !strings.HasSuffix(collation, "_bin") || note.foreign {
		return
	}
	pads := !strings.HasSuffix(collation, "_nopad_bin") && collation != "utf8mb4_0900_bin"
	if !pads && c.DataType == "char" {
		return // how its own blanks compare differs between versions
	}
	column.Index.Near = func(sign string, arg any, bind func(any) string) string {
		text, ok := arg.(string)
		if !ok || !holds(charset, text) {
			return ""
		}
		if pads {
			if sign, text = paddedBound(sign, text); sign == "" {
				return ""
			}
		}
		return ref + " " + sign + " " + collated(bind(text), collation, charset)
	}
}

// collated returns a placeholder as a text that says by which collation it is
// compared. That of a view's column may be none (see columnNote), and the server
// refuses to compare such a column with a text that does not say it.
func collated(param, collation, charset string) string {
	return "CONVERT(" + param + " USING " + charset + ") COLLATE " + collation
}

// holds reports whether a character set of bytes in UTF-8 has all characters of a
// text.
func holds(charset, text string) bool {
	last := rune(utf8.MaxRune)
	switch charset {
	case "ascii":
		last = 0x7f
	case "utf8", "utf8mb3":
		last = 0xffff
	}
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return r > last })
}

// paddedBound returns a comparison that holds, where the shorter text is filled
// with blanks, for all texts for which the given one holds by their bytes; none if
// all texts may be among them.
//
// Texts from "ab" on may begin with "ab" and go on with a control character, which
// comes before the blank that "ab" is filled with. All of them come after "aa".
// Texts up to "ab\tc" may be "ab" itself, which is filled with a blank and so comes
// after the tab. None of them comes after "ab".
func paddedBound(sign, text string) (boundSign, bound string) {
	switch sign {
	case "<", "<=":
		if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' }); i >= 0 {
			text = text[:i]
		}
		return "<=", text
	case ">", ">=":
		text = strings.TrimRight(text, "\x00")
		if text == "" {
			return "", ""
		}
		r, size := utf8.DecodeLastRuneInString(text)
		r--
		if r == 0xdfff { // UTF-8 has no such characters
			r = 0xd7ff
		}
		return ">", text[:len(text)-size] + string(r)
	}
	return sign, text
}
