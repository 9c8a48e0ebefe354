package ndjson

import (
	"fmt"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/scan"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// parser reads lines. It uses its memory again for the next line, and keeps no
// line but the last alive: beyond their lengths, its slices hold no text of an
// older line.
type parser struct {
	s    scan.Scanner
	text string

	read  int          // rows of the current line
	cells []wire.Value // of the row
	dirty int          // elements of cells, from its first on, that may not be zero

	shape  *shape    // of the last row, which the next one most likely has too
	recent [8]*shape // other shapes seen of late
	oldest int       // in recent

	other members // of a row that has another shape than the one before
}

// begin reads one line, given without its newline. Of a rows line it reads what
// precedes the rows.
func (p *parser) begin(text string) (line, *LineError) {
	p.text = text
	s := &p.s
	s.Reset(text)
	if s.Err() == nil && s.Peek() == 0 && s.Offset() == len(text) {
		return line{}, &LineError{Problem: "blank line; every line is one JSON object"}
	}
	s.Expect('{')
	if s.Peek() == '}' {
		return line{}, &LineError{Problem: "empty object; a line has one member: served, rows, ping, end or error"}
	}
	name := s.String()
	s.Expect(':')
	if s.Err() != nil {
		return line{}, p.syntax("")
	}
	var l line
	var fault *LineError
	switch name {
	case "rows":
		return line{kind: lineRows}, p.beginRows()
	case "served":
		l.kind = lineServed
		l.served, fault = p.parseServed()
	case "ping":
		l.kind = linePing
		fault = p.parseOne("ping")
	case "end":
		l.kind = lineEnd
		fault = p.parseOne("end")
	case "error":
		l.kind = lineError
		l.err, fault = p.parseError()
	default:
		fault = &LineError{Problem: "unknown kind of line; the kinds are served, rows, ping, end and error"}
	}
	if fault == nil {
		fault = p.finish()
	}
	return l, fault
}

// finish reads the rest of a line after its only member.
func (p *parser) finish() *LineError {
	if p.s.Skip(',') {
		return &LineError{Problem: "more than one member; a line has exactly one"}
	}
	p.s.Expect('}')
	p.s.End()
	if p.s.Err() != nil {
		return p.syntax("")
	}
	return nil
}

// syntax returns the scanner's error as an error at a path.
func (p *parser) syntax(path string) *LineError {
	return &LineError{Path: path, Problem: p.s.Err().Error()}
}

// parseOne reads the 1 of a ping or an end.
func (p *parser) parseOne(path string) *LineError {
	switch p.s.Peek() {
	case '{', '[':
		return &LineError{Path: path, Problem: "must be the number 1"}
	}
	v := p.s.Scalar()
	if p.s.Err() != nil {
		return p.syntax(path)
	}
	if v.Kind() != wire.KindInt || v.Int64() != 1 {
		return &LineError{Path: path, Problem: "must be the number 1"}
	}
	return nil
}

var servedNames = []string{"filters", "sort", "window"}

func (p *parser) parseServed() (wire.Served, *LineError) {
	var flags [3]bool
	fault := p.parseMembers("served", servedNames, func(i int) *LineError {
		switch p.s.Peek() {
		case 't', 'f':
			flags[i] = p.s.Scalar().IsTrue()
			return nil
		}
		return &LineError{Problem: "must be true or false"}
	})
	return wire.Served{Filters: flags[0], Sort: flags[1], Window: flags[2]}, fault
}

var errorNames = []string{"code", "message"}

func (p *parser) parseError() (*wire.Error, *LineError) {
	var texts [2]string
	fault := p.parseMembers("error", errorNames, func(i int) *LineError {
		if p.s.Peek() != '"' {
			return &LineError{Problem: "must be a string"}
		}
		texts[i] = p.s.String()
		return nil
	})
	if fault != nil {
		return nil, fault
	}
	return &wire.Error{Code: wire.Code(texts[0]), Message: texts[1]}, nil
}

// parseMembers reads an object that has exactly these members, each once, in
// any order.
func (p *parser) parseMembers(path string, names []string, value func(i int) *LineError) *LineError {
	s := &p.s
	if s.Peek() != '{' {
		return &LineError{Path: path, Problem: "must be an object"}
	}
	s.Skip('{')
	var have [3]bool
	for first := true; !s.Skip('}'); first = false {
		if !first {
			s.Expect(',')
		}
		name := s.String()
		s.Expect(':')
		if s.Err() != nil {
			return p.syntax(path)
		}
		i := slices.Index(names, name)
		if i < 0 {
			return &LineError{Path: path, Problem: "unknown member; the members are " + strings.Join(names, ", ")}
		}
		if have[i] {
			return &LineError{Path: path, Problem: fmt.Sprintf("duplicate member %q; send each member once", names[i])}
		}
		have[i] = true
		fault := value(i)
		if s.Err() != nil {
			return p.syntax(path + "." + names[i])
		}
		if fault != nil {
			fault.Path = path + "." + names[i]
			return fault
		}
	}
	if s.Err() != nil {
		return p.syntax(path)
	}
	for i, name := range names {
		if !have[i] {
			return &LineError{Path: path + "." + name, Problem: "is missing"}
		}
	}
	return nil
}
