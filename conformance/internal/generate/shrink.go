package generate

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/conformance/internal/check"
	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Complaint is what is wrong with the answer to a question.
type Complaint struct {
	*check.Finding
	// Kind tells complaints apart: two of one kind are wrong in the same way.
	Kind string
	// Lost is set when no answer came, so that asking again may take as long.
	Lost bool
	// Cause is the check whose rule is broken, where the answer shows it; empty: what is left
	// of the question tells it.
	Cause string
}

// holdsAnswer reports whether an answer came that is wrong. A refusal may be for want of time or
// room, and tells what it is.
func (c *Complaint) holdsAnswer() bool {
	return !c.Lost && c.Kind != "broken" && !strings.HasPrefix(c.Kind, "refused")
}

// maxShrinkRequests limits the requests that are made to make a question smaller.
const maxShrinkRequests = 200

// shrink reduces a question that is answered wrongly, as long as it is
// answered wrongly in the same way. Every step asks the connector, through judge.
// It returns the smallest question found and the complaint about it, which
// are those it was given if nothing smaller fails.
func shrink(ctx context.Context, q *Question, c *Complaint, judge func(*Question) *Complaint) (*Question, *Complaint) {
	asked := 0
	tried := map[string]bool{bodyOf(q): true}
	for again := true; again; {
		again = false
		for smaller := range q.simpler() {
			key := bodyOf(smaller)
			if tried[key] || !smaller.answerable() {
				continue
			}
			tried[key] = true
			if asked == maxShrinkRequests || ctx.Err() != nil {
				return q, c
			}
			asked++
			if still := judge(smaller); still != nil && still.Kind == c.Kind {
				if still.Lost {
					return q, c
				}
				q, c, again = smaller, still, true
				break
			}
		}
	}
	return q, c
}

// bodyOf returns the body of a question's request, which tells questions apart.
func bodyOf(q *Question) string {
	body, err := wire.EncodeRequest(q.message())
	if err != nil {
		panic(err) // made of values that have crossed the wire
	}
	return string(body)
}

// answerable reports whether the question still has one right answer.
func (q *Question) answerable() bool {
	if q.Path == wire.PathAggregate {
		return len(q.Groups)+len(q.Measures) > 0 && q.exact()
	}
	return q.Path != wire.PathQuery || len(q.Fields) > 0
}

// simpler yields questions with a little less in them. Those that leave out most
// come first.
func (q *Question) simpler() iter.Seq[*Question] {
	return func(yield func(*Question) bool) {
		more := true
		try := func(change func(*Question)) {
			if more {
				other := *q
				change(&other)
				more = yield(&other)
			}
		}
		q.simplerOr(try)
		for list := range fewer(q.And) {
			try(func(o *Question) { o.And = list })
		}
		q.simplerRows(try)
		q.simplerGroups(try)
		for i, f := range q.And {
			for smaller := range q.simplerFilter(f) {
				try(func(o *Question) { o.And = replaced(q.And, i, smaller) })
			}
		}
		for n, group := range q.Or {
			for i, f := range group {
				for smaller := range q.simplerFilter(f) {
					try(func(o *Question) { o.Or = replaced(q.Or, n, replaced(group, i, smaller)) })
				}
			}
		}
	}
}

// simplerOr tries fewer and smaller groups of or.
func (q *Question) simplerOr(try func(func(*Question))) {
	if q.Or != nil {
		try(func(o *Question) { o.Or = nil })
	}
	for _, group := range q.Or {
		if len(q.Or) > 1 {
			try(func(o *Question) { o.Or = [][]wire.Filter{group} })
		} else {
			try(func(o *Question) { o.Where = flat(q.Where) })
		}
	}
	if len(q.Or) > 1 {
		for list := range fewer(q.Or) {
			if len(list) > 0 {
				try(func(o *Question) { o.Or = list })
			}
		}
	}
	for n, group := range q.Or {
		for list := range fewer(group) {
			if len(list) > 0 {
				try(func(o *Question) { o.Or = replaced(q.Or, n, list) })
			}
		}
	}
}

// simplerRows tries smaller sorts, windows and lists of fields.
func (q *Question) simplerRows(try func(func(*Question))) {
	if len(q.FieldTypes) > 0 {
		try(func(o *Question) { o.FieldTypes = nil })
		for _, name := range slices.Sorted(maps.Keys(q.FieldTypes)) {
			try(func(o *Question) {
				o.FieldTypes = maps.Clone(q.FieldTypes)
				delete(o.FieldTypes, name)
			})
		}
	}
	for list := range fewer(q.Sort) {
		try(func(o *Question) { o.Sort = list })
	}
	for i, k := range q.Sort {
		if k.Collate {
			k.Collate = false
			try(func(o *Question) { o.Sort = replaced(q.Sort, i, k) })
		}
		if k.Dir == wire.Desc {
			k.Dir = wire.Asc
			try(func(o *Question) { o.Sort = replaced(q.Sort, i, k) })
		}
	}
	for _, n := range []int64{0, 1, q.Offset / 2, q.Offset - 1} {
		if n >= 0 && n < q.Offset {
			try(func(o *Question) { o.Offset = n })
		}
	}
	for _, n := range []int64{0, 1, q.Limit / 2, q.Limit - 1} {
		if n >= 0 && n < q.Limit {
			try(func(o *Question) { o.Limit = n })
		}
	}
	// The fields that show what is wrong stay, and the key, which says of which row.
	if q.Path != wire.PathQuery {
		return
	}
	told := q.needed(q.Table.PrimaryKey)
	others := slices.DeleteFunc(slices.Clone(q.Fields), func(name string) bool { return slices.Contains(told, name) })
	for list := range fewer(others) {
		if fields := slices.Concat(told, list); len(fields) < len(q.Fields) {
			try(func(o *Question) { o.Fields = fields })
		}
	}
	if told := q.needed(nil); len(others) == 0 && len(told) < len(q.Fields) {
		try(func(o *Question) { o.Fields = told })
	}
}

// simplerGroups tries fewer groups and measures.
func (q *Question) simplerGroups(try func(func(*Question))) {
	for list := range fewer(q.Measures) {
		try(func(o *Question) { o.Measures = list })
	}
	for list := range fewer(q.Groups) {
		try(func(o *Question) { o.Groups = list })
	}
	for list := range fewer(q.StringFields) {
		try(func(o *Question) { o.StringFields = list })
	}
	for i, g := range q.Groups {
		if g.Grain != "" && !q.column(g.Field).manySpellings {
			g.Grain = ""
			try(func(o *Question) { o.Groups = replaced(q.Groups, i, g) })
		}
	}
}

// simplerFilter yields filters with shorter lists, and with shorter operands on
// columns of text. Operands of other types stay, because a shorter one may mean
// something that the protocol does not settle.
func (q *Question) simplerFilter(f wire.Filter) iter.Seq[wire.Filter] {
	return func(yield func(wire.Filter) bool) {
		for list := range fewer(f.Values) {
			other := f
			other.Values = list
			if !yield(other) {
				return
			}
		}
		if !terms.IsText(q.column(f.Field).Type) {
			return
		}
		for _, text := range shorter(f.Value) {
			other := f
			other.Value = text
			if !yield(other) {
				return
			}
		}
		for i, v := range f.Values {
			for _, text := range shorter(v) {
				other := f
				other.Values = replaced(f.Values, i, text)
				if !yield(other) {
					return
				}
			}
		}
	}
}

// shorter returns the halves of a text, and the text without its first and
// without its last character, but not the empty text, which is a case of its own.
func shorter(v wire.Value) (list []wire.Value) {
	text := v.Text()
	n := utf8.RuneCountInString(text)
	if v.Kind() != wire.KindText || n < 2 {
		return nil
	}
	if n > 2 {
		runes := []rune(text)
		list = append(list, wire.Text(string(runes[:n/2])), wire.Text(string(runes[n/2:])))
	}
	_, first := utf8.DecodeRuneInString(text)
	_, last := utf8.DecodeLastRuneInString(text)
	return append(list, wire.Text(text[first:]), wire.Text(text[:len(text)-last]))
}

// fewer yields lists with less in them: none of its members, either half, all but
// one.
func fewer[T any](list []T) iter.Seq[[]T] {
	return func(yield func([]T) bool) {
		n := len(list)
		if n == 0 || !yield([]T{}) {
			return
		}
		if n > 2 && (!yield(list[:n/2:n/2]) || !yield(list[n/2:])) {
			return
		}
		for i := range list {
			if n > 1 && !yield(without(list, i)) {
				return
			}
		}
	}
}

// replaced returns the list with another member at an index.
func replaced[T any](list []T, at int, with T) []T {
	list = slices.Clone(list)
	list[at] = with
	return list
}
