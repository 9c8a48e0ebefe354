package sqlite

import (
	"cmp"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// An index has nulls first, then numbers, texts and blobs. So it answers at once
// what these conditions on a column select.
const (
	isNumeric = " < ''"   // numbers
	noBlob    = " < x''"  // numbers and texts
	isBlob    = " >= x''" // blobs
	// finite holds for numbers but infinities. In a column of which SQLite
	// compares texts as numbers, as that of a view may be, it holds for them too.
	finite = " BETWEEN -1.7976931348623157e308 AND 1.7976931348623157e308"
)

// Column reads every cell through an expression, because drivers convert values
// of bare columns by their declared types, each in its own way.
func (f flavor) Column(ref string, c sqlengine.CatalogColumn) sqlengine.Column {
	note := noteOf(c)
	t := wire.Type(cmp.Or(string(c.Want), string(columnType(c.DataType, note.seen))))
	s := columnBuilder{
		Column: sqlengine.Column{
			Type: t, Class: sqlengine.ClassOpaque, Cell: "+" + ref, Raw: ref, Decode: decode(t),
			Tie: "+" + ref + " COLLATE BINARY", Index: sqlengine.Index{Stored: ref + " COLLATE BINARY"},
		},
		ref: ref, note: note, catalog: c, affinity: affinity(c.DataType),
	}
	switch t {
	case wire.TypeString, wire.TypeReference:
		s.text()
	case wire.TypeNumber, wire.TypeDecimal:
		s.number()
	case wire.TypeBoolean:
		s.boolean()
	case wire.TypeDate:
		s.date()
	case wire.TypeDatetime:
		s.datetime(c.Want == wire.TypeDatetime || countsSeconds(c.DataType))
	case wire.TypeJSON:
		s.Invalid = "no JSON"
		s.Valid = "CASE typeof(" + ref + ") WHEN 'text' THEN " + jsonText(ref) + " ELSE " + s.finite() + " END"
		s.Cell = "CASE WHEN " + s.Valid + " THEN " + ref + " END"
	case wire.TypeArray:
		s.Invalid = "no JSON of an array"
		s.Valid = "CASE WHEN typeof(" + ref + ") = 'text' AND " + jsonText(ref) + " THEN json_type(" + ref + ") = 'array' ELSE 0 END"
		s.Cell = "CASE WHEN " + s.Valid + " THEN " + ref + " END"
	}
	return s.Column
}

// columnBuilder is a column that is being described.
type columnBuilder struct {
	sqlengine.Column
	ref      string
	note     columnNote
	catalog  sqlengine.CatalogColumn
	affinity string
	counted  bool // numbers in a column of datetimes are datetimes, too
}

// finite returns the condition for a number that is not infinite.
func (s *columnBuilder) finite() string {
	if s.note.view {
		return "(typeof(" + s.ref + ") IN ('integer', 'real') AND " + s.ref + finite + ")"
	}
	return s.ref + finite
}

// where returns the value where a condition holds, else null.
func (s *columnBuilder) where(condition string) string {
	return "CASE WHEN " + condition + " THEN " + s.ref + " END"
}

// boolean completes a column of integers, of which 0 is false.
func (s *columnBuilder) boolean() {
	s.Class = sqlengine.ClassBoolean
	s.Invalid = "no integer"
	s.Valid = "typeof(" + s.ref + ") = 'integer'"
	s.Raw = "(" + s.where(s.Valid) + " <> 0)"
	s.Key = s.Raw
	s.Text = "CASE " + s.Raw + " WHEN 1 THEN 'true' WHEN 0 THEN 'false' END"
}

// number completes a column of integers and reals.
func (s *columnBuilder) number() {
	ref := s.ref
	if s.affinity == "TEXT" {
		s.digits()
		return
	}
	s.Decode = decodeNumber(s.Type)
	s.Index.Sorted = ref
	s.Index.Plain, s.Index.PlainKind = ref, "number"
	if s.note.rowID || s.note.strict && s.affinity == "INTEGER" {
		s.Class = sqlengine.ClassInteger
		s.Key = ref
		s.Text = "CAST(" + ref + " AS TEXT)"
		s.Tie, s.Index.Stored = "", ref
		return
	}
	s.Valid, s.Invalid = s.finite(), "a text, a blob or an infinity in a column of numbers"
	s.Index.Within = s.Valid
	s.Key = s.where(s.Valid)
	if s.affinity == "REAL" && !s.note.view {
		s.Class = sqlengine.ClassFloat
		return
	}
	s.Class = sqlengine.ClassFloat
	s.Loose.Integers = true
	s.Decode = decodeMixed(s.Type)
}

// digits completes a column of digits as text. The nearest reals tell numbers of
// at most 15 digits apart, and order them.
func (s *columnBuilder) digits() {
	ref := s.ref
	body := "ltrim(" + ref + ", '+-')"
	s.Valid = "(typeof(" + ref + ") = 'text' AND length(" + ref + ") - length(" + body + ") < 2" +
		" AND " + body + " NOT GLOB '*[^0-9.]*' AND " + body + " GLOB '[0-9]*' AND " + body + " GLOB '*[0-9]'" +
		" AND length(" + body + ") - length(replace(" + body + ", '.', '')) < 2)"
	s.Invalid = "no text of a decimal's digits"
	s.Decode = decodeDigits // tells the same values apart as Valid, for less
	if s.note.utf16 {
		return
	}
	s.Class = sqlengine.ClassFloat
	s.Loose.Guard = "(" + s.Valid + " AND length(replace(" + body + ", '.', '')) > 15)"
	digits := s.where(s.Valid)
	s.Raw = "CAST(" + digits + " AS REAL)"
	s.Key = s.Raw
	s.Loose.Spelling = digits + " COLLATE BINARY"
	s.Text = s.Loose.Spelling
	s.Loose.Lossy = true
}
