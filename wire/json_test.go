package wire_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// marshal is json.Marshal without the escapes for HTML.
func marshal(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(v))
	return strings.TrimSuffix(b.String(), "\n")
}

var credentialsMember = regexp.MustCompile(`"credentials":\{[^}]*\}`)

// A message is the same text by encoding/json as by EncodeRequest and
// EncodeAnswer, except for the credentials: as a value, as a pointer, and inside
// other values.
func TestMarshalJSON(t *testing.T) {
	seen := map[reflect.Type]bool{}
	for _, c := range encodedMessages {
		t.Run(c.why, func(t *testing.T) {
			want := credentialsMember.ReplaceAllString(c.want, `"credentials":"[redacted]"`)
			value := reflect.ValueOf(c.message).Elem()
			seen[value.Type()] = true
			assert.Equal(t, want, marshal(t, value.Interface()), "a value")
			assert.Equal(t, want, marshal(t, c.message), "a pointer")
			holder := struct {
				Message any
				private any
				List    []any
				Map     map[string]any
			}{c.message, c.message, []any{value.Interface()}, map[string]any{"m": c.message}}
			assert.Equal(t, `{"Message":`+want+`,"List":[`+want+`],"Map":{"m":`+want+`}}`, marshal(t, holder), "inside another value")
		})
	}
	for _, message := range messages {
		assert.True(t, seen[reflect.TypeOf(message.make()).Elem()], "%s is marshalled", message.folder)
	}

	job := struct {
		Name    string
		Request wire.CountRequest
	}{"nightly", wire.CountRequest{Table: "t", Envelope: wire.Envelope{Credentials: creds, TimeoutMS: 5}}}
	assert.Equal(t, `{"Name":"nightly","Request":{"table":"t","and":[],"credentials":"[redacted]","timeoutMs":5}}`, marshal(t, job))
}

// What encoding/json wrote cannot be sent by mistake: the credentials are
// refused when it is read.
func TestMarshalJSONCannotBeReplayed(t *testing.T) {
	text := marshal(t, wire.SizeRequest{Table: "t", Envelope: wire.Envelope{Credentials: creds, TimeoutMS: 5}})
	assert.EqualError(t, wire.Decode([]byte(text), new(wire.SizeRequest)), "credentials: must be an object")
}

// The parts of messages marshal alone as they do in their message.
func TestMarshalJSONParts(t *testing.T) {
	for _, c := range []struct {
		part any
		want string
	}{
		{wire.Filter{Field: "a", Op: wire.OpEq, Value: wire.Int(1)}, `{"field":"a","op":"eq","value":1}`},
		{wire.Filter{Field: "a", Op: wire.OpEq}, `{"field":"a","op":"eq","value":null}`},
		{wire.Filter{Field: "a", Op: wire.OpIn}, `{"field":"a","op":"in","values":[]}`},
		{wire.Filter{Field: "a", Op: wire.OpIsNull}, `{"field":"a","op":"isnull"}`},
		{wire.SortKey{Field: "a", Dir: wire.Asc}, `{"field":"a","dir":"asc"}`},
		{wire.JoinHop{FromTable: "t", ToTable: "u", FromField: "x", ToField: "y"},
			`{"fromTable":"t","toTable":"u","fromField":"x","toField":"y","fields":[]}`},
		{wire.JoinField{Field: "a", As: "b"}, `{"field":"a","as":"b"}`},
		{wire.GroupKey{Field: "a", As: "b"}, `{"field":"a","as":"b"}`},
		{wire.Measure{Fn: wire.AggCount, As: "n"}, `{"fn":"count","as":"n"}`},
		{wire.Capabilities{Sort: wire.SortNone},
			`{"operators":[],"dateBucket":false,"sort":"none","offset":false,"join":false,"keysEnforced":false,"limits":{}}`},
		{wire.Limits{Concurrency: 2}, `{"concurrency":2}`},
		{wire.CredentialField{Key: "k", Label: "K", Type: wire.CredentialText}, `{"key":"k","label":"K","type":"text","required":true}`},
		{wire.Table{Name: "t"}, `{"name":"t","sourceDescription":"","storesRows":false,"primaryKey":[],"foreignKeys":[],"fields":[]}`},
		{wire.ForeignKey{Field: "a", TargetTable: "t", TargetField: "b"}, `{"field":"a","targetTable":"t","targetField":"b"}`},
		{wire.Field{Name: "a", Type: wire.TypeString}, `{"name":"a","sourceColumn":"a","type":"string","nullable":false,` +
			`"unique":false,"samples":[],"sourceDescription":""}`},
		{wire.Stats{Min: ref(wire.Int(1))}, `{"distinctCount":0,"min":1}`},
		{wire.Size{Rows: 1}, `{"rows":1,"exact":false}`},
		{wire.Cardinality{NonNull: 2, Distinct: 1}, `{"nonNull":2,"distinct":1}`},
		{wire.Served{Sort: true}, `{"filters":false,"sort":true,"window":false}`},
		{wire.Error{Code: wire.CodeTimeout, Message: "late"}, `{"code":"timeout","message":"late"}`},
	} {
		assert.Equal(t, c.want, marshal(t, c.part), "a value")
		assert.Equal(t, c.want, marshal(t, &c.part), "a pointer")
		again := reflect.New(reflect.TypeOf(c.part))
		require.NoError(t, json.Unmarshal([]byte(c.want), again.Interface()), c.want)
		assert.Equal(t, c.want, marshal(t, again.Interface()))
	}
}

// json.Unmarshal reads as strictly as Decode, and credentials too.
func TestUnmarshalJSON(t *testing.T) {
	for _, message := range messages {
		for _, valid := range []bool{true, false} {
			for _, body := range bodies(t, message.folder, valid) {
				byDecode, byJSON := message.make(), message.make()
				want := wire.Decode(body, byDecode)
				got := json.Unmarshal(body, byJSON)
				if want == nil {
					require.NoError(t, got, "%s", body)
					before, err := encode(byDecode)
					require.NoError(t, err)
					after, err := encode(byJSON)
					require.NoError(t, err)
					require.Equal(t, string(before), string(after))
				} else {
					require.Error(t, got, "%s", body)
				}
			}
		}
	}
	var filter wire.Filter
	assert.EqualError(t, json.Unmarshal([]byte(`{"field":"a","op":"in","value":1}`), &filter),
		"body: the operator in takes values, and no value")
}

// An encoding error of a part is reported, not written.
func TestMarshalJSONFaults(t *testing.T) {
	_, err := json.Marshal(wire.CountRequest{Table: "bad \xff"})
	assert.ErrorContains(t, err, "table: text is not valid UTF-8")
	_, err = json.Marshal(wire.CheckAnswer{})
	assert.ErrorContains(t, err, "ok: must be true")
}
