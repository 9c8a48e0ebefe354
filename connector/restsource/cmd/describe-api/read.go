package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v3"
)

// description is an OpenAPI description whose references are resolved.
type description struct {
	*openapi3.T
	// order has, for the names of each mapping of the document that is called
	// properties, paths or securitySchemes, these names as they stand in the document.
	order map[string][]string
}

// read reads a description. It follows no reference to another file or address.
func read(data []byte) (*description, error) {
	loader := openapi3.NewLoader()
	loader.IsExternalRefsAllowed = false
	doc, err := loader.LoadFromData(data)
	if err != nil {
		if strings.Contains(err.Error(), "external reference") {
			err = errors.New("it refers to other files; bundle it to one file first")
		}
		return nil, fmt.Errorf("cannot read the description: %w", err)
	}
	if !strings.HasPrefix(doc.OpenAPI, "3.0") && !strings.HasPrefix(doc.OpenAPI, "3.1") {
		return nil, fmt.Errorf("this is OpenAPI %q; descriptions of 3.0 and 3.1 are read, and Swagger 2.0 must be converted first", doc.OpenAPI)
	}
	d := &description{T: doc, order: map[string][]string{}}
	var root yaml.Node
	if yaml.Unmarshal(data, &root) == nil { // else names stand in alphabetical order
		d.note(&root, 0)
	}
	return d, nil
}

// note records the order of names in a node and below it. It does not follow aliases.
func (d *description) note(n *yaml.Node, depth int) {
	if depth > 200 {
		return
	}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && child.Kind == yaml.MappingNode {
			switch n.Content[i-1].Value {
			case "properties", "paths", "securitySchemes":
				names := make([]string, 0, len(child.Content)/2)
				for j := 0; j < len(child.Content); j += 2 {
					names = append(names, child.Content[j].Value)
				}
				if key := orderKey(names); d.order[key] == nil {
					d.order[key] = names
				}
			}
		}
		d.note(child, depth+1)
	}
}

// orderKey returns the same key for the same names in any order.
func orderKey(names []string) string {
	return strings.Join(slices.Sorted(slices.Values(names)), "\x00")
}

// ordered returns the keys of a mapping as they stand in the document.
func ordered[V any](d *description, m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	if order := d.order[orderKey(names)]; order != nil {
		return order
	}
	return names
}

// endpoint is a GET operation.
type endpoint struct {
	path       string
	op         *openapi3.Operation
	params     []*openapi3.Parameter
	ownServers bool
}

// endpoints returns the GET operations whose path match accepts, in the document's order.
func (d *description) endpoints(match func(path string) bool) (all []endpoint) {
	if d.Paths == nil {
		return nil
	}
	items := d.Paths.Map()
	for _, path := range ordered(d, items) {
		item := items[path]
		if item == nil || item.Get == nil || !match(path) {
			continue
		}
		e := endpoint{path: path, op: item.Get, ownServers: len(item.Servers) > 0}
		e.ownServers = e.ownServers || item.Get.Servers != nil && len(*item.Get.Servers) > 0
		for _, refs := range []openapi3.Parameters{item.Get.Parameters, item.Parameters} {
			for _, ref := range refs {
				if ref != nil && ref.Value != nil && e.param(ref.Value.In, ref.Value.Name) == nil {
					e.params = append(e.params, ref.Value)
				}
			}
		}
		all = append(all, e)
	}
	return all
}

// param returns a parameter, or nil.
func (e *endpoint) param(in, name string) *openapi3.Parameter {
	for _, p := range e.params {
		if p.In == in && p.Name == name {
			return p
		}
	}
	return nil
}

// answer returns the answer of success, and the media type and the schema of its JSON.
// The schema is nil if the answer has no JSON.
func (e *endpoint) answer() (*openapi3.Response, string, *openapi3.SchemaRef) {
	var best *openapi3.Response
	if e.op.Responses == nil {
		return nil, "", nil
	}
	for _, status := range []string{fmt.Sprint(http.StatusOK), "2XX", "2xx", "206", "203", "201", "default"} {
		if ref := e.op.Responses.Value(status); ref != nil && ref.Value != nil && best == nil {
			best = ref.Value
		}
	}
	if best == nil {
		return nil, "", nil
	}
	types := make([]string, 0, len(best.Content))
	for name := range best.Content {
		types = append(types, name)
	}
	rank := func(name string) int {
		name, _, _ = strings.Cut(name, ";")
		switch name = strings.ToLower(strings.TrimSpace(name)); {
		case name == "application/json":
			return 0
		case strings.HasSuffix(name, "+json"):
			return 1
		case name == "*/*" || name == "application/*":
			return 2
		}
		return 3
	}
	slices.SortFunc(types, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b)) })
	if len(types) == 0 {
		return best, "", nil
	}
	media := best.Content[types[0]]
	if rank(types[0]) == 3 || media == nil {
		return best, types[0], nil
	}
	return best, types[0], media.Schema
}
