package sqlite

import (
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The kinds of values that the first rows of a column hold, where its declared
// type does not say, or most of them do not fit it.
const (
	seenNumbers   = "numbers"
	seenBlobs     = "blobs"
	seenDatetimes = "datetimes" // in a column of dates
	seenTexts     = "texts"     // or several kinds, or none
)

// columnNote is the Note of a catalog column.
type columnNote struct {
	strict bool   // the table is STRICT: values have the declared type
	rowID  bool   // the column is the row's number: integers only
	utf16  bool   // the encoding of the database
	view   bool   // the values of a view need not fit the column's declared type
	seen   string // one of the constants above; empty: the declared type says enough
	table  string // quoted and qualified
}

// noteOf returns the Note of a column; that of one without a note is empty.
func noteOf(c sqlengine.CatalogColumn) columnNote {
	note, _ := c.Note.(columnNote)
	return note
}

// declaredType returns the type that a declared type is read as. It
// reports false if the declared type says nothing.
func declaredType(declared string) (wire.Type, bool) {
	d := strings.ToUpper(declared)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(d, w) })
	}
	switch {
	case has("BOOL"):
		return wire.TypeBoolean, true
	case has("JSON"):
		return wire.TypeJSON, true
	case has("ARRAY"):
		return wire.TypeArray, true
	case has("DATETIME", "TIMESTAMP"), countsSeconds(declared):
		return wire.TypeDatetime, true
	case has("DATE"):
		return wire.TypeDate, true
	case has("DEC", "NUMERIC", "MONEY"):
		return wire.TypeDecimal, true
	case has("UUID", "GUID", "UNIQUEIDENTIFIER", "STRING"):
		return wire.TypeString, true
	case has("INT"):
		return wire.TypeNumber, true
	case has("CHAR", "CLOB", "TEXT", "BLOB", "BINARY"):
		return wire.TypeString, true
	case has("REAL", "FLOA", "DOUB", "NUMBER"), d == "NUM":
		return wire.TypeNumber, true
	}
	return wire.TypeString, false
}

// countsSeconds reports whether a declared type says that numbers are instants, such as
// UNIXEPOCH or UNIX_TIMESTAMP. One that says no more than that the column holds dates does
// not: 20240101 is a day in many of them, and 1709164800000 counts milliseconds.
func countsSeconds(declared string) bool {
	d := strings.ToUpper(declared)
	return strings.Contains(d, "EPOCH") || strings.Contains(d, "UNIX")
}

// columnType returns the type that a column is read as.
func columnType(declared, seen string) wire.Type {
	switch t, _ := declaredType(declared); seen {
	case "":
		return t
	case seenNumbers:
		return wire.TypeNumber
	case seenDatetimes:
		return wire.TypeDatetime
	}
	return wire.TypeString
}

// undeclared reports whether a column's declared type says nothing of its values.
// SQLite calls a view's column BLOB, too, if it knows nothing of it.
func undeclared(declared string, view bool) bool {
	_, says := declaredType(declared)
	return !says || view && strings.EqualFold(declared, "BLOB")
}

// affinity returns the affinity of a declared type, by SQLite's own rule
// (Datatypes In SQLite, 3.1).
func affinity(declared string) string {
	d := strings.ToUpper(declared)
	switch {
	case strings.Contains(d, "INT"):
		return "INTEGER"
	case strings.Contains(d, "CHAR"), strings.Contains(d, "CLOB"), strings.Contains(d, "TEXT"):
		return "TEXT"
	case strings.Contains(d, "BLOB"), d == "":
		return "BLOB"
	case strings.Contains(d, "REAL"), strings.Contains(d, "FLOA"), strings.Contains(d, "DOUB"):
		return "REAL"
	}
	return "NUMERIC"
}
