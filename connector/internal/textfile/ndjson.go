package textfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// ndjsonRecords reads one JSON object per line, strictly: exact member names,
// no duplicates, valid UTF-8. The columns are the members of all objects in
// order of their first appearance. A member that an object lacks is null. Blank
// lines are skipped.
type ndjsonRecords struct {
	file    string
	lines   *bufio.Scanner
	notes   []string
	reader  textvalue.Reader
	problem string // with a member of the line being read
	columns []string
	index   map[string]int
	cells   []textvalue.Raw
	seen    []int // the record in which a column was last set
	records int   // so far
	at      int
}

// openNDJSON opens a file of JSON objects.
func openNDJSON(file string, r io.Reader, format Format, names []string) (Records, error) {
	decoded, notes, err := text(file, r, format)
	if err != nil {
		return nil, err
	}
	n := newNDJSON(file, notes, names)
	n.lines = bufio.NewScanner(decoded)
	n.lines.Buffer(make([]byte, 64<<10), MaxRecord)
	return n, nil
}

func newNDJSON(file string, notes, names []string) *ndjsonRecords {
	n := &ndjsonRecords{file: file, notes: notes, index: map[string]int{}}
	n.reader.MaxDepth = terms.MaxDepth
	for _, name := range names {
		n.addColumn(name)
	}
	return n
}

func (n *ndjsonRecords) addColumn(name string) {
	n.index[name] = len(n.columns)
	n.columns = append(n.columns, name)
	n.cells = append(n.cells, textvalue.Raw{})
	n.seen = append(n.seen, 0)
}

func (n *ndjsonRecords) Names() []string { return slices.Clip(n.columns) }

func (n *ndjsonRecords) Line() int { return n.at }

func (n *ndjsonRecords) Notes() []string { return n.notes }

func (n *ndjsonRecords) Next() ([]textvalue.Raw, error) {
	for n.lines.Scan() && n.lines.Err() == nil { // what an error cuts off is a line to the Scanner
		n.at++
		line := n.lines.Bytes()
		if line = bytes.Trim(line, " \t\r"); len(line) == 0 {
			continue
		}
		if err := n.read(string(line)); err != nil {
			return nil, err
		}
		return n.cells, nil
	}
	err := n.lines.Err()
	var wrong *Undecodable
	switch {
	case errors.As(err, &wrong):
		return nil, &Fault{n.file, wrong.Line, wrong.Problem}
	case errors.Is(err, bufio.ErrTooLong):
		return nil, &Fault{n.file, n.at + 1, fmt.Sprintf("longer than %d MiB; each line must be one JSON object", MaxRecord>>20)}
	case err != nil:
		return nil, err
	}
	return nil, io.EOF
}

// read reads the object of one line into the cells.
func (n *ndjsonRecords) read(line string) error {
	r := &n.reader
	n.records++
	r.Reset(line)
	clear(n.cells)
	if n.problem = ""; r.Peek() == '{' {
		r.Members(n.member)
		r.End()
	} else {
		n.fail("each line must be one JSON object")
	}
	if r.Err() != nil {
		return &Fault{n.file, n.at, n.whatIsWrong()}
	}
	return nil
}

// whatIsWrong describes the failure of the reader.
func (n *ndjsonRecords) whatIsWrong() string {
	var syntax *jsontext.SyntaxError
	switch {
	case n.problem != "":
		return n.problem
	case n.reader.Duplicate != "":
		return duplicate(n.reader.Duplicate)
	case errors.As(n.reader.Err(), &syntax):
		return fmt.Sprintf("byte %d: %s", syntax.Offset, syntax.Problem)
	}
	return n.reader.Err().Error()
}

// member reads the value of one member of the record.
func (n *ndjsonRecords) member(name string) {
	i, ok := n.index[name]
	if !ok {
		switch {
		case strings.TrimSpace(name) == "":
			n.fail("a member without a name")
			return
		case len(n.columns) == MaxColumns:
			n.fail(fmt.Sprintf("more than %d different members", MaxColumns))
			return
		}
		i = len(n.columns)
		n.addColumn(strings.Clone(name))
	}
	if n.seen[i] == n.records {
		n.fail(duplicate(name))
		return
	}
	n.seen[i] = n.records
	n.cells[i] = n.reader.Value(2)
}

// fail ends the line with a problem, unless it has one.
func (n *ndjsonRecords) fail(problem string) {
	if n.reader.Err() == nil {
		n.problem = problem
		n.reader.Fail(problem)
	}
}

// duplicate describes a member that an object has twice.
func duplicate(name string) (problem string) {
	return fmt.Sprintf("duplicate member %s; write each member once", terms.QuoteName(name))
}
