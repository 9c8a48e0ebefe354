package schema_test

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/rules"
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
	encoded, err := verdicts.Encode(m)
	require.NoError(t, err)
	parsed, err := parse(encoded)
	require.NoError(t, err, "%s", encoded)
	require.NoError(t, s.Validate(parsed), "%s", encoded)
	require.NoError(t, wire.Decode(encoded, again))
	twice, err := verdicts.Encode(again)
	require.NoError(t, err)
	assert.Equal(t, string(encoded), string(twice))

	original, err := parse(v.Message())
	require.NoError(t, err)
	assert.Equal(t, plain(name, original), plain(name, parsed), "%s", encoded)
}

// plain spells a message without choice: defaults left out or filled in,
// strangers stripped, numbers as the wire spells them.
func plain(name string, v any) any {
	m := v.(map[string]any)
	if lax[name] {
		known := members(name)
		for k := range m {
			if !slices.Contains(known, k) {
				delete(m, k)
			}
		}
	}
	for _, k := range []string{"or", "joins", "stringFields", "warnings"} {
		if list, ok := m[k].([]any); ok && len(list) == 0 {
			delete(m, k)
		}
	}
	if types, ok := m["fieldTypes"].(map[string]any); ok && len(types) == 0 {
		delete(m, "fieldTypes")
	}
	if m["dialect"] == "" {
		delete(m, "dialect")
	}
	for _, key := range objects(m["sort"]) {
		if key["collate"] == false {
			delete(key, "collate")
		}
	}
	for _, hop := range objects(m["joins"]) {
		for _, f := range objects(hop["fields"]) {
			if _, given := f["as"]; !given {
				f["as"] = f["field"]
			}
		}
	}
	for _, f := range objects(m["credentialSchema"]) {
		if _, given := f["required"]; !given {
			f["required"] = true
		}
		for _, k := range []string{"placeholder", "help"} {
			if f[k] == "" {
				delete(f, k)
			}
		}
	}
	numbers(m)
	if m["offset"] == "0" {
		delete(m, "offset")
	}
	if c, ok := m["capabilities"].(map[string]any); ok {
		if l := c["limits"].(map[string]any); l["offsetMax"] == "0" {
			delete(l, "offsetMax")
		}
	}
	return m
}

// lax are the messages whose top level may have unknown members.
var lax = map[string]bool{
	"check-request": true, "discovery-request": true, "size-request": true,
	"cardinality-request": true, "link-hit-rate-request": true, "document": true,
}

// members are the names a schema knows at the top level.
func members(name string) (known []string) {
	text, err := schema.Read(name)
	if err != nil {
		panic(err)
	}
	var s struct{ Properties map[string]any }
	if err := json.Unmarshal(text, &s); err != nil {
		panic(err)
	}
	for k := range s.Properties {
		known = append(known, k)
	}
	return known
}

func objects(v any) (list []map[string]any) {
	items, _ := v.([]any)
	for _, item := range items {
		if o, ok := item.(map[string]any); ok {
			list = append(list, o)
		}
	}
	return list
}

// numbers replaces every number by its plain digits. A number that crosses as
// a string of digits thereby equals that string.
func numbers(v any) {
	spell := func(item any) any {
		n, ok := item.(json.Number)
		if !ok {
			numbers(item)
			return item
		}
		f, err := strconv.ParseFloat(string(n), 64)
		if err != nil || math.IsInf(f, 0) {
			panic("no double: " + string(n))
		}
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			v[k] = spell(item)
		}
	case []any:
		for i, item := range v {
			v[i] = spell(item)
		}
	}
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
	folders, err := os.ReadDir(folder)
	require.NoError(t, err)
	for _, f := range folders {
		if f.IsDir() {
			assert.Contains(t, schema.Names(), f.Name())
		}
	}
	assert.GreaterOrEqual(t, total, 250)
}
