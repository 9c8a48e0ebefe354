package textfile

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Bounds on the memory that one file may take.
const (
	MaxRecord  = wire.MaxLineBytes // bytes of one record; a longer one does not fit into an answer either
	MaxColumns = 2000
)

// A Fault describes what is wrong with the content of a file. Its text names
// the file and the line, and never quotes a cell.
type Fault struct {
	File    string
	Line    int // 0: the file as a whole
	Problem string
}

func (f *Fault) Error() string {
	if f.Line == 0 {
		return f.File + ": " + f.Problem
	}
	return fmt.Sprintf("%s line %d: %s", f.File, f.Line, f.Problem)
}

// Records reads a file one record at a time, in constant memory.
type Records interface {
	// Next returns the next record, its cells in the order of Names. It fails
	// with io.EOF at the end, and with a [Fault] if the file is malformed. The
	// slice is reused.
	Next() ([]textvalue.Raw, error)
	// Names returns the columns known so far. Each is unique and not empty.
	Names() []string
	// Line returns the line on which the record last read begins.
	Line() int
	// Notes returns what was found out about the format and not stated: discovery
	// warns of it.
	Notes() []string
}

// openers open files, by their extensions.
var openers = map[string]func(file string, r io.Reader, format Format, names []string) (Records, error){
	".csv": openCSV, ".tsv": openCSV, ".ndjson": openNDJSON, ".jsonl": openNDJSON,
}

// TableOf returns the name of the table that a file is, and reports whether its extension
// is one of those that [Open] reads.
func TableOf(file string) (table string, ok bool) {
	ext := path.Ext(file)
	return strings.TrimSuffix(file, ext), openers[strings.ToLower(ext)] != nil
}

// Separated reports whether the cells of a file have a separator.
func Separated(file string) bool {
	ext := strings.ToLower(path.Ext(file))
	return ext == ".csv" || ext == ".tsv"
}

// Extensions returns the extensions that [Open] reads.
func Extensions() []string { return slices.Sorted(maps.Keys(openers)) }

// Open opens the records of a file, which has one of the extensions. names are the
// columns that the file is known to have, in order; none before it was first read.
func Open(file string, r io.Reader, format Format, names []string) (Records, error) {
	return openers[strings.ToLower(path.Ext(file))](file, r, format, names)
}

// text opens a file as text in UTF-8.
func text(file string, r io.Reader, format Format) (decoded io.Reader, notes []string, err error) {
	decoded, encoding, marked, err := Decode(r, format.Encoding)
	var wrong *Undecodable
	if errors.As(err, &wrong) {
		err = &Fault{file, 0, wrong.Problem}
	}
	stated := format.Encoding
	if marked && encoding != cmp.Or(stated, utf8Name) && (stated != "utf-16" || encoding == utf8Name) {
		notes = append(notes, fmt.Sprintf("%s is read as %s, by its byte-order mark", file, encoding))
	}
	return decoded, notes, err
}
