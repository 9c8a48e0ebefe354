package rowmap_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/rowmap"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// BenchmarkOffer offers ten thousand documents.
func BenchmarkOffer(b *testing.B) {
	const secret = "a-token-of-at-least-32-characters"
	columns := []wire.Column{{Name: "id", Type: wire.TypeNumber}, {Name: "total", Type: wire.TypeDecimal},
		{Name: "placed", Type: wire.TypeDatetime}, {Name: "status", Type: wire.TypeString}, {Name: "tags", Type: wire.TypeJSON}}
	document := map[string]any{"id": json.Number("4711"), "total": json.Number("12.50"), "placed": "2024-05-01T10:00:00+02:00",
		"status": "open", "tags": []any{"a", "b"}}
	source := testkit.Source{OnQuery: func(_ context.Context, _ *connector.Query, out *connector.Rows) error {
		w := out.Begin(columns)
		for range 10_000 {
			if err := rowmap.Offer(w, document); err != nil {
				return err
			}
		}
		return nil
	}}
	handler := testkit.New(secret, connector.Definition{Slug: "documents"}, source, nil)
	const body = `{"table":"t","fields":["id","total","placed","status","tags"],"and":[],"sort":[],"credentials":{},"timeoutMs":60000}`
	for b.Loop() {
		w := testkit.Post(handler, secret, wire.PathQuery, body)
		require.Contains(b, w.Body.String()[w.Body.Len()-20:], `{"end":1}`)
	}
}
