package ndjson_test

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/lines"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// BenchmarkBatch measures rows encoded into batches of 5,000, against
// encoding/json on the same rows as maps. One operation is one row.
func BenchmarkBatch(b *testing.B) {
	rows := referenceRows(wire.MaxBatchRows)
	cells := make([][]wire.Value, len(rows))
	objects := make([]map[string]any, len(rows))
	for i := range rows {
		cells[i] = rows[i].cells(nil)
		objects[i] = rows[i].object()
	}
	layout, err := lines.NewLayout(referenceNames, nil)
	require.NoError(b, err)

	b.Run("batch", func(b *testing.B) {
		batch := layout.NewBatch()
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
	})
	b.Run("encoding-json", func(b *testing.B) {
		type line struct {
			Rows []map[string]any `json:"rows"`
		}
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		require.NoError(b, enc.Encode(line{objects}))
		b.SetBytes(int64(buf.Len() / len(objects)))
		b.ReportAllocs()
		// A whole batch at a time, which is how a user of maps writes one.
		n := 0
		for b.Loop() {
			if n == 0 {
				buf.Reset()
				if err := enc.Encode(line{objects}); err != nil {
					b.Fatal(err)
				}
				n = len(objects)
			}
			n--
		}
	})
}

// BenchmarkReader is goal S11: the stream of the reference table read
// strictly, against encoding/json decoding the same lines into maps, which
// checks next to nothing. One operation is the whole stream.
func BenchmarkReader(b *testing.B) {
	const rows = 4 * wire.MaxBatchRows
	stream := referenceStream(b, referenceRows(rows))
	perRow := func(b *testing.B, n int) {
		if n != b.N*rows {
			b.Fatalf("%d rows were read, not %d", n, b.N*rows)
		}
		b.SetBytes(int64(len(stream)))
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/row")
	}

	b.Run("strict", func(b *testing.B) {
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			for row, err := range ndjson.NewReader(bytes.NewReader(stream)).Rows() {
				if err != nil || len(row.Values()) != len(referenceNames) {
					b.Fatal("a row was misread", err)
				}
				n++
			}
		}
		perRow(b, n)
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			dec := json.NewDecoder(bytes.NewReader(stream))
			for {
				var line struct {
					Rows []map[string]any `json:"rows"`
				}
				err := dec.Decode(&line)
				if err == io.EOF {
					break
				}
				if err != nil {
					b.Fatal(err)
				}
				n += len(line.Rows)
			}
		}
		perRow(b, n)
	})
}

// referenceStream is a whole stream of the rows, in full batches.
func referenceStream(t testing.TB, rows []referenceRow) []byte {
	var out bytes.Buffer
	w := lines.NewWriter(&out)
	require.NoError(t, w.Served(wire.Served{Filters: true, Sort: true, Window: true}))
	layout, err := lines.NewLayout(referenceNames, nil)
	require.NoError(t, err)
	batch := layout.NewBatch()
	var cells []wire.Value
	for i := range rows {
		if batch.Len() == wire.MaxBatchRows {
			require.NoError(t, w.Rows(batch))
			batch.Reset()
		}
		cells = rows[i].cells(cells)
		require.NoError(t, batch.Append(cells))
	}
	require.NoError(t, w.Rows(batch))
	require.NoError(t, w.End())
	return out.Bytes()
}
