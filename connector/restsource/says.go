package restsource

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
)

// noted is a member of an answer that stands beside its list of rows, or at the top.
type noted struct {
	path  []string
	value textvalue.Raw
}

// deepest limits how many levels of objects beside a list are looked into.
const deepest = 4

// flatten returns the members with those of the objects among them, down to a few levels.
// It leaves out what Pages.Ignore names.
func (t *table) flatten(beside []noted) []noted { return t.flattened(beside, 1) }

func (t *table) flattened(beside []noted, depth int) (all []noted) {
	for _, m := range beside {
		if t.ignores(m.path) {
			continue
		}
		all = append(all, m)
		if m.value.Kind == textvalue.Object && depth < deepest {
			all = append(all, t.flattened(membersOf(m.path, m.value.Text), depth+1)...)
		}
	}
	return all
}

// membersOf returns the members of an object that was parsed before.
func membersOf(path []string, object string) (all []noted) {
	s := checked(object)
	s.Members(func(name string) { all = append(all, noted{slices.Concat(path, []string{name}), s.Value(1)}) })
	return all
}

func (t *table) ignores(path []string) bool {
	return slices.ContainsFunc(t.ignored, func(given []string) bool { return within(path, given) })
}

// within reports whether a path is one above it, or below that.
func within(path, above []string) bool {
	return len(path) >= len(above) && slices.Equal(path[:len(above)], above)
}

// says returns whether a member says that there are more rows than these, that there are
// none, or nothing of the kind, and the word of its name by which it does.
func (m *noted) says(rows int64) (verdict, word) {
	name := wordsOf(m.path[len(m.path)-1])
	if len(m.path) > 1 && name.has(wordSize) && wordsOf(m.path[len(m.path)-2]).has(wordPage) {
		name = append(name, wordLimit)
	}
	r := m.value
	text := strings.ToLower(strings.TrimSpace(r.Text))
	nothing := r.None() || tellsNothing(r) || r.Kind == textvalue.Text && (text == "null" || text == "none" || text == "0")
	n, whole := jsontext.ExactInteger(text)
	switch {
	case name.has(wordPrevious):
	case name.has(wordLink) && r.Kind == textvalue.Array:
		return linked(r), wordMore
	case !name.ofPages():
	case text == "true" || text == "false":
		return verdictOf((text == "true") != (name.has(wordDone) != name.has(wordNot))), wordDone
	case nothing && name.has(wordMore):
		return no, wordMore
	case nothing:
	case name.has(wordMore):
		return m.place(n, whole), wordMore
	case r.Kind == textvalue.Array:
		return linked(r), wordMore
	case !whole:
	case name.has(wordLimit) || name.has(wordPage) && (name.has(wordSize) || name.has(wordRow)):
		return verdictOf(n <= rows), wordLimit
	case name.has(wordPage):
		if n == 1 && !name.has(wordTotal) && !name.has(wordDone) && !strings.HasSuffix(strings.ToLower(m.path[len(m.path)-1]), "s") {
			return unknown, wordPage // the number of this page
		}
		return verdictOf(n > 1), wordPage
	case name.has(wordTotal):
		return verdictOf(n > rows), wordTotal
	case name.has(wordOffset):
		return verdictOf(n > 0), wordOffset
	}
	return unknown, wordOther
}

// place judges the value of a member that is named like the place of the next page.
func (m *noted) place(n int64, whole bool) verdict {
	switch {
	case whole:
		return verdictOf(n > 0)
	case m.value.Kind != textvalue.Object:
		return yes
	}
	said := no
	for _, below := range membersOf(nil, m.value.Text) {
		if wordsOf(below.path[0]).ofPages() {
			return unknown // its members speak for themselves
		}
		if !tellsNothing(below.value) {
			said = yes
		}
	}
	return said
}

// linked reports whether one of a list of links is named like the next page.
func linked(list textvalue.Raw) verdict {
	said := unknown
	_ = each(list.Text, func(s *textvalue.Reader) error {
		if s.Peek() != '{' {
			s.Value(1)
			return nil
		}
		named, place := false, false
		s.Members(func(string) {
			r := s.Value(1)
			isNext := (r.Kind == textvalue.Text || r.Kind == textvalue.Array) && len(r.Text) < 64 && wordsOf(r.Text).has(wordMore)
			named = named || isNext
			place = place || !isNext && r.Kind == textvalue.Text && r.Text != ""
		})
		if named && place {
			said = yes
		}
		return nil
	})
	return said
}

func verdictOf(b bool) verdict {
	if b {
		return yes
	}
	return no
}

// more returns the path of a member beside a list of so many rows that says that there are
// more, or "". With flags only booleans count, because something that is declared has said
// that these are all.
//
// A place is no contradiction beside a boolean that says that there is no more, nor is a page
// as large as its limit where another member says so.
func (t *table) more(beside []noted, rows int64, flags, few bool) string {
	decided := map[string]bool{} // objects, by path
	full, told := "", false
	var doubtful []noted
	for _, m := range t.flatten(beside) {
		if slices.ContainsFunc(t.declared, func(path []string) bool { return within(path, m.path) || within(m.path, path) }) {
			continue
		}
		said, by := m.says(rows)
		path := joinPath(m.path)
		switch {
		case said == no && by == wordDone:
			decided[joinPath(m.path[:len(m.path)-1])], told = true, true
		case said == no && (by == wordMore || by == wordPage || by == wordTotal):
			told = true
		case said != yes || flags && by != wordDone || few && by == wordTotal:
		case by == wordLimit:
			full = path
		case by == wordMore:
			doubtful = append(doubtful, m)
		default:
			return path
		}
	}
	for _, m := range doubtful {
		if !decided[joinPath(m.path[:len(m.path)-1])] {
			return joinPath(m.path)
		}
	}
	if told {
		return ""
	}
	return full
}

// moreInHeader returns the name of a header that says that there are more rows, or "".
// Limits in a header are those of requests.
func (t *table) moreInHeader(h http.Header, rows int64, few bool) string {
	for name := range h {
		words := wordsOf(name)
		if words.has(wordLimit) || words.has(wordSize) || words.has(wordLink) || strings.EqualFold(name, t.TotalHeader) ||
			strings.Contains(strings.ToLower(name), "rate") || t.ignores([]string{name}) {
			continue
		}
		m := noted{[]string{name}, textvalue.Raw{Text: h.Get(name), Kind: textvalue.Text}}
		if said, by := m.says(rows); said == yes && !(few && by == wordTotal) {
			return name
		}
	}
	return ""
}

// isPart reports whether the status or the header Content-Range of an answer says that there
// are more rows than those that it has.
func (a *answer) isPart(rows int) bool {
	_, total, _ := strings.Cut(a.header.Get("Content-Range"), "/")
	if n, err := strconv.Atoi(strings.TrimSpace(total)); err == nil {
		return n > rows
	}
	return a.status == http.StatusPartialContent
}

// refusal returns the path of a member that tells of a failure, which makes the rows of the
// answer incomplete, or "". rows is -1 if null is in their place.
func (t *table) refusal(beside []noted, rows int) string {
	for _, m := range beside {
		if !t.ignores(m.path) && !slices.ContainsFunc(t.declared, func(path []string) bool { return within(path, m.path) }) && m.fails(rows) {
			return joinPath(m.path)
		}
	}
	return ""
}

// fails reports whether a member tells of a failure. Where there are no rows, more counts as
// that.
func (m *noted) fails(rows int) bool {
	r := m.value
	name := plainCode(m.path[len(m.path)-1])
	switch name {
	case "error", "errors":
		return !tellsNothing(r) || rows < 0 && !r.None()
	case "success", "ok":
		return r.Kind == textvalue.Bool && r.Text == "false" || rows <= 0 && !r.None() && (tellsNothing(r) || strings.EqualFold(r.Text, "false"))
	case "partial", "incompleteresults", "timedout":
		return r.Kind == textvalue.Bool && r.Text == "true"
	case "status", "code", "statuscode", "httpstatus":
		n, whole := jsontext.ExactInteger(r.Text)
		return rows <= 0 && whole && n >= http.StatusBadRequest && n < 600
	}
	return rows <= 0 && !tellsNothing(r) && namesFailure(name)
}

// namesFailure reports whether a name without case and separators is that of a failure.
func namesFailure(name string) bool {
	return strings.HasPrefix(name, "err") || strings.HasPrefix(name, "fail") ||
		strings.HasPrefix(name, "fault") || strings.HasPrefix(name, "exception")
}
