package restsource

import (
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
)

// tellsNothing reports whether a member that tells of errors tells of none.
func tellsNothing(r textvalue.Raw) bool {
	switch r.Kind {
	case textvalue.Bool:
		return r.Text == "false"
	case textvalue.Number:
		return strings.Trim(r.Text, "-0.") == ""
	case textvalue.Array, textvalue.Object:
		return strings.TrimSpace(r.Text[1:len(r.Text)-1]) == ""
	}
	return r.Text == ""
}

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

// pick reads one value and stores what it finds in out. A nil picker only reads.
func (p *picker) pick(s *textvalue.Reader, out []textvalue.Raw, depth int) {
	var found textvalue.Raw
	switch c := s.Peek(); {
	case p == nil || len(p.members) == 0:
		found = s.Value(depth)
	case c == '{':
		found = s.Object(depth, func(name string) { p.members[name].pick(s, out, depth+1) })
	case c == '[':
		found = s.List(depth, func(i int) { p.members[strconv.Itoa(i)].pick(s, out, depth+1) })
	default:
		found = s.Value(depth)
	}
	if p != nil {
		for _, n := range p.at {
			out[n] = found
		}
	}
}

// parse picks from a whole JSON text.
func (p *picker) parse(text string, places int) ([]textvalue.Raw, error) {
	s := textvalue.Reader{MaxDepth: maxNesting}
	s.Reset(text)
	out := make([]textvalue.Raw, places)
	p.pick(&s, out, 1)
	s.End()
	return out, s.Err()
}

// checked returns a reader of JSON text that was parsed before.
func checked(text string) *textvalue.Reader {
	s := &textvalue.Reader{MaxDepth: maxNesting, Checked: true}
	s.Reset(text)
	return s
}

// each calls fn for every element of a list, given as JSON text that was parsed. fn
// reads the element. The first error of fn ends the list.
func each(list string, fn func(s *textvalue.Reader) error) (err error) {
	s := checked(list)
	s.List(1, func(int) {
		if err == nil {
			if err = fn(s); err != nil {
				s.Fail("") // nothing more is read
			}
		}
	})
	if err == nil {
		err = s.Err()
	}
	return err
}
