package sqlsource

import (
	"fmt"
	"strconv"
	"strings"
)

// postgresNote is what Column must know beyond a column's type. The catalog
// passes it on in CatalogColumn.Note.
type postgresNote struct {
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

func (n postgresNote) String() string {
	return fmt.Sprintf("%s %d %d %t %s", n.encoding, n.version, n.collation, n.bytewise, n.array)
}

// parsePostgresNote reads what String has written. A note that is empty is that
// of a database in UTF-8.
func parsePostgresNote(note string) postgresNote {
	words := strings.SplitN(note, " ", 5)
	if len(words) != 5 {
		return postgresNote{encoding: postgresUTF8}
	}
	n := postgresNote{encoding: words[0], bytewise: words[3] == "true", array: words[4]}
	n.version, _ = strconv.Atoi(words[1])
	n.collation, _ = strconv.Atoi(words[2])
	return n
}

// The encodings that are treated by name. ASCII means that the server does not
// know what its bytes mean; they are read as UTF-8 where they are that.
const (
	postgresUTF8  = "UTF8"
	postgresASCII = "SQL_ASCII"
	postgresLatin = "LATIN1"
)

// holds reports whether a text can be sent to the server, which refuses
// characters that the database's encoding lacks. It may report false for others:
// of most encodings it knows only that they hold ASCII.
func (n postgresNote) holds(text string) bool {
	last := rune(0x7f)
	switch n.encoding {
	case postgresUTF8, postgresASCII:
		return true
	case postgresLatin:
		last = 0xff
	}
	return strings.IndexFunc(text, func(r rune) bool { return r > last }) < 0
}

// utf8Order reports whether the bytes of texts have the order of their UTF-8.
func (n postgresNote) utf8Order() bool {
	return n.encoding == postgresUTF8 || n.encoding == postgresASCII || n.encoding == postgresLatin
}

// bare reports whether the bare column is compared: its collation is the
// database's (100), which is byte order. All other texts are compared by the collation
// "C", whose name the server must see, or it would refuse to compare columns of
// two collations.
func (n postgresNote) bare() bool { return n.bytewise && n.collation == 100 }
