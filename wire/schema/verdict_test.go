package schema_test

import (
	"bytes"
	"encoding/json"
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
	twice := testkit.Must(verdicts.Encode(again))(t)
	assert.Equal(t, string(encoded), string(twice))

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
	folders := testkit.Must(os.ReadDir(folder))(t)
	for _, f := range folders {
		if f.IsDir() {
			assert.Contains(t, schema.Names(), f.Name())
		}
	}
	assert.GreaterOrEqual(t, total, 250)
}
