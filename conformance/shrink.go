package conformance

import (
	"context"
	"iter"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// maxShrink bounds the requests that are made to make one smaller.
const maxShrink = 200

// shrinker makes a failing question smaller, as long as it fails in the same
// way. Every step is verified against the connector.
type shrinker struct {
	ctx    context.Context
	judged func(*question) *complaint
	asked  int
}

// shrink is the smallest question found, and the complaint about it: those it
// was given when nothing smaller fails.
func (s *shrinker) shrink(q *question, c *complaint) (*question, *complaint) {
	tried := map[string]bool{bodyOf(q): true}
	for again := true; again; {
		again = false
		for smaller := range q.simpler() {
			key := bodyOf(smaller)
			if tried[key] || !smaller.legal() {
				continue
			}
			tried[key] = true
			if s.asked == maxShrink || s.ctx.Err() != nil {
				return q, c
			}
			s.asked++
			if still := s.judged(smaller); still != nil && still.kind == c.kind {
				if still.lost {
					return q, c
				}
				q, c, again = smaller, still, true
				break
			}
		}
	}
	return q, c
}

// bodyOf tells questions apart.
func bodyOf(q *question) string {
	body, err := wire.EncodeRequest(q.message())
	if err != nil {
		panic(err) // made of values that have crossed the wire
	}
	return string(body)
}

// legal reports whether the question still has one right answer.
func (q *question) legal() bool {
	if q.path == wire.PathAggregate {
		return len(q.groups)+len(q.measures) > 0 && q.exact()
	}
	return q.path != wire.PathQuery || len(q.fields) > 0
}

// simpler are questions with a little less in them, those that leave out most
// first.
func (q *question) simpler() iter.Seq[*question] {
	return func(yield func(*question) bool) {
		more := true
		try := func(change func(*question)) {
			if more {
				other := *q
				change(&other)
				more = yield(&other)
			}
		}
		q.simplerOr(try)
		for list := range fewer(q.and) {
			try(func(o *question) { o.and = list })
		}
		q.simplerRows(try)
		q.simplerGroups(try)
		for i, f := range q.and {
			for smaller := range q.simplerFilter(f) {
				try(func(o *question) { o.and = replaced(q.and, i, smaller) })
			}
		}
		for n, group := range q.or {
			for i, f := range group {
				for smaller := range q.simplerFilter(f) {
					try(func(o *question) { o.or = replaced(q.or, n, replaced(group, i, smaller)) })
				}
			}
		}
	}
}

func (q *question) simplerOr(try func(func(*question))) {
	if q.or != nil {
		try(func(o *question) { o.or = nil })
	}
	for _, group := range q.or {
		if len(q.or) > 1 {
			try(func(o *question) { o.or = [][]wire.Filter{group} })
		} else {
			try(func(o *question) { o.and, o.or = slices.Concat(q.and, group), nil })
		}
	}
	if len(q.or) > 1 {
		for list := range fewer(q.or) {
			if len(list) > 0 {
				try(func(o *question) { o.or = list })
			}
		}
	}
	for n, group := range q.or {
		for list := range fewer(group) {
			if len(list) > 0 {
				try(func(o *question) { o.or = replaced(q.or, n, list) })
			}
		}
	}
}

// simplerRows leaves out sorts, windows and fields.
func (q *question) simplerRows(try func(func(*question))) {
	if len(q.types) > 0 {
		try(func(o *question) { o.types = nil })
		for _, name := range slices.Sorted(maps.Keys(q.types)) {
			try(func(o *question) {
				o.types = maps.Clone(q.types)
				delete(o.types, name)
			})
		}
	}
	for list := range fewer(q.sort) {
		try(func(o *question) { o.sort = list })
	}
	for i, k := range q.sort {
		if k.Collate {
			k.Collate = false
			try(func(o *question) { o.sort = replaced(q.sort, i, k) })
		}
		if k.Dir == wire.Desc {
			k.Dir = wire.Asc
			try(func(o *question) { o.sort = replaced(q.sort, i, k) })
		}
	}
	for _, n := range []int64{0, 1, q.offset / 2, q.offset - 1} {
		if n >= 0 && n < q.offset {
			try(func(o *question) { o.offset = n })
		}
	}
	for _, n := range []int64{0, 1, q.limit / 2, q.limit - 1} {
		if n >= 0 && n < q.limit {
			try(func(o *question) { o.limit = n })
		}
	}
	// The fields that tell what is wrong stay.
	if told := q.needed(q.table.PrimaryKey); q.path == wire.PathQuery && len(told) < len(q.fields) {
		try(func(o *question) { o.fields = told })
	} else if told := q.needed(nil); len(told) < len(q.fields) {
		try(func(o *question) { o.fields = told })
	}
}

// simplerGroups leaves out groups and measures.
func (q *question) simplerGroups(try func(func(*question))) {
	for list := range fewer(q.measures) {
		try(func(o *question) { o.measures = list })
	}
	for list := range fewer(q.groups) {
		try(func(o *question) { o.groups = list })
	}
	for list := range fewer(q.strings) {
		try(func(o *question) { o.strings = list })
	}
	for i, g := range q.groups {
		if g.Grain != "" && !q.column(g.Field).twins {
			g.Grain = ""
			try(func(o *question) { o.groups = replaced(q.groups, i, g) })
		}
	}
}

// simplerFilter shortens lists, and the operands of columns of text; operands
// of other types are left as they are, since a shorter one may mean something
// that the protocol does not settle.
func (q *question) simplerFilter(f wire.Filter) iter.Seq[wire.Filter] {
	return func(yield func(wire.Filter) bool) {
		for list := range fewer(f.Values) {
			other := f
			other.Values = list
			if !yield(other) {
				return
			}
		}
		if t := q.column(f.Field).Type; t != wire.TypeString && t != wire.TypeReference {
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

// shorter are the halves of a text, and the text without its first and without
// its last character.
func shorter(v wire.Value) (list []wire.Value) {
	if v.Kind() != wire.KindText || v.Text() == "" {
		return nil
	}
	text := v.Text()
	if n := utf8.RuneCountInString(text); n > 2 {
		runes := []rune(text)
		list = append(list, wire.Text(string(runes[:n/2])), wire.Text(string(runes[n/2:])))
	}
	_, first := utf8.DecodeRuneInString(text)
	_, last := utf8.DecodeLastRuneInString(text)
	return append(list, wire.Text(text[first:]), wire.Text(text[:len(text)-last]))
}

// fewer are lists with less in them: nothing, either half, all but one.
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
			if n > 1 && !yield(slices.Concat(list[:i], list[i+1:])) {
				return
			}
		}
	}
}

func replaced[T any](list []T, at int, with T) []T {
	list = slices.Clone(list)
	list[at] = with
	return list
}
