package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/verdicts"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// encoding/json refuses every message, and every part of one that it would spell
// wrongly: as a value, as a pointer, embedded and inside other values.
func TestJSONIsRefused(t *testing.T) {
	refused := []any{wire.Envelope{}, wire.Filter{}, wire.SortKey{}, wire.JoinHop{}, wire.JoinField{}, wire.GroupKey{},
		wire.Measure{}, wire.Capabilities{}, wire.CredentialField{}, wire.Table{}, wire.Field{}}
	for _, message := range verdicts.Messages {
		refused = append(refused, reflect.ValueOf(message.Make()).Elem().Interface())
	}
	for _, c := range encodedMessages {
		refused = append(refused, reflect.ValueOf(c.message).Elem().Interface())
	}
	for _, value := range refused {
		pointer := reflect.New(reflect.TypeOf(value))
		pointer.Elem().Set(reflect.ValueOf(value))
		for _, v := range []any{value, pointer.Interface(), []any{value}, struct{ Inside any }{value}, map[string]any{"v": value}} {
			text, err := json.Marshal(v)
			require.ErrorContains(t, err, "use wire.EncodeRequest, wire.EncodeAnswer", "%T: %s", value, text)
		}
		err := json.Unmarshal([]byte(`{}`), pointer.Interface())
		require.ErrorContains(t, err, "wire.Decode", "%T", value)
		require.Equal(t, fmt.Sprintf("%+v", value), fmt.Sprintf("%+v", pointer.Elem().Interface()), "it stays as it was")
	}
	_, err := json.Marshal(struct {
		wire.CountRequest
		More string
	}{})
	require.Error(t, err, "a message that is embedded")
	_, err = json.Marshal(wire.Where{And: []wire.Filter{{}}})
	require.Error(t, err, "the filters of a request")

	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("asked", "request",
		&wire.CountRequest{Table: "orders", Envelope: wire.Envelope{Credentials: creds, TimeoutMS: 5}})
	assert.NotContains(t, log.String(), "orders")
}

// The other parts are what their struct tags say, both ways.
func TestJSONOfParts(t *testing.T) {
	for _, c := range []struct {
		part any
		want string
	}{
		{wire.Limits{Concurrency: 2}, `{"concurrency":2}`},
		{wire.ForeignKey{Field: "a", TargetTable: "t", TargetField: "b"}, `{"field":"a","targetTable":"t","targetField":"b"}`},
		{wire.Stats{Min: ref(wire.Int(1))}, `{"distinctCount":0,"min":1}`},
		{wire.Size{Rows: 1}, `{"rows":1,"exact":false}`},
		{wire.Cardinality{NonNull: 2, Distinct: 1}, `{"nonNull":2,"distinct":1}`},
		{wire.Served{Sort: true}, `{"filters":false,"sort":true,"window":false}`},
		{wire.Error{Code: wire.CodeTimeout, Message: "late"}, `{"code":"timeout","message":"late"}`},
	} {
		text := testkit.Must(json.Marshal(c.part))(t)
		assert.Equal(t, c.want, strings.TrimSpace(string(text)))
		again := reflect.New(reflect.TypeOf(c.part))
		require.NoError(t, json.Unmarshal(text, again.Interface()), c.want)
		assert.Equal(t, c.part, again.Elem().Interface())
	}
}
