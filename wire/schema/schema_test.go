package schema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/rules"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/verdicts"
	"github.com/connectorsdk/connector-sdk-go/wire"
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
				if object, ok := property.(map[string]any); assert.True(t, ok, at) {
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

const folder = "../testdata/verdicts"

// eachVerdict runs one subtest per case of one schema.
func eachVerdict(t *testing.T, name string, run func(t *testing.T, v verdicts.Verdict)) {
	for _, v := range verdicts.Read(t, filepath.Join(folder, name)) {
		t.Run(v.Why, func(t *testing.T) { run(t, v) })
	}
}

// parse is what a JSON library makes of a message: what schemas are held
// against. Numbers stay as they are written.
func parse(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, os.ErrInvalid
	}
	return v, nil
}

// holds compares a schema's verdict with a case.
func holds(t *testing.T, s *jsonschema.Schema, v verdicts.Verdict) {
	t.Helper()
	parsed, err := parse(v.Message())
	switch {
	case v.DecoderOnly:
		if err == nil {
			assert.NoError(t, s.Validate(parsed), "the schema sees the fault: the case is not decoderOnly")
		}
	case v.Valid:
		require.NoError(t, err)
		assert.NoError(t, s.Validate(parsed))
	default:
		require.NoError(t, err)
		assert.Error(t, s.Validate(parsed), "the schema accepts it")
	}
}

// Schema and decoder agree on every case, and what is accepted survives the
// way through its Go type.
func TestVerdicts(t *testing.T) {
	compiled := compile(t)
	for _, m := range verdicts.Messages {
		name, message := m.Folder, m.Make
		t.Run(name, func(t *testing.T) {
			eachVerdict(t, name, func(t *testing.T, v verdicts.Verdict) {
				holds(t, compiled[name], v)
				m := message()
				err := wire.Decode(v.Message(), m)
				if v.Valid {
					require.NoError(t, err)
					survives(t, compiled[name], name, v, m, message())
					return
				}
				var fault *wire.MessageError
				require.ErrorAs(t, err, &fault, "the decoder accepts it")
				assert.Equal(t, v.Path, fault.Path, fault.Problem)
				assert.Equal(t, message(), m, "a refused body must leave the message as it was")
			})
		})
	}
}

func TestLineVerdicts(t *testing.T) {
	compiled := compile(t)
	for _, kind := range []string{"line-served", "line-rows", "line-ping", "line-end", "line-error", "line"} {
		t.Run(kind, func(t *testing.T) {
			eachVerdict(t, kind, func(t *testing.T, v verdicts.Verdict) {
				holds(t, compiled[kind], v)
				holds(t, compiled["line"], v) // the dispatcher judges as the kind's own schema does
			})
		})
	}
}

// survives decodes again what was encoded.
func survives(t *testing.T, s *jsonschema.Schema, name string, v verdicts.Verdict, m, again wire.Message) {
	t.Helper()
	encoded := testkit.Must(verdicts.Encode(m))(t)
	parsed := testkit.Must(parse(encoded))(t, "%s", encoded)
	require.NoError(t, s.Validate(parsed), "%s", encoded)
	require.NoError(t, wire.Decode(encoded, again))
	assert.Equal(t, string(encoded), string(testkit.Must(verdicts.Encode(again))(t)))

	original := testkit.Must(parse(v.Message()))(t)
	if lax[name] {
		maps.DeleteFunc(original.(map[string]any), func(member string, _ any) bool { return s.Properties[member] == nil })
	}
	assert.Equal(t, plain(original), plain(parsed), "%s", encoded)
}

// optional are members whose value says the same as their absence.
var optional = map[string]any{
	"or": []any{}, "joins": []any{}, "stringFields": []any{}, "warnings": []any{}, "fieldTypes": map[string]any{},
	"dialect": "", "placeholder": "", "help": "", "required": true, "collate": false, "offset": "0", "offsetMax": "0",
}

// plain spells a message without choice: no optional members, and numbers in their plain digits, so that one which
// crosses as a string of digits equals that string.
func plain(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, err := v.Float64()
		if err != nil {
			panic("no double: " + v)
		}
		return strconv.FormatFloat(f, 'f', -1, 64)
	case []any:
		for i, item := range v {
			v[i] = plain(item)
		}
	case map[string]any:
		for name, member := range v {
			v[name] = plain(member)
			if absent, ok := optional[name]; ok && reflect.DeepEqual(v[name], absent) || name == "as" && member == v["field"] {
				delete(v, name)
			}
		}
	}
	return v
}

// lax are the messages whose top level may have unknown members.
var lax = map[string]bool{
	"check-request": true, "discovery-request": true, "size-request": true,
	"cardinality-request": true, "link-hit-rate-request": true, "document": true,
}

// The folder itself is worth its name: every case has its reason and the rule
// behind it, none is there twice, and no message goes without cases of both
// verdicts.
func TestVerdictFolder(t *testing.T) {
	cites := regexp.MustCompile(`\([a-z]+-\d+[a-z]?(?:(?:, | to | and )[a-z]+-\d+[a-z]?)*\)\.$`)
	total := 0
	for _, name := range schema.Names() {
		if name == "definitions" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			told := map[string]bool{}
			count := map[bool]int{}
			eachVerdict(t, name, func(t *testing.T, v verdicts.Verdict) {
				require.Regexp(t, cites, v.Why, "cite the rule")
				for _, id := range regexp.MustCompile(`[a-z]+-\d+[a-z]?`).FindAllString(cites.FindString(v.Why), -1) {
					_, ok := rules.Lookup(id)
					assert.True(t, ok, "docs/protocol.md has no rule %q", id)
				}
				assert.False(t, told[v.Why+string(v.Message())], "there twice")
				told[v.Why+string(v.Message())] = true
				given := 0
				for _, is := range []bool{v.Body != nil, v.Text != nil, v.Base64 != nil} {
					if is {
						given++
					}
				}
				assert.Equal(t, 1, given, "give exactly one of body, text and base64")
				if strings.HasPrefix(name, "line") || v.Valid {
					assert.Empty(t, v.Path)
				} else {
					assert.NotEmpty(t, v.Path)
				}
				count[v.Valid]++
				total++
			})
			assert.Positive(t, count[true])
			assert.Positive(t, count[false])
		})
	}
	for _, f := range testkit.Must(os.ReadDir(folder))(t) {
		if f.IsDir() {
			assert.Contains(t, schema.Names(), f.Name())
		}
	}
	assert.GreaterOrEqual(t, total, 250)
}
