package sqlsource

import (
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The kinds of values that the first rows of a column hold, where its declared
// type does not say, or most of them do not fit it.
const (
	sqliteSeenNumbers   = "numbers"
	sqliteSeenBlobs     = "blobs"
	sqliteSeenDatetimes = "datetimes" // in a column of dates
	sqliteSeenTexts     = "texts"     // or several kinds, or none
)

// sqliteNote is what a catalog column's Note says. The table stands last,
// because its name may hold any character.
type sqliteNote struct {
	strict bool   // the table is STRICT: values have the declared type
	rowID  bool   // the column is the row's number: integers only
	utf16  bool   // the encoding of the database
	view   bool   // the values of a view need not fit the column's declared type
	seen   string // one of the constants above; empty: the declared type says enough
	table  string // quoted and qualified
}

// sqliteWords are the words of a Note, in its order.
var sqliteWords = []string{"strict", "rowid", "utf16", "view", sqliteSeenNumbers, sqliteSeenBlobs, sqliteSeenDatetimes, sqliteSeenTexts}

func (n sqliteNote) String() string {
	var words []string
	for i, set := range []bool{
		n.strict, n.rowID, n.utf16, n.view,
		n.seen == sqliteSeenNumbers, n.seen == sqliteSeenBlobs, n.seen == sqliteSeenDatetimes, n.seen == sqliteSeenTexts,
	} {
		if set {
			words = append(words, sqliteWords[i])
		}
	}
	return strings.Join(words, " ") + "\n" + n.table
}

// parseSQLiteNote reads a Note.
func parseSQLiteNote(note string) sqliteNote {
	words, table, _ := strings.Cut(note, "\n")
	list := strings.Fields(words)
	n := sqliteNote{table: table}
	n.strict, n.rowID = slices.Contains(list, sqliteWords[0]), slices.Contains(list, sqliteWords[1])
	n.utf16, n.view = slices.Contains(list, sqliteWords[2]), slices.Contains(list, sqliteWords[3])
	for _, seen := range sqliteWords[4:] {
		if slices.Contains(list, seen) {
			n.seen = seen
		}
	}
	return n
}

// sqliteDeclaredType returns the type that a declared type is read as. It
// reports false if the declared type says nothing.
func sqliteDeclaredType(declared string) (wire.Type, bool) {
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
	case has("DATETIME", "TIMESTAMP"):
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

// sqliteType returns the type that a column is read as.
func sqliteType(declared, seen string) wire.Type {
	switch t, _ := sqliteDeclaredType(declared); seen {
	case "":
		return t
	case sqliteSeenNumbers:
		return wire.TypeNumber
	case sqliteSeenDatetimes:
		return wire.TypeDatetime
	}
	return wire.TypeString
}

// undeclared reports whether a column's declared type says nothing of its values.
// SQLite calls a view's column BLOB, too, if it knows nothing of it.
func undeclared(declared string, view bool) bool {
	_, says := sqliteDeclaredType(declared)
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
