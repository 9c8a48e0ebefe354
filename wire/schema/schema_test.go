package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire/schema"
)

// compile makes every schema ready. Nothing may be fetched: a reference that
// leaves the folder fails the test.
func compile(t testing.TB) map[string]*jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	compiler.Draft = jsonschema.Draft2020
	compiler.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("a schema refers to %s, which is not in the folder", url)
	}
	for _, name := range schema.Names() {
		text := testkit.Must(schema.Read(name))(t)
		require.NoError(t, compiler.AddResource(schema.ID(name), bytes.NewReader(text)))
	}
	compiled := make(map[string]*jsonschema.Schema)
	for _, name := range schema.Names() {
		compiled[name] = testkit.Must(compiler.Compile(schema.ID(name)))(t, name)
	}
	return compiled
}

func TestEverySchemaCompiles(t *testing.T) {
	compiled := compile(t)
	// 9 requests, 7 answers, document, error, 5 lines, any line, definitions.
	assert.Len(t, compiled, 25)
}

// Every schema says which it is, and every property and definition says what
// it is for: the schemas are the protocol's reference in other languages.
func TestEveryPropertyIsDescribed(t *testing.T) {
	properties := 0
	for _, name := range schema.Names() {
		text := testkit.Must(schema.Read(name))(t)
		var root map[string]any
		require.NoError(t, json.Unmarshal(text, &root), name)
		assert.Equal(t, "https://json-schema.org/draft/2020-12/schema", root["$schema"], name)
		assert.Equal(t, schema.ID(name), root["$id"], name)
		assert.NotEmpty(t, root["title"], name)
		assert.NotEmpty(t, root["description"], name)
		properties += described(t, name, root)
	}
	assert.Greater(t, properties, 100, "the walk must have found the properties")
}

// described walks a schema and counts the properties and definitions in it. A
// property that is false is forbidden, and needs no words.
func described(t *testing.T, path string, v any) (n int) {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			n += described(t, fmt.Sprintf("%s[%d]", path, i), item)
		}
	case map[string]any:
		for key, below := range v {
			if key != "properties" && key != "$defs" {
				n += described(t, path+"."+key, below)
				continue
			}
			for name, property := range below.(map[string]any) {
				at := path + "." + key + "." + name
				if property == false {
					continue
				}
				object, ok := property.(map[string]any)
				if assert.True(t, ok, at) {
					text, _ := object["description"].(string)
					assert.True(t, strings.HasSuffix(text, "."), "%s needs a description: a sentence", at)
					n += 1 + described(t, at, object)
				}
			}
		}
	}
	return n
}

func TestReadUnknown(t *testing.T) {
	_, err := schema.Read("queryrequest")
	require.Error(t, err)
	assert.Contains(t, err.Error(), `there is no schema "queryrequest"; the schemas are aggregate-answer, `)
}
