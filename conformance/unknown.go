package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/wire"
	"github.com/connectorsdk/connector-sdk-go/wire/schema"
)

// shapeOf is the part of a JSON schema that says which members an object has.
type shapeOf struct {
	Ref        string              `json:"$ref"`
	Defs       map[string]*shapeOf `json:"$defs"`
	Properties map[string]*shapeOf `json:"properties"`
	Items      *shapeOf            `json:"items"`
	Additional json.RawMessage     `json:"additionalProperties"`

	others *shapeOf // what members beyond the properties look like; nil: none or any
	closed bool     // there are none
}

// shapes are those of all schemas, by name.
var shapes = sync.OnceValue(func() map[string]*shapeOf {
	all := map[string]*shapeOf{}
	for _, name := range schema.Names() {
		text, err := schema.Read(name)
		if err != nil {
			panic(err) // the schemas are embedded and tested
		}
		s := &shapeOf{}
		if err := json.Unmarshal(text, s); err != nil {
			panic(err)
		}
		s.complete()
		all[name] = s
	}
	return all
})

func (s *shapeOf) complete() {
	switch {
	case string(s.Additional) == "false":
		s.closed = true
	case len(s.Additional) > 0 && s.Additional[0] == '{':
		s.others = &shapeOf{}
		if err := json.Unmarshal(s.Additional, s.others); err != nil {
			panic(err)
		}
		s.others.complete()
	}
	for _, part := range s.Properties {
		part.complete()
	}
	for _, part := range s.Defs {
		part.complete()
	}
	if s.Items != nil {
		s.Items.complete()
	}
}

// resolve follows references, all of which lead into the definitions.
func (s *shapeOf) resolve() *shapeOf {
	for s != nil && s.Ref != "" {
		_, name, _ := strings.Cut(s.Ref, "#/$defs/")
		s = shapes()["definitions"].Defs[name]
	}
	return s
}

// prune takes the members that the schema does not name out of a message, and
// tells the place of the first; "" when there is none.
func prune(name string, tree any) string {
	return strings.TrimPrefix(shapes()[name].prune(tree), ".")
}

func (s *shapeOf) prune(v any) (first string) {
	if s = s.resolve(); s == nil {
		return ""
	}
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			if inner := s.Items.prune(item); inner != "" && first == "" {
				first = fmt.Sprintf("[%d]%s", i, inner)
			}
		}
	case map[string]any:
		for _, member := range slices.Sorted(maps.Keys(v)) {
			part, known := s.Properties[member]
			inner, name := "", member
			switch {
			case known:
				inner = part.prune(v[member])
			case s.closed:
				delete(v, member)
				inner, name = " ", wire.QuoteName(member)
			default:
				inner = s.others.prune(v[member])
			}
			if inner != "" && first == "" {
				first = strings.TrimRight("."+name+inner, " ")
			}
		}
	}
	return first
}

// unknownMember is the place of a member that the protocol does not name; ""
// when there is none, or when the message is no JSON.
func unknownMember(name string, data []byte) string {
	tree, err := parse(data)
	if err != nil {
		return ""
	}
	return prune(name, tree)
}
