package textvalue

import (
	"slices"

	"github.com/connectorsdk/connector-sdk-go/internal/jsontext"
)

// Reader reads JSON text strictly. It fails at an object that has a member twice,
// because which of the two is meant would be a guess, and at text that is nested
// deeper than MaxDepth.
type Reader struct {
	jsontext.Scanner
	MaxDepth int
	// Checked says that the text was read before, so that no duplicates are looked for.
	Checked bool
	// Duplicate is the name of the member at which the reader failed as a duplicate.
	Duplicate string

	names []string // of the members of the objects that are open
}

// Reset starts over with another text.
func (r *Reader) Reset(text string) {
	r.Scanner.Reset(text)
	r.Duplicate, r.names = "", r.names[:0]
}

// Value reads any value. depth is its own nesting, beginning with 1.
func (r *Reader) Value(depth int) Raw {
	switch r.Peek() {
	case '{':
		return r.Object(depth, func(string) { r.Value(depth + 1) })
	case '[':
		return r.List(depth, func(int) { r.Value(depth + 1) })
	case '"':
		return Raw{r.String(), Text}
	case 't':
		r.Literal("true")
		return Raw{"true", Bool}
	case 'f':
		r.Literal("false")
		return Raw{"false", Bool}
	case 'n':
		r.Literal("null")
		return Raw{Kind: Null}
	}
	return Raw{r.Number(), Number}
}

// Object reads an object, and calls member to read the value of each name.
func (r *Reader) Object(depth int, member func(name string)) Raw {
	return r.nested(depth, Object, func() {
		first := len(r.names)
		r.Members(func(name string) {
			r.names = append(r.names, name)
			member(name)
		})
		r.leave(first)
	})
}

// Members reads an object as Object does, for a caller that looks for duplicates by
// itself.
func (r *Reader) Members(member func(name string)) {
	r.Expect('{')
	if r.Skip('}') {
		return
	}
	for {
		name := r.String()
		if r.Expect(':'); r.Err() != nil {
			return
		}
		if member(name); !r.Skip(',') {
			r.Expect('}')
			return
		}
	}
}

// List reads a list, and calls element to read each value.
func (r *Reader) List(depth int, element func(i int)) Raw {
	return r.nested(depth, Array, func() {
		r.Expect('[')
		if r.Skip(']') {
			return
		}
		for i := 0; r.Err() == nil; i++ {
			if element(i); !r.Skip(',') {
				r.Expect(']')
				return
			}
		}
	})
}

// nested returns the text of an object or a list that read reads.
func (r *Reader) nested(depth int, kind Kind, read func()) Raw {
	r.Peek()
	text, start := r.Unread()
	if depth > r.MaxDepth {
		r.Fail("nested too deep")
	} else {
		read()
	}
	if r.Err() != nil {
		return Raw{}
	}
	return Raw{text[start:r.Offset()], kind}
}

// leave fails if an object, whose names begin at first, has one of them twice.
func (r *Reader) leave(first int) {
	const few = 16 // names are compared with each other, more are sorted
	names := r.names[first:]
	r.names = r.names[:first]
	if r.Checked {
		return
	}
	many := len(names) > few
	if many {
		slices.Sort(names)
	}
	for i, name := range names {
		others := names[:i]
		if many {
			others = names[max(0, i-1):i]
		}
		if slices.Contains(others, name) && r.Err() == nil {
			r.Duplicate = name
			r.Fail("duplicate member")
			return
		}
	}
}

// isJSON reports whether text is one strict JSON value.
func isJSON(text string, maxDepth int) bool {
	r := Reader{MaxDepth: maxDepth}
	r.Reset(text)
	r.Value(1)
	r.End()
	return r.Err() == nil
}
