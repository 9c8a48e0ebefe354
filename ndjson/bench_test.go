package ndjson_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/testkit/reference"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The benchmarks S1 and S11 of examples/bench have encoding/json beside these.

// BenchmarkBatch measures rows encoded into batches of 5,000. One operation is one row.
func BenchmarkBatch(b *testing.B) {
	cells := reference.Rows(wire.MaxBatchRows)
	batch := layoutOf(b, reference.Names()...).NewBatch()
	for _, c := range cells {
		require.NoError(b, batch.Append(c))
	}
	b.SetBytes(int64(batch.Size() / batch.Len()))
	batch.Reset()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%len(cells) == 0 {
			batch.Reset()
		}
		if err := batch.Append(cells[i%len(cells)]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReader reads the stream of the reference table strictly. One operation is the
// whole stream.
func BenchmarkReader(b *testing.B) {
	const rows = 4 * wire.MaxBatchRows
	var out bytes.Buffer
	w := ndjson.NewWriter(&out)
	require.NoError(b, w.Begin(wire.Served{Filters: true, Sort: true, Window: true}, reference.Names()...))
	for _, row := range reference.Rows(rows) {
		require.NoError(b, w.Row(row...))
	}
	require.NoError(b, w.End())
	stream := out.Bytes()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for row, err := range ndjson.NewReader(bytes.NewReader(stream)).Rows() {
			if err != nil || len(row.Values()) != len(reference.Columns) {
				b.Fatal("a row was misread", err)
			}
			n++
		}
	}
	if n != b.N*rows {
		b.Fatalf("%d rows were read, not %d", n, b.N*rows)
	}
	b.SetBytes(int64(len(stream)))
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/row")
}
