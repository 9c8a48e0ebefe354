package filesource

import (
	"fmt"
	"io"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
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

// records reads a file one record at a time, in constant memory.
type records interface {
	// next returns the next record, its cells in the order of names. It fails
	// with io.EOF at the end, and with a fault if the file is malformed. The
	// slice is reused.
	next() ([]textvalue.Raw, error)
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
