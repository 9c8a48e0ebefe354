package postgres

import "github.com/connectorsdk/connector-sdk-go/connector/sqlsource/sqlengine"

// columnNote is what Column must know beyond a column's type. The catalog
// passes it on in sqlengine.CatalogColumn.Note.
type columnNote struct {
	encoding string // of the database
	version  int    // of the server, as 150004
	// collation is the number of the column's collation; 0: its type has none.
	collation int
	// bytewise reports that the column's own collation is byte order.
	bytewise bool
	// array is the name of an array's type, which begins with a line and names the
	// elements.
	array string
}

// noteOf returns the Note of a column. Without one, the database is in UTF-8.
func noteOf(c sqlengine.CatalogColumn) columnNote {
	if note, ok := c.Note.(columnNote); ok {
		return note
	}
	return columnNote{encoding: encodingUTF8}
}

// The encodings that are treated by name. ASCII means that the server does not
// know what its bytes mean; they are read as UTF-8 where they are that.
const (
	encodingUTF8  = "UTF8"
	encodingASCII = "SQL_ASCII"
)

// bare reports whether the bare column is compared: its collation is the
// database's (100), which is byte order. All other texts are compared by the collation
// "C", whose name the server must see, or it would refuse to compare columns of
// two collations.
func (n columnNote) bare() bool { return n.bytewise && n.collation == 100 }
