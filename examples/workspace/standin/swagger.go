package standin

import (
	_ "embed"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

//go:embed schemas.json
var schemas []byte

// description answers swagger.json.
func (c *call) description() (any, error) { return json.RawMessage(c.swagger), nil }

// members is a JSON object.
type members map[string]any

// describe returns the OpenAPI description of a table of endpoints. The schemas
// of what they take and answer are written by hand in schemas.json.
func describe(table []Endpoint) []byte {
	paths := map[string]members{}
	for _, e := range table {
		if paths[e.Path] == nil {
			paths[e.Path] = members{}
		}
		paths[e.Path][strings.ToLower(e.Method)] = e.operation()
	}
	return encoded(members{
		"openapi": "3.1.0",
		"info":    members{"title": "Workflow platform (stand-in)", "version": "v2"},
		"paths":   paths,
		"components": members{
			"schemas":         json.RawMessage(schemas),
			"securitySchemes": members{"bearer": members{"type": "http", "scheme": "bearer"}},
		},
	})
}

// operation describes one endpoint.
func (e *Endpoint) operation() members {
	responses := members{strconv.Itoa(e.Status): e.success()}
	for _, status := range e.Errors() {
		responses[strconv.Itoa(status)] = answers(http.StatusText(status), "application/json", reference("Error"))
	}
	operation := members{"summary": e.Purpose, "parameters": e.parameters(), "responses": responses}
	if e.access != open {
		operation["security"] = []members{{"bearer": []string{}}}
	}
	if e.body != "" {
		media := "application/json"
		if e.upload {
			media = "multipart/form-data"
		}
		operation["requestBody"] = members{"content": members{media: members{"schema": reference(e.body)}}}
	}
	return operation
}

// success describes the answer that is no error.
func (e *Endpoint) success() members {
	item := reference(e.answer.schema)
	switch e.answer.form {
	case object:
		return answers("Success", "application/json", objectOf(members{"data": item}))
	case page:
		return answers("Success", "application/json", objectOf(members{"data": arrayOf(item), "pagination": reference("Pagination")}))
	case rows:
		return answers("Success", "application/json", objectOf(members{"data": arrayOf(item)}))
	case bare:
		return answers("Success", "application/json", item)
	case events:
		return answers("Server-sent events", "text/event-stream", members{"type": "string"})
	case raw:
		return answers("Bytes", "*/*", members{})
	}
	return members{"description": "Success, without content"}
}

func answers(description, media string, schema members) members {
	return members{"description": description, "content": members{media: members{"schema": schema}}}
}

func reference(schema string) members { return members{"$ref": "#/components/schemas/" + schema} }

func arrayOf(item members) members { return members{"type": "array", "items": item} }

// objectOf describes an object with exactly these members.
func objectOf(properties members) members {
	return members{"type": "object", "properties": properties, "required": slices.Sorted(maps.Keys(properties)),
		"additionalProperties": false}
}

// parameters describes the parameters of the path, and what all lists take.
func (e *Endpoint) parameters() []members {
	list := []members{}
	for segment := range strings.SplitSeq(e.Path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			list = append(list, members{"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true,
				"schema": members{"type": "string"}})
		}
	}
	if e.answer.form == page || e.answer.form == rows {
		list = append(list,
			members{"name": "limit", "in": "query", "schema": members{"type": "integer", "minimum": 1, "maximum": 100, "default": 20}},
			members{"name": "offset", "in": "query", "schema": members{"type": "integer", "minimum": 0, "default": 0}},
			members{"name": "sort", "in": "query", "schema": members{"type": "string"}})
	}
	for _, name := range e.params {
		list = append(list, members{"name": name, "in": "query", "schema": members{"type": "string"}})
	}
	return list
}
