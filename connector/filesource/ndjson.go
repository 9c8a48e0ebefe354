package filesource

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/scan"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// ndjsonRecords reads one JSON object per line, strictly: exact member names,
// no duplicates, valid UTF-8. The columns are the members of all objects in
// order of their first appearance. A member that an object lacks is null. Blank
// lines are skipped.
type ndjsonRecords struct {
	file    string
	lines   *bufio.Scanner
	scan    scan.Scanner
	text    string // the line being scanned
	columns []string
	index   map[string]int
	cells   []raw
	seen    []int // the line on which a column was last set
	at      int
}

func openNDJSON(file string, r io.Reader, names []string) (records, error) {
	n := &ndjsonRecords{file: file, lines: bufio.NewScanner(r), index: map[string]int{}}
	n.lines.Buffer(make([]byte, 64<<10), maxRecord)
	for _, name := range names {
		n.addColumn(name)
	}
	return n, nil
}

func (n *ndjsonRecords) addColumn(name string) {
	n.index[name] = len(n.columns)
	n.columns = append(n.columns, name)
	n.cells = append(n.cells, raw{})
	n.seen = append(n.seen, 0)
}

func (n *ndjsonRecords) names() []string { return slices.Clip(n.columns) }

func (n *ndjsonRecords) line() int { return n.at }

func (n *ndjsonRecords) next() ([]raw, error) {
	for n.lines.Scan() && n.lines.Err() == nil { // what an error cuts off is a line to the Scanner
		n.at++
		line := n.lines.Bytes()
		if n.at == 1 {
			line = bytes.TrimPrefix(line, []byte(bom))
		}
		if line = bytes.Trim(line, " \t\r"); len(line) == 0 {
			continue
		}
		n.text = string(line)
		n.scan.Reset(n.text)
		clear(n.cells)
		problem := "each line must be one JSON object"
		if n.scan.Peek() == '{' {
			problem = members(&n.scan, n.member)
		}
		if problem == "" {
			n.scan.End()
		}
		if err := n.scan.Err(); err != nil {
			var syntax *scan.SyntaxError
			errors.As(err, &syntax)
			problem = fmt.Sprintf("byte %d: %s", syntax.Offset, syntax.Problem)
		}
		if problem != "" {
			return nil, &fault{n.file, n.at, problem}
		}
		return n.cells, nil
	}
	err := n.lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		return nil, &fault{n.file, n.at + 1, fmt.Sprintf("longer than %d MiB; each line must be one JSON object", maxRecord>>20)}
	}
	if err != nil {
		return nil, err
	}
	return nil, io.EOF
}

// member reads the value of one member of the record.
func (n *ndjsonRecords) member(name string) (problem string) {
	i, ok := n.index[name]
	if !ok {
		switch {
		case strings.TrimSpace(name) == "":
			return "a member without a name"
		case len(n.columns) == maxColumns:
			return fmt.Sprintf("more than %d different members", maxColumns)
		}
		i = len(n.columns)
		n.addColumn(strings.Clone(name))
	}
	if n.seen[i] == n.at {
		return duplicate(name)
	}
	n.seen[i] = n.at
	n.cells[i], problem = n.value()
	return problem
}

func (n *ndjsonRecords) value() (c raw, problem string) {
	s := &n.scan
	switch s.Peek() {
	case '"':
		return raw{s.String(), rawText}, ""
	case '{', '[':
		c.kind = rawArray
		if s.Peek() == '{' {
			c.kind = rawObject
		}
		start := s.Offset()
		problem = skip(s, 2)
		c.text = n.text[start:s.Offset()]
		return c, problem
	case 't', 'f':
		if s.Scalar().IsTrue() {
			return raw{"true", rawBool}, ""
		}
		return raw{"false", rawBool}, ""
	case 'n':
		s.Scalar()
		return raw{}, ""
	}
	return raw{s.Number(), rawNumber}, ""
}

// members reads an object and calls member for each name, to read its value. It
// stops at the first problem, or where the scanner fails.
func members(s *scan.Scanner, member func(name string) (problem string)) (problem string) {
	s.Expect('{')
	if s.Skip('}') {
		return ""
	}
	for {
		name := s.String()
		if !s.Expect(':') {
			return ""
		}
		if problem = member(name); problem != "" || s.Err() != nil {
			return problem
		}
		if !s.Skip(',') {
			s.Expect('}')
			return ""
		}
	}
}

// elements reads an array and calls element for each value.
func elements(s *scan.Scanner, element func() (problem string)) (problem string) {
	s.Expect('[')
	if s.Skip(']') {
		return ""
	}
	for {
		if problem = element(); problem != "" || s.Err() != nil {
			return problem
		}
		if !s.Skip(',') {
			s.Expect(']')
			return ""
		}
	}
}

// duplicate describes a member that an object has twice.
func duplicate(name string) (problem string) {
	return fmt.Sprintf("duplicate member %s; write each member once", wire.QuoteName(name))
}

// skip reads any JSON value, as strictly as a record. depth is the nesting of
// the value.
func skip(s *scan.Scanner, depth int) (problem string) {
	kind := s.Peek()
	if (kind == '[' || kind == '{') && depth > wire.MaxDepth {
		return "arrays and objects are nested too deeply"
	}
	switch kind {
	case '[':
		return elements(s, func() string { return skip(s, depth+1) })
	case '{':
		seen := map[string]bool{}
		return members(s, func(name string) string {
			if seen[name] {
				return duplicate(name)
			}
			seen[name] = true
			return skip(s, depth+1)
		})
	case '"':
		_ = s.String()
	case 't', 'f', 'n':
		s.Scalar()
	default:
		s.Number() // of any size: the text is kept
	}
	return ""
}

// strictJSON reports whether text is one strict JSON value.
func strictJSON(text string) bool {
	var s scan.Scanner
	s.Reset(text)
	problem := skip(&s, 1)
	s.End()
	return problem == "" && s.Err() == nil
}
