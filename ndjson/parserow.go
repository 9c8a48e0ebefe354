package ndjson

import (
	"fmt"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// beginRows reads what precedes the first row of a line.
func (p *parser) beginRows() *LineError {
	s := &p.s
	if s.Peek() != '[' {
		if s.Peek() == 0 {
			s.Expect('[')
			return p.syntax("rows")
		}
		return &LineError{Path: "rows", Problem: "must be an array"}
	}
	s.Skip('[')
	if s.Peek() == ']' {
		return &LineError{Path: "rows", Problem: fmt.Sprintf("is empty; a line has 1 to %d rows", wire.MaxBatchRows)}
	}
	p.read = 0
	return nil
}

// row reads the next row and reports whether there was one in the line. The next
// row overwrites its cells.
func (p *parser) row() (Row, bool, *LineError) {
	s := &p.s
	if p.read > 0 && !s.Skip(',') {
		if !s.Expect(']') {
			return Row{}, false, p.syntax("rows")
		}
		fault := p.finish()
		p.wipe()
		return Row{}, false, fault
	}
	if p.read == wire.MaxBatchRows {
		return Row{}, false, &LineError{Path: "rows", Problem: fmt.Sprintf("more than %d rows", wire.MaxBatchRows)}
	}
	p.cells = p.cells[:0]
	if fault := p.parseRow(); fault != nil {
		fault.Path = fmt.Sprintf("rows[%d]", p.read)
		return Row{}, false, fault
	}
	p.read++
	p.dirty = max(p.dirty, len(p.cells))
	return Row{p.shape, p.cells[:len(p.cells):len(p.cells)]}, true, nil
}

// wipe drops what is left of earlier lines.
func (p *parser) wipe() {
	if p.dirty > len(p.cells) {
		clear(p.cells[len(p.cells):p.dirty])
	}
	p.dirty = len(p.cells)
}

// parseRow reads one row into p.cells and finds p.shape. Nearly every row has
// the members of the one before, spelled alike: then only its cells are read.
func (p *parser) parseRow() *LineError {
	s := &p.s
	s.Peek()
	known := 0 // members that are those of p.shape
	if p.shape != nil {
		spans := p.shape.spans
		p.cells = slices.Grow(p.cells, len(spans))
		cells := p.cells[len(p.cells):][:len(spans)]
		known = s.Members(spans, cells)
		p.cells = p.cells[:len(p.cells)+known]
		if known > 0 && known == len(spans) && s.Skip('}') {
			return nil
		}
	}
	if s.Err() != nil {
		return p.cellFault(known)
	}
	return p.parseOther(known)
}

// parseOther reads the rest of a row whose first members are the first known ones
// of p.shape, and finds its shape.
func (p *parser) parseOther(known int) *LineError {
	s := &p.s
	count := known
	if count == 0 && s.Peek() != '{' {
		if s.Peek() == 0 {
			s.Expect('{')
			return p.syntax("")
		}
		return &LineError{Problem: "must be an object"}
	}
	from := s.Offset()
	if count == 0 {
		s.Skip('{')
	}
	same := p.shape != nil // so far the names are those of p.shape, however spelled
	for ; !s.Skip('}'); count++ {
		if count > 0 {
			s.Expect(',')
		}
		name := s.String()
		s.Expect(':')
		s.Peek()
		if s.Err() != nil {
			return p.syntax("")
		}
		if same && (count == len(p.shape.names) || p.shape.names[count] != name) {
			same = false
			p.other.begin(p.shape, count)
		}
		if !same && !p.other.add(name, p.text[from:s.Offset()]) {
			return &LineError{Problem: fmt.Sprintf("member %d is a duplicate; send each member once", count+1)}
		}
		p.cells = append(p.cells, s.Scalar())
		if s.Err() != nil {
			return p.cellFault(count + 1)
		}
		from = s.Offset()
	}
	if same && count < len(p.shape.names) {
		same = false
		p.other.begin(p.shape, count)
	}
	if !same {
		p.shape = p.shapeOf(p.other.names, p.other.spans)
		p.other.forget()
	}
	return nil
}

// cellFault returns the scanner's error in the n-th member of a row.
func (p *parser) cellFault(n int) *LineError {
	fault := p.syntax("")
	fault.Problem = fmt.Sprintf("member %d: %s", n, fault.Problem)
	return fault
}

// maxRecentSize is the largest shape that is kept for later than the next row.
const maxRecentSize = 64 << 10

// shapeOf returns the shape of these members: a recent one, or a new one.
func (p *parser) shapeOf(names, spans []string) *shape {
	for _, sh := range p.recent {
		if sh != nil && slices.Equal(sh.names, names) {
			return sh
		}
	}
	sh := newShape(names, spans)
	if sh.size <= maxRecentSize {
		p.recent[p.oldest] = sh
		p.oldest = (p.oldest + 1) % len(p.recent)
	}
	return sh
}

// members collects the members of one row and finds duplicates.
type members struct {
	names []string
	spans []string
	seen  map[string]struct{} // the names, once there are more than a few
}

// begin starts with the first n members of a shape.
func (m *members) begin(sh *shape, n int) {
	m.names = append(m.names[:0], sh.names[:n]...)
	m.spans = append(m.spans[:0], sh.spans[:n]...)
}

// add adds one more member and reports whether its name is new.
func (m *members) add(name, span string) bool {
	if len(m.names) < fewNames {
		if slices.Contains(m.names, name) {
			return false
		}
	} else {
		if len(m.seen) == 0 {
			if m.seen == nil {
				m.seen = make(map[string]struct{}, 2*len(m.names))
			}
			for _, n := range m.names {
				m.seen[n] = struct{}{}
			}
		}
		if _, ok := m.seen[name]; ok {
			return false
		}
		m.seen[name] = struct{}{}
	}
	m.names = append(m.names, name)
	m.spans = append(m.spans, span)
	return true
}

// forget drops the row. It drops a large map altogether, because emptying a map
// costs as much as it ever held: a single wide row must not make every later one
// slow.
func (m *members) forget() {
	clear(m.names)
	clear(m.spans)
	m.names, m.spans = m.names[:0], m.spans[:0]
	if len(m.seen) > 16*fewNames {
		m.seen = nil
	}
	clear(m.seen)
}
