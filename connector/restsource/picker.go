package restsource

import (
	"slices"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
)

// rawKind is how an answer spells a value.
type rawKind byte

const (
	rawAbsent rawKind = iota // no such member
	rawNull
	rawBool
	rawNumber // its text as it is written
	rawText   // its text without quotes and escapes
	rawArray  // its JSON text
	rawObject // its JSON text
)

// raw is a value as an answer has it.
type raw struct {
	kind rawKind
	text string
}

// none reports whether there is no value.
func (r raw) none() bool { return r.kind <= rawNull }

// empty reports whether the value, as a member that tells of errors, tells of none.
func (r raw) empty() bool {
	switch r.kind {
	case rawBool:
		return r.text == "false"
	case rawNumber:
		return strings.Trim(r.text, "-0.") == ""
	case rawArray, rawObject:
		return strings.TrimSpace(r.text[1:len(r.text)-1]) == ""
	}
	return r.text == ""
}

// scalar reports whether the value is a number or a text.
func (r raw) scalar() bool { return r.kind == rawNumber || r.kind == rawText }

// splitPath splits a member path such as "customer.id" at its dots. A dot that
// belongs to a name is written as \. there. It never returns nil.
func splitPath(path string) []string {
	if path == "" {
		return []string{}
	}
	var parts []string
	var part strings.Builder
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '\\' && i+1 < len(path) && path[i+1] == '.':
			part.WriteByte('.')
			i++
		case c == '.':
			parts = append(parts, part.String())
			part.Reset()
		default:
			part.WriteByte(c)
		}
	}
	return append(parts, part.String())
}

// scanner reads JSON text. It fails at an object that has a member twice, because
// which of the two is meant would be a guess.
type scanner struct {
	jsontext.Scanner
	names  []string // of the members of the objects that are open
	parsed bool     // the text was checked before
}

// leave closes an object. Its names begin at first.
func (s *scanner) leave(first int) {
	names := s.names[first:]
	s.names = s.names[:first]
	if s.parsed {
		return
	}
	if len(names) > 16 {
		slices.Sort(names)
	}
	for i, name := range names {
		others := names[:i]
		if len(names) > 16 {
			others = names[max(0, i-1):i]
		}
		if slices.Contains(others, name) {
			s.Fail("duplicate member")
			return
		}
	}
}

// picker finds members of a JSON value in one reading of it.
type picker struct {
	at      []int // the places of this value in the result
	members map[string]*picker
}

// newPicker returns a picker of values by their paths. The n-th path's value
// becomes the n-th of the result. A number in a path is the place in a list. An empty
// path is the value itself, and a nil path is none.
func newPicker(paths ...[]string) *picker {
	root := &picker{}
	for n, path := range paths {
		if path == nil {
			continue
		}
		p := root
		for _, name := range path {
			next := p.members[name]
			if next == nil {
				next = &picker{}
				if p.members == nil {
					p.members = map[string]*picker{}
				}
				p.members[name] = next
			}
			p = next
		}
		p.at = append(p.at, n)
	}
	return root
}

// maxNesting limits how deep the JSON of an API is read.
const maxNesting = 256

// pick reads one value and stores what it finds in out.
func (p *picker) pick(s *scanner, out []raw, depth int) {
	r := p.value(s, out, depth)
	if p == nil {
		return
	}
	for _, n := range p.at {
		out[n] = r
	}
}

// value reads one value and picks from its members. A nil picker only reads.
func (p *picker) value(s *scanner, out []raw, depth int) raw {
	c := s.Peek()
	text, start := s.Unread()
	nested := func(kind rawKind) raw {
		if s.Err() != nil {
			return raw{}
		}
		return raw{kind, text[start:s.Offset()]}
	}
	switch {
	case depth > maxNesting:
		s.Fail("nested too deep")
	case c == '{':
		p.object(s, out, depth)
		return nested(rawObject)
	case c == '[':
		p.list(s, out, depth)
		return nested(rawArray)
	case c == '"':
		return raw{rawText, s.String()}
	case c == 't':
		s.Literal("true")
		return raw{rawBool, "true"}
	case c == 'f':
		s.Literal("false")
		return raw{rawBool, "false"}
	case c == 'n':
		s.Literal("null")
		return raw{kind: rawNull}
	default:
		return raw{rawNumber, s.Number()}
	}
	return raw{}
}

func (p *picker) object(s *scanner, out []raw, depth int) {
	s.Expect('{')
	if s.Skip('}') {
		return
	}
	first := len(s.names)
	for s.Err() == nil {
		name := s.String()
		s.names = append(s.names, name)
		s.Expect(':')
		p.member(name).pick(s, out, depth+1)
		if !s.Skip(',') {
			s.Expect('}')
			break
		}
	}
	s.leave(first)
}

func (p *picker) list(s *scanner, out []raw, depth int) {
	s.Expect('[')
	if s.Skip(']') {
		return
	}
	for i := 0; s.Err() == nil; i++ {
		var next *picker
		if p != nil && len(p.members) > 0 {
			next = p.member(strconv.Itoa(i))
		}
		next.pick(s, out, depth+1)
		if !s.Skip(',') {
			s.Expect(']')
			return
		}
	}
}

func (p *picker) member(name string) *picker {
	if p == nil {
		return nil
	}
	return p.members[name]
}

// parse picks from a whole JSON text.
func (p *picker) parse(text string, places int) ([]raw, error) {
	var s scanner
	s.Reset(text)
	out := make([]raw, places)
	p.pick(&s, out, 0)
	s.End()
	return out, s.Err()
}

// each calls fn for every element of a list, given as JSON text that was parsed. fn
// reads the element.
func each(list string, fn func(s *scanner) error) error {
	s := scanner{parsed: true}
	s.Reset(list)
	s.Expect('[')
	if s.Skip(']') {
		return s.Err()
	}
	for s.Err() == nil {
		if err := fn(&s); err != nil {
			return err
		}
		if !s.Skip(',') {
			s.Expect(']')
			break
		}
	}
	return s.Err()
}
