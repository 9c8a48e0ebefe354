// Package payload writes the bodies of requests as text, so that a check can make a legal one illegal in exactly one place.
package payload

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Object is a JSON object as text, member by member, so that a legal body can be made illegal in exactly one place.
type Object []member

// member is one member of a [Object].
type member struct{ Name, JSON string }

// New returns an object with members, of which it takes the names and the values by turns.
func New(namesAndValues ...string) (o Object) {
	for i := 0; i < len(namesAndValues); i += 2 {
		o = append(o, member{namesAndValues[i], namesAndValues[i+1]})
	}
	return o
}

// With returns the object with a member added, or replaced if it has one of that name.
func (o Object) With(name, json string) Object {
	out := slices.Clone(o)
	if i := slices.IndexFunc(out, func(m member) bool { return m.Name == name }); i >= 0 {
		out[i].JSON = json
		return out
	}
	return append(out, member{name, json})
}

// Plus returns the object with a member added, even if it has one of that name.
func (o Object) Plus(name, json string) Object { return append(slices.Clone(o), member{name, json}) }

// Without returns the object without a member.
func (o Object) Without(name string) Object {
	return slices.DeleteFunc(slices.Clone(o), func(m member) bool { return m.Name == name })
}

// Has reports whether the object has a member.
func (o Object) Has(name string) bool {
	return slices.ContainsFunc(o, func(m member) bool { return m.Name == name })
}

// Text returns the object as JSON.
func (o Object) Text() []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(Quote(m.Name))
		b.WriteByte(':')
		b.WriteString(m.JSON)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// Quote returns a JSON string.
func Quote(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // no string fails
	}
	return string(text)
}

// What no source has: a table, a field and a secret.
const (
	UnusedTable     = "conformance_no_such_table"
	UnusedField     = "conformance_no_such_field"
	WrongCredential = "conformance-wrong-credential"
)

// Topic is the table and the field that a request names whose form matters rather
// than its data. When there is no table, they do not exist.
type Topic struct {
	Table *wire.Table // nil: none was discovered
	Name  string
	Field string
}
