package restsource

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
)

// shape is which members the pages of a read had beside their rows. A page that ends the read
// has the same, because a refusal in a page's clothes says more, or less.
type shape struct {
	pages int
	had   map[string]*trait // by path
}

// trait is what one member had in common in all pages that had it.
type trait struct {
	pages int
	path  []string
	word  string // its value if that is a word and was always the same
	empty bool   // it never had a value
}

// add takes in a page.
func (s *shape) add(members []noted) {
	if s.had == nil {
		s.had = map[string]*trait{}
	}
	s.pages++
	for _, m := range members {
		path := joinPath(m.path)
		t := s.had[path]
		if t == nil {
			t = &trait{path: m.path, word: m.word(), empty: true}
			s.had[strings.Clone(path)] = t
		}
		t.pages++
		t.empty = t.empty && tellsNothing(m.value)
		if t.word != m.word() {
			t.word = ""
		}
	}
}

// word returns the value of a member that pages have in common: true, false, a text without
// digits, which is no address, and the number of a status. It is "" for others, such as times.
func (m *noted) word() string {
	r := m.value
	switch name := plainCode(m.path[len(m.path)-1]); {
	case r.Kind == textvalue.Bool:
	case r.Kind == textvalue.Number && (strings.HasSuffix(name, "code") || strings.HasSuffix(name, "status")):
	case r.Kind == textvalue.Text && len(r.Text) < 64 && !strings.ContainsAny(r.Text, "0123456789/?"):
	default:
		return ""
	}
	return strings.Clone(r.Text)
}

// differs returns how a page that ends the read is unlike those before, or "". A member whose
// name tells of nothing but pages may come and go, and so may one that is declared.
func (s *shape) differs(members []noted, declared [][]string) string {
	has, entries := map[string]bool{}, mapsOf(members)
	var added, changed, missing []string
	isDeclared := func(path []string) bool {
		return slices.ContainsFunc(declared, func(own []string) bool { return within(own, path) })
	}
	for _, m := range members {
		path := joinPath(m.path)
		has[path] = true
		t := s.had[path]
		words := wordsOf(m.path[len(m.path)-1])
		switch {
		case words.only() || entries[joinPath(m.path[:len(m.path)-1])] || isDeclared(m.path):
		case t == nil:
			added = append(added, terms.QuoteName(path))
		case t.word != "" && t.word != m.word(), t.empty && !tellsNothing(m.value):
			changed = append(changed, terms.QuoteName(path))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(s.had)) {
		t := s.had[path]
		above := len(t.path) > 1 && !has[joinPath(t.path[:len(t.path)-1])] && s.had[joinPath(t.path[:len(t.path)-1])] != nil
		if has[path] || t.pages < s.pages || above || wordsOf(t.path[len(t.path)-1]).only() || isDeclared(t.path) {
			continue
		}
		missing = append(missing, terms.QuoteName(path))
	}
	var said []string
	for what, names := range map[string][]string{"has %s, which no earlier page had": added, "says something else at %s": changed,
		"lacks %s, which all earlier pages had": missing} {
		if len(names) > 0 {
			said = append(said, fmt.Sprintf(what, strings.Join(names[:min(len(names), maxMembers)], ", ")))
		}
	}
	slices.Sort(said)
	return strings.Join(said, ", and ")
}

// mapsOf returns the paths of objects that are maps: all of their values are objects or lists, so that
// their names are data.
func mapsOf(members []noted) map[string]bool {
	maps := map[string]bool{}
	for _, m := range members {
		if above := joinPath(m.path[:len(m.path)-1]); len(m.path) > 1 {
			before, seen := maps[above]
			isEntry := (m.value.Kind == textvalue.Object || m.value.Kind == textvalue.Array) && !wordsOf(m.path[len(m.path)-1]).ofPages()
			maps[above] = isEntry && (before || !seen)
		}
	}
	return maps
}
