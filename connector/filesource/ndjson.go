package main

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
// no duplicates, valid UTF-8. Columns are the members of all objects in order
// of their first appearance; a member that an object lacks is null. Blank
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
		n.column(name)
	}
	return n, nil
}

func (n *ndjsonRecords) column(name string) {
	n.index[name] = len(n.columns)
	n.columns = append(n.columns, name)
	n.cells = append(n.cells, raw{})
	n.seen = append(n.seen, 0)
}

func (n *ndjsonRecords) names() []string { return slices.Clip(n.columns) }

func (n *ndjsonRecords) line() int { return n.at }

func (n *ndjsonRecords) next() ([]raw, error) {
	for n.lines.Scan() {
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
		problem := n.object()
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

// object reads the record. It answers what is wrong, unless the scanner knows.
func (n *ndjsonRecords) object() (problem string) {
	s := &n.scan
	if s.Peek() != '{' {
		return "each line must be one JSON object"
	}
	s.Skip('{')
	if s.Skip('}') {
		return ""
	}
	for {
		name := s.String()
		if !s.Expect(':') {
			return ""
		}
		i, ok := n.index[name]
		if !ok {
			switch {
			case strings.TrimSpace(name) == "":
				return "a member without a name"
			case len(n.columns) == maxColumns:
				return fmt.Sprintf("more than %d different members", maxColumns)
			}
			i = len(n.columns)
			n.column(strings.Clone(name))
		}
		if n.seen[i] == n.at {
			return "a member stands twice in the object"
		}
		n.seen[i] = n.at
		if n.cells[i], problem = n.value(); problem != "" || s.Err() != nil {
			return problem
		}
		if s.Skip(',') {
			continue
		}
		s.Expect('}')
		return ""
	}
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

// skip reads over any JSON value as strictly as a record is read. Depth is the
// nesting the value stands at.
func skip(s *scan.Scanner, depth int) (problem string) {
	const (
		tooDeep = "arrays and objects are nested too deeply"
		twice   = "a member stands twice in an object"
	)
	switch s.Peek() {
	case '[':
		if depth > wire.MaxDepth {
			return tooDeep
		}
		s.Skip('[')
		if s.Skip(']') {
			return ""
		}
		for {
			if problem = skip(s, depth+1); problem != "" || s.Err() != nil {
				return problem
			}
			if !s.Skip(',') {
				s.Expect(']')
				return ""
			}
		}
	case '{':
		if depth > wire.MaxDepth {
			return tooDeep
		}
		s.Skip('{')
		if s.Skip('}') {
			return ""
		}
		seen := map[string]bool{}
		for {
			name := s.String()
			if seen[name] {
				return twice
			}
			seen[name] = true
			if !s.Expect(':') {
				return ""
			}
			if problem = skip(s, depth+1); problem != "" || s.Err() != nil {
				return problem
			}
			if !s.Skip(',') {
				s.Expect('}')
				return ""
			}
		}
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
