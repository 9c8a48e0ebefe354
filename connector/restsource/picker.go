package restsource

import (
	"slices"
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

// joinPath returns the member path of names, as splitPath reads it.
func joinPath(names []string) string {
	escaped := make([]string, len(names))
	for i, name := range names {
		escaped[i] = strings.ReplaceAll(name, ".", `\.`)
	}
	return strings.Join(escaped, ".")
}

// picker finds members of a JSON value in one reading of it.
type picker struct {
	at      []int // the places of this value in the result
	members []member
	named   map[string]int // the place in members
	rows    bool           // this value is the list whose rows are collected
	path    []string       // of an object on the way to that list, whose other members are noted; nil: of no such one
}

// member is what is picked from a member of an object, or from an element of a list.
type member struct {
	name string
	*picker
}

// member returns the picker of a member, or nil if nothing is picked from it. Objects often
// name their members in the order of the paths: next is where the name is looked for first.
func (p *picker) member(name string, next *int) *picker {
	at := *next
	if at == len(p.members) || p.members[at].name != name {
		var found bool
		if at, found = p.named[name]; !found {
			return nil
		}
	}
	*next = at + 1
	return p.members[at].picker
}

// newPicker returns a picker of values by their paths. The n-th path's value
// becomes the n-th of the result. A number in a path is the place in a list. An empty
// path is the value itself; a nil path picks nothing.
func newPicker(paths ...[]string) *picker {
	root := &picker{}
	for n, path := range paths {
		if path == nil {
			continue
		}
		p := root
		for _, name := range path {
			at, found := p.named[name]
			if !found {
				if at = len(p.members); at == 0 {
					p.named = map[string]int{}
				}
				p.named[name] = at
				p.members = append(p.members, member{name, &picker{}})
			}
			p = p.members[at].picker
		}
		p.at = append(p.at, n)
	}
	return root
}

// maxNesting limits how deep the JSON of an API is read.
const maxNesting = 256

// collected is what was picked from the rows of a list while the text around it was read,
// which spares a second reading of them.
type collected struct {
	row    *picker
	places int // of a row
	found  []textvalue.Raw
	odd    int // the place of the first row that is not an object, or -1
	done   bool
	beside []noted // the members on the way to the list
}

// list reads a list of rows.
func (r *collected) list(s *textvalue.Reader, depth int) textvalue.Raw {
	r.done = true
	return s.List(depth, func(i int) {
		if s.Peek() != '{' {
			if s.Value(depth + 1); r.odd < 0 {
				r.odd = i
			}
			return
		}
		at := len(r.found)
		for range r.places {
			r.found = append(r.found, textvalue.Raw{})
		}
		r.row.pick(s, r.found[at:], depth+1)
	})
}

// each calls fn with what was found in each row, up to the first error.
func (r *collected) each(fn func(found []textvalue.Raw) error) error {
	for at := 0; at < len(r.found) && (r.odd < 0 || at < r.odd*r.places); at += r.places {
		if err := fn(r.found[at : at+r.places]); err != nil {
			return err
		}
	}
	return nil
}

// pick reads one value and stores what it finds in out. A nil picker only reads.
func (p *picker) pick(s *textvalue.Reader, out []textvalue.Raw, depth int) {
	p.pickRows(s, out, depth, nil)
}

// pickRows picks, and collects what is in the rows.
func (p *picker) pickRows(s *textvalue.Reader, out []textvalue.Raw, depth int, rows *collected) (found textvalue.Raw) {
	switch c := s.Peek(); {
	case rows != nil && p != nil && p.rows && c == '[':
		found = rows.list(s, depth)
	case p == nil || len(p.members) == 0:
		found = s.Value(depth)
	case c == '{':
		next := 0
		found = s.Object(depth, func(name string) {
			member := p.member(name, &next)
			value := member.pickRows(s, out, depth+1, rows)
			if rows != nil && p.path != nil && (member == nil || !member.rows && member.path == nil) {
				rows.beside = append(rows.beside, noted{slices.Concat(p.path, []string{name}), value})
			}
		})
	case c == '[':
		next := 0
		found = s.List(depth, func(i int) { p.member(strconv.Itoa(i), &next).pickRows(s, out, depth+1, rows) })
	default:
		found = s.Value(depth)
	}
	if p != nil {
		for _, n := range p.at {
			out[n] = found
		}
	}
	return found
}

// parse picks from a whole JSON text.
func (p *picker) parse(text string, places int) ([]textvalue.Raw, error) {
	return p.parseRows(text, places, nil)
}

// parseRows picks from a whole JSON text, and collects what is in its rows.
func (p *picker) parseRows(text string, places int, rows *collected) ([]textvalue.Raw, error) {
	s := textvalue.Reader{MaxDepth: maxNesting}
	s.Reset(text)
	out := make([]textvalue.Raw, places)
	p.pickRows(&s, out, 1, rows)
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
