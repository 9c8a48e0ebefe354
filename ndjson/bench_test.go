package ndjson_test

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/internal/lines"
	"github.com/connectorsdk/connector-sdk-go/internal/testkit/reference"
	"github.com/connectorsdk/connector-sdk-go/ndjson"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// BenchmarkBatch measures rows encoded into batches of 5,000, against
// encoding/json on the same rows as maps. One operation is one row.
func BenchmarkBatch(b *testing.B) {
	cells, layout := reference.Rows(wire.MaxBatchRows), layoutOf(b, reference.Names()...)
	objects := make([]map[string]any, len(cells))
	for i, row := range cells {
		objects[i] = object(row)
	}

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
	stream := referenceStream(b, reference.Rows(rows))
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
				if err != nil || len(row.Values()) != len(reference.Columns) {
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
func referenceStream(t testing.TB, rows [][]wire.Value) []byte {
	var out bytes.Buffer
	w := lines.NewWriter(&out)
	require.NoError(t, w.Served(wire.Served{Filters: true, Sort: true, Window: true}))
	batch := layoutOf(t, reference.Names()...).NewBatch()
	for _, row := range rows {
		if batch.Len() == wire.MaxBatchRows {
			require.NoError(t, w.Rows(batch))
			batch.Reset()
		}
		require.NoError(t, batch.Append(row))
	}
	require.NoError(t, w.Rows(batch))
	require.NoError(t, w.End())
	return out.Bytes()
}

// object returns a row as a user of encoding/json has it.
func object(row []wire.Value) map[string]any {
	members := map[string]any{}
	for i, v := range row {
		var member any
		switch v.Kind() {
		case wire.KindNull:
		case wire.KindInt:
			member = v.Int64()
		case wire.KindFloat:
			member = v.Float64()
		case wire.KindBool:
			member = v.IsTrue()
		default:
			member = v.String()
		}
		members[reference.Columns[i].Name] = member
	}
	return members
}
