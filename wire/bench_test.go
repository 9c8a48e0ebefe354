package wire_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

const countBody = `{"table":"orders","and":[{"field":"status","op":"eq","value":"paid"},` +
	`{"field":"amount","op":"gte","value":100.5},{"field":"region","op":"in","values":["EU","US",null]}],` +
	`"or":[[{"field":"note","op":"includes","value":"rush"}],[{"field":"qty","op":"gt","value":10}]],` +
	`"fieldTypes":{"amount":"decimal","qty":"number"},` +
	`"credentials":{"apiKey":"sk-live-0123456789","tenant":"acme"},"timeoutMs":30000}`

// BenchmarkDecodeCount reads the body of a /count strictly, and leniently with
// encoding/json into the plainest structs.
func BenchmarkDecodeCount(b *testing.B) {
	body := []byte(countBody)
	b.Run("wire", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var m wire.CountRequest
			if err := wire.Decode(body, &m); err != nil {
				b.Fatal(err)
			}
		}
	})
	type filter struct {
		Field, Op string
		Value     any
		Values    []any
	}
	type count struct {
		Table       string
		And         []filter
		Or          [][]filter
		FieldTypes  map[string]string
		Credentials map[string]string
		TimeoutMs   int64
	}
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var m count
			if err := json.Unmarshal(body, &m); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkValue spells one cell of each kind.
func BenchmarkValue(b *testing.B) {
	at := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
	for _, c := range []struct {
		name string
		make func() wire.Value
	}{
		{"int", func() wire.Value { return wire.Int(1234567) }},
		{"float", func() wire.Value { return wire.Float(12.75) }},
		{"decimal", func() wire.Value { return wire.Decimal("1234.50") }},
		{"text", func() wire.Value { return wire.Text("the quick brown fox jumps over it") }},
		{"mixed", func() wire.Value { return wire.Text("größe “fein” und \"billig\" – heute") }},
		{"date", func() wire.Value { return wire.Date(at) }},
		{"datetime", func() wire.Value { return wire.DatetimeWidth(at, 3) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			buffer := make([]byte, 0, 256)
			var err error
			for b.Loop() {
				if buffer, err = c.make().AppendJSON(buffer[:0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
