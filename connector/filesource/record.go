package filesource

import (
	"fmt"
	"io"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Bounds on the memory that one file may take.
const (
	maxRecord  = wire.MaxLineBytes // bytes of one record; a longer one does not fit into an answer either
	maxColumns = 2000
)

// A fault describes what is wrong with the content of a file. Its text names
// the file and the line, and never quotes a cell.
type fault struct {
	file    string
	line    int // 0: the file as a whole
	problem string
}

func (f *fault) Error() string {
	if f.line == 0 {
		return f.file + ": " + f.problem
	}
	return fmt.Sprintf("%s line %d: %s", f.file, f.line, f.problem)
}

// rawKind is how a file spells a cell.
type rawKind uint8

const (
	rawNull   rawKind = iota // an empty CSV cell, a JSON null, a missing member
	rawPlain                 // a CSV cell: any kind of value, as text
	rawText                  // a JSON string: text, because its author could have written a number
	rawNumber                // a JSON number, as it is written
	rawBool                  // a JSON true or false
	rawArray                 // a JSON array, as it is written
	rawObject                // a JSON object, as it is written
)

// raw is one cell as the file has it.
type raw struct {
	text string
	kind rawKind
}

// scalar reports whether the cell could be a number: any cell but a JSON
// boolean, array or object.
func (c raw) scalar() bool { return c.kind < rawBool }

// textual reports whether the cell is text, which a date or a datetime is.
func (c raw) textual() bool { return c.kind == rawPlain || c.kind == rawText }

// records reads a file one record at a time, in constant memory.
type records interface {
	// next returns the next record, its cells in the order of names. It fails
	// with io.EOF at the end, and with a fault if the file is malformed. The
	// slice is reused.
	next() ([]raw, error)
	// names returns the columns known so far. Each is unique and not empty.
	names() []string
	// line returns the line on which the record last read begins.
	line() int
}

// format opens a file of one format. names are the columns that the file is
// known to have, in order; none before the file was first read.
type format func(file string, r io.Reader, names []string) (records, error)

// formats are the formats by extension, in lower case.
var formats = map[string]format{".csv": openCSV, ".ndjson": openNDJSON}
