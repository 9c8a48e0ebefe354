package filesource

import "github.com/connectorsdk/connector-sdk-go/wire"

// Format says how text files are written: those of a whole folder by an option, one
// file by the members of its sidecar. Nothing of it is guessed. What is not stated
// counts as the file itself states it beyond doubt: by a byte-order mark, by a first
// line "sep=;", or by a header that has one of comma, semicolon, tab and vertical bar
// outside of quotes and no other. Discovery warns of what was so found.
//
// Package connector/sqlsource/duckdb takes the same type and the same sidecar files.
type Format struct {
	// Separator is the character between the cells of a CSV file, such as ";". It does not
	// count for .tsv files, unless their sidecar states it. In a sidecar: "separator".
	Separator string
	// Encoding is that of the text: utf-8, utf-16 (with a byte-order mark), utf-16le,
	// utf-16be, iso-8859-1 (latin-1), iso-8859-15, windows-1250, windows-1251,
	// windows-1252, ibm850 or macintosh. A byte-order mark goes before it. Text that is in
	// another encoding is never replaced: the file is left out. In a sidecar: "encoding".
	Encoding string
	// DecimalComma says that numbers in texts have a comma before their fraction, as
	// 1234,50. A number with a dot is a text then. In a sidecar: "decimalComma".
	DecimalComma bool
	// DateFormat says how dates are written, such as "DD.MM.YYYY" or "M/D/YYYY"; a time as
	// in ISO 8601 may follow. Dates of ISO 8601 are dates in any case, and all others are
	// texts. In a sidecar: "dateFormat".
	DateFormat string
	// Types are the types of columns, by their names in the files, of every file that has
	// such a column. In a sidecar: "type" of a column in "columns".
	Types map[string]wire.Type
}
