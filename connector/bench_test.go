package connector_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/connector/connectortest"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// BenchmarkRow measures the author's side: rows to bytes, into a stream that is
// discarded. One operation is 1,000 rows of the reference table.
func BenchmarkRow(b *testing.B) {
	for name, body := range map[string]string{
		"plain":    `{"table":"items","and":[],"sort":[],"fields":` + allTwelve + `,` + tail,
		"filtered": filteredQuery,
	} {
		b.Run(name, func(b *testing.B) {
			sample := reference(1000)
			src := core{query: func(_ context.Context, _ *connector.Query, out *connector.Rows) error {
				w := out.Begin(twelve)
				b.ReportAllocs()
				for b.Loop() {
					for _, row := range sample {
						if err := w.Row(row...); err != nil {
							return err
						}
					}
				}
				return nil
			}}
			b.SetBytes(int64(unwired(b, src, "/query", body).bytes / max(b.N, 1)))
		})
	}
	b.Run("maps and encoding/json", func(b *testing.B) {
		sample := reference(1000)
		b.ReportAllocs()
		size := 0
		for b.Loop() {
			var line bytes.Buffer
			rows := make([]map[string]any, len(sample))
			for i, row := range sample {
				rows[i] = make(map[string]any, len(twelve))
				for j, c := range twelve {
					switch v := row[j]; v.Kind() {
					case wire.KindNull:
						rows[i][c.Name] = nil
					case wire.KindInt:
						rows[i][c.Name] = v.Int64()
					case wire.KindFloat:
						rows[i][c.Name] = v.Float64()
					case wire.KindBool:
						rows[i][c.Name] = v.IsTrue()
					default:
						rows[i][c.Name] = v.String()
					}
				}
			}
			_ = json.NewEncoder(&line).Encode(map[string]any{"rows": rows})
			size = line.Len()
		}
		b.SetBytes(int64(size))
	})
}

// BenchmarkTopN measures the first 100 rows of a sort that the source does not
// serve. One operation is 1,000 rows, of which few get into the heap.
func BenchmarkTopN(b *testing.B) {
	sample := reference(1000)
	src := core{query: func(_ context.Context, _ *connector.Query, out *connector.Rows) error {
		w := out.Begin(twelve)
		b.ReportAllocs()
		for b.Loop() {
			for _, row := range sample {
				if err := w.Row(row...); err != nil {
					return err
				}
			}
		}
		return nil
	}}
	unwired(b, src, "/query", `{"table":"items","and":[],"sort":[{"field":"amount","dir":"desc"},{"field":"price",`+
		`"dir":"asc"}],"limit":100,"fields":`+allTwelve+`,`+tail)
}

const countBody = `{"table":"items","and":[{"field":"status","op":"eq","value":"paid"},{"field":"amount",` +
	`"op":"gte","value":100.5},{"field":"region","op":"in","values":["EU","US",null]}],` +
	`"or":[[{"field":"note","op":"includes","value":"rush"}],[{"field":"qty","op":"gt","value":10}]],` +
	`"fieldTypes":{"amount":"decimal","qty":"number"},` + tail

// BenchmarkCountOverhead measures what a request costs beside the source's own
// work, against a bare handler that decodes with encoding/json.
func BenchmarkCountOverhead(b *testing.B) {
	run := func(b *testing.B, h http.Handler) {
		b.ReportAllocs()
		for b.Loop() {
			r, err := http.NewRequest("POST", "/count", strings.NewReader(countBody))
			if err != nil {
				b.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+connectortest.Token)
			w := &discard{}
			h.ServeHTTP(w, r)
			if w.status != 200 {
				b.Fatal(w.status)
			}
		}
	}
	b.Run("connector", func(b *testing.B) {
		h, err := connector.New(shop, endpoints{}, newToken(b), nil)
		require.NoError(b, err)
		run(b, h)
	})
	b.Run("bare", func(b *testing.B) {
		type filter struct {
			Field, Op string
			Value     any
			Values    []any
		}
		run(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var req struct {
				Table       string
				And         []filter
				Or          [][]filter
				FieldTypes  map[string]string
				Credentials map[string]string
				TimeoutMs   int64
			}
			if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
				w.WriteHeader(400)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(200)
			_ = json.NewEncoder(w).Encode(map[string]int64{"count": 3})
		}))
	})
}
