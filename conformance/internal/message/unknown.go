package message

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire/schema"
)

// shape is the part of a JSON schema that says which members an object has.
type shape struct {
	Ref        string            `json:"$ref"`
	Defs       map[string]*shape `json:"$defs"`
	Properties map[string]*shape `json:"properties"`
	Items      *shape            `json:"items"`
	Others     *shape            `json:"additionalProperties"` // nil: any
	nothing    bool              // nothing has it
}

// UnmarshalJSON reads a schema, or the true or false that may stand for one.
func (s *shape) UnmarshalJSON(text []byte) error {
	if s.nothing = string(text) == "false"; s.nothing || string(text) == "true" {
		return nil
	}
	type schema shape // without this method
	return json.Unmarshal(text, (*schema)(s))
}

// shapes returns the shapes of all schemas, by name.
var shapes = sync.OnceValue(func() map[string]*shape {
	all := map[string]*shape{}
	for _, name := range schema.Names() {
		text, err := schema.Read(name)
		if err != nil {
			panic(err) // the schemas are embedded and tested
		}
		all[name] = &shape{}
		if err := json.Unmarshal(text, all[name]); err != nil {
			panic(err)
		}
	}
	return all
})

// resolve follows references. All of them lead into the definitions.
func (s *shape) resolve() *shape {
	for s != nil && s.Ref != "" {
		_, name, _ := strings.Cut(s.Ref, "#/$defs/")
		s = shapes()["definitions"].Defs[name]
	}
	return s
}

// prune removes the members that the schema does not define from a message, and returns the place of the first, or "".
func prune(name string, tree any) string {
	return strings.TrimPrefix(shapes()[name].prune(tree), ".")
}

func (s *shape) prune(v any) (first string) {
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
			case s.Others != nil && s.Others.nothing:
				delete(v, member)
				inner, name = " ", terms.QuoteName(member)
			default:
				inner = s.Others.prune(v[member])
			}
			if inner != "" && first == "" {
				first = strings.TrimRight("."+name+inner, " ")
			}
		}
	}
	return first
}

// Unknown returns the place of a member that the protocol does not define. It
// returns "" if all are defined or the message is not JSON.
func Unknown(name string, data []byte) string {
	tree, err := parse(data)
	if err != nil {
		return ""
	}
	return prune(name, tree)
}
